"""Every Phoenix game written as mjlog and as tenhou.net/6 and read again: the same game?

mjlog -> mjai lines -> mjlog is compared event by event, win by win (yaku ids in their order, fu,
limit, sticks) and tag by tag, ids as the tiles that they are.  mjlog -> tenhou.net/6 -> mjai is
compared event by event.  What a format cannot hold is counted under "lost".
"""

import io
import math
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec

from mjbot.records.complete import CompleteGame, complete
from mjbot.records.game import Entry, Game
from mjbot.records.mjai_log import log_line, read_mjai_log
from mjbot.records.mjlog import read_mjlog
from mjbot.records.mjlog_tags import Tag, scan_tags
from mjbot.records.mjlog_writer import write_mjlog
from mjbot.records.sources import Source
from mjbot.records.tenhou6.hands import read_hand
from mjbot.records.tenhou6.order import orders
from mjbot.records.tenhou6.reader import read_tenhou6, ronned_seat
from mjbot.records.tenhou6.results import read_result
from mjbot.records.tenhou6.writer import write_tenhou6
from mjbot.table.settle import seats_by_rank
from protocol.messages import Event, Hora, StartKyoku
from protocol.tenhou.calls import decode_call
from protocol.tenhou.tiles import RED_TILES
from protocol.tiles import TILE_BY_NAME, tile_kind

UNTOLD_ATTRIBUTES: Final = {"UN": ("dan", "rate", "sx")}
"""What mjai has no word for."""
_TILE_LISTS: Final = ("hai", "hai0", "hai1", "hai2", "hai3", "machi", "doraHai", "doraHaiUra")


class DifferenceError(ValueError):
    """A game that came back as another."""


def check_round_trips(source: Source, game: Game, counts: Counter[str]) -> None:
    """Write a game in both formats and read it again; count what was compared and what was lost.

    Raises :class:`DifferenceError` at the first event or tag that is not the same, and
    :class:`~mjbot.records.game.RecordError` where the game cannot be told or read.
    """
    entries = list(game.entries)
    told = complete(replace(game, entries=entries))
    _through_mjlog(entries, document_of(source), counts)
    _through_tenhou6(entries, told, counts)


def document_of(source: Source) -> bytes:
    """Return the bytes of a game in a zip."""
    return _archive(source.path).read(source.member or "")


