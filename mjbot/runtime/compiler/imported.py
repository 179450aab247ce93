"""Which state of each source file was imported: compiled code is only filed under that.

A digest of the files as they are now does not describe code that was imported a second ago: a file
saved while a process starts would leave machine code of the old source under the new one's name.
A finder for our packages records size and time of each file just before Python reads it.
"""

import importlib.machinery
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Final

PACKAGES: Final = ("mjbot", "papers")

_Stamp = tuple[int, int]
_imported: Final[dict[str, _Stamp]] = {}
"""Path -> time in ns and size, as the file was when its module was imported."""


def imported_stamp(path: str) -> _Stamp | None:
    """Return what :func:`stamp_of` was when the file was imported, if it was, by this finder."""
    return _imported.get(path)


def stamp_of(path: str) -> _Stamp | None:
    """Return time and size of the file as it is now; ``None`` where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


class _RecordingLoader(importlib.machinery.SourceFileLoader):
    """Records the file before it, or its compiled copy, is read."""

    def path_stats(self, path: str) -> dict[str, float | int]:
        if stamp := stamp_of(str(path)):
            _imported[str(path)] = stamp
        return dict(super().path_stats(path))


class _RecordingFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if path is None or fullname.partition(".")[0] not in PACKAGES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = _RecordingLoader(fullname, str(spec.loader.path))
        return spec


def record_imports() -> None:
    """Record from now on the state of the files that modules of our packages are imported from."""
    if not any(isinstance(finder, _RecordingFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _RecordingFinder())
