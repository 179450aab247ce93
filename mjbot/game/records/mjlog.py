"""Tenhou's mjlog to our events, in the order in which things happened at the table.

A record is Tenhou's wire with the hands of all seats open, so tags and results are read by
:mod:`mjbot.protocol.tenhou`: the same result gives the same event from a live game and from its
record.

The order is the record's own: riichi, discard, acceptance, then a call of that discard; ankan,
dora, draw; open kan, draw, dora, discard; one win event per winner and one end of the kyoku.
Records print every discard in upper case; whether it was the drawn tile follows from the id.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NoReturn
from urllib.parse import unquote
from xml.parsers import expat

import msgspec

from mjbot.game.records.game import (
    Entry,
    ForeignRecordError,
    IncompleteGameError,
    RecordError,
    WinRecord,
)
from mjbot.protocol import messages as m
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.masking import HIDDEN_HAND
from mjbot.protocol.rules import RANKED
from mjbot.protocol.seats import by_seat
from mjbot.protocol.tenhou import tags
from mjbot.protocol.tenhou.calls import decode_call
from mjbot.protocol.tenhou.codec import RECORD_TAGS, typed
from mjbot.protocol.tenhou.game_type import GameType, check_playable, rules_of
from mjbot.protocol.tenhou.hand import call_event
from mjbot.protocol.tenhou.results import final_scores, points, read_draw, read_win
from mjbot.protocol.tenhou.tiles import PLAIN_TILES, RED_TILES
from mjbot.protocol.tiles import WIND_NAMES


class Element(msgspec.Struct, frozen=True):
    """One XML element: its name, its attributes, and its number in the document (from 1)."""

    name: str
    attributes: Mapping[str, str]
    number: int

    def __getitem__(self, attribute: str) -> str:
        return self.attributes[attribute]

    def integers(self, attribute: str) -> list[int]:
        """Return an attribute that is a list of whole numbers."""
        return [int(number) for number in self[attribute].split(",")]


def read_mjlog(document: bytes, name: str) -> Iterator[Entry]:
    """Yield the events of an mjlog, each with the number of its tag.

    Raises :class:`RecordError` at the first tag that cannot be true, and at once when the
    document as a whole is damaged; :class:`ForeignRecordError` if it is no mjlog,
    :class:`IncompleteGameError` if its rules are not played here.
    """
    reader = _RecordReader()
    number = 0
    try:
        for element in scan_elements(document, name):
            number = element.number
            for event in reader.read(element):
                yield Entry(number, event, reader.take_win())
        for event in reader.finish():
            yield Entry(number, event)
    except RecordError:
        raise
    except _OtherRulesError as error:
        raise IncompleteGameError(name, f"tag {number}", str(error)) from None
    except ValueError as error:
        raise RecordError(name, f"tag {number}", str(error)) from None


def scan_elements(document: bytes, name: str) -> list[Element]:
    """Return the elements inside ``<mjloggm>`` in order.

    Raises :class:`RecordError` with ``name`` if the document is damaged,
    :class:`ForeignRecordError` if it is not an mjlog.
    """
    elements: list[Element] = []
    parser = expat.ParserCreate()

    def begin(element: str, attributes: dict[str, str]) -> None:
        elements.append(Element(element, attributes, len(elements)))

    def doctype(*_: object) -> NoReturn:
        # Entities could make a small file expand without bound; an mjlog has none.
        raise RecordError(name, "", "a document type declaration has no place in an mjlog")

    parser.StartElementHandler = begin
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(document, True)
    except expat.ExpatError as error:
        raise RecordError(name, f"tag {len(elements)}", f"damaged XML ({error})") from None
    if elements[0].name != "mjloggm":
        raise ForeignRecordError(name, f"begins with <{elements[0].name}>, not with <mjloggm>")
    return elements[1:]


class _OtherRulesError(ValueError):
    """The table's rules are not played here."""


