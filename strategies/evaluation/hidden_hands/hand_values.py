"""What a player reads out of an opponent, should that be tenpai: what its win would cost.

Hands in tenpai that fit the opponent's melds and river are sampled from the tiles that the viewer
has not seen, and what the viewer would pay for them is counted, by ron and by draw: means over
:data:`SAMPLES` hands (Takada and Sato 2022, section 4.2.1, ten of them).  With U tiles neither
seen nor in the sample, c of them winning, it has not won after n draws with the chance (1 - c /
U) (1 - c / (U - 1)) ... : exact, where the paper takes a book's table.  How they are joined to a
risk list, and what else the paper leaves open,
:mod:`mjbot.strategies.evaluation.playouts.risk_lists` describes.  :data:`MOST_SAMPLES` was set by
hand.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.state import State
from mjbot.learning.playouts.tenpai_parts import prepare
from mjbot.learning.playouts.tenpai_samples import sample_tenpai
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.splitmix import next_below
from mjbot.strategies.evaluation.hidden_hands.pricing import (
    N_TURNS,
    PRICING_WORKSPACE,
    HandValues,
    Points,
    PricingWorkspace,
    new_pricing_workspace,
    prepare_pricing,
    price_sample,
    sampled_dora,
    sampled_ura,
)

__all__ = [
    "PRICING_WORKSPACE",
    "Points",
    "PricingWorkspace",
    "new_pricing_workspace",
    "prepare_pricing",
    "read_opponent",
    "sampled_dora",
    "sampled_ura",
]

SAMPLES: Final = 10
MOST_SAMPLES: Final = 60
"""No player opens a hand that cannot win: those without a yaku are left out, up to this limit."""


@compiled
def read_opponent(
    state: State, viewer: int, other: int, random: NDArray[np.uint64], pricing: PricingWorkspace
) -> None:
    """Fill ``pricing.values[other]``: what the viewer would lose if ``other`` were tenpai.

    ``found`` is 0 if that cannot be, or not with a yaku.
    """
    value = pricing.values[other]
    _clear(value)
    prepare_pricing(state, viewer, other, pricing)
    n = _sample_hands(state, viewer, other, random, pricing)
    if n == 0 and state.is_open[other] and _suppose_flush(state, other, pricing):
        n = _sample_hands(state, viewer, other, random, pricing)
    if n > 0:
        value.found = 1
        _divide(value, n)


@compiled
def _sample_hands(
    state: State, viewer: int, other: int, random: NDArray[np.uint64], pricing: PricingWorkspace
) -> int:
    """Add up to ten hands to the sums of a reading; return how many could be had."""
    draws = draws_left(state, viewer, other)
    n = 0
    for _ in range(MOST_SAMPLES):
        if n == SAMPLES or not sample_tenpai(pricing.tenpai, random):
            break
        price_sample(state, viewer, other, random, pricing)
        if pricing.has_yaku or not state.is_open[other]:
            _add_sample(pricing.values[other], draws, random, pricing)
            n += 1
    return n


@compiled
def _suppose_flush(state: State, other: int, pricing: PricingWorkspace) -> bool:
    """Leave only honours and the suit of the melds to sample from; False if they have two."""
    suit = -1
    for meld in range(state.n_melds[other]):
        kind = state.meld_kind[other, meld]
        if kind < 27:
            if suit >= 0 and suit != kind // 9:
                return False
            suit = kind // 9
    for kind in range(27):
        if kind // 9 != suit:
            pricing.tenpai.unseen[kind] = 0
    prepare(pricing.tenpai)
    return suit >= 0


@compiled
def _clear(value: HandValues) -> None:
    value.found = 0
    value.draw = 0
    for turn in range(N_TURNS):
        value.draw_at[turn] = 0
        value.alive_at[turn] = 0
    for kind in range(34):
        value.ron[kind] = 0
        value.picked[kind] = 0
        value.win_chance[kind] = 0
        for turn in range(N_TURNS):
            value.draw_at_won[kind, turn] = 0
            value.alive_at_won[kind, turn] = 0


@compiled
def _divide(value: HandValues, n: int) -> None:
    """Turn the sums over ``n`` samples into means."""
    value.draw /= n
    for turn in range(N_TURNS):
        value.draw_at[turn] /= n
        value.alive_at[turn] /= n
    for kind in range(34):
        if value.win_chance[kind] == 0:
            continue
        value.ron[kind] /= n
        value.win_chance[kind] /= n
        value.picked[kind] /= n
        for turn in range(N_TURNS):
            value.draw_at_won[kind, turn] /= n
            value.alive_at_won[kind, turn] /= n


@compiled
def draws_left(state: State, viewer: int, other: int) -> int:
    """Return how often ``other`` will draw if ``viewer`` discards now and no player calls."""
    first = ((other - viewer) & 3) - 1
    return int(max(0, (state.wall_left - first + 3) >> 2))


@compiled
def _add_sample(
    value: HandValues, draws: int, random: NDArray[np.uint64], pricing: PricingWorkspace
) -> None:
    """Add a priced sample to the sums of a reading."""
    tenpai = pricing.tenpai
    survive_draws(draws, pricing)
    value.draw += pricing.draw_points * (1 - pricing.alive[draws])
    for turn in range(N_TURNS):
        value.alive_at[turn] += pricing.alive[turn]
        if turn > 0:
            won_now = pricing.alive[turn - 1] - pricing.alive[turn]
            value.draw_at[turn] += pricing.draw_points * won_now
    n_waits, picked = 0, -1
    for kind in range(34):
        if not (tenpai.waits >> kind) & 1:
            continue
        n_waits += 1
        if next_below(random, n_waits) == 0:
            picked = kind
        points = pricing.ron_points[kind]
        if points > 0:
            value.ron[kind] += points
            value.win_chance[kind] += 1
            _add_won(value, kind, pricing)
    if picked >= 0:
        value.picked[picked] += pricing.ron_points[picked]


@compiled
def _add_won(value: HandValues, kind: int, pricing: PricingWorkspace) -> None:
    """Note of a sample that wins on a kind what else it would have come to."""
    for turn in range(N_TURNS):
        value.alive_at_won[kind, turn] += pricing.alive[turn]
        if turn > 0:
            won_now = pricing.alive[turn - 1] - pricing.alive[turn]
            value.draw_at_won[kind, turn] += pricing.draw_points * won_now


@compiled
def survive_draws(draws: int, pricing: PricingWorkspace) -> None:
    """Write the chance that the sampled hand has not won by draw after 0, 1, ... draws.

    The tiles come from those that are neither seen by the viewer nor in the sampled hand; after
    ``draws`` of them there are no more.
    """
    tiles = 0
    for kind in range(34):
        tiles += pricing.unseen[kind] - pricing.tenpai.hand[kind]
    alive = 1.0
    pricing.alive[0] = alive
    for turn in range(1, N_TURNS):
        left = tiles - turn + 1
        if turn <= draws and left > 0:
            alive *= max(0, left - pricing.draw_copies) / left
        pricing.alive[turn] = alive
