"""Scores a win: the split of the hand and the place of the winning tile that pay most.

A score is ``(han, fu, yaku, yakuman)``: ``yaku`` is a mask of Tenhou's ids
(:mod:`mjbot.game.rules.yaku_table`), dora (52..54) included and counted in ``han``.  ``han == 0``
means that there are too few yaku (one han, or as the rules have it) or no complete hand; dora
are no yaku.  A yakuman hand lists only
yakuman, has ``yakuman`` of them by the rules in ``win.flags`` and 13 han for each.  13 han of
ordinary yaku count as one yakuman in points only.  Fu are 25 for seven pairs, 0 for thirteen
orphans.
"""

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules import shapes as columns
from mjbot.game.rules import wins
from mjbot.game.rules import yaku_table as yaku
from mjbot.game.rules.kinds import count_bits
from mjbot.game.rules.points import base_points
from mjbot.game.rules.shapes import MAX_SHAPES, MeldSummary, find_shapes, read_melds
from mjbot.game.rules.wins import Win
from mjbot.game.rules.yaku import (
    ONE_TILE,
    TRIPLET,
    TWO_SIDES,
    HandSplit,
    circumstances,
    concealed_yaku,
    is_pinfu,
    is_seven_pairs,
    kinds_held,
    kinds_yaku,
    nine_gates,
    shape_fu,
    shape_yaku,
    thirteen_orphans,
    total_fu,
)
from mjbot.game.rules.yaku_table import CLOSED_HAN, DOUBLED, N_YAKU, OPEN_HAN, YAKUMAN
from mjbot.runtime.compiler.compiled import compiled

Score = tuple[int, int, int, int]
NO_SCORE: Score = (0, 0, 0, 0)


@compiled
def score_win(win: Win) -> Score:
    """Return ``(han, fu, yaku, yakuman)`` of a record of :data:`mjbot.game.rules.wins.WIN`.

    >>> from mjbot.game.rules.kinds import hand_counts
    >>> from mjbot.game.rules.yaku_table import YAKU, yaku_ids
    >>> win = wins.new_win()
    >>> win["hand"] = hand_counts("234m234p234567s88s")
    >>> win["win_kind"], win["flags"] = 1, wins.RIICHI
    >>> han, fu, mask, yakuman = score_win(win)
    >>> han, fu, [YAKU[yaku].name for yaku in yaku_ids(mask)]
    (5, 30, ['riichi', 'pinfu', 'all simples', 'mixed triple run'])
    """
    melds = read_melds(int(win.n_melds), win.meld_type, win.meld_kind)
    held = kinds_held(win.hand)
    orphans = thirteen_orphans(win, held)
    if orphans:
        return _counted(circumstances(win, melds) | orphans, 0, melds.closed, win)
    kinds = held | melds.kinds
    mask = common_yaku(kinds, melds, win)
    best = NO_SCORE
    if is_seven_pairs(win, kinds):
        best = _counted(mask | 1 << yaku.CHIITOI, 25, True, win)
    shapes = np.empty((MAX_SHAPES, 4), np.int64)
    for i in range(find_shapes(win.hand, shapes)):
        best = _better(best, _score_shape(shapes[i], mask, melds, win))
    return best


@compiled
def score_many(
    many: NDArray[np.void],
) -> tuple[NDArray[np.int16], NDArray[np.int16], NDArray[np.int64], NDArray[np.int8]]:
    """Return arrays ``han, fu, yaku, yakuman`` of :func:`score_win` for records ``many[n]``."""
    n = len(many)
    han, fu = np.empty(n, np.int16), np.empty(n, np.int16)
    mask, yakuman = np.empty(n, np.int64), np.empty(n, np.int8)
    for i in range(n):
        han[i], fu[i], mask[i], yakuman[i] = score_win(many[i])
    return han, fu, mask, yakuman


@compiled
def common_yaku(kinds: int, melds: MeldSummary, win: Win) -> int:
    """Return the yaku mask of every split: that of the kinds held and the way of winning."""
    mask = circumstances(win, melds) | kinds_yaku(kinds, win, melds.closed)
    return mask | nine_gates(win, kinds)


@compiled
def split_of(row: NDArray[np.int64], melds: MeldSummary) -> HandSplit:
    """Return a row of :func:`mjbot.game.rules.shapes.find_shapes` together with the melds."""
    concealed = row[columns.TRIPLETS]
    return HandSplit(
        row[columns.PAIR],
        concealed | melds.triplets,
        row[columns.RUNS] | melds.runs,
        row[columns.TWINS],
        concealed,
    )