class _RecordReader:
    """Turns elements into events and keeps what later elements refer to."""

    def __init__(self) -> None:
        self._tiles = RED_TILES
        self._rules = RANKED
        self._names: tuple[str, ...] | None = None
        self._started = False
        self._playing = False
        self._result_seen = False
        self._drawn: tuple[int, int] | None = None  # seat and id while it is that seat's turn
        self._discarder = -1
        self._n_melds = [0, 0, 0, 0]
        self._win: WinRecord | None = None
        self._final: m.FourInts | None = None

    def read(self, element: Element) -> tuple[m.Event, ...]:
        """Return the events of an element; elements that are no part of the play give none."""
        name = element.name
        if name[1:].isdigit() and not element.attributes:
            tag = _turn_tag(name)
        else:
            tag = typed(name, element.attributes, RECORD_TAGS, lenient=not name[1:].isdigit())
        match tag:
            case tags.DrawTag() | tags.DiscardTag():
                return (self._take_turn(tag, name),)
            case tags.Go():
                _check_rules(tag)
                self._tiles = PLAIN_TILES if tag.type & GameType.NO_RED_FIVES else RED_TILES
                self._rules = rules_of(tag.type)
            case tags.Names() if not self._started:  # a later UN is a player coming back
                names = tuple(unquote(value or "") for value in tag.all)
                self._names = names if any(names) else None
            case tags.RecordedInit():
                return self._take_deal(tag)
            case tags.WinTag() | tags.DrawnHandTag():
                return (self._take_result(tag),)
            case _:
                return self._take_in_hand(tag, name)
        return ()

    def _take_in_hand(self, tag: tags.Tag, name: str) -> tuple[m.Event, ...]:
        match tag:
            case tags.MeldTag():
                self._check_playing(name)
                return (self._take_call(tag),)
            case tags.Riichi():
                self._check_playing(name)
                return (_riichi(tag),)
            case tags.DoraIndicator():
                self._check_playing(name)
                return (m.Dora(dora_marker=self._tiles[tag.hai]),)
        return ()

    def take_win(self) -> WinRecord | None:
        """Return the record of the win just read, once."""
        win, self._win = self._win, None
        return win

    def finish(self) -> tuple[m.Event, ...]:
        """Return what the end of the document implies."""
        if self._playing and not self._result_seen:
            raise ValueError("the record ends inside a hand")
        if not self._playing:
            raise ValueError("the record holds no hand")
        if self._final is None:
            return (m.EndKyoku(),)
        return m.EndKyoku(), m.EndGame(scores=self._final)

    def _take_deal(self, tag: tags.RecordedInit) -> tuple[m.Event, ...]:
        kyoku, honba, sticks, _, _, marker = tag.seed
        if tag.oya != kyoku % 4:
            raise ProtocolError("INIT.oya", f"{tag.oya} does not deal hand {kyoku}")
        events: tuple[m.Event, ...] = ()
        if not self._started:
            events = (m.StartGame(names=self._names, mjbot_rules=self._rules.announced),)
        elif not self._result_seen:
            raise ValueError("a hand begins before the one before it has ended")
        else:
            events = (m.EndKyoku(),)
        self._started = self._playing = True
        self._result_seen = False
        self._drawn = None
        self._n_melds = [0, 0, 0, 0]
        players = self._rules.players
        dealt = (tag.hai0, tag.hai1, tag.hai2, tag.hai3)
        if len(tag.hai3) != (13 if players == 4 else 0):
            problem = f"{len(tag.hai3)} tiles in a game of {players} players"
            raise ProtocolError("INIT.hai3", problem)
        hands = [tuple([self._tiles[tile] for tile in hand]) for hand in dealt[:players]]
        deal = m.StartKyoku(
            bakaze=WIND_NAMES[kyoku // 4],
            kyoku=kyoku % 4 + 1,
            honba=honba,
            kyotaku=sticks,
            oya=kyoku % 4,
            dora_marker=self._tiles[marker],
            tehais=by_seat([*hands, HIDDEN_HAND][:4]),
            scores=points(tag.ten, 0),
        )
        return *events, deal

    def _take_turn(self, tag: tags.DrawTag | tags.DiscardTag, name: str) -> m.Event:
        if tag.tile is None:
            raise ProtocolError(name, "the tile is missing, a record shows every draw")
        self._check_playing(name)
        if isinstance(tag, tags.DrawTag):
            self._drawn = (tag.seat, tag.tile)
            return _draw_event(tag.seat, self._tiles[tag.tile])
        tsumogiri = self._drawn == (tag.seat, tag.tile)
        self._drawn = None
        self._discarder = tag.seat
        return _discard_event(tag.seat, self._tiles[tag.tile], tsumogiri)

    def _take_call(self, tag: tags.MeldTag) -> m.Event:
        try:
            call = decode_call(tag.m, self._rules.players)
        except ValueError as error:
            raise ProtocolError("N.m", str(error)) from None
        self._drawn = None
        if call.kind not in ("kakan", "kita"):
            self._n_melds[tag.who] += 1
        event = call_event(call, tag.who, self._tiles)
        if getattr(event, "target", self._discarder) != self._discarder:
            target = (tag.who + call.source) % 4
            raise ProtocolError("N.m", f"a call from seat {target}, which has not discarded")
        return event

    def _take_result(self, tag: tags.WinTag | tags.DrawnHandTag) -> m.Event:
        self._final = final_scores(tag, 0)
        if isinstance(tag, tags.WinTag):
            if not self._playing:
                raise ValueError("<AGARI> before the first <INIT>")
            self._result_seen = True
            hora = read_win(tag, 0, self._tiles)
            self._win = _win_record(tag, hora, self._tiles)
            return hora
        self._check_playing("RYUUKYOKU")
        self._result_seen = True
        drawer = self._drawn[0] if self._drawn else None
        return read_draw(tag, None, self._tiles, self._n_melds, drawer)

    def _check_playing(self, name: str) -> None:
        if not self._playing or self._result_seen:
            raise ValueError(f"<{name}> outside a hand")


@lru_cache(maxsize=4096)
def _turn_tag(name: str) -> tags.Tag:
    return typed(name, {}, RECORD_TAGS)


def _check_rules(tag: tags.Go) -> None:
    try:
        check_playable(tag.type, "GO.type", players=(3, 4))
    except ProtocolError as error:
        raise _OtherRulesError(str(error)) from None


def _riichi(tag: tags.Riichi) -> m.Event:
    if tag.step == 1:
        return m.Reach(actor=tag.who)
    # Records of 2009 and 2010 do not print the scores.
    scores = None if tag.ten is None else points(tag.ten, 0)
    d0, d1, d2, d3 = (-1000 * (payer == tag.who) for payer in range(4))
    return m.ReachAccepted(actor=tag.who, deltas=(d0, d1, d2, d3), scores=scores)


def _win_record(tag: tags.WinTag, hora: m.Hora, tiles: Sequence[str]) -> WinRecord:
    pairs = tag.yaku or ()
    return WinRecord(
        winner=hora.actor,
        source=hora.target,
        liable=hora.pao,
        yaku=tuple(zip(pairs[::2], pairs[1::2], strict=True)),
        yakuman=tag.yakuman or (),
        fu=tag.ten[0],
        hand_points=tag.ten[1],
        limit=tag.ten[2],
        honba=tag.ba[0],
        sticks=tag.ba[1],
        winning_tile=tiles[tag.machi],
        dora_markers=tuple([tiles[tile] for tile in tag.dora_hai]),
        ura_markers=hora.uradora_markers or (),
        deltas=hora.deltas or (0, 0, 0, 0),
    )


@cache
def _draw_event(seat: int, tile: str) -> m.Tsumo:
    return m.Tsumo(actor=seat, pai=tile)


@cache
def _discard_event(seat: int, tile: str, tsumogiri: bool) -> m.Dahai:
    return m.Dahai(actor=seat, pai=tile, tsumogiri=tsumogiri)
