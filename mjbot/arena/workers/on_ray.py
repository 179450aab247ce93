"""The same games over a Ray cluster: Ray carries game ids to machines, workers there play them.

Each actor keeps one worker process (:mod:`mjbot.arena.workers.pool`), so deadlines, crashes and
the figures are those of a run on one machine.  Every machine needs the same mjbot and strategies.
"""

import contextlib
import importlib
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from mjbot.arena.code_digest import code_digest
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.playing import Played
from mjbot.arena.workers.pool import AHEAD, WorkerError, WorkerPool

LOCAL: Final = "ray"
PREFIX: Final = "ray://"
REQUIREMENT: Final = "ray[client]>=2.9"
"""What to install, from wherever mjbot itself was."""
MOST_CRASHES: Final = 3
LOOK_S: Final = 0.5


class RemotePlayer:
    """What runs on a machine of the cluster: one worker process and its games."""

    def __init__(self, setup: Setup, recording: bool) -> None:
        self._pool: Final = WorkerPool(setup, 1, recording=recording)
        self._setup: Final = setup

    def problem(self) -> str:
        """Return why this machine cannot play, or nothing."""
        try:
            same = code_digest(self._setup.specs) == self._setup.code
        except ValueError as error:
            return str(error)
        return "" if same else "it has other code of mjbot or of the strategies"

    def play(self, game_id: GameId) -> Played:
        """Play one game."""
        return next(self._pool.play([game_id]))


class RayPool:
    """Actors of a cluster that play games; a context manager, as :class:`WorkerPool`.

    ``where`` is ``ray`` for a cluster on this machine or ``ray://HOST:PORT``; ``jobs`` is the
    number of actors (default: one per processor of the cluster).  Raises
    :class:`~mjbot.arena.workers.pool.WorkerError` in one line.
    """

    def __init__(
        self, setup: Setup, where: str, jobs: int | None = None, recording: bool = False
    ) -> None:
        self._setup: Final = setup
        self._recording: Final = recording
        self._ray: Final = import_ray()
        self._connect(where, jobs)
        self._jobs: Final = jobs or int(self._ray.cluster_resources().get("CPU", 1))
        self._actors: list[Any] = []
        self._under_way: dict[Any, tuple[int, GameId]] = {}
        self._again: deque[GameId] = deque()
        self._crashes = 0

    def play(
        self, game_ids: Iterable[GameId], look: Callable[[], None] = lambda: None
    ) -> Iterator[Played]:
        """Play the games and return each as soon as it is finished, in whatever order.

        ``look`` is called every second or oftener.
        """
        waiting = iter(game_ids)
        self._actors = [self._new_actor() for _ in range(self._jobs)]
        self._check_machines(look)
        for number in range(self._jobs):
            for _ in range(AHEAD):
                self._give(number, waiting)
        while self._under_way:
            look()
            done, _ = self._ray.wait(list(self._under_way), num_returns=1, timeout=LOOK_S)
            if not done:
                continue
            number, game_id = self._under_way.pop(done[0])
            try:
                yield self._ray.get(done[0])
                self._crashes = 0
            except self._ray.exceptions.RayError as error:
                self._on_worker_lost(number, game_id, error)
            self._give(number, waiting)

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
                if where == LOCAL:
                    here = {"_node_ip_address": "127.0.0.1", "include_dashboard": False}
                    self._ray.init(num_cpus=jobs, **here, **quiet)
                else:
                    self._ray.init(address=where, **quiet)
        except Exception as error:  # Ray raises whatever its parts do
            text = " ".join(str(error).split())[:200]
            raise WorkerError(f"--on {where}: {type(error).__name__}: {text}") from None

    def _new_actor(self) -> Any:
        return self._ray.remote(num_cpus=1)(RemotePlayer).remote(self._setup, self._recording)

    def _check_machines(self, look: Callable[[], None]) -> None:
        missing = [actor.problem.remote() for actor in self._actors]
        while missing:
            look()
            done, missing = self._ray.wait(missing, num_returns=1, timeout=LOOK_S)
            for problem in self._ray.get(done):
                if problem:
                    raise WorkerError(f"a machine of the cluster cannot play: {problem}")

    def _give(self, number: int, waiting: Iterator[GameId]) -> None:
        game_id = self._again.popleft() if self._again else next(waiting, None)
        if game_id is not None:
            self._under_way[self._actors[number].play.remote(game_id)] = (number, game_id)

    def _on_worker_lost(self, number: int, game_id: GameId, error: Exception) -> None:
        """Play a lost game again, on another actor if its own is gone."""
        self._crashes += 1
        if self._crashes > MOST_CRASHES * self._jobs:
            text = " ".join(str(error).split())[:200]
            raise WorkerError(f"the cluster loses its machines: {text}")
        self._again.append(game_id)
        if isinstance(error, self._ray.exceptions.RayActorError):
            self._actors[number] = self._new_actor()


def import_ray() -> Any:
    """Return the module; :class:`~mjbot.arena.workers.pool.WorkerError` if it is not installed."""
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise WorkerError(f"--on ray needs Ray: pip install '{REQUIREMENT}'") from None
