"""``mjbot train self-play``: the learned player goes on learning from games against itself.

A *chapter*: at some hundred tables everybody plays one hanchan, choices drawn from the network's
chances (sharpened by :data:`TEMPERATURE`).  Then policy and critic learn from what happened:

* Reward of a kyoku: 2.5 less the final rank to expect after it, less the same before it, by the
  rank model (:mod:`mjbot.models.networks.rank`).
* Advantage of a decision: generalised advantage estimation (Schulman et al. 2016, lambda
  :data:`LAMBDA`, no discount) along the decisions of one seat in one kyoku, with the critic of
  :mod:`mjbot.training.networks.critic`, which sees all hands.
* Policy: the clipped objective of PPO (Schulman et al. 2017, one pass), less ``kl`` times the
  divergence from the network it started with, which keeps what records taught.  Decisions of which
  the early head is sure (:data:`SURE`) are its own, are not learned from, and the critic is not
  asked about them: two of three.  The early head learns to say what the late one says.
* Critic: squared error to the advantage plus its own answer (the lambda return).

In the first ``warm_up`` chapters the critic learns alone.  At ``apart`` of the tables one seat
learns against three of the network it started with, so that it does not only learn to beat what it
has become.  All choices follow from seed and chapter; all that the next chapter needs is kept after
each, so that the same command goes on after a kill.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor
from torch.nn import functional

from mjbot.env import BatchEnv, Rows
from mjbot.env.batch import TSUMOGIRI
from mjbot.errors import ArgumentError
from mjbot.interruption import keeping
from mjbot.models.networks.encoding import N_PLANES, N_SCALARS
from mjbot.models.networks.policy import NAME
from mjbot.models.weights import Manifest, load_manifest, load_weights, save_weights
from mjbot.progress import Step, progress
from mjbot.rules.ruleset import Length
from mjbot.statistics.estimates import Estimate, ratio
from mjbot.table.settle import ranks_of
from mjbot.training.networks.critic import (
    N_HIDDEN_PLANES,
    N_HIDDEN_SCALARS,
    Critic,
    write_hidden_rows,
)
from mjbot.training.networks.policy import HEADS, logits_of_questions
from mjbot.training.networks.policy_network import PolicyNetwork, board_of
from mjbot.training.networks.reinforcement import actions_of, seating
from mjbot.training.runs import RUNS, Learned, RunFolder, TrainingError, claim_weights, erase_run

TEMPERATURE: Final = 0.4
"""Logits are divided by it before a choice is drawn: at 1 a fourth of the discards would be other
than the likeliest, and learning would first unlearn that spread, which no player plays."""
LAMBDA: Final = 0.9
CLIP: Final = 0.2
SURE: Final = 0.98
BATCH: Final = 512
CRITIC_SHARE: Final = 0.5
"""Of a chapter's rows, that the critic learns from."""
CRITIC_RATE: Final = 1e-3
EARLY_SHARE: Final = 0.3
KEPT: Final = "self-play.pt"
FIRST_WALL: Final = 2_000_000_000
WALLS_OF_CHAPTER: Final = 1_000_000
LEARNING: Final = 0
START: Final = 1
"""As players of the environment."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class SelfPlayRequest:
    """What is learned how; ``start`` is the folder of the policy's weights to begin with."""

    chapters: int
    tables: int
    length: Length
    warm_up: int
    apart: float
    rate: float
    kl: float
    seed: int
    start: Path
    folder: Path | None
    fresh: bool
    out: Path | None


class Seen(NamedTuple):
    """What rows saw: planes [n, 34, N_PLANES + N_HIDDEN_PLANES] and scalars, both float16."""

    planes: NDArray[np.float16]
    scalars: NDArray[np.float16]

    def take(self, rows: Ints, hidden: bool) -> tuple[Tensor, Tensor]:
        """Return some rows for a network, with the others' hands or without."""
        n_planes = N_PLANES + N_HIDDEN_PLANES if hidden else N_PLANES
        n_scalars = N_SCALARS + N_HIDDEN_SCALARS if hidden else N_SCALARS
        planes = self.planes[rows, :, :n_planes].astype(np.float32)
        return board_of(planes), torch.from_numpy(self.scalars[rows, :n_scalars].astype(np.float32))


