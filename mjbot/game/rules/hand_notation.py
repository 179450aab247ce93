"""Hands as people write them: ``123m406p55z(123s)[1111z]``.

Concealed tiles as :func:`mjbot.protocol.tiles.parse_tiles` reads them, a red five also as ``5mr``;
then the melds: ``(123m)`` a chi, ``(555p)`` a pon, ``(1111z)`` an open kan, ``[1111z]`` a concealed
one.
"""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from mjbot.game.rules.shapes import ANKAN, CHI, DAIMINKAN, PON
from mjbot.protocol.tiles import FIRST_HONOUR, parse_tiles, tile_kind

MAX_MELDS: Final = 4
_MELD: Final = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_RED_FIVE: Final = re.compile("5([mps])r")


class WrittenMeld(NamedTuple):
    """A meld: its type as in :mod:`mjbot.game.rules.shapes`, its tiles (0..36) by kind."""

    type: int
    tiles: tuple[int, ...]

    @property
    def kind(self) -> int:
        """The lowest kind."""
        return tile_kind(self.tiles[0])


@dataclass(frozen=True, slots=True)
class WrittenHand:
    """Concealed tiles (0..36), and the melds."""

    concealed: tuple[int, ...]
    melds: tuple[WrittenMeld, ...]

    @property
    def tiles(self) -> list[int]:
        """All tiles."""
        return [*self.concealed, *(tile for meld in self.melds for tile in meld.tiles)]

    @property
    def is_open(self) -> bool:
        """Whether a meld is no concealed kan."""
        return any(meld.type != ANKAN for meld in self.melds)


def read_hand(text: str) -> WrittenHand:
    """Read a hand.  Raises ``ValueError`` for what is no tile or no meld.

    >>> hand = read_hand("0s99m(123m)[1111z]")
    >>> hand.concealed, [(meld.type, meld.kind) for meld in hand.melds]
    ((36, 8, 8), [(0, 0), (4, 27)])
    """
    compact = "".join(text.split())
    melds = tuple([_read_meld(match[0], match[1]) for match in _MELD.finditer(compact)])
    return WrittenHand(tuple(read_tiles(_MELD.sub("", compact))), melds)


def read_tiles(text: str) -> list[int]:
    """Read tiles without melds; raises ``ValueError``.

    >>> read_tiles("15mr9p"), read_tiles("")
    ([0, 34, 17], [])
    """
    return parse_tiles(_RED_FIVE.sub(r"0\1", text))


def _read_meld(text: str, inside: str) -> WrittenMeld:
    tiles = tuple(sorted(read_tiles(inside), key=tile_kind))
    kinds = [tile_kind(tile) for tile in tiles]
    is_run = kinds[:1] and kinds == [kinds[0] + step for step in range(3)]
    if is_run and kinds[0] < FIRST_HONOUR and kinds[0] % 9 <= 6:
        type_ = CHI
    elif len(set(kinds)) == 1 and len(kinds) in (3, 4):
        type_ = PON if len(kinds) == 3 else DAIMINKAN
    else:
        raise ValueError(f"meld {text}: neither a run of three nor three or four equal tiles")
    if text[0] + text[-1] == "()":
        return WrittenMeld(type_, tiles)
    if text[0] + text[-1] == "[]" and type_ == DAIMINKAN:
        return WrittenMeld(ANKAN, tiles)
    raise ValueError(f"meld {text}: write (123m) or (555p), a concealed kan as [1111z]")
