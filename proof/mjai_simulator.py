"""Proof in mjai.app's own simulator: bots play its hanchan, started as its containers do.

The PyPI package ``mjai`` deals, judges and waits as the site does.  Only Docker is left out: each
bot, a folder with its ``bot.py``, is copied to a folder of its own; ``bot.py SEAT`` runs there with
an empty environment, and its pipes are used without the HTTP shim between.
"""

import argparse
import json
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

AT_START_S = 10.0
"""What the simulator's own client waits where an array begins a game or a kyoku."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof mjai-simulator``."""
    parser.add_argument("bots", metavar="BOT", nargs="+", help="folder, one for all seats, or four")
    parser.add_argument("--python", default="python3", help="what runs bot.py (%(default)s)")
    parser.add_argument("--seed", type=int, default=2000, help="of the walls (%(default)s)")
    parser.add_argument("--log", type=Path, help="file for the game as mjai lines (none)")


def run(args: argparse.Namespace) -> int:
    """Play one hanchan, print what happened, return 1 if the simulator saw an error."""
    try:
        import mjai.game
        import mjai.player
    except ImportError:
        print("no package mjai here: pip install mjai, into an environment of its own")
        return 3
    python, seats = shutil.which(args.python), []
    if python is None or len(args.bots) not in (1, 4):
        print(
            f"--python {args.python}: not found" if python is None else "expected one bot, or four"
        )
        return 2
    mjai.game.MjaiPlayerClient = _client(mjai, python, seats)
    mjai.game.subprocess = SimpleNamespace(Popen=_no_docker, PIPE=subprocess.PIPE)
    with tempfile.TemporaryDirectory() as logs:
        bots = args.bots * (4 // len(args.bots))
        mjai.game.Simulator(bots, logs_dir=logs, timeout=2.0, seed=(10000, args.seed)).run()
        errors = [found for found in _read(logs, "errors.json") if found]
        summary = _read(logs, "summary.json")
        if args.log:
            shutil.copyfile(Path(logs) / "mjai_log.json", args.log)
    for seat in seats:
        later = max(seat.times_s[1:], default=0.0)
        print(
            f"seat {seat.player_id}: {len(seat.times_s)} answers,"
            f" the first after {seat.times_s[0]:.2f} s, no later one above {later:.2f} s"
        )
    print(f"{summary['kyoku_count']} kyoku, ranks {summary['rank']}, errors: {errors or 'none'}")
    return 1 if errors else 0


def _read(folder: str, name: str) -> Any:
    return json.loads((Path(folder) / name).read_text(encoding="utf-8"))


def _no_docker(*_: object, **options: Any) -> "subprocess.Popen[bytes]":
    """Stand in for ``docker logs``: there are none."""
    return subprocess.Popen([sys.executable, "-c", ""], **options)


def _client(mjai: Any, python: str, seats: list[Any]) -> type:
    """Return the simulator's client, but for containers."""

    class Client(mjai.player.MjaiPlayerClient):  # type: ignore[misc]
        def launch_container(self, player_id: int) -> None:
            self.player_id, self.times_s, self.container_name = player_id, [], "none"
            seats.append(self)
            self.folder = tempfile.mkdtemp()
            shutil.copytree(self.submission_path, self.folder, dirs_exist_ok=True)
            self.proc = subprocess.Popen(
                [python, "-u", "bot.py", str(player_id)],
                cwd=self.folder,
                env={"PATH": "/usr/bin:/bin", "HOME": self.folder},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self.lines: queue.Queue[bytes] = queue.Queue()
            threading.Thread(target=self._serve, daemon=True).start()

        def _serve(self) -> None:
            for line in self.proc.stdout:
                self.lines.put(line)

        def react(self, events: str) -> str:
            array = json.loads(events)
            at_start = array[0]["type"] in ("start_game", "start_kyoku")
            sent_s = time.monotonic()
            self.proc.stdin.write(events.encode() + b"\n")
            self.proc.stdin.flush()
            try:
                line = self.lines.get(timeout=AT_START_S if at_start else self.timeout).decode()
            except queue.Empty:
                raise mjai.exceptions.TimeoutExpired(self.player_id) from None
            self.times_s.append(time.monotonic() - sent_s)
            own_turn = array[-1]["type"] == "tsumo" and array[-1]["actor"] == self.player_id
            if own_turn and json.loads(line)["type"] == "none":
                raise mjai.exceptions.EngineRuntimeError("none at a turn", self.player_id)
            return line.strip()

        def delete_container(self) -> None:
            self.proc.kill()
            self.proc.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    return Client
