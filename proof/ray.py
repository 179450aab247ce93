"""The arena over two Ray nodes on loopback: the same figures, to the byte, as without Ray.

The cluster is Ray's own for tests (``ray.cluster_utils``), with a token where this Ray knows
tokens.  It is reached through ``ray://``, and by being part of it; a node is killed in the middle;
the run is interrupted and resumed; a node with other code and a client with another token
are refused.
"""

import argparse
import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mjbot.arena.run_folder import FIGURES_FILE, GAMES_FILE
from mjbot.arena.workers.on_ray import import_ray
from mjbot.arena.workers.pool import WorkerError
from mjbot.play.match.players import free_port
from mjbot.runtime.compiler.cache import cache_folder
from mjbot.runtime.errors import ExitCode
from proof.remains import marked

HOST: Final = "127.0.0.1"
MARK: Final = "MJBOT_PROOF_RAY"
RUN_S: Final = 900.0
REFUSED_S: Final = 60.0
STOP_S: Final = 5.0
OWN: Final = """
from pathlib import Path
from strategies.helping import first_of
from mjbot import Strategy
WEIGHT = float(Path(__file__).with_name("weight.txt").read_text())
class Mine(Strategy):
    def decide(self, view):
        return first_of(view) if WEIGHT > 0.5 else view.default_action
"""
HELPING: Final = """
def first_of(view):
    wins = [action for action in view.legal if action.name in ("tsumo", "ron")]
    return wins[0] if wins else view.default_action
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof ray``."""
    parser.add_argument("--games", type=int, default=300, help="of each run (300)")
    parser.add_argument("--seed", type=int, default=0, help="of the walls (0)")


def run(args: argparse.Namespace) -> int:
    """Play the runs, print the results, return 1 if anything does not hold."""
    folder = Path(tempfile.mkdtemp(prefix="mjr-"))
    mark = str(os.getpid())
    os.environ |= {
        MARK: mark,
        "RAY_TMPDIR": str(folder / "ray"),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S": "120",  # a busy machine may take that
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # else parts of it leave loopback
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
    }
    try:
        import_ray()  # not before: it reads its settings once
        with _Nodes() as nodes:
            problems = _Proof(nodes, folder, args.games, args.seed).run()
        time.sleep(STOP_S)
        left = {pid: command for pid, command in marked(MARK, mark).items() if pid != os.getpid()}
        problems += [f"left behind: {command}" for command in left.values()]
    except WorkerError as error:
        print(f"proof ray: nothing was tried: {error}")
        return int(ExitCode.UNREACHABLE)
    finally:
        shutil.rmtree(folder)
    print(f"{len(problems)} problems")
    for problem in problems:
        print(f"  {problem}")
    return int(bool(problems))


class _Nodes:
    """A cluster of two nodes, one processor each; a context manager."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        Path(os.environ["RAY_TMPDIR"]).mkdir()
        self.port: Final = free_port()
        head = {"num_cpus": 1, "ray_client_server_port": self.port, "node_ip_address": HOST}
        self._cluster: Final[Any] = Cluster(initialize_head=True, head_node_args=head)
        self._second: Any = None
        self.add()

    def __enter__(self) -> "_Nodes":
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.shutdown()

    @property
    def address(self) -> str:
        """The address for members of the cluster."""
        return str(self._cluster.address)

    def add(self, **environ: str) -> None:
        """Let a second node join, with more in its environment."""
        self._second = self._cluster.add_node(
            num_cpus=1, node_ip_address=HOST, env_vars=environ or None
        )

    def kill(self) -> None:
        """Kill the second node's processes."""
        self._cluster.remove_node(self._second, allow_graceful=False)


