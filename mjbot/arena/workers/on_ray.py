"""The same games over a Ray cluster: Ray carries game ids to machines, workers there play them.

Each actor keeps one worker process (:mod:`mjbot.arena.workers.pool`), so deadlines, crashes and
the figures are those of a run on one machine.  Every machine needs the same mjbot and strategies:
an actor gets games once it has reported that, also one that takes the place of one that was lost.
"""

import contextlib
import importlib
import os
import socket
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from mjbot.arena.code_digest import code_digest, code_parts, differing_parts
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.playing import PlayedGame
from mjbot.arena.workers.pool import AHEAD, WorkerError, WorkerPool

LOCAL: Final = "ray"
PREFIX: Final = "ray://"
REQUIREMENT: Final = "ray[client]>=2.9,<3"
"""What to install, from wherever mjbot itself was."""
MOST_CRASHES: Final = 3
MOST_CONNECTS: Final = 3
LOOK_S: Final = 0.5
MOST_QUOTED: Final = 300
MOST_FILES: Final = 3
"""How many differing files an error names."""
FIRST_REPORT_S: Final = 10.0
REPORT_S: Final = 30.0
ANSWER_S: Final = 10.0
QUESTION: Final = "/ray.rpc.RayletDriver/ClusterInfo"
"""What any client asks; the answer to an empty question does not matter, a refusal does."""

CREATION: Final = "creation task"
"""What Ray's message on an actor that could not be made contains, as where there is no mjbot."""

MOST_IDLE_S: Final = 300.0
"""How long no machine may be there that takes a game, before the run ends."""


class MachineProblem(NamedTuple):
    """Why a machine of the cluster cannot play: a text, or the digests of its files."""

    machine: str
    text: str
    parts: tuple[tuple[str, str], ...] = ()


class RemotePlayer:
    """What runs on a machine of the cluster: one worker process and its games.

    ``folder`` is where the run was started: files of strategies are looked for there, if this
    machine has it.
    """

    def __init__(self, setup: Setup, recording: bool, folder: str) -> None:
        with contextlib.suppress(OSError):
            os.chdir(folder)
        self._pool: Final = WorkerPool(setup, 1, recording=recording)
        self._setup: Final = setup

    def problem(self) -> MachineProblem | None:
        """Return why this machine cannot play, if it cannot."""
        specs, players = self._setup.specs, self._setup.game_rules.players
        try:
            if code_digest(specs, players) == self._setup.code:
                return None
            parts = tuple(code_parts(specs, players).items())
            return MachineProblem(socket.gethostname(), "", parts)
        except ValueError as error:
            return MachineProblem(socket.gethostname(), str(error))

    def play(self, game_id: GameId) -> PlayedGame:
        """Play one game."""
        return next(self._pool.play([game_id]))


