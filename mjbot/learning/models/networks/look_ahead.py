"""What riichi, a call and a kan leave: numbers for the network's decisions other than discards.

Each writer fills a part of ``scalars`` from ``at`` on, all values in about -1..2, and runs only
where its decision arises:

* :func:`write_riichi`: the wait that the best-rated discard leaves, and what one more draw could
  make of it (:data:`OF_RIICHI` numbers);
* :func:`write_plans`: how far a hand is from each of the yaku that an open hand has
  (:data:`OF_PLANS` numbers), as it is and after each call (there :data:`OF_CALL`);
* :func:`write_kan`: shanten, acceptance and wait before and after a kan (:data:`OF_KAN` numbers).

A distance is the shanten that is left if only tiles are kept that fit the yaku, over 4.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.game.rules.shanten import is_edge, shanten, shanten_regular
from mjbot.game.rules.wins import Win
from mjbot.game.table.state import CHI, DAIMINKAN, State
from mjbot.learning.models.danger_features import honour_value
from mjbot.learning.models.input_layout import InputLayout
from mjbot.learning.models.win_value import HandContext, win_points
from mjbot.protocol.tiles import FIRST_HONOUR
from mjbot.runtime.compiler.compiled import compiled

Floats = NDArray[np.float32]
Counts = NDArray[np.int8]

POINTS: Final = 8000.0
MOST_TILES: Final = 40.0
MOST_WAITS: Final = 12.0

RIICHI_INPUTS: Final = InputLayout(
    WAIT=(
        "tiles waited for /12", "kinds waited for /4", "points silent /8000",
        "points in riichi /8000",
    ),
    NO_YAKU=("share without a yaku",),  # of the tiles waited for, without riichi
    TOP=("points of the dearest tile /8000",),  # silent
    FURITEN=("furiten",),
    BETTER=("share of draws that widen the wait",),  # after a discard, by 2 tiles or more
    MORE=("mean gain in tiles /3", "mean gain in points /2000"),  # of a draw, silent
    NEAR_OWN=("share that own discards make look safe",),  # suji
    RISK=("danger of the discard",),  # root of chance x points / 8,000
)  # fmt: skip
RIICHI_WAIT: Final = RIICHI_INPUTS.first("WAIT")
RIICHI_NO_YAKU: Final = RIICHI_INPUTS.first("NO_YAKU")
RIICHI_TOP: Final = RIICHI_INPUTS.first("TOP")
RIICHI_FURITEN: Final = RIICHI_INPUTS.first("FURITEN")
RIICHI_BETTER: Final = RIICHI_INPUTS.first("BETTER")
RIICHI_MORE: Final = RIICHI_INPUTS.first("MORE")
RIICHI_NEAR_OWN: Final = RIICHI_INPUTS.first("NEAR_OWN")
RIICHI_RISK: Final = RIICHI_INPUTS.first("RISK")
OF_RIICHI: Final = RIICHI_INPUTS.size

PLAN_INPUTS: Final = InputLayout(
    SIMPLES=("to all simples /4",),
    HONOURS=("to a value honour /4",),
    FLUSH=("to one suit /4",),
    TRIPLETS=("to all triplets /4",),
    COLOURS=("to three colours /4",),  # tiles missing
    STRAIGHT=("to a straight /4",),
    DELAY=("beyond the plain shanten /4",),  # the nearest of the first four
    DORA=("dora /4",),  # of hand and melds
)
PLAN_SIMPLES: Final = PLAN_INPUTS.first("SIMPLES")
PLAN_HONOURS: Final = PLAN_INPUTS.first("HONOURS")
PLAN_FLUSH: Final = PLAN_INPUTS.first("FLUSH")
PLAN_TRIPLETS: Final = PLAN_INPUTS.first("TRIPLETS")
PLAN_COLOURS: Final = PLAN_INPUTS.first("COLOURS")
PLAN_STRAIGHT: Final = PLAN_INPUTS.first("STRAIGHT")
PLAN_DELAY: Final = PLAN_INPUTS.first("DELAY")
PLAN_DORA: Final = PLAN_INPUTS.first("DORA")
OF_PLANS: Final = PLAN_INPUTS.size
FAR: Final = 2.0
"""What stands for a plan that melds exclude: as if 8 tiles away."""

CALL_INPUTS: Final = InputLayout(
    PLANS=PLAN_INPUTS.names,
    WAIT=("winning tiles /12", "mean points /8000"),  # tenpai
    RISK=("danger of the best discard", "danger of the safest discard"),  # as that of a riichi
)
CALL_WAIT: Final = CALL_INPUTS.first("WAIT")
CALL_RISK: Final = CALL_INPUTS.first("RISK")
OF_CALL: Final = CALL_INPUTS.size

KAN_INPUTS: Final = InputLayout(
    LOST=("shanten lost",),
    ACCEPTS=("tiles accepted before /40", "tiles accepted after /40"),
    WAIT=(  # tenpai
        "winning tiles before /12", "mean points before /8000", "winning tiles after /12",
        "mean points after /8000",
    ),
    HONOUR=("honour",),
    VALUE=("value honour",),
    EDGE=("terminal or honour",),
    DORA=("dora",),
    DRAWN=("of the drawn tile",),  # just now
    RISK=("danger of robbing",),  # if it is added to a pon
    KANS=("kans of the table /4", "own kans /4"),
)  # fmt: skip
KAN_LOST: Final = KAN_INPUTS.first("LOST")
KAN_ACCEPTS: Final = KAN_INPUTS.first("ACCEPTS")
KAN_WAIT: Final = KAN_INPUTS.first("WAIT")
KAN_HONOUR: Final = KAN_INPUTS.first("HONOUR")
KAN_VALUE: Final = KAN_INPUTS.first("VALUE")
KAN_EDGE: Final = KAN_INPUTS.first("EDGE")
KAN_DORA: Final = KAN_INPUTS.first("DORA")
KAN_DRAWN: Final = KAN_INPUTS.first("DRAWN")
KAN_RISK: Final = KAN_INPUTS.first("RISK")
KAN_KANS: Final = KAN_INPUTS.first("KANS")
OF_KAN: Final = KAN_INPUTS.size


class HandOutlook(NamedTuple):
    """A hand to look ahead from: ``hand`` and ``unseen`` are changed and restored during a call.

    ``dora`` are those of hand and melds.
    """

    hand: Counts
    unseen: Counts
    dora: int
    context: HandContext


class Wait(NamedTuple):
    """A tenpai's wait: ``tiles`` unseen, ``winning`` of them with a yaku, points of a ron."""

    tiles: int
    winning: int
    points: float  # mean over the winning tiles, 0 for none
    top: float
    mask: int


