"""Every Phoenix game written as mjlog and as tenhou.net/6 and read again: the same game?

mjlog -> mjai lines -> mjlog is compared event by event, win by win (yaku ids in their order, fu,
limit, sticks) and tag by tag, ids as the tiles that they are.  mjlog -> tenhou.net/6 -> mjai is
compared event by event.  Each result is compared with what a live player at each seat receives.
Games of three players are not compared with live ones.
What a format cannot hold is counted under "lost".
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

from mjbot.game.records.complete import CompleteGame, complete
from mjbot.game.records.game import Entry, Game
from mjbot.game.records.mjai_log import log_line, read_mjai_log
from mjbot.game.records.mjlog import Element, read_mjlog, scan_elements
from mjbot.game.records.mjlog_writer import write_mjlog
from mjbot.game.records.sources import Source
from mjbot.game.records.tenhou6.hands import read_hand
from mjbot.game.records.tenhou6.order import orders
from mjbot.game.records.tenhou6.reader import read_tenhou6, ronned_seat
from mjbot.game.records.tenhou6.results import read_result
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.game.table.settle import seats_by_rank
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.protocol.seats import by_seat
from mjbot.protocol.tenhou.calls import decode_call
from mjbot.protocol.tenhou.codec import SERVER_TAGS, typed
from mjbot.protocol.tenhou.game_type import GameType
from mjbot.protocol.tenhou.results import read_draw, read_win
from mjbot.protocol.tenhou.tags import DrawnHandTag, WinTag
from mjbot.protocol.tenhou.tiles import PLAIN_TILES, RED_TILES
from mjbot.protocol.tiles import TILE_BY_NAME, tile_kind

UNTOLD_ATTRIBUTES: Final = {"UN": ("dan", "rate", "sx")}
"""What mjai cannot express."""
ADDED_ATTRIBUTES: Final = {"GO": ("lobby",), "REACH": ("ten",)}
"""What records of 2009 lack."""
_TILE_LISTS: Final = ("hai", "hai0", "hai1", "hai2", "hai3", "machi", "doraHai", "doraHaiUra")


class RoundTripError(ValueError):
    """A game that changed in a round trip."""


def check_round_trips(source: Source, game: Game, counts: Counter[str]) -> None:
    """Write a game in both formats and read it again; count what was compared and what was lost.

    Raises :class:`RoundTripError` at the first event or tag that is not the same, and
    :class:`~mjbot.game.records.game.RecordError` where the game cannot be written or read.
    """
    entries = list(game.entries)
    completed = complete(replace(game, entries=entries))
    document = document_of(source)
    players = completed.rules.players
    _through_mjlog(entries, document, players, counts)
    if players == 4:
        _check_live(document, entries, counts)
    _through_tenhou6(entries, completed, counts)


def document_of(source: Source) -> bytes:
    """Return the bytes of a game in a zip."""
    return _archive(source.path).read(source.member or "")


@lru_cache(maxsize=2)
def _archive(path: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


def _stream(data: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(data))


# --- mjlog -> mjai -> mjlog ------------------------------------------------------------------


def _through_mjlog(
    entries: list[Entry], document: bytes, players: int, counts: Counter[str]
) -> None:
    lines = b"".join(log_line(entry.event, players=players) for entry in entries)
    (through_lines,) = read_mjai_log(_stream(lines), "lines")
    written = write_mjlog(complete(through_lines))
    again = list(read_mjlog(written, "written"))
    for ours, theirs in _pairs(entries, again):
        if (_with_scores(ours.event, theirs.event), ours.win) != (theirs.event, theirs.win):
            raise RoundTripError(f"mjlog: {theirs.event} was {ours.event}")
        counts["mjlog: events the same"] += 1
        counts["mjlog: wins the same, value and yaku ids in their order"] += ours.win is not None
    _compare_tags(scan_elements(document, "original"), scan_elements(written, "written"), counts)
    counts["mjlog: games the same"] += 1


def _with_scores(event: m.Event, completed: m.Event) -> m.Event:
    """Return a paid riichi with its scores, which records of 2009 do not print."""
    if isinstance(event, m.ReachAccepted) and isinstance(completed, m.ReachAccepted):
        return msgspec.structs.replace(event, scores=event.scores or completed.scores)
    return event


def _pairs(entries: list[Entry], again: list[Entry]) -> Iterator[tuple[Entry, Entry]]:
    if len(entries) != len(again):
        raise RoundTripError(f"{len(again)} events were {len(entries)}")
    return zip(entries, again, strict=True)


def _compare_tags(originals: list[Element], written: list[Element], counts: Counter[str]) -> None:
    for one, other in zip(_kept_tags(originals, counts), written, strict=True):
        ours, theirs = _plain(one), _plain(other)
        for attribute in UNTOLD_ATTRIBUTES.get(one.name, ()):
            if ours.pop(attribute, None) is not None:
                counts[f"lost in mjlog: {one.name} {attribute}"] += 1
        if one.name == "INIT":
            counts["lost in mjlog: dice"] += ours.pop("dice") != theirs.pop("dice")
        if one.name == "GO":  # the room is not recorded; reds, tanyao and length are
            kept = 0x1F
            counts["lost in mjlog: room"] += ours["type"] != theirs["type"]
            ours["type"], theirs["type"] = (
                int(completed["type"]) & kept for completed in (ours, theirs)
            )
        for attribute in ADDED_ATTRIBUTES.get(one.name, ()):
            if attribute not in ours and theirs.pop(attribute, None) is not None:
                counts[f"added in mjlog: {one.name} {attribute}"] += 1
        if "owari" in ours and _is_rounded(ours["owari"], theirs.get("owari", "")):
            counts["lost in mjlog: rounding of the placement points (games before 2022)"] += 1
            del ours["owari"], theirs["owari"]
        if ours != theirs:
            completed = {key: (theirs.get(key), value) for key, value in ours.items()}
            wrong = {key: pair for key, pair in completed.items() if pair[0] != pair[1]}
            raise RoundTripError(f"mjlog: tag {one.number}, {one.name}: written, read: {wrong}")
        counts["mjlog: tags the same, ids read as tiles"] += 1
        counts["lost in mjlog: which copy of equal tiles (tags)"] += one != _renumbered(other, one)


def _kept_tags(originals: list[Element], counts: Counter[str]) -> list[Element]:
    kept: list[Element] = []
    for tag in originals:
        if tag.name == "SHUFFLE":
            counts["lost in mjlog: seed of the wall"] += 1
        elif tag.name == "BYE" or (tag.name == "UN" and any(one.name == "UN" for one in kept[:3])):
            counts["lost in mjlog: players who left or came back"] += 1
        else:
            kept.append(tag)
    return kept


def _is_rounded(original: str, written: str) -> bool:
    """Return whether the placement points are those of the older rule.

    It rounds the score in thousands, half away from zero; the first takes what is then left.
    """
    ours, theirs = original.split(","), written.split(",")
    if ours[::2] != theirs[::2] or ours == theirs:
        return False
    rules = Rules(players=3 if ours[6] == "0" and float(ours[7]) == 0 else 4)
    scores = [100 * int(score) for score in ours[: 2 * rules.players : 2]]
    first, *others = seats_by_rank(scores)
    target = rules.target_points // 1000
    expected = {
        seat: math.copysign(math.floor(abs(scores[seat]) / 1000 + 0.5), scores[seat]) - target + uma
        for seat, uma in zip(others, (points // 1000 for points in rules.uma[1:]), strict=True)
    }
    expected[first] = -sum(expected.values())
    counted = [float(points) for points in ours[1 : 2 * rules.players : 2]]
    return counted == [expected[seat] for seat in range(rules.players)]


def _renumbered(tag: Element, other: Element) -> Element:
    return Element(tag.name, tag.attributes, other.number)


def _plain(tag: Element) -> dict[str, Any]:
    """Return a tag's name and attributes, its tile ids as tiles."""
    completed: dict[str, Any] = dict(tag.attributes)
    name = tag.name
    if name[1:].isdigit():
        return {"name": name[0] + RED_TILES[int(name[1:])]}
    for attribute in _TILE_LISTS:
        if completed.get(attribute):
            tiles = [RED_TILES[tile] for tile in tag.integers(attribute)]
            completed[attribute] = tiles if name == "INIT" else sorted(tiles)
    if "seed" in completed and name == "INIT":
        *kyoku, die, other, marker = tag.integers("seed")
        completed |= {"seed": kyoku, "dice": (die, other), "marker": RED_TILES[marker]}
    if "m" in completed:
        completed["m"] = [_call(code) for code in tag.integers("m")]
    return {"name": name, **completed}


