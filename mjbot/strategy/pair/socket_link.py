"""The channel between two processes on this machine: a Unix domain socket or loopback TCP.

The host waits for the guest, the guest keeps coming back.  Everything runs in the event loop of
:meth:`SocketLink.run`; the strategy may live in a thread of its own.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import stat
import threading
import time
from pathlib import Path
from random import Random
from typing import Final

from msgspec.structs import replace

from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.transports.base import TransportError
from mjbot.protocol.transports.tcp import TcpTransport
from mjbot.runtime.net.backoff import Backoff
from mjbot.runtime.system import (
    HAS_UNIX_SOCKETS,
    LONGEST_PATH_BYTES,
    open_unix_connection,
    peer_user,
    start_unix_server,
    unix_socket,
    user_id,
)
from mjbot.strategy.pair.link import PATIENCE_MS, Fits, Link
from mjbot.strategy.pair.messages import GameHello, SharedHand
from mjbot.strategy.pair.session import PairSession, Side

logger = logging.getLogger(__name__)

ChannelAddress = Path | int
"""A Unix domain socket's file, or a TCP port of this machine."""

FIRST_PAUSE_S: Final = 0.2
LONGEST_PAUSE_S: Final = 5.0
"""Between a guest's attempts: the first as long as no process listens, longer ones where the
process that does is no partner."""
HANDSHAKE_S: Final = 5.0
LOOPBACK: Final = "127.0.0.1"


def fits_a_socket(file: Path) -> bool:
    """Return whether a Unix domain socket of this machine can be called that."""
    return HAS_UNIX_SOCKETS and len(os.fsencode(file)) <= LONGEST_PATH_BYTES