@lru_cache(maxsize=2)
def _archive(path: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


def _stream(data: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(data))


# --- mjlog -> mjai -> mjlog ------------------------------------------------------------------


def _through_mjlog(entries: list[Entry], document: bytes, counts: Counter[str]) -> None:
    lines = b"".join(log_line(entry.event) for entry in entries)
    (through_lines,) = read_mjai_log(_stream(lines), "lines")
    written = write_mjlog(complete(through_lines))
    again = list(read_mjlog(written, "written"))
    for ours, theirs in _pairs(entries, again):
        if (ours.event, ours.win) != (theirs.event, theirs.win):
            raise DifferenceError(f"mjlog: {theirs.event} was {ours.event}")
        counts["mjlog: events the same"] += 1
        counts["mjlog: wins the same, value and yaku ids in their order"] += ours.win is not None
    _compare_tags(scan_tags(document, "original"), scan_tags(written, "written"), counts)
    counts["mjlog: games the same"] += 1


def _pairs(entries: list[Entry], again: list[Entry]) -> Iterator[tuple[Entry, Entry]]:
    if len(entries) != len(again):
        raise DifferenceError(f"{len(again)} events were {len(entries)}")
    return zip(entries, again, strict=True)


def _compare_tags(originals: list[Tag], written: list[Tag], counts: Counter[str]) -> None:
    unshuffled = [tag for tag in originals if tag.name != "SHUFFLE"]
    counts["lost in mjlog: seed of the wall"] += len(originals) - len(unshuffled)
    for one, other in zip(unshuffled, written, strict=True):
        ours, theirs = _plain(one), _plain(other)
        for attribute in UNTOLD_ATTRIBUTES.get(one.name, ()):
            if ours.pop(attribute, None) is not None:
                counts[f"lost in mjlog: {one.name} {attribute}"] += 1
        if one.name == "INIT":
            counts["lost in mjlog: dice"] += ours.pop("dice") != theirs.pop("dice")
        if one.name == "GO":  # the room is not told; reds, tanyao and length are
            kept = 0x0F
            counts["lost in mjlog: room"] += ours["type"] != theirs["type"]
            ours["type"], theirs["type"] = (int(told["type"]) & kept for told in (ours, theirs))
        if "owari" in ours and _is_rounded(ours["owari"], theirs.get("owari", "")):
            counts["lost in mjlog: rounding of the placement points (games before 2022)"] += 1
            del ours["owari"], theirs["owari"]
        if ours != theirs:
            told = {key: (theirs.get(key), value) for key, value in ours.items()}
            wrong = {key: pair for key, pair in told.items() if pair[0] != pair[1]}
            raise DifferenceError(f"mjlog: tag {one.number}, {one.name}: written, read: {wrong}")
        counts["mjlog: tags the same, ids read as tiles"] += 1
        counts["lost in mjlog: which copy of equal tiles (tags)"] += one != _renumbered(other, one)


def _is_rounded(original: str, written: str) -> bool:
    """Return whether the placement points are those of the older rule.

    It rounds the score in thousands, half away from zero; the first takes what is then left.
    """
    ours, theirs = original.split(","), written.split(",")
    if ours[::2] != theirs[::2] or ours == theirs:
        return False
    scores = [100 * int(score) for score in ours[::2]]
    first, *others = seats_by_rank(scores)
    worth = {
        seat: math.copysign(math.floor(abs(scores[seat]) / 1000 + 0.5), scores[seat]) - 30 + uma
        for seat, uma in zip(others, (10, -10, -20), strict=True)
    }
    worth[first] = -sum(worth.values())
    return [float(points) for points in ours[1::2]] == [worth[seat] for seat in range(4)]


def _renumbered(tag: Tag, other: Tag) -> Tag:
    return Tag(tag.name, tag.attributes, other.number)


def _plain(tag: Tag) -> dict[str, Any]:
    """Return a tag's name and attributes, its tile ids as tiles."""
    told: dict[str, Any] = dict(tag.attributes)
    name = tag.name
    if name[1:].isdigit():
        return {"name": name[0] + RED_TILES[int(name[1:])]}
    for attribute in _TILE_LISTS:
        if attribute in told:
            tiles = [RED_TILES[tile] for tile in tag.tiles(attribute)]
            told[attribute] = tiles if name == "INIT" else sorted(tiles)
    if "seed" in told and name == "INIT":
        *kyoku, die, other, marker = tag.integers("seed", 6)
        told |= {"seed": kyoku, "dice": (die, other), "marker": RED_TILES[marker]}
    if "m" in told:
        told["m"] = [_call(code) for code in tag.integers("m")]
    return {"name": name, **told}


def _call(code: int) -> tuple[Any, ...]:
    call = decode_call(code)
    own = sorted(RED_TILES[tile] for tile in call.own)
    tile = own[0] if call.kind == "ankan" else RED_TILES[call.tile]
    claimed = None if call.claimed is None else RED_TILES[call.claimed]
    return call.kind, call.source, tile, own, claimed


# --- mjlog -> tenhou.net/6 -> mjai -----------------------------------------------------------


def _through_tenhou6(entries: list[Entry], told: CompleteGame, counts: Counter[str]) -> None:
    written = write_tenhou6(told)
    (game,) = read_tenhou6(_stream(written), "written")
    again = list(game.entries)
    for ours, theirs in _pairs(entries, again):
        if _held(ours, counts) != theirs.event:
            raise DifferenceError(f"tenhou6: {theirs.event} was {ours.event}")
        counts["tenhou6: events the same"] += 1
    for value in msgspec.json.decode(written)["log"]:
        hand = read_hand(value)
        n_orders = sum(1 for _ in orders(hand, ronned_seat(read_result(hand.result))))
        counts["tenhou6: hands in which calls allow more than one order"] += n_orders > 1
        counts["tenhou6: hands"] += 1
    counts["tenhou6: games the same"] += 1


def _held(entry: Entry, lost: Counter[str]) -> Event:
    """Return what tenhou.net/6 holds of an event; count the rest."""
    event = entry.event
    if isinstance(event, StartKyoku):
        a, b, c, d = (tuple(sorted(hand, key=_site_order)) for hand in event.tehais)
        lost["lost in tenhou6: order of the start tiles (hands)"] += (a, b, c, d) != event.tehais
        return msgspec.structs.replace(event, tehais=(a, b, c, d))
    if isinstance(event, Hora) and entry.win is not None and entry.win.limit:
        lost["lost in tenhou6: fu of a hand at a limit (wins)"] += 1
        return msgspec.structs.replace(event, fu=None)
    return event


def _site_order(name: str) -> tuple[int, bool]:
    return tile_kind(TILE_BY_NAME[name]), name.endswith("r")
