"""Policies and strategies: a policy over the 46 actions at any table, a strategy in the batch.

A policy is a function of an :class:`Observation`.  As a subclass of :class:`PolicyStrategy` it
plays wherever a strategy does: in the arena, at servers, in reviews.  :class:`StrategyPolicy` is
the way back: it plays rows of a :class:`~mjbot.learning.env.batch.BatchEnv` as a strategy would, as
an opponent or to be imitated.
"""

from collections.abc import Hashable
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.actions import ACTIONS, Action
from mjbot.game.table.view import View
from mjbot.learning.env.actions import ACTION_OF_CODE, N_ACTIONS, SEVERAL_KANS, code_of, write_mask
from mjbot.learning.env.batch import BatchEnv
from mjbot.learning.env.checked import names_of, row_numbers
from mjbot.learning.models.networks.encoding import (
    N_PLANES,
    N_SCALARS,
    Encoder,
    encode,
    new_encoder,
)
from mjbot.protocol.tiles import N_KINDS
from mjbot.runtime.checked_arguments import text, type_error, whole_number
from mjbot.runtime.errors import ArgumentError
from mjbot.strategy.registry import Spec
from mjbot.strategy.strategy import Strategy


class Observation(NamedTuple):
    """What a policy is given for one decision, as a row of :meth:`BatchEnv.observe` has it.

    While the kind of a kan is chosen the mask is among 0..33 (:mod:`mjbot.learning.env.actions`).
    """

    planes: NDArray[np.float32]  # float32[34, N_PLANES]
    scalars: NDArray[np.float32]  # float32[N_SCALARS]
    mask: NDArray[np.bool_]  # bool[46]


class PolicyStrategy(Strategy):
    """Base class of strategies that are a policy over the environment's 46 actions.

    Override :meth:`logits`; options are dataclass fields as in any strategy.  Plays what the same
    policy would choose in the environment, the greatest legal number.
    """

    def logits(self, seen: Observation) -> NDArray[Any]:
        """Return a number for each action, float[46]; those of illegal actions do not count."""
        raise NotImplementedError

    def decide(self, view: View) -> Action:
        """Return the legal action with the greatest number, after a kan its kind."""
        codes = np.frombuffer(view.codes, np.uint8)
        seen = observe(view, self._encoder)
        action = self._best(seen)
        code = code_of(codes, len(codes), False, action)
        if code == SEVERAL_KANS:
            kinds = seen._replace(mask=_mask(codes, at_kan=True))
            code = code_of(codes, len(codes), True, self._best(kinds))
        return ACTIONS[code]

    def _best(self, seen: Observation) -> int:
        logits = np.asarray(self.logits(seen))
        if logits.shape != (N_ACTIONS,):
            raise ArgumentError(f"logits of shape {logits.shape}, expected ({N_ACTIONS},)")
        if logits.dtype.kind not in "biuf":
            raise ArgumentError(f"logits must be numbers, not {logits.dtype}")
        legal = np.flatnonzero(seen.mask)
        if np.isnan(logits[legal]).any():
            number = int(legal[np.isnan(logits[legal])][0])
            raise ArgumentError(f"logits: that of {number} is no number (nan)")
        return int(legal[logits[legal].argmax()])  # all may be -inf

    @cached_property
    def _encoder(self) -> Encoder:
        return new_encoder()


def observe(view: View, encoder: Encoder | None = None) -> Observation:
    """Return what a view with a choice is in the environments; ``encoder`` saves making one."""
    if not isinstance(view, View):
        raise type_error("view", "a View", view)
    if not isinstance(encoder, Encoder | None):
        raise type_error("encoder", "an encoder", encoder)
    planes = np.empty((N_KINDS, N_PLANES), np.float32)
    scalars = np.empty(N_SCALARS, np.float32)
    if not encode(view.state, view.seat, encoder or new_encoder(), planes, scalars):
        raise ArgumentError(f"seat {view.seat} has nothing to decide here")
    return Observation(planes, scalars, _mask(np.frombuffer(view.codes, np.uint8)))


def action_number(action: Action) -> int:
    """Return which of the 46 actions a legal action is: 0..45.

    >>> action_number(ACTIONS[3]), action_number(ACTIONS[40])
    (3, 3)
    """
    if not isinstance(action, Action):
        raise type_error("action", "an Action", action)
    return int(ACTION_OF_CODE[whole_number("action.code", action.code, range(len(ACTIONS)))])


def _mask(codes: NDArray[np.uint8], at_kan: bool = False) -> NDArray[np.bool_]:
    mask = np.empty(N_ACTIONS, np.uint8)
    write_mask(codes, len(codes), at_kan, mask)
    return mask.view(np.bool_)


class StrategyPolicy:
    """Rows of one batch played by a strategy: ``actions = policy(batch)``.

    ``strategy`` names it as commands do, with options: ``"fast-riichi-d"``,
    ``"my_bot.py:MyBot,riichi=no"``.  Each seat of each game has an instance of its own, which
    learns of a game and of a kyoku with its first decision there.  ``names`` are what the players
    are called.  Raises :class:`~mjbot.strategy.options.StrategyError`.
    """

    def __init__(
        self,
        strategy: str,
        seed: int = 0,
        names: tuple[str, str, str, str] = ("", "", "", ""),
    ) -> None:
        self._spec: Final = Spec.read(text("strategy", strategy))
        self._seed: Final = whole_number("seed", seed)
        self._names: Final = names_of(names)
        self._spec.make(seed)  # what cannot be made is refused here
        self._players: Final[dict[tuple[int, int], Strategy]] = {}
        self._games: Final[dict[tuple[int, int], Hashable]] = {}
        self._kyoku: Final[dict[tuple[int, int], Hashable]] = {}

    def __call__(self, batch: BatchEnv, rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return what the strategy chooses in some rows (all by default), for ``batch.step``.

        int64[rows], each ``N_ACTIONS + code``; ``ACTION_OF_CODE[actions - N_ACTIONS]`` are the same
        as 0..45.
        """
        if not isinstance(batch, BatchEnv):
            raise type_error("batch", "a BatchEnv", batch)
        chosen = row_numbers(rows, len(batch.rows.tables)).tolist()
        tables, seats = batch.rows.tables.tolist(), batch.rows.seats.tolist()
        actions = [self._decide(batch, tables[row], seats[row]).code for row in chosen]
        return N_ACTIONS + np.array(actions, np.int64)

    def _decide(self, batch: BatchEnv, table: int, seat: int) -> Action:
        view, chair = batch.view(table, seat), (table, seat)
        game = batch.resets, int(batch.seeds[table])
        kyoku = *game, view.round, view.honba
        if self._games.get(chair) != game:
            self._spec.require_players(batch.n_seats)
            self._games[chair] = game
            self._players[chair] = self._spec.make(self._seed)
            self._players[chair].start_game(seat, self._names)
        player = self._players[chair]
        if self._kyoku.get(chair) != kyoku:
            self._kyoku[chair] = kyoku
            player.start_kyoku(view)
        return player.decide(view)
