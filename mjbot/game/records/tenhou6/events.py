"""Events of a hand and its result: the deal, riichi paid, and the end with the hands shown."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from mjbot.game.records.complete import in_id_order
from mjbot.game.records.tenhou6.hands import HandColumns
from mjbot.game.records.tenhou6.results import DrawEntry, Result, WinEntry
from mjbot.game.records.tenhou6.words import ALL_TENPAI, NOBODY_TENPAI
from mjbot.game.rules.tile_sets import waits_of
from mjbot.protocol import messages as m
from mjbot.protocol.rules import STICK_POINTS
from mjbot.protocol.seats import by_seat, paid, riichi_deltas
from mjbot.protocol.tiles import N_KINDS, TILE_BY_NAME, WIND_NAMES, tile_kind

LastTile = m.Tsumo | m.Dahai | m.Kakan | m.Ankan | m.Kita


def emit_events(
    hand: HandColumns,
    events: Sequence[m.Event],
    result: Result,
    stick_points: int = STICK_POINTS,
) -> Iterator[m.Event]:
    """Yield a hand from its deal to its result; ``events`` are what is between them, in order.

    A riichi pays ``stick_points``.

    Raises ``ValueError`` where a seat plays what it does not hold or wins what is not there.
    """
    hands = _last_hands(hand, events)
    yield emit_deal(hand)
    played = [*_with_payments(hand, events, stick_points)]
    yield from played
    yield from _ending(hand, played, result, hands)


def emit_deal(hand: HandColumns) -> m.StartKyoku:
    """Return the deal of a hand."""
    return m.StartKyoku(
        bakaze=WIND_NAMES[hand.kyoku // 4],
        kyoku=hand.kyoku % 4 + 1,
        honba=hand.honba,
        kyotaku=hand.sticks,
        oya=hand.kyoku % 4,
        dora_marker=hand.dora[0],
        tehais=by_seat(seat.start for seat in hand.seats),
        scores=hand.scores,
    )


def _with_payments(
    hand: HandColumns, events: Sequence[m.Event], stick_points: int
) -> Iterator[m.Event]:
    """Yield the events up to the result, riichi with what was paid for it."""
    scores = hand.scores
    for event in events:
        if isinstance(event, m.ReachAccepted):
            deltas = riichi_deltas(event.actor, stick_points)
            scores = paid(scores, deltas)
            event = m.ReachAccepted(actor=event.actor, deltas=deltas, scores=scores)
        yield event


def _ending(
    hand: HandColumns, events: Sequence[m.Event], result: Result, hands: Sequence["LastHand"]
) -> Iterator[m.Event]:
    if result is None:
        return
    accepted = [event for event in events if isinstance(event, m.ReachAccepted)]
    in_riichi = [event.actor for event in accepted]
    scores = next((event.scores for event in reversed(accepted) if event.scores), hand.scores)
    if isinstance(result, DrawEntry):
        shown = _shown(result, hands[: hand.players], last_tile(events).actor)
        shown += [False] * (4 - hand.players)
        yield _ryukyoku(result, hands, shown, last_tile(events), scores)
        return
    for win in result:
        scores = paid(scores, win.deltas)
        ura = hand.ura if win.winner in in_riichi else ()
        yield _hora(win, hands[win.winner], last_tile(events), ura, scores)


class LastHand:
    """The concealed tiles of a seat, followed through a hand."""

    def __init__(self, start: Iterable[str]) -> None:
        self.tiles = [*start]
        self.n_melds = 0

    def play(self, seat: int, tiles: Iterable[str]) -> None:
        """Take tiles out.  Raises ``ValueError`` for one that is not there."""
        for tile in tiles:
            if tile not in self.tiles:
                raise ValueError(f"seat {seat} plays {tile}, which it does not hold")
            self.tiles.remove(tile)


def _last_hands(hand: HandColumns, events: Sequence[m.Event]) -> list[LastHand]:
    hands = [LastHand(seat.start) for seat in hand.seats]
    for event in events:
        match event:
            case m.Tsumo(actor=seat, pai=tile):
                hands[seat].tiles.append(tile)
            case (
                m.Dahai(actor=seat, pai=tile)
                | m.Kakan(actor=seat, pai=tile)
                | m.Kita(actor=seat, pai=tile)
            ):
                hands[seat].play(seat, [tile])
            case m.Chi() | m.Pon() | m.Daiminkan() | m.Ankan():
                hands[event.actor].n_melds += 1
                hands[event.actor].play(event.actor, event.consumed)
    return hands


def last_tile(events: Sequence[m.Event]) -> LastTile:
    """Return the event with the last tile that was drawn, discarded or put into a kan."""
    for event in reversed(events):
        if isinstance(event, LastTile):
            return event
    raise ValueError("no tile is drawn")


def _hora(
    win: WinEntry,
    hand: LastHand,
    last: LastTile,
    ura: tuple[str, ...],
    scores: m.FourInts,
) -> m.Hora:
    tiles = hand.tiles.copy()
    tile = last.consumed[0] if isinstance(last, m.Ankan) else last.pai
    by_draw = win.winner == win.source
    if by_draw != isinstance(last, m.Tsumo) or last.actor != win.source:
        raise ValueError(
            f"[16]: seat {win.winner} wins a tile of seat {win.source}, which is not there"
        )
    if by_draw:
        tiles.remove(tile)
    return m.Hora(
        actor=win.winner,
        target=win.source,
        pai=tile,
        pao=win.liable,
        uradora_markers=ura,
        hora_tehais=(*in_id_order(tiles), *([tile] if by_draw else [])),
        yakus=win.yakus,
        fu=win.fu,
        fan=win.fan,
        hora_points=win.points,
        deltas=win.deltas,
        scores=scores,
    )


def _ryukyoku(
    result: DrawEntry,
    hands: Sequence[LastHand],
    shown: Sequence[bool],
    last: LastTile,
    before: m.FourInts,
) -> m.Ryukyoku:
    nine = result.reason == "kyushukyuhai"
    tehais = (
        in_id_order(hand.tiles) if seen else ("?",) * (13 - 3 * hand.n_melds)
        for seen, hand in zip(shown, hands, strict=True)
    )
    t0, t1, t2, t3 = (seen and not nine for seen in shown)
    deltas = result.deltas
    if deltas is None and result.reason != "nagashimangan" and not result.is_open:
        deltas = (0, 0, 0, 0)
    return m.Ryukyoku(
        actor=last.actor if nine else None,
        reason=result.reason,
        tehais=tuple(tehais),
        tenpais=(t0, t1, t2, t3),
        deltas=deltas,
        scores=paid(before, deltas) if deltas else None,
    )


def _shown(result: DrawEntry, hands: Sequence[LastHand], last_seat: int) -> list[bool]:
    """Return which players show a hand: in an exhaustive draw those that were tenpai."""
    seats = range(len(hands))
    if result.reason == "kyushukyuhai":
        return [seat == last_seat for seat in seats]
    if result.reason == "suchareach" or result.name == ALL_TENPAI:
        return [True for _ in seats]
    if result.reason == "sanchaho":
        return [seat != last_seat for seat in seats]
    if result.reason not in ("fanpai", "nagashimangan") or result.name == NOBODY_TENPAI:
        return [False for _ in seats]
    if result.reason == "fanpai" and result.deltas and any(result.deltas):
        return [result.deltas[seat] > 0 for seat in seats]
    return [last_waits(hand, len(hands)) != 0 for hand in hands]


def last_waits(hand: LastHand, players: int) -> int:
    """Return the mask of the kinds that complete a hand."""
    counts = np.zeros(N_KINDS, np.int8)
    for tile in hand.tiles:
        counts[tile_kind(TILE_BY_NAME[tile])] += 1
    return int(waits_of(counts, hand.n_melds, players))
