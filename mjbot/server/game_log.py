"""The server's record of a game: unmasked events, one per line, written as they happen."""

import datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from mjbot.server.core import LogLine
from protocol.codec import encode
from protocol.dialects import Dialect


class GameLog:
    """An open ``.mjson`` file in the original server's format.

    Every line gains ``logs``, what each seat remarked (``null``: nothing); our ``start_kyoku``
    also tells the scores.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] = path.open("xb")

    @classmethod
    def create(cls, folder: Path) -> Self:
        """Open a file of its own, named after the time; raises ``OSError``."""
        folder.mkdir(parents=True, exist_ok=True)
        moment = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
        number = 1
        while True:
            suffix = f"-{number}" if number > 1 else ""
            try:
                return cls(folder / f"{moment}{suffix}.mjson")
            except FileExistsError:
                number += 1

    def write(self, lines: list[LogLine]) -> None:
        """Append the lines; they are on disk when this returns."""
        for line in lines:
            extra = {"logs": list(line.logs)}
            self._file.write(encode(line.event, Dialect.LOG, extra) + b"\n")
        if lines:
            self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
