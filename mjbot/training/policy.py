"""``mjbot train policy COLUMNS``: the learned player's network, from columns of decisions.

All five decisions are learned at once, each row by the cross-entropy of its own head over what was
legal.  AdamW, a rate that rises over the first fiftieth of the rows and falls along half a cosine,
and the mean of the last weights (an exponential one, ``EMA_STEPS`` long) as the result.

A run can be taken up after a kill: every ``STEPS_KEPT`` steps all that the next step needs is
written, and which rows come when follows from seed and number alone.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor
from torch.nn import functional

from mjbot.compiler.compiled import compiled
from mjbot.models.encoding import N_PLANES, N_SCALARS, Encoder, encode
from mjbot.models.policy import CHI, KAN, PON, RIICHI
from mjbot.progress import progress
from mjbot.training.decisions import KINDS, Decisions
from mjbot.training.policy_network import PolicyNetwork, board_of
from mjbot.training.runs import RunFolder

STEPS_KEPT: Final = 1000
EMA_STEPS: Final = 2000
EARLY_SHARE: Final = 0.3
"""What the early head's loss counts beside the late one's; set by hand."""
HEADS: Final = {1: (RIICHI, 2), 2: (PON, 2), 3: (CHI, 4), 4: (KAN, 2)}
"""Kind of decision -> first of its outputs, and how many."""
CHECKED: Final = "policy.pt"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is learned how; ``rows`` to learn from in all, several times over if that is more."""

    channels: int = 64
    blocks: int = 6
    rows: int = 10_000_000
    batch: int = 512
    rate: float = 2e-3
    decay: float = 1e-2
    seed: int = 0

    @property
    def steps(self) -> int:
        """How many batches that is."""
        return self.rows // self.batch


class Batch(NamedTuple):
    """Some rows, encoded."""

    planes: Tensor  # [n, N_PLANES, 4, 9]
    scalars: Tensor  # [n, N_SCALARS]
    rows: NDArray[np.void]  # DECISION[n]


class Source:
    """Rows of all kinds in one numbering, encoded on demand.

    ``crossed``: games below its number are encoded with the second encoder, the others with the
    first; without it all with the first.
    """

    def __init__(
        self, parts: Sequence[Decisions], encoders: Sequence[Encoder], crossed: int = 0
    ) -> None:
        self._bytes = [_bytes_of(part.states) for part in parts]
        self._rows = [np.asarray(part.rows) for part in parts]
        self._ends = np.cumsum([len(rows) for rows in self._rows])
        self._encoders = encoders
        self._crossed = crossed
        self._dtype = parts[0].states.dtype

    def __len__(self) -> int:
        return int(self._ends[-1])

    def batch(self, numbers: NDArray[np.int64]) -> Batch:
        """Encode some rows, kind by kind."""
        kinds = np.searchsorted(self._ends, numbers, "right")
        states, rows = [], []
        for kind in range(len(self._rows)):
            places = numbers[kinds == kind] - (self._ends[kind] - len(self._rows[kind]))
            states.append(self._bytes[kind][places])
            rows.append(self._rows[kind][places])
        tables: Any = np.concatenate(states).view(self._dtype)[:, 0]
        chosen = np.concatenate(rows)
        planes = np.empty((len(chosen), 34, N_PLANES), np.float32)
        scalars = np.empty((len(chosen), N_SCALARS), np.float32)
        second = chosen["game"] < self._crossed
        for which, encoder in enumerate(self._encoders):
            of_it = np.flatnonzero(second == bool(which))
            encode_rows(tables, chosen["seat"].astype(np.int64), of_it, encoder, planes, scalars)
        return Batch(board_of(planes), torch.from_numpy(scalars), chosen)


def _bytes_of(states: NDArray[np.void]) -> NDArray[np.uint8]:
    return states.view(np.uint8).reshape(len(states), states.dtype.itemsize)


@compiled
def encode_rows(
    states: NDArray[np.void],
    seats: NDArray[np.int64],
    places: NDArray[np.int64],
    encoder: Encoder,
    planes: NDArray[np.float32],
    scalars: NDArray[np.float32],
) -> None:
    """Encode some of many tables: ``planes`` [n, 34, N_PLANES], ``scalars`` [n, N_SCALARS]."""
    for place in places:
        encode(states[place], seats[place], encoder, planes[place], scalars[place])


def losses(discards: Tensor, others: Tensor, rows: NDArray[np.void]) -> tuple[Tensor, Tensor]:
    """Return the cross-entropy of each row float[n], and which of them were said right bool[n]."""
    n_classes = 34
    legal = (rows["legal"][:, None] >> np.arange(n_classes) & 1).astype(bool)
    logits = torch.full((len(rows), n_classes), -torch.inf)
    kinds = rows["kind"]
    own = np.flatnonzero(kinds == 0)
    logits[own] = discards.float()[own]
    for kind, (first, size) in HEADS.items():
        of_it = np.flatnonzero(kinds == kind)
        logits[of_it, :size] = others.float()[of_it, first : first + size]
    logits = logits.masked_fill(~torch.from_numpy(legal), -torch.inf)
    choice = torch.from_numpy(rows["choice"].astype(np.int64))
    return functional.cross_entropy(logits, choice, reduction="none"), logits.argmax(1) == choice