class SocketLink(Link):
    """One end of the channel of one process, good for all its games.

    A lost partner is waited for (host) or called again (guest); until then the strategy plays
    alone, and when the partner is back it receives the last message at once.  ``waits`` counts
    the decisions that have waited for a word, ``pauses`` are those between a guest's attempts.

    Each side names its game by a token of its own, and believes only what answers that: a word
    of an earlier game can look like one of this game, but cannot know its token.  So a partner
    whose connection broke accepts what was sent meanwhile; one that has been started again has
    a new token, and accepts the first message after it has come.
    """

    def __init__(
        self,
        side: Side,
        address: ChannelAddress,
        secret: bytes,
        pauses: Backoff | None = None,
    ) -> None:
        self._side: Final = side
        self._address: Final = address
        self._secret: Final = secret
        self._pauses: Final = pauses or Backoff(FIRST_PAUSE_S, LONGEST_PAUSE_S, Random())
        self._changed: Final = threading.Condition()
        self._newest: SharedHand | None = None
        self._linked = False
        self._patient = True
        self.waits = 0
        self._own_game: GameHello | None = None
        self._their_game: str | None = None
        self._sent: SharedHand | None = None
        self._to_send: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._current: asyncio.Task[None] | None = None
        self._conversations: set[asyncio.Task[None]] = set()
        self._met_unknown_peer = False
        self._broke_off = False

    # --- the strategy's side -----------------------------------------------------------------

    @property
    def linked(self) -> bool:
        """Whether the partner is there and has authenticated."""
        return self._linked

    def start_game(self) -> None:
        """Accept messages of this game only; see :class:`Link`."""
        with self._changed:
            self._own_game = GameHello(game=secrets.token_hex(8))
            self._newest = self._sent = None
        self._wake()

    def send(self, holding: SharedHand) -> None:
        """Send the own seat's hand; see :class:`Link`."""
        self._sent = replace(holding, answers=self._their_game)
        self._wake()

    def _wake(self) -> None:
        loop, wake = self._loop, self._to_send
        if loop is not None and wake is not None:
            with contextlib.suppress(RuntimeError):  # the loop has been closed meanwhile
                loop.call_soon_threadsafe(wake.set)

    def newest(self, fits: Fits) -> SharedHand | None:
        """Return the partner's last word if it fits; see :class:`Link`.

        A partner that was waited for in vain is not waited for again before its next word.
        """
        deadline = time.monotonic() + PATIENCE_MS / 1000
        waits = self.waits + 1
        with self._changed:
            while True:
                if (newest := self._newest) is not None and self._answers(newest) and fits(newest):
                    return newest
                left = deadline - time.monotonic()
                if not (self._linked and self._patient):
                    return None
                self.waits = waits
                if left <= 0 or not self._changed.wait(left):
                    self._patient = False

    def _answers(self, newest: SharedHand) -> bool:
        return newest.answers == (self._own_game.game if self._own_game else None)

    # --- the event loop's side ---------------------------------------------------------------

    async def run(self) -> None:
        """Keep the channel up until cancelled; raises ``OSError`` where a host cannot listen."""
        self._loop, self._to_send = asyncio.get_running_loop(), asyncio.Event()
        try:
            await (self._host() if self._side is Side.HOST else self._visit())
        finally:
            for task in self._conversations:
                task.cancel()
            self._let_go()

    async def _host(self) -> None:
        if isinstance(self._address, Path):
            server = await start_unix_server(self._welcome, _bound(self._address))
        else:
            server = await asyncio.start_server(self._welcome, LOOPBACK, self._address)
        try:
            await asyncio.Future()
        finally:
            # Not `async with` or serve_forever: from Python 3.12 on both wait for every
            # connection to end, and ours are cancelled only after this.
            server.close()

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._conversations.add(task)
        # No caller waits for this task, and Python 3.11 prints a traceback where it was cancelled.
        with contextlib.suppress(asyncio.CancelledError):
            try:
                await self._converse(TcpTransport(reader, writer))
            finally:
                self._conversations.discard(task)

    async def _visit(self) -> None:
        while True:
            try:
                streams = await self._connect()
                _require_own_user(streams[1])
            except OSError:
                self._pauses.reset()  # not there yet
            except ProtocolError as error:
                self._report(error, linked=False)
            else:
                with contextlib.suppress(OSError):
                    await self._converse(TcpTransport(*streams))
                if not self._met_unknown_peer:
                    self._pauses.reset()
            await asyncio.sleep(self._pauses.next_s())

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._address, Path):
            return await open_unix_connection(self._address)
        return await asyncio.open_connection(LOOPBACK, self._address)

    async def _converse(self, transport: TcpTransport) -> None:
        """Talk over one connection until it breaks; never raises but for cancellation."""
        session = PairSession(self._side, self._secret)
        sender: asyncio.Task[None] | None = None
        try:
            await transport.send(session.opening)
            while True:
                line = await transport.receive(None if session.linked else HANDSHAKE_S)
                before = session.newest
                answer = session.receive(line)
                if answer is not None:
                    await transport.send(answer)
                if session.linked and sender is None:
                    sender = self._take_over(transport, session)
                if sender is not None and sender is self._current:
                    self._their_game = session.game or self._their_game
                    if session.newest is not before:
                        self._receive(session.newest)
        except asyncio.CancelledError:
            self._let_go()  # this side ends: it is not the partner that is gone
            raise
        except (TransportError, ProtocolError) as error:
            self._report(error, linked=session.linked)
        finally:
            if sender is not None:
                sender.cancel()
                if sender is self._current:
                    self._lose()
            await transport.close()

    def _report(self, error: Exception, *, linked: bool) -> None:
        """Log why a conversation ended; where no partner was linked, each cause only once."""
        if linked:
            logger.info("pair channel: %s", one_line(error))
        elif isinstance(error, ProtocolError):
            if not self._met_unknown_peer:
                self._met_unknown_peer = True
                text = one_line(error)
                logger.warning("pair channel: no partner at the other end: %s", text)
        elif not self._broke_off:
            self._broke_off = True
            logger.info("pair channel: %s", one_line(error))

    def _take_over(self, transport: TcpTransport, session: PairSession) -> asyncio.Task[None]:
        """Make this the connection that counts: a partner that comes anew has lost the old one."""
        if self._current is not None:
            self._current.cancel()
        self._current = asyncio.create_task(self._send_changes(transport, session))
        self._met_unknown_peer = self._broke_off = False
        self._pauses.reset()
        logger.info("pair channel: the partner is there")
        with self._changed:
            self._linked = self._patient = True
            self._newest = None
        return self._current

    async def _send_changes(self, transport: TcpTransport, session: PairSession) -> None:
        """Send the last message, and each new one; older ones are skipped."""
        assert self._to_send is not None
        sent: set[GameHello | SharedHand | None] = {None}
        with contextlib.suppress(TransportError):
            while True:
                self._to_send.clear()
                now = (self._own_game, self._sent)
                for message in now:
                    if message is not None and message not in sent:
                        await transport.send(session.send(message))
                sent = {None, *now}
                if now == (self._own_game, self._sent):
                    await self._to_send.wait()

    def _receive(self, holding: SharedHand | None) -> None:
        with self._changed:
            self._newest = holding
            self._patient = True
            self._changed.notify_all()

    def _lose(self) -> None:
        logger.warning("pair channel: the partner is gone; playing alone until it is back")
        self._let_go()

    def _let_go(self) -> None:
        with self._changed:
            self._linked, self._newest, self._current = False, None, None
            self._changed.notify_all()


def _bound(file: Path) -> socket.socket:
    """Return a socket of mode 600 that does not listen yet, so nothing connects before it has it.

    A socket that a killed host left there is replaced.  Raises ``OSError``.
    """
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISSOCK(file.lstat().st_mode):
            file.unlink()
    listener = unix_socket()
    try:
        listener.bind(os.fspath(file))
        file.chmod(0o600)
    except OSError:
        listener.close()
        raise
    return listener


def _require_own_user(writer: asyncio.StreamWriter) -> None:
    """Raise :class:`ProtocolError` if another user listens at the socket (Linux only)."""
    user = peer_user(writer.get_extra_info("socket"))
    if user not in (None, user_id(), 0):
        writer.transport.abort()
        raise ProtocolError("pair.socket", f"user {user} listens there; name another address")
