"""What a player reads out of an opponent, should that be tenpai: what its win would cost.

Hands in tenpai that fit the opponent's melds and river are sampled from the tiles that the
viewer has not seen, and what the viewer would pay for them is counted, by ron and by draw.  How
they are joined to a risk list, and what the paper leaves open, :mod:`.risk_lists` tells.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.referee.bulk import next_below
from mjbot.table.state import State
from strategies.evaluation.pricing import (
    READER,
    Points,
    Reader,
    Reading,
    new_reader,
    prepare_reader,
    price_sample,
    sampled_dora,
    sampled_ura,
)
from strategies.evaluation.tenpai_parts import prepare
from strategies.evaluation.tenpai_samples import sample_tenpai

__all__ = [
    "READER",
    "Points",
    "Reader",
    "new_reader",
    "prepare_reader",
    "read_opponent",
    "sampled_dora",
    "sampled_ura",
]

SAMPLES: Final = 10
MOST_SAMPLES: Final = 60
"""Nobody opens a hand that cannot win: those without a yaku are left out, up to this limit."""
YAKU_TRIES: Final = 10
"""How often a playout's reading samples an open hand without a yaku again."""


@compiled
def read_opponent(
    state: State, viewer: int, other: int, random: NDArray[np.uint64], reader: Reader
) -> None:
    """Fill ``reader.readings[other]``: what the viewer would lose if ``other`` were tenpai.

    ``found`` is 0 if that cannot be, or not with a yaku.
    """
    reading = reader.readings[other]
    _clear(reading)
    prepare_reader(state, viewer, other, reader)
    n = _sample_hands(state, viewer, other, random, reader)
    if n == 0 and state.is_open[other] and _suppose_flush(state, other, reader):
        n = _sample_hands(state, viewer, other, random, reader)
    if n > 0:
        reading.found = 1
        _divide(reading, n)


@compiled
def _sample_hands(
    state: State, viewer: int, other: int, random: NDArray[np.uint64], reader: Reader
) -> int:
    """Add up to ten hands to the sums of a reading; return how many could be had."""
    draws = draws_left(state, viewer, other)
    n = 0
    for _ in range(MOST_SAMPLES):
        if n == SAMPLES or not sample_tenpai(reader.tenpai, random):
            break
        price_sample(state, viewer, other, random, reader)
        if reader.has_yaku or not state.is_open[other]:
            _add_sample(reader.readings[other], draws, random, reader)
            n += 1
    return n


@compiled
def _suppose_flush(state: State, other: int, reader: Reader) -> bool:
    """Leave only honours and the suit of the melds to sample from; False if they have two."""
    suit = -1
    for place in range(state.n_melds[other]):
        kind = state.meld_kind[other, place]
        if kind < 27:
            if suit >= 0 and suit != kind // 9:
                return False
            suit = kind // 9
    for kind in range(27):
        if kind // 9 != suit:
            reader.tenpai.unseen[kind] = 0
    prepare(reader.tenpai)
    return suit >= 0


@compiled
def _clear(reading: Reading) -> None:
    reading.found = 0
    reading.draw = 0
    reading.draw_chance = 0
    for kind in range(34):
        reading.ron[kind] = 0
        reading.picked[kind] = 0
        reading.win_chance[kind] = 0
        reading.draw_kept[kind] = 0


@compiled
def _divide(reading: Reading, n: int) -> None:
    """Turn the sums over ``n`` samples into means."""
    reading.draw /= n
    reading.draw_chance /= n
    for kind in range(34):
        reading.ron[kind] /= n
        reading.picked[kind] /= n
        reading.win_chance[kind] /= n
        reading.draw_kept[kind] /= n


@compiled
def draws_left(state: State, viewer: int, other: int) -> int:
    """Return how often ``other`` will draw if ``viewer`` discards now and nobody calls."""
    first = ((other - viewer) & 3) - 1
    return int(max(0, (state.wall_left - first + 3) >> 2))


@compiled
def _add_sample(reading: Reading, draws: int, random: NDArray[np.uint64], reader: Reader) -> None:
    """Add a priced sample to the sums of a reading."""
    tenpai = reader.tenpai
    chance = draw_chance_of(draws, reader)
    by_draw = reader.draw_points * chance
    reading.draw += by_draw
    reading.draw_chance += chance
    n_waits, picked = 0, -1
    for kind in range(34):
        if (tenpai.waits >> kind) & 1:
            n_waits += 1
            if next_below(random, n_waits) == 0:
                picked = kind
        points = reader.ron_points[kind]
        if points > 0:
            reading.ron[kind] += points
            reading.win_chance[kind] += 1
        else:
            reading.draw_kept[kind] += by_draw
    if picked >= 0:
        reading.picked[picked] += reader.ron_points[picked]


@compiled
def draw_chance_of(draws: int, reader: Reader) -> float:
    """Return the chance that one of so many draws brings a tile the sampled hand waits on."""
    tenpai = reader.tenpai
    tiles, good = 0, 0
    for kind in range(34):
        left = reader.unseen[kind] - tenpai.hand[kind]
        tiles += left
        if (tenpai.waits >> kind) & 1:
            good += left
    missed = 1.0
    for number in range(min(draws, tiles)):
        missed *= max(0.0, (tiles - good - number) / (tiles - number))
    return 1 - missed
