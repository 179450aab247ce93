"""``python -m mjbot COMMAND ...`` is the command line, and so is the program ``mjbot``.

From the first line here on, SIGINT and SIGTERM (and SIGHUP of ``run``) do what
:mod:`mjbot.runtime.interruption` describes, which takes tenths of a second to import.  Before,
while Python itself starts, they do what they do to any Python program.
"""

import os
import signal
import sys
from functools import partial
from typing import NoReturn

INTERRUPTED = 130


def _end(status: int, *_: object) -> None:
    os._exit(status)


def run() -> NoReturn:
    """Run the command of this process and end the process."""
    is_service = sys.argv[1:2] in (["run"], ["serve"])
    ends = {"SIGINT": INTERRUPTED, "SIGTERM": 0 if is_service else INTERRUPTED}
    for name, status in ends.items():
        if signal.getsignal(number := signal.Signals[name]) is not signal.SIG_IGN:
            signal.signal(number, partial(_end, status))
    hangup = getattr(signal, "SIGHUP", signal.SIGINT)
    if sys.argv[1:2] == ["run"] and signal.getsignal(hangup) is signal.SIG_DFL:
        signal.signal(hangup, lambda *_: None)  # the profile was not read yet
    from mjbot.cli.main import run_program

    run_program()


if __name__ == "__main__":
    run()