@compiled
def wait_of(holding: HandOutlook, mask: int, dora: int, riichi: bool) -> Wait:
    """Return what the hand, of 3n+1 tiles with ``dora``, waits for: the kinds of ``mask``."""
    tiles, winning = 0, 0
    total, top = 0.0, 0.0
    for kind in range(34):
        copies = holding.unseen[kind]
        if not (mask >> kind & 1 and copies > 0):
            continue
        tiles += copies
        points = win_points(holding.hand, kind, dora, holding.context, riichi, False)
        if points > 0:
            winning += copies
            total += copies * points
            top = max(top, points)
    return Wait(tiles, winning, total / max(winning, 1), top, mask)


@compiled
def _mean_points(wait: Wait) -> float:
    """Return the mean over all tiles waited for, those without a yaku as 0."""
    return wait.points * wait.winning / max(wait.tiles, 1)


@compiled
def write_riichi(holding: HandOutlook, discard: int, own: int, out: Floats) -> None:
    """Write what a declaration is about: a hand of 3n+2 tiles from which ``discard`` goes.

    ``own`` is the mask of the own discards.
    """
    hand, unseen = holding.hand, holding.unseen
    n_melds = holding.context.win[0].n_melds
    hand[discard] -= 1
    dora = holding.dora - holding.context.dora[discard]
    mask = shanten_and_acceptance(hand, n_melds)[1]
    silent = wait_of(holding, mask, dora, False)
    kinds, near = 0, 0
    for kind in range(34):
        if mask >> kind & 1 and unseen[kind] > 0:
            kinds += 1
            near += unseen[kind] * _looks_safe(own, kind)
    out[RIICHI_WAIT] = silent.tiles / MOST_WAITS
    out[RIICHI_WAIT + 1] = kinds / 4
    out[RIICHI_WAIT + 2] = _mean_points(silent) / POINTS
    out[RIICHI_WAIT + 3] = wait_of(holding, mask, dora, True).points / POINTS
    out[RIICHI_NO_YAKU] = (silent.tiles - silent.winning) / max(silent.tiles, 1)
    out[RIICHI_TOP] = min(silent.top / POINTS, 2.0)
    out[RIICHI_FURITEN] = mask & (own | 1 << discard) != 0
    out[RIICHI_NEAR_OWN] = near / max(silent.tiles, 1)
    _write_draws(holding, silent, dora, out)
    hand[discard] += 1


