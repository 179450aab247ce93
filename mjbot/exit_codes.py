"""What the exit status of every ``mjbot`` command means."""

from typing import Final

OK: Final = 0
FAILED: Final = 1  # the work was done and found wanting: a mismatch, a game that did not end
BAD_ARGUMENTS: Final = 2
UNREACHABLE: Final = 3  # no server, no Node, no file
PROTOCOL_FAULT: Final = 4  # the other side broke the protocol or contradicted itself
INTERRUPTED: Final = 130
