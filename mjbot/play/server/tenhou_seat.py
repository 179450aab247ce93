"""A player on Tenhou's wire, as the table uses it: its connection, its clock, its seat.

The seat outlives connections (:mod:`mjbot.protocol.tenhou.table`).  While its player is gone the
table acts for it, after a short delay in which a client can reconnect to the same hand.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Final

from mjbot.game.table.legal import is_furiten
from mjbot.play.server.core import EXCUSED, Outgoing, SeatReply
from mjbot.play.server.seats import FINAL_MESSAGE_TIMEOUT_S, UNANSWERED_S, PlayerSeat, reject
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.messages import EndGame, Event, StartGame, StartKyoku
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.sessions.request_server import TimeLimits
from mjbot.protocol.tenhou.codec import MAX_TAG_BYTES, Spelling
from mjbot.protocol.tenhou.login import TableType
from mjbot.protocol.tenhou.server import ClientPlace, Incoming, TenhouServer
from mjbot.protocol.tenhou.table import SeatTable
from mjbot.protocol.transports.base import Transport, TransportError
from mjbot.runtime.net.guests import Guest

logger = logging.getLogger(__name__)

READY_S: Final = 10.0
"""How long a deal waits for ``NEXTREADY``."""

GOODBYE_S: Final = 10.0
"""How long the line stays open after the last result: clients show it for 3 to 5 s, then answer."""

RETURN_S: Final = 3.0
"""How long the table waits, after a loss, before it acts for a disconnected player."""

MOST_RETURNS: Final = 5
"""How often a refused client may come back."""

MOST_FRAMES: Final = 1024
"""How many frames may wait to be sent; a hand has some 200."""

MOST_BYTES: Final = MAX_TAG_BYTES
"""Bytes that a client may send between two server messages; an answer is below 100."""


class TenhouConnection:
    """One client's line: a session, and frames on their way out.  ``seat`` is what it plays."""

    def __init__(
        self, transport: Transport, spelling: Spelling, guest: Guest | None = None
    ) -> None:
        self.guest: Final = guest or Guest()
        self.idle_since = now()
        """When it connected, logged in or withdrew its request for a table."""
        self.server: Final = TenhouServer(spelling)
        self.name = "a Tenhou client"
        self.account = ""
        self.lobby = 0
        self.seat: TenhouSeat | None = None
        self.transport: Final = transport
        self.ends: Callable[[], object] = lambda: None
        self._received_bytes = 0
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._sender: Final = asyncio.create_task(self._send())

    def receive(self, data: bytes) -> Incoming:
        """Take in what came, and send what it asks for; raises :class:`ProtocolError`."""
        self._received_bytes += len(data)
        incoming = self.server.receive(data)
        if self._received_bytes > MOST_BYTES:
            raise ProtocolError("stream", "far more was sent than asked for")
        self._put(incoming.frames)
        return incoming

    def send(self, frames: tuple[bytes, ...]) -> None:
        """Send frames, in their order; a client that does not read them is disconnected."""
        self._received_bytes = 0
        self._put(frames)

    def _put(self, frames: tuple[bytes, ...]) -> None:
        for frame in frames:
            self._frames.put_nowait(frame)
        if self._frames.qsize() > MOST_FRAMES:
            self.refuse("what is sent to it is not read")

    def refuse(self, problem: object) -> None:
        """Log in one line why the connection is closed, and close it."""
        text = f"is cut off: {one_line(problem)}"
        who = one_line(self.name) if self.seat is None else self.seat
        logger.warning("%s: %s %s", self.guest, who, text)
        self.ends()

    async def close(self) -> None:
        """Send what is left, if it still goes through, and close."""
        self._frames.put_nowait(None)
        try:
            await asyncio.wait({self._sender}, timeout=FINAL_MESSAGE_TIMEOUT_S)
            self._sender.cancel()
            await asyncio.wait({self._sender})
        finally:  # also where the server closes all connections meanwhile
            self._sender.cancel()
            await reject(self.transport, None)

    async def _send(self) -> None:
        with contextlib.suppress(TransportError):  # the receiver is notified as well
            while frames := await self._waiting_frames():
                for piece in (
                    frames if self.server.spelling is Spelling.JSON else [b"".join(frames)]
                ):
                    await self.transport.send(piece)

    async def _waiting_frames(self) -> list[bytes]:
        """Return all frames that wait, none where the connection is to be closed.

        Frames of a stream go out in one write, as Tenhou's do: clients read ``GO``, ``UN`` and
        ``TAIKYOKU`` in one piece, and drop a deal that comes behind them in another.
        """
        frames = []
        frame = await self._frames.get()
        while frame is not None:
            frames.append(frame)
            if self._frames.empty():
                return frames
            frame = self._frames.get_nowait()
        if frames:
            self._frames.put_nowait(None)
        return frames