class _Proof:
    def __init__(self, nodes: _Nodes, folder: Path, games: int, seed: int) -> None:
        self._nodes: Final = nodes
        self._folder: Final = folder
        self._client: Final = f"ray://{HOST}:{nodes.port}"
        self._command: Final = [
            *(sys.executable, "-m", "mjbot", "arena", "fast-riichi-a", "mine.py:Mine"),
            *("--games", str(games), "--length", "tonpu", "--seed", str(seed)),
        ]
        for name, text in (("mine.py", OWN), ("helping.py", HELPING), ("weight.txt", "0.75")):
            (folder / name).write_text(text)
        self._problems: list[str] = []

    def run(self) -> list[str]:
        """Return what does not hold."""
        self._ended("here", self._start("here"), "on this machine, without Ray")
        self._ended("client", self._start("client", self._client), f"two nodes, {self._client}")
        member = {"RAY_ADDRESS": self._nodes.address}
        command = "two nodes, as part of the cluster (--on ray)"
        self._ended("member", self._start("member", "ray", **member), command)
        self._interrupted()
        other, none = secrets.token_hex(32), {"RAY_AUTH_MODE": "disabled", "RAY_AUTH_TOKEN": ""}
        # Else a token could lie in the user's home.
        home = {"HOME": str(self._folder), "MJBOT_CACHE": str(cache_folder())}
        self._refused("a client with another token", "token", RAY_AUTH_TOKEN=other, **home)
        self._refused("a client without one", "token", **none, **home)
        self._refused("an unused port", "no Ray client", f"ray://{HOST}:{free_port()}")
        self._node_lost()
        self._other_code()
        return self._problems

    def _start(self, out: str, on: str = "", **environ: str) -> "subprocess.Popen[bytes]":
        more = ["--on", on] if on else ["--jobs", "2"]
        with (self._folder / f"{out}.txt").open("ab") as output:
            return subprocess.Popen(
                [*self._command, *more, "--out", out],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **environ},
            )

    def _ended(self, out: str, process: "subprocess.Popen[bytes]", what: str) -> None:
        """Wait for a run; its figures must be those of the first."""
        start = time.monotonic()
        status = process.wait(RUN_S)
        print(f"{what}: status {status}, {time.monotonic() - start:.0f} s", flush=True)
        if status:
            self._problems.append(f"{what}: status {status}: {self._last_output(out)}")
            return
        first, this = [(self._folder / run / FIGURES_FILE).read_bytes() for run in ("here", out)]
        if first != this:
            self._problems.append(f"{what}: the figures differ")

    def _interrupted(self) -> None:
        """SIGTERM in the middle, and the same command again."""
        process = self._start("parts", self._client)
        self._wait_for_games("parts", process)
        start = time.monotonic()
        process.send_signal(signal.SIGTERM)
        status = process.wait(RUN_S)
        print(f"interrupted: status {status}, {time.monotonic() - start:.1f} s", flush=True)
        if status != ExitCode.INTERRUPTED or time.monotonic() - start > STOP_S:
            self._problems.append(f"interrupted: status {status}: {self._last_output('parts')}")
        self._ended("parts", self._start("parts", self._client), "resumed")

    def _node_lost(self) -> None:
        process = self._start("lost", self._client)
        games = self._wait_for_games("lost", process)
        self._nodes.kill()
        print(f"a node killed after {games} games", flush=True)
        self._ended("lost", process, "with one node left")

    def _other_code(self) -> None:
        """A node without mjbot, and one whose mjbot has one line more."""
        none = self._folder / "none"
        (none / "mjbot").mkdir(parents=True)
        (none / "mjbot" / "__init__.py").write_text("raise ImportError('mjbot is not here')")
        self._nodes.add(PYTHONPATH=str(none))
        self._refused("a node without mjbot", "mjbot is not here")
        self._nodes.kill()
        copy = self._folder / "copy"
        packages = Path(__file__).parents[1]
        shutil.copytree(packages / "mjbot", copy / "mjbot")
        with (copy / "mjbot" / "strategies" / "fast_riichi_a.py").open("a") as file:
            file.write("\n# another line\n")
        self._nodes.add(PYTHONPATH=str(copy))
        self._refused("a node with other code", "it has other code")

    def _refused(self, what: str, because: str, where: str = "", **environ: str) -> None:
        """The refusal must be reported in one line."""
        start = time.monotonic()
        process = self._start("refused", where or self._client, **environ)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(REFUSED_S)
        command = self._last_output("refused")
        took_s = time.monotonic() - start
        print(f"{what}: status {process.poll()}, {took_s:.1f} s: {command}", flush=True)
        if process.poll() in (None, 0) or "Traceback" in self._output("refused"):
            self._problems.append(f"{what}: not refused in one line: {command}")
        if because not in command:
            self._problems.append(f"{what}: the reason is not reported: {command}")
        process.kill()
        (self._folder / "refused.txt").unlink()

    def _wait_for_games(self, out: str, process: "subprocess.Popen[bytes]") -> int:
        """Return how many games a run has once there are some."""
        for lines in self._counts(self._folder / out / GAMES_FILE):
            if lines > 10 or process.poll() is not None:
                return max(0, lines - 1)
        raise AssertionError

    def _counts(self, file: Path) -> Iterator[int]:
        while True:
            yield file.read_bytes().count(b"\n") if file.exists() else 0
            time.sleep(0.05)

    def _output(self, out: str) -> str:
        return (self._folder / f"{out}.txt").read_text("utf-8", "replace")

    def _last_output(self, out: str) -> str:
        lines = [line for line in self._output(out).splitlines() if line.strip()]
        return lines[-1] if lines else ""
