"""What a player reads out of an opponent, should that be tenpai: what its win would cost.

Hands in tenpai that fit the opponent's melds and river are sampled from the tiles that the
viewer has not seen, and what the viewer would pay for them is counted, by ron and by draw.  How
they are joined to a risk list, and what the paper leaves open, :mod:`.risk_lists` tells.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.compiler.splitmix import next_below
from mjbot.table.state import State
from strategies.evaluation.hidden_hands.pricing import (
    N_TURNS,
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
from strategies.evaluation.hidden_hands.tenpai_parts import prepare
from strategies.evaluation.hidden_hands.tenpai_samples import sample_tenpai

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
    for turn in range(N_TURNS):
        reading.draw_at[turn] = 0
        reading.alive_at[turn] = 0
    for kind in range(34):
        reading.ron[kind] = 0
        reading.picked[kind] = 0
        reading.win_chance[kind] = 0
        for turn in range(N_TURNS):
            reading.draw_at_won[kind, turn] = 0
            reading.alive_at_won[kind, turn] = 0


@compiled
def _divide(reading: Reading, n: int) -> None:
    """Turn the sums over ``n`` samples into means."""
    reading.draw /= n
    for turn in range(N_TURNS):
        reading.draw_at[turn] /= n
        reading.alive_at[turn] /= n
    for kind in range(34):
        if reading.win_chance[kind] == 0:
            continue
        reading.ron[kind] /= n
        reading.win_chance[kind] /= n
        reading.picked[kind] /= n
        for turn in range(N_TURNS):
            reading.draw_at_won[kind, turn] /= n
            reading.alive_at_won[kind, turn] /= n


@compiled
def draws_left(state: State, viewer: int, other: int) -> int:
    """Return how often ``other`` will draw if ``viewer`` discards now and nobody calls."""
    first = ((other - viewer) & 3) - 1
    return int(max(0, (state.wall_left - first + 3) >> 2))


@compiled
def _add_sample(reading: Reading, draws: int, random: NDArray[np.uint64], reader: Reader) -> None:
    """Add a priced sample to the sums of a reading."""
    tenpai = reader.tenpai
    survive_draws(draws, reader)
    reading.draw += reader.draw_points * (1 - reader.alive[draws])
    for turn in range(N_TURNS):
        reading.alive_at[turn] += reader.alive[turn]
        if turn > 0:
            won_now = reader.alive[turn - 1] - reader.alive[turn]
            reading.draw_at[turn] += reader.draw_points * won_now
    n_waits, picked = 0, -1
    for kind in range(34):
        if not (tenpai.waits >> kind) & 1:
            continue
        n_waits += 1
        if next_below(random, n_waits) == 0:
            picked = kind
        points = reader.ron_points[kind]
        if points > 0:
            reading.ron[kind] += points
            reading.win_chance[kind] += 1
            _add_won(reading, kind, reader)
    if picked >= 0:
        reading.picked[picked] += reader.ron_points[picked]


@compiled
def _add_won(reading: Reading, kind: int, reader: Reader) -> None:
    """Note of a sample that wins on a kind what else it would have come to."""
    for turn in range(N_TURNS):
        reading.alive_at_won[kind, turn] += reader.alive[turn]
        if turn > 0:
            won_now = reader.alive[turn - 1] - reader.alive[turn]
            reading.draw_at_won[kind, turn] += reader.draw_points * won_now


@compiled
def survive_draws(draws: int, reader: Reader) -> None:
    """Write the chance that the sampled hand has not won by draw after 0, 1, ... draws.

    The tiles come from those that are neither seen by the viewer nor in the sampled hand; after
    ``draws`` of them there are no more.
    """
    tiles = 0
    for kind in range(34):
        tiles += reader.unseen[kind] - reader.tenpai.hand[kind]
    alive = 1.0
    reader.alive[0] = alive
    for turn in range(1, N_TURNS):
        left = tiles - turn + 1
        if turn <= draws and left > 0:
            alive *= max(0, left - reader.draw_copies) / left
        reader.alive[turn] = alive
