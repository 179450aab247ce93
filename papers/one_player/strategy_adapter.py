"""Strategies and the trained evaluator as players of one-player mahjong."""

from bisect import bisect_left
from typing import Final

import numpy as np

from mjbot.game.rules.ruleset import rule_set
from mjbot.game.rules.wall_plan import FOUR_PLAYERS
from mjbot.game.table.actions import DECLARE_RIICHI
from mjbot.game.table.apply import apply_discard, apply_draw, apply_start_game, apply_start_kyoku
from mjbot.game.table.assume import assume_alone
from mjbot.game.table.state import new_state
from mjbot.game.table.view import View, derived
from mjbot.learning.models.hand import FeatureSet, HandEvaluator
from mjbot.strategy.registry import Spec
from mjbot.strategy.strategy import Strategy
from papers.one_player.game import N_DEALT, N_KINDS, OnePlayerGame, draws_left

SEAT: Final = 0
UNKNOWN_TILE: Final = 37


class DiscardView(View):
    """A table at which only this seat draws, and may only discard."""

    @derived
    def codes(self) -> bytes:
        """The codes of all discards."""
        codes: bytes = super().codes
        return codes[: bisect_left(codes, DECLARE_RIICHI)]


class StrategyAdapter:
    """A strategy at a table where only its seat draws.

    It is the dealer of East 1; there are no dora and no red fives; the others have 13 unknown
    tiles each and empty rivers.  As many live tiles are left as four players would draw in the
    draws that are left (70 at most).  The discard that it chooses is taken.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec: Final = spec
        self._strategy: Strategy = spec.make()
        self._state: Final = new_state()

    def start(self, game: OnePlayerGame, seed: int) -> None:
        """Seat a new player of the strategy and deal."""
        self._strategy = self._spec.make(seed)
        apply_start_game(self._state, rule_set())
        hands = np.full((4, N_DEALT), UNKNOWN_TILE, np.int8)
        hands[SEAT] = np.repeat(np.arange(N_KINDS, dtype=np.int8), game["hand"])
        apply_start_kyoku(self._state, 0, 0, 0, 0, hands)
        assume_alone(self._state, FOUR_PLAYERS["n_live"])
        self._strategy.start_game(SEAT, ("alone", "", "", ""))
        self._strategy.start_kyoku(DiscardView(self._state, SEAT))

    def choose(self, game: OnePlayerGame) -> int:
        """Query the strategy.  Raises ``ValueError`` for an action that is no discard."""
        apply_draw(self._state, SEAT, int(game["drawn"]))
        assume_alone(self._state, min(FOUR_PLAYERS["n_live"], 4 * draws_left(game)))
        view = DiscardView(self._state, SEAT)
        action = self._strategy.decide(view)
        if action not in view.legal:
            raise ValueError(f"{self._spec.name} chose {action}, not a discard")
        apply_discard(self._state, SEAT, action.tile, action.tsumogiri)
        return action.tile


class EvaluatorPlayer:
    """Discards what the trained hand evaluator scores highest, of equals an honour.

    It is shown the hand and the unseen tiles, nothing else.
    """

    def __init__(self, features: FeatureSet = "paper") -> None:
        self._evaluator: Final = HandEvaluator.load(features)

    def start(self, game: OnePlayerGame, seed: int) -> None:
        """Nothing to remember."""

    def choose(self, game: OnePlayerGame) -> int:
        """Return the kind with the best score."""
        scores = self._evaluator.scores(game["hand"], 0, game["unseen"])
        return N_KINDS - 1 - int(np.argmax(scores[::-1]))
