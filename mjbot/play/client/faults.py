"""Faults of a strategy at a table: logged, counted, and written for the parent process."""

import contextlib
import csv
import logging
import os
import traceback
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mjbot.runtime.files import naming
from mjbot.strategy.faults import FAULT_KINDS, Fault, FaultKind

logger = logging.getLogger(__name__)

FAULTS_VARIABLE: Final = "MJBOT_FAULTS"
"""The environment variable that names the file for faults."""

_LINE_END: Final = b"\r\n"
"""As the csv module writes it; a problem is one line."""

REPORTED_WHOLE: Final = 5
"""Number of different problems of one player that are logged in full."""


class Faults:
    """The faults of one player; ``file`` gets a line for each as soon as it happens."""

    def __init__(self, file: Path | None = None) -> None:
        self._file: Final = file
        self._reported: Final[set[str]] = set()
        self._count: Final[Counter[FaultKind]] = Counter()

    @property
    def count(self) -> Mapping[FaultKind, int]:
        """How many there were of each kind."""
        return self._count

    def add(self, fault: Fault, cause: BaseException | None = None) -> None:
        """Take note; raises ``OSError`` if the file cannot be written."""
        self._count[fault.kind] += 1
        self._log(fault, cause)
        if self._file is not None:
            file = self._file
            with naming(file), file.open("a", encoding="utf-8", newline="") as lines:
                csv.writer(lines).writerow([fault.kind, fault.seat, fault.decision, fault.problem])

    def _log(self, fault: Fault, cause: BaseException | None) -> None:
        number = self._count.total()
        if fault.problem in self._reported or len(self._reported) >= REPORTED_WHOLE:
            logger.error("fault %d: %s", number, fault.problem)
            return
        self._reported.add(fault.problem)
        instead = "a safe action goes out instead" if fault.decision else "it plays on"
        trace = "".join(["\n", *traceback.format_exception(cause)]).rstrip() if cause else ""
        text = f"the strategy: {fault.kind}, {fault.problem}; {instead}"
        logger.error("fault %d of %s%s", number, text, trace)


def named_file() -> Path | None:
    """Return the file in which the parent process reads the faults."""
    name = os.environ.get(FAULTS_VARIABLE)
    return Path(name) if name else None


def read_faults(file: Path) -> list[Fault]:
    """Return what a player's :class:`Faults` kept; nothing if all went well.

    A damaged line was a fault, too: a full disk, or a kill, cuts off the last one.
    """
    if not file.exists():
        return []
    lines = file.read_bytes().split(_LINE_END)
    damaged = [f"line {number} of {file} is damaged" for number in range(1, len(lines) + 1)]
    pairs = zip(lines, damaged, strict=True)
    return [_fault_in(line) or Fault("crash", 0, 0, problem) for line, problem in pairs if line]


def _fault_in(line: bytes) -> Fault | None:
    with contextlib.suppress(ValueError, csv.Error):
        ((kind, seat, decision, problem),) = csv.reader([line.decode()])
        if kind in FAULT_KINDS:
            return Fault(kind, int(seat), int(decision), problem)
    return None
