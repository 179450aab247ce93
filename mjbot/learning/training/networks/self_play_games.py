"""The games of one iteration of self-play: what the seats see, choose and get.

All seats are the learning network, or (``apart``) one of them against three of the network it
started with, each seat in turn: so the gain of choices that are drawn is measured.

The tables of an iteration are dealt out in shards, each with random numbers of its own, which
several processes can play (:class:`Playing`).
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mjbot.game.table.settle import ranks_of
from mjbot.learning.env import BatchEnv, DecisionRows
from mjbot.learning.models.networks.encoding import N_PLANES, N_SCALARS
from mjbot.learning.training.networks.critic import (
    N_HIDDEN_PLANES,
    N_HIDDEN_SCALARS,
    Critic,
    write_hidden_rows,
)
from mjbot.learning.training.networks.decisions import actions_of
from mjbot.learning.training.networks.policy import HEADS
from mjbot.learning.training.networks.policy_network import PolicyNetwork, board_of, half_precision
from mjbot.protocol.rules import Length
from mjbot.runtime.progress import Step

TEMPERATURE: Final = 0.4
"""Logits are divided by it before a choice is drawn: at 1 a fourth of the discards would be other
than the likeliest, and learning would first unlearn that spread, which no player plays."""
LAMBDA: Final = 0.9
SURE: Final = 0.98
LEARNING: Final = 0
START: Final = 1
"""As players of the environment."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Weights = dict[str, Tensor]
"""The state of a network, by name."""


def _no_step(advance: float = 1, note: str = "") -> None:
    """Report nothing: the parent does."""


class Players(NamedTuple):
    """The networks that play and judge; without a critic nothing is kept to learn from."""

    policy: PolicyNetwork
    start: PolicyNetwork
    critic: Critic | None = None


class Inputs(NamedTuple):
    """Inputs of rows, float16: planes [n, 34, N_PLANES + N_HIDDEN_PLANES], and scalars."""

    planes: Tensor
    scalars: Tensor

    def take(self, rows: Ints, hidden: bool) -> tuple[Tensor, Tensor]:
        """Return some rows for a network, with the others' hands or without."""
        n_planes = N_PLANES + N_HIDDEN_PLANES if hidden else N_PLANES
        n_scalars = N_SCALARS + N_HIDDEN_SCALARS if hidden else N_SCALARS
        taken = torch.from_numpy(rows).to(self.planes.device)
        return board_of(self.planes[taken, :, :n_planes]), self.scalars[taken, :n_scalars].float()


class Questions(NamedTuple):
    """Some questions, of one of the five kinds each, that rows were asked: each array [n]."""

    rows: Ints
    kinds: Ints
    choices: Ints
    legal: NDArray[np.bool_]  # [n, 34]
    made: Floats  # logarithm of the chance of the choice
    best: Floats  # chance of the likeliest

    def take(self, places: Ints) -> "Questions":
        """Return some of them."""
        rows, kinds, choices = self.rows[places], self.kinds[places], self.choices[places]
        legal, made, best = self.legal[places], self.made[places], self.best[places]
        return Questions(rows, kinds, choices, legal, made, best)


