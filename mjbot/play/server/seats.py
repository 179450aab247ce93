"""A player's line as the table uses it, and the original server's kind of it."""

import abc
import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mjbot.play.server.core import EXCUSED, OnFault, Outgoing, SeatReply
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import LOCKSTEP
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.messages import Error, Skip
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.sessions.lockstep_server import FaultError, LockstepSession
from mjbot.protocol.transports.base import SilenceError, Transport, TransportError
from mjbot.runtime.net.guests import Guest

logger = logging.getLogger(__name__)

UNANSWERED_S: Final = 60.0
"""After how long without an answer, of all questions in a row, a player is sent away."""

MOST_UNANSWERED: Final = 3
"""How many questions of a lock-step player that is, at least."""

FINAL_MESSAGE_TIMEOUT_S: Final = 2.0
"""How long a last message may take: the game is over, and a stuck reader is not waited for."""


class PlayerSeat(abc.ABC):
    """One player of one game, joined and named."""

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self.guest = Guest()
        """The connection that it came over, for the log."""
        self.is_account = False
        """Whether its name is that of an account, and it has shown the account's token."""
        self.waits_since = 0.0
        self._others: dict[int, PlayerSeat] = {}
        self._place = 0
        self._game = ""
        self._is_there = True

    def meet(self, seats: "Sequence[PlayerSeat]", game: str = "") -> None:
        """Take note of the players by seat: from now on they are notified when one leaves.

        ``game`` names table and game in the log.
        """
        self._place, self._game = seats.index(self), game
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

    def __str__(self) -> str:
        """Name the player as the log does: during a game with its seat, game and table."""
        where = f" (seat {self._place} in {self._game})" if self._game else ""
        return f"{one_line(self.name)}{where}"

    def log(self, event: str, level: int = logging.INFO) -> None:
        """Log what happens to the player."""
        logger.log(level, "%s: %s %s", self.guest, self, event)

    def _log_loss(self) -> None:
        """Log, during a game, that the connection is lost."""
        if self._others and self._is_there:
            self.log("lost its connection")

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

    A closed socket counts as ``none``; where the table continues after faults it is excused.  A
    reply that comes too late is dropped when it comes, and the player plays on: until then it is
    waited for only where it has a choice.  One that has not answered for :func:`patience_s` of such
    waiting in a row is sent away.
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
        self._unanswered_s = 0.0
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
                if self._session.missing and not outgoing.legal:
                    self._session.forgo()
                    return EXCUSED
                return await self._listen()
        except (TransportError, TimeoutError):  # not even our line went through
            self._leave()
        return self._no_reply()

    async def final_message(self, outgoing: Outgoing | None) -> None:
        """See :meth:`PlayerSeat.final_message`."""
        line = None if outgoing is None else self._session.last_line(outgoing.message)
        await reject(self._transport, line)

    async def dismiss(self, reason: str) -> None:
        """See :meth:`PlayerSeat.dismiss`."""
        try:
            await self.start()
        finally:  # also where that is cancelled
            await reject(self._transport, error_line(reason))

    async def _listen(self) -> SeatReply:
        dropped: list[bytes] = []
        try:
            while self._session.is_missing(line := await self._transport.receive(self._timeout_s)):
                dropped.append(line)
        except SilenceError:
            return replace(await self._late(), dropped=tuple(dropped))
        except ProtocolError as error:  # endless or cut off: where the next line begins is lost
            self._leave()
            return SeatReply(problem=f"{error}.", dropped=tuple(dropped))
        self._unanswered_s = 0.0
        return replace(self._read(line), line=line, dropped=tuple(dropped))

    def _read(self, line: bytes) -> SeatReply:
        try:
            reply = self._session.receive(line)
        except FaultError as fault:
            return SeatReply(problem=fault.reason, raw=fault.response)
        return SeatReply(reply=reply, raw="" if isinstance(reply, Skip) else _text(line))

    async def _late(self) -> SeatReply:
        """The reply has not come in time."""
        fault = self._session.timeout(self._timeout_s)
        self._unanswered_s += self._timeout_s
        if self._goes_on and self._unanswered_s >= patience_s(self._timeout_s):
            self._gone = True
            problem = f"No answer for {self._unanswered_s:g} s."
            self.log(f"is sent away: {problem}", logging.WARNING)
            self._notify_others(is_there=False)
            await reject(self._transport, error_line(problem))
        return SeatReply(problem=fault.reason, raw=fault.response, kind="late")

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
            return SeatReply(problem=fault.reason, raw=fault.response, kind="absent")


def patience_s(timeout_s: float) -> float:
    """Return how long a lock-step player is waited for in vain, all its questions in a row.

    >>> patience_s(60.0), patience_s(2.0)
    (180.0, 60.0)
    """
    return max(UNANSWERED_S, MOST_UNANSWERED * timeout_s)


async def reject(transport: Transport, line: bytes | None) -> None:
    """Send a last line, if it still goes through, and close, also where that is cancelled."""
    try:
        with contextlib.suppress(TransportError, TimeoutError):
            async with asyncio.timeout(FINAL_MESSAGE_TIMEOUT_S):
                if line is not None:
                    await transport.send(line)
    finally:
        with contextlib.suppress(TransportError, TimeoutError):
            async with asyncio.timeout(FINAL_MESSAGE_TIMEOUT_S):
                await transport.close()


def error_line(text: str) -> bytes:
    """Return the line that ends a conversation with a reason."""
    return encode(Error(message=text), LOCKSTEP)


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()
