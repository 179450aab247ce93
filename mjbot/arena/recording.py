"""Records of arena games: one gzipped file of mjai lines each, in the run's folder.

A file is there whole or not at all, and before its game counts, so that a run which was killed
goes on without gaps.  ``mjbot replay``, ``convert`` and ``train`` take the folder as it is.
"""

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from mjbot.arena.setup import Unit
from mjbot.records.mjai_log import log_line
from protocol.messages import Event

RECORDS_FOLDER: Final = "records"


def packed(events: Iterable[Event]) -> bytes:
    """Return the record of a game; equal games give equal bytes."""
    return gzip.compress(b"".join(map(log_line, events)), 6, mtime=0)


def record_path(folder: Path, unit: Unit) -> Path:
    """Return where the record of a game lies in a run's folder; names sort as games do.

    >>> record_path(Path("run"), Unit(12, 3)).as_posix()
    'run/records/0000012-03.jsonl.gz'
    """
    return folder / RECORDS_FOLDER / f"{unit.wall:07}-{unit.seating:02}.jsonl.gz"


def save_record(folder: Path, unit: Unit, record: bytes) -> None:
    """Keep a record.  Raises ``OSError``."""
    path = record_path(folder, unit)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_bytes(record)
    unfinished.replace(path)