@compiled
def _score_shape(row: NDArray[np.int64], mask: int, melds: MeldSummary, win: Win) -> Score:
    """Score one split with the winning tile in the block where it pays most."""
    shape = split_of(row, melds)
    mask |= shape_yaku(shape, melds, win)
    best = NO_SCORE
    waits = possible_waits(shape.pair, row[columns.TRIPLETS], row[columns.RUNS], int(win.win_kind))
    for wait in (TWO_SIDES, ONE_TILE, TRIPLET):
        if waits >> wait & 1:
            best = _better(best, score_wait(shape, wait, mask, melds, win))
    return best


@compiled
def score_wait(shape: HandSplit, wait: int, mask: int, melds: MeldSummary, win: Win) -> Score:
    """Score one split of which the winning tile completed a block by this wait.

    ``mask`` are the yaku that the split has whatever the wait.
    """
    fu = shape_fu(shape, melds, win)
    mask |= concealed_yaku(shape, melds, wait, win.flags & wins.TSUMO > 0)
    if is_pinfu(fu, wait, melds):
        mask |= 1 << yaku.PINFU
    return _counted(mask, total_fu(fu, wait, melds, win), melds.closed, win)


@compiled
def possible_waits(pair: int, triplets: int, runs: int, kind: int) -> int:
    """Return which waits (bits TWO_SIDES, ONE_TILE, TRIPLET) ``kind`` may have completed."""
    waits = 0
    if pair == kind:
        waits |= 1 << ONE_TILE
    if triplets >> kind & 1:
        waits |= 1 << TRIPLET
    if kind >= 27:
        return waits
    rank = kind % 9
    if rank <= 6 and runs >> kind & 1:
        waits |= 1 << (ONE_TILE if rank == 6 else TWO_SIDES)
    if 1 <= rank <= 7 and runs >> (kind - 1) & 1:
        waits |= 1 << ONE_TILE
    if rank >= 2 and runs >> (kind - 2) & 1:
        waits |= 1 << (ONE_TILE if rank == 2 else TWO_SIDES)
    return waits


@compiled
def _counted(mask: int, fu: int, closed: bool, win: Win) -> Score:
    """Count the han of a yaku mask and add the dora."""
    if mask & YAKUMAN:
        mask &= YAKUMAN
        if mask >> yaku.TENHOU & 1 and win.flags & wins.DOUBLE_YAKUMAN:
            mask = _on_any_tile(mask)
        yakuman = _count_yakuman(mask, win.flags)
        return 13 * yakuman, fu, mask, yakuman
    values = CLOSED_HAN if closed else OPEN_HAN
    han = 0
    for i in range(N_YAKU):
        if mask >> i & 1:
            han += int(values[i])
    if han < least_han(win.flags):
        return NO_SCORE
    mask |= int(win.dora > 0) << yaku.DORA
    mask |= int(win.ura > 0) << yaku.URA_DORA
    mask |= int(win.red > 0) << yaku.RED_DORA
    return han + win.dora + win.ura + win.red, fu, mask, 0


@compiled
def least_han(flags: int) -> int:
    """Return how many han of yaku a win needs by the rules among its flags."""
    if flags & wins.FOUR_HAN:
        return 4
    return 2 if flags & wins.TWO_HAN else 1


@compiled
def _on_any_tile(mask: int) -> int:
    """Return the yakuman of a dealer's first 14 tiles, any of which counts as the winning one."""
    for single, double in _ON_ANY_TILE:
        if mask >> single & 1:
            mask ^= 1 << single | 1 << double
    return mask


_ON_ANY_TILE = (
    (yaku.SUUANKOU, yaku.SUUANKOU_TANKI),
    (yaku.CHUUREN, yaku.CHUUREN_NINE_WAITS),
    (yaku.KOKUSHI, yaku.KOKUSHI_THIRTEEN_WAITS),
)


@compiled
def _count_yakuman(mask: int, flags: int) -> int:
    doubled = count_bits(mask & DOUBLED) if flags & wins.DOUBLE_YAKUMAN else 0
    if flags & wins.ONE_YAKUMAN:
        return 2 if doubled else 1
    return count_bits(mask) + doubled


@compiled
def _better(score: Score, other: Score) -> Score:
    """Return the score with more points; among equals a yakuman, then more han, then more fu."""
    return other if _rank(other) > _rank(score) else score


@compiled
def _rank(score: Score) -> int:
    han, fu, _, yakuman = score
    if han == 0:
        return 0
    # other rules of points make equal what differs here, and put nothing in another order
    return (base_points(han, fu, yakuman, 0) << 20) + ((yakuman > 0) << 19) + (han << 10) + fu