class TenhouSeat(PlayerSeat):
    """A player of one game.  ``players`` are those of the same kind at the table."""

    def __init__(
        self,
        connection: TenhouConnection,
        table_type: TableType,
        gpid: str,
        limits: TimeLimits,
        players: "list[TenhouSeat]",
    ) -> None:
        super().__init__(connection.name)
        self.guest = connection.guest
        self.account: Final = connection.account
        self.connection: TenhouConnection | None = connection
        self.gpid: Final = gpid
        self.table: SeatTable | None = None
        self.has_left = False
        self._table_type: Final = table_type
        self._limits: Final = limits
        self._players: Final = players
        self._changed: Final = asyncio.Event()
        self._bank_s = 0.0
        self._hand = "the first deal"
        self._ready_by = self._lost_at = 0.0
        self._unanswered_s = 0.0
        self._sent_away = 0
        self._away: set[int] = set()

    @property
    def may_return(self) -> bool:
        """Whether the player may come back once more."""
        return self._sent_away <= MOST_RETURNS

    # --- what the table calls ----------------------------------------------------------------

    async def start(self) -> None:
        """See :meth:`PlayerSeat.start`."""

    async def exchange(self, outgoing: Outgoing) -> SeatReply:
        """See :meth:`PlayerSeat.exchange`."""
        assert isinstance(outgoing.message, Event)
        table = self.table or self._sit_down(outgoing.seat)
        deal = outgoing.message if isinstance(outgoing.message, StartKyoku) else None
        if outgoing.legal or deal:
            await self._wait_for_return()
        self._send_event(table, outgoing)
        if deal:
            self._ready_by = now() + READY_S
            self._bank_s = self._limits.bank_ms / 1000
            self._hand = f"{deal.bakaze}{deal.kyoku}-{deal.honba}"
        if isinstance(outgoing.message, StartGame):
            self._send_disconnected()
        if not outgoing.legal:
            return EXCUSED
        return await self._answer(table)

    async def final_message(self, outgoing: Outgoing | None) -> None:
        """See :meth:`PlayerSeat.final_message`; no tag reports a game without a result."""
        if (
            outgoing is not None
            and isinstance(outgoing.message, EndGame)
            and self.table is not None
        ):
            await self._wait_for_return()
            self._send_event(self.table, outgoing)
            gone = now() + (GOODBYE_S if self.connection is not None else 0.0)
            await self._until(lambda: self.has_left or self.connection is None, gone)
        if self in self._players:
            self._players.remove(self)
        if self.connection is not None:
            self.connection.ends()

    # --- what the endpoint calls -----------------------------------------------------------------

    def take_note(self, *, leaves: bool) -> None:
        """Something was received from the player, which may have left after the game."""
        self.has_left = leaves and self.table is not None and self.table.is_over
        self._changed.set()

    def lose(self) -> None:
        """The connection is lost."""
        self.connection, self._lost_at = None, now()
        if self.table is not None:
            self.table.take_ready()
            self.table.expire()
        if self._others and not self.has_left:
            self.log(f"is gone in {self._hand}")
            self._notify_others(is_there=False)
        self._changed.set()

    def come_back(self, connection: TenhouConnection) -> None:
        """Continue over another connection."""
        assert self.table is not None
        before, self.connection, connection.seat = self.connection, connection, self
        if before is not None:
            before.seat = None
            before.ends()
        connection.name = self.name
        connection.send(connection.server.sit_again(self.table))
        self._send_disconnected()
        self._unanswered_s = 0.0
        self.guest = connection.guest
        self.log(f"is back in {self._hand}")
        self._notify_others(is_there=True)
        self._changed.set()

    # --- what the other seats call -----------------------------------------------------------

    def notify(self, seat: int, *, is_there: bool) -> None:
        """See :meth:`PlayerSeat.hear_of`."""
        (self._away.discard if is_there else self._away.add)(seat)
        if self.connection is not None and self.table is not None and not self.table.is_over:
            tag = self.table.returning(seat) if is_there else self.table.leaving(seat)
            self.connection.send(self.connection.server.send_tag(tag))

    def _send_disconnected(self) -> None:
        for seat in sorted(self._away):
            self.notify(seat, is_there=False)

    # --- inside ------------------------------------------------------------------------------

    def _sit_down(self, seat: int) -> SeatTable:
        table = SeatTable(seat, self._table_type.type, self.gpid, self._table_type.lobby)
        self.table = table
        self._players.append(self)
        if self.connection is not None and self.connection.server.place is ClientPlace.LOBBY:
            self.connection.server.sit(table)
        return table

    def _send_event(self, table: SeatTable, outgoing: Outgoing) -> None:
        """Send an event; the seat of a disconnected player takes it as well, for a reconnect."""
        assert isinstance(outgoing.message, Event)
        lamp = bool(is_furiten(outgoing.referee.state, outgoing.seat))
        if self.connection is None:
            table.send(outgoing.message, outgoing.offers(), lamp)
            table.take_ready()
            table.expire()
            return
        try:
            self.connection.send(
                self.connection.server.send(outgoing.message, outgoing.offers(), lamp)
            )
        except ProtocolError as error:  # what the player had sent before it was asked
            table.expire()
            self.connection.refuse(error)

    async def _answer(self, table: SeatTable) -> SeatReply:
        await self._until(lambda: not table.held, self._ready_by)
        if table.held and self.connection is not None:
            self.connection.send(self.connection.server.go_on())
        grace_s, asked_at = self._limits.grace_ms / 1000, now()
        await self._until(lambda: not table.asked, asked_at + grace_s + self._bank_s)
        took_s = now() - asked_at
        self._bank_s -= min(self._bank_s, max(0.0, took_s - grace_s))
        self._unanswered_s = self._unanswered_s + took_s if table.asked else 0.0
        if table.asked:
            table.expire()
        if self._unanswered_s >= UNANSWERED_S and self.connection is not None:
            self._sent_away += 1
            self.connection.refuse(f"it has answered nothing for {UNANSWERED_S:g} s")
        reply = table.take_answer()
        if reply is not None:
            return SeatReply(reply=reply)
        return SeatReply(excused=True, kind="absent" if self.connection is None else "late")

    async def _wait_for_return(self) -> None:
        await self._until(lambda: self.connection is not None, self._lost_at + RETURN_S)

    async def _until(self, condition: Callable[[], bool], deadline: float) -> None:
        """Return as soon as ``condition`` holds, at the deadline at the latest."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                while not condition():
                    self._changed.clear()
                    await self._changed.wait()


def now() -> float:
    """Return the time of the running loop, in seconds."""
    return asyncio.get_running_loop().time()
