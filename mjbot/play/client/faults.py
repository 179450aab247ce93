"""Faults of a strategy at a table: logged, counted, and written for the parent process."""

import csv
import logging
import os
import traceback
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from mjbot.runtime.files import naming
from mjbot.strategy.faults import Fault, FaultKind

logger = logging.getLogger(__name__)

FAULTS_VARIABLE: Final = "MJBOT_FAULTS"
"""The environment variable that names the file for faults."""

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
    """Return what a player's :class:`Faults` kept; nothing if all went well."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    return [
        Fault(cast(FaultKind, kind), int(seat), int(decision), problem)
        for kind, seat, decision, problem in rows
    ]