def _call(code: int) -> tuple[Any, ...]:
    call = decode_call(code, players=3)  # four players have no such code, which is checked above
    own = sorted(RED_TILES[tile] for tile in call.own)
    tile = own[0] if call.kind == "ankan" else RED_TILES[call.tile]
    claimed = None if call.claimed is None else RED_TILES[call.claimed]
    return call.kind, call.source, tile, own, claimed


# --- mjlog -> tenhou.net/6 -> mjai -----------------------------------------------------------


def _through_tenhou6(entries: list[Entry], completed: CompleteGame, counts: Counter[str]) -> None:
    written = write_tenhou6(completed)
    (game,) = read_tenhou6(_stream(written), "written")
    again = list(game.entries)
    for ours, theirs in _pairs(entries, again):
        if _with_scores(_held(ours, counts), theirs.event) != theirs.event:
            raise RoundTripError(f"tenhou6: {theirs.event} was {ours.event}")
        counts["tenhou6: events the same"] += 1
    for value in msgspec.json.decode(written)["log"]:
        hand = read_hand(value)
        n_orders = sum(1 for _ in orders(hand, ronned_seat(read_result(hand.result, hand.players))))
        counts["tenhou6: hands in which calls allow more than one order"] += n_orders > 1
        counts["tenhou6: hands"] += 1
    counts["tenhou6: games the same"] += 1


