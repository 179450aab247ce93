"""How the four of a playout read each other: one set of sampled hands, weighed by every viewer.

Takada 2022, section 4.2 and its open ends.  Of each player hands in tenpai are sampled that fit
what all can see of it.  A viewer counts a sample by how likely it is among the tiles which that
viewer has not seen.  Losses are in worth, placement included; and what a discard that is not won
lets happen later is taken into account: the others' wins by draw or off somebody else, whichever
comes first.  Compiled code.

The chance q_s(n) to win from shanten s with n draws left is a chain, S being the chance that
nobody else wins between two draws; q of a won hand (s = -1) is 1::

    q_s(0) = 0,   q_s(n) = S (q_s(n-1) + ADVANCE[s] (q_(s-1)(n-1) - q_s(n-1)))

A seat's chance Q = sum of P(s) q_s becomes a rate r = -log(1 - Q); later the viewer loses
(1 - exp(-sum of r)) x (sum of the others' r x loss) / (sum of r).  Being at shanten s
costs (q_0 - q_s) x gain.

Constants: :data:`ADVANCE`, :data:`BY_DRAW` and :data:`OFF_SELF` were set by hand and not tuned;
:data:`DISCARDED_YET_HELD` is an assumption, not a measurement; :data:`SAMPLES` is by hand (the
paper has 10).
"""

from math import exp, log
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.compiler.record import Float64s, Int8s, Int32s, Int64s, Record
from mjbot.models.placement import score_worth
from mjbot.models.tenpai import HandReader, shanten_chances
from mjbot.rules.points import Parties, base_points, win_deltas
from mjbot.rules.scoring import score_win
from mjbot.rules.wins import DOUBLE_RIICHI, RIICHI
from mjbot.table.settle import kyoku_after, liable_seat
from mjbot.table.state import State
from strategies.evaluation.hidden_hands.pricing import (
    PricingWorkspace,
    prepare_pricing,
    sampled_dora,
    sampled_ura,
)
from strategies.evaluation.hidden_hands.tenpai_parts import prepare
from strategies.evaluation.hidden_hands.tenpai_samples import sample_tenpai
from strategies.evaluation.playouts.opponent_models import OpponentModels

Points = NDArray[np.float64]

SAMPLES: Final = 12
MOST_SAMPLES: Final = 60
"""Open hands without a yaku are left out, up to this limit."""
DISCARDED_YET_HELD: Final = 0.25
"""How much likelier or less likely a hand is made by each kind in it that its owner discarded."""
BY_DRAW: Final = 0.5
OFF_SELF: Final = 0.1
"""Shares of the wins by draw, and off the viewer although it takes care; the rest off others."""
ADVANCE: Final = (0.13, 0.16, 0.26, 0.36, 0.45, 0.5, 0.5)
"""Chance that a draw brings a hand of shanten 0 .. 6 one step on (from 0: that it wins)."""
N_SHANTEN: Final = 7
TYPICAL_BASE: Final = 960
"""Base points of a hand of which nothing is known: 3 han 30 fu."""


class SampledHands(Record):
    """Sampled hands of all opponents and their weights: what reading works with."""

    n_samples: Annotated[Int64s, 4]
    hand: Annotated[Int8s, 4, SAMPLES, 34]
    base: Annotated[Int32s, 4, SAMPLES, 34]  # base points of a ron on each kind, 0 no win
    draw_base: Annotated[Int32s, 4, SAMPLES]  # of a win by draw
    liable: Annotated[Int8s, 4, SAMPLES]
    unseen: Annotated[Int8s, 34]  # by nobody: all hidden hands included
    chances: Annotated[Float64s, 7]
    win_odds: Annotated[Float64s, 4]  # that the seat wins this kyoku, as all see it
    tenpai: Annotated[Float64s, 4]
    later_loss: Annotated[Float64s, 4, 4]  # [viewer, winner] loss if the winner wins later
    own_odds: Annotated[Float64s, 7]  # chance to win from each shanten
    scores: Annotated[Int32s, 4]


# --- samples -----------------------------------------------------------------------------------


