"""How a kyoku ends on Tenhou's wire: ``AGARI`` and ``RYUUKYOKU`` as our events.

The wire counts seats from the receiver: ``own`` is the receiver's absolute seat, and what is told
by seat is turned by it.  ``names`` gives the mjai tile of each id.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

from protocol.errors import ProtocolError
from protocol.messages import MOST_POINTS, FourInts, Hora, Ryukyoku
from protocol.tenhou.tags import DrawnHand, Pairs, Tiles, Win

Item = TypeVar("Item")

YAKUMAN_FAN: Final = 100
"""What the original mjai server counts for each yakuman."""

FIRST_YAKUMAN: Final = 37
DORA: Final = 52
URA_DORA: Final = 53
RED_DORA: Final = 54

YAKU_NAMES: Final = (
    "menzenchin_tsumoho", "reach", "ippatsu", "chankan", "rinshankaiho", "haiteiraoyue",
    "hoteiraoyui", "pinfu", "tanyaochu", "ipeko", *["jikaze"] * 4, *["bakaze"] * 4,
    *["sangenpai"] * 3, "double_reach", "chitoitsu", "honchantaiyao", "ikkitsukan",
    "sanshokudojun", "sanshokudoko", "sankantsu", "toitoiho", "sananko", "shosangen", "honroto",
    "ryanpeko", "junchantaiyao", "honiso", "chiniso", "renho", "tenho", "chiho", "daisangen",
    "suanko", "suanko", "tsuiso", "ryuiso", "chinroto", "churenpoton", "churenpoton",
    "kokushimuso", "kokushimuso", "daisushi", "shosushi", "sukantsu", "dora", "uradora",
    "akadora",
)  # fmt: skip
"""Tenhou's yaku ids 0..54 in the original mjai server's words."""

DRAW_REASONS: Final = {
    None: "fanpai",
    "yao9": "kyushukyuhai",
    "kaze4": "sufonrenta",
    "reach4": "suchareach",
    "ron3": "sanchaho",
    "kan4": "sukaikan",
    "nm": "nagashimangan",
}
"""``RYUUKYOKU type`` -> mjai reason."""


def absolute(relative: int, own: int) -> int:
    """Return the absolute seat that the receiver counts as ``relative``."""
    return (relative + own) % 4


def turned(by_relative_seat: Sequence[Item], own: int) -> tuple[Item, Item, Item, Item]:
    """Return by absolute seat what is told by relative seat.

    >>> turned("RSTU", 1)
    ('U', 'R', 'S', 'T')
    """
    a, b, c, d = (by_relative_seat[(seat - own) % 4] for seat in range(4))
    return a, b, c, d


def points(hundreds: Sequence[int], own: int) -> FourInts:
    """Return points by absolute seat."""
    a, b, c, d = turned(hundreds, own)
    return 100 * a, 100 * b, 100 * c, 100 * d


def _paid(sc: Pairs, own: int) -> tuple[FourInts, FourInts]:
    """Return the changes and the scores after them."""
    deltas = points(sc[1:8:2], own)
    before = points(sc[0:8:2], own)
    a, b, c, d = (score + delta for score, delta in zip(before, deltas, strict=True))
    return deltas, (a, b, c, d)


def final_scores(tag: Win | DrawnHand, own: int) -> FourInts | None:
    """Return the final scores if the game ends here, leftover sticks included."""
    if tag.owari is None:
        return None
    name = "AGARI.owari" if isinstance(tag, Win) else "RYUUKYOKU.owari"
    try:
        scores = [int(score) for score in tag.owari.split(",")[:8:2]]
        if len(scores) != 4 or max(map(abs, scores)) > MOST_POINTS // 100:
            raise ValueError
    except ValueError:
        raise ProtocolError(name, f"{tag.owari[:60]!r} is no final result") from None
    return points(scores, own)


def read_win(tag: Win, own: int, names: Sequence[str]) -> Hora:
    """Return the event of an ``AGARI``; raises :class:`ProtocolError` naming the attribute."""
    if tag.machi not in tag.hai:
        raise ProtocolError("AGARI.machi", f"{tag.machi} is not among its hai")
    concealed = [tile for tile in tag.hai if tile != tag.machi]
    if tag.who == tag.from_who:
        concealed.append(tag.machi)
    deltas, scores = _paid(tag.sc, own)
    yakus, fan = _read_yaku(tag)
    return Hora(
        actor=absolute(tag.who, own),
        target=absolute(tag.from_who, own),
        pai=names[tag.machi],
        pao=None if tag.pao_who is None else absolute(tag.pao_who, own),
        uradora_markers=tuple([names[tile] for tile in tag.dora_hai_ura or ()]),
        hora_tehais=tuple([names[tile] for tile in concealed]),
        yakus=yakus,
        fu=tag.ten[0],
        fan=fan,
        hora_points=tag.ten[1],
        deltas=deltas,
        scores=scores,
    )


def _read_yaku(tag: Win) -> tuple[tuple[tuple[str, int], ...], int]:
    """Return names with their han, dora first and dragons as one, and the sum of the han."""
    pairs, yakuman = tag.yaku or (), tag.yakuman or ()
    if len(pairs) % 2 or bool(pairs) == bool(yakuman):
        raise ProtocolError("AGARI.yaku", "needs pairs of id and han, or yakuman instead")
    han: dict[str, int] = {}
    listed = list(zip(pairs[::2], pairs[1::2], strict=True))
    for yaku, value in sorted(listed, key=lambda pair: pair[0] < DORA):
        name = _yaku_name(yaku, "yaku")
        han[name] = han.get(name, 0) + value
    for yaku in yakuman:
        han[_yaku_name(yaku, "yakuman")] = YAKUMAN_FAN
    yakus = tuple([(name, value) for name, value in han.items() if value])
    return yakus, YAKUMAN_FAN * len(yakuman) or sum(value for _, value in listed)


def _yaku_name(yaku: int, attribute: str) -> str:
    is_yakuman = FIRST_YAKUMAN <= yaku < DORA
    if not 0 <= yaku < len(YAKU_NAMES) or is_yakuman != (attribute == "yakuman"):
        raise ProtocolError(f"AGARI.{attribute}", f"no {attribute} has the id {yaku}")
    return YAKU_NAMES[yaku]


def read_draw(
    tag: DrawnHand, own: int, names: Sequence[str], n_melds: Sequence[int], drawer: int | None
) -> Ryukyoku:
    """Return the event of a ``RYUUKYOKU``.

    ``n_melds`` is by absolute seat, ``drawer`` the seat that has drawn and not discarded.  The
    receiver's own tenpai hand is often left out; the payments tell of it.
    """
    if (reason := DRAW_REASONS.get(tag.type)) is None:
        raise ProtocolError("RYUUKYOKU.type", f"{tag.type!r} is no kind of draw")
    if reason == "kyushukyuhai" and drawer is None:
        raise ProtocolError("RYUUKYOKU.type", "nine terminals, but nobody has just drawn")
    deltas, scores = _paid(tag.sc, own)
    hands = turned(tag.hands, own)
    a, b, c, d = (_shown(hand, names, 13 - 3 * n) for hand, n in zip(hands, n_melds, strict=True))
    return Ryukyoku(
        actor=drawer if reason == "kyushukyuhai" else None,
        reason=reason,
        tehais=(a, b, c, d),
        tenpais=_tenpais(hands, deltas, own) if reason == "fanpai" else None,
        deltas=deltas,
        scores=scores,
    )


def _shown(hand: Tiles | None, names: Sequence[str], size: int) -> tuple[str, ...]:
    return ("?",) * size if hand is None else tuple([names[tile] for tile in hand])


def _tenpais(
    hands: Sequence[Tiles | None], deltas: FourInts, own: int
) -> tuple[bool, bool, bool, bool]:
    tenpais = [hand is not None for hand in hands]
    tenpais[own] = deltas[own] > 0 or (not any(deltas) and sum(tenpais) >= 3)
    a, b, c, d = tenpais
    return a, b, c, d
