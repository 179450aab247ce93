"""Decoded records of Mahjong Soul, as scripts in the site's page and archives save them.

A record has a ``head`` (players, rules, final points) and a list of messages such as ``{"name":
".lq.RecordNewRound", "data": {...}}``: in ``records``, or since 2021 in ``actions`` next to clicks
and remarks, of which the messages are the ``result``; both inside one or two ``data``, or bare.
A list of messages without a head is read, too.  Nothing is fetched, and of the players only their
names are read.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NoReturn, TypeVar

from mjbot.game.records.dates import moment_of_clock, moment_of_id
from mjbot.game.records.discards import settle_discards
from mjbot.game.records.game import (
    Entry,
    ForeignRecordError,
    Game,
    HandNotes,
    RecordError,
)
from mjbot.game.records.json_values import Lines
from mjbot.game.records.mahjong_soul import messages as lq
from mjbot.game.records.mahjong_soul.hands import deal_only, hand_events
from mjbot.game.records.mahjong_soul.rooms import RoomError, room_rules
from mjbot.game.records.other_formats import RAW_MAHJONG_SOUL, whole_json
from mjbot.game.records.tenhou6.reader import game_entries
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.protocol.seats import by_seat

LIVE_STREAM: Final = (
    "is a live stream of Mahjong Soul (ActionNewRound and so on), which one seat sees;"
    " save the record of the game when it is over"
)
T = TypeVar("T")
_LIVE: Final = "Action"


def read_mahjong_soul(stream: Lines, first: Any, name: str) -> Iterator[Game]:
    """Yield the game of a decoded record, or those of an array of records.

    ``first`` is the first value of the stream.  What is wrong with a game is raised while its
    entries are walked, as for tenhou.net/6; raw and live records and special rooms raise
    :class:`ForeignRecordError`.
    """
    value = whole_json(stream)
    if value is None:
        if lq.bare_name(first).startswith(_LIVE):
            raise ForeignRecordError(name, LIVE_STREAM)
        raise RecordError(name, "", "the JSON is cut off, or holds more than one value")
    is_many = isinstance(value, list) and not any(map(lq.bare_name, value[:1]))
    for count, record in enumerate(value if is_many else [value], 1):
        title = name if count == 1 else f"{name}#{count}"
        notes = HandNotes()
        entries = settle_discards(_entries(record, title, notes))
        ref, played = _ref_and_time(record)
        yield Game(title, "hand", entries, ref, played, notes)


def _ref_and_time(record: Any) -> tuple[str, str]:
    """Return the id of a game, and when it began."""
    head = _inside(record, "head")
    ref = head.get("uuid")
    ref = ref if isinstance(ref, str) else ""
    began = moment_of_clock(head.get("start_time")) or moment_of_clock(head.get("end_time"))
    return ref, began or moment_of_id(ref)


def _entries(record: Any, name: str, notes: HandNotes) -> Iterator[Entry]:
    head = record.get("head") if isinstance(record, dict) else None
    head = head if isinstance(head, dict) else {}
    messages = _messages(record, name)
    hands = list(_hands(messages))
    if not hands:
        raise RecordError(name, "", f"holds no hand: no {lq.NEW_ROUND}")
    scores = _inside(hands[0][0], "data").get("scores")
    players = 3 if isinstance(scores, list) and len(scores) == 3 else 4
    rules, announced = _rules(head, players, name)
    start = m.StartGame(names=_names(head, players), mjbot_rules=announced)
    played = [_played(hand, rules, name, notes, number) for number, hand in enumerate(hands, 1)]
    yield from game_entries(start, played, _final_scores(head, players), notes)


def _messages(record: Any, name: str) -> list[dict[str, Any]]:
    """Return the messages of a record, wherever they lie in it."""
    inside = record
    while isinstance(inside, dict):
        known = [inside[key] for key in ("actions", "records", "data") if inside.get(key)]
        if inside.get("type") == "Buffer" or not known or isinstance(known[0], str):
            raise ForeignRecordError(name, RAW_MAHJONG_SOUL)
        inside = known[0]
    if not isinstance(inside, list):
        raise RecordError(name, "", "holds no list of messages")
    results = [item.get("result", item) if isinstance(item, dict) else item for item in inside]
    messages = [message for result in results if (message := lq.named(result)) is not None]
    if not messages:
        raise ForeignRecordError(name, RAW_MAHJONG_SOUL)
    for message in messages:
        _check_kind(lq.bare_name(message), name)
    return messages


def _check_kind(kind: str, name: str) -> None:
    if kind.startswith(_LIVE):
        raise ForeignRecordError(name, LIVE_STREAM)
    if kind not in lq.KNOWN:
        _refuse_room(name, f"the message {kind[:40]}")


def _refuse_room(name: str, reason: str) -> NoReturn:
    raise ForeignRecordError(name, f"is a game of a special room of Mahjong Soul ({reason})")


def _hands(messages: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the messages of each hand; those before the first deal belong to none."""
    hand: list[dict[str, Any]] = []
    for message in messages:
        if lq.bare_name(message) == lq.NEW_ROUND:
            if hand:
                yield hand
            hand = []
        elif not hand:
            continue
        hand.append(message)
    if hand:
        yield hand


def _played(
    hand: Sequence[dict[str, Any]], rules: Rules, name: str, notes: HandNotes, number: int
) -> list[m.Event]:
    """Return the events of a hand; dealt and not played, if it is bad.

    Raises :class:`RecordError` where not even the deal can be read.
    """
    place = f"hand {number}"
    try:
        deal = lq.read_message(hand[0])
        assert isinstance(deal, lq.NewRound)
        unplayed = deal_only(deal)
    except ValueError as error:
        raise RecordError(name, place, str(error)) from None
    try:
        return hand_events(deal, map(lq.read_message, hand[1:]), rules)
    except ValueError as error:
        notes.unreadable.append(RecordError(name, place, str(error)))
        return unplayed


# --- the head -------------------------------------------------------------------------------------


def _rules(head: dict[str, Any], players: int, name: str) -> tuple[Rules, dict[str, Any]]:
    """Return the rules of the room, and those for ``start_game``.

    Raises :class:`ForeignRecordError` for rooms of other rules.
    """
    try:
        return room_rules(_inside(head, "config", "mode"), players)
    except RoomError as error:
        _refuse_room(name, str(error))


def _names(head: dict[str, Any], players: int) -> tuple[str, ...] | None:
    """Return the names of the players by seat; a seat without an account is a program's."""
    names = _by_seat(head.get("accounts"), "nickname", str)
    if not names:
        return None
    return tuple(names.get(seat, "AI" if seat < players else "") for seat in range(4))


def _final_scores(head: dict[str, Any], players: int) -> m.FourInts | None:
    points = _by_seat(_inside(head, "result").get("players"), "part_point_1", int)
    known = [points[seat] for seat in range(players) if seat in points]
    is_known = len(known) == players and max(map(abs, known)) <= m.MOST_POINTS
    return by_seat([*known, 0][:4]) if is_known else None


def _by_seat(items: Any, field: str, kind: type[T]) -> dict[int, T]:
    """Return a field of the objects in a list by their seat, which is 0 where it is missing."""
    objects = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    pairs = [(item.get("seat", 0), item.get(field)) for item in objects]
    return {
        seat: value for seat, value in pairs if isinstance(seat, int) and isinstance(value, kind)
    }


def _inside(value: Any, *keys: str) -> dict[str, Any]:
    """Return the object at this path, empty if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