@compiled
def sample_hands(
    state: State,
    seat: int,
    random: NDArray[np.uint64],
    samples: SampledHands,
    pricing: PricingWorkspace,
) -> None:
    """Sample hands in tenpai of ``seat`` from the tiles that are in nobody's sight."""
    prepare_pricing(state, seat, seat, pricing)
    for kind in range(34):
        pricing.unseen[kind] += state.hand[seat, kind]
        pricing.tenpai.unseen[kind] = pricing.unseen[kind]
        samples.unseen[kind] = pricing.unseen[kind]
    prepare(pricing.tenpai)
    n = 0
    for _ in range(MOST_SAMPLES):
        if n == SAMPLES or not sample_tenpai(pricing.tenpai, random):
            break
        n += _price_sample(state, seat, n, random, samples, pricing)
    samples.n_samples[seat] = n


@compiled
def _price_sample(
    state: State,
    seat: int,
    number: int,
    random: NDArray[np.uint64],
    samples: SampledHands,
    pricing: PricingWorkspace,
) -> bool:
    """Note the sampled hand and the base points of its wins; by draw the mean of its kinds.

    False if it is open and has no yaku on any of its waits.
    """
    tenpai, win = pricing.tenpai, pricing.win
    dora = sampled_dora(state, seat, random, pricing)
    win.ura = sampled_ura(state, random, pricing) if win.flags & (RIICHI | DOUBLE_RIICHI) else 0
    samples.liable[seat, number] = -1
    total, n_waits = 0, 0
    for kind in range(34):
        samples.hand[seat, number, kind] = tenpai.hand[kind]
        samples.base[seat, number, kind] = 0
        if not (tenpai.waits >> kind) & 1:
            continue
        for each in range(34):
            win.hand[each] = tenpai.hand[each]
        win.hand[kind] += 1
        win.win_kind = kind
        win.dora = dora + pricing.dora[kind]
        han, fu, mask, yakuman = score_win(win)
        n_waits += 1
        if han > 0:
            samples.base[seat, number, kind] = base_points(han, fu, yakuman)
            samples.liable[seat, number] = liable_seat(state, seat, mask)
        elif not state.is_open[seat]:  # concealed self-draw is a yaku
            total += base_points(1 + dora, 30, 0)
        total += samples.base[seat, number, kind]
    samples.draw_base[seat, number] = total // max(1, n_waits)
    return total > 0


# --- worth of wins -----------------------------------------------------------------------------


@compiled
def _worth_after(
    state: State, viewer: int, parties: Parties, base: int, bonus: Points, scores: Int32s
) -> float:
    """Return what the table is worth to the viewer after a win; ``scores`` is scratch space."""
    deltas = win_deltas(base, parties, state.honba, state.sticks)
    for seat in range(4):
        scores[seat] = state.scores[seat] + deltas[seat]
    stays = int(parties.winner == state.dealer)
    return score_worth(scores, viewer, kyoku_after(state, scores, stays), bonus)


# --- opponent models ---


@compiled
def win_odds(draws: int, survival: float, out: Points) -> None:
    """Write the chance to win from each shanten (float64[7]) with so many draws left.

    ``survival`` is the chance that nobody else wins between two draws.
    """
    for shanten in range(N_SHANTEN):
        out[shanten] = 0.0
    for _ in range(draws):
        for shanten in range(N_SHANTEN - 1, -1, -1):
            better = out[shanten - 1] if shanten else 1.0
            kept = out[shanten] + ADVANCE[shanten] * (better - out[shanten])
            out[shanten] = survival * kept


@compiled
def draws_of_each(state: State) -> int:
    """Return how often each seat still draws."""
    return int((state.wall_left + 3) >> 2)


@compiled
def write_chances(state: State, reader: HandReader, samples: SampledHands) -> None:
    """Write how likely each seat is tenpai, and to win, as everybody sees it."""
    win_odds(draws_of_each(state), 1.0, samples.own_odds)
    for seat in range(4):
        shanten_chances(state, seat, reader, samples.chances)
        samples.tenpai[seat] = samples.chances[0]
        samples.win_odds[seat] = 0.0
        for shanten in range(N_SHANTEN):
            samples.win_odds[seat] += samples.chances[shanten] * samples.own_odds[shanten]


@compiled
def build_opponent_model(
    state: State, viewer: int, models: OpponentModels, bonus: Points, samples: SampledHands
) -> None:
    """Fill in what a viewer thinks of each discard, once all hands are sampled."""
    now = score_worth(state.scores, viewer, kyoku_after(state, state.scores, 0), bonus)
    for other in range(4):
        for kind in range(34):
            models.odds[viewer, other, kind] = 0.0
            models.loss[viewer, other, kind] = 0.0
        if other != viewer:
            _weigh_samples(state, viewer, other, now, models, bonus, samples)
    models.later_loss[viewer] = _later_loss(viewer, samples)
    _set_shanten_cost(state, viewer, now, models, bonus, samples)


