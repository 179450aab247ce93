"""The time for replies to requests: a grace for each, then a common bank.

The server's session and the client's keep it in the same way, so that both know how long a request
may take, also where a request has no times.
"""

from typing import Final


class TimeBank:
    """``grace_ms`` for each decision, and beyond it ``full_ms`` per kyoku for all together."""

    def __init__(self, grace_ms: int, full_ms: int) -> None:
        self.grace_ms: Final = grace_ms
        self.full_ms: Final = full_ms
        self.left_ms = full_ms

    @property
    def deadline_ms(self) -> int:
        """How long the next decision may take.

        >>> bank = TimeBank(3000, 15000)
        >>> bank.spend(5000)
        >>> bank.left_ms, bank.deadline_ms
        (13000, 16000)
        """
        return self.grace_ms + self.left_ms

    def refill(self) -> None:
        """A kyoku begins."""
        self.left_ms = self.full_ms

    def spend(self, elapsed_ms: int) -> None:
        """A decision took so long; what is beyond the grace is paid by the bank."""
        self.left_ms = max(0, self.left_ms - max(0, elapsed_ms - self.grace_ms))
