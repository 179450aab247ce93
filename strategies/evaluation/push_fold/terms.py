"""The parts of a value in points: chance to win, value, dangers, the rank.

The same hand is weighed four times, each time with another price on points (``Race.value``):

========  ==================================================================
value     as the strategy does: points by the rank they bring, dangers to come
plain     points as points, dangers to come
gains     gains as points; no dangers to come, no tenpai at a draw, no stick
chance    a win as 1: how likely it is, played for the win
========  ==================================================================

With d_o the chance to deal in to opponent o for m_o points and d that of any, the value of a
discard is the sum of::

    winning       gains of the hand left: estimated chance to win x value of a win
    riichi stick  -1000 where it is declared
    later         plain - gains, less the stick
    dealing in    for each o: - caution d_o m_o - d plain d_o / (sum of d_o)
    placement     the value without the hand evaluator's weight, less all of these
    shape         what that weight adds to it, never above 0

The chance in ``winning`` is that of a player who always plays for the win.  The chance to win that
is reported with it is calibrated on recorded games
(:mod:`mjbot.strategies.evaluation.push_fold.win_chance`), so it is smaller for hands near a win.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.view import View
from mjbot.learning.models.danger import DangerWeights, deal_in_chances, grade_chances
from mjbot.learning.models.placement import LOWEST, N_STEPS, STEP
from mjbot.protocol.tiles import tile_kind
from mjbot.strategies.evaluation.push_fold.hand_value import weigh_discards
from mjbot.strategies.evaluation.push_fold.push import PushParameters, PushPosition
from mjbot.strategies.evaluation.push_fold.race import MAX_DRAWS
from mjbot.strategies.evaluation.push_fold.race import STICK as STICK_POINTS
from mjbot.strategies.evaluation.push_fold.win_chance import WinSituation, calibrated
from mjbot.strategy import explanation as e

Floats = NDArray[np.float64]

PLAIN: Final[Floats] = np.linspace(LOWEST, LOWEST + STEP * (N_STEPS - 1), N_STEPS)
GAINS: Final[Floats] = np.maximum(PLAIN, 0.0)
ANY_GAIN: Final[Floats] = (PLAIN > 0).astype(np.float64)
RARE: Final = 1e-4
"""Chance to win below which no term reports the value of a win."""


class Dangers(NamedTuple):
    """Of each kind against each seat: chance to deal in, and points paid for it; [4, 34]."""

    chance: Floats
    paid: Floats


NO_DANGERS: Final = Dangers(np.zeros((4, 34)), np.zeros((4, 34)))


def read_dangers(view: View, weights: DangerWeights, parameters: PushParameters) -> Dangers:
    """Return the dangers that the position's loss is made of."""
    chance, points = np.zeros((4, 34)), np.zeros((4, 34))
    deal_in_chances(view.state, view.seat, view.unseen, weights, chance, points)
    if not parameters.fine_danger:
        grade_chances(view.state, view.seat, view.unseen, weights, chance)
    honba = (view.players - 1) * int(view.state["rules"]["honba_points"]) * view.honba
    paid = np.where(chance > 0, points + honba, 0.0)
    return Dangers(chance, paid)


class Pricings(NamedTuple):
    """A position with other prices on points."""

    plain: PushPosition
    gains: PushPosition
    chance: PushPosition


def price(
    position: PushPosition, dangers: Dangers, view: View, parameters: PushParameters
) -> Pricings:
    """Return the position of a view with the prices of the table above."""
    loss = parameters.caution * (dangers.chance * dangers.paid).sum(axis=0)
    risk = np.full(MAX_DRAWS + 1, float(view.unseen @ loss) / position.race.total)
    none = np.zeros(MAX_DRAWS + 1)
    race = position.race._replace(
        value=PLAIN,
        risk=risk,
        evasion=risk * parameters.mawashi_cost,
        tenpai_points=parameters.tenpai_points,
    )
    safe = race._replace(value=GAINS, risk=none, evasion=none, tenpai_points=0.0)
    no_loss, certain = np.zeros(34), np.zeros(34)
    gains = position._replace(race=safe, loss=no_loss, deal_in=certain)
    won = gains._replace(race=safe._replace(value=ANY_GAIN))
    return Pricings(position._replace(race=race, loss=loss), gains, won)