def _held(entry: Entry, lost: Counter[str]) -> m.Event:
    """Return what tenhou.net/6 holds of an event; count the rest."""
    event = entry.event
    if isinstance(event, m.StartKyoku):
        hands = by_seat(tuple(sorted(hand, key=_site_order)) for hand in event.tehais)
        lost["lost in tenhou6: order of the start tiles (hands)"] += hands != event.tehais
        return msgspec.structs.replace(event, tehais=hands)
    if isinstance(event, m.Hora) and entry.win is not None and entry.win.limit:
        lost["lost in tenhou6: fu of a hand at a limit (wins)"] += 1
        return msgspec.structs.replace(event, fu=None)
    return event


def _site_order(name: str) -> tuple[int, bool]:
    return tile_kind(TILE_BY_NAME[name]), name.endswith("r")


# --- a record's results and a live game's ----------------------------------------------------


def live_results(
    document: bytes, entries: list[Entry], seat: int
) -> Iterator[tuple[m.Event, m.Event]]:
    """Yield each result as in the record, and as a player at ``seat`` receives it.

    The tags are turned to the seat, and the seat's own tenpai hand is left out of a draw as the
    server does; the record's event is masked in the same way.
    """
    names = PLAIN_TILES if _has_no_reds(document) else RED_TILES
    elements = {element.number: element for element in scan_elements(document, "record")}
    melds, drawer = [0] * 4, None
    for entry in entries:
        event = entry.event
        if isinstance(event, m.StartKyoku):
            melds = [0] * 4
        elif isinstance(event, m.Chi | m.Pon | m.Daiminkan | m.Ankan):
            melds[event.actor] += 1
        drawer = event.actor if isinstance(event, m.Tsumo) else drawer
        if isinstance(event, m.Hora | m.Ryukyoku):
            element = elements[entry.number]
            tag = typed(element.name, _turned(element, seat), SERVER_TAGS, lenient=True)
            if isinstance(tag, WinTag):
                yield event, read_win(tag, seat, names)
            elif isinstance(tag, DrawnHandTag):
                yield _own_hidden(event, seat), read_draw(tag, seat, names, melds, drawer)


def _has_no_reds(document: bytes) -> bool:
    rules = next(e for e in scan_elements(document, "record") if e.name == "GO")
    return bool(int(rules.attributes["type"]) & GameType.NO_RED_FIVES)


def _turned(element: Element, seat: int) -> dict[str, object]:
    completed: dict[str, object] = dict(element.attributes)
    for name in ("who", "fromWho", "paoWho"):
        if name in element.attributes:
            completed[name] = (int(element.attributes[name]) - seat) % 4
    for hand in range(4):
        completed.pop(f"hai{hand}", None)
    for hand in range(1 if _leaves_out_own(element, seat) else 0, 4):
        if (shown := element.attributes.get(f"hai{(hand + seat) % 4}")) is not None:
            completed[f"hai{hand}"] = shown
    for name in ("sc", "owari"):
        if name in element.attributes:
            numbers = element.attributes[name].split(",")[:8]
            completed[name] = ",".join(numbers[2 * seat :] + numbers[: 2 * seat])
    return completed


def _leaves_out_own(element: Element, seat: int) -> bool:
    """Whether a live game leaves out the receiver's hand: it is tenpai and the wall is empty."""
    return element.attributes.get("type") is None and f"hai{seat}" in element.attributes


def _own_hidden(event: m.Event, seat: int) -> m.Event:
    assert isinstance(event, m.Ryukyoku)
    assert event.tehais is not None
    if event.reason == "nagashimangan" and "?" in event.tehais[seat]:
        return msgspec.structs.replace(event, tenpais=None)  # not in the tag
    if event.reason != "fanpai":
        return event
    hidden = [("?",) * len(hand) if at == seat else hand for at, hand in enumerate(event.tehais)]
    return msgspec.structs.replace(event, tehais=tuple(hidden))


def _check_live(document: bytes, entries: list[Entry], counts: Counter[str]) -> None:
    for seat in range(4):
        for ours, theirs in live_results(document, entries, seat):
            if ours != theirs:
                raise RoundTripError(f"live, seat {seat}: {theirs} was {ours}")
            counts["results the same as a live player at each seat receives them"] += 1
