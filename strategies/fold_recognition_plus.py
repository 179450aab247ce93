"""What Mizukami 2013 left to the future: calls, hand quality, finer danger, pushing round."""

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Final

import numpy as np

from mjbot.learning.hand_evaluator import HandEvaluator
from mjbot.learning.weights import load_weights
from mjbot.rules.shanten import shanten
from mjbot.strategy import Strategy
from mjbot.table.actions import (
    CALL_KAN,
    DECLARE_RIICHI,
    NINE_TERMINALS,
    PON_PLAIN,
    RON,
    TSUMO,
    Action,
)
from mjbot.table.state import RIICHI
from mjbot.table.view import View
from strategies.evaluation.calls_plus import FIRST_CALL, N_CALLS, weigh_calls
from strategies.evaluation.danger import danger_weights
from strategies.evaluation.push import N_TILES, Floats, Temper, read_position, weigh_discards

MARGINAL: Final = 3


@dataclass
class FoldRecognitionPlus(Strategy):
    """Push while the hand is worth more than its danger; of two safe tiles keep the better hand.

    Each discard is worth what the hand left may win, by its shape, its yaku and the draws left,
    less what the tile may cost against each opponent.  Calls are made when they raise that.
    """

    ron: float = field(default=2.5, metadata={"unit": "others' discards per own draw to win on"})
    claims: float = field(default=0.8, metadata={"unit": "tiles to call per opponent's discard"})
    swing: float = field(default=7000.0, metadata={"unit": "points that a kyoku moves two scores"})
    rank_share: float = field(default=0.5, metadata={"unit": "0 points .. 1 rank"})
    caution: float = field(default=1.0, metadata={"unit": "x what a deal-in costs"})
    tenpai_points: float = field(default=2000.0, metadata={"unit": "points of tenpai at a draw"})
    going_round: float = field(
        default=0.35, metadata={"unit": "x the danger of a drawn tile, while it can be chosen"}
    )
    call_margin: float = field(default=100.0, metadata={"unit": "points a call must gain"})
    taste: float = field(default=60.0, metadata={"unit": "evaluator's score, a factor e"})
    evaluator: bool = field(default=True, metadata={"unit": "the hand evaluator on far hands"})
    calls: bool = field(default=True, metadata={"unit": "pon and chi"})

    def decide(self, view: View) -> Action:
        """Win, else kan, else riichi or the discard of most worth, else the call of most worth."""
        return (
            self.win(view) or self.kan(view) or self.turn(view) or self.call(view)
            or view.default_action
        )  # fmt: skip

    def win(self, view: View) -> Action | None:
        """Tsumo and ron whenever they are legal, and the draw by nine terminals."""
        for action in reversed(view.legal):
            if action.code in (TSUMO, RON, NINE_TERMINALS):
                return action
            if action.code < DECLARE_RIICHI:
                return None
        return None

    def kan(self, view: View) -> Action | None:
        """A concealed kan that costs no step, unless somebody is in riichi and we are not."""
        for action in reversed(view.legal):
            if action.name != "ankan":
                if action.code < CALL_KAN:
                    return None
                continue
            hand = view.hand.copy()
            hand[action.tile] -= 4
            quiet = not any(view.riichi(seat) for seat in range(4) if seat != view.seat)
            if view.riichi(view.seat):
                return action
            if quiet and shanten(hand, view.n_melds + 1) <= view.shanten:
                return action
        return None

    def turn(self, view: View) -> Action | None:
        """Declare riichi or discard, whatever is worth most."""
        discards = [action for action in view.legal if action.code < DECLARE_RIICHI]
        if not discards:
            return None
        if len(discards) == 1 and len(view.legal) == 1:
            return discards[0]
        tiles = np.array(sorted({action.tile for action in discards}), np.int64)
        state, seat = view.state, view.seat
        draws = view.wall_left // 4
        position = read_position(state, seat, view.unseen, draws, danger_weights(), self._temper)
        worths, riichis = np.empty(N_TILES), np.empty(N_TILES)
        weigh_discards(
            view.hand.copy(), view.n_melds, view.is_open(seat), tiles, position,
            self._taste(view), self.calls,
            worths, riichis,
        )  # fmt: skip
        if view.phase == RIICHI:
            worths = riichis
        elif riichis.max() > worths.max():
            for action in view.legal:
                if action.code == DECLARE_RIICHI:
                    return action
        return max(discards, key=lambda action: (worths[action.tile], action.tsumogiri))

    def _taste(self, view: View) -> Floats:
        if not self.evaluator:
            return np.ones(34)
        scores = _evaluator().scores_at(view.state, view.seat)
        return np.exp((scores - scores.max()) / self.taste)

    def call(self, view: View) -> Action | None:
        """Call if the hand after it is worth more than before."""
        if not self.calls:
            return None
        calls = [action for action in view.legal if PON_PLAIN <= action.code < CALL_KAN]
        if not calls:
            return None
        codes = np.array([action.code for action in calls], np.int64)
        worths = np.empty(N_CALLS)
        passed = weigh_calls(
            view.state, view.seat, view.unseen, codes, danger_weights(), self._temper, worths
        )
        best = max(calls, key=lambda action: (worths[action.code - FIRST_CALL], action.red))
        return best if worths[best.code - FIRST_CALL] > passed + self.call_margin else None

    @cached_property
    def _temper(self) -> Temper:
        return Temper(
            self.ron, self.claims, self.swing, self.rank_share, self.caution, self.tenpai_points,
            self.going_round, _pace(),
        )  # fmt: skip


@cache
def _evaluator() -> HandEvaluator:
    return HandEvaluator.load()


def _pace() -> Floats:
    """Return the chance that another wins before the next own discard, [discards, threats].

    Column 3 is the mean over what threats there are at that turn.
    """
    counts = load_weights("danger")["pace"].astype(np.float64)
    pace = np.zeros((18, 4))
    for turn in range(18):
        for threats in range(3):
            of = counts[max(turn - 1, 0) : turn + 2, threats].sum(axis=0)
            pace[turn, threats] = of[1] / max(of.sum(), 1.0)
        pace[turn, 3] = counts[turn, :, 1].sum() / counts[turn].sum()
    return pace