@compiled
def _weight(state: State, viewer: int, other: int, number: int, samples: SampledHands) -> float:
    """Return how much likelier or less likely a sample is to who knows the viewer's hand.

    Nobody discards what it has use for: a kind in the river is seldom in the hand, and who has
    given a dora away has hardly another one.
    """
    weight = 1.0
    for kind in range(34):
        held = samples.hand[other, number, kind]
        if held and (state.discarded[other] >> kind) & 1:
            weight *= DISCARDED_YET_HELD
        if held and state.hand[viewer, kind]:
            hidden = samples.unseen[kind]
            own = state.hand[viewer, kind]
            for copy in range(held):
                weight *= max(0, hidden - own - copy) / max(1, hidden - copy)
    return weight


@compiled
def _weigh_samples(
    state: State,
    viewer: int,
    other: int,
    now: float,
    models: OpponentModels,
    bonus: Points,
    samples: SampledHands,
) -> None:
    dealer, third = int(state.dealer), (viewer + 1) & 3
    while third == other:
        third = (third + 1) & 3
    total = 0.0
    samples.later_loss[viewer, other] = 0.0
    for number in range(samples.n_samples[other]):
        weight = _weight(state, viewer, other, number, samples)
        if weight == 0.0:
            continue
        total += weight
        liable = int(samples.liable[other, number])
        base, loss = 0, 0.0
        for kind in range(34):
            points = int(samples.base[other, number, kind])
            if points == 0:
                continue
            if points != base:
                base = points
                parties = Parties(other, viewer, dealer, liable)
                loss = now - _worth_after(state, viewer, parties, base, bonus, samples.scores)
            models.odds[viewer, other, kind] += weight
            models.loss[viewer, other, kind] += weight * loss
        drawn = int(samples.draw_base[other, number])
        if drawn:
            parties = Parties(other, other, dealer, liable)
            after = _worth_after(state, viewer, parties, drawn, bonus, samples.scores)
            samples.later_loss[viewer, other] += weight * BY_DRAW * (now - after)
        if base:
            parties = Parties(other, third, dealer, liable)
            after = _worth_after(state, viewer, parties, base, bonus, samples.scores)
            lost = OFF_SELF * loss + (1 - BY_DRAW - OFF_SELF) * (now - after)
            samples.later_loss[viewer, other] += weight * lost
    if total > 0:
        samples.later_loss[viewer, other] /= total
        for kind in range(34):
            models.odds[viewer, other, kind] /= total
            models.loss[viewer, other, kind] /= total


@compiled
def _hazard(samples: SampledHands, seat: int) -> float:
    """Return the rate at which a seat wins, in expected wins until the end of the wall."""
    return -log(max(1e-6, 1 - samples.win_odds[seat]))


@compiled
def _later_loss(viewer: int, samples: SampledHands) -> float:
    """Return what the viewer loses if the kyoku goes on: by whoever of the others wins first."""
    hazard = 0.0
    lost = 0.0
    for seat in range(4):
        rate = _hazard(samples, seat)
        hazard += rate
        if seat != viewer:
            lost += rate * samples.later_loss[viewer, seat]
    return lost / hazard * (1 - exp(-hazard)) if hazard > 0 else 0.0


@compiled
def _set_shanten_cost(
    state: State,
    viewer: int,
    now: float,
    models: OpponentModels,
    bonus: Points,
    samples: SampledHands,
) -> None:
    """Price each shanten by the chance to win that it costs."""
    base = 0
    for number in range(samples.n_samples[viewer]):
        base += samples.draw_base[viewer, number]
    base = base // samples.n_samples[viewer] if samples.n_samples[viewer] else TYPICAL_BASE
    gain = 0.0
    for step in range(1, 4):
        loser = (viewer + step) & 3
        parties = Parties(viewer, loser, int(state.dealer), -1)
        after = _worth_after(state, viewer, parties, base, bonus, samples.scores)
        gain += max(0.0, after - now) / 3
    draws = draws_of_each(state)
    others = 0.0
    for step in range(1, 4):
        others += _hazard(samples, (viewer + step) & 3)
    win_odds(draws, exp(-others / max(1, draws)), samples.own_odds)
    for shanten in range(8):
        odds = samples.own_odds[min(shanten, N_SHANTEN - 1)]
        models.shanten_cost[viewer, shanten] = gain * (samples.own_odds[0] - odds)
