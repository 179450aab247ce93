"""What every transport can do, and how it fails.

No ``asyncio.wait_for`` here or anywhere above: Python 3.11's swallows a cancellation that comes in
the same turn of the loop as the result.  ``asyncio.timeout`` does not.
"""

import abc
import os
from types import TracebackType
from typing import Self


class TransportError(ConnectionError):
    """The line to the other side is not there; the text is one clear line."""


class UnreachableError(TransportError):
    """Nothing answers at that address, or it refuses us."""


class RefusedError(UnreachableError):
    """The server there refuses us: waiting is no use."""


class VanishedError(TransportError):
    """The other side closed the connection."""


class SilenceError(TransportError):
    """The other side was silent for too long."""


class Transport(abc.ABC):
    """Carries whole lines (or frames) in both directions."""

    @abc.abstractmethod
    async def receive(self, timeout_s: float | None = None) -> bytes:
        """Return the next line, without its line end.

        Raises :class:`SilenceError` after ``timeout_s`` seconds, :class:`VanishedError` at the
        end of the stream and :class:`mjbot.protocol.errors.ProtocolError` for a line that is too
        long or cut off.
        """

    @abc.abstractmethod
    async def send(self, line: bytes) -> None:
        """Send one line (without line end); raises :class:`VanishedError`."""

    @abc.abstractmethod
    async def close(self) -> None:
        """Close both directions; harmless when already closed."""

    async def reset(self) -> None:
        """Break the line at once and without a word, as a crash does."""
        await self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def system_message(error: Exception) -> str:
    """Return why a system call failed; asyncio's own text names a "connect call"."""
    number = getattr(error, "errno", None)
    if isinstance(number, int) and number > 0:
        return os.strerror(number)
    return getattr(error, "strerror", None) or str(error)
