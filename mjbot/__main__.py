"""``python -m mjbot COMMAND ...`` is the command line, and so is the program ``mjbot``.

From the first line here on, SIGINT and SIGTERM end it as :mod:`mjbot.interruption` describes, which
takes tenths of a second to import.  Before, while Python itself starts, they do what they do to
any Python program.
"""

import os
import signal
from typing import NoReturn

INTERRUPTED = 130


def run() -> NoReturn:
    """Run the command of this process and end the process."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: os._exit(INTERRUPTED))
    from mjbot.cli.main import run_program

    run_program()


if __name__ == "__main__":
    run()
