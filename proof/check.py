"""Proof that ``mjbot check`` fails no bot and no server that keeps to the documents.

Each party is checked again and again by the command itself, several at a time, while ``--load``
further processes keep the processors busy.  Each check that fails is printed with its text.
"""

import argparse
import contextlib
import json
import shlex
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mjbot.runtime.files import plural

_PYTHON: Final = shlex.quote(sys.executable)
_LINE_BOT: Final = f"{_PYTHON} {shlex.quote(str(Path(__file__).with_name('line_bot.py')))}"
_RUN_S: Final = 1800.0
_BUSY: Final = ("nice", "-n", "10", sys.executable, "-S", "-c", "while True: pass")


def _line_bot(arguments: str) -> tuple[str, ...]:
    habit, _, options = arguments.partition(" ")
    dialect = "arrays" if habit == "arrays" else "lines"
    return "--dialect", dialect, f"{_LINE_BOT} {habit} {{seat}} {options}"


def _client(dialect: str, arguments: str) -> tuple[str, ...]:
    return "--dialect", dialect, f"{_PYTHON} -m mjbot play {arguments} --strategy fast-riichi-a"


def _server(url: str, options: str) -> tuple[str, ...]:
    return url, "--start", f"{_PYTHON} -m mjbot serve --games 20 --length tonpu {options}"


PARTIES: Final = {
    "all": _line_bot("all"),
    "all-starts-1s": _line_bot("all --start-s 1"),
    "all-starts-3s": _line_bot("all --start-s 3"),
    "all-slow": _line_bot("all --answer-s 0.3"),
    "no-end": _line_bot("no-end"),
    "quiet": _line_bot("quiet"),
    "quiet-starts-2s": _line_bot("quiet --start-s 2"),
    "quiet-slow": _line_bot("quiet --answer-s 0.3"),
    "arrays": _line_bot("arrays"),
    "arrays-starts-2s": _line_bot("arrays --start-s 2"),
    "majiang": ("external:majiang",),
    "client-tcp": _client("tcp", "{url}"),
    "client-lines": _client("lines", "stdio: {seat}"),
    "client-arrays": _client("arrays", "stdio-arrays: {seat}"),
    "client-requests": _client("requests", "{url}"),
    "server-tcp": _server("mjsonp://127.0.0.1:{port}/default", "--port {port} --no-ws"),
    "server-websocket": _server(
        "ws://127.0.0.1:{port}/ws", "--port {second_port} --ws-port {port}"
    ),
}
"""Name -> the arguments of ``mjbot check``; ``{port}`` and ``{second_port}`` are free ports."""


@dataclass
class PartyResults:
    """The results of a party's runs: ``failed`` counts ``id: text`` of each failed check."""

    runs: int = 0
    seconds: float = 0.0
    failed: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def unsteady(self) -> list[str]:
        """The checks with different verdicts in different runs."""
        return sorted({id_ for (id_, _), count in self.verdicts.items() if count < self.runs})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof check``."""
    parser.add_argument("--times", type=int, default=20, help="runs of each party (default: 20)")
    parser.add_argument("--load", type=int, default=6, help="busy processes (default: 6)")
    parser.add_argument("--jobs", type=int, default=4, help="checks at a time (default: 4)")
    parser.add_argument(
        "--party", action="append", choices=list(PARTIES), help="only this one; may be repeated"
    )


def run(args: argparse.Namespace) -> int:
    """Check all parties, print a line for each, return 1 if any check fails."""
    names = args.party or list(PARTIES)
    tallies = {name: PartyResults() for name in names}
    runs = [name for _ in range(args.times) for name in names]
    with _busy(args.load), ThreadPoolExecutor(args.jobs) as pool:
        for name, (report, seconds) in zip(runs, pool.map(_checked, runs), strict=True):
            before = set(tallies[name].failed)
            note(tallies[name], report, seconds)
            for text in set(tallies[name].failed) - before:
                print(f"{name}: {text}", flush=True)
            print(f"{name}: run {tallies[name].runs}, {seconds:.0f} s", flush=True)
    for name, tally in tallies.items():
        print(line_of(name, tally))
    return int(any(tally.failed for tally in tallies.values()))


def note(tally: PartyResults, report: str, seconds: float) -> None:
    """Add one run, ``report`` as the command printed it with ``--json``."""
    tally.runs += 1
    tally.seconds = max(tally.seconds, seconds)
    try:
        checks = json.loads(report)["checks"]
    except (ValueError, KeyError, TypeError):
        tally.failed[f"no report: {report[-500:]}"] += 1
        return
    for check in checks:
        tally.verdicts[check["id"], check["verdict"]] += 1
        if check["verdict"] == "FAILED":
            tally.failed[f"{check['id']}: {check['text']}"] += 1


def line_of(name: str, tally: PartyResults) -> str:
    """Return the result of one party as a line."""
    failed = plural(sum(tally.failed.values()), "failed check")
    parts = [plural(tally.runs, "run"), failed]
    parts.append(f"{tally.seconds:.0f} s at most")
    if tally.unsteady:
        parts.append(f"verdicts that differ: {', '.join(tally.unsteady)}")
    return f"{name}: {', '.join(parts)}"


def _checked(name: str) -> tuple[str, float]:
    """Return the report on a party, and the seconds that it took."""
    start = time.monotonic()
    port, second_port = _free_ports(2)
    arguments = [
        argument.replace("{port}", str(port)).replace("{second_port}", str(second_port))
        for argument in PARTIES[name]
    ]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mjbot", "check", *arguments, "--json"],
            capture_output=True, text=True, timeout=_RUN_S, check=False,
        )  # fmt: skip
        report = done.stdout or done.stderr
    except subprocess.TimeoutExpired:
        report = f"no end within {_RUN_S:g} s"
    return report, time.monotonic() - start


def _free_ports(number: int) -> Sequence[int]:
    with contextlib.ExitStack() as stack:
        listeners = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)
        ]
        return [listener.getsockname()[1] for listener in listeners]


@contextlib.contextmanager
def _busy(number: int) -> Iterator[None]:
    """Keep ``number`` processes busy."""
    processes = [subprocess.Popen(_BUSY) for _ in range(number)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
