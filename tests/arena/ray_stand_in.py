"""What :mod:`mjbot.arena.workers.on_ray` uses of Ray, in one process: actors answer at once.

``machine`` is what an actor's class is replaced by.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


class RayError(Exception):
    """As ``ray.exceptions.RayError``."""


class Ray:
    """A cluster on which an answer is there when it is waited for, but for the first ``idle``."""

    def __init__(self, machine: Callable[..., object], idle: int = 0) -> None:
        self.exceptions = SimpleNamespace(RayError=RayError, RayActorError=RayError)
        self._machine = machine
        self._idle = idle

    def init(self, **options: Any) -> None:
        """Connect."""

    def shutdown(self) -> None:
        """Disconnect."""

    def cluster_resources(self) -> dict[str, float]:
        """Return two processors."""
        return {"CPU": 2.0}

    def remote(self, **options: Any) -> Callable[[object], Any]:
        """Return what makes actors."""
        return lambda cls: SimpleNamespace(remote=self._new_actor)

    def _new_actor(self, *arguments: Any) -> Any:
        machine = self._machine(*arguments)

        def method(name: str) -> Any:
            return SimpleNamespace(remote=lambda *given: (object(), machine, name, given))

        return _Actor(problem=method("problem"), play=method("play"))

    def wait(self, answers: list[Any], **options: Any) -> tuple[list[Any], list[Any]]:
        """Return one answer, none as long as the cluster is idle."""
        if self._idle:
            self._idle -= 1
            return [], answers
        return answers[:1], answers[1:]

    def get(self, answer: Any) -> Any:
        """Return what an actor answers."""
        _, machine, name, given = answer
        return getattr(machine, name)(*given)


class _Actor(SimpleNamespace):
    __hash__ = object.__hash__
