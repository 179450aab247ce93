"""``mjbot train self-play``: the learned player goes on learning from games against itself.

A *chapter*: at some hundred tables everybody plays one hanchan, choices drawn from the network's
chances (sharpened by :data:`TEMPERATURE`).  Then policy and critic learn from what happened:

* Reward of a kyoku: 2.5 less the final rank to expect after it, less the same before it, by the
  rank model (:mod:`mjbot.models.networks.rank`).
* Advantage of a decision: generalised advantage estimation (Schulman et al. 2016, lambda
  :data:`LAMBDA`, no discount) along the decisions of one seat in one kyoku, with the critic of
  :mod:`mjbot.training.networks.critic`, which sees all hands.
* Policy: the clipped objective of PPO (Schulman et al. 2017), ``passes`` times over a chapter, less
  ``kl`` times the divergence from the network it started with, which keeps what records taught.
  Decisions of which the early head is sure (:data:`SURE`) are its own, are not learned from, and
  the critic is not asked about them: two of three.  The early head learns to say what the late one
  says.
* Critic: squared error to the advantage plus its own answer (the lambda return).

In the first ``warm_up`` chapters the critic learns alone.  At ``apart`` of the tables one seat
learns against three of the network it started with or of a rival strategy
(:mod:`mjbot.training.networks.self_play_games`), so that it does not only learn to beat what it has
become.  All choices follow from seed and chapter; all that the next chapter needs is kept after
each, so that the same command goes on after a kill.
"""

import copy
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor
from torch.nn import functional

from mjbot.interruption import keeping
from mjbot.models.networks.policy import NAME
from mjbot.models.weights import Manifest, load_manifest, load_weights, save_weights
from mjbot.progress import progress
from mjbot.requests import command_of
from mjbot.statistics.estimates import Estimate, ratio
from mjbot.strategy.registry import make_strategy
from mjbot.training.fit import Fit, Schedule, resume, write_checkpoint
from mjbot.training.networks.critic import Critic
from mjbot.training.networks.policy import logits_of_questions
from mjbot.training.networks.policy_network import PolicyNetwork
from mjbot.training.networks.self_play_games import (
    START,
    SURE,
    TEMPERATURE,
    Chapter,
    Ints,
    Players,
    Questions,
    Seen,
    Table,
)
from mjbot.training.requests import SelfPlayRequest
from mjbot.training.runs import RUNS, Learned, RunFolder, TrainingError, claim_weights, erase_run

CLIP: Final = 0.2
BATCH: Final = 512
CRITIC_SHARE: Final = 0.5
"""Of a chapter's rows, that the critic learns from."""
CRITIC_RATE: Final = 1e-3
LONGEST: Final = 1.0
"""The norm that gradients are clipped to."""
EARLY_SHARE: Final = 0.3
KEPT: Final = "self-play.pt"
COMMAND: Final = "mjbot train self-play"
LAST: Final = ("early.", "late.discard.", "late.others.")


class Nets:
    """The networks of a run and how they are fitted."""

    def __init__(self, request: SelfPlayRequest) -> None:
        torch.manual_seed(request.seed)
        arrays = load_weights(NAME, request.start)
        channels = len(arrays["stem.bias"])
        blocks = sum(name.endswith("first.bias") for name in arrays)
        self.policy: Final = PolicyNetwork(channels, blocks)
        try:
            self.policy.load_state_dict(
                {name: torch.from_numpy(array.astype(np.float32)) for name, array in arrays.items()}
            )
        except RuntimeError as error:
            told = str(error).splitlines()[-1].strip()
            raise TrainingError(
                f"--start {request.start}: {NAME}.npz has another form ({told})"
            ) from None
        self.policy.to(memory_format=torch.channels_last)
        self.start: Final = copy.deepcopy(self.policy).eval()
        self.critic: Final = Critic(48, 3).to(memory_format=torch.channels_last)
        if request.learns == "last":
            for name, weights in self.policy.named_parameters():
                weights.requires_grad_(name.startswith(LAST))
        learned = {
            name: weights
            for name, weights in self.policy.named_parameters()
            if weights.requires_grad
        }
        constant = Schedule(rate=request.rate, end=1.0)
        self.policy_fit: Final = Fit(learned, constant, longest=LONGEST)
        self.critic_fit: Final = Fit(
            dict(self.critic.named_parameters()),
            Schedule(rate=CRITIC_RATE, end=1.0),
            decay=1e-2,
            longest=LONGEST,
        )


