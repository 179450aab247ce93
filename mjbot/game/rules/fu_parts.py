"""The fu of a scored win part by part: blocks, pair, wait, way of winning, and what rounding adds.

Each part is what the functions of :mod:`mjbot.game.rules.yaku` give for it alone, so that the parts
add up to the fu of the score.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from mjbot.game.rules import shapes as columns
from mjbot.game.rules.kinds import kinds_of
from mjbot.game.rules.scoring import Score, common_yaku, possible_waits, score_wait, split_of
from mjbot.game.rules.shapes import (
    ANKAN,
    CHI,
    DAIMINKAN,
    KAKAN,
    MAX_SHAPES,
    PON,
    MeldSummary,
    find_shapes,
    read_melds,
)
from mjbot.game.rules.wins import TSUMO, Win
from mjbot.game.rules.yaku import (
    BASE_FU,
    ONE_TILE,
    TRIPLET,
    TWO_SIDES,
    HandSplit,
    kinds_held,
    shape_fu,
    shape_yaku,
    wait_fu,
    way_fu,
)
from mjbot.protocol.tiles import TILE_BY_NAME, tile_name
from mjbot.runtime.languages import marked

SEVEN_PAIRS_FU: Final = 25
_OF: Final = " of "
_MELDS: Final = {
    CHI: marked("run"),
    PON: marked("open triplet"),
    DAIMINKAN: marked("open kan"),
    KAKAN: marked("open kan"),
    ANKAN: marked("concealed kan"),
}


class FuPart(NamedTuple):
    """One summand of a hand's fu."""

    name: str
    fu: int

    @property
    def block(self) -> str:
        """The name without the tile.

        >>> FuPart("open kan of P", 16).block, FuPart(marked("base"), 20).block
        ('open kan', 'base')
        """
        return self.name.partition(_OF)[0]

    @property
    def tile(self) -> int | None:
        """The kind (0..33) that a pair, triplet or kan is of; of a run the lowest."""
        name = self.name.partition(_OF)[2]
        return TILE_BY_NAME[name] if name else None


def fu_parts(win: Win, score: Score) -> tuple[FuPart, ...]:
    """Return the parts of the fu of ``score``, which :func:`.scoring.score_win` gives for ``win``.

    The last one is what rounding up to ten adds.  Thirteen orphans have none.
    """
    total = score[1]
    if total in (0, SEVEN_PAIRS_FU):
        return (FuPart(marked("seven pairs"), total),) if total else ()
    melds = _melds(win, slice(int(win["n_melds"])))
    split, wait, own_runs = _split_scored(win, melds, score)
    parts = [FuPart(marked("base"), BASE_FU), *_blocks(win, split, wait)]
    if wait == ONE_TILE:
        parts.append(FuPart(_wait_name(split.pair, own_runs, win), wait_fu(wait, win)))
    parts.append(_way(sum(part.fu for part in parts) - BASE_FU, wait, melds, win))
    parts.append(FuPart(marked("rounded up"), total - sum(part.fu for part in parts)))
    return tuple([part for part in parts if part.fu])


def _split_scored(win: Win, melds: MeldSummary, score: Score) -> tuple[HandSplit, int, int]:
    """Return the split and the wait that have this score, and the concealed runs.

    Of several it is the reading with most fu before they are rounded.
    """
    most, scored = -1, None
    mask = common_yaku(kinds_held(win["hand"]) | melds.kinds, melds, win)
    rows = np.empty((MAX_SHAPES, 4), np.int64)
    for row in rows[: find_shapes(win["hand"], rows)]:
        split, runs = split_of(row, melds), int(row[columns.RUNS])
        waits = possible_waits(split.pair, row[columns.TRIPLETS], runs, int(win["win_kind"]))
        whatever = mask | shape_yaku(split, melds, win)
        for wait in (TWO_SIDES, ONE_TILE, TRIPLET):
            if not waits >> wait & 1 or score_wait(split, wait, whatever, melds, win) != score:
                continue
            fu = int(shape_fu(split, melds, win) + wait_fu(wait, win))
            if fu > most:
                most, scored = fu, (split, wait, runs)
    if scored is None:
        raise ValueError(f"no split of the hand scores {score}")
    return scored


def _blocks(win: Win, split: HandSplit, wait: int) -> Iterator[FuPart]:
    """Yield pair, triplets and melds; a triplet completed by ron has the fu of an open one."""
    nothing = _melds(win, slice(0))
    pair = shape_fu(HandSplit(split.pair, 0, 0, 0, 0), nothing, win)
    yield _block(marked("pair"), split.pair, pair)
    for kind in kinds_of(split.concealed):
        fu = shape_fu(HandSplit(-1, 1 << kind, 0, 0, 1 << kind), nothing, win)
        loss = wait_fu(wait, win) if wait == TRIPLET and kind == win["win_kind"] else 0
        name = marked("ron triplet") if loss else marked("concealed triplet")
        yield _block(name, kind, fu + loss)
    for index in range(int(win["n_melds"])):
        name = _MELDS[int(win["meld_type"][index])]
        fu = _melds(win, slice(index, index + 1)).fu
        yield _block(name, int(win["meld_kind"][index]), fu)


def _block(name: str, kind: int, fu: int) -> FuPart:
    return FuPart(f"{name}{_OF}{tile_name(kind)}", fu)


def _melds(win: Win, which: slice) -> MeldSummary:
    types, kinds = win["meld_type"][which], win["meld_kind"][which]
    return read_melds(len(types), types, kinds)


def _wait_name(pair: int, own_runs: int, win: Win) -> str:
    kind = int(win["win_kind"])
    if pair == kind:
        return marked("pair wait")
    first = {2: kind - 2, 6: kind}.get(kind % 9)
    is_closed = first is None or not own_runs >> first & 1
    return marked("closed wait") if is_closed else marked("edge wait")


def _way(fu: int, wait: int, melds: MeldSummary, win: Win) -> FuPart:
    name = marked("closed hand by ron") if melds.closed else marked("open hand without other fu")
    if win["flags"] & TSUMO:
        name = marked("self-draw")
    return FuPart(name, way_fu(fu, wait, melds, win))
