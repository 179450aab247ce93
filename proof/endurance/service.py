"""Six bots as services, each behind a fault-injection proxy, at a server of requests: for hours.

The server of two tables, the six ``mjbot chaos`` and the six ``mjbot run`` are processes of their
own, as an operator starts them.  Each bot plays by the same profile and reconnects by itself.  What
must hold:

* no attempt at a game ends by a fault of a bot, and no strategy is late, fails or is illegal;
* the server never has two connections of one bot;
* memory, file handles and threads of all processes stay flat (:mod:`proof.endurance.trend`);
* no process writes a traceback, and at SIGTERM all end with status 0.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from mjbot.runtime.errors import ExitCode
from proof.endurance.commands import Command
from proof.endurance.trend import growing
from proof.remains import Sample, used

BOTS: Final = 6
END_S: Final = 120.0
PROFILE: Final = """
[bot]
strategy = "fast-riichi-d"
fallback = "tsumogiri"
[play]
pause_s = {pause_s}
on_version_change = "retry"
retry_s = 2
[connection]
silence_s = 60
first_pause_s = 0.5
longest_pause_s = 5
per_hour = 100000
[logs]
folder = "games"
evidence = true
keep_games = 20
"""
"""A damaged message looks like one of a new version, after which the bots try again at once."""
_ADDRESS: Final = re.compile(r"ws://127\.0\.0\.1:(\d+)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof endurance service``."""
    parser.add_argument("--minutes", type=float, default=360.0, help="how long (360)")
    parser.add_argument("--seed", type=int, default=0, help="of walls and faults (0)")
    parser.add_argument(
        "--pause-s", type=float, default=0.0, help="of a bot between two games: less load (0)"
    )
    parser.add_argument("--sample-s", type=float, default=30.0, help="between two samples (30)")


async def endure(args: argparse.Namespace) -> list[str]:
    """Play, sample, print the bots' figures, return what does not hold."""
    with tempfile.TemporaryDirectory(prefix="mjbot-service-") as folder:
        services = _Services(Path(folder), args.seed, args.pause_s)
        return await services.run(60 * args.minutes, args.sample_s)


class _Services:
    def __init__(self, folder: Path, seed: int, pause_s: float) -> None:
        self._folder: Final = folder
        self._pause_s: Final = pause_s
        self._seed: Final = seed
        self._commands: Final[dict[str, Command]] = {}
        self._most_connected = 0

    async def run(self, seconds: float, every_s: float) -> list[str]:
        """Start everything, wait, end everything, and judge it."""
        times, samples = [], []
        try:
            await self._start()
            begun = time.monotonic()
            while (now := time.monotonic() - begun) < seconds:
                await asyncio.sleep(every_s)
                times.append(now)
                samples.append(self._sample())
                print(self._line(now, samples[-1]), flush=True)
        finally:
            problems = await self._end()
        return [*problems, *self._judged(), *growing(times, samples)]

    async def _start(self) -> None:
        await self._spawn(
            "serve", "serve", "--port", "0", "--tables", "2", "--length", "tonpu",
            "--games", "1000000", "--on-fault", "default", "--timeout-s", "20",
            "--seed", str(self._seed),
        )  # fmt: skip
        port = await self._port("serve")
        for bot in range(BOTS):
            name, seed = f"chaos{bot}", str(BOTS * self._seed + bot)
            url = f"ws://127.0.0.1:{port}/ws"
            await self._spawn(name, "chaos", url, "--seed", seed, "--break-every-kb", "400")
        for bot in range(BOTS):
            front = await self._port(f"chaos{bot}")
            name, own = f"bot{bot}", self._folder / f"bot{bot}"
            own.mkdir()
            (own / "bot.toml").write_text(PROFILE.format(pause_s=self._pause_s))
            url = f"ws://127.0.0.1:{front}/ws"
            await self._spawn(
                name, "run", "bot.toml", "--url", url, "--name", name, "--status", "status.json",
                folder=own,
            )  # fmt: skip

    async def _spawn(self, name: str, *words: str, folder: Path | None = None) -> None:
        output = self._folder / f"{name}.txt"
        self._commands[name] = command = Command(name, folder or self._folder, output)
        await command.run(*words)

    async def _port(self, name: str) -> int:
        """Return the port of the WebSocket that a process prints."""
        while not self._commands[name].has_ended:
            if match := _ADDRESS.search(self._commands[name].text):
                return int(match[1])
            await asyncio.sleep(0.2)
        raise ChildProcessError(f"{name} has ended")

    def _sample(self) -> Sample:
        sample: Sample = {}
        for name, command in self._commands.items():
            sample |= used(name, [command.process.pid])
        sockets = 0
        with contextlib.suppress(OSError):
            handles = Path(f"/proc/{self._commands['serve'].process.pid}/fd")
            for handle in handles.iterdir():
                with contextlib.suppress(OSError):
                    sockets += os.readlink(handle).startswith("socket:")
        self._most_connected = max(self._most_connected, sockets)
        return sample

    def _status(self, bot: int) -> dict[str, Any]:
        try:
            status: dict[str, Any] = json.loads(
                (self._folder / f"bot{bot}/status.json").read_text()
            )
        except OSError:
            return {}
        return status

    def _line(self, now_s: float, sample: Sample) -> str:
        """Return the state now, with the memory: a run may be cut off before its end."""
        games = [self._status(bot).get("games", 0) for bot in range(BOTS)]
        memory = [round(megabytes) for name, megabytes in sample.items() if name.endswith(" MB")]
        return (
            f"{now_s:6.0f} s, games {games}, MB by process {memory},"
            f" most sockets of the server {self._most_connected}"
        )

    async def _end(self) -> list[str]:
        """End the bots, then the rest; return what does not hold of how they end."""
        problems = []
        for name, command in sorted(self._commands.items()):  # bots, proxies, then the server
            if command.has_ended:
                status = command.process.returncode
                problems.append(f"{name} has ended by itself with status {status}")
                continue
            status = await command.terminate(END_S)
            if status not in (ExitCode.OK, ExitCode.INTERRUPTED):
                problems.append(f"{name} ended with status {status}")
        return problems

    def _judged(self) -> list[str]:
        """Return what does not hold of the bots' figures, and print them."""
        problems = []
        for bot in range(BOTS):
            status = self._status(bot)
            keys = ("games", "ranks", "ends", "acks", "faults", "connects", "memory_mb")
            print(f"bot{bot}: {json.dumps({key: status.get(key) for key in keys})}")
            if not status.get("games"):
                problems.append(f"bot{bot} has played no game")
                continue
            if status["ends"]["fault"] or any(status["faults"].values()):
                problems.append(f"bot{bot}: {status['ends']['fault']} faults, {status['faults']}")
        for name, command in sorted(self._commands.items()):
            if "Traceback" in command.text:
                problems.append(f"{name} wrote a traceback")
        return [*problems, *self._second_connections()]

    def _second_connections(self) -> list[str]:
        """Return the bots that joined while the server still had them, by its log."""
        present: set[str] = set()
        problems = []
        for line in self._commands["serve"].text.splitlines():
            if match := re.search(r": (bot\d) joined", line):
                if match[1] in present:
                    problems.append(f"{match[1]} joined twice: {line}")
                present.add(match[1])
            elif match := re.search(r": (bot\d)( \(seat .*\))? (left|lost)", line):
                present.discard(match[1])
            elif re.search(r"game \d+( at \S+)? (has ended|is void)", line):
                present.clear()
        return problems
