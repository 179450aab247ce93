"""Features in addition to the paper's that predict a strong player's discard, all binary.

All but the n-grams are separated by *stage*, the shanten after the discard (0, 1, 2, 3, 4
or more), and the three suits share their weights:

- regular shanten; regular shanten x seven pairs x third of the kyoku; orphans
- melds x two-tile shapes x two-sided shapes; accepting tiles; how many fewer than with
  the discard that is best by shanten and then by accepting tiles
- n-grams of a suit, n = 1..6, as in :mod:`mjbot.learning.models.hand_paper_features`
- each suited kind's surroundings: copies (0, 1, 2 or more) two to the left .. two to the right
  x unseen copies of the kind itself; again for the kinds that are dora, and for the kinds that
  the player has discarded (furiten)
- each honour: its value x copies x unseen copies x dora
- dora and red fives kept; red fives kept
- ways to a yaku: tiles that are no simples, tiles of one suit and honours, three-colour run,
  full straight, pairs of value honours
- in tenpai: kinds waited for x tiles x furiten; a wait for one kind: how far from the edge
- the tile given up: how many others cannot win by it, its unseen copies, its class and the turn
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.shanten import shanten_orphans, shanten_pairs, shanten_regular
from mjbot.learning.models.hand_paper_features import NGRAMS_OF_SUIT, Indices, write_ngrams
from mjbot.learning.models.hand_position import HandPosition
from mjbot.learning.models.hand_shapes import MELD, SHAPE, Nearness, ShapeTable, hand_shape
from mjbot.runtime.compiler.compiled import compiled

STAGES: Final = 5
PLACES: Final = 9 * 3**5  # a rank and what surrounds it
CLASSES: Final = 4  # guest honour, value honour, 1 2 8 9, 3..7
TURNS: Final = 6  # each three discards long

REGULAR: Final = 0
PAIRS: Final = REGULAR + 9 * STAGES
ORPHANS: Final = PAIRS + 9 * 7 * 3
FORMS: Final = ORPHANS + 14
ACCEPTING: Final = FORMS + 5 * 8 * 7 * STAGES
NGRAMS: Final = ACCEPTING + 100 * STAGES
AROUND: Final = NGRAMS + NGRAMS_OF_SUIT
AROUND_DORA: Final = AROUND + PLACES * 5 * STAGES
AROUND_OWN: Final = AROUND_DORA + PLACES * STAGES
HONOURS: Final = AROUND_OWN + PLACES * STAGES
BONUS: Final = HONOURS + 5 * 5 * 5 * 2 * STAGES
REDS: Final = BONUS + 12 * STAGES
EDGES: Final = REDS + 4 * STAGES
ONE_SUIT: Final = EDGES + 15 * STAGES
THREE_COLOURS: Final = ONE_SUIT + 15 * STAGES
STRAIGHT: Final = THREE_COLOURS + 10 * STAGES
VALUE_PAIRS: Final = STRAIGHT + 10 * STAGES
WAITS: Final = VALUE_PAIRS + 5 * STAGES
ONE_WAIT: Final = WAITS + 14 * 20 * 2
SAFE: Final = ONE_WAIT + 5 * 5 * 2 * 2
UNSEEN: Final = SAFE + 4 * TURNS * CLASSES * STAGES
BEHIND: Final = UNSEEN + 5 * TURNS * CLASSES * STAGES
N_FEATURES: Final = BEHIND + 40 * STAGES


@compiled
def write_plus_features(
    shapes: ShapeTable,
    position: HandPosition,
    near: Nearness,
    kind: int,
    rest: NDArray[np.int8],
    out: Indices,
) -> int:
    """Write the features of giving up ``kind`` and keeping ``rest``; return how many there are."""
    shanten, tiles = int(near.shantens[kind]), int(near.tiles[kind])
    stage = min(max(shanten, 0), STAGES - 1)
    out[0] = ACCEPTING + STAGES * min(tiles, 99) + stage
    n = 1
    if shanten == near.best[0]:
        out[1] = BEHIND + STAGES * min(near.best[1] - tiles, 39) + stage
        n = 2
    n = _write_forms(shapes, position, rest, stage, out, n)
    for suit in range(3):
        n = write_ngrams(rest, 9 * suit, NGRAMS, out, n)
    n = _write_surroundings(position, rest, stage, out, n)
    n = _write_honours(position, rest, stage, out, n)
    n = _write_bonus(position, rest, stage, out, n)
    n = _write_yaku(position, rest, stage, out, n)
    if shanten == 0:
        n = _write_waits(position, kind, near.masks[kind], tiles, out, n)
    return _write_given_up(position, kind, stage, out, n)


@compiled
def _write_forms(
    shapes: ShapeTable,
    position: HandPosition,
    rest: NDArray[np.int8],
    stage: int,
    out: Indices,
    n: int,
) -> int:
    shape = hand_shape(shapes, rest)
    melds = min(shape // MELD + position.n_melds, 4)
    two_tile = min(shape % MELD // SHAPE, 7)
    regular = max(shanten_regular(rest, position.n_melds), 0)
    out[n] = FORMS + STAGES * ((8 * melds + two_tile) * 7 + min(shape % SHAPE, 6)) + stage
    out[n + 1] = REGULAR + STAGES * regular + stage
    n += 2
    if position.n_melds == 0:
        third = min(position.turn // 4, 2)
        out[n] = PAIRS + 3 * (7 * regular + max(shanten_pairs(rest, 0), 0)) + third
        out[n + 1] = ORPHANS + max(shanten_orphans(rest, 0), 0)
        n += 2
    return n


@compiled
def surroundings(hand: NDArray[np.int8], kind: int) -> int:
    """Return the rank of a suited kind and the copies of its neighbours as one number."""
    code, first = kind % 9, kind - kind % 9
    for rank in range(kind % 9 - 2, kind % 9 + 3):
        code *= 3
        if 0 <= rank < 9:
            code += min(int(hand[first + rank]), 2)
    return code


@compiled
def _write_surroundings(
    position: HandPosition, rest: NDArray[np.int8], stage: int, out: Indices, n: int
) -> int:
    for kind in range(27):
        around = surroundings(rest, kind)
        unseen = min(max(int(position.unseen[kind]), 0), 4)
        out[n] = AROUND + STAGES * (5 * around + unseen) + stage
        n += 1
        if position.dora[kind] > 0:
            out[n] = AROUND_DORA + STAGES * around + stage
            n += 1
        if position.own >> kind & 1:
            out[n] = AROUND_OWN + STAGES * around + stage
            n += 1
    return n


@compiled
def honour_value(position: HandPosition, kind: int) -> int:
    """Return 0 for a guest wind, 1 seat wind, 2 round wind, 3 both, 4 a dragon."""
    if kind >= 31:
        return 4 * position.dragons
    wind = kind - 27
    return int(position.seat_wind == wind) + 2 * int(position.round_wind == wind)


@compiled
def _write_honours(
    position: HandPosition, rest: NDArray[np.int8], stage: int, out: Indices, n: int
) -> int:
    value_pairs = 0
    for kind in range(27, 34):
        value = honour_value(position, kind)
        unseen = min(max(int(position.unseen[kind]), 0), 4)
        code = 2 * (5 * (5 * value + rest[kind]) + unseen) + int(position.dora[kind] > 0)
        out[n] = HONOURS + STAGES * code + stage
        n += 1
        value_pairs += value > 0 and rest[kind] >= 2
    out[n] = VALUE_PAIRS + STAGES * min(value_pairs, 4) + stage
    return n + 1


@compiled
def _write_bonus(
    position: HandPosition, rest: NDArray[np.int8], stage: int, out: Indices, n: int
) -> int:
    dora, reds = 0, 0
    for kind in range(34):
        dora += rest[kind] * position.dora[kind]
    for suit in range(3):
        reds += position.red[suit] > 0 and rest[9 * suit + 4] > 0
    out[n] = BONUS + STAGES * min(dora + reds, 11) + stage
    out[n + 1] = REDS + STAGES * reds + stage
    return n + 2


@compiled
def _write_yaku(
    position: HandPosition, rest: NDArray[np.int8], stage: int, out: Indices, n: int
) -> int:
    edges, honours, longest, straight, colours = 0, 0, 0, 0, 0
    for kind in range(27, 34):
        honours += rest[kind]
    for first in range(0, 27, 9):
        tiles, ranks = 0, 0
        for rank in range(9):
            tiles += rest[first + rank]
            ranks += rest[first + rank] > 0
        longest, straight = max(longest, tiles), max(straight, ranks)
        edges += rest[first] + rest[first + 8]
    for rank in range(7):
        held = 0
        for step in range(rank, rank + 3):
            held += (rest[step] > 0) + (rest[9 + step] > 0) + (rest[18 + step] > 0)
        colours = max(colours, held)
    out[n] = EDGES + STAGES * min(edges + honours, 14) + stage
    out[n + 1] = ONE_SUIT + STAGES * min(longest + honours, 14) + stage
    out[n + 2] = THREE_COLOURS + STAGES * colours + stage
    out[n + 3] = STRAIGHT + STAGES * straight + stage
    return n + 4


@compiled
def _write_waits(
    position: HandPosition, kind: int, mask: int, tiles: int, out: Indices, n: int
) -> int:
    n_kinds, from_edge = 0, 0
    for wait in range(34):
        if mask >> wait & 1:
            n_kinds += 1
            from_edge = 0 if wait >= 27 else 1 + min(wait % 9, 8 - wait % 9, 3)
    furiten = int(mask & (position.own | 1 << kind) != 0)
    out[n] = WAITS + 2 * (20 * min(n_kinds, 13) + min(tiles, 19)) + furiten
    if n_kinds != 1:
        return n + 1
    late = int(position.turn > 8)
    out[n + 1] = ONE_WAIT + 2 * (2 * (5 * from_edge + min(tiles, 4)) + furiten) + late
    return n + 2


@compiled
def _write_given_up(position: HandPosition, kind: int, stage: int, out: Indices, n: int) -> int:
    if kind >= 27:
        class_ = int(honour_value(position, kind) > 0)
    else:
        class_ = 2 if min(kind % 9, 8 - kind % 9) < 2 else 3
    when = class_ + CLASSES * min(position.turn // 3, TURNS - 1)
    unseen = min(max(int(position.unseen[kind]), 0), 4)
    out[n] = SAFE + STAGES * (CLASSES * TURNS * position.safe[kind] + when) + stage
    out[n + 1] = UNSEEN + STAGES * (CLASSES * TURNS * unseen + when) + stage
    return n + 2
