"""Risk lists: what a player expects to lose by discarding each kind, as it sees the table.

Takada and Sato 2022, section 4.2.  Each opponent that is seen as tenpai is *read*: ten hands in
tenpai that fit its melds and river are sampled from the tiles that the viewer has not seen, and
what the viewer would pay for them is counted, by ron and by draw.  A list joins the readings of
the three opponents.

``PAPER``: one of the winning kinds of each sample, at random, has its points as ron risk; a kind
that nobody is expected to win on has the risk that somebody draws its tile before the wall ends.
``JOINT``: all winning kinds count, and opponents are tenpai with a probability.  The draw's risk
is left wherever the discard is not won, by this opponent in this sample and by the others.

What both do where the paper is silent:

* The chance to draw a winning tile is that of the unseen copies among the unseen tiles, over the
  draws that are left to the seat, without replacement (the paper takes it from a book's table).
* A sample that has no yaku cannot be won by ron.  An open hand without any yaku by draw or ron
  is sampled again, up to ten times: nobody opens a hand that cannot win.
* Honba and liability (pao) count, ura dora for a riichi at random, red fives by their chance.
"""

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.referee.bulk import next_below
from mjbot.rules.points import HONBA_POINTS, base_points, ron_points, tsumo_points
from mjbot.rules.scoring import score_win
from mjbot.rules.wins import DOUBLE_RIICHI, RIICHI, TSUMO, WIN, Win
from mjbot.table.observe import add_melds, dora_kind, dora_values, unseen_kinds
from mjbot.table.settle import liable_seat
from mjbot.table.state import NO_RIICHI, State
from strategies.evaluation.hidden_hands import barred_waits, unseen_reds
from strategies.evaluation.tenpai_samples import TENPAI, Counts, Tenpai, prepare, sample_tenpai

Points = NDArray[np.float64]

PAPER: Final = 0
JOINT: Final = 1
SAMPLES: Final = 10
YAKU_TRIES: Final = 10

READING: Final = np.dtype(
    [
        ("found", np.int8),  # 1 if any hand in tenpai fits
        # Points are those that the viewer pays, means over the samples:
        ("ron", np.float64, (34,)),  # if the kind is discarded
        ("picked", np.float64, (34,)),  # the same of one winning kind per sample
        ("win_chance", np.float64, (34,)),  # chance that the kind is won by ron
        ("draw", np.float64),  # by draw, before the wall ends
        ("draw_kept", np.float64, (34,)),  # the same where the kind is not won by ron
        ("draw_chance", np.float64),
    ],
    align=True,
)

READER: Final = np.dtype(
    [
        ("readings", READING, (4,)),
        ("tenpai", TENPAI),
        ("win", WIN),
        ("unseen", np.int8, (34,)),
        ("red", np.int8, (3,)),
        ("dora", np.int8, (34,)),
        ("held", np.int8, (34,)),
        ("ron_points", np.float64, (34,)),  # of the sample at hand
    ],
    align=True,
)

if TYPE_CHECKING:

    class Reading:
        """One record of :data:`READING`: ``r["field"]`` in Python, ``r.field`` compiled."""

        found: int
        ron: Points
        picked: Points
        win_chance: Points
        draw: float
        draw_kept: Points
        draw_chance: float

        def __getitem__(self, field: str) -> Any: ...

    class Reader:
        """One record of :data:`READER`, what reading works with."""

        readings: Any
        tenpai: Tenpai
        win: Win
        unseen: Counts
        red: Counts
        dora: Counts
        held: Counts
        ron_points: Points

        def __getitem__(self, field: str) -> Any: ...

else:
    Reading = np.void
    Reader = np.void


def new_reader() -> Reader:
    """Return an empty record to read opponents with."""
    return cast(Reader, np.zeros(1, READER)[0])


@compiled
def risk_list(
    state: State,
    viewer: int,
    tenpai: Points,
    mode: int,
    random: NDArray[np.uint64],
    out: Points,
    reader: Reader,
) -> None:
    """Write the points that ``viewer`` expects to lose by discarding each kind: float64[34].

    ``tenpai`` float64[4] is how likely each seat is tenpai to the viewer (its own entry is
    ignored): in the mode PAPER 0 or 1, drawn for the position; seats with 0 are not sampled.
    Only what the viewer sees is looked at.  ``reader.readings`` keeps what was read of each seat.
    """
    for step in range(1, 4):
        other = (viewer + step) & 3
        if tenpai[other] > 0:
            read_opponent(state, viewer, other, random, reader)
    join_readings(viewer, tenpai, mode, out, reader)