class Questions(NamedTuple):
    """Some questions, of one of the five kinds each, that rows were asked: each array [n]."""

    rows: Ints
    kinds: Ints
    choices: Ints
    legal: NDArray[np.bool_]  # [n, 34]
    made: Floats  # logarithm of the chance of the choice
    best: Floats  # chance of the likeliest


@dataclass
class Chapter:
    """What the learning seats saw and said in some games: rows are decisions that were open."""

    seen: list[Seen] = field(default_factory=list)
    values: list[NDArray[np.float32]] = field(default_factory=list)
    n: int = 0
    rewards: dict[int, float] = field(default_factory=dict)
    """Of the rows that were a seat's last in a kyoku."""
    follows: dict[int, int] = field(default_factory=dict)
    """Row -> the same seat's next in the kyoku."""
    questions: list[Questions] = field(default_factory=list)

    def advantages(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return advantage and lambda return of each row, in ranks; NaN where no kyoku ended."""
        values = np.concatenate(self.values)
        found = np.full(self.n, np.nan, np.float32)
        for row in range(self.n - 1, -1, -1):
            after = self.follows.get(row)
            if after is not None:
                found[row] = values[after] - values[row] + LAMBDA * found[after]
            elif row in self.rewards:
                found[row] = self.rewards[row] - values[row]
        return found, found + values


class Table:
    """The tables of a chapter: who is asked, and what becomes of it."""

    def __init__(self, nets: "Nets", request: SelfPlayRequest, number: int) -> None:
        self.chapter: Final = Chapter()
        n = request.tables
        players = np.zeros((n, 4), np.int8)
        apart = round(request.apart * n / 4) * 4
        players[:apart] = np.where(seating(apart) == LEARNING, LEARNING, START)
        wall = FIRST_WALL * (1 + request.seed) + WALLS_OF_CHAPTER * number
        self._env: Final = BatchEnv(n, wall, request.length, "rank-model", players=players)
        self._players: Final = players
        self._nets: Final = nets
        self._dice: Final = np.random.default_rng([request.seed, number])
        self._last: Final = np.full((n, 4), -1, np.int64)
        self._over: Final = np.zeros(n, np.bool_)
        self.ranks: Final = np.zeros((n, 4))

    def play(self, step: Step) -> Chapter:
        """Let every table play one game."""
        env = self._env
        rows = env.reset()
        while not self._over.all():
            rows = env.step(self._actions(rows))
            for table in np.flatnonzero((env.kyoku_ends > 0) & ~self._over):
                self._end_kyoku(int(table))
            for table in np.flatnonzero(env.dones & ~self._over):
                self.ranks[table] = ranks_of(env.final_scores[table])
                self._over[table] = True
                env.players[table] = TSUMOGIRI  # what it goes on with costs nothing
                step(1)
        return self.chapter

    def apart_ranks(self) -> NDArray[np.float64]:
        """Return the ranks of the seats that learned against three of the start."""
        tables = np.flatnonzero((self._players == START).any(axis=1))
        seats = (self._players[tables] == LEARNING).argmax(axis=1)
        found: NDArray[np.float64] = self.ranks[tables, seats]
        return found

    def _end_kyoku(self, table: int) -> None:
        for seat in range(4):
            row = int(self._last[table, seat])
            if row >= 0:
                self.chapter.rewards[row] = float(self._env.rewards[table, seat])
        self._last[table] = -1

    def _actions(self, rows: Rows) -> Ints:
        env = self._env
        actions: Ints = rows.masks.argmax(axis=1)
        planes, scalars = env.observe()
        who = np.where(self._over[rows.tables], -1, self._players[rows.tables, rows.seats])
        for player, net in ((LEARNING, self._nets.policy), (START, self._nets.start)):
            asked = np.flatnonzero(who == player)
            if len(asked):
                said = _Said(net, planes[asked], scalars[asked])
                some = Rows(rows.tables[asked], rows.seats[asked], rows.masks[asked])
                actions[asked] = self._choose(some, said, player == LEARNING)
        return actions

    def _choose(self, rows: Rows, said: "_Said", learns: bool) -> Ints:
        """Ask the early head, and where it is not sure, the late one."""
        at_kan = self._env.at_kan[rows.tables]
        early = Asker(said.early, self._dice)
        actions = early.actions(rows, at_kan)
        left = np.flatnonzero(early.least < SURE)
        if len(left):
            some = Rows(rows.tables[left], rows.seats[left], rows.masks[left])
            late = Asker(said.late(left), self._dice)
            actions[left] = late.actions(some, at_kan[left])
            if learns:
                first = self._see(some, said.planes[left], said.scalars[left])
                self.chapter.questions += [q._replace(rows=first + q.rows) for q in late.asked]
        return actions

    def _see(self, rows: Rows, planes: Floats, scalars: Floats) -> int:
        """Keep what rows saw and what the critic says; return the number of the first."""
        chapter, n = self.chapter, len(rows.tables)
        hidden = np.empty((n, 34, N_HIDDEN_PLANES), np.float32)
        numbers = np.empty((n, N_HIDDEN_SCALARS), np.float32)
        write_hidden_rows(self._env.states, rows.tables, rows.seats, hidden, numbers)
        all_planes = np.concatenate([planes, hidden], 2).astype(np.float16)
        seen = Seen(all_planes, np.concatenate([scalars, numbers], 1).astype(np.float16))
        chapter.seen.append(seen)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            values = self._nets.critic(*seen.take(np.arange(n), True))
        chapter.values.append(values.float().numpy())
        first, chapter.n = chapter.n, chapter.n + n
        before = self._last[rows.tables, rows.seats]
        now = np.arange(first, chapter.n)
        chapter.follows.update(
            zip(before[before >= 0].tolist(), now[before >= 0].tolist(), strict=True)
        )
        self._last[rows.tables, rows.seats] = now
        return first


class _Said:
    """What a network says of some rows."""

    def __init__(self, net: PolicyNetwork, planes: Floats, scalars: Floats) -> None:
        self.planes: Final = planes
        self.scalars: Final = scalars
        self._net: Final = net
        self._inputs: Final = board_of(planes), torch.from_numpy(scalars)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            self._cells: Final = net.first_cells(*self._inputs)
            self.early: Final = net.early(self._cells, *self._inputs)

    def late(self, rows: Ints) -> tuple[Tensor, Tensor]:
        """Return the logits of the late head of some of them."""
        planes, scalars = (part[rows] for part in self._inputs)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            cells = self._net.last_cells(self._cells[rows])
            found: tuple[Tensor, Tensor] = self._net.late(cells, planes, scalars)
        return found


class Asker:
    """Draws choices by logits; afterwards tells what was asked and how sure the answers were."""

    def __init__(self, logits: tuple[Tensor, Tensor], dice: np.random.Generator) -> None:
        self._discards, self._others = (part.float().numpy() for part in logits)
        self._dice: Final = dice
        self.asked: Final[list[Questions]] = []
        self.least: Final = np.ones(len(self._discards), np.float32)
        """The chance of the likeliest answer, of each row the least: float32[rows]."""

    def actions(self, rows: Rows, at_kan: NDArray[np.bool_]) -> Ints:
        """Return an action of each row."""
        return actions_of(rows, at_kan, np.zeros(len(rows.tables), np.uint8), self._answer)

    def _answer(self, kind: int, rows: Ints, _: Any, legal: NDArray[np.bool_]) -> Ints:
        at, size = HEADS.get(kind, (0, 34))
        logits = (self._others if kind else self._discards)[rows, at : at + size]
        logits = np.where(legal, logits / TEMPERATURE, -np.inf)
        logits -= logits.max(axis=1, keepdims=True)
        chances = np.exp(logits)
        chances /= chances.sum(axis=1, keepdims=True)
        choices: Ints = (logits + self._dice.gumbel(size=logits.shape)).argmax(axis=1)
        wide = np.zeros((len(rows), 34), np.bool_)
        wide[:, :size] = legal
        made = np.log(chances[np.arange(len(rows)), choices])
        best = chances.max(axis=1)
        np.minimum.at(self.least, rows, best)
        kinds = np.full(len(rows), kind)
        self.asked.append(Questions(rows, kinds, choices, wide, made, best))
        return choices


class Nets:
    """The networks of a run and their optimisers."""

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
        self.optimiser: Final = torch.optim.AdamW(
            self.policy.parameters(), request.rate, weight_decay=0.0
        )
        self.critic_optimiser: Final = torch.optim.AdamW(
            self.critic.parameters(), CRITIC_RATE, weight_decay=1e-2
        )

    def saved(self) -> dict[str, Any]:
        """Return all that :meth:`restore` takes."""
        parts = ("policy", "critic", "optimiser", "critic_optimiser")
        return {name: getattr(self, name).state_dict() for name in parts}

    def restore(self, saved: dict[str, Any]) -> None:
        """Take what :meth:`saved` gave."""
        for name, state in saved.items():
            getattr(self, name).load_state_dict(state)


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
        self._resume()
        request = self._request
        games = request.chapters * request.tables
        with progress(Console(stderr=True), "playing", games, "games") as step:
            step(len(self.told) * request.tables)
            while len(self.told) < request.chapters:
                number = len(self.told)
                table = Table(self.nets, request, number)
                chapter = table.play(step)
                told = self._learn(chapter, np.random.default_rng([request.seed, number, 1]))
                told["apart"] = float(table.apart_ranks().mean()) if request.apart else 0.0
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
            _step(self.nets.critic, self.nets.critic_optimiser, 10 * loss)

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
        order = dice.permutation(np.flatnonzero(open_))
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
            _step(self.nets.policy, self.nets.optimiser, loss)
            total += float(aim.detach())
            divergence += float(apart.detach())
            n += 1
        return {
            "questions": float(len(order)),
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
        kept = {"nets": self.nets.saved(), "told": self.told}
        self._run.write(KEPT, lambda stream: torch.save(kept, stream))

    def _resume(self) -> None:
        if path := self._run.kept(KEPT):
            kept = torch.load(path, weights_only=True)
            self.nets.restore(kept["nets"])
            self.told = kept["told"]


def _chances(
    said: tuple[Tensor, Tensor], kinds: Ints, legal: NDArray[np.bool_], temperature: float
) -> Tensor:
    """Return the logarithms of the chances of each question's answers: [n, 34], -1e9 if illegal."""
    logits = logits_of_questions(said, kinds, legal) / temperature
    return functional.log_softmax(logits, 1).masked_fill(~torch.from_numpy(legal), -1e9)


def _step(net: torch.nn.Module, optimiser: torch.optim.Optimizer, loss: Tensor) -> None:
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimiser.step()


# --- the command -------------------------------------------------------------------------------


def train(request: SelfPlayRequest) -> Learned:
    """Play, learn and save; raises ``OSError`` and :class:`~mjbot.errors.MjbotError`."""
    _check(request)
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


def _check(request: SelfPlayRequest) -> None:
    if min(request.chapters, request.tables) < 1 or request.warm_up < 0:
        raise ArgumentError("--chapters and --tables: at least 1; --warm-up: at least 0")
    if not 0 <= request.apart <= 1:
        raise ArgumentError("--apart: 0 to 1")


def _manifest(request: SelfPlayRequest, told: Sequence[dict[str, float]]) -> Manifest:
    before = load_manifest(NAME, request.start)
    apart = np.array([chapter["apart"] for chapter in told[request.warm_up :]])
    scores: dict[str, Any] = dict(before.scores)
    scores["self-play: games"] = len(told) * request.tables
    if request.apart and len(apart) > 1:
        rank: Estimate = ratio(apart, np.ones(len(apart)))
        scores["self-play: rank beside three of the start, choices drawn, all chapters"] = str(rank)
    options = " ".join(
        f"--{name.replace('_', '-')} {getattr(request, name)}"
        for name in ("chapters", "tables", "length", "warm_up", "apart", "rate", "kl", "seed")
    )
    return Manifest(
        data=f"{before.data}; {len(told) * request.tables} {request.length} against itself",
        command=f"{before.command}; mjbot train self-play {options}",
        seed=request.seed,
        scores=scores,
    )
