"""How networks learn: optimiser, learning rate, averaged weights, early stopping, checkpoints.

The optimiser is AdamW (Loshchilov and Hutter, Decoupled weight decay regularization, 2019).  At the
share ``x`` of a plan's steps the learning rate is::

    rate * min(1, 0.01 + x / warm_up) * (end + (1 - end) * (1 + cos(pi x)) / 2)

the first factor without a warm-up 1, so that ``end=1`` keeps the rate as it is.  The averaged
weights move by ``max(1 / averaged, 9 / (10 + step))`` of the way to the present ones after each
step: the mean of the weights so far at first, an exponential one of ``averaged`` steps later.

torch is imported when a fit is made: nothing that plays needs it.
"""

import io
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mjbot.learning.training.runs import RunFolder, TrainingError, torch
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.files import first_line

FIRST_SHARE: Final = 0.01
"""Of the rate, at the first step of a warm-up."""
RATE_CHANGE: Final = 2.0


def adapted_rate(rate: float, moved: float, target: float) -> float:
    """Return the rate after one with which a policy moved so many nats, ``target`` being asked.

    Divergence grows with the square of the way; the rate changes by :data:`RATE_CHANGE` at most.

    >>> adapted_rate(1e-4, 4e-3, 1e-3), adapted_rate(1e-4, 0.0, 1e-3)
    (5e-05, 0.0002)
    """
    change = math.sqrt(target / max(moved, 1e-9))
    return rate * min(max(change, 1 / RATE_CHANGE), RATE_CHANGE)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A learning rate over the steps of a plan; ``warm_up`` is a share of the steps."""

    rate: float
    warm_up: float = 0.0
    end: float = 0.0
    """The share of the rate that is left at the last step; 1 for a constant rate."""

    def at(self, share: float) -> float:
        """Return the rate at a share of the steps, 0 to 1.

        >>> Schedule(rate=1.0).at(0.5), Schedule(rate=2.0, end=1.0).at(0.9)
        (0.5, 2.0)
        """
        share = min(share, 1.0)
        rises = min(1.0, FIRST_SHARE + share / self.warm_up) if self.warm_up else 1.0
        falls = self.end + (1 - self.end) * 0.5 * (1 + math.cos(math.pi * share))
        return self.rate * rises * falls


class Fit:
    """The parameters of one network, by name, while they are fitted.

    ``steps`` is how many the schedule spans, ``decay`` AdamW's weight decay, ``longest`` the norm
    that gradients are clipped to.  ``averaged`` (in steps) enables averaged weights.
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        schedule: Schedule,
        steps: float = 1.0,
        *,
        decay: float = 0.0,
        longest: float | None = None,
        averaged: int = 0,
    ) -> None:
        self.step = 0
        """How many steps were taken."""
        self._parameters: Final = dict(parameters)
        self._schedule: Final = schedule
        self._steps: Final = max(steps, 1.0)
        self._longest: Final = longest
        self._averaged: Final = averaged
        self.average: Final = self._copies() if averaged else {}
        """The averaged weights, by name."""
        self.best = self._copies()
        """The weights with the lowest loss of :meth:`evaluate`."""
        self.best_loss = math.inf
        self.worse = 0
        """How many evaluations in a row were no better."""
        self._optimiser: Final = torch().optim.AdamW(
            list(self._parameters.values()), schedule.rate, weight_decay=decay, fused=True
        )

    def learn(self, loss: Any) -> float:
        """Take one step down the gradient of a loss; return the loss."""
        self.learn_from([loss])
        return float(loss.detach())

    def learn_from(self, losses: Iterable[Any], rate: float | None = None) -> None:
        """Take one step down the gradient of a sum of losses, each computed when its turn comes.

        ``rate`` replaces the schedule's.  Raises
        :class:`~mjbot.learning.training.runs.TrainingError` where a clipped gradient is not finite.
        """
        for group in self._optimiser.param_groups:
            group["lr"] = self._schedule.at(self.step / self._steps) if rate is None else rate
        self._optimiser.zero_grad()
        for loss in losses:
            loss.backward()
        if self._longest is not None:
            norm = torch().nn.utils.clip_grad_norm_(self._parameters.values(), self._longest)
            if not math.isfinite(norm):
                problem = f"step {self.step + 1}: the gradient is not finite; lower the rate"
                raise TrainingError(f"{problem}, and leave out --compiled where it is used")
        self._optimiser.step()
        self.step += 1
        self._move_average()

    def evaluate(self, loss: float) -> int:
        """Take the held-out loss of the present weights; return how many were no better since."""
        self.worse += 1
        if loss < self.best_loss:
            self.best_loss, self.worse, self.best = loss, 0, self._copies()
        return self.worse

    def _copies(self) -> dict[str, Any]:
        return {name: weights.detach().clone() for name, weights in self._parameters.items()}

    def _move_average(self) -> None:
        if not self._averaged:
            return
        share = max(1 / self._averaged, 9 / (10 + self.step - 1))
        with torch().no_grad():
            for name, weights in self._parameters.items():
                self.average[name].lerp_(weights, share)

    # --- checkpoints -------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return all that the next step depends on; :meth:`restore` takes it."""
        return {
            "parameters": self._copies(),
            "average": self.average,
            "best": self.best,
            "optimiser": self._optimiser.state_dict(),
            "numbers": [self.step, self.best_loss, self.worse],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        with torch().no_grad():
            for name, weights in self._parameters.items():
                weights.copy_(state["parameters"][name])
            for name, weights in self.average.items():
                weights.copy_(state["average"][name])
        self.best = dict(state["best"])
        self._optimiser.load_state_dict(state["optimiser"])
        step, self.best_loss, worse = state["numbers"]
        self.step, self.worse = int(step), int(worse)


def write_checkpoint(run: RunFolder, name: str, state: Mapping[str, Any]) -> None:
    """Write a state into a run's folder, whole or not at all.

    It is packed in memory: torch raises ``RuntimeError`` where a stream raises ``OSError``.
    """
    packed = io.BytesIO()
    torch().save(dict(state), packed)
    run.write(name, lambda stream: stream.write(packed.getbuffer()))


def resume(
    run: RunFolder, name: str, restore: Callable[[dict[str, Any]], None], device: str = "cpu"
) -> None:
    """Pass the state that a run has written, if any, to ``restore``.

    Raises :class:`~mjbot.runtime.errors.ArgumentError` for a file that is damaged or of another
    version.
    """
    path = run.kept(name)
    if path is None:
        return
    try:
        restore(torch().load(path, map_location=device, weights_only=True))
    except Exception as error:  # torch raises a dozen kinds over damaged bytes
        raise ArgumentError(f"{path}: damaged ({first_line(error)}); use --fresh") from None