@compiled
def _looks_safe(own: int, kind: int) -> bool:
    """Whether the own discards seem to rule out a two-sided wait for a number tile (suji)."""
    if kind >= FIRST_HONOUR:
        return False
    rank = kind % 9
    below = rank < 3 or own >> (kind - 3) & 1
    above = rank > 5 or own >> (kind + 3) & 1
    return bool(below and above)


@compiled
def _write_draws(holding: HandOutlook, now: Wait, dora: int, out: Floats) -> None:
    """Write what one draw could make of a tenpai hand of 3n+1 tiles."""
    unseen = holding.unseen
    mean = _mean_points(now)
    total, better, more_tiles, more_points = 0, 0, 0.0, 0.0
    for drawn in range(34):
        copies = unseen[drawn]
        total += copies
        if copies == 0 or now.mask >> drawn & 1:
            continue
        most, dearest = _after_draw(holding, drawn, dora)
        better += copies * (most >= now.tiles + 2)
        more_tiles += copies * max(0, most - now.tiles)
        more_points += copies * max(0.0, dearest - mean)
    total = max(total, 1)
    out[RIICHI_BETTER] = better / total
    out[RIICHI_MORE] = more_tiles / total / 3
    out[RIICHI_MORE + 1] = min(more_points / total / 2000, 2.0)


@compiled
def _after_draw(holding: HandOutlook, drawn: int, dora: int) -> tuple[int, float]:
    """Return the most tiles and the most mean points that a hand waits for after a draw."""
    hand, unseen, context = holding.hand, holding.unseen, holding.context
    n_melds = context.win[0].n_melds
    hand[drawn] += 1
    unseen[drawn] -= 1
    most, dearest = 0, 0.0
    for kind in range(34):
        if hand[kind] == 0 or kind == drawn:
            continue
        hand[kind] -= 1
        if shanten(hand, n_melds) == 0:
            mask = shanten_and_acceptance(hand, n_melds)[1]
            left = dora + context.dora[drawn] - context.dora[kind]
            wait = wait_of(holding, mask, left, False)
            most = max(most, wait.tiles)
            dearest = max(dearest, _mean_points(wait))
        hand[kind] += 1
    hand[drawn] -= 1
    unseen[drawn] += 1
    return most, dearest


@compiled
def write_plans(state: State, seat: int, holding: HandOutlook, out: Floats) -> None:
    """Write the distances of a hand of any size; its melds are those of the context."""
    hand = holding.hand
    record: Win = holding.context.win[0]
    kept = np.empty(34, np.int8)
    plain = shanten_regular(hand, record.n_melds)
    out[PLAN_SIMPLES] = _simples(hand, record, kept)
    out[PLAN_HONOURS] = _honours(state, seat, hand, record, holding.unseen)
    out[PLAN_FLUSH] = _flush(hand, record, kept)
    out[PLAN_TRIPLETS] = _triplets(hand, record)
    out[PLAN_COLOURS] = _colours(hand, record)
    out[PLAN_STRAIGHT] = _straight(hand, record)
    nearest = FAR
    for plan in range(PLAN_TRIPLETS + 1):
        nearest = min(nearest, out[plan])
    out[PLAN_DELAY] = min(nearest - plain / 4, FAR)
    out[PLAN_DORA] = min(holding.dora, 8) / 4


@compiled
def _simples(hand: Counts, record: Win, kept: Counts) -> float:
    for meld in range(record.n_melds):
        kind = record.meld_kind[meld]
        last = kind + 2 if record.meld_type[meld] == CHI else kind
        if is_edge(kind) or is_edge(last):
            return FAR
    for kind in range(34):
        kept[kind] = 0 if is_edge(kind) else hand[kind]
    return shanten_regular(kept, record.n_melds) / 4


