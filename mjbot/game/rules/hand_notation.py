"""Hands as people write them: ``123m406p55z(123s)[1111z]``.

Concealed tiles as :func:`mjbot.protocol.tiles.parse_tiles` reads them, a red five also as ``5mr``;
then the melds: ``(123m)`` a chi, ``(555p)`` a pon, ``(1111z)`` an open kan, ``[1111z]`` a concealed
one.  Tiles may also be in Japanese or Chinese, ``一二三萬赤五筒東東白發中``, with full-width
digits, letters and brackets, and by the names of one tile, such as ``紅中`` or ``東風``.
"""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from mjbot.game.rules.shapes import ANKAN, CHI, DAIMINKAN, PON
from mjbot.protocol.tiles import FIRST_HONOUR, parse_tiles, tile_kind

MAX_MELDS: Final = 4
_MELD: Final = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_RED_FIVE: Final = re.compile("5([mps])r")
_WIDTHS: Final = str.maketrans(
    "".join(map(chr, range(0xFF01, 0xFF5F))) + "\u3010\u3011\u3014\u3015",
    "".join(map(chr, range(0x21, 0x7F))) + "[]()",
)
"""Full-width forms, and brackets of Japanese and Chinese keyboards, as those of ASCII."""
_UNREAD: Final = re.compile(
    "(?<=[萬万筒餅饼索條条])子|(?<=[東东南西北])[風风]|(?<=白)板|(?<=[發発发])[財财]|[紅红](?=中)"
)
"""The second character of a tile's name, which adds nothing."""
_RED_KANJI: Final = re.compile("[赤紅红]([五伍5])")
_RANKS: Final = "一二三四五六七八九"
_HONOURS: Final = ("東东", "南", "西", "北", "白", "發発发", "中")
_NO_SUIT: Final = re.compile(f"[0-9伍{_RANKS}]+(?=[{''.join(_HONOURS)}])")
_KANJI: Final = str.maketrans(
    {
        **{rank: str(number) for number, rank in enumerate(_RANKS, 1)},
        "伍": "5",
        **dict.fromkeys("萬万", "m"),
        **dict.fromkeys("筒餅饼", "p"),
        **dict.fromkeys("索條条", "s"),
        **{name: f"{number}z" for number, names in enumerate(_HONOURS, 1) for name in names},
    }
)


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
    compact = "".join(text.translate(_WIDTHS).split())
    melds = tuple([_read_meld(match[0], match[1]) for match in _MELD.finditer(compact)])
    return WrittenHand(tuple(read_tiles(_MELD.sub("", compact))), melds)


def read_tiles(text: str) -> list[int]:
    """Read tiles without melds; raises ``ValueError``.

    >>> read_tiles("15mr9p"), read_tiles(""), read_tiles("一赤五萬９筒白")
    ([0, 34, 17], [], [0, 34, 17, 31])
    """
    plain = _RED_KANJI.sub("0", _UNREAD.sub("", text.translate(_WIDTHS)))
    if lone := re.search("[赤紅红].?", plain):
        raise ValueError(f"tiles {text!r}: {lone[0]} is no red five")
    if lone := _NO_SUIT.search(plain):
        raise ValueError(f"tiles {text!r}: {lone[0]} lacks its suit")
    try:
        return parse_tiles(_RED_FIVE.sub(r"0\1", plain.translate(_KANJI)))
    except ValueError as error:
        if text.isascii():
            raise
        raise ValueError(f"tiles {text!r}, read as {str(error).removeprefix('tiles ')}") from None


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
