"""``python -m mjbot COMMAND ...`` is the command line, and so is the program ``mjbot``.

From the first line here on, SIGINT, SIGTERM and SIGHUP do what :mod:`mjbot.runtime.interruption`
describes, which takes tenths of a second to import.  Before, while Python itself starts, they do
what they do to any Python program.
"""

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import NoReturn

INTERRUPTED = 130


def _end(status: int, *_: object) -> None:
    os._exit(status)


def run() -> NoReturn:
    """Run the command of this process and end the process."""
    is_service = sys.argv[1:2] in (["run"], ["serve"])
    end = partial(_end, INTERRUPTED)
    handlers: dict[str, Callable[..., None]] = {
        "SIGINT": end,
        "SIGTERM": partial(_end, 0) if is_service else end,
        # the profile of ``run`` was not read yet
        "SIGHUP": (lambda *_: None) if sys.argv[1:2] == ["run"] else end,
    }
    for name, handler in handlers.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
    from mjbot.cli.main import run_program

    run_program()


if __name__ == "__main__":
    run()
