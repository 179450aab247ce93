"""Players for comparing referees: sensible enough to win, odd enough to meet every rule."""

from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np

from mjbot.game.rules.acceptance import acceptance_by_discard
from mjbot.game.table.actions import ACTIONS, Action
from mjbot.game.table.state import State
from mjbot.game.table.view import View
from mjbot.protocol.tiles import tile_kind

_TERMINALS: Final = frozenset({0, 8, 9, 17, 18, 26, *range(27, 34)})


@dataclass(frozen=True)
class Habit:
    """How likely (0..1) a player does each thing when it may, for one kyoku."""

    win: float
    riichi: float
    kan: float
    call: float
    abort: float
    greed: float
    """Discards towards the lowest shanten; otherwise at random."""
    edges_first: float
    """Discards terminals and honours first, which makes four winds and nagashi."""


def random_habit(rng: Random) -> Habit:
    """Draw a player."""
    return Habit(
        win=rng.choice((1.0, 1.0, 1.0, 0.5, 0.0)),
        riichi=rng.choice((1.0, 1.0, 0.5, 0.0)),
        kan=rng.choice((1.0, 0.7, 0.2)),
        call=rng.choice((0.0, 0.0, 0.1, 0.5, 1.0)),
        abort=rng.choice((0.5, 0.9)),
        greed=rng.choice((1.0, 1.0, 0.95, 0.8, 0.3)),
        edges_first=rng.choice((0.0,) * 6 + (1.0,)),
    )


class HabitPlayer:
    """Chooses among offered codes for one seat; ``rng`` is all its randomness."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.habit = random_habit(rng)

    def start_kyoku(self) -> None:
        """Change the habit."""
        self.habit = random_habit(self.rng)

    def choose(self, state: State, seat: int, codes: list[int]) -> Action:
        """Return one of the actions in ascending ``codes``."""
        actions = [ACTIONS[code] for code in codes]
        habit = self.habit
        for names, chance in (
            (("tsumo", "ron"), habit.win),
            (("nine terminals",), habit.abort),
            (("riichi",), habit.riichi),
            (("ankan", "kakan", "daiminkan", "kita"), habit.kan),
            (("chi", "pon"), habit.call),
        ):
            wanted = [action for action in actions if action.name in names]
            if wanted and self.rng.random() < chance:
                return self.rng.choice(wanted)
        discards = [action for action in actions if action.name == "discard"]
        if discards:
            return self._discard(state, seat, discards)
        return next((action for action in actions if action.name == "pass"), actions[0])

    def _discard(self, state: State, seat: int, discards: list[Action]) -> Action:
        if self.rng.random() < self.habit.edges_first:
            edges = [action for action in discards if tile_kind(action.tile) in _TERMINALS]
            if edges:
                return max(edges, key=lambda action: tile_kind(action.tile) - action.tsumogiri)
        if self.rng.random() >= self.habit.greed:
            return self.rng.choice(discards)
        return self._towards_tenpai(state, seat, discards)

    def _towards_tenpai(self, state: State, seat: int, discards: list[Action]) -> Action:
        shantens = np.empty(34, np.int8)
        masks = np.empty(34, np.int64)
        counts = np.empty(34, np.int16)
        view = View(state, seat)
        acceptance_by_discard(view.hand, view.n_melds, view.unseen, shantens, masks, counts)

        def value(action: Action) -> tuple[int, int]:
            kind = tile_kind(action.tile)
            return -int(shantens[kind]), int(counts[kind])

        best = max(map(value, discards))
        return self.rng.choice([action for action in discards if value(action) == best])