@dataclass
class Experience:
    """What the learning seats saw and chose in some games: rows are decisions that were open."""

    inputs: list[Inputs] = field(default_factory=list)
    values: list[NDArray[np.float32]] = field(default_factory=list)
    n: int = 0
    rewards: dict[int, float] = field(default_factory=dict)
    """Of the rows that were a seat's last in a kyoku."""
    follows: dict[int, int] = field(default_factory=dict)
    """Row -> the same seat's next in the kyoku."""
    questions: list[Questions] = field(default_factory=list)

    def all_inputs(self) -> Inputs:
        """Return the inputs of all rows."""
        return Inputs(*map(torch.cat, zip(*self.inputs, strict=True)))

    def played(self) -> "Played":
        """Return what is learned from."""
        advantages, returns = self.advantages()
        rewards = np.array(list(self.rewards.values()), np.float32)
        inputs = self.all_inputs()
        self.inputs.clear()
        return Played(inputs, self.open_questions(advantages), advantages, returns, rewards)

    def open_questions(self, advantages: Floats) -> Questions:
        """Return the questions that are learned from: of ended kyoku, not sure of one answer."""
        parts = zip(*self.questions, strict=True)
        every = Questions(*(np.concatenate(part) for part in parts))
        is_open = (every.best < SURE) | (every.made < np.log(0.5))
        return every.take(np.flatnonzero(is_open & np.isfinite(advantages[every.rows])))

    def advantages(self, gae: float = LAMBDA) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return advantage and lambda return of each row, in ranks; NaN where no kyoku ended."""
        values = np.concatenate(self.values)
        found = np.full(self.n, np.nan, np.float32)
        for row in range(self.n - 1, -1, -1):
            after = self.follows.get(row)
            if after is not None:
                found[row] = values[after] - values[row] + gae * found[after]
            elif row in self.rewards:
                found[row] = self.rewards[row] - values[row]
        return found, found + values


class Played(NamedTuple):
    """What some games leave to learn from; advantages and returns by row, NaN if none is known."""

    inputs: Inputs
    questions: Questions
    advantages: Floats
    returns: Floats
    rewards: Floats

    @classmethod
    def joined(cls, parts: Sequence["Played"], device: str) -> "Played":
        """Return the games of several as those of one, the inputs on a device."""
        rows = np.cumsum([0] + [len(part.advantages) for part in parts])
        moved = [
            part.questions._replace(rows=first + part.questions.rows)
            for part, first in zip(parts, rows[:-1], strict=True)
        ]
        inputs = zip(*(part.inputs for part in parts), strict=True)
        return cls(
            Inputs(*(torch.cat([part.to(device) for part in kind]) for kind in inputs)),
            Questions(*map(np.concatenate, zip(*moved, strict=True))),
            *(np.concatenate([part[place] for part in parts]) for place in (2, 3, 4)),
        )


class Games:
    """``n`` tables, from the wall of a seed on: who is asked, and what follows."""

    def __init__(
        self,
        players: Players,
        n: int,
        wall: int,
        random: np.random.Generator,
        length: Length = "hanchan",
        *,
        apart: bool = False,
    ) -> None:
        self.experience: Final = Experience()
        self.one: Final = np.arange(n) & 3
        """Of each table the seat that plays three of the start, if any does."""
        seats = np.full((n, 4), START if apart else LEARNING, np.int8)
        seats[np.arange(n), self.one] = LEARNING
        self._env: Final = BatchEnv(n, wall, length, "rank-model", players=seats, one_game=True)
        self._seats: Final = seats
        self._players: Final = players
        self._random: Final = random
        self._last: Final = np.full((n, 4), -1, np.int64)
        self._over: Final = np.zeros(n, np.bool_)
        self.ranks: Final = np.zeros((n, 4))

    def play(self, step: Step) -> Experience:
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
                step(1)
        return self.experience

    def _end_kyoku(self, table: int) -> None:
        for seat in range(4):
            row = int(self._last[table, seat])
            if row >= 0:
                self.experience.rewards[row] = float(self._env.rewards[table, seat])
        self._last[table] = -1

    def _actions(self, rows: DecisionRows) -> Ints:
        env = self._env
        actions: Ints = rows.masks.argmax(axis=1)
        planes, scalars = env.observe()
        who = np.where(self._over[rows.tables], -1, self._seats[rows.tables, rows.seats])
        for player, net in ((LEARNING, self._players.policy), (START, self._players.start)):
            asked = np.flatnonzero(who == player)
            if len(asked):
                outputs = _Outputs(net, planes[asked], scalars[asked])
                some = DecisionRows(rows.tables[asked], rows.seats[asked], rows.masks[asked])
                critic = self._players.critic if player == LEARNING else None
                actions[asked] = self._choose(some, outputs, critic)
        return actions

    def _choose(self, rows: DecisionRows, outputs: "_Outputs", critic: Critic | None) -> Ints:
        """Ask the early head, and where it is not sure, the late one; keep what a critic values."""
        at_kan = self._env.at_kan[rows.tables]
        early = Sampler(outputs.early, self._random)
        actions = early.actions(rows, at_kan)
        left = np.flatnonzero(early.least < SURE)
        if len(left):
            some = DecisionRows(rows.tables[left], rows.seats[left], rows.masks[left])
            late = Sampler(outputs.late(left), self._random)
            actions[left] = late.actions(some, at_kan[left])
            if critic is not None:
                first = self._record(critic, some, outputs.planes[left], outputs.scalars[left])
                self.experience.questions += [q._replace(rows=first + q.rows) for q in late.asked]
        return actions

    def _record(self, critic: Critic, rows: DecisionRows, planes: Floats, scalars: Floats) -> int:
        """Keep what rows saw and what the critic says; return the number of the first."""
        experience, n = self.experience, len(rows.tables)
        hidden = np.empty((n, 34, N_HIDDEN_PLANES), np.float32)
        numbers = np.empty((n, N_HIDDEN_SCALARS), np.float32)
        write_hidden_rows(self._env.states, rows.tables, rows.seats, hidden, numbers)
        seen = (planes, hidden), (scalars, numbers)
        inputs = Inputs(*(torch.from_numpy(np.concatenate(part, -1)).half() for part in seen))
        experience.inputs.append(inputs)
        with torch.no_grad(), half_precision():
            values = critic(*inputs.take(np.arange(n), True))
        experience.values.append(values.float().numpy())
        first, experience.n = experience.n, experience.n + n
        before = self._last[rows.tables, rows.seats]
        now = np.arange(first, experience.n)
        experience.follows.update(
            zip(before[before >= 0].tolist(), now[before >= 0].tolist(), strict=True)
        )
        self._last[rows.tables, rows.seats] = now
        return first


class _Outputs:
    """The outputs of a network for some rows."""

    def __init__(self, net: PolicyNetwork, planes: Floats, scalars: Floats) -> None:
        self.planes: Final = planes
        self.scalars: Final = scalars
        self._net: Final = net
        self._inputs: Final = board_of(planes), torch.from_numpy(scalars)
        with torch.no_grad(), half_precision():
            self._cells: Final = net.first_cells(*self._inputs)
            self.early: Final = net.early(self._cells, *self._inputs)

    def late(self, rows: Ints) -> tuple[Tensor, Tensor]:
        """Return the logits of the late head of some of them."""
        planes, scalars = (part[rows] for part in self._inputs)
        with torch.no_grad(), half_precision():
            cells = self._net.last_cells(self._cells[rows])
            found: tuple[Tensor, Tensor] = self._net.late(cells, planes, scalars)
        return found


class Sampler:
    """Draws choices by logits; keeps the questions and how sure the answers were."""

    def __init__(self, logits: tuple[Tensor, Tensor], random: np.random.Generator) -> None:
        self._discards, self._others = (part.float().numpy() for part in logits)
        self._random: Final = random
        self.asked: Final[list[Questions]] = []
        self.least: Final = np.ones(len(self._discards), np.float32)
        """The chance of the likeliest answer, of each row the least: float32[rows]."""

    def actions(self, rows: DecisionRows, at_kan: NDArray[np.bool_]) -> Ints:
        """Return an action of each row."""
        return actions_of(rows, at_kan, np.zeros(len(rows.tables), np.uint8), self._answer)

    def _answer(self, kind: int, rows: Ints, _: Any, legal: NDArray[np.bool_]) -> Ints:
        at, size = HEADS.get(kind, (0, 34))
        logits = (self._others if kind else self._discards)[rows, at : at + size]
        logits = np.where(legal, logits / TEMPERATURE, -np.inf)
        logits -= logits.max(axis=1, keepdims=True)
        chances = np.exp(logits)
        chances /= chances.sum(axis=1, keepdims=True)
        choices: Ints = (logits + self._random.gumbel(size=logits.shape)).argmax(axis=1)
        wide = np.zeros((len(rows), 34), np.bool_)
        wide[:, :size] = legal
        made = np.log(chances[np.arange(len(rows)), choices])
        best = chances.max(axis=1)
        np.minimum.at(self.least, rows, best)
        kinds = np.full(len(rows), kind)
        self.asked.append(Questions(rows, kinds, choices, wide, made, best))
        return choices


class Shard(NamedTuple):
    """Tables that are played in one process, and what they start with."""

    weights: list[Weights]  # of policy and critic
    n: int
    wall: int
    random: tuple[int, ...]
    length: Length


class Playing:
    """Plays shards with networks of its own, on the processor; ``threads`` of torch, 0 for its own.

    A network of this size takes longer on a GPU that sixteen processes share than on their cores.
    """

    def __init__(self, policy: PolicyNetwork, critic: Critic, threads: int = 0) -> None:
        self._policy: Final = copy.deepcopy(policy).cpu()
        self._critic: Final = copy.deepcopy(critic).cpu()
        self._threads: Final = threads

    def __call__(self, shard: Shard, step: Step = _no_step) -> Played:
        """Play a game at each table."""
        if self._threads:
            torch.set_num_threads(self._threads)
        for network, weights in zip((self._policy, self._critic), shard.weights, strict=True):
            network.load_state_dict(weights)
        players = Players(self._policy, self._policy, self._critic)
        random = np.random.default_rng(shard.random)
        return Games(players, shard.n, shard.wall, random, shard.length).play(step).played()
