"""Tenhou's side of one connection: login, lobby, and the seat of a game.  No clock, no socket.

Pass all input to :meth:`TenhouServer.receive`: it returns frames to send at once and the client's
requests (:data:`Wish`); grant a login with :meth:`~TenhouServer.welcome`, a table with
:meth:`~TenhouServer.sit`.  Then send what :meth:`~TenhouServer.send` returns for each event, and
while ``seat.asked`` or ``seat.held`` is true wait for the client, or let the seat expire
(:meth:`SeatTable.expire <protocol.tenhou.table.SeatTable.expire>`,
:meth:`~TenhouServer.go_on`).

A connection may be lost while the game continues: keep the
:class:`~mjbot.protocol.tenhou.table.SeatTable`, continue to pass it the events, and give it to the
new connection's :meth:`~TenhouServer.sit_again`.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.protocol.messages import Event, PlayerAction
from mjbot.protocol.tenhou import tags
from mjbot.protocol.tenhou.codec import CLIENT_TAGS, Spelling, TagReader, tag_name, write
from mjbot.protocol.tenhou.login import TableType, parse_table_type, read_name, write_name
from mjbot.protocol.tenhou.offers import Offer, dearest
from mjbot.protocol.tenhou.table import SeatTable


@dataclass(frozen=True)
class LogIn:
    """Asks for a login; ``name`` may be the secret of an account, and is not shown."""

    name: str = field(repr=False)
    gpid: str | None = None


@dataclass(frozen=True)
class RequestTable:
    """Asks for this table; ``again``: after a ``REJOIN``."""

    table_type: TableType
    again: bool = False


@dataclass(frozen=True)
class NoTable:
    """Withdraws the request for a table."""


@dataclass(frozen=True)
class EnterLobby:
    """Goes to another lobby."""

    lobby: int


@dataclass(frozen=True)
class Leave:
    """Leaves."""


Wish = LogIn | RequestTable | NoTable | EnterLobby | Leave


@dataclass(frozen=True)
class Incoming:
    """What came: frames to send at once, and what the client wishes."""

    frames: tuple[bytes, ...] = ()
    wishes: tuple[Wish, ...] = ()


class ClientPlace(enum.Enum):
    """Where a client is; the value completes the sentence "the client is ..."."""

    CONNECTED = "not logged in"
    LOBBY = "in the lobby"
    TABLE = "at a table"


class TenhouServer:
    """One client's connection.  ``seat`` is what it has at a table, ``None`` in the lobby.

    Raises :class:`ProtocolError` naming tag and attribute for what a client must not send; then
    the connection is to be closed.
    """

    def __init__(self, spelling: Spelling) -> None:
        self.spelling: Final = spelling
        self.place = ClientPlace.CONNECTED
        self.seat: SeatTable | None = None
        self._reader: Final = TagReader(spelling, CLIENT_TAGS)
        self._catching_up = False
        self._missed: list[tags.Tag] = []  # to be sent once the client has taken note of its seat
        self._frames: list[bytes] = []
        self._wishes: list[Wish] = []

    # --- what the caller calls ---------------------------------------------------------------

    def receive(self, data: bytes) -> Incoming:
        """Take in a piece of the stream, or a frame."""
        self._frames, self._wishes = [], []
        for tag in self._reader.feed(data):
            self._take(tag)
        return Incoming(tuple(self._frames), tuple(self._wishes))

    def finish(self) -> None:
        """Take note of the end of the stream; raises where it came inside a tag."""
        self._reader.finish()

    def welcome(self, name: str) -> tuple[bytes, ...]:
        """Return the frames that grant a login; ``name`` is what others are to see."""
        self._expect("HELO", ClientPlace.CONNECTED)
        self.place = ClientPlace.LOBBY
        return self._written(tags.ServerHelo(uname=write_name(name)))

    def rejoin(self, table_type: TableType) -> tuple[bytes, ...]:
        """Return the frames that report that no table has formed; the client may ask again."""
        return self._written(tags.Rejoin(t=f"{table_type},r"))

    def sit(self, seat: SeatTable) -> None:
        """Give the client a seat; the first event to send is ``start_game``."""
        self._expect("GO", ClientPlace.LOBBY)
        self.seat, self.place = seat, ClientPlace.TABLE

    def sit_again(self, seat: SeatTable) -> tuple[bytes, ...]:
        """Return the frames that bring a client back to its seat; it receives no ``HELO``.

        What it was asked over its old connection it is not asked again.
        """
        self._expect("SAIKAI", ClientPlace.CONNECTED)
        self.seat, self.place, self._catching_up = seat, ClientPlace.TABLE, True
        seat.expire()
        self._missed = [*seat.snapshot()]
        return self._written(*seat.greeting_again())

    def send(
        self,
        event: Event,
        open_actions: Sequence[PlayerAction] = (),
        furiten: bool | None = None,
    ) -> tuple[bytes, ...]:
        """Return the frames of an event; see :meth:`SeatTable.send`.

        A client that is coming back receives all of it once it has taken note of its seat.
        """
        return self._tags_for(self._seat().send(event, open_actions, furiten))

    def go_on(self) -> tuple[bytes, ...]:
        """Return the frames of a deal that has waited for the client for too long."""
        return self._tags_for(self._seat().take_ready())

    def send_tag(self, tag: tags.Tag) -> tuple[bytes, ...]:
        """Return the frames of any other tag, such as another's leaving."""
        return self._tags_for((tag,))

    # --- inside ------------------------------------------------------------------------------

    def _seat(self) -> SeatTable:
        if self.seat is None:
            raise LocalProtocolError("send", "the client has no seat")
        return self.seat

    def _tags_for(self, written: tuple[tags.Tag, ...]) -> tuple[bytes, ...]:
        if self._catching_up:
            self._missed += written
            return ()
        return self._written(*written)

    def _expect(self, name: str, place: ClientPlace) -> None:
        if self.place is not place:
            raise LocalProtocolError(name, f"the client is {self.place.value}")

    def _written(self, *unwritten: tags.Tag) -> tuple[bytes, ...]:
        return tuple([write(self._as_usual(tag), self.spelling) for tag in unwritten])

    def _as_usual(self, tag: tags.Tag) -> tags.Tag:
        """Old clients know one choice on the own draw only, and may compare instead of test."""
        if self.spelling is Spelling.XML and isinstance(tag, tags.DrawTag) and tag.t:
            return msgspec.structs.replace(tag, t=int(dearest(Offer(tag.t))))
        return tag

    def _take(self, tag: tags.Tag) -> None:
        match tag:
            case tags.KeepAlive() | tags.Auth() | tags.ClientChat():
                self._change_lobby(tag)
            case tags.ClientHelo():
                self._need(tag, ClientPlace.CONNECTED)
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
                self._need(tag, ClientPlace.LOBBY)
                self._wishes.append(EnterLobby(tag.id))
            case tags.GoOk() | tags.NextReady():
                self._need(tag, ClientPlace.TABLE)
                self._take_readiness(tag)
            case tags.Discarding() | tags.DeclareRiichi() | tags.OfferReply():
                self._need(tag, ClientPlace.TABLE)
                self._seat().receive(tag)

    def _need(self, tag: tags.Tag, place: ClientPlace) -> None:
        if self.place is not place:
            raise ProtocolError(tag_name(tag), f"out of order, the client is {self.place.value}")

    def _change_lobby(self, tag: tags.Tag) -> None:
        """Of the chat only the old client's way to change the lobby is read."""
        if not isinstance(tag, tags.ClientChat):
            return
        command, _, lobby = tag.text.partition(" ")
        if command == "/lobby" and self.place is ClientPlace.LOBBY:
            if not lobby.isdecimal() or len(lobby) > 6:
                raise ProtocolError("CHAT.text", f"no lobby is called {lobby[:40]!r}")
            self._wishes.append(EnterLobby(int(lobby)))

    def _take_wish(self, tag: tags.JoinTable) -> None:
        if self.place is ClientPlace.TABLE:
            return  # crossed with our GO
        self._need(tag, ClientPlace.LOBBY)
        table_type = parse_table_type(tag.t)
        if table_type is None:
            self._wishes.append(NoTable())
        else:
            self._wishes.append(RequestTable(table_type, again=(tag.t or "").endswith(",r")))

    def _take_readiness(self, tag: tags.Tag) -> None:
        seat = self._seat()
        if isinstance(tag, tags.GoOk):
            if self._catching_up:
                self._catching_up = False
                self._frames += self._written(*self._missed)
        elif not self._catching_up:
            self._frames += self._written(*seat.take_ready())
