"""A player's line as the table uses it, and the original server's kind of it."""

import abc
import asyncio
import contextlib
import logging
from collections.abc import Sequence
from typing import Final

from mjbot.listeners.guests import Guest
from mjbot.server.core import EXCUSED, OnFault, Outgoing, SeatReply
from protocol.codec import encode
from protocol.dialects import LOCKSTEP
from protocol.errors import ProtocolError
from protocol.messages import Error, Skip
from protocol.plain_text import one_line
from protocol.sessions.lockstep_server import FaultError, LockstepSession
from protocol.transports.base import SilenceError, Transport, TransportError

logger = logging.getLogger(__name__)

FINAL_MESSAGE_TIMEOUT_S: Final = 2.0
"""How long a last message may take: the game is over, and a stuck reader is not waited for."""


class PlayerSeat(abc.ABC):
    """One player of one game, joined and named."""

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self.guest = Guest()
        """The connection that it came over, for the log."""
        self._others: dict[int, PlayerSeat] = {}
        self._place = 0
        self._is_there = True

    def meet(self, seats: "Sequence[PlayerSeat]") -> None:
        """Take note of the players by seat: from now on they are notified when one leaves."""
        self._place = seats.index(self)
        self._others = {at: seat for at, seat in enumerate(seats) if seat is not self}

    def part(self) -> None:
        """Forget the others: a cycle of references stays in memory until cycles are collected."""
        self._others = {}

    def notify(self, seat: int, *, is_there: bool) -> None:  # noqa: B027 most have no word for it
        """Another player has left, or is back."""

    def _notify_others(self, *, is_there: bool) -> None:
        """Notify the others, once each time, that this player has left or is back."""
        if self._others and self._is_there is not is_there:
            self._is_there = is_there
            for other in self._others.values():
                other.notify(self._place, is_there=is_there)

    def _log_loss(self) -> None:
        """Log, during a game, that the connection is lost."""
        if self._others and self._is_there:
            logger.info("%s: %s lost its connection", self.guest, one_line(self.name))

    async def dismiss(self, reason: str) -> None:
        """Send the player away before its game, with the reason where its protocol has a field."""
        await self.final_message(None)

    @abc.abstractmethod
    async def start(self) -> None:
        """The game begins: from now on whatever comes is an answer."""

    @abc.abstractmethod
    async def exchange(self, outgoing: Outgoing) -> SeatReply:
        """Send the player a message and return its answer; never raises, never waits forever."""

    @abc.abstractmethod
    async def final_message(self, outgoing: Outgoing | None) -> None:
        """Send the player a final message, if any, and close its line."""


class TcpSeat(PlayerSeat):
    """A player that owes one line for every event (docs/protocol.md, section 4).

    A closed socket counts as ``none``; where the table continues after faults it is excused, and so
    is a player that was too late once: its next line could only answer something else.
    """

    def __init__(
        self, transport: Transport, session: LockstepSession, timeout_s: float, on_fault: OnFault
    ) -> None:
        super().__init__(session.name or "")
        self._transport: Final = transport
        self._session: Final = session
        self._timeout_s: Final = timeout_s
        self._goes_on: Final = on_fault is not OnFault.ABORT
        self._gone = False
        self._idling: asyncio.Task[bytes] | None = None

    async def idle(self) -> str | None:
        """Watch the line until the game starts; return what went wrong, ``None`` if it starts."""
        self._idling = asyncio.create_task(self._transport.receive())
        try:
            await self._idling
        except asyncio.CancelledError:
            return None
        except (TransportError, ProtocolError) as error:
            return str(error)
        return "Nothing may be sent before start_game."

    async def start(self) -> None:
        """See :meth:`PlayerSeat.start`."""
        if self._idling is not None:
            self._idling.cancel()
            # Two readers of one stream are an error: the first must really be gone.
            await asyncio.wait({self._idling})

    async def exchange(self, outgoing: Outgoing) -> SeatReply:
        """See :meth:`PlayerSeat.exchange`."""
        if self._gone and self._goes_on:
            return EXCUSED
        line = self._session.send(outgoing.message)
        try:
            if not self._gone:
                async with asyncio.timeout(self._timeout_s):
                    await self._transport.send(line)
                return await self._listen()
        except (TransportError, TimeoutError):  # not even our line went through
            self._leave()
        return self._no_reply()

    async def final_message(self, outgoing: Outgoing | None) -> None:
        """See :meth:`PlayerSeat.final_message`."""
        line = None if outgoing is None else encode(outgoing.message, LOCKSTEP)
        await reject(self._transport, line)

    async def dismiss(self, reason: str) -> None:
        """See :meth:`PlayerSeat.dismiss`."""
        await self.start()
        await reject(self._transport, error_line(reason))

    async def _listen(self) -> SeatReply:
        try:
            line = await self._transport.receive(self._timeout_s)
        except SilenceError:
            fault = self._session.timeout(self._timeout_s)
            self._leave()
            return SeatReply(problem=fault.reason, raw=fault.response)
        except ProtocolError as error:  # endless or cut off: where the next line begins is lost
            self._leave()
            return SeatReply(problem=f"{error}.")
        try:
            reply = self._session.receive(line)
        except FaultError as fault:
            return SeatReply(problem=fault.reason, raw=fault.response, lines=(line,))
        raw = "" if isinstance(reply, Skip) else _text(line)
        return SeatReply(reply=reply, raw=raw, lines=(line,))

    def _leave(self) -> None:
        self._gone = True
        self._log_loss()
        self._notify_others(is_there=False)

    def _no_reply(self) -> SeatReply:
        if self._goes_on:
            return EXCUSED
        try:
            return SeatReply(reply=self._session.vanish())
        except FaultError as fault:
            return SeatReply(problem=fault.reason, raw=fault.response)


async def reject(transport: Transport, line: bytes | None) -> None:
    """Send a last line, if it still goes through, and close."""
    with contextlib.suppress(TransportError, TimeoutError):
        async with asyncio.timeout(FINAL_MESSAGE_TIMEOUT_S):
            if line is not None:
                await transport.send(line)
    with contextlib.suppress(TransportError, TimeoutError):
        async with asyncio.timeout(FINAL_MESSAGE_TIMEOUT_S):
            await transport.close()


def error_line(text: str) -> bytes:
    """Return the line that ends a conversation with a reason."""
    return encode(Error(message=text), LOCKSTEP)


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()