@compiled
def join_readings(viewer: int, tenpai: Points, mode: int, out: Points, reader: Reader) -> None:
    """Join the readings of three opponents into a risk list: float64[34]."""
    if mode == PAPER:
        _join_as_paper(viewer, tenpai, out, reader)
        return
    out[:] = 0
    for step in range(1, 4):
        other = (viewer + step) & 3
        chance = tenpai[other]
        reading = reader.readings[other]
        if chance == 0 or not reading.found:
            continue
        for kind in range(34):
            alone = 1.0
            for next_step in range(1, 4):
                third = (viewer + next_step) & 3
                if third != other and tenpai[third] > 0 and reader.readings[third].found:
                    later = reader.readings[third]
                    alone *= 1 - tenpai[third] * later.win_chance[kind]
                    # of two who would draw their tile one is first
                    alone *= 1 - tenpai[third] * later.draw_chance / 2
            out[kind] += chance * (reading.ron[kind] + alone * reading.draw_kept[kind])


@compiled
def _join_as_paper(viewer: int, tenpai: Points, out: Points, reader: Reader) -> None:
    draw = 0.0
    out[:] = 0
    for step in range(1, 4):
        other = (viewer + step) & 3
        reading = reader.readings[other]
        if tenpai[other] > 0 and reading.found:
            draw += tenpai[other] * reading.draw
            for kind in range(34):
                out[kind] += tenpai[other] * reading.picked[kind]
    for kind in range(34):
        if out[kind] == 0:
            out[kind] = draw


@compiled
def read_opponent(
    state: State, viewer: int, other: int, random: NDArray[np.uint64], reader: Reader
) -> None:
    """Fill ``reader.readings[other]``: what the viewer would lose if ``other`` were tenpai."""
    reading = reader.readings[other]
    reading.found = 0
    reading.draw = 0
    reading.draw_chance = 0
    for kind in range(34):
        reading.ron[kind] = 0
        reading.picked[kind] = 0
        reading.win_chance[kind] = 0
        reading.draw_kept[kind] = 0
    _prepare_reader(state, viewer, other, reader)
    draws = draws_left(state, viewer, other)
    for _ in range(SAMPLES):
        if not sample_tenpai(reader.tenpai, random):
            return
        drawn_points = _price(state, viewer, other, random, reader)
        tries = 0
        while drawn_points == 0 and tries < YAKU_TRIES:
            sample_tenpai(reader.tenpai, random)
            drawn_points = _price(state, viewer, other, random, reader)
            tries += 1
        _add_sample(reading, draws, drawn_points, random, reader)
    reading.found = 1


@compiled
def _prepare_reader(state: State, viewer: int, other: int, reader: Reader) -> None:
    """Set up the sampling, and all of the win that does not change from sample to sample."""
    unseen_kinds(state, viewer, reader.unseen)
    unseen_reds(state, viewer, reader.red)
    dora_values(state, reader.dora)
    tenpai, win = reader.tenpai, reader.win
    for kind in range(34):
        tenpai.unseen[kind] = reader.unseen[kind]
        reader.held[kind] = 0
    tenpai.barred = barred_waits(state, other)
    tenpai.n_melds = state.n_melds[other]
    prepare(tenpai)
    add_melds(state, other, reader.held)
    win.n_melds = state.n_melds[other]
    for place in range(state.n_melds[other]):
        win.meld_type[place] = state.meld_type[other, place]
        win.meld_kind[place] = state.meld_kind[other, place]
    win.seat_wind = (other - state.dealer) & 3
    win.round_wind = state.round >> 2
    win.flags = 0
    if state.riichi[other] != NO_RIICHI:
        win.flags = DOUBLE_RIICHI if state.double_riichi[other] else RIICHI


@compiled
def draws_left(state: State, viewer: int, other: int) -> int:
    """Return how often ``other`` will draw if ``viewer`` discards now and nobody calls."""
    first = ((other - viewer) & 3) - 1
    return int(max(0, (state.wall_left - first + 3) >> 2))


