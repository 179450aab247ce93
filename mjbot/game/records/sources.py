"""Finding games: a file, folder or zip of mjlog, tenhou.net/6, mjai logs and decoded records of
Mahjong Soul, also gzipped.

What a file is follows from its first bytes, not from its name.  One game is in memory at a
time, however many a zip or a log holds.  Good files of other kinds are distinguished from damaged
ones.  Single hands of tenhou.net/6, one a file, are joined into their games.

Not every file of a folder counts.  Folders called ``runs`` below it are skipped: they hold the
output of commands, and are read if they (or something inside) are named.  And JSON whose
first object has neither a ``type`` nor a ``log`` is no record: the arena's games, figures and
faults, and the manifests of weights, lie next to the records of a run.  Games in other formats are
listed, so that a message reports that they are not read.
"""

import gzip
import hashlib
import io
import json
import os
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from lzma import LZMAError
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import unquote_to_bytes

import msgspec

from mjbot.game.records.game import (
    FOUR_PLAYER_GAME,
    THREE_PLAYER_GAME,
    EmptyRecordError,
    Entry,
    ForeignRecordError,
    Game,
    RecordError,
    noting_hands,
)
from mjbot.game.records.json_values import Lines
from mjbot.game.records.mahjong_soul.reader import read_mahjong_soul
from mjbot.game.records.mjai_log import (
    MAX_GAME_BYTES,
    read_mjai_json,
    read_mjai_log,
    read_mjai_messages,
)
from mjbot.game.records.mjlog import read_mjlog
from mjbot.game.records.other_formats import (
    MJAI_LOG,
    OTHER_JSON,
    cut_kind,
    first_json,
    is_mahjong_soul,
    is_report,
    is_spread,
    is_tenhou6,
    other_format,
    other_json,
    whole_json,
)
from mjbot.game.records.tenhou6.reader import HandLink, read_tenhou6, single_hand
from mjbot.protocol.framing import MAX_LINE_BYTES
from mjbot.protocol.messages import StartGame, wire_name
from mjbot.protocol.rules import RANKED, Rules, announced_players
from mjbot.runtime.languages import translate

RECORD_ENDINGS: Final = (".mjlog", ".xml", ".mjson", ".jsonl", ".json", ".log", ".gz", ".zip", "")
"""Endings that are read inside folders and zips; a file named by the user may end anyhow."""
JSON_ENDINGS: Final = (".json", ".jsonl")
RUNS_FOLDER: Final = "runs"
MAX_MJLOG_BYTES: Final = 1 << 20
"""A real mjlog has some 15 kB; more than this is no game, or a gzip bomb."""
MAX_HAND_BYTES: Final = 1 << 14
"""More than a single hand of tenhou.net/6 has; larger files are not looked into for one."""
_NO_FILE: Final = "is a pipe or a device; write it to a file first"
_UTF16: Final = {
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"{\0": "utf-16-le",
    b"[\0": "utf-16-le",
}
"""How files of UTF-16 begin: with the mark of their order of bytes, or without one."""
_VIEWER_URL: Final = re.compile(rb"^[ \t\"']*https?://\S*?#json=([^\r\n]+)", re.MULTILINE)
"""An address of the site's viewer that holds a whole game; nothing is fetched."""
_BLANKS: Final = b"\xef\xbb\xbf \t\r\n"
_CHUNK: Final = 1 << 16
_HEAD: Final = 1 << 10

_DAMAGED = (
    zipfile.BadZipFile, zlib.error, LZMAError, struct.error, EOFError, ValueError,
    NotImplementedError,
)  # fmt: skip
"""What unpacking raises for damaged bytes, besides an ``OSError`` without a number."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file of records: ``path`` itself, or ``member`` of the zip at ``path``.

    ``place`` is the member's number among all entries of the zip: two may have one name, and then
    ``member`` is the name with a number.  ``problem`` is why it cannot be opened, if that is
    known already.  ``hands`` are the files with the further hands of its game, one each.
    """

    path: Path
    member: str | None = None
    problem: str = ""
    place: int = 0
    hands: tuple["Source", ...] = ()
    rules: Rules | None = None
    """The rules of its games in place of those that they name."""

    @property
    def name(self) -> str:
        """How messages call this file."""
        return str(self.path) if self.member is None else f"{self.path}/{self.member}"


