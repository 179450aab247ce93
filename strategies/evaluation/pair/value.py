"""The value of the scores after a kyoku to a pair, and what a discard risks in it.

The measure is the pair's scores plus the placement points that it may expect
(:func:`mjbot.learning.models.placement.expected_bonuses`).

How likely a tile deals in, and to how many points, is fitted to records
(:mod:`mjbot.learning.models.danger`); what that costs the pair depends on both scores: per rival,
the loss in value of dealing in to its usual points m, spread over the tiles as cost(m) / m x chance
x points.

The chances of tenpai and the points of a win that is not at hand (``*_LOSS``) are round numbers of
our own, set by hand and not fitted or tuned; they describe how near rivals are, not the cost of a
tile.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.settle import OVER, kyoku_after
from mjbot.game.table.view import View
from mjbot.learning.models.danger import danger_weights, deal_in_chances
from mjbot.learning.models.placement import expected_bonuses
from mjbot.learning.models.weights import OF_PLAYERS
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import FIVE_KINDS, N_KINDS, N_TILES

REPEAT_POINTS: Final = 1500
"""The value of one more kyoku as dealer: a round guess."""

Floats = NDArray[np.float64]
Pair = tuple[int, int]
Scores = Sequence[int]

_BONUSES: Final = {
    players: np.array([*Rules(players=players).placement_points, 0][:4], np.float64)
    for players in (3, 4)
}


def pair_value(scores: Scores, pair: Pair, kyoku_left: int) -> float:
    """Return the value of the players' scores with so many kyoku to come.

    >>> pair_value((30000, 29000, 21000, 20000), (0, 1), 0)
    109000.0
    >>> round(pair_value((25000, 25000, 25000, 25000), (0, 1), 7))
    60000
    """
    left = OVER if min(scores) < 0 else kyoku_left
    expected = expected_bonuses(np.array(scores, np.int32), left, _BONUSES[len(scores)])
    return sum(scores[seat] for seat in pair) + float(expected[pair[0]] + expected[pair[1]])


def value_after(view: View, pair: Pair, deltas: Scores, winner: int | None = None) -> float:
    """Return the value of the table to the pair if the kyoku ends with these gains and losses.

    ``winner`` is the seat that won, ``None`` for a draw after which the dealer does not stay.
    """
    scores = [int(score) + int(delta) for score, delta in zip(view.scores, deltas, strict=True)]
    dealer_stays = winner == view.dealer
    left = kyoku_after(view.state, np.array(scores, np.int32), int(dealer_stays), True)
    value = pair_value(scores[: view.players], pair, left)
    return value + (REPEAT_POINTS if left and dealer_stays and winner in pair else 0)


# --- what a discard risks against the rivals, and how far each of them is -----------------------

TENPAI_PER_TURN: Final = (0.012, 0.035, 0.06, 0.08, 0.1)
"""Chance of tenpai per own discard, by open melds; riichi is certain."""
MOST_TENPAI: Final = 0.9
RIICHI_LOSS: Final = 6000
QUIET_LOSS: Final = 4000
OPEN_LOSS: Final = 2500
DORA_LOSS: Final = 1500
DEALER_FACTOR: Final = 1.5


def tenpai_by_turn(view: View, seat: int) -> float:
    """Return how likely a seat is tenpai, by its riichi, melds and turns."""
    if view.riichi(seat):
        return 1.0
    melds = len(view.melds(seat)) if view.is_open(seat) else 0
    return min(MOST_TENPAI, TENPAI_PER_TURN[melds] * len(view.river(seat)))


def expected_win(view: View, seat: int) -> float:
    """Return the usual value of a win of the seat, in points."""
    loss = RIICHI_LOSS if view.riichi(seat) else OPEN_LOSS if view.is_open(seat) else QUIET_LOSS
    for meld in view.melds(seat):
        loss += DORA_LOSS * (int(view.dora[meld.kind]) * 3 + meld.red.bit_count())
    return loss * (DEALER_FACTOR if seat == view.dealer else 1.0)


def deal_in_cost(view: View, pair: Pair, payer: int, winner: int, loss: float) -> float:
    """Return what it costs the pair, placements included, if one of it pays a rival ``loss``.

    It is compared with a kyoku without a win.
    """
    deltas = [0] * 4
    deltas[payer], deltas[winner] = -round(loss), round(loss)
    nothing = value_after(view, pair, [0] * 4)
    return max(0.0, nothing - value_after(view, pair, deltas, winner))


def discard_danger(view: View, pair: Pair) -> Floats:
    """Return the points that discarding each tile (0..36) is expected to lose to the rivals.

    The view's seat is one of the pair; what it does not see may be less than what it alone would
    not see.
    """
    chance, points = np.zeros((4, N_KINDS)), np.zeros((4, N_KINDS))
    weights = danger_weights(OF_PLAYERS[view.players])
    deal_in_chances(view.state, view.seat, view.unseen, weights, chance, points)
    danger = np.zeros(N_TILES)
    for rival in range(4):
        likely = float(chance[rival].sum())
        if rival not in pair and likely > 0:
            usual = float((chance[rival] * points[rival]).sum()) / likely
            price = deal_in_cost(view, pair, view.seat, rival, usual) / usual
            danger[:N_KINDS] += price * chance[rival] * points[rival]
    danger[N_KINDS:] = danger[list(FIVE_KINDS)]
    return danger
