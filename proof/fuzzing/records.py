"""Records of every kind, plain and packed: a file gives a game or a line with the reason.

A game that is read can be written in each format, or a line gives the reason; and the output is
read and written again to the same bytes.
"""

import contextlib
import gzip
import io
import itertools
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from mjbot.game.records.evidence import read_evidence
from mjbot.game.records.game import Game, RecordError
from mjbot.game.records.mjai_log import read_mjai_log
from mjbot.game.records.mjlog import read_mjlog
from mjbot.game.records.replay import ReplaySummary, replay
from mjbot.game.records.sources import open_games
from mjbot.game.records.tenhou6.reader import read_tenhou6
from mjbot.game.records.writers import FORMATS

_NAME: Final = "record"
_numbers: Final = itertools.count()


def stream(data: bytes) -> io.BufferedReader:
    """Return bytes as an open file of them."""
    return io.BufferedReader(io.BytesIO(data))  # type: ignore[arg-type]


def _mjai(data: bytes) -> Iterable[Game]:
    return read_mjai_log(stream(data), _NAME)


def _mjlog(data: bytes) -> Iterable[Game]:
    return [Game(_NAME, "tag", read_mjlog(data, _NAME))]


def _tenhou6(data: bytes) -> Iterable[Game]:
    return read_tenhou6(stream(data), _NAME)


READERS: Final[dict[str, Callable[[bytes], Iterable[Game]]]] = {
    "mjai": _mjai,
    "mjlog": _mjlog,
    "tenhou6": _tenhou6,
}
"""By the name of the format."""


def check_mjai(data: bytes) -> None:
    """Lines of mjai messages."""
    _check_record(data, "mjai")


def check_mjlog(data: bytes) -> None:
    """Tenhou's XML."""
    _check_record(data, "mjlog")


def check_tenhou6(data: bytes) -> None:
    """tenhou.net/6 JSON."""
    _check_record(data, "tenhou6")


def _check_record(data: bytes, kind: str) -> None:
    with contextlib.suppress(RecordError):
        for game in READERS[kind](data):
            entries = list(game.entries)
            # the lenient table plays on past anything that can be read
            replay(replace(game, entries=entries), ReplaySummary(), strict=False)
            for name in FORMATS:
                _check_written(replace(game, entries=entries), name)


def _check_written(game: Game, name: str) -> None:
    """Write a game that was read: this may be refused, but what is written is good."""
    try:
        written = FORMATS[name].encode(game)
    except RecordError:
        return
    if written:
        again = [FORMATS[name].encode(other) for other in READERS[name](written)]
        assert b"".join(again) == written, (name, written, again)


# --- packed ----------------------------------------------------------------------------------


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="mjbot-fuzz-")


def check_packed(data: bytes) -> None:
    """Files: plain, gzipped, in a zip, damaged, of other kinds; and evidence.

    The first byte selects whether the rest is a file as it is (0), or is to be packed for it: gzip
    (1), a zip (2), gzip in a zip (3); 4 is a file of evidence.
    """
    choice, content = (data[0] % 5, data[1:]) if data else (0, b"")
    path = Path(_folder().name) / f"{next(_numbers)}.json"
    path.write_bytes(_packed(content, choice))
    try:
        with contextlib.suppress(RecordError):
            if choice == 4:
                list(read_evidence(path))
            else:
                for game in open_games(path):
                    for _ in game.entries:
                        pass
    finally:
        path.unlink()


def _packed(content: bytes, choice: int) -> bytes:
    if choice in (1, 3):
        content = gzip.compress(content, 1, mtime=0)
    if choice in (2, 3):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as members:
            members.writestr(zipfile.ZipInfo("a/game.mjlog"), content)
        content = archive.getvalue()
    return content
