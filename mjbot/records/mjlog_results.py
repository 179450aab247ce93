"""How a kyoku ended: Tenhou's AGARI and RYUUKYOKU tags, final scores, yaku as mjai spells them."""

from collections.abc import Iterable, Sequence
from typing import Final

from mjbot.records.game import WinRecord
from mjbot.records.mjlog_tags import Tag
from mjbot.rules.yaku_table import DORA, N_YAKU, YAKU, YAKUMAN
from protocol.messages import MOST_POINTS, FourInts, Hora, Ryukyoku
from protocol.tenhou.results import DRAW_REASONS

YAKUMAN_FAN: Final = 100
"""What the original mjai server counts for each yakuman."""


def named_yaku(
    yaku: Iterable[tuple[int, int]], yakuman: Iterable[int]
) -> tuple[tuple[str, int], ...]:
    """Return mjai names with their han, dora first; dragons count as one yaku of n han.

    ``yaku`` pairs Tenhou's ids with han, ``yakuman`` has ids alone.

    Raises ``ValueError`` for an id that Tenhou does not have.
    """
    han: dict[str, int] = {}
    for yaku_id, value in sorted(yaku, key=lambda pair: pair[0] < DORA):
        name = _name(yaku_id, is_yakuman=False)
        han[name] = han.get(name, 0) + value
    for yaku_id in yakuman:
        han[_name(yaku_id, is_yakuman=True)] = YAKUMAN_FAN
    return tuple((name, value) for name, value in han.items() if value)


def _name(yaku_id: int, is_yakuman: bool) -> str:
    if not 0 <= yaku_id < N_YAKU or bool(YAKUMAN >> yaku_id & 1) != is_yakuman:
        raise ValueError(f"{'yakuman' if is_yakuman else 'yaku'} {yaku_id} is unknown")
    return YAKU[yaku_id].mjai_name


def final_scores(tag: Tag) -> FourInts | None:
    """Return the final scores in points if the game ends here, leftover sticks included."""
    if "owari" not in tag.attributes:
        return None
    try:
        a, b, c, d = (100 * int(score) for score in tag["owari"].split(",")[:8:2])
        if max(map(abs, (a, b, c, d))) > MOST_POINTS:
            raise ValueError
    except ValueError:
        raise ValueError(f'<{tag.name}> owari="{tag["owari"][:80]}" is no final result') from None
    return a, b, c, d


def read_win(tag: Tag, tiles: Sequence[str]) -> tuple[Hora, WinRecord]:
    """Read an AGARI tag; ``tiles`` maps tile ids to wire tiles."""
    before, deltas = _scores(tag)
    win = _win_record(tag, tiles, deltas)
    concealed = tag.tiles("hai")
    winning = tag.tiles("machi", 1)[0]
    if winning not in concealed:
        raise ValueError(f"<AGARI> machi={winning} is not among its hai")
    concealed.remove(winning)
    if win.winner == win.source:
        concealed.append(winning)
    return hora_event(win, [tiles[tile] for tile in concealed], before), win


def hora_event(win: WinRecord, hand: Sequence[str], before: FourInts) -> Hora:
    """Return the event of a win with a concealed hand, ``before`` being the points before it."""
    return Hora(
        actor=win.winner,
        target=win.source,
        pai=win.winning_tile,
        pao=win.liable,
        uradora_markers=win.ura_markers,
        hora_tehais=tuple(hand),
        yakus=named_yaku(win.yaku, win.yakuman),
        fu=win.fu,
        fan=YAKUMAN_FAN * len(win.yakuman) or sum(han for _, han in win.yaku),
        hora_points=win.hand_points,
        deltas=win.deltas,
        scores=_sum(before, win.deltas),
    )


def read_draw(
    tag: Tag, tiles: Sequence[str], n_melds: Sequence[int], drawer: int | None
) -> Ryukyoku:
    """Read a RYUUKYOKU tag; ``drawer`` is the seat that has drawn and not discarded."""
    kind = tag.attributes.get("type") or None
    if (reason := DRAW_REASONS.get(kind)) is None:
        raise ValueError(f'<RYUUKYOKU> type="{kind}" is unknown')
    before, deltas = _scores(tag)
    shown = [f"hai{seat}" in tag.attributes for seat in range(4)]
    nine_terminals = reason == "kyushukyuhai"
    if nine_terminals and drawer is None:
        raise ValueError("<RYUUKYOKU> nine terminals, but nobody has just drawn")
    hands = (
        tuple(tiles[tile] for tile in tag.tiles(f"hai{seat}"))
        if shown[seat]
        else ("?",) * (13 - 3 * n_melds[seat])
        for seat in range(4)
    )
    t0, t1, t2, t3 = (known and not nine_terminals for known in shown)
    return Ryukyoku(
        actor=drawer if nine_terminals else None,
        reason=reason,
        tehais=tuple(hands),
        tenpais=(t0, t1, t2, t3),
        deltas=deltas,
        scores=_sum(before, deltas),
    )


def _win_record(tag: Tag, tiles: Sequence[str], deltas: FourInts) -> WinRecord:
    honba, sticks = tag.integers("ba", 2)
    fu, points, limit = tag.integers("ten", 3)
    pairs = tag.integers("yaku") if "yaku" in tag.attributes else []
    yakuman = tag.integers("yakuman") if "yakuman" in tag.attributes else []
    if len(pairs) % 2 or bool(pairs) == bool(yakuman):
        raise ValueError("<AGARI> needs either yaku (pairs of id and han) or yakuman")
    return WinRecord(
        winner=tag.seat("who"),
        source=tag.seat("fromWho"),
        liable=tag.seat("paoWho") if "paoWho" in tag.attributes else None,
        yaku=tuple(zip(pairs[::2], pairs[1::2], strict=True)),
        yakuman=tuple(yakuman),
        fu=fu,
        hand_points=points,
        limit=limit,
        honba=honba,
        sticks=sticks,
        winning_tile=tiles[tag.tiles("machi", 1)[0]],
        dora_markers=tuple(tiles[tile] for tile in tag.tiles("doraHai")),
        ura_markers=tuple(tiles[tile] for tile in _optional_tiles(tag, "doraHaiUra")),
        deltas=deltas,
    )


def _optional_tiles(tag: Tag, attribute: str) -> list[int]:
    return tag.tiles(attribute) if attribute in tag.attributes else []


def _scores(tag: Tag) -> tuple[FourInts, FourInts]:
    """Return the scores before the result and the changes, both in points by seat."""
    b0, d0, b1, d1, b2, d2, b3, d3 = (100 * number for number in tag.integers("sc", 8))
    return (b0, b1, b2, b3), (d0, d1, d2, d3)


def _sum(before: FourInts, deltas: FourInts) -> FourInts:
    a, b, c, d = (score + delta for score, delta in zip(before, deltas, strict=True))
    return a, b, c, d