@compiled
def _price(
    state: State, viewer: int, other: int, random: NDArray[np.uint64], reader: Reader
) -> float:
    """Write what the viewer pays for the sampled hand on each kind; return what it pays by draw.

    Of its winning kinds one that is unseen counts for the draw, by its copies.
    """
    win, tenpai = reader.win, reader.tenpai
    dora = _sampled_dora(state, other, random, reader)
    win.ura = _sampled_ura(state, random, reader) if win.flags & (RIICHI | DOUBLE_RIICHI) else 0
    flags = win.flags
    copies, drawn = 0, 0.0
    for kind in range(34):
        reader.ron_points[kind] = 0
        if not (tenpai.waits >> kind) & 1:
            continue
        for each in range(34):
            win.hand[each] = tenpai.hand[each]
        win.hand[kind] += 1
        win.win_kind = kind
        win.dora = dora + reader.dora[kind]
        reader.ron_points[kind] = _payment(state, viewer, other, False, win)
        left = reader.unseen[kind] - tenpai.hand[kind]
        if left > 0:
            win.flags = flags | TSUMO
            drawn += left * _payment(state, viewer, other, True, win)
            win.flags = flags
            copies += left
    return drawn / copies if copies else -1.0


@compiled
def _sampled_dora(state: State, other: int, random: NDArray[np.uint64], reader: Reader) -> int:
    """Return the dora of the sampled hand with its melds; write its red fives into the win."""
    tenpai, win = reader.tenpai, reader.win
    dora = 0
    for kind in range(34):
        if reader.dora[kind]:
            dora += reader.dora[kind] * (tenpai.hand[kind] + reader.held[kind])
    win.red = 0
    for place in range(state.n_melds[other]):
        for suit in range(3):
            win.red += (state.meld_red[other, place] >> suit) & 1
    for suit in range(3):
        five = 9 * suit + 4
        fives, held = reader.unseen[five], tenpai.hand[five]
        if held and reader.red[suit] and next_below(random, int(fives)) < held:
            win.red += 1
    return dora


@compiled
def _sampled_ura(state: State, random: NDArray[np.uint64], reader: Reader) -> int:
    """Return the ura dora of the sampled hand under markers drawn from the unseen tiles."""
    total = 0
    for kind in range(34):
        total += reader.unseen[kind]
    ura = 0
    for _ in range(state.n_dora):
        at = next_below(random, total)
        marker = 0
        while at >= reader.unseen[marker]:
            at -= reader.unseen[marker]
            marker += 1
        kind = dora_kind(marker)
        ura += reader.tenpai.hand[kind] + reader.held[kind]
    return ura


@compiled
def _payment(state: State, viewer: int, other: int, by_draw: bool, win: Win) -> float:
    """Return what the viewer pays for a win, honba and liability included; 0 without a yaku."""
    han, fu, mask, yakuman = score_win(win)
    if han == 0:
        return 0.0
    base = base_points(han, fu, yakuman)
    honba = HONBA_POINTS * state.honba
    liable = liable_seat(state, other, mask)
    is_dealer = other == state.dealer
    if by_draw and liable < 0:
        return float(tsumo_points(base, is_dealer or viewer == state.dealer) + honba)
    whole = ron_points(base, is_dealer)
    if by_draw:
        return float(whole + 3 * honba) if liable == viewer else 0.0
    if liable < 0 or liable == viewer:
        return float(whole + 3 * honba)
    return float(whole // 2)


@compiled
def _add_sample(
    reading: Reading,
    draws: int,
    drawn_points: float,
    random: NDArray[np.uint64],
    reader: Reader,
) -> None:
    """Add a priced sample to the means of a reading."""
    tenpai = reader.tenpai
    chance = _draw_chance(draws, reader)
    by_draw = max(0.0, drawn_points) * chance / SAMPLES
    reading.draw += by_draw
    reading.draw_chance += chance / SAMPLES
    n_waits, picked = 0, -1
    for kind in range(34):
        if (tenpai.waits >> kind) & 1:
            n_waits += 1
            if next_below(random, n_waits) == 0:
                picked = kind
        points = reader.ron_points[kind]
        if points > 0:
            reading.ron[kind] += points / SAMPLES
            reading.win_chance[kind] += 1 / SAMPLES
        else:
            reading.draw_kept[kind] += by_draw
    if picked >= 0:
        reading.picked[picked] += reader.ron_points[picked] / SAMPLES


@compiled
def _draw_chance(draws: int, reader: Reader) -> float:
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
