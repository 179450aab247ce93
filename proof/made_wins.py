"""Wins made up by hypothesis, biased towards hands that split in many ways, as 136 tile ids."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray

from mjbot.game.rules import wins
from mjbot.game.rules.kinds import count_kinds
from mjbot.game.rules.shanten import is_edge
from mjbot.game.rules.shapes import ANKAN, CHI, DAIMINKAN, KAKAN, PON
from mjbot.game.rules.wins import Win
from mjbot.game.table.observe import dora_kind
from mjbot.protocol.tiles import FIVE_KINDS, N_KINDS
from proof.answers import make_win

Block = tuple[int, ...]

_TRIPLETS: Final = [(kind,) * 3 for kind in range(N_KINDS)]
_RUNS: Final = [(kind, kind + 1, kind + 2) for kind in range(27) if kind % 9 <= 6]
_EDGES: Final = [kind for kind in range(N_KINDS) if is_edge(kind)]
PALETTES: Final = (
    range(N_KINDS),
    range(9),
    range(18, 27),
    (*range(9, 18), *range(27, 34)),
    (*range(3), *range(9, 12), *range(18, 21), 27),
    (0, 1, 2, 6, 7, 8, 9, 17, 18, 26, *range(27, 34)),
    (0, 8, 9, 17, 18, 26),
    _EDGES,
    range(27, 34),
    (19, 20, 21, 23, 25, 32),
)
"""Kinds to make hands of: all, flushes, few numbers, outside, terminals, edges, honours, green."""


@dataclass(frozen=True)
class MadeWin:
    """One win; ``concealed`` holds the winning kind, too, melds are (type, lowest kind).

    ``ura_markers`` is empty without riichi.
    """

    concealed: tuple[int, ...]
    melds: tuple[tuple[int, int], ...]
    win_kind: int
    flags: int
    seat_wind: int
    round_wind: int
    dora_markers: tuple[int, ...]
    ura_markers: tuple[int, ...]
    red_suits: frozenset[int]

    def kinds(self) -> list[int]:
        """Return the kinds of all tiles, melds included."""
        return [*self.concealed, *(kind for meld in self.melds for kind in meld_kinds(*meld))]

    def record(self) -> Win:
        """Return the record that our scoring takes."""
        rest = list(self.concealed)
        rest.remove(self.win_kind)
        win = make_win([*rest, self.win_kind], list(self.melds), self.flags)
        win["seat_wind"], win["round_wind"] = self.seat_wind, self.round_wind
        held = count_kinds(self.kinds())
        win["dora"] = sum(held[dora_kind(marker, 4)] for marker in self.dora_markers)
        win["ura"] = sum(held[dora_kind(marker, 4)] for marker in self.ura_markers)
        ids = [tile for group in self.tile_ids() for tile in group]
        win["red"] = sum(tile in _RED_IDS for tile in ids)
        return win

    def tile_ids(self) -> list[list[int]]:
        """Return 136 ids: concealed without the winning tile, the winning tile, each meld."""
        copies = {kind: self._copies(kind) for kind in range(N_KINDS)}
        rest = list(self.concealed)
        rest.remove(self.win_kind)
        groups = [rest, [self.win_kind], *(meld_kinds(*meld) for meld in self.melds)]
        return [[copies[kind].pop() for kind in group] for group in groups]

    def _copies(self, kind: int) -> list[int]:
        """Return the ids of a kind, the next one to take last; copy 0 of a five is the red one."""
        order = (3, 2, 1, 0)
        if kind in FIVE_KINDS and kind // 9 not in self.red_suits:
            order = (0, 3, 2, 1)
        return [4 * kind + copy for copy in order]


_RED_IDS = [4 * kind for kind in FIVE_KINDS]


def meld_kinds(meld_type: int, kind: int) -> list[int]:
    """Return the kinds of a meld's tiles."""
    if meld_type == CHI:
        return [kind, kind + 1, kind + 2]
    return [kind] * (3 if meld_type == PON else 4)


@st.composite
def made_wins(draw: st.DrawFn) -> MadeWin:
    """Draw a win of any form."""
    form = draw(st.sampled_from([_block_hands] * 9 + [_pair_hands, _orphans, _gates]))
    concealed, melds = draw(form())
    marker = st.integers(0, N_KINDS - 1)
    flags = draw(_circumstances(melds))
    in_riichi = flags & (wins.RIICHI | wins.DOUBLE_RIICHI)
    return MadeWin(
        tuple(concealed),
        tuple(melds),
        draw(st.sampled_from(concealed)),
        flags,
        draw(st.integers(0, 3)),
        draw(st.integers(0, 3)),
        draw(st.tuples(marker, marker)),
        draw(st.tuples(marker)) if in_riichi else (),
        draw(st.frozensets(st.integers(0, 2))),
    )


@st.composite
def _block_hands(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]]]:
    palette = draw(st.sampled_from(PALETTES))
    concealed = [draw(st.sampled_from(palette))] * 2
    melds: list[tuple[int, int]] = []
    left = 4 - count_kinds(concealed)
    wanted = draw(st.sampled_from([_RUNS, _RUNS + _TRIPLETS, _TRIPLETS]))
    for _ in range(4):
        blocks = [
            block
            for block in wanted
            if set(block) <= set(palette) and min(left - count_kinds(block)) >= 0
        ]
        assume(blocks)
        block = draw(st.sampled_from(blocks))
        meld_type = draw(st.sampled_from(_meld_types(block, left)))
        if meld_type is None:
            concealed += block
            left -= count_kinds(block)
        else:
            melds.append((meld_type, block[0]))
            left -= count_kinds(meld_kinds(meld_type, block[0]))
    return concealed, melds


def _meld_types(block: Block, left: NDArray[np.int8]) -> list[int | None]:
    if block[0] != block[1]:
        return [None, None, CHI]
    if left[block[0]] < 4:
        return [None, PON]
    return [None, None, None, PON, DAIMINKAN, KAKAN, ANKAN]


@st.composite
def _pair_hands(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]]]:
    palette = draw(st.sampled_from([kinds for kinds in PALETTES if len(kinds) >= 7]))
    kinds = draw(st.lists(st.sampled_from(palette), min_size=7, max_size=7, unique=True))
    return kinds * 2, []


@st.composite
def _orphans(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]]]:
    return [*_EDGES, draw(st.sampled_from(_EDGES))], []


@st.composite
def _gates(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]]]:
    first = draw(st.sampled_from([0, 9, 18]))
    spare = draw(st.integers(0, 8))
    return [first + rank for rank in [0, 0, *range(9), 8, 8, spare]], []


@st.composite
def _circumstances(draw: st.DrawFn, melds: list[tuple[int, int]]) -> int:
    """Draw flags that can occur together."""
    closed = all(meld_type == ANKAN for meld_type, _ in melds)
    flags = draw(st.sampled_from([0, wins.RIICHI, wins.DOUBLE_RIICHI])) if closed else 0
    if flags and draw(st.booleans()):
        flags |= wins.IPPATSU
    if draw(st.booleans()):
        chances = [0, 0, wins.HAITEI]
        if any(meld_type >= DAIMINKAN for meld_type, _ in melds) and not flags & wins.IPPATSU:
            chances.append(wins.RINSHAN)
        if not melds and not flags:
            chances.append(wins.FIRST_TURN)
        return flags | wins.TSUMO | draw(st.sampled_from(chances))
    return flags | draw(st.sampled_from([0, 0, wins.HOUTEI, wins.CHANKAN]))
