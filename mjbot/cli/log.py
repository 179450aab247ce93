"""What the commands log: loguru's logger, and the only place that gives it an output.

loguru shows the values of local variables under each line of a traceback unless that is turned
off: those of a connection have its token.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from loguru import logger

__all__ = ["DATED", "Output", "log_to", "logger"]

DATED: Final = "{time:YYYY-MM-DD HH:mm:ss} {level: <7} {message}"
"""The format of a program that runs for days."""


class Output(NamedTuple):
    """Where to log: a stream (or what has its ``write``), from which level on, in which format."""

    stream: Any
    level: str = "INFO"
    form: str = "{time:HH:mm:ss} {level: <7} {message}"
    filter: Callable[[Any], bool] | None = None


_added: Final[list[int]] = []


def log_to(*outputs: Output) -> None:
    """Log to these from now on, and no longer to the outputs before."""
    before = list(_added)
    _added[:] = [
        logger.add(
            output.stream,
            level=output.level,
            format=output.form,
            filter=output.filter,
            backtrace=False,
            diagnose=False,
        )
        for output in outputs
    ]
    for number in before:
        with suppress(ValueError):  # another user of loguru may have removed it
            logger.remove(number)


logger.remove()
log_to(Output(sys.stderr, "DEBUG"))
