"""The Tenhou endpoint: clients log in over Tenhou's wire, wait, play and reconnect.

One :class:`TenhouEndpoint` serves a TCP port (XML) and a WebSocket port (JSON).  Guests log in
under the name they give.  An account ID grants nothing here and is shown to no one.
"""

import asyncio
import re
import secrets
from typing import Final

from mjbot.play.server.accounts import OPEN, TAKEN, Admission
from mjbot.play.server.lobby import CLOSED, BusyError, Lobby, TableRules
from mjbot.play.server.tenhou_seat import TenhouConnection, TenhouSeat, now
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.plain_text import is_name
from mjbot.protocol.sessions.lockstep_server import BLANK_NAME, MOST_LETTERS_OF_NAME
from mjbot.protocol.tenhou import server as wire
from mjbot.protocol.tenhou import tags
from mjbot.protocol.tenhou.codec import Spelling
from mjbot.protocol.tenhou.game_type import (
    GameType,
    check_playable,
    game_type,
    time_limits,
)
from mjbot.protocol.tenhou.login import GUEST, TableType
from mjbot.protocol.transports.base import SilenceError, Transport, TransportError
from mjbot.protocol.transports.tcp import TcpPieces
from mjbot.runtime.net.guests import CROWDED, Guest, Guests

SILENCE_S: Final = 60.0
"""Silence after which a client, without even a keep-alive, counts as gone."""

LOGIN_S: Final = 10.0
"""How long after a connection its ``HELO`` may come."""

LOBBY_S: Final = 60.0
"""How long a client that has logged in may stay without asking for a table."""

REJOIN_S: Final = 10.0
"""How often a waiting client must request its table again to keep its place."""

_TAGS: Final = re.compile(rb"[^\0]*\0|[^\0]+")
_ACCOUNT: Final = re.compile(r"ID[0-9A-Fa-f]{8}\b.*", re.S)
_FIXED: Final = (
    GameType.AGAINST_PEOPLE
    | GameType.HANCHAN
    | GameType.THREE_PLAYERS
    | GameType.NO_RED_FIVES
    | GameType.NO_OPEN_TANYAO
)
_ROOMS: Final = GameType.TOKUJOU | GameType.JOUKYUU | GameType.FAST | _FIXED
_LAST_LOBBY: Final = 9999