def hands_left(view: View, tiles: NDArray[np.int64], position: PushPosition, calls: bool) -> Floats:
    """Return the values of the hands left by discards: float64[2, 37], silent and in riichi."""
    values = np.empty((2, 37))
    hand, is_open = view.hand.copy(), view.is_open(view.seat)
    weigh_discards(hand, view.n_melds, is_open, tiles, position, calls, values[0], values[1])
    return values


class PricedHands(NamedTuple):
    """The values of the hands left by each price: float64[2, 37] each."""

    plain: Floats
    gains: Floats
    chance: Floats


def winning_terms(
    gains: float, chance: float, situation: WinSituation | None, adds_to: str
) -> list[e.Term]:
    """Return what a hand may win, and the chance and value that this comes from.

    ``situation`` selects the calibration of the chance that is reported; ``None``: no calibration.
    """
    chance = min(max(chance, 0.0), 1.0)
    reported = chance if situation is None else calibrated(chance, situation)
    terms = [e.Term(e.WINNING, e.POINTS, gains, adds_to=adds_to)]
    terms.append(e.Term(e.CHANCE_TO_WIN, e.PERCENT, 100 * reported))
    if chance > RARE:
        terms.append(e.Term(e.WIN_VALUE, e.POINTS, gains / chance))
    return terms


class Discarded(NamedTuple):
    """A discard whose terms are required: its tile (0..36), its value, the hand it leaves."""

    tile: int
    value: float
    unweighted: float  # the value without the hand evaluator's weight
    in_riichi: bool
    situation: WinSituation | None  # of the calibration; None: the chance as estimated


def discard_terms(
    opponents: Sequence[int],
    of: Discarded,
    hands: PricedHands,
    dangers: Dangers,
    caution: float,
    adds_to: str,
) -> list[e.Term]:
    """Return the terms of a discard, which add up to its value."""
    plain, gains, chance = (float(each[int(of.in_riichi), of.tile]) for each in hands)
    stick = -STICK_POINTS if of.in_riichi else 0.0
    terms = winning_terms(gains, chance, of.situation, adds_to)
    terms.append(e.Term(e.LATER, e.POINTS, plain - gains - stick, adds_to=adds_to))
    terms += _danger_terms(opponents, tile_kind(of.tile), plain, dangers, caution, adds_to)
    sticks = [e.Term(e.STICK, e.POINTS, stick, adds_to=adds_to)] if of.in_riichi else []
    known = sum(term.value for term in [*terms, *sticks] if term.adds_to == adds_to)
    shape = of.value - of.unweighted
    return [
        *terms,
        *([e.Term(e.SHAPE, e.POINTS, shape, adds_to=adds_to)] if shape else []),
        e.Term(e.PLACEMENT, e.POINTS, of.unweighted - known, adds_to=adds_to),
        *sticks,
    ]


def _danger_terms(
    opponents: Sequence[int],
    kind: int,
    plain: float,
    dangers: Dangers,
    caution: float,
    adds_to: str,
) -> list[e.Term]:
    """Return chance, cost and their product for each opponent; of what cannot deal in 0."""
    chances = dangers.chance[:, kind]
    any_of = 1 - float(np.prod(1 - chances))
    share = any_of * plain / max(float(chances.sum()), 1e-12)
    terms = []
    for opponent in opponents:
        chance, paid = float(chances[opponent]), float(dangers.paid[opponent, kind])
        cost = -chance * (caution * paid + share)
        terms.append(e.Term(e.DEALING_IN, e.POINTS, cost, about=opponent, adds_to=adds_to))
        terms.append(e.Term(e.DANGER, e.PERCENT, 100 * chance, False, about=opponent))
        terms.append(e.Term(e.DEAL_IN_COST, e.POINTS, paid, False, about=opponent))
    return terms
