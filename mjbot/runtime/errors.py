"""What a user's mistake or a bad file raises, and what the exit status of a command means."""

from enum import IntEnum
from typing import Final

from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.runtime.files import first_line


class ExitCode(IntEnum):
    """The exit status of every ``mjbot`` command."""

    OK = 0
    FAILED = 1
    """The work was done and found wanting: a mismatch, a game that did not end."""
    BAD_ARGUMENTS = 2
    UNREACHABLE = 3
    """No server, no Node, no file."""
    PROTOCOL_FAULT = 4
    """The other side broke the protocol or contradicted itself."""
    INTERRUPTED = 130


class MjbotError(Exception):
    """An error that the user sees as one line; ``exit_code`` is the status of its command."""

    exit_code: int = ExitCode.FAILED

    def __init__(self, *args: object, exit_code: int | None = None) -> None:
        super().__init__(*args)
        if exit_code is not None:
            self.exit_code = exit_code


class ArgumentError(MjbotError, ValueError):
    """Arguments that cannot be meant; the text is one line."""

    exit_code = ExitCode.BAD_ARGUMENTS


EXPECTED_ERRORS: Final = (MjbotError, ProtocolError, OSError)
"""What ends a command with one line; everything else is a fault of ours, with its traceback."""

_OF_THE_PROTOCOL: Final[dict[type[ProtocolError], tuple[str, ExitCode]]] = {
    LocalProtocolError: ("mjbot itself was about to break the protocol", ExitCode.FAILED),
    ProtocolError: ("the server broke the protocol", ExitCode.PROTOCOL_FAULT),
}


def error_report(error: BaseException) -> tuple[str, int]:
    """Return the message of one of :data:`EXPECTED_ERRORS`, and the exit status.

    >>> error_report(FileNotFoundError(2, "No such file or directory", "weights.npz"))
    ('weights.npz: No such file or directory', <ExitCode.UNREACHABLE: 3>)
    """
    if isinstance(error, MjbotError):
        return str(error), error.exit_code
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or str(error) or first_line(error)}", ExitCode.UNREACHABLE
    for kind, (text, code) in _OF_THE_PROTOCOL.items():
        if isinstance(error, kind):
            return f"{text}: {error}", code
    raise TypeError(f"{error!r} is none of those")