@compiled
def _honours(state: State, seat: int, hand: Counts, record: Win, unseen: Counts) -> float:
    for meld in range(record.n_melds):
        kind = record.meld_kind[meld]
        if kind >= FIRST_HONOUR and honour_value(state, seat, kind):
            return shanten_regular(hand, record.n_melds) / 4
    best = FAR
    for kind in range(FIRST_HONOUR, 34):
        if hand[kind] < 2 or not honour_value(state, seat, kind):
            continue
        copies = hand[kind]
        if copies >= 3:
            return shanten_regular(hand, record.n_melds) / 4
        if unseen[kind]:
            hand[kind] = 0
            best = min(best, (shanten_regular(hand, record.n_melds + 1) + 1) / 4)
            hand[kind] = copies
    return best


@compiled
def _flush(hand: Counts, record: Win, kept: Counts) -> float:
    best = FAR
    for suit in range(3):
        fits = True
        for meld in range(record.n_melds):
            kind = record.meld_kind[meld]
            fits &= kind >= FIRST_HONOUR or kind // 9 == suit
        if not fits:
            continue
        for kind in range(34):
            kept[kind] = hand[kind] if kind // 9 == suit or kind >= FIRST_HONOUR else 0
        best = min(best, shanten_regular(kept, record.n_melds) / 4)
    return best


@compiled
def _triplets(hand: Counts, record: Win) -> float:
    for meld in range(record.n_melds):
        if record.meld_type[meld] == CHI:
            return FAR
    wanted, pairs = 4 - record.n_melds, 0
    for kind in range(34):
        wanted -= hand[kind] >= 3
        pairs += hand[kind] == 2
    wanted = max(wanted, 0)
    of_pairs = min(wanted, pairs)
    return (of_pairs + 2 * (wanted - of_pairs) + (pairs <= wanted) - 1) / 4


@compiled
def _colours(hand: Counts, record: Win) -> float:
    best = 9
    for low in range(7):
        lost = 0
        for suit in range(3):
            lost += _run_misses(hand, record, 9 * suit + low)
        best = min(best, lost)
    return best / 4


@compiled
def _straight(hand: Counts, record: Win) -> float:
    best = 9
    for suit in range(3):
        lost = 0
        for low in (0, 3, 6):
            lost += _run_misses(hand, record, 9 * suit + low)
        best = min(best, lost)
    return best / 4


@compiled
def _run_misses(hand: Counts, record: Win, low: int) -> int:
    for meld in range(record.n_melds):
        if record.meld_type[meld] == CHI and record.meld_kind[meld] == low:
            return 0
    return int(hand[low] == 0) + int(hand[low + 1] == 0) + int(hand[low + 2] == 0)


@compiled
def write_kan(
    state: State,
    seat: int,
    before: HandOutlook,
    after: HandOutlook,
    kan: tuple[int, int, int],
    out: Floats,
) -> None:
    """Write what a kan changes: from a hand of 3n+1 tiles to another.

    ``kan`` is its kind and the melds before and after it; all melds, the new one last, are those
    of the context.
    """
    kind = kan[0]
    record = before.context.win[0]
    away = _write_stage(before, kan[1], record, 0, out)
    away_after = _write_stage(after, kan[2], record, 1, out)
    out[KAN_LOST] = min(max(away_after - away, -2), 2)
    out[KAN_HONOUR] = kind >= FIRST_HONOUR
    out[KAN_VALUE] = honour_value(state, seat, kind) / 2 if kind >= FIRST_HONOUR else 0.0
    out[KAN_EDGE] = is_edge(kind)
    out[KAN_DORA] = before.context.dora[kind] / 2
    for other in range(4):
        for meld in range(state.n_melds[other]):
            if state.meld_type[other, meld] >= DAIMINKAN:
                out[KAN_KANS] += 0.25
                out[KAN_KANS + 1] += 0.25 * (other == seat)


@compiled
def _write_stage(holding: HandOutlook, n_melds: int, record: Win, stage: int, out: Floats) -> int:
    away, mask = shanten_and_acceptance(holding.hand, n_melds)
    out[KAN_ACCEPTS + stage] = count_tiles(mask, holding.unseen) / MOST_TILES
    if away == 0:
        record.n_melds = n_melds
        wait = wait_of(holding, mask, holding.dora, False)
        out[KAN_WAIT + 2 * stage] = wait.winning / MOST_WAITS
        out[KAN_WAIT + 2 * stage + 1] = wait.points / POINTS
    return away
