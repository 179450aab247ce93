"""Tenhou's side of one connection: login, lobby, and the seat of a game.  No clock, no socket.

Give :meth:`TenhouServer.receive` whatever comes: it returns frames to send at once and what the
client wishes (:data:`Wish`); grant a login with :meth:`~TenhouServer.welcome`, a table with
:meth:`~TenhouServer.sit`.  Then send what :meth:`~TenhouServer.say` returns for each event, and
while ``seat.asked`` or ``seat.held`` is true wait for the client, or tell the seat that time is up
(:meth:`SeatTable.expire <protocol.tenhou.table.SeatTable.expire>`,
:meth:`~TenhouServer.go_on`).

A connection may be lost and the game goes on: keep the :class:`~protocol.tenhou.table.SeatTable`,
go on telling it the events, and give it to the new connection's
:meth:`~TenhouServer.sit_again`.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from protocol.errors import LocalProtocolError, ProtocolError
from protocol.messages import Event, PlayerAction
from protocol.tenhou import tags
from protocol.tenhou.codec import CLIENT_TAGS, Spelling, TagReader, tag_name, write
from protocol.tenhou.login import Wanted, parse_wanted, read_name, write_name
from protocol.tenhou.offers import Offer, dearest
from protocol.tenhou.table import SeatTable


@dataclass(frozen=True)
class LogIn:
    """Wants to log in; ``name`` may be the secret of an account, and is not shown."""

    name: str = field(repr=False)
    gpid: str | None = None


@dataclass(frozen=True)
class WantTable:
    """Wants this table; ``again`` says that it has been told to ask once more."""

    wanted: Wanted
    again: bool = False


@dataclass(frozen=True)
class NoTable:
    """Does not want a table any more."""


@dataclass(frozen=True)
class EnterLobby:
    """Goes to another lobby."""

    lobby: int


@dataclass(frozen=True)
class Leave:
    """Says good-bye."""


Wish = LogIn | WantTable | NoTable | EnterLobby | Leave


@dataclass(frozen=True)
class Heard:
    """What came: frames to send at once, and what the client wishes."""

    frames: tuple[bytes, ...] = ()
    wishes: tuple[Wish, ...] = ()


class Place(enum.Enum):
    """Where a client is; the value completes the sentence "the client is ..."."""

    DOOR = "not logged in"
    LOBBY = "in the lobby"
    TABLE = "at a table"


class TenhouServer:
    """One client's connection.  ``seat`` is what it has at a table, ``None`` in the lobby.

    Raises :class:`ProtocolError` naming tag and attribute for whatever a client may not say; then
    the connection is to be closed.
    """

    def __init__(self, spelling: Spelling) -> None:
        self.spelling: Final = spelling
        self.place = Place.DOOR
        self.seat: SeatTable | None = None
        self._reader: Final = TagReader(spelling, CLIENT_TAGS)
        self._catching_up = False
        self._missed: list[tags.Tag] = []  # to be told once the client has taken note of its seat
        self._frames: list[bytes] = []
        self._wishes: list[Wish] = []

    # --- what the caller calls ---------------------------------------------------------------

    def receive(self, data: bytes) -> Heard:
        """Take in a piece of the stream, or a frame."""
        self._frames, self._wishes = [], []
        for tag in self._reader.feed(data):
            self._take(tag)
        return Heard(tuple(self._frames), tuple(self._wishes))

    def finish(self) -> None:
        """Take note of the end of the stream; raises where it came inside a tag."""
        self._reader.finish()

    def welcome(self, name: str) -> tuple[bytes, ...]:
        """Return the frames that grant a login; ``name`` is what others are to see."""
        self._expect("HELO", Place.DOOR)
        self.place = Place.LOBBY
        return self._written(tags.ServerHelo(uname=write_name(name)))

    def ask_again(self, wanted: Wanted) -> tuple[bytes, ...]:
        """Return the frames that say that no table has formed: who still wants one asks again."""
        return self._written(tags.Rejoin(t=f"{wanted},r"))

    def sit(self, seat: SeatTable) -> None:
        """Give the client a seat; the first event to say is ``start_game``."""
        self._expect("GO", Place.LOBBY)
        self.seat, self.place = seat, Place.TABLE

    def sit_again(self, seat: SeatTable) -> tuple[bytes, ...]:
        """Return the frames that bring a client back to its seat; it hears no ``HELO``.

        What it was asked over its old connection it is not asked again.
        """
        self._expect("SAIKAI", Place.DOOR)
        self.seat, self.place, self._catching_up = seat, Place.TABLE, True
        seat.expire()
        self._missed = [*seat.snapshot()]
        return self._written(*seat.greeting_again())

    def say(
        self,
        event: Event,
        open_actions: Sequence[PlayerAction] = (),
        furiten: bool | None = None,
    ) -> tuple[bytes, ...]:
        """Return the frames of an event; see :meth:`SeatTable.say`.

        A client that is coming back is told all of it once it has taken note of its seat.
        """
        return self._told(self._seat().say(event, open_actions, furiten))

    def go_on(self) -> tuple[bytes, ...]:
        """Return the frames of a deal that has waited for the client for too long."""
        return self._told(self._seat().take_ready())

    def tell(self, tag: tags.Tag) -> tuple[bytes, ...]:
        """Return the frames of any other tag, such as another's leaving."""
        return self._told((tag,))

    # --- inside ------------------------------------------------------------------------------

    def _seat(self) -> SeatTable:
        if self.seat is None:
            raise LocalProtocolError("say", "the client has no seat")
        return self.seat

    def _told(self, told: tuple[tags.Tag, ...]) -> tuple[bytes, ...]:
        if self._catching_up:
            self._missed += told
            return ()
        return self._written(*told)

    def _expect(self, name: str, place: Place) -> None:
        if self.place is not place:
            raise LocalProtocolError(name, f"the client is {self.place.value}")

    def _written(self, *told: tags.Tag) -> tuple[bytes, ...]:
        return tuple([write(self._as_usual(tag), self.spelling) for tag in told])

    def _as_usual(self, tag: tags.Tag) -> tags.Tag:
        """Old clients know one choice on the own draw only, and may compare instead of test."""
        if self.spelling is Spelling.XML and isinstance(tag, tags.Draw) and tag.t:
            return msgspec.structs.replace(tag, t=int(dearest(Offer(tag.t))))
        return tag

    def _take(self, tag: tags.Tag) -> None:
        match tag:
            case tags.KeepAlive() | tags.Auth() | tags.ClientChat():
                self._change_lobby(tag)
            case tags.ClientHelo():
                self._need(tag, Place.DOOR)
                self._wishes.append(LogIn(read_name(tag.name), tag.gpid))
            case tags.AskUsers():
                self._frames += self._written(tags.Users())
            case tags.ClientEcho():
                self._frames += self._written(tags.ServerEcho())
            case tags.ClientBye():
                self._wishes.append(Leave())
            case tags.JoinTable():
                self._take_wish(tag)
            case tags.ChangeLobby():
                self._need(tag, Place.LOBBY)
                self._wishes.append(EnterLobby(tag.id))
            case tags.GoOk() | tags.NextReady():
                self._need(tag, Place.TABLE)
                self._take_readiness(tag)
            case tags.Discarding() | tags.DeclareRiichi() | tags.Answer():
                self._need(tag, Place.TABLE)
                self._seat().receive(tag)

    def _need(self, tag: tags.Tag, place: Place) -> None:
        if self.place is not place:
            raise ProtocolError(tag_name(tag), f"out of order, the client is {self.place.value}")

    def _change_lobby(self, tag: tags.Tag) -> None:
        """Of what is said aloud only the old client's way to change the lobby is heard."""
        if not isinstance(tag, tags.ClientChat):
            return
        command, _, lobby = tag.text.partition(" ")
        if command == "/lobby" and self.place is Place.LOBBY:
            if not lobby.isdecimal() or len(lobby) > 6:
                raise ProtocolError("CHAT.text", f"no lobby is called {lobby[:40]!r}")
            self._wishes.append(EnterLobby(int(lobby)))

    def _take_wish(self, tag: tags.JoinTable) -> None:
        if self.place is Place.TABLE:
            return  # crossed with our GO
        self._need(tag, Place.LOBBY)
        wanted = parse_wanted(tag.t)
        if wanted is None:
            self._wishes.append(NoTable())
        else:
            self._wishes.append(WantTable(wanted, again=(tag.t or "").endswith(",r")))

    def _take_readiness(self, tag: tags.Tag) -> None:
        seat = self._seat()
        if isinstance(tag, tags.GoOk):
            if self._catching_up:
                self._catching_up = False
                self._frames += self._written(*self._missed)
        elif not self._catching_up:
            self._frames += self._written(*seat.take_ready())
