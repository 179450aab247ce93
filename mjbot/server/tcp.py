"""The TCP door: the original server's handshake, one task per connection."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from mjbot.server.lobby import CROWDED, MOST_GUESTS, Lobby, TableRules
from mjbot.server.seats import TcpSeat, reject
from protocol.codec import encode
from protocol.dialects import LOCKSTEP
from protocol.errors import NOT_JSON, ProtocolError
from protocol.messages import Error
from protocol.sessions.lockstep_server import BUSY, JoinRefusedError, LockstepSession
from protocol.transports.base import SilenceError, Transport, TransportError
from protocol.transports.tcp import TcpTransport

CLOSED: Final = "The table is closed."


@dataclass(frozen=True)
class OwnDoor:
    """A door that leads to one room, whatever room a client names.

    ``on_refusal`` hears why a join was refused there, unless the room was only busy.
    """

    room: str
    on_refusal: Callable[[str], None] = lambda reason: None


class Acceptor:
    """Greets every connection and seats who joins properly.

    Unlike at the original server, a join that is no object, or one that never comes, costs only
    its own connection, and who leaves before the game frees the place.
    """

    def __init__(self, lobby: Lobby, rules: TableRules, own: "OwnDoor | None" = None) -> None:
        self._lobby: Final = lobby
        self._rules: Final = rules
        self._own: Final = own
        self._greetings: Final[set[asyncio.Task[None]]] = set()

    def admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Greet one accepted connection in a task of its own."""
        if len(self._greetings) >= MOST_GUESTS:
            writer.write(_error(CROWDED) + b"\n")
            writer.close()
            return
        # A coroutine would do, but then Python 3.11 prints a traceback if it is cancelled.
        task = asyncio.create_task(self.handshake(TcpTransport(reader, writer)))
        self._greetings.add(task)
        task.add_done_callback(self._greetings.discard)

    async def close(self) -> None:
        """Send away whoever has not joined yet."""
        greetings = set(self._greetings)
        for task in greetings:
            task.cancel()
        if greetings:
            await asyncio.wait(greetings)

    async def handshake(self, transport: Transport) -> None:
        """Shake hands over any transport."""
        seat = None
        try:
            seat = await self._handshake(transport)
        except asyncio.CancelledError:
            await reject(transport, _error(CLOSED))
            raise
        except JoinRefusedError as refusal:
            if self._own is not None and str(refusal) != BUSY:
                self._own.on_refusal(str(refusal))
            await reject(transport, refusal.line)
        except SilenceError:
            await reject(transport, _error(f"No join within {self._rules.join_timeout_s:g} sec."))
        except ProtocolError as error:
            await reject(transport, _error(f"{error}."))
        except TransportError:
            await reject(transport, None)
        if seat is not None:
            await self._await_game(seat)

    async def _handshake(self, transport: Transport) -> TcpSeat:
        await transport.send(LockstepSession().hello())
        line = await transport.receive(self._rules.join_timeout_s)
        room = self._own.room if self._own else self._room_of(line)
        session = LockstepSession(None if self._own else room)
        session.join(line, busy=self._lobby.is_busy(room))
        seat = TcpSeat(transport, session, self._rules.timeout_s, self._rules.on_fault)
        self._lobby.take(room, seat)
        return seat

    def _room_of(self, line: bytes) -> str:
        """Return which of our rooms a join names; the first of them if none."""
        rooms = self._lobby.rooms
        with contextlib.suppress(*NOT_JSON):
            match msgspec.json.decode(line):
                case {"room": str(room)} if room in rooms:
                    return room
        return next(iter(rooms))

    async def _await_game(self, seat: TcpSeat) -> None:
        if problem := await seat.idle():
            self._lobby.leave(seat)
            await seat.reject(_error(problem))


def _error(text: str) -> bytes:
    return encode(Error(message=text), LOCKSTEP)
