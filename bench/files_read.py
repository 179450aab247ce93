"""What it costs the arena to note each file that its processes read.

An audit hook cannot be taken away again, so each half of a round is a process of its own: games
of four fast-riichi-d with the watch and without, in processor time, then files opened 2,000 times:
one of the user's (noted already) and one of Python's own.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.files_read import ReadingWatch
from mjbot.arena.workers.playing import GameRunner

GAMES: Final = 40
OPENED: Final = 2000
_PROGRAM: Final = "import sys; from bench.files_read import work; work(sys.argv[1])"
_LABELS: Final = {
    "game_ms": "a hanchan of four fast-riichi-d, ms",
    "own_us": "opening a file of the user's, us",
    "library_us": "opening a file of Python's, us",
}


def report(rounds: int) -> dict[str, Any]:
    """Return the least of each time over the rounds, with and without the watch."""
    found: dict[str, list[list[float]]] = {"watched": [], "plain": []}
    for _ in range(rounds):
        for how, times in found.items():
            command = [sys.executable, "-c", _PROGRAM, how]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            times.append([float(word) for word in output.split()])
    least = {how: [min(column) for column in zip(*times, strict=True)]
             for how, times in found.items()}  # fmt: skip
    results = [
        {"name": name, "watched": least["watched"][place], "plain": least["plain"][place],
         "reached": True}
        for place, name in enumerate(_LABELS)
    ]  # fmt: skip
    return {"load": list(os.getloadavg()), "rounds": rounds, "results": results}


def print_report(found: dict[str, Any]) -> None:
    """Print a line for each time."""
    for result in found["results"]:
        print(f"{_LABELS[result['name']]}: {result['watched']:.2f} watched, {result['plain']:.2f}")


def work(how: str) -> None:
    """Measure in this process and print the three times."""
    with tempfile.NamedTemporaryFile() as own:
        if how == "watched":
            ReadingWatch()
        setup = Setup(strategies=("fast-riichi-d", "fast-riichi-d"), format="2v2")
        games = GameRunner(setup, Clock(0, [0] * HEARTBEAT_SIZE))
        _play(games, range(GAMES, GAMES + 3))
        game_s = _seconds(lambda: _play(games, range(GAMES))) / GAMES
        opened = [_seconds(partial(_open, path)) / OPENED for path in (own.name, os.__file__)]
    print(1e3 * game_s, *[1e6 * seconds for seconds in opened])


def _play(games: GameRunner, walls: Iterable[int]) -> None:
    for wall in walls:
        assert not games.play(GameId(wall, 0), {}).line.faults


def _open(path: str) -> None:
    for _ in range(OPENED):
        with open(path, "rb"):
            pass


def _seconds(job: Callable[[], None]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start
