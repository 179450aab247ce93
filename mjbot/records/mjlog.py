"""Tenhou's mjlog to our events, in the order in which things happened at the table.

The order is the record's own: riichi, discard, acceptance, then a call of that discard; ankan,
dora, draw; open kan, draw, dora, discard; one win event per winner and one end of the kyoku.
Records print every discard in upper case, so whether it was the drawn tile follows from the id.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final
from urllib.parse import unquote

from mjbot.records.game import (
    THREE_PLAYER_GAME,
    Entry,
    ForeignRecordError,
    IncompleteGameError,
    RecordError,
    WinRecord,
)
from mjbot.records.mjlog_results import final_scores, read_draw, read_win
from mjbot.records.mjlog_tags import NO_REDS, Tag, scan_tags
from protocol.errors import ProtocolError, ThreePlayersError
from protocol.messages import (
    MOST_STICKS,
    Ankan,
    Chi,
    Dahai,
    Daiminkan,
    Dora,
    EndGame,
    EndKyoku,
    Event,
    FourInts,
    Kakan,
    Pon,
    Reach,
    ReachAccepted,
    StartGame,
    StartKyoku,
    Tsumo,
)
from protocol.tenhou.calls import decode_call
from protocol.tenhou.rules import check_playable
from protocol.tenhou.tiles import PLAIN_TILES, RED_TILES
from protocol.tiles import WIND_NAMES

_DRAWER: Final = {"T": 0, "U": 1, "V": 2, "W": 3}
_DISCARDER: Final = {letter: seat for seat in range(4) for letter in ("DEFG"[seat], "defg"[seat])}


def read_mjlog(document: bytes, name: str) -> Iterator[Entry]:
    """Yield the events of a four-player mjlog, each with the number of its tag.

    Raises :class:`RecordError` at the first tag that cannot be true, and at once when the
    document as a whole is damaged; :class:`ForeignRecordError` if it is no mjlog, or of three
    players, :class:`IncompleteGameError` if its rules are not played here.
    """
    reader = TagReader()
    number = 0
    try:
        for tag in scan_tags(document, name):
            number = tag.number
            for event in reader.read(tag):
                yield Entry(number, event, reader.take_win())
        for event in reader.finish():
            yield Entry(number, event)
    except RecordError:
        raise
    except ThreePlayersError:
        raise ForeignRecordError(name, THREE_PLAYER_GAME) from None
    except ProtocolError as error:
        raise IncompleteGameError(name, f"tag {number}", str(error)) from None
    except ValueError as error:
        raise RecordError(name, f"tag {number}", str(error)) from None


class TagReader:
    """Turns tags into events and remembers what must be remembered between them.

    A subclass that sees less of a table than a record does overrides how hands are dealt and
    what a turn's tag says.
    """

    def __init__(self) -> None:
        self._tiles = RED_TILES
        self._names: tuple[str, ...] | None = None
        self._started = False
        self._playing = False
        self._result_seen = False
        self.drawn: tuple[int, int] | None = None  # seat and id while it is that seat's turn
        self._discarder = -1
        self._n_melds = [0, 0, 0, 0]
        self._win: WinRecord | None = None
        self._final: FourInts | None = None
        self._readers: dict[str, Callable[[Tag], tuple[Event, ...]]] = {
            "GO": self._read_rules,
            "UN": self._read_names,
            "INIT": self._read_deal,
            "N": self._read_call,
            "REACH": self._read_riichi,
            "DORA": self._read_dora,
            "AGARI": self._read_win,
            "RYUUKYOKU": self._read_draw,
        }

    def read(self, tag: Tag) -> tuple[Event, ...]:
        """Return the events that a tag says; tags that say nothing about play give none."""
        if tag.name[1:].isdigit():
            return (self.read_turn(tag),)
        reader = self._readers.get(tag.name)
        return reader(tag) if reader else ()

    def take_win(self) -> WinRecord | None:
        """Return the record of the win just read, once."""
        win, self._win = self._win, None
        return win

    def finish(self) -> tuple[Event, ...]:
        """Return what the end of the document implies."""
        if self._playing and not self._result_seen:
            raise ValueError("the record ends inside a hand")
        if not self._playing:
            raise ValueError("the record holds no hand")
        if self._final is None:
            return (EndKyoku(),)
        return EndKyoku(), EndGame(scores=self._final)

    def _read_rules(self, tag: Tag) -> tuple[Event, ...]:
        rules = tag.integer("type")
        check_playable(rules, "GO.type")
        self._tiles = PLAIN_TILES if rules & NO_REDS else RED_TILES
        return ()

    def _read_names(self, tag: Tag) -> tuple[Event, ...]:
        # A later UN with one name is a player coming back.
        if not self._started:
            names = tuple(unquote(tag.attributes.get(f"n{seat}", "")) for seat in range(4))
            self._names = names if any(names) else None
        return ()

    def _read_deal(self, tag: Tag) -> tuple[Event, ...]:
        kyoku, honba, sticks, _, _, marker = tag.integers("seed", 6)
        if not 0 <= kyoku < 16 or not 0 <= marker < 136:
            raise ValueError(f"<INIT> seed names hand {kyoku} and dora indicator {marker}")
        if not (0 <= honba <= MOST_STICKS and 0 <= sticks <= MOST_STICKS):
            raise ValueError(f"<INIT> seed names {honba} honba and {sticks} sticks")
        if tag.seat("oya") != kyoku % 4:
            raise ValueError(f"<INIT> oya={tag['oya']} does not deal hand {kyoku}")
        events: tuple[Event, ...] = ()
        if not self._started:
            events = (StartGame(names=self._names),)
        elif not self._result_seen:
            raise ValueError("a hand begins before the one before it has ended")
        else:
            events = (EndKyoku(),)
        self._started = self._playing = True
        self._result_seen = False
        self.drawn = None
        self._n_melds = [0, 0, 0, 0]
        east, south, west, north = (self.dealt_hand(tag, seat) for seat in range(4))
        deal = StartKyoku(
            bakaze=WIND_NAMES[kyoku // 4],
            kyoku=kyoku % 4 + 1,
            honba=honba,
            kyotaku=sticks,
            oya=kyoku % 4,
            dora_marker=self._tiles[marker],
            tehais=(east, south, west, north),
            scores=_hundreds(tag, "ten"),
        )
        return *events, deal

    def dealt_hand(self, tag: Tag, seat: int) -> tuple[str, ...]:
        """Return the thirteen tiles that INIT deals to a seat."""
        return tuple(self._tiles[tile] for tile in tag.tiles(f"hai{seat}", 13))

    def read_turn(self, tag: Tag) -> Event:
        """Read a draw or a discard."""
        letter, tile = tag.name[0], int(tag.name[1:])
        if not 0 <= tile < 136:
            raise ValueError(f"<{tag.name}> names a tile outside 0..135")
        self._check_playing(tag)
        if (drawer := _DRAWER.get(letter)) is not None:
            self.drawn = (drawer, tile)
            return _draw_event(drawer, self._tiles[tile])
        if (discarder := _DISCARDER.get(letter)) is None:
            raise ValueError(f"<{tag.name}> is neither a draw nor a discard")
        tsumogiri = self.drawn == (discarder, tile)
        self.drawn = None
        self._discarder = discarder
        return _discard_event(discarder, self._tiles[tile], tsumogiri)

    def _read_call(self, tag: Tag) -> tuple[Event, ...]:
        self._check_playing(tag)
        caller = tag.seat("who")
        call = decode_call(tag.integer("m"))
        self.drawn = None
        if call.kind != "kakan":
            self._n_melds[caller] += 1
        own = tuple(self._tiles[tile] for tile in call.own)
        if call.kind == "ankan":
            return (Ankan(actor=caller, consumed=own),)  # type: ignore[arg-type]
        tile = self._tiles[call.tile]
        if call.kind == "kakan":
            return (Kakan(actor=caller, pai=tile, consumed=own),)  # type: ignore[arg-type]
        target = (caller + call.source) % 4
        if target != self._discarder:
            raise ValueError(f"seat {caller} calls from seat {target}, which has not discarded")
        event = {"chi": Chi, "pon": Pon, "daiminkan": Daiminkan}[call.kind]
        return (event(actor=caller, target=target, pai=tile, consumed=own),)

    def _read_riichi(self, tag: Tag) -> tuple[Event, ...]:
        self._check_playing(tag)
        seat, step = tag.seat("who"), tag.integer("step")
        if step == 1:
            return (Reach(actor=seat),)
        if step != 2:
            raise ValueError(f"<REACH> step={step}: steps are 1 and 2")
        # Records of 2009 and 2010 do not print the scores.
        scores = _hundreds(tag, "ten") if "ten" in tag.attributes else None
        d0, d1, d2, d3 = (-1000 * (payer == seat) for payer in range(4))
        return (ReachAccepted(actor=seat, deltas=(d0, d1, d2, d3), scores=scores),)

    def _read_dora(self, tag: Tag) -> tuple[Event, ...]:
        self._check_playing(tag)
        return (Dora(dora_marker=self._tiles[tag.tiles("hai", 1)[0]]),)

    def _read_win(self, tag: Tag) -> tuple[Event, ...]:
        if not self._playing:
            raise ValueError("<AGARI> comes before the first <INIT>")
        self._result_seen = True
        self._final = final_scores(tag)
        event, self._win = read_win(tag, self._tiles)
        return (event,)

    def _read_draw(self, tag: Tag) -> tuple[Event, ...]:
        self._check_playing(tag)
        self._result_seen = True
        self._final = final_scores(tag)
        drawer = self.drawn[0] if self.drawn else None
        return (read_draw(tag, self._tiles, self._n_melds, drawer),)

    def _check_playing(self, tag: Tag) -> None:
        if not self._playing or self._result_seen:
            raise ValueError(f"<{tag.name}> comes outside a hand")


def _hundreds(tag: Tag, attribute: str) -> FourInts:
    a, b, c, d = tag.integers(attribute, 4)
    return 100 * a, 100 * b, 100 * c, 100 * d


@cache
def _draw_event(seat: int, tile: str) -> Tsumo:
    return Tsumo(actor=seat, pai=tile)


@cache
def _discard_event(seat: int, tile: str, tsumogiri: bool) -> Dahai:
    return Dahai(actor=seat, pai=tile, tsumogiri=tsumogiri)
