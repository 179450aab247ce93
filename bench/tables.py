"""Many tables in one server: how long from a player's answer to the next question at its table.

The server is a process of its own (``mjbot serve`` with a room for each table), the players are
WebSocket clients of this process that do little else: they pass, or discard what they drew, at once
or after a random time.  A time is
measured here, from sending an answer until a client of the same table receives its next request; it
has everything in it: both processes, the sockets, the events between.
"""

import argparse
import asyncio
import contextlib
import os
import struct
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

from mjbot.runtime.processors import worker_count

HOST: Final = "127.0.0.1"
PLAYERS: Final = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m bench tables``."""
    parser.add_argument("--tables", type=int, default=50, help="tables at once (50)")
    parser.add_argument("--think-s", type=float, default=0.0, help="longest time to think (0)")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (60)")


def run(args: argparse.Namespace) -> int:
    """Play, and print the times."""
    with tempfile.TemporaryDirectory(prefix="mjbot-tables-") as folder:
        return asyncio.run(_Load(args.tables, args.think_s, Path(folder)).run(args.seconds))


class _Load:
    def __init__(self, tables: int, think_s: float, folder: Path) -> None:
        self._rooms: Final = [f"r{number}" for number in range(tables)]
        self._folder: Final = folder
        self._think_s: Final = think_s
        self._random: Final = Random(0)
        self.answered: Final[dict[str, float]] = {}
        self._times: list[float] = []
        self.games = 0

    async def run(self, seconds: float) -> int:
        """Start the server and the players; measure after a quarter of the time."""
        first, *more = self._rooms
        players = str(2 * PLAYERS * len(self._rooms))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mjbot", "serve", "--port", "0", "--room", first),
            *(("--more-rooms", ",".join(more)) if more else ("--tables", "2")),
            *("--length", "tonpu", "--games", "1000000", "--log-dir", str(self._folder)),
            *("--connections", players, "--per-address", players),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            port = await _port_of(process)
            tasks = [
                asyncio.create_task(self._come_again(port, room))
                for room in self._rooms
                for _ in range(PLAYERS)
            ]
            await asyncio.sleep(seconds / 4)
            self._times, before, begun = [], _processor_s(process.pid), time.perf_counter()
            await asyncio.sleep(3 * seconds / 4)
            self._print(_processor_s(process.pid) - before, time.perf_counter() - begun)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            process.kill()
            await process.wait()
        return int(not self._times)

    async def _come_again(self, port: int, room: str) -> None:
        loop = asyncio.get_running_loop()
        while True:
            with contextlib.suppress(OSError):
                _, player = await loop.create_connection(lambda: _Player(self, room), HOST, port)
                await player.done
            await asyncio.sleep(0.05)

    def note_question(self, room: str) -> None:
        """Keep the time since the room's last answer, if this is the first question after it."""
        if (answered := self.answered.pop(room, None)) is not None:
            self._times.append(time.perf_counter() - answered)

    def next_think_s(self) -> float:
        """Return how long a player thinks."""
        return self._random.uniform(0, self._think_s) if self._think_s else 0.0

    def _print(self, used_s: float, took_s: float) -> None:
        times = sorted(self._times)
        print(f"{len(self._rooms)} tables, {PLAYERS * len(self._rooms)} players, load average "
              f"{os.getloadavg()[0]:.1f} on {worker_count()} processors")  # fmt: skip
        if times:
            figures = [
                f"{100 * q:g}%: {1000 * times[int(q * (len(times) - 1))]:.2f} ms"
                for q in (0.5, 0.9, 0.99, 0.999)
            ]
            print(f"from an answer to the next question: {', '.join(figures)}, "
                  f"longest {1000 * times[-1]:.0f} ms")  # fmt: skip
            rate, cost_us = len(times) / took_s, 1e6 * used_s / len(times)
            print(f"{rate:.0f} questions a second, {cost_us:.0f} us of the server's processor time "
                  f"each, {100 * used_s / took_s:.0f}% of a processor; {self.games // PLAYERS} "
                  "games have ended")  # fmt: skip


class _Request(msgspec.Struct):
    request_id: int
    possible_actions: list[dict[str, Any]]


class _Player(asyncio.Protocol):
    """Plays one game over one connection, with as little work as a WebSocket client can do.

    What it takes to read a frame is part of the measured time.  Frames are masked with
    zeros, which changes nothing.
    """

    def __init__(self, load: _Load, room: str) -> None:
        self._load: Final = load
        self._room: Final = room
        self._received = b""
        self._is_open = False
        self._transport: asyncio.Transport
        self.done: Final = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        head = f"GET /ws/{self._room} HTTP/1.1\r\nHost: {HOST}\r\nUpgrade: websocket\r\n"
        key = "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
        self._transport.write(f"{head}{key}dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._is_open:
            _, self._is_open, self._received = _split(self._received)
        while (frame := _next_frame(self._received)) is not None:
            opcode, payload, size = frame
            self._received = self._received[size:]
            if opcode == TEXT:
                self._take(payload)
            elif opcode in _REPLIES:
                self._send(_REPLIES[opcode], payload)

    def _take(self, payload: bytes) -> None:
        if payload.startswith(b'{"type":"request_action"'):
            self._load.note_question(self._room)
            answer = _answer(msgspec.json.decode(payload, type=_Request))
            if think_s := self._load.next_think_s():
                asyncio.get_running_loop().call_later(think_s, self._reply, answer)
            else:
                self._reply(answer)
        elif payload.startswith(b'{"type":"start_kyoku"'):
            self._load.answered.pop(self._room, None)
        elif payload.startswith(b'{"type":"end_game"'):
            self._load.games += 1

    def _reply(self, answer: bytes) -> None:
        self._load.answered[self._room] = time.perf_counter()
        self._send(TEXT, answer)

    def _send(self, opcode: int, payload: bytes) -> None:
        size = len(payload)
        head = struct.pack("!BBH", 128 | opcode, 254, size)
        self._transport.write(head + bytes(4) + payload)


TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10
_REPLIES: Final = {_PING: _PONG, _CLOSE: _CLOSE}


def _split(data: bytes) -> tuple[bytes, bool, bytes]:
    head, end, rest = data.partition(b"\r\n\r\n")
    return (head, True, rest) if end else (b"", False, data)


def _next_frame(data: bytes) -> tuple[int, bytes, int] | None:
    """Return opcode, payload and length of a whole frame of the server at the start of data."""
    if len(data) < 4 and (len(data) < 2 or data[1] > 125):
        return None
    start, size = (2, data[1]) if data[1] < 126 else (4, int.from_bytes(data[2:4]))
    if len(data) < start + size:
        return None
    return data[0] & 15, data[start : start + size], start + size


def _answer(request: _Request) -> bytes:
    """Return the pass, or the discard of what was drawn."""
    actions = request.possible_actions
    discards = [each for each in actions if each["type"] == "dahai"]
    drawn = [each for each in discards if each.get("tsumogiri")]
    passes = [each for each in actions if each["type"] == "none"]
    chosen = (passes or drawn or discards)[0]
    return msgspec.json.encode({**chosen, "request_id": request.request_id})


async def _port_of(process: asyncio.subprocess.Process) -> int:
    assert process.stdout is not None
    port = 0
    async for line in process.stdout:
        text = line.decode()
        if "ws://" in text:
            port = int(text.rpartition(":")[2].partition("/")[0])
        if "rooms and tables" in text:
            return port
    raise ChildProcessError("the server has ended")


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
