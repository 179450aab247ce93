"""External AIs in the arena: long-lived processes that play over a loopback socket."""

import contextlib
import signal
import socket
import subprocess
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Final

from mjbot.play.match.players import MatchPlayer
from mjbot.play.server.core import EXCUSED, SeatReply
from mjbot.play.server.seats import patience_s
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.framing import LineBuffer
from mjbot.protocol.messages import Error, Event
from mjbot.protocol.sessions.lockstep_server import FaultError, JoinRefusedError, LockstepSession
from mjbot.runtime.processes import describe_exit, last_line
from mjbot.runtime.system import KILL, own_group, signal_group
from mjbot.strategy.faults import FaultKind

HOST: Final = "127.0.0.1"
JOIN_S: Final = 60.0
LOOK_S: Final = 0.5
EXIT_S: Final = 10.0
"""How long a process that has closed its connection may take to end: its last output come then."""
GRACE_S: Final = 2.0
"""How long a process may take to end after SIGTERM."""
MOST_STARTS: Final = 2
ROOM: Final = "arena"
MANY_GAMES: Final = 1_000_000_000


class EngineError(Exception):
    """The external AI does not play; the text is one line, ``kind`` whose fault it is."""

    def __init__(self, kind: FaultKind, text: str) -> None:
        super().__init__(text)
        self.kind: Final[FaultKind] = kind


class ExternalEngine:
    """One external AI at one seat after the other; ``player`` has its command.

    Between games its next connection already waits at our listener: should this process be killed,
    both connections end, and so does it.
    """

    def __init__(self, player: MatchPlayer) -> None:
        self._player: Final = player
        self._listener: Final = socket.create_server((HOST, 0))
        self._listener.settimeout(LOOK_S)
        self._folder: Final = tempfile.TemporaryDirectory(prefix="mjbot-arena-")
        self._output: Final = Path(self._folder.name, "output.log")
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None

    @property
    def pid(self) -> int:
        """The process id, 0 if none runs."""
        return self._process.pid if self._process else 0

    def connect(self) -> None:
        """Bring it to a new game, in a new process if need be.  Raises :class:`EngineError`."""
        self._close()
        starts = 0
        until = time.monotonic() + JOIN_S
        while self._line is None:
            if self._process is None or self._process.poll() is not None:
                if starts == MOST_STARTS or time.monotonic() > until:
                    text = f"{self._player.spec} does not join: {self._exit_reason()}"
                    raise EngineError("crash", text)
                self._start()
                starts += 1
            with contextlib.suppress(TimeoutError):
                self._line, _ = self._listener.accept()
            if time.monotonic() > until and self._line is None:
                raise EngineError("late", f"{self._player.spec} has not come to the table")
        self._line.settimeout(JOIN_S)
        self._line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self._session = LockstepSession(None)  # this listener is its own: it may insist on a room
        self._buffer = LineBuffer()
        self._received: deque[bytes] = deque()
        self._unanswered_s = 0.0
        try:
            self._send(self._session.hello())
            self._session.join(self._receive())
        except (OSError, ProtocolError, JoinRefusedError, EOFError) as error:
            raise EngineError("crash", f"{self._player.spec} does not join: {error}") from None

    def exchange(self, message: Event | Error, limit_s: float, *, is_asked: bool) -> SeatReply:
        """Send it a message and return its answer, which a late one replaces by a safe action.

        As at a table, a late answer is dropped when it comes, and until then nothing is waited for
        where it is not asked.  Raises :class:`EngineError` when it has been silent for too long, is
        gone or breaks the protocol: it then has no part in the rest of the game.
        """
        assert self._line is not None
        self._line.settimeout(limit_s or None)
        try:
            self._send(self._session.send(message))
            if self._session.missing and not is_asked:
                self._session.forgo()
                return EXCUSED
            while self._session.is_missing(line := self._receive()):
                pass
            self._unanswered_s = 0.0
            reply = self._session.receive(line)
        except TimeoutError:
            return self._late(limit_s)
        except EOFError:
            raise EngineError("crash", f"it has gone: {self._exit_reason()}") from None
        except FaultError as fault:
            return SeatReply(problem=fault.reason, raw=fault.response)
        except (OSError, ProtocolError) as error:
            raise EngineError("crash", str(error)) from None
        return SeatReply(reply=reply, raw=line.decode("utf-8", "replace").strip())

    def _late(self, limit_s: float) -> SeatReply:
        self._session.timeout(limit_s)
        self._unanswered_s += limit_s
        if self._unanswered_s >= patience_s(limit_s):
            raise EngineError("late", f"no answer for {self._unanswered_s:g} s")
        return SeatReply(excused=True, kind="late", problem=f"no answer after {limit_s:g} s")

    def disconnect(self, message: Event | Error | None) -> None:
        """End its game, with a last message if it still listens."""
        with contextlib.suppress(OSError, AttributeError):
            if message is not None:
                self._send(self._session.last_line(message))
        self._close()
        if message is None or not self._player.plays_on:
            self._stop()

    def close(self) -> None:
        """End the process."""
        self._close()
        self._stop()
        self._listener.close()
        self._folder.cleanup()

    # --- inside ------------------------------------------------------------------------------

    def _start(self) -> None:
        url = f"mjsonp://{HOST}:{self._listener.getsockname()[1]}/{ROOM}"
        command = self._player.command(url, MANY_GAMES)
        try:
            with self._output.open("ab") as log:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    **own_group(),
                )
        except OSError as error:
            raise EngineError("crash", f"{self._player.spec} cannot run: {error}") from None

    def _stop(self) -> None:
        if self._process is not None:
            signal_group(self._process.pid, signal.SIGTERM)  # it may have processes of its own
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_S)
            signal_group(self._process.pid, KILL)
            self._process.wait()
            self._process = None

    def _close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def _send(self, line: bytes) -> None:
        assert self._line is not None
        self._line.sendall(line + b"\n")

    def _receive(self) -> bytes:
        """Return the next line.  Raises ``EOFError`` at the end of the stream."""
        assert self._line is not None
        while not self._received:
            data = self._line.recv(65536)
            if not data:
                raise EOFError("it closed the connection")
            self._received.extend(self._buffer.feed(data))
        return self._received.popleft()

    def _exit_reason(self) -> str:
        if self._process is None:
            return "it was not started"
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_S)
        status = self._process.returncode
        end = "it closed the connection" if status is None else describe_exit(status)
        with self._output.open("rb") as output:
            last = last_line(output)
        return f'{end} (its last output: "{last}")' if last else end