def list_sources(path: Path, rules: Rules | None = None) -> list[Source]:
    """List the files of records at ``path`` in a stable order; ``rules`` replace theirs.

    Raises ``OSError`` if there is nothing at ``path`` or it cannot be opened,
    :class:`RecordError` if it is a damaged zip or a pipe, and :class:`EmptyRecordError` if it
    holds no record.  Damage inside a folder is left to :func:`games_of`.
    """
    if path.is_dir():
        inside = sorted(child for child in _files_below(path) if _looks_like_record(child))
        sources = [source for child in inside for source in _sources_inside(child)]
    elif path.exists() and not path.is_file():
        raise RecordError(str(path), "", _NO_FILE)
    elif _starts_with(path, b"PK"):
        sources = _zip_members(path)
    else:
        sources = [Source(path)]
    if not sources:
        where = f" outside {RUNS_FOLDER}/" if (path / RUNS_FOLDER).is_dir() else ""
        raise EmptyRecordError(str(path), f"holds no records{where}")
    if rules:
        sources = [replace(source, rules=rules) for source in sources]
    return [source for source in join_hands(sources) if source]


def _sources_inside(path: Path) -> list[Source]:
    try:
        return list_sources(path)
    except EmptyRecordError:
        return []
    except RecordError as error:
        return [Source(path, problem=error.problem)]
    except OSError as error:
        return [Source(path, problem=_describe(error))]


def join_hands(sources: Sequence[Source]) -> list[Source | None]:
    """Return each source with the further hands of its game; ``None`` for what is such a hand.

    A file that holds a single hand of tenhou.net/6 and continues another one belongs to it,
    whatever the files are called.
    """
    links = [(at, link) for at, source in enumerate(sources) if (link := _single_hand(source))]
    games: list[list[int]] = []
    last: list[HandLink] = []
    for at, link in sorted(links, key=lambda each: each[1].place):
        number = next((n for n, before in enumerate(last) if link.continues(before)), len(games))
        if number == len(games):
            games.append([])
            last.append(link)
        games[number].append(at)
        last[number] = link
    joined: list[Source | None] = [*sources]
    for first, *others in games:
        joined[first] = replace(sources[first], hands=tuple(sources[at] for at in others))
        for at in others:
            joined[at] = None
    return joined


def _single_hand(source: Source) -> HandLink | None:
    name = source.member or source.path.name
    if source.problem or source.hands or not name.lower().endswith(JSON_ENDINGS[0]):
        return None
    try:
        return single_hand(_json_of(source)) if _size(source) <= MAX_HAND_BYTES else None
    except (RecordError, OSError, *_DAMAGED):
        return None  # it is reported when it is read


def _json_of(source: Source) -> Any:
    with _packed(source) as stream:
        return whole_json(stream)


def games_of(source: Source, players: Collection[int] = (4,)) -> Iterator[Game]:
    """Yield the games of one file; ``players`` are the numbers of players that the caller reads.

    Raises :class:`RecordError` here or while a game's entries are walked if the file is damaged
    or cannot be opened, :class:`EmptyRecordError` if it is empty, :class:`ForeignRecordError`
    if it is of a kind that is not read, or of another number of players.
    """
    if source.problem:
        raise RecordError(source.name, "", source.problem)
    try:
        with _opened(source) as stream:
            for game in _games_in(stream, source.name):
                yield replace(game, entries=_under_rules(game, players, source.rules))
    except RecordError:
        raise
    except OSError as error:
        raise RecordError(source.name, "", _describe(error)) from None
    except _DAMAGED as error:
        raise RecordError(source.name, "", f"damaged archive ({error})") from None


def _under_rules(game: Game, players: Collection[int], rules: Rules | None) -> Iterator[Entry]:
    """Yield the entries of a game, under ``rules`` if there are any.

    Raises :class:`ForeignRecordError` for other ``players``.
    """
    entries = noting_hands(game)
    first = next(entries, None)
    if first is None:
        return
    if isinstance(first.event, StartGame):
        named = first.event.mjbot_rules or {}
        number = announced_players(named)
        if number not in players:
            kind = THREE_PLAYER_GAME if number == 3 else FOUR_PLAYER_GAME
            raise ForeignRecordError(game.name, kind)
        if rules is not None:
            named = _asked_rules(rules, named, number)
            first = first._replace(event=msgspec.structs.replace(first.event, mjbot_rules=named))
        game.hands.rules = _described(named, number, is_asked=rules is not None)
        if number == 3:
            entries = _seated(entries, game)
    yield first
    yield from entries