class TenhouEndpoint:
    """Seats players in the lobby's first room."""

    def __init__(self, lobby: Lobby, rules: TableRules, admission: Admission = OPEN) -> None:
        self.guests: Final = Guests("tenhou", admission.limits)
        self._accounts: Final = admission.accounts
        self._lobby: Final = lobby
        self._rules: Final = rules
        self._players: Final[list[TenhouSeat]] = []
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        self._waiting: Final[dict[TenhouConnection, asyncio.Task[None]]] = {}
        self._requests: Final[dict[TenhouConnection, TableType]] = {}
        self._connections: Final[dict[TenhouConnection, None]] = {}  # in the order of their coming
        self._is_closed = False

    def admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one accepted TCP connection in a task of its own."""
        guest = self.guests.admit(writer.get_extra_info("peername"))
        if guest is None:
            writer.close()
            return
        guest.close = writer.transport.abort
        task = self.begin(TcpPieces(reader, writer), Spelling.XML, guest)
        task.add_done_callback(lambda _: guest.leave())

    def begin(
        self, transport: Transport, spelling: Spelling, guest: Guest | None = None
    ) -> asyncio.Task[None]:
        """Serve a connection of either kind; return the task that ends with it."""
        connection = TenhouConnection(transport, spelling, guest)
        listening = asyncio.create_task(self._listen(connection))
        connection.ends = connection.guest.close = listening.cancel
        self._connections[connection] = None
        task = asyncio.create_task(self._serve(connection, listening))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self._is_closed:
            connection.ends()
        return task

    def close_lobby(self) -> None:
        """Close the connections of all clients that do not play, and admit only returning players.

        The lobby is closed before this (:meth:`mjbot.play.server.lobby.Lobby.close`).
        """
        for connection in list(self._connections):
            if connection.server.place is not wire.ClientPlace.TABLE:
                connection.ends()

    async def close(self) -> None:
        """Send everybody away, also who comes meanwhile."""
        self._is_closed = True
        for connection in self._connections:
            connection.ends()
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    # --- one connection ----------------------------------------------------------------------

    async def _serve(self, connection: TenhouConnection, listening: "asyncio.Task[None]") -> None:
        try:
            await asyncio.wait({listening})
        finally:
            listening.cancel()
            self._connections.pop(connection, None)
            self._part(connection)
            await connection.close()

    async def _listen(self, connection: TenhouConnection) -> None:
        try:
            while True:
                limit_s, problem = self._patience(connection)
                data = await connection.transport.receive(limit_s)
                if not all(self._take(connection, piece) for piece in _TAGS.findall(data)):
                    return
        except SilenceError:
            connection.refuse(problem)
        except TransportError:
            try:
                connection.server.finish()
            except ProtocolError as error:
                connection.refuse(error)
        except ProtocolError as error:
            connection.refuse(error)

    def _patience(self, connection: TenhouConnection) -> tuple[float, str]:
        """Return how long the next bytes of a client may take, and what to log after that."""
        silence = SILENCE_S, f"it sent nothing for {SILENCE_S:g} s"
        if connection.server.place is wire.ClientPlace.CONNECTED:
            limit_s, missing = LOGIN_S, "HELO"
        elif connection.server.place is wire.ClientPlace.LOBBY and connection not in self._waiting:
            limit_s, missing = LOBBY_S, "JOIN"
        else:
            return silence
        left_s = max(0.0, connection.idle_since + limit_s - now())
        return min(silence, (left_s, f"no {missing} within {limit_s:g} s"))

    def _take(self, connection: TenhouConnection, piece: bytes) -> bool:
        """Take in one tag, or a piece of one; return whether the client stays."""
        wishes = connection.receive(piece).wishes
        for wish in wishes:
            self._grant(connection, wish)
        leaves = any(isinstance(wish, wire.Leave) for wish in wishes)
        if connection.seat is not None:
            connection.seat.take_note(leaves=leaves)
        return not leaves

    def _part(self, connection: TenhouConnection) -> None:
        self._stop_waiting(connection)
        seat, connection.seat = connection.seat, None
        if seat is not None and seat.connection is connection:
            self._lobby.leave(seat)
            seat.lose()

    # --- what a client wishes ----------------------------------------------------------------

    def _grant(self, connection: TenhouConnection, wish: wire.Wish) -> None:
        match wish:
            case wire.LogIn():
                self._log_in(connection, wish)
            case wire.RequestTable():
                self._request_table(connection, wish)
            case wire.NoTable():
                self._stop_waiting(connection)
                self._give_up_place(connection)
                connection.idle_since = now()
            case wire.EnterLobby():
                connection.lobby = _check_lobby(wish.lobby, "LOBBY.id")
                if connection.server.spelling is Spelling.JSON:
                    chat = tags.ServerChat(lobby=str(connection.lobby))
                    connection.send(connection.server.send_tag(chat))

    def _log_in(self, connection: TenhouConnection, wish: wire.LogIn) -> None:
        if len(wish.name) > MOST_LETTERS_OF_NAME:
            raise ProtocolError("HELO.name", f"longer than {MOST_LETTERS_OF_NAME} characters")
        if wish.name.strip() and not is_name(wish.name):
            raise ProtocolError("HELO.name", BLANK_NAME)
        if self._accounts is not None and wish.name in self._accounts:
            raise ProtocolError("HELO.name", f"{TAKEN}; it plays over WebSocket")
        is_account = bool(_ACCOUNT.fullmatch(wish.name))
        connection.account = wish.name if is_account else ""
        if (seat := self._seat_of(connection.account, wish.gpid)) is not None:
            connection.guest.sit()
            seat.come_back(connection)
            return
        if self._lobby.is_closed or not connection.guest.log_in():
            raise ProtocolError("HELO", CLOSED if self._lobby.is_closed else CROWDED)
        connection.name = GUEST if is_account or not wish.name.strip() else wish.name
        connection.idle_since = now()
        connection.send(connection.server.welcome(connection.name))

    def _seat_of(self, account: str, gpid: str | None) -> TenhouSeat | None:
        """Return the seat whose player has come back.

        Programs under one account may sit at our table together: then only a disconnected one may.
        """
        players = [seat for seat in self._players if seat.may_return]
        for seat in players:
            if gpid and secrets.compare_digest(seat.gpid.encode(), gpid.encode()):
                return seat
        own = [seat for seat in players if account and seat.account == account]
        gone = [seat for seat in own if seat.connection is None]
        return next(iter(gone), own[0] if len(own) == 1 else None)

    def _request_table(self, connection: TenhouConnection, wish: wire.RequestTable) -> None:
        self._check(wish.table_type)
        self._requests[connection] = wish.table_type
        if connection not in self._waiting:
            self._waiting[connection] = asyncio.create_task(self._wait(connection))
        if connection.seat is None:
            limits = self._rules.tenhou_limits or time_limits(wish.table_type.type)
            gpid = f"{secrets.token_hex(8)}-{secrets.token_hex(8)}".upper()
            seat = TenhouSeat(connection, wish.table_type, gpid, limits, self._players)
            try:
                self._lobby.take(next(iter(self._lobby.rooms)), seat)
            except BusyError:
                return  # it will be asked to request it again
            connection.seat = seat
            self._lobby.log_join(seat)

    def _check(self, table_type: TableType) -> None:
        check_playable(table_type.type, "JOIN.t", players=(3, 4))
        usual = game_type(self._rules.game)
        if table_type.type & _FIXED != usual or table_type.type & ~_ROOMS:
            problem = f"a table of type {table_type.type} is not played here, ask for {int(usual)}"
            raise ProtocolError("JOIN.t", problem)
        _check_lobby(table_type.lobby, "JOIN.t")

    async def _wait(self, connection: TenhouConnection) -> None:
        """Ask waiting clients to request their table again, now and then."""
        while True:
            await asyncio.sleep(REJOIN_S)
            if connection.server.place is not wire.ClientPlace.LOBBY:
                return
            table_type = self._requests.pop(connection, None)
            if table_type is None:  # was asked, and has not requested it
                self._give_up_place(connection)
                del self._waiting[connection]
                connection.idle_since = now()
                return
            connection.send(connection.server.rejoin(table_type))

    def _stop_waiting(self, connection: TenhouConnection) -> None:
        self._requests.pop(connection, None)
        if (task := self._waiting.pop(connection, None)) is not None:
            task.cancel()

    def _give_up_place(self, connection: TenhouConnection) -> None:
        seat = connection.seat
        if seat is not None and self._lobby.leave(seat):
            connection.seat = None


def _check_lobby(lobby: int, where: str) -> int:
    if not 0 <= lobby <= _LAST_LOBBY:
        raise ProtocolError(where, f"no lobby is called {lobby}, expected 0..{_LAST_LOBBY}")
    return lobby
