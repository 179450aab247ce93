"""How a kyoku ends on Tenhou's wire: ``AGARI`` and ``RYUUKYOKU`` as our events, and back.

The wire counts seats from the receiver: ``own`` is the receiver's absolute seat, and what is sent
by seat is turned by it.  ``names`` gives the mjai tile of each id.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.messages import MOST_POINTS, FourInts, Hora, Ryukyoku
from mjbot.protocol.rules import Rules
from mjbot.protocol.seats import by_seat, paid
from mjbot.protocol.tenhou.calls import decode_call
from mjbot.protocol.tenhou.tags import DrawnHandTag, Pairs, Tiles, WinTag
from mjbot.protocol.yaku import (
    DORA,
    FIRST_YAKUMAN,
    RED_DORA,
    URA_DORA,
    YAKU_NAMES,
    YAKUMAN_FAN,
    is_yakuman,
    named_yaku,
)

T = TypeVar("T")

_BEFORE_TRIPLETS: Final = (1, 21, 2, 3, 4, 6, 5, 0, 7, 9, 22, 24, 25, 30, 29, 27, 28, 26)
_AFTER_TRIPLETS: Final = (23, 31, 32, 8, 33, 34, 35)
"""Tenhou's order of a win's yaku around those of honour triplets.  In 50,710 wins of 5,014 Phoenix
games and 654 recorded sessions no two came in another (``python -m proof yaku-order`` of commit
94dec7fb).  Ippatsu before chankan and little three dragons before three concealed triplets, which
are in none of these, are from single records of other years.
"""


def yaku_order(honours: Iterable[int]) -> tuple[int, ...]:
    """Return yaku ids in the order in which Tenhou lists those of a win.

    ``honours`` are the kinds of its triplets of honours: concealed ones first, then the calls.

    >>> yaku_order([31, 27])[18:21]
    (18, 14, 10)
    """
    triplets = [
        yaku
        for kind in honours
        for yaku in ((18 + kind - 31,) if kind >= 31 else (14 + kind - 27, 10 + kind - 27))
    ]
    yakuman = range(FIRST_YAKUMAN, DORA)
    bonus = (DORA, RED_DORA, URA_DORA)
    return (*_BEFORE_TRIPLETS, *triplets, *_AFTER_TRIPLETS, *yakuman, *bonus)


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


def turned(by_relative_seat: Sequence[T], own: int) -> tuple[T, T, T, T]:
    """Return values by relative seat by absolute seat.

    >>> turned("RSTU", 1)
    ('U', 'R', 'S', 'T')
    """
    return by_seat(by_relative_seat[(seat - own) % 4] for seat in range(4))


def points(hundreds: Sequence[int], own: int) -> FourInts:
    """Return points by absolute seat."""
    return by_seat(100 * number for number in turned(hundreds, own))


def _paid(sc: Pairs, own: int) -> tuple[FourInts, FourInts]:
    deltas = points(sc[1:8:2], own)
    return deltas, paid(points(sc[0:8:2], own), deltas)


def final_scores(tag: WinTag | DrawnHandTag, own: int) -> FourInts | None:
    """Return the final scores if the game ends here, leftover sticks included."""
    if tag.owari is None:
        return None
    name = "AGARI.owari" if isinstance(tag, WinTag) else "RYUUKYOKU.owari"
    try:
        scores = [int(score) for score in tag.owari.split(",")[:8:2]]
        if len(scores) != 4 or max(map(abs, scores)) > MOST_POINTS // 100:
            raise ValueError
    except ValueError:
        raise ProtocolError(name, f"{tag.owari[:60]!r} is no final result") from None
    return points(scores, own)


def read_win(tag: WinTag, own: int, names: Sequence[str]) -> Hora:
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


def _read_yaku(tag: WinTag) -> tuple[tuple[tuple[str, int], ...], int]:
    """Return names with their han, dora first and dragons as one, and the sum of the han."""
    pairs, yakuman = tag.yaku or (), tag.yakuman or ()
    if len(pairs) % 2 or bool(pairs) == bool(yakuman):
        raise ProtocolError("AGARI.yaku", "needs pairs of id and han, or yakuman instead")
    listed = list(zip(pairs[::2], pairs[1::2], strict=True))
    try:
        yakus = named_yaku(listed, yakuman)
    except ValueError as error:
        raise ProtocolError("AGARI.yakuman" if yakuman else "AGARI.yaku", str(error)) from None
    return yakus, YAKUMAN_FAN * len(yakuman) or sum(value for _, value in listed)


def read_draw(
    tag: DrawnHandTag,
    own: int | None,
    names: Sequence[str],
    n_melds: Sequence[int],
    drawer: int | None,
    players: int = 4,
) -> Ryukyoku:
    """Return the event of a ``RYUUKYOKU``.

    ``own`` is ``None`` in a record, which counts seats as we do and shows every tenpai hand; a
    receiver's own tenpai hand is often left out, and follows from the payments.  ``n_melds`` is
    by absolute seat, ``drawer`` the seat that has drawn and not discarded.  ``tenpais`` is
    ``None`` only after nagashi mangan, where it is unknown whether the receiver was tenpai.
    """
    if (reason := DRAW_REASONS.get(tag.type or None)) is None:
        raise ProtocolError("RYUUKYOKU.type", f"{tag.type!r} is no kind of draw")
    if reason == "kyushukyuhai" and drawer is None:
        raise ProtocolError("RYUUKYOKU.type", "nine terminals, but no seat has just drawn")
    deltas, scores = _paid(tag.sc, own or 0)
    hands = turned(tag.hands, own or 0)
    sizes = [13 - 3 * n if seat < players else 0 for seat, n in enumerate(n_melds)]
    shown = (_shown(hand, names, size) for hand, size in zip(hands, sizes, strict=True))
    return Ryukyoku(
        actor=drawer if reason == "kyushukyuhai" else None,
        reason=reason,
        tehais=by_seat(shown),
        tenpais=_tenpais(reason, [hand is not None for hand in hands], deltas, own, players),
        deltas=deltas,
        scores=scores,
    )


def _shown(hand: Tiles | None, names: Sequence[str], size: int) -> tuple[str, ...]:
    return ("?",) * size if hand is None else tuple([names[tile] for tile in hand])


_WITHOUT_TENPAI: Final = ("kyushukyuhai", "sufonrenta", "sukaikan")
"""Draws in which, as the original mjai server counts, no seat is tenpai."""


def _tenpais(
    reason: str, shown: Sequence[bool], deltas: FourInts, own: int | None, players: int
) -> tuple[bool, bool, bool, bool] | None:
    """Return which seats are tenpai; of the receiver as far as the tag lets it be known."""
    if reason in _WITHOUT_TENPAI:
        return False, False, False, False
    tenpais = list(shown)
    if own is not None and not shown[own]:
        n_others = sum(shown)
        if reason == "nagashimangan":
            return None
        if reason == "fanpai":
            tenpais[own] = deltas[own] > 0 or (not any(deltas) and n_others >= players - 1)
        else:  # all four declared riichi, or three won
            tenpais[own] = reason == "suchareach" or n_others < 3
    return by_seat(tenpais)


# --- our events as tags ------------------------------------------------------------------------

DRAW_TYPES: Final = {reason: kind for kind, reason in DRAW_REASONS.items()}
_HAN_IDS: Final = {name: yaku for yaku, name in enumerate(YAKU_NAMES) if not is_yakuman(yaku)}
_YAKUMAN_IDS: Final = {
    name: FIRST_YAKUMAN + place
    for place, name in reversed([*enumerate(YAKU_NAMES[FIRST_YAKUMAN:DORA])])
}
_TWO_FORMS: Final = frozenset({"suanko", "kokushimuso", "churenpoton"})
"""Yakuman of which Tenhou names a second form by the wait: it has the next id."""

_LIMITS: Final = ((11, 4), (8, 3), (6, 2), (5, 1))
_MANGAN_BASE: Final = 2000


@dataclass(frozen=True)
class ShownTiles:
    """What a win shows by ids: ``hai`` with the winning tile, calls latest first, indicators."""

    hai: Tiles
    machi: int
    calls: tuple[int, ...]
    dora: Tiles
    ura: Tiles


@dataclass(frozen=True)
class Stakes:
    """What the table holds when a kyoku ends; scores are in points by absolute seat."""

    honba: int
    sticks: int
    scores: FourInts
    round_wind: int
    dealer: int
    players: int = 4

    def pairs(self, deltas: FourInts, own: int) -> Pairs:
        """Return ``sc``: by relative seat what it had and what it gets, in hundreds."""
        return tuple(
            [
                value // 100
                for score, delta in zip(
                    relative(self.scores, own), relative(deltas, own), strict=True
                )
                for value in (score, delta)
            ]
        )


def relative(by_absolute_seat: Sequence[T], own: int) -> tuple[T, T, T, T]:
    """Return values by absolute seat by relative seat."""
    return turned(by_absolute_seat, -own)


def write_win(event: Hora, shown: ShownTiles, stakes: Stakes, own: int) -> WinTag:
    """Return the ``AGARI`` of a win with all its fields."""
    deltas = event.deltas or (0, 0, 0, 0)
    limit_hand = (event.fan or 0) >= YAKUMAN_FAN
    listed = _yaku_ids(event, shown, stakes)
    return WinTag(
        ba=(stakes.honba, stakes.sticks),
        hai=tuple(sorted(shown.hai)),
        m=shown.calls or None,
        machi=shown.machi,
        ten=(event.fu or 0, event.hora_points or 0, _limit(event)),
        yaku=None if limit_hand else tuple([number for pair in listed for number in pair]),
        yakuman=tuple([yaku for yaku, _ in listed]) if limit_hand else None,
        dora_hai=shown.dora,
        dora_hai_ura=shown.ura or None,
        who=(event.actor - own) % 4,
        from_who=(event.target - own) % 4,
        pao_who=None if event.pao is None else (event.pao - own) % 4,
        sc=stakes.pairs(deltas, own),
    )


def _limit(event: Hora) -> int:
    """Return 0 (none), 1 mangan, 2 haneman, 3 baiman, 4 sanbaiman or 5 yakuman."""
    han, fu = event.fan or 0, event.fu or 0
    if han >= 13:
        return 5
    for least, limit in _LIMITS:
        if han >= least:
            return limit
    return int(fu * 2 ** (2 + han) >= _MANGAN_BASE)


def _yaku_ids(event: Hora, shown: ShownTiles, stakes: Stakes) -> list[tuple[int, int]]:
    """Return ids with their han in Tenhou's order; mjai's names leave out winds and dragons."""
    pairs: list[tuple[int, int]] = []
    honours = _honour_triplets(shown)
    for name, han in event.yakus or ():
        if han >= YAKUMAN_FAN:
            waits_wide = name in _TWO_FORMS and _is_second_form(name, shown)
            pairs.append((_YAKUMAN_IDS[name] + waits_wide, han))
        elif name == "sangenpai":
            pairs += [(18 + kind - 31, 1) for kind in honours if kind >= 31][:han]
        elif name in ("jikaze", "bakaze"):
            own_wind = (event.actor - stakes.dealer) % stakes.players
            wind = own_wind if name == "jikaze" else stakes.round_wind
            pairs.append(((10 if name == "jikaze" else 14) + wind, han))
        else:
            pairs.append((_HAN_IDS[name], han))
    if shown.ura and not any(yaku == URA_DORA for yaku, _ in pairs) and not _all_yakuman(pairs):
        pairs.append((URA_DORA, 0))
    order = yaku_order(honours)
    return sorted(pairs, key=lambda pair: order.index(pair[0]))


def _all_yakuman(pairs: list[tuple[int, int]]) -> bool:
    return any(han >= YAKUMAN_FAN for _, han in pairs)


def _honour_triplets(shown: ShownTiles) -> list[int]:
    """Return the kinds of triplets of honours: concealed ones, then the calls in their order."""
    held = [tile // 4 for tile in shown.hai]
    calls = [decode_call(code, players=3) for code in reversed(shown.calls)]
    called = [call.tile // 4 for call in calls if call.kind != "kita"]
    kinds = [kind for kind in range(27, 34) if held.count(kind) >= 3]
    return kinds + [kind for kind in called if kind >= 27]


def _is_second_form(name: str, shown: ShownTiles) -> bool:
    """Whether the hand waited for its pair, for any of thirteen, or for any of nine tiles."""
    machi = shown.machi // 4
    count = sum(tile // 4 == machi for tile in shown.hai)
    if name == "churenpoton":  # three of each end and one of each between, before the win
        return count == (4 if machi % 9 in (0, 8) else 2)
    return count == 2


def write_draw(
    event: Ryukyoku, shown: Sequence[Tiles | None], stakes: Stakes, own: int
) -> DrawnHandTag:
    """Return the ``RYUUKYOKU`` of a draw; ``shown`` has the hands by absolute seat."""
    if event.reason not in DRAW_TYPES:
        raise LocalProtocolError("ryukyoku.reason", f"Tenhou has no draw {event.reason!r}")
    hands = relative(shown, own)
    return DrawnHandTag(
        type=DRAW_TYPES[event.reason],
        ba=(stakes.honba, stakes.sticks),
        sc=stakes.pairs(event.deltas or (0, 0, 0, 0), own),
        hai0=hands[0],
        hai1=hands[1],
        hai2=hands[2],
        hai3=hands[3],
    )


def final_points(scores: FourInts, players: int = 4) -> tuple[float, ...]:
    """Return what ``owari`` counts for each seat; equal scores go by seat.

    >>> final_points((25000, 35100, 14900, 25000))
    (5.0, 45.1, -35.1, -15.0)
    >>> final_points((46100, 30000, 28900, 0), players=3)
    (41.1, -10.0, -31.1, 0.0)
    """
    rules = Rules(players=players)
    order = sorted(range(players), key=lambda seat: (-scores[seat], seat))
    counted = [0.0] * 4
    for seat, bonus in zip(order, rules.placement_points, strict=True):
        counted[seat] = round((scores[seat] - rules.return_points + bonus) / 1000, 1)
    return tuple(counted)


def write_final(scores: FourInts, own: int, players: int = 4) -> str:
    """Return ``owari``: by relative seat the score in hundreds, and what it counts."""
    pairs = zip(relative(scores, own), relative(final_points(scores, players), own), strict=True)
    return ",".join(f"{score // 100},{counted:.1f}" for score, counted in pairs)
