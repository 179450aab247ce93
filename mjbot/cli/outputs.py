"""No command writes over what it reads, or over a file of another kind."""

import gzip
import os
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.requests import GAMES, NamedPath, paths_of

_IN_ZIPS: Final = (".mjson", ".jsonl", ".mjlog", ".gz", ".json", ".xml", ".log", "/")
_HEAD_BYTES: Final = 1 << 16


def check_outputs(request: Any) -> None:
    """Raise :class:`ArgumentError` if a file that the request would write must stay."""
    paths = list(paths_of(request))
    for index, named in enumerate(paths):
        if named.writes is not None:
            others = [path for path in paths[:index] if path.writes is not None]
            _check(named, others + [path for path in paths if path.writes is None])


def _check(out: NamedPath, others: list[NamedPath]) -> None:
    flag, path, endings = out
    if endings and endings != GAMES and path.suffix.lower() not in endings:
        *most, last = endings
        listed = f"{', '.join(most)} or {last}" if most else last
        raise ArgumentError(f"{flag} {path}: name a file that ends in {listed}")
    for other in others:
        if _is_same(path, other.path):
            verb = "reads" if other.writes is None else "writes"
            cure = "name another file"
            raise ArgumentError(f"{flag} {path}: the command {verb} it ({other.flag}); {cure}")
    is_games = endings == GAMES
    if path.is_file() and path.stat().st_size and holds_games(path) is not is_games:
        problem = "exists, and is no record of games" if is_games else "is a record of games"
        raise ArgumentError(f"{flag} {path}: {problem}; name another file")


def _is_same(one: Path, other: Path) -> bool:
    with suppress(OSError):
        return one.samefile(other)
    return os.path.abspath(one) == os.path.abspath(other)


def holds_games(path: Path) -> bool:
    """Return whether a file looks like a record of games, by its beginning."""
    from mjbot.game.records.other_formats import looks_like_games

    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
            return all(name.endswith(_IN_ZIPS) for name in names)
        with path.open("rb") as file:
            data = file.read(_HEAD_BYTES)
        if data.startswith(b"\x1f\x8b"):
            with gzip.open(path) as packed:
                data = packed.read(_HEAD_BYTES)
    except (OSError, EOFError, zipfile.BadZipFile):
        return False
    return looks_like_games(data)
