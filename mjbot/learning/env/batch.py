"""Many games at once for training: decisions, observations, masks and rewards as arrays.

    batch = BatchEnv(256, seed=1, reward="rank-model")
    rows = batch.reset()
    while True:
        planes, scalars = batch.observe()
        rows = batch.step(policy(planes, scalars, rows.masks))
        batch.rewards, batch.dones  # of what ended since: [256, 4], [256]

A row is a decision that is waited for; one discard can bring up to three, which are answered
together.  A seat that can do one thing only is not asked.  Table ``t`` plays the games of the seeds
``seed + t``, ``seed + t + n_tables``, ... one after the other, with the walls of
:class:`mjbot.game.referee.Referee` of those seeds; what happens at a table depends on its own seeds
and actions alone.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.ruleset import rule_set
from mjbot.game.table.actions import DECIDES_ALL
from mjbot.game.table.state import IDLE
from mjbot.game.table.view import Sealed, View
from mjbot.learning.env import tables as play
from mjbot.learning.env.actions import N_ACTIONS, name_of
from mjbot.learning.env.checked import (
    MOST_TABLES,
    chosen_actions,
    first_seeds,
    row_numbers,
    seats_of,
    to_fill,
)
from mjbot.learning.env.rewards import REWARDS, RewardName, StandingValue
from mjbot.learning.env.tables import (
    MOST_ENDS,
    MOST_ROWS,
    RANDOM,
    ROW,
    STANDING,
    TABLE,
    TSUMOGIRI,
    EnvTables,
    Standings,
    Values,
)
from mjbot.learning.models.fast_policy.ally import NO_ALLY
from mjbot.learning.models.fast_policy.choice import FastPolicy, choose, load_policy
from mjbot.learning.models.networks.encoding import (
    N_PLANES,
    N_SCALARS,
    Encoder,
    encode,
    new_encoder,
)
from mjbot.protocol.rules import LAST_ROUND, Length, Rules
from mjbot.runtime.checked_arguments import SEEDS, flag, text, whole_number
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.splitmix import mix
from mjbot.runtime.errors import ArgumentError

Planes = NDArray[np.float32]

_KINDS: Final = 34

__all__ = ["RANDOM", "TSUMOGIRI", "BatchEnv", "DecisionRows", "MaskedActionError", "random_source"]


class MaskedActionError(ArgumentError):
    """A row's action is not one that its mask allows; nothing was carried out."""


class DecisionRows(NamedTuple):
    """Decisions that are waited for: one row each, by table, and from the next seat on."""

    tables: NDArray[np.int64]  # int64[rows]
    seats: NDArray[np.int64]  # int64[rows]
    masks: NDArray[np.bool_]  # bool[rows, 46]


