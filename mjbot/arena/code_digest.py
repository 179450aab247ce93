"""A digest of all that a run's games depend on, as far as it can be known beforehand.

Of our own strategies it covers the source of all modules they import, and the shipped weights.  A
strategy from outside is loaded and made once, in a process of its own, and everything that is read
for it counts (:mod:`mjbot.arena.workers.files_read`).  What it reads only later is kept next to the
games.
"""

import hashlib
import multiprocessing
import os
import shlex
import time
from collections.abc import Iterable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import mjbot
from mjbot.arena.workers.clock import BEATS, HEARTBEAT_SIZE, Clock, DeadlineError
from mjbot.arena.workers.files_read import FileRead, ReadingWatch, digest_of
from mjbot.arena.workers.playing import MAKING_S
from mjbot.arena.workers.pool import PATIENCE_S, Liveness
from mjbot.game.referee.referee import Referee
from mjbot.game.statistics.figures import count_kyoku
from mjbot.learning.models.weights import shipped_digest
from mjbot.play.match.node import NodeError
from mjbot.play.match.players import SeatError, players_of
from mjbot.runtime.compiler.sources import source_digest
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.processes import WorkerProcess, describe_exit
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import Spec, made_of

LOOK_S: Final = 1.0


class MakingError(StrategyError):
    """A strategy is there but cannot be made; the text is one line for the user."""

    exit_code = ExitCode.FAILED


def code_digest(specs: Iterable[Spec], players: int = 4) -> str:
    """Return digests of all source, weights and other files that the games depend on.

    They are one per strategy, in order, with commas between: runs with other opponents have a
    strategy's digest in common.

    Raises :class:`~mjbot.strategy.options.StrategyError` if a strategy or option is unknown, or
    plays no table of so many ``players``, and :class:`MakingError` if one cannot be made.
    """
    specs = tuple(specs)
    digests = {spec: _digest_of(spec, players) for spec in dict.fromkeys(specs)}
    return ",".join([digests[spec] for spec in specs])


def _digest_of(spec: Spec, players: int) -> str:
    digest = hashlib.sha256(source_digest(Referee.__module__).encode())
    digest.update(source_digest(count_kyoku.__module__).encode())
    digest.update(shipped_digest().encode())
    if spec.is_external:
        files = _external_files(spec, players)
    elif spec.is_outside:
        files = _looked_at(spec, players)
    else:
        spec.check()
        spec.require_players(players)
        files = _sources_of(spec)
    digest.update("".join(files).encode())
    return digest.hexdigest()[:16]


def _sources_of(spec: Spec) -> list[str]:
    """Return the digests of all modules that a strategy is made of, each with what it imports."""
    modules = dict.fromkeys(cls.__module__ for cls in made_of(spec))
    return [source_digest(module) for module in modules]


def _external_files(spec: Spec, players: int) -> list[str]:
    """Return digests of the files that a command names.  Raises ``StrategyError``."""
    try:
        (player,) = players_of([spec])
        player.require_players(players)
        player.command("", 1)
    except (SeatError, NodeError) as error:
        raise StrategyError(str(error), exit_code=error.exit_code) from None
    parts = shlex.split(spec.label)
    return [digest_of(part) for part in parts if Path(part).is_file()]


def code_parts(specs: Iterable[Spec], players: int = 4) -> dict[str, str]:
    """Return the digest of each file of mjbot, and of what strategies from outside read, by name.

    Where :func:`code_digest` differs between two machines, these show in which files.  Raises as
    that does.
    """
    parts = {}
    package = Path(mjbot.__path__[0])
    for folder, _, names in os.walk(package, followlinks=True):  # a checkout's subpackages
        for path in (Path(folder, name) for name in names):
            if path.suffix in _CODE:
                parts[path.relative_to(package.parent).as_posix()] = digest_of(str(path))
    for spec in dict.fromkeys(specs):
        if spec.is_external:
            files = [f"{spec.label} {digest}" for digest in _external_files(spec, players)]
        else:
            files = _looked_at(spec, players)[1:] if spec.is_outside else []
        parts |= dict([file.rsplit(" ", 1) for file in files])
    return parts


_CODE: Final = (".py", ".npz")


def differing_parts(here: Mapping[str, str], there: Mapping[str, str]) -> list[str]:
    """Return the names of files that are not the same, or are in one place only.

    >>> differing_parts({"a.py": "1", "b.py": "2"}, {"a.py": "1", "b.py": "3", "c.py": "4"})
    ['b.py', 'c.py (only there)']
    """
    changed = [name for name, digest in here.items() if there.get(name, digest) != digest]
    missing = [f"{name} (missing there)" for name in here.keys() - there.keys()]
    more = [f"{name} (only there)" for name in there.keys() - here.keys()]
    return sorted(changed) + sorted(missing) + sorted(more)


# --- strategies from outside -----------------------------------------------------------------


def _looked_at(spec: Spec, players: int) -> list[str]:
    """Load and make a strategy in another process; return digests of what it read for that.

    The digests do not depend on where the files lie.  Raises :class:`StrategyError`.
    """
    heartbeat: Any = multiprocessing.RawArray("q", HEARTBEAT_SIZE)
    worker = WorkerProcess(_look, heartbeat, spec, players)
    heart = Liveness(time.monotonic())
    try:
        while not worker.connection.poll(LOOK_S):
            now_s = time.monotonic()
            if heartbeat[BEATS] and heart.silent_s((heartbeat[BEATS],), now_s) > PATIENCE_S:
                raise MakingError(f"{spec}: does not come back from being made")
        answer: StrategyError | list[str] = worker.connection.recv()
    except (EOFError, OSError):
        end = describe_exit(worker.reap())
        raise MakingError(f"{spec}: the process that made it {end}") from None
    finally:
        worker.kill()
        worker.reap()
    if isinstance(answer, StrategyError):
        raise answer
    return answer


def _look(connection: Connection, heartbeat: Any, spec: Spec, players: int) -> None:
    os.dup2(2, 1)
    watch = ReadingWatch()
    try:
        with Clock(MAKING_S, heartbeat) as clock:
            source = _made_once(spec, players, clock)
    except StrategyError as error:
        connection.send(type(error)(str(error)))
    else:
        connection.send([source, *sorted(map(_named, watch.drain()))])


def _made_once(spec: Spec, players: int, clock: Clock) -> str:
    """Make a strategy; return the digest of its module and of ours that it imports."""
    try:
        try:
            clock.start(0, 0)
            spec.check()
            spec.require_players(players)
            source = "".join(_sources_of(spec))
            _make(spec)
        finally:
            clock.stop()
    except DeadlineError:
        problem = f"strategy {spec.name!r} cannot be made: not ready after {MAKING_S:g} s"
        raise MakingError(problem) from None
    return source


def _make(spec: Spec) -> None:
    try:
        spec.make()
    except StrategyError as error:
        raise MakingError(str(error)) from None


def _named(file_read: FileRead) -> str:
    path, digest = file_read
    return f"{Path(path).name} {digest}"
