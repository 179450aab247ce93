"""How long a command takes to refuse: a process that is started, says one line, and has ended.

Each wrong command is run as a user would, in wall time; its last line and exit status count, too.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

REQUIRED_S: Final = 1.0
GIVEN_UP_S: Final = 30.0
REFUSED: Final = (2, 3)
"""Exit statuses of wrong arguments and of what cannot be reached."""

COMMANDS: Final = (
    "arena fast-riichi-a",
    "arena fast-riichi-z fast-riichi-a",
    "arena fast-riichi-a,speed=3 fast-riichi-a",
    "arena fast-riichi-a fast-riichi-b --games 0",
    "check gone.zip",
    "chaos nowhere",
    "convert gone.mjson out.mjlog",
    "detect gone.zip",
    "draw gone.mjson --at 3 --out out.svg",
    "duo wss://mahjong.example/room",
    "experiment nobody2099",
    "explain gone.mjson --at 3",
    "match fast-riichi-a fast-riichi-z tsumogiri tsumogiri",
    "play --strategy fast-riichi-z mjsonp://127.0.0.1:{closed}/default",
    "play mjsonp://127.0.0.1:{closed}/default --wait-s 0",
    "play http://127.0.0.1:{closed}",
    "replay gone.mjson",
    "review gone.mjson",
    "serve --host 0.0.0.0",
    "serve --port {taken}",
    "strategies fast-riichi-z",
    "train data gone.zip --folder out",
    "watch gone.mjson",
    "nothing-of-the-kind",
)


def report(rounds: int) -> dict[str, Any]:
    """Return for each command the least wall time over the rounds, and what it said."""
    results = []
    with tempfile.TemporaryDirectory() as folder, _ports() as ports:
        for command in COMMANDS:
            words = command.format(**ports).split()
            runs = [_run(words, Path(folder)) for _ in range(rounds)]
            seconds, status, output = min(runs)
            is_line = status in REFUSED and output[-1].startswith("mjbot")
            results.append(
                {"name": command, "seconds": seconds, "status": status,
                 "said": output[-1] if output else "",
                 "reached": is_line and seconds <= REQUIRED_S}
            )  # fmt: skip
    return {"load": list(os.getloadavg()), "rounds": rounds, "results": results}


def print_report(found: dict[str, Any]) -> None:
    """Print a line for each command."""
    for result in found["results"]:
        mark = "" if result["reached"] else "   NOT AS REQUIRED"
        print(f"{result['seconds']:.2f} s, status {result['status']}: mjbot {result['name']}{mark}")
        print(f"    {result['output']}")


@contextmanager
def _ports() -> Iterator[dict[str, int]]:
    """Yield a port at which nobody listens, and one that is taken."""
    with socket.socket() as closed, socket.socket() as taken:
        closed.bind(("127.0.0.1", 0))
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield {"closed": closed.getsockname()[1], "taken": taken.getsockname()[1]}


def _run(words: list[str], folder: Path) -> tuple[float, int, list[str]]:
    """Return the seconds, the exit status and the lines that were said."""
    command = [sys.executable, "-m", "mjbot", *words]
    start = time.monotonic()
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=GIVEN_UP_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return GIVEN_UP_S, -1, ["it goes on and on"]
    output = (done.stderr + done.stdout).strip().splitlines()
    return time.monotonic() - start, done.returncode, output