class BatchEnv:
    """``n_tables`` games under Tenhou's rules, in one process on one core.

    ``n_seats`` is how many play at each, 3 or 4; what has 4 below has as many values.
    ``players`` int[4] or int[n_tables, 4] gives the player of each seat: 0 and above is asked, so
    that rows of several policies can be separated by ``players[rows.tables, rows.seats]``;
    TSUMOGIRI and RANDOM play by themselves.  ``reward`` is a name or a function
    (:mod:`mjbot.learning.env.rewards`).  With ``pause`` a table whose kyoku has ended waits for the
    next step before it deals on, so that its last state can be looked at; else it continues at
    once, and so does the next game after the end of one, unless ``one_game`` leaves each table at
    the end of its first.  Raises :class:`mjbot.runtime.errors.ArgumentError`.
    """

    def __init__(
        self,
        n_tables: int,
        seed: int | NDArray[np.int64] = 0,
        length: Length = "hanchan",
        reward: RewardName | StandingValue = "score",
        *,
        players: Sequence[int] | NDArray[Any] | None = None,
        n_seats: int = 4,
        pause: bool = False,
        one_game: bool = False,
    ) -> None:
        n_tables = whole_number("n_tables", n_tables, range(1, MOST_TABLES + 1))
        if text("length", length) not in LAST_ROUND:
            raise ArgumentError(f"length must be one of {', '.join(LAST_ROUND)}, not {length!r}")
        if whole_number("n_seats", n_seats) not in (3, 4):
            raise ArgumentError(f"n_seats must be 3 or 4, not {n_seats}")
        rules = Rules(length=length, players=n_seats)
        self.n_tables: Final = n_tables
        self.n_seats: Final = n_seats
        self._value: Final = _value_function(reward, rules)
        self._seeds = first_seeds(seed, n_tables)
        seated = (0,) * n_seats if players is None else players
        self._tables: Final = _new_tables(seats_of(seated, n_tables, n_seats), rules)
        self._tables["pauses"] = flag("pause", pause)
        self._tables["stops"] = flag("one_game", one_game)
        self._rows, self._following = np.zeros((2, MOST_ROWS * n_tables), ROW)
        self._n_rows = 0
        self._ends: Final = np.zeros(MOST_ENDS * n_tables, STANDING)
        self._opening: Final = self._values_at(_opening(rules))[0]
        self._encoder: Encoder | None = None
        self._policy: FastPolicy | None = None
        self._sealed: Final = Sealed()
        self.resets = 0
        """How often :meth:`reset` was called."""
        self.rows = _copied(self._rows[:0])
        """The decisions that are waited for."""
        self.rewards: Final[NDArray[np.float32]] = self._tables["rewards"][:, :n_seats]
        """Rewards of the kyoku that ended in the last step: float32[n_tables, 4]."""
        self.kyoku_ends: Final[NDArray[np.int8]] = self._tables["kyoku_ends"]
        """How many kyoku ended in the last step, 0..4: int8[n_tables]."""
        self.dones: Final[NDArray[np.bool_]] = self._tables["done"].view(np.bool_)
        """Where a game ended in the last step: bool[n_tables]."""
        self.final_scores: Final[NDArray[np.int32]] = self._tables["final_scores"][:, :n_seats]
        """The final points of each table's last finished game: int32[n_tables, 4]."""
        self.states: Final[NDArray[Any]] = self._tables["state"]
        """The tables as they are, nothing hidden: ``mjbot.game.table.state.STATE`` [n_tables]."""
        self.seeds: Final[NDArray[np.int64]] = self._tables["seed"]
        """The seeds of the games under way: int64[n_tables]."""
        self.at_kan: Final[NDArray[np.bool_]] = self._tables["at_kan"].view(np.bool_)
        """Where a table's row chooses the kind of a kan: bool[n_tables]."""
        self.players: Final[NDArray[np.int8]] = self._tables["players"][:, :n_seats]
        """The player of each seat: int8[n_tables, 4]."""
        self.decides: Final[NDArray[np.uint8]] = self._tables["buffer"]["decides"][:, :n_seats]
        """Choices that seats decide on (flags DECIDES_...): uint8[n_tables, 4]."""

    # --- what happens ------------------------------------------------------------------------

    def reset(self, seed: int | NDArray[np.int64] | None = None) -> DecisionRows:
        """Begin anew at all tables, with the seeds before if none is given; return the first rows.

        int64[n_tables] gives each table its own first seed, so that some can share their walls.
        """
        if seed is not None:
            self._seeds = first_seeds(seed, self.n_tables)
        self.resets += 1
        self.seeds[:] = self._seeds
        self.states["phase"] = IDLE
        self._tables["asked"] = 0
        self._tables["value"] = self._opening
        self._n_rows = 0
        return self._step(np.zeros(0, np.int64))

    def step(self, actions: Sequence[int] | NDArray[Any]) -> DecisionRows:
        """Carry out an action of each row (int[rows]); return the decisions that follow.

        Raises :class:`MaskedActionError`, and :class:`mjbot.runtime.errors.ArgumentError` for
        anything but one whole number for each row.
        """
        if not self.resets:
            raise ArgumentError("no game has begun: call reset() before step()")
        return self._step(chosen_actions(actions, self._n_rows))

    def _step(self, chosen: NDArray[np.int64]) -> DecisionRows:
        n_rows, n_ends = play.step(
            self._tables, self._rows, self._n_rows, chosen, self._following, self._ends
        )
        if n_rows < 0:
            raise MaskedActionError(self._refusal(n_ends, int(chosen[n_ends])))
        self._rows, self._following, self._n_rows = self._following, self._rows, n_rows
        self.rows = _copied(self._rows[:n_rows])
        if n_ends:
            ends = self._ends[:n_ends]
            play.add_up(self._tables, ends, self._values_at(ends), self._opening)
        return self.rows

    def check(self, row: int, action: int) -> None:
        """Raise :class:`MaskedActionError` if one of the 46 actions is not legal in a row."""
        row = whole_number("row", row, range(self._n_rows))
        action = whole_number("action", action)
        if not (0 <= action < N_ACTIONS and self._rows[row]["mask"][action]):
            raise MaskedActionError(self._refusal(row, int(action)))

    # --- what there is to see ----------------------------------------------------------------

    def observe(
        self, planes: Planes | None = None, scalars: Planes | None = None
    ) -> tuple[Planes, Planes]:
        """Return what the seats of the rows see, by
        :func:`mjbot.learning.models.networks.encoding.encode`.

        float32[rows, 34, N_PLANES] and float32[rows, N_SCALARS]; arrays with at least so many rows
        are filled if given.
        """
        n = self._n_rows
        if planes is None:
            planes = np.empty((n, _KINDS, N_PLANES), np.float32)
        if scalars is None:
            scalars = np.empty((n, N_SCALARS), np.float32)
        to_fill("planes", planes, np.float32, (n, _KINDS, N_PLANES))
        to_fill("scalars", scalars, np.float32, (n, N_SCALARS))
        self._encoder = self._encoder or new_encoder()
        _encode_rows(self._tables, self._rows[:n], self._encoder, planes, scalars)
        return planes[:n], scalars[:n]

    def fast_policy_actions(self, rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return what the fast policy chooses in some rows (all by default), for :meth:`step`.

        int64[rows], each ``N_ACTIONS + code``: one compiled loop, so that the other seats of every
        table can be opponents at little cost (:mod:`mjbot.learning.models.fast_policy`).
        """
        chosen = row_numbers(rows, self._n_rows)
        self._policy = self._policy or load_policy(players=self.n_seats)
        actions = np.empty(len(chosen), np.int64)
        _choose_rows(self._tables, self._rows, chosen, self._policy, actions)
        return actions

    def view(self, table: int, seat: int) -> View:
        """Return what a seat sees, for a strategy; good until the next one is made.

        A strategy's ``start_kyoku`` is to be called where a kyoku was dealt.  Its choice goes into
        :meth:`step` as ``N_ACTIONS + choice.code``.
        """
        table = whole_number("table", table, range(self.n_tables))
        seat = whole_number("seat", seat, range(self.n_seats))
        return self._sealed.view(View(self.states[table], seat))

    # --- inside ------------------------------------------------------------------------------

    def _values_at(self, standings: Standings) -> Values:
        try:
            values = np.ascontiguousarray(self._value(standings), np.float64)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"reward: {error}") from error
        if not np.isfinite(values).all():
            raise ArgumentError("reward must give finite numbers")
        if values.shape != (shape := (len(standings), self.n_seats)):
            raise ArgumentError(f"reward must give an array {shape}, not {values.shape}")
        empty = 4 - self.n_seats
        return np.pad(values, ((0, 0), (0, empty))) if empty else values

    def _refusal(self, row: int, action: int) -> str:
        table, seat, mask = self._rows[row].item()
        legal = np.flatnonzero(mask).tolist()
        allowed = ", ".join([f"{number} {name_of(number, self.n_seats)}" for number in legal])
        known = 0 <= action < N_ACTIONS
        name = name_of(action, self.n_seats) if known else "no such action"
        refused = f"action: table {table}, seat {seat} may not {action} ({name})"
        return f"{refused}; it may: {allowed}"


def random_source(seed: int) -> NDArray[np.uint64]:
    """Return the random numbers of :func:`mjbot.learning.env.tables.random_actions`: uint64[1]."""
    return np.array([mix(np.uint64(whole_number("seed", seed, SEEDS)))], np.uint64)


def _copied(rows: play.RowRecords) -> DecisionRows:
    masks: NDArray[np.bool_] = rows["mask"].view(np.bool_).copy()
    return DecisionRows(rows["table"].copy(), rows["seat"].copy(), masks)


@compiled
def _encode_rows(
    tables: EnvTables, rows: play.RowRecords, encoder: Encoder, planes: Planes, scalars: Planes
) -> None:
    for row in range(len(rows)):
        state = tables[rows[row].table].state
        encode(state, rows[row].seat, encoder, planes[row], scalars[row])


@compiled
def _choose_rows(
    tables: EnvTables,
    rows: play.RowRecords,
    chosen: NDArray[np.int64],
    policy: FastPolicy,
    actions: NDArray[np.int64],
) -> None:
    for index in range(len(chosen)):
        row = rows[chosen[index]]
        actions[index] = N_ACTIONS + choose(policy, tables[row.table].state, row.seat, NO_ALLY)


def _value_function(reward: RewardName | StandingValue, rules: Rules) -> StandingValue:
    if callable(reward):
        return reward
    if text("reward", reward) not in REWARDS:
        raise ArgumentError(
            f"reward must be a function or one of {', '.join(REWARDS)}, not {reward!r}"
        )
    return partial(REWARDS[reward], rules=rules)


def _new_tables(players: NDArray[np.int8], rules: Rules) -> EnvTables:
    tables = np.zeros(len(players), TABLE)
    tables["players"] = players
    tables["state"]["rules"] = rule_set(rules)
    tables["buffer"]["decides"] = DECIDES_ALL
    return tables


def _opening(rules: Rules) -> Standings:
    opening = np.zeros(1, STANDING)
    opening["scores"][:, : rules.players] = rules.start_points
    opening["left"] = rules.players * (rules.last_round // 4 + 1)
    opening["last_round"] = rules.last_round
    return opening