class PolicyRun:
    """One plan in its folder."""

    def __init__(self, plan: Plan, source: Source, check: Source, folder: RunFolder) -> None:
        torch.manual_seed(plan.seed)
        self._plan: Final = plan
        self._source: Final = source
        self._check: Final = check
        self._folder: Final = folder
        self._net: Final = PolicyNetwork(plan.channels, plan.blocks)
        self._net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._mean: Final = copy.deepcopy(self._net)
        self._optimiser: Final = torch.optim.AdamW(
            self._net.parameters(), plan.rate, weight_decay=plan.decay, fused=True
        )
        self._step = 0
        self._orders: dict[int, NDArray[np.int64]] = {}

    def learn(self) -> PolicyNetwork:
        """Learn to the end of the plan, from where the folder has it; return the mean network."""
        self._resume()
        plan, total, seen = self._plan, np.zeros((5, 3)), self._step * self._plan.batch
        with progress(Console(stderr=True), "learning", plan.steps * plan.batch, "rows") as tell:
            tell(seen)
            while self._step < plan.steps:
                batch = self._source.batch(self._numbers(self._step))
                loss, right = self._learn_from(batch)
                for kind in range(5):
                    of_it = batch.rows["kind"] == kind
                    total[kind] += of_it.sum(), loss[of_it].sum(), right[of_it].sum()
                self._step += 1
                tell(plan.batch)
                if self._step % STEPS_KEPT == 0 or self._step == plan.steps:
                    tell(0, note=self._told(total))
                    print(self._told(total), flush=True)
                    total[:] = 0
                    self._keep()
        return self._mean

    def _numbers(self, step: int) -> NDArray[np.int64]:
        """Return the rows of a step: pass after pass over all, each in an order of its own."""
        first = step * self._plan.batch
        n = len(self._source)
        at = np.arange(first, first + self._plan.batch)
        passes = at // n
        found = np.empty(len(at), np.int64)
        for number in np.unique(passes):
            if number not in self._orders:
                dice = np.random.default_rng([self._plan.seed, number])
                self._orders = {int(number): dice.permutation(n)}
            of_it = passes == number
            found[of_it] = self._orders[int(number)][at[of_it] % n]
        return found

    def _learn_from(self, batch: Batch) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        plan = self._plan
        share = self._step / plan.steps
        rate = plan.rate * min(1.0, 50 * share + 0.01) * 0.5 * (1 + np.cos(np.pi * share))
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        self._net.train()
        with torch.autocast("cpu", torch.bfloat16):
            early, late = self._net(batch.planes, batch.scalars)
        loss, right = losses(*late, batch.rows)
        self._optimiser.zero_grad()
        (loss.mean() + EARLY_SHARE * losses(*early, batch.rows)[0].mean()).backward()
        torch.nn.utils.clip_grad_norm_(self._net.parameters(), 5.0)
        self._optimiser.step()
        self._move_mean()
        return loss.detach().numpy(), right.numpy()

    @torch.no_grad()
    def _move_mean(self) -> None:
        share = max(1 / EMA_STEPS, 9 / (10 + self._step))
        for mean, now in zip(self._mean.parameters(), self._net.parameters(), strict=True):
            mean.lerp_(now, share)

    def _told(self, total: NDArray[np.float64]) -> str:
        checked = check(self._mean, self._check)
        parts = []
        for kind, name in enumerate(KINDS):
            n, loss, right = total[kind] / max(total[kind][0], 1)
            there = checked[kind]
            parts.append(
                f"{name} {100 * right:.2f} {loss:.4f} held out {100 * there[1]:.2f} {there[0]:.4f}"
            )
        return f"step {self._step}: " + "; ".join(parts)

    def _keep(self) -> None:
        state = {
            "step": self._step,
            "net": self._net.state_dict(),
            "mean": self._mean.state_dict(),
            "optimiser": self._optimiser.state_dict(),
        }
        self._folder.write(CHECKED, lambda stream: torch.save(state, stream))

    def _resume(self) -> None:
        if path := self._folder.kept(CHECKED):
            state = torch.load(path, weights_only=True)
            self._step = state["step"]
            self._net.load_state_dict(state["net"])
            self._mean.load_state_dict(state["mean"])
            self._optimiser.load_state_dict(state["optimiser"])


def check(net: PolicyNetwork, source: Source, batch: int = 2048) -> NDArray[np.float64]:
    """Return mean loss and share said right of each kind: [5, 2]."""
    total = np.zeros((5, 3))
    for loss, right, rows in checked(net, source, batch):
        for kind in range(5):
            of_it = rows["kind"] == kind
            total[kind] += of_it.sum(), loss[of_it].sum(), right[of_it].sum()
    found: NDArray[np.float64] = total[:, 1:] / np.maximum(total[:, :1], 1)
    return found


def checked(
    net: PolicyNetwork, source: Source, batch: int
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.void]]]:
    """Yield losses, whether said right, and rows, batch by batch."""
    net.eval()
    for start in range(0, len(source), batch):
        some = source.batch(np.arange(start, min(start + batch, len(source))))
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            late = net(some.planes, some.scalars)[-1]
        loss, right = losses(*late, some.rows)
        yield loss.numpy(), right.numpy(), some.rows
