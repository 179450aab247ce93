"""Many tables in one server: how long from a player's answer to the next question at its table.

The server is a process of its own (``mjbot serve`` with a room for each table), the players are
plain WebSocket clients of this process: they pass, or discard what they drew, at once
or after a random time.  A time is
measured here, from sending an answer until a client of the same table receives its next request; it
has everything in it: both processes, the sockets, the events between.
"""

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any, Final

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

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
        self._answered: Final[dict[str, float]] = {}
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
                asyncio.create_task(self._come_again(f"ws://{HOST}:{port}/ws/{room}", room))
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

    def _print(self, used_s: float, took_s: float) -> None:
        times = sorted(self._times)
        print(f"{len(self._rooms)} tables, {PLAYERS * len(self._rooms)} players, load average "
              f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")  # fmt: skip
        if times:
            figures = [
                f"{100 * q:g}%: {1000 * times[int(q * (len(times) - 1))]:.2f} ms"
                for q in (0.5, 0.9, 0.99)
            ]
            print(f"from an answer to the next question: {', '.join(figures)}")
            rate, cost_us = len(times) / took_s, 1e6 * used_s / len(times)
            print(f"{rate:.0f} questions a second, {cost_us:.0f} us of the server's processor time "
                  f"each, {100 * used_s / took_s:.0f}% of a processor; {self.games // PLAYERS} "
                  "games have ended")  # fmt: skip

    async def _come_again(self, url: str, room: str) -> None:
        while True:
            with contextlib.suppress(OSError, WebSocketException):
                async with connect(url, proxy=None, compression=None) as line:
                    await self._play(line, room)
            await asyncio.sleep(0.05)

    async def _play(self, line: Any, room: str) -> None:
        async for frame in line:
            if '"request_action"' in frame:
                now = time.perf_counter()
                if (answered := self._answered.pop(room, None)) is not None:
                    self._times.append(now - answered)
                answer = _answer(json.loads(frame))
                if self._think_s:
                    await asyncio.sleep(self._random.uniform(0, self._think_s))
                self._answered[room] = time.perf_counter()
                await line.send(answer)
            elif '"start_kyoku"' in frame:
                self._answered.pop(room, None)
            elif '"end_game"' in frame:
                self.games += 1
                return


def _answer(request: dict[str, Any]) -> str:
    """Return the pass, or the discard of what was drawn."""
    actions = request["possible_actions"]
    discards = [each for each in actions if each["type"] == "dahai"]
    drawn = [each for each in discards if each.get("tsumogiri")]
    passes = [each for each in actions if each["type"] == "none"]
    chosen = (passes or drawn or discards)[0]
    return json.dumps({**chosen, "request_id": request["request_id"]})


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