class Course:
    """A run on its way."""

    def __init__(self, request: SelfPlayRequest, run: RunFolder) -> None:
        self._request: Final = request
        self._run: Final = run
        self.nets: Final = Nets(request)
        self.told: list[dict[str, float]] = []
        """What each chapter had."""

    def play(self) -> None:
        """Play and learn up to the last chapter."""
        resume(self._run, KEPT, self._restore)
        request = self._request
        nets = self.nets
        players = Players(nets.policy, nets.start, nets.critic, request.rivals)
        played = _games(self.told)
        games = played + (request.chapters - len(self.told)) * request.tables
        with progress(Console(stderr=True), "playing", games, "games") as step:
            step(played)
            while len(self.told) < request.chapters:
                number = len(self.told)
                table = Table(players, request, number)
                chapter = table.play(step)
                told = self._learn(chapter, np.random.default_rng([request.seed, number, 1]))
                for player, name in enumerate(("start", *request.rivals), START):
                    if len(ranks := table.ranks_beside(player)):
                        told[f"beside {name}"] = float(ranks.mean())
                told["games"] = float(request.tables)
                self.told.append(told)
                self._save()
                note = ", ".join(f"{name} {value:.4f}" for name, value in told.items())
                step(0, note=f"chapter {number + 1}: {note}")

    def kept(self) -> str:
        """Say what is in the folder by now."""
        return f"kept in {self._run.folder}: {len(self.told)} chapters; the same command goes on"

    def _learn(self, chapter: Chapter, dice: np.random.Generator) -> dict[str, float]:
        seen = Seen(*(np.concatenate(part) for part in zip(*chapter.seen, strict=True)))
        advantages, returns = chapter.advantages()
        whole = np.isfinite(advantages)
        told = {"value error": float(np.mean(advantages[whole] ** 2)), "reward variance": 0.0}
        told["reward variance"] = float(np.var(list(chapter.rewards.values())))
        if len(self.told) >= self._request.warm_up:
            told |= self._improve(chapter, seen, advantages, dice)
        rows = dice.permutation(np.flatnonzero(whole))
        share = 1.0 if len(self.told) < self._request.warm_up else CRITIC_SHARE
        self._criticise(seen, returns, rows[: int(share * len(rows))])
        return told

    def _criticise(self, seen: Seen, returns: NDArray[np.float32], rows: Ints) -> None:
        for start in range(0, len(rows) - BATCH + 1, BATCH):
            some = np.sort(rows[start : start + BATCH])
            with torch.autocast("cpu", torch.bfloat16):
                values = self.nets.critic(*seen.take(some, True))
            loss = functional.mse_loss(values.float(), torch.from_numpy(returns[some]))
            self.nets.critic_fit.learn(10 * loss)

    def _improve(
        self,
        chapter: Chapter,
        seen: Seen,
        advantages: NDArray[np.float32],
        dice: np.random.Generator,
    ) -> dict[str, float]:
        asked = Questions(*(np.concatenate(part) for part in zip(*chapter.questions, strict=True)))
        rows, kinds, choices, legal, made, best = asked
        open_ = np.isfinite(advantages[rows]) & ((best < SURE) | (made < np.log(0.5)))
        spread = float(np.std(advantages[rows[open_]])) + 1e-8
        asked_again = [dice.permutation(np.flatnonzero(open_)) for _ in range(self._request.passes)]
        order = np.concatenate(asked_again)
        total, divergence, n = 0.0, 0.0, 0
        for start in range(0, len(order) - BATCH + 1, BATCH):
            some = np.sort(order[start : start + BATCH])
            gain = torch.from_numpy(advantages[rows[some]] / spread)
            parts = self._losses(
                seen.take(rows[some], False), kinds[some], choices[some], legal[some]
            )
            chance, apart, early = parts
            ratio_ = torch.exp(chance - torch.from_numpy(made[some].astype(np.float32)))
            clipped = ratio_.clamp(1 - CLIP, 1 + CLIP)
            aim = torch.minimum(ratio_ * gain, clipped * gain).mean()
            loss = -aim + self._request.kl * apart + EARLY_SHARE * early
            self.nets.policy_fit.learn(loss)
            total += float(aim.detach())
            divergence += float(apart.detach())
            n += 1
        return {
            "questions": float(open_.sum()),
            "advantage": spread,
            "aim": total / max(n, 1),
            "divergence": divergence / max(n, 1),
        }

    def _losses(
        self,
        inputs: tuple[Tensor, Tensor],
        kinds: Ints,
        choices: Ints,
        legal: NDArray[np.bool_],
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return log chances of the choices, divergence from the start, the early head's loss."""
        self.nets.policy.train()
        with torch.autocast("cpu", torch.bfloat16):
            early, late = self.nets.policy(*inputs)
            with torch.no_grad():
                first = self.nets.start(*inputs)[-1]
        now = _chances(late, kinds, legal, TEMPERATURE)
        before = _chances(first, kinds, legal, TEMPERATURE)
        chance = now.gather(1, torch.from_numpy(choices)[:, None])[:, 0]
        apart = (now.exp() * (now - before)).sum(1).mean()
        plain = _chances(late, kinds, legal, 1.0).detach()
        told = -(plain.exp() * _chances(early, kinds, legal, 1.0)).sum(1).mean()
        return chance, apart, told

    def _save(self) -> None:
        nets = self.nets
        state = {"policy": nets.policy_fit.state(), "critic": nets.critic_fit.state()}
        write_checkpoint(self._run, KEPT, state | {"told": self.told})

    def _restore(self, state: dict[str, Any]) -> None:
        self.nets.policy_fit.restore(state["policy"])
        self.nets.critic_fit.restore(state["critic"])
        self.told = state["told"]


def _chances(
    said: tuple[Tensor, Tensor], kinds: Ints, legal: NDArray[np.bool_], temperature: float
) -> Tensor:
    """Return the logarithms of the chances of each question's answers: [n, 34], -1e9 if illegal."""
    logits = logits_of_questions(said, kinds, legal) / temperature
    return functional.log_softmax(logits, 1).masked_fill(~torch.from_numpy(legal), -1e9)


# --- the command -------------------------------------------------------------------------------


def train(request: SelfPlayRequest) -> Learned:
    """Play, learn and save; raises ``OSError`` and :class:`~mjbot.errors.MjbotError`."""
    for name in request.rivals:
        make_strategy(name)
    folder = request.folder or RUNS / f"train-self-play-{request.seed}"
    if request.fresh:
        erase_run(folder)
    with RunFolder(folder, "self-play") as run:
        course = Course(request, run)
        with keeping(course.kept):
            course.play()
        out = request.out or claim_weights(run, NAME)
    arrays = {name: array.astype(np.float16) for name, array in course.nets.policy.arrays().items()}
    return Learned(NAME, save_weights(NAME, arrays, _manifest(request, course.told), out), out)


def _games(told: Sequence[dict[str, float]]) -> int:
    return round(sum(chapter["games"] for chapter in told))


def _manifest(request: SelfPlayRequest, told: Sequence[dict[str, float]]) -> Manifest:
    before = load_manifest(NAME, request.start)
    scores: dict[str, Any] = dict(before.scores)
    scores["self-play: games"] = games = _games(told)
    for name in ("start", *request.rivals):
        learned = told[request.warm_up :]
        ranks = np.array([part[key] for part in learned if (key := f"beside {name}") in part])
        if len(ranks) > 1:
            rank: Estimate = ratio(ranks, np.ones(len(ranks)))
            scores[f"self-play: rank beside three of {name}, choices drawn, all chapters"] = str(
                rank
            )
    return Manifest(
        data=f"{before.data}; {games} {request.length} against itself",
        command=f"{before.command}; {command_of(COMMAND, request)}",
        seed=request.seed,
        scores=scores,
    )