class RayPool:
    """Actors of a cluster that play games; a context manager, as :class:`WorkerPool`.

    ``where`` is ``ray`` for the cluster that this machine is part of, else for one of its own, or
    ``ray://HOST:PORT``; ``jobs`` is the number of actors (default: one per processor of the
    cluster).  ``report`` is given a line now and then until the
    first game is over.  Raises :class:`~mjbot.arena.workers.pool.WorkerError` in one line.
    """

    def __init__(
        self,
        setup: Setup,
        where: str,
        jobs: int | None = None,
        recording: bool = False,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._ray: Final = import_ray()
        self._connect(where, jobs)
        self._jobs: Final = jobs or int(self._ray.cluster_resources().get("CPU", 1))
        self._arguments: Final = (setup, recording, os.getcwd())
        self._starting: dict[Any, Any] = {}
        self._under_way: dict[Any, tuple[Any, GameId]] = {}
        self._again: deque[GameId] = deque()
        self._lost: set[Any] = set()
        self._crashes = 0
        self._busy_at = self._began_at = self._report_at = time.monotonic()
        self._report: Final = report
        self._ready = 0
        self._has_played = False

    def play(
        self, game_ids: Iterable[GameId], look: Callable[[], None] = lambda: None
    ) -> Iterator[PlayedGame]:
        """Play the games and return each as soon as it is finished, in whatever order.

        ``look`` is called every second or oftener.
        """
        waiting = iter(game_ids)
        self._began_at = time.monotonic()
        self._report_at = self._began_at + FIRST_REPORT_S
        for _ in range(self._jobs):
            self._start()
        while self._is_left(waiting):
            look()
            self._report_waiting()
            for answer in self._answers():
                if answer in self._starting:
                    self._admit(answer, waiting)
                    continue
                actor, game_id = self._under_way.pop(answer)
                try:
                    yield self._ray.get(answer)
                    self._crashes, self._has_played = 0, True
                except self._ray.exceptions.RayError as error:
                    self._again.append(game_id)
                    self._on_lost(actor, error)
                self._give(actor, waiting)

    @property
    def replaced(self) -> int:
        """How many actors were lost, and another was asked for instead."""
        return len(self._lost)

    def __enter__(self) -> "RayPool":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.shutdown()

    # --- inside ------------------------------------------------------------------------------

    def _connect(self, where: str, jobs: int | None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # else it reports to its makers
        quiet = {"logging_level": "ERROR", "log_to_driver": False}
        try:
            with warnings.catch_warnings(action="ignore"):  # what matters comes as an error, too
                if where != LOCAL:
                    self._connect_client(where, quiet)
                    return
                try:
                    self._ray.init(address="auto", **quiet)
                except ConnectionError:
                    if "RAY_ADDRESS" in os.environ:
                        raise
                    here = {"_node_ip_address": "127.0.0.1", "include_dashboard": False}
                    self._ray.init(address="local", num_cpus=jobs, **here, **quiet)
        except WorkerError:
            raise
        except Exception as error:  # Ray raises whatever its parts do
            text = f"{type(error).__name__}: {_in_short(error)}"
            raise WorkerError(f"--on {where}: {text}") from None

    def _connect_client(self, where: str, quiet: dict[str, Any]) -> None:
        """Connect to ``ray://HOST:PORT``.

        Ray starts a process there for each client, which dies at once now and then: it forks a
        process that has many threads.
        """
        _require_answer(where)
        for left in reversed(range(MOST_CONNECTS)):
            try:
                self._ray.init(address=where, **quiet)
                return
            except ConnectionAbortedError:
                if not left:
                    raise
                self._ray.shutdown()

    def _start(self) -> None:
        """Ask for an actor; it may be long before a machine has room for it."""
        actor = self._ray.remote(num_cpus=1)(RemotePlayer).remote(*self._arguments)
        self._starting[actor.problem.remote()] = actor

    def _admit(self, answer: Any, waiting: Iterator[GameId]) -> None:
        """Give games to an actor whose machine can play."""
        actor = self._starting.pop(answer)
        try:
            problem = self._ray.get(answer)
        except self._ray.exceptions.RayError as error:
            if CREATION in str(error):  # it came to life and could not: it would again
                text = _in_short(error)
                raise WorkerError(f"a machine of the cluster cannot play: {text}") from None
            self._on_lost(actor, error)
            return
        if problem is not None:
            raise WorkerError(f"a machine of the cluster cannot play: {self._described(problem)}")
        self._ready += 1
        for _ in range(AHEAD):
            self._give(actor, waiting)

    def _described(self, problem: MachineProblem) -> str:
        text = problem.text
        if not text:
            setup: Setup = self._arguments[0]
            here = code_parts(setup.specs, setup.game_rules.players)
            files = differing_parts(here, dict(problem.parts))
            named = ", ".join(files[:MOST_FILES])
            more = f" and {len(files) - MOST_FILES} more" if files[MOST_FILES:] else ""
            text = "it has other code of mjbot or of the strategies"
            text += f" ({named}{more})" if named else " (another version of Python packages?)"
            text += "; install the same there"
        return f"{problem.machine}: {text}"

    def _report_waiting(self) -> None:
        """Report what the cluster does as long as no game is over: at first it compiles."""
        if self._has_played or time.monotonic() < self._report_at:
            return
        waited_s = time.monotonic() - self._began_at
        self._report_at = time.monotonic() + REPORT_S
        self._report(
            f"no game is over after {waited_s:.0f} s: {self._ready} of {self._jobs} workers have"
            " begun; the first game on a machine compiles for a minute or two"
        )

    def _is_left(self, waiting: Iterator[GameId]) -> bool:
        if not self._under_way and not self._again:
            self._again.extend(
                [game_id for game_id in [next(waiting, None)] if game_id is not None]
            )
        return bool(self._under_way or self._again)

    def _answers(self) -> list[Any]:
        """Wait for one answer, but not for long.  Raises ``WorkerError`` if the cluster is gone."""
        if self._under_way:
            self._busy_at = time.monotonic()
        elif time.monotonic() - self._busy_at > MOST_IDLE_S:
            raise WorkerError(f"no machine of the cluster had room for {MOST_IDLE_S:g} s")
        expected = [*self._under_way, *self._starting]
        try:
            done, _ = self._ray.wait(expected, num_returns=1, timeout=LOOK_S)
        except ConnectionError as error:
            raise WorkerError(f"the cluster is gone: {_in_short(error)}") from None
        return list(done)

    def _give(self, actor: Any, waiting: Iterator[GameId]) -> None:
        if actor in self._lost:
            return
        game_id = self._again.popleft() if self._again else next(waiting, None)
        if game_id is not None:
            self._under_way[actor.play.remote(game_id)] = (actor, game_id)

    def _on_lost(self, actor: Any, error: Exception) -> None:
        """Note a game that did not come back, and ask for another actor if its own is gone."""
        self._crashes += 1
        if self._crashes > MOST_CRASHES * self._jobs:
            raise WorkerError(f"the cluster loses its machines: {_in_short(error)}")
        if isinstance(error, self._ray.exceptions.RayActorError) and actor not in self._lost:
            self._lost.add(actor)
            self._start()


def _in_short(error: Exception) -> str:
    """Return the text of an error of Ray's, the last line of what quotes a traceback."""
    text = str(error).strip()
    if "Traceback" in text:
        text = text.splitlines()[-1]
    return " ".join(text.split())[:MOST_QUOTED]


def _require_answer(where: str) -> None:
    """Raise ``WorkerError`` at once if ``ray://HOST:PORT`` is not served or requires a token.

    Ray would try again for most of a minute, without naming the cause.
    """
    if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
        return
    grpc = importlib.import_module("grpc")
    metadata = [("authorization", f"Bearer {token}")] if (token := _token()) else []
    with grpc.insecure_channel(where.removeprefix(PREFIX)) as channel:
        try:
            channel.unary_unary(QUESTION)(b"", timeout=ANSWER_S, metadata=metadata)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.UNAVAILABLE:
                cure = "ray start --head --ray-client-server-port PORT opens one"
                raise WorkerError(f"--on {where}: no Ray client server there; {cure}") from None
            if error.code() == grpc.StatusCode.UNAUTHENTICATED:
                cure = "set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN to what the cluster has"
                raise WorkerError(f"--on {where}: it refuses our token; {cure}") from None


def _token() -> str:
    """Return the token that Ray would send: of a variable, or of a file."""
    if token := os.environ.get("RAY_AUTH_TOKEN"):
        return token.strip()
    path = os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return Path(path).read_text(encoding="utf-8").strip()
    return ""


def import_ray() -> Any:
    """Return the module; :class:`~mjbot.arena.workers.pool.WorkerError` if it is not installed."""
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise WorkerError(f"--on ray needs Ray: pip install '{REQUIREMENT}'") from None