def _seated(entries: Iterator[Entry], game: Game) -> Iterator[Entry]:
    """Yield the entries of a game of three players.

    Raises :class:`RecordError` where an event names the empty seat.
    """
    for entry in entries:
        for field in ("actor", "target"):
            if getattr(entry.event, field, None) == 3:
                problem = f"{wire_name(entry.event)}.{field}: is seat 3 of three players"
                raise RecordError(game.name, game.place(entry.number), problem)
        yield entry


def _asked_rules(rules: Rules, named: dict[str, Any], players: int) -> dict[str, Any]:
    """Return ``rules`` for so many players; a hanchan, the default, is as long as the game is."""
    if rules.players != players:
        rules = rules.under(rules.set_name, players)
    if rules.length != RANKED.length:
        return {"length": rules.length, **rules.differences}
    return {name: named[name] for name in ("length",) if name in named} | rules.differences


def _described(named: dict[str, Any], players: int, is_asked: bool) -> str:
    """Return the rules of a game in words; empty for the default ones that nobody asked for."""
    try:
        rules = Rules.read(named, (players,))
    except ValueError:
        return ""  # the table reports what is wrong with them
    usual = Rules(length=rules.length, players=players)
    if is_asked:
        return translate("{rules} (as --rules asks)", rules=rules)
    if rules == usual:
        return ""
    return translate("{rules} (of the record; --rules replaces them)", rules=rules)


def content_digest(source: Source) -> str:
    """Return a digest of the bytes of one file; empty if it cannot be opened."""
    try:
        with _packed(source) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()[:16]
    except (RecordError, OSError, *_DAMAGED):
        return ""


def _games_in(stream: Lines, name: str) -> Iterator[Game]:
    stream = _as_utf8(stream, name)
    first, begin = stream.peek(512)[:512].lstrip(_BLANKS), 0
    if not first:
        begin = _behind_blanks(stream, name)
        first = stream.read(512)
    if first.startswith((b"{", b"[", b"//")):
        yield from _games_in_json(stream, begin, name)
    elif first.startswith((b"<-", b"->")):
        stream.seek(0)  # problems name the line of the file
        yield from read_mjai_log(stream, name)
    elif _VIEWER_URL.match(first):
        stream.seek(begin)
        yield from read_tenhou6(_games_of_urls(stream, name), name)
    elif problem := other_format(first):
        raise ForeignRecordError(name, problem)
    else:
        stream.seek(begin)
        document = stream.read(MAX_MJLOG_BYTES + 1)
        if len(document) > MAX_MJLOG_BYTES:
            raise RecordError(name, "", f"longer than {MAX_MJLOG_BYTES} bytes")
        yield Game(name, "tag", read_mjlog(document, name))


def _games_in_json(stream: Lines, begin: int, name: str) -> Iterator[Game]:
    """Yield the games of JSON that begins at ``begin``, of whatever form."""
    stream.seek(begin)
    first_line = stream.readline(MAX_LINE_BYTES + 1)
    head = first_line + stream.read(_HEAD)
    stream.seek(begin)
    value = first_json(stream)
    if value is None:
        stream.seek(begin)
        value = whole_json(stream)
    stream.seek(0)
    if is_tenhou6(value) or (value is None and cut_kind(head) == "tenhou6"):
        yield from read_tenhou6(stream, name)
    elif is_report(value):
        stream.seek(begin)
        yield from read_mjai_messages(whole_json(stream)[MJAI_LOG], name)
    elif is_mahjong_soul(value):
        stream.seek(begin)
        yield from read_mahjong_soul(stream, value, name)
    elif problem := other_json(value):
        raise ForeignRecordError(name, problem)
    elif is_spread(first_line):
        yield from read_mjai_json(stream, name)
    else:
        yield from read_mjai_log(stream, name)


def _as_utf8(stream: Lines, name: str) -> Lines:
    """Return a stream of UTF-16, as some shells write files, as one of UTF-8; others unchanged."""
    encoding = next((code for mark, code in _UTF16.items() if stream.peek(2)[:2] == mark), None)
    if encoding is None:
        return stream
    data = stream.read(MAX_GAME_BYTES + 1)
    if len(data) > MAX_GAME_BYTES:
        raise RecordError(name, "", f"is UTF-16 beyond {MAX_GAME_BYTES} bytes: save it as UTF-8")
    try:
        return _in_memory(data.decode(encoding).encode())
    except UnicodeError:
        raise RecordError(name, "", "is damaged UTF-16: save it as UTF-8") from None


