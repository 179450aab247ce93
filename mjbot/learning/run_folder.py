"""The folder of a training run: which files in it are the run's own, and no other's.

``run.jsonl`` names each file before it appears, so what the run left can be told, and erased,
without touching what else is there.  A file is there whole or not at all.
"""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final, Literal

import msgspec

from mjbot.append_log import AppendLog, Cures, emptied

RUN_FILE: Final = "run.jsonl"
RUN_CURES: Final = Cures("name another --folder", "use --fresh")

Kind = Literal["hand", "fold"]


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of the list: what is trained."""

    train: Kind


class Written(msgspec.Struct, frozen=True):
    """A further line: the name of a file in the folder."""

    file: str


def _decode(text: bytes) -> Written:
    line = msgspec.json.decode(text, type=Written)
    if Path(line.file).name != line.file:
        raise ValueError(f"{line.file!r} is no file of this folder")
    return line


class RunFolder:
    """One run's folder, nobody else's while it is open; use it as a context manager.

    Raises :class:`~mjbot.append_log.LogError`.
    """

    def __init__(self, folder: Path, kind: Kind) -> None:
        self.folder: Final = folder
        path = folder / RUN_FILE
        self._log: Final = AppendLog(path, Header(train=kind), RUN_CURES, decode=_decode)
        self._own: Final = {line.file for line in self._log.lines}

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self._log.close()

    def claim(self, name: str) -> Path:
        """Return the path of a file that is the run's to write from now on."""
        if name not in self._own:
            self._log.append(Written(name))
            self._own.add(name)
        return self.folder / name

    def kept(self, name: str) -> Path | None:
        """Return the path of a file that the run wrote before."""
        path = self.folder / name
        return path if name in self._own and path.exists() else None

    def write(self, name: str, save: Callable[[BinaryIO], None]) -> None:
        """Write a file whole or not at all."""
        path = self.claim(name)
        unfinished = path.with_name(unfinished_name(name))
        with unfinished.open("wb") as file:
            save(file)
        unfinished.replace(path)


def unfinished_name(name: str) -> str:
    """Return what a file is called while it is written."""
    return f"{name}.unfinished"


def erase_run(folder: Path) -> None:
    """Erase a training run: the files that its list names, and nothing else.

    Raises :class:`~mjbot.append_log.LogError`, and nothing was erased, if the folder holds things
    but no run, or a run that is going on.
    """
    with emptied(folder / RUN_FILE, Header, _decode, RUN_CURES.elsewhere) as written:
        for line in written:
            for name in (line.file, unfinished_name(line.file)):
                (folder / name).unlink(missing_ok=True)
