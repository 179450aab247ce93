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

from mjbot.runtime.system import ENDING_SIGNALS, HANGUP, TERMINATIONS

INTERRUPTED = 130


def _end(status: int, *_: object) -> None:
    os._exit(status)


def run() -> NoReturn:
    """Run the command of this process and end the process."""
    is_service = sys.argv[1:2] in (["run"], ["serve"])
    end = partial(_end, INTERRUPTED)
    handlers: dict[int | None, Callable[..., None]] = {
        **dict.fromkeys(TERMINATIONS, partial(_end, 0) if is_service else end),
        # the profile of ``run`` was not read yet
        HANGUP: (lambda *_: None) if sys.argv[1:2] == ["run"] else end,
    }
    for number in ENDING_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handlers.get(number, end))
    from mjbot.cli.main import run_program

    run_program()


if __name__ == "__main__":
    run()
