"""The TCP endpoint: the original server's handshake, one task per connection."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from mjbot.play.server.accounts import OPEN, TAKEN, Admission
from mjbot.play.server.lobby import CLOSED, BusyError, Lobby, TableRules
from mjbot.play.server.seats import TcpSeat, error_line, reject
from mjbot.protocol.errors import NOT_JSON, ProtocolError
from mjbot.protocol.framing import without_mark
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.sessions.lockstep_server import JoinRefusedError, LockstepSession
from mjbot.protocol.transports.base import SilenceError, Transport, TransportError
from mjbot.protocol.transports.tcp import TcpTransport
from mjbot.runtime.net.guests import CROWDED, Guest, Guests

logger = logging.getLogger(__name__)

_MOST_BLANKS: Final = 8
"""How many blank lines a client may send before it joins."""


@dataclass(frozen=True)
class OwnEndpoint:
    """An endpoint of one room, whatever room a client names.

    ``on_refusal`` receives the reason of a refused join, unless the room was only busy.
    """

    room: str
    on_refusal: Callable[[str], None] = lambda reason: None


class Acceptor:
    """Greets every connection and seats clients that join properly.

    Unlike at the original server, a join that is no object, or one that never comes, costs only
    its own connection, and a client that leaves before the game frees its place.
    """

    def __init__(
        self,
        lobby: Lobby,
        rules: TableRules,
        own: "OwnEndpoint | None" = None,
        admission: Admission = OPEN,
    ) -> None:
        self.guests: Final = Guests("mjsonp", admission.limits)
        self._accounts: Final = admission.accounts
        self._lobby: Final = lobby
        self._rules: Final = rules
        self._own: Final = own
        self._greetings: Final[dict[Guest, asyncio.Task[None]]] = {}

    def admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Greet one accepted connection in a task of its own."""
        guest = self.guests.admit(writer.get_extra_info("peername"))
        if guest is None:
            writer.write(error_line(CROWDED) + b"\n")
            writer.close()
            return
        # A coroutine would do, but then Python 3.11 prints a traceback if it is cancelled.
        task = asyncio.create_task(self.handshake(TcpTransport(reader, writer), guest))
        self._greetings[guest], guest.close = task, writer.transport.abort
        task.add_done_callback(lambda _: self._forget(guest))

    async def close(self) -> None:
        """Send all clients away that have not joined a game."""
        greetings = set(self._greetings.values())
        for guest in self._greetings:
            guest.close()  # a task that has not begun would be cancelled without closing anything
        if greetings:
            await asyncio.wait(greetings)

    async def handshake(self, transport: Transport, guest: Guest | None = None) -> None:
        """Shake hands over any transport."""
        guest, task = guest or Guest(), asyncio.current_task()
        assert task is not None
        guest.close = task.cancel  # from now on it can send the reason
        seat = None
        try:
            seat = await self._handshake(transport, guest)
        except asyncio.CancelledError:
            await reject(transport, error_line(CROWDED if guest.was_evicted else CLOSED))
            raise
        except JoinRefusedError as refusal:
            if self._own is not None:
                self._own.on_refusal(str(refusal))
            await self._refuse(transport, guest, str(refusal), refusal.line)
        except BusyError as refusal:
            await self._refuse(transport, guest, str(refusal))
        except SilenceError:
            text = f"No join within {self._rules.join_timeout_s:g} sec."
            await self._refuse(transport, guest, text)
        except ProtocolError as error:
            await self._refuse(transport, guest, f"{error}.")
        except TransportError:
            await reject(transport, None)
        if seat is not None:
            guest.sit()
            await self._await_game(seat)

    def _forget(self, guest: Guest) -> None:
        guest.leave()
        del self._greetings[guest]

    async def _refuse(
        self, transport: Transport, guest: Guest, text: str, line: bytes | None = None
    ) -> None:
        logger.info("%s: refused: %s", guest, one_line(text))
        await reject(transport, line or error_line(text))

    async def _handshake(self, transport: Transport, guest: Guest) -> TcpSeat:
        await transport.send(LockstepSession().hello())
        line = await self._first_line(transport)
        room = self._own.room if self._own else self._room_of(line)
        session = LockstepSession(None if self._own else room)
        session.join(line)
        if self._accounts is not None and session.name in self._accounts:
            raise ProtocolError("join.name", f"{TAKEN}; it plays over WebSocket")
        seat = TcpSeat(transport, session, self._rules.timeout_s, self._rules.on_fault)
        seat.guest = guest
        self._lobby.take(room, seat)
        return seat

    async def _first_line(self, transport: Transport) -> bytes:
        """Return the first line that is not blank, without a byte order mark."""
        line = b""
        for _ in range(_MOST_BLANKS):
            line = without_mark(await transport.receive(self._rules.join_timeout_s))
            if line.strip():
                break
        return line

    def _room_of(self, line: bytes) -> str:
        """Return which of our rooms a join names; the first of them if none."""
        rooms = self._lobby.rooms
        with contextlib.suppress(*NOT_JSON):
            match msgspec.json.decode(line):
                case {"room": str(room)} if room in rooms:
                    return room
        return next(iter(rooms))

    async def _await_game(self, seat: TcpSeat) -> None:
        self._lobby.log_join(seat)
        if problem := await seat.idle():
            self._lobby.leave(seat)
            await seat.dismiss(problem)
