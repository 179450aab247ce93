"""Pauses between attempts to connect: of `mjbot play`, of a bot's service, of a pair's channel."""

from random import Random
from typing import Final


class Backoff:
    """Pauses between attempts: each up to twice as long as the one before, drawn by ``random``.

    A pause is drawn from the upper half of its range, so that many clients of a server that comes
    back do not connect in the same moment.
    """

    def __init__(self, first_s: float, longest_s: float, random: Random) -> None:
        self._first_s: Final = first_s
        self._longest_s: Final = max(first_s, longest_s)
        self._random: Final = random
        self._next_s = first_s

    def next_s(self) -> float:
        """Return the seconds of the next pause."""
        pause_s = self._next_s * self._random.uniform(0.5, 1.0)
        self._next_s = min(2 * self._next_s, self._longest_s)
        return pause_s

    def reset(self) -> None:
        """An attempt went well."""
        self._next_s = self._first_s
