"""A folder on a disk that fails: real files, whose operations are counted and may be refused.

An operation is a write, an opening for writing, a change of name, a removal, a new folder or a
truncation below the folder; all else is the system's own.  A full disk takes half of a write before
it refuses, as Linux does.
"""

import builtins
import errno
import io
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from proof.simulation.processes import current, name_of_current

_OPEN, _OS_OPEN = io.open, os.open
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES: Final = ("mkdir", "rename", "replace", "unlink", "remove", "link", "symlink", "rmdir")


@dataclass(frozen=True)
class DiskFault:
    """``kind`` strikes from operation ``at`` on, for ``count`` operations.

    ``full`` and ``broken`` refuse writes (ENOSPC, EIO), ``read-only`` all but writes to files that
    are open (EROFS); ``gone`` removes the folder ``logs``, once.
    """

    kind: str
    at: int
    count: int


class Disk:
    """``on_fault(kind, operation)`` is called at each refusal."""

    def __init__(
        self, folder: Path, faults: list[DiskFault], on_fault: Callable[[str, str], None]
    ) -> None:
        self.folder: Final = folder
        self.operations = 0
        self.is_full = False
        """Whether the last write has taken what room there was."""
        self.files: Final[set[_File]] = set()
        self.closed: Final[list[tuple[str, Path]]] = []
        """Files in the order in which they were closed, each with its process."""
        self.uncut: Final[set[Path]] = set()
        """Files that could not be truncated: there what a full disk took of a line stays."""
        self._prefix: Final = str(folder)
        self._faults: Final = faults
        self._gone: Final[set[DiskFault]] = set()
        self._on_fault: Final = on_fault

    def has(self, path: object) -> bool:
        """Return whether a process of ours uses a path of the folder."""
        is_here = not isinstance(path, int) and str(path).startswith(self._prefix)
        return is_here and current() is not None

    def operate(self, name: str, path: object) -> str:
        """Count an operation; return the fault that strikes, if any."""
        at, self.operations = self.operations, self.operations + 1
        for fault in self._faults:
            if not fault.at <= at < fault.at + fault.count:
                continue
            if fault.kind == "gone":
                if fault not in self._gone:
                    self._gone.add(fault)
                    self._on_fault("gone", name)
                    for entry in list(self.folder.glob("logs*")):
                        shutil.rmtree(entry, ignore_errors=True)
            elif (fault.kind == "read-only") is (name != "write"):
                self._on_fault(fault.kind, name)
                return fault.kind
        return ""

    def kill(self, process: str) -> Iterator[str]:
        """Close what a process has open, as the system does; yield what it is."""
        for file in [file for file in self.files if file.process == process]:
            yield Path(str(file.name)).name
            file.close()

    def require(self, name: str, path: object) -> None:
        """Count an operation that is no write; raises ``OSError``."""
        if self.operate(name, path):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    # --- what stands in for the system's functions -------------------------------------------

    def open(
        self, file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None,
        errors: str | None = None, newline: str | None = None, closefd: bool = True,
        opener: Any = None,
    ) -> Any:  # fmt: skip
        """Stand in for ``io.open``."""
        if not self.has(file) or (opener is None and set(mode) <= set("rbt")):
            return _OPEN(file, mode, buffering, encoding, errors, newline, closefd, opener)
        self.require("open", file)
        raw: Any = _File(self, file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if buffering == 0:
            return raw
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        if "b" in mode:
            return buffered
        return io.TextIOWrapper(buffered, encoding, errors, newline, line_buffering=buffering == 1)

    def os_open(self, path: Any, flags: int, mode: int = 0o777, **options: Any) -> int:
        """Stand in for ``os.open``."""
        if flags & _WRITING and self.has(path):
            self.require("open", path)
        return _OS_OPEN(path, flags, mode, **options)

    def file_io(self, file: Any, mode: str = "r", closefd: bool = True, opener: Any = None) -> Any:
        """Stand in for ``io.FileIO`` of a descriptor."""
        return _File(self, file, mode, closefd, opener)

    def replacements(self) -> list[tuple[Any, str, Any]]:
        """Return what replaces which attribute of which module."""
        found: list[tuple[Any, str, Any]] = [
            (io, "open", self.open), (builtins, "open", self.open), (os, "open", self.os_open),
        ]  # fmt: skip
        return found + [(os, name, self._changing(name, getattr(os, name))) for name in _CHANGES]

    def _changing(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def change(path: Any, *args: Any, **options: Any) -> Any:
            if self.has(path):
                self.require(name, path)
            return original(path, *args, **options)

        return change


class _File(io.FileIO):
    """An open file, whose writes may be refused."""

    def __init__(self, disk: Disk, file: Any, mode: str, closefd: bool, opener: Any) -> None:
        super().__init__(file, mode, closefd, opener)
        self._disk: Final = disk
        self.process: Final = name_of_current()
        disk.files.add(self)

    def write(self, data: Any) -> int:
        """Write, or half of it, or refuse; see :class:`Disk`."""
        kind = self._disk.operate("write", self.name)
        if kind == "broken":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        if kind == "full":
            if self._disk.is_full:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._disk.is_full = True
            data = memoryview(data).cast("B")[: memoryview(data).nbytes // 2]
        else:
            self._disk.is_full = False
        return super().write(data)

    def truncate(self, size: int | None = None) -> int:
        """Truncate; refused like all but writes."""
        try:
            self._disk.require("truncate", self.name)
        except OSError:
            self._disk.uncut.add(Path(str(self.name)))
            raise
        return super().truncate(size)

    def close(self) -> None:
        """Close."""
        if hasattr(self, "_disk") and self in self._disk.files:
            self._disk.files.discard(self)
            if isinstance(self.name, str | Path):  # not a descriptor
                self._disk.closed.append((self.process, Path(self.name)))
        super().close()
