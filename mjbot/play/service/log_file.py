"""A log file that is set aside at a size, and how many of those set aside are kept."""

import re
import sys
from io import FileIO
from pathlib import Path
from typing import Final

from mjbot.runtime.clock import local_time
from mjbot.runtime.errors import error_report
from mjbot.runtime.files import naming, write_all
from mjbot.runtime.redaction import redacted

_STAMP: Final = r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_\d{6}(\.\d+)?"


class LogFile:
    """The file ``path``; those set aside are called ``NAME.DATE_TIME.ENDING``.

    Only files of exactly that form are removed.  ``write`` raises nothing: a problem is reported
    once on standard error, and each line is tried again.  Opening raises ``OSError`` with the path.
    """

    def __init__(self, path: Path, most_bytes: int, kept: int) -> None:
        self._path: Final = path
        self._most_bytes: Final = most_bytes
        self._kept: Final = kept
        self._reported: Final[set[str]] = set()
        self._file = self._opened()

    def write(self, text: str) -> None:
        """Append a line."""
        data = redacted(text).encode("utf-8", "backslashreplace")
        try:
            if self._file.tell() and self._file.tell() + len(data) > self._most_bytes:
                self._set_aside()
        except OSError as error:
            self._report(error)
        try:
            write_all(self._file, self._path, data)
        except OSError as error:
            self._report(error)

    def stop(self) -> None:
        """Close the file: loguru calls this when the log is no longer used."""
        self._file.close()

    def _opened(self) -> FileIO:
        with naming(self._path):
            return self._path.open("ab", buffering=0)

    def _set_aside(self) -> None:
        moment = local_time().strftime("%Y-%m-%d_%H-%M-%S_%f")
        aside = self._path.with_name(f"{self._path.stem}.{moment}{self._path.suffix}")
        with naming(self._path):
            self._path.rename(aside)
        new = self._opened()
        self._file.close()
        self._file = new
        form = re.escape(self._path.stem) + r"\." + _STAMP + re.escape(self._path.suffix)
        logs = [path for path in self._path.parent.iterdir() if re.fullmatch(form, path.name)]
        older = sorted(path for path in logs if path != aside and not path.is_symlink())
        for path in older[: max(0, len(older) + 1 - self._kept)]:
            with naming(path):
                path.unlink(missing_ok=True)

    def _report(self, error: OSError) -> None:
        text = error_report(error)[0]
        if text not in self._reported:
            self._reported.add(text)
            sys.stderr.write(f"the log: {text}; what is logged is on standard error\n")