def _games_of_urls(stream: Lines, name: str) -> Lines:
    """Return the games that addresses of the site's viewer contain, one address a line."""
    data = stream.read(MAX_GAME_BYTES + 1).lstrip(_BLANKS)
    if len(data) > MAX_GAME_BYTES:
        raise RecordError(name, "", f"holds addresses beyond {MAX_GAME_BYTES} bytes")
    games = [unquote_to_bytes(match[1].strip(b"\"' ")) for match in _VIEWER_URL.finditer(data)]
    return _in_memory(b"\n".join(games))


def _in_memory(data: bytes) -> Lines:
    return io.BufferedReader(io.BytesIO(data))


def _behind_blanks(stream: Lines, name: str) -> int:
    """Return the place of the first byte that is no blank, and leave the stream there.

    Raises :class:`EmptyRecordError` if there is none, :class:`RecordError` behind too many blanks.
    """
    begin = 0
    while chunk := stream.read(_CHUNK):
        rest = chunk.lstrip(_BLANKS)
        begin += len(chunk) - len(rest)
        if begin > MAX_GAME_BYTES:
            raise RecordError(name, "", f"begins with more than {MAX_GAME_BYTES} blanks")
        if rest:
            stream.seek(begin)
            return begin
    raise EmptyRecordError(name)


def _describe(error: OSError) -> str:
    return error.strerror or f"damaged archive ({error})"


def open_games(path: Path, rules: Rules | None = None) -> Iterator[Game]:
    """Yield every game at ``path``, of three and four players; ``rules`` replace theirs.

    Raises as :func:`list_sources` and :func:`games_of`; to skip damaged files and continue,
    walk those two yourself.
    """
    for source in list_sources(path, rules):
        yield from games_of(source, players=(3, 4))


def _files_below(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        if RUNS_FOLDER in folders:
            folders.remove(RUNS_FOLDER)
        yield from (Path(here, name) for name in files)


def _looks_like_record(path: Path) -> bool:
    if path.suffix.lower() not in RECORD_ENDINGS or path.name.startswith("."):
        return False
    if not path.is_file():
        return path.suffix != "" and path.exists()  # a pipe called as a record is named, not read
    return not _is_other_json(path)


def _is_other_json(path: Path) -> bool:
    """Return whether a file begins with whole JSON that is neither an mjai message nor a game."""
    if path.suffix.lower() not in JSON_ENDINGS:
        return False
    try:
        with path.open("rb") as file:
            return other_json(first_json(file)) == OTHER_JSON
    except OSError:
        return False  # it is reported when it is read


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def _zip_members(path: Path) -> list[Source]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except _DAMAGED as error:
        raise RecordError(str(path), "", f"damaged zip ({error})") from None
    sources, copies = [], Counter[str]()
    for place, info in enumerate(infos):
        name = info.filename
        is_meant = Path(name).suffix.lower() in RECORD_ENDINGS and not name.startswith("__MACOSX/")
        if info.is_dir() or not is_meant:
            continue
        copies[name] += 1
        member = name if copies[name] == 1 else f"{name} ({copies[name]})"
        sources.append(Source(path, member, place=place))
    return sources


@contextmanager
def _opened(source: Source) -> Iterator[Lines]:
    """Open a file or member, through gzip if it is gzipped."""
    with _packed(source) as stream:
        if stream.peek(2)[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=stream) as unpacked:
                yield unpacked
        else:
            yield stream


def _packed(source: Source) -> Lines:
    if source.hands:
        values = map(_json_of, (replace(source, hands=()), *source.hands))
        return _in_memory(b"\n".join(json.dumps(value).encode() for value in values))
    if source.member is None:
        return source.path.open("rb")
    archive, info = _entry(source)
    if info.flag_bits & 1:
        raise RecordError(source.name, "", "is encrypted")
    return cast(zipfile.ZipExtFile, archive.open(info))


def _size(source: Source) -> int:
    return source.path.stat().st_size if source.member is None else _entry(source)[1].file_size


def _entry(source: Source) -> tuple[zipfile.ZipFile, zipfile.ZipInfo]:
    status = source.path.stat()
    archive = _archive(source.path, (status.st_mtime_ns, status.st_size))
    return archive, archive.infolist()[source.place]


@lru_cache(maxsize=1)
def _archive(path: Path, _stamp: tuple[int, int]) -> zipfile.ZipFile:
    # Reading the directory of a zip of thousands for each member would take minutes.
    return zipfile.ZipFile(path)
