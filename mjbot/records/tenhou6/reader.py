"""Games of tenhou.net/6, as events in the order in which they happened.

The order follows from turns and calls (:mod:`.order`); whether the rules allow it is not checked
here, as with other records.

A file holds one game, an array of them, or one after the other.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from mjbot.records.game import (
    THREE_PLAYER_GAME,
    Entry,
    ForeignRecordError,
    Game,
    HandNotes,
    RecordError,
)
from mjbot.records.mjai_log import Lines
from mjbot.records.other_formats import is_tenhou6
from mjbot.records.tenhou6.events import emit_deal, emit_events
from mjbot.records.tenhou6.hands import HandColumns, read_deal, read_hand
from mjbot.records.tenhou6.order import ANY_SEAT, orders
from mjbot.records.tenhou6.results import DrawEntry, Result, read_result
from protocol import messages as m
from protocol.reading import whole_number
from protocol.rules import RANKED, Rules

MAX_GAME_BYTES: Final = 1 << 20
"""A real game has some 10 kB."""
_CHUNK: Final = 1 << 16
_BETWEEN: Final = " \t\r\n,\ufeff"
_TABLE: Final = re.compile("[般上特鳳]([東南])(喰?)(赤?)速?")
"""What Tenhou calls a table: room and length, then 喰 where open tanyao counts, red fives, fast."""
_RED_FIVES: Final = ("aka", "aka51", "aka52", "aka53")
_DECODER: Final = json.JSONDecoder()
_SURROGATE: Final = re.compile(r"\\ud[89a-f]", re.IGNORECASE)
"""Half of a character, escaped: the decoder joins two of them, and lets one alone stand."""


def read_tenhou6(stream: Lines, name: str) -> Iterator[Game]:
    """Yield the games of a stream of JSON.

    Raises :class:`RecordError` here for what is no JSON; what is wrong with a game is raised while
    its entries are walked, :class:`ForeignRecordError` if it is of three players.  A bad hand among
    good ones is named in ``Game.hands`` and costs no other.
    """
    for count, value in enumerate(json_values(stream, name), 1):
        title = name if count == 1 else f"{name}#{count}"
        ref = value.get("ref") if isinstance(value, dict) else None
        notes = HandNotes()
        entries = _entries(value, title, notes)
        yield Game(title, "hand", entries, ref if isinstance(ref, str) else "", notes)


def json_values(stream: Lines, name: str) -> Iterator[Any]:
    """Yield the values of a stream one by one, of an array its items.

    Raises :class:`RecordError` with ``name`` and the number of the value where one is damaged, cut
    off or longer than :data:`MAX_GAME_BYTES`.
    """
    decode = codecs.getincrementaldecoder("utf-8")().decode
    text, in_array, count = "", False, 0
    more = True
    while True:
        text = text.lstrip(_BETWEEN)
        if not in_array and not count and text.startswith("["):
            text, in_array = text[1:].lstrip(_BETWEEN), True
        if in_array and text.startswith("]"):
            text, in_array = text[1:].lstrip(_BETWEEN), False
        problem = "it is cut off"
        if text:
            found = _first_value(text, name, count + 1)
            if not isinstance(found, str):
                count += 1
                yield found[0]
                text = text[found[1] :]
                continue
            problem = found
        if len(text) > MAX_GAME_BYTES:
            problem = f"no game ends within {MAX_GAME_BYTES} characters"
            raise RecordError(name, f"game {count + 1}", problem)
        if not more:
            if text or in_array:
                raise RecordError(name, f"game {count + 1}", problem)
            return
        try:
            chunk = stream.read(max(_CHUNK, len(text)))
            text += decode(chunk, not chunk)
        except UnicodeDecodeError:
            raise RecordError(name, f"game {count + 1}", "is not UTF-8") from None
        more = bool(chunk)


def _first_value(text: str, name: str, number: int) -> tuple[Any, int] | str:
    """Return a value and where it ends, or why there is none, which more text may cure."""
    try:
        value, end = _DECODER.raw_decode(text)
        if _SURROGATE.search(text, 0, end):
            json.dumps(value, ensure_ascii=False).encode()
        return value, end
    except UnicodeEncodeError:
        raise RecordError(name, f"game {number}", "has half of a character in a text") from None
    except json.JSONDecodeError as error:
        return f"not JSON ({error.msg} at character {error.pos + 1})"
    except RecursionError:
        raise RecordError(name, f"game {number}", "nested too deep") from None
    except ValueError:
        raise RecordError(name, f"game {number}", "has an endless number") from None


def _entries(value: Any, name: str, notes: HandNotes) -> Iterator[Entry]:
    if not is_tenhou6(value):
        raise RecordError(name, "", 'an object with a "log" belongs here')
    hands = value["log"]
    if not isinstance(hands, list) or not hands:
        raise RecordError(name, "", "log: is no list of hands")
    if _has_three_players(value):
        raise ForeignRecordError(name, THREE_PLAYER_GAME)
    try:
        start = m.StartGame(names=_names(value), mjbot_rules=_rules(value.get("rule")).announced)
        end = [m.EndGame(scores=_final_scores(value["sc"]))] if "sc" in value else []
    except ValueError as error:
        raise RecordError(name, "", str(error)) from None
    played = [_hand_events(hand, name, number, notes) for number, hand in enumerate(hands, 1)]
    if not any(len(events) > _UNPLAYED for events in played):
        raise notes.unreadable.pop(0)
    yield Entry(1, start)
    for number, events in enumerate(played, 1):
        for event in events:
            yield Entry(number, event)
    for event in end:
        yield Entry(len(played), event)


def _has_three_players(game: dict[str, Any]) -> bool:
    hand = game["log"][0]
    names = game.get("name")
    if isinstance(names, list) and len(names) == 3:
        return True
    return isinstance(hand, list) and len(hand) >= 14 and hand[13] == []


def _rules(rule: Any) -> Rules:
    """Return the rules that the site's name of a table stands for, else the default ones.

    Red fives are played with where the name has 赤, and where ``aka`` or one of ``aka51`` to
    ``aka53`` counts any.
    """
    fields = rule if isinstance(rule, dict) else {}
    display = fields.get("disp")
    found = _TABLE.fullmatch(display) if isinstance(display, str) else None
    if found is None:
        return RANKED
    length, open_tanyao, red_fives = found.groups()
    return Rules(
        length="hanchan" if length == "南" else "tonpu",
        open_tanyao=bool(open_tanyao),
        red_fives=bool(red_fives) or any(fields.get(name) for name in _RED_FIVES),
    )


def _names(game: dict[str, Any]) -> tuple[str, ...] | None:
    names = game.get("name")
    if names is None:
        return None
    if not isinstance(names, list) or len(names) != 4:
        raise ValueError("name: is no list of four names")
    known = tuple(name if isinstance(name, str) else "" for name in names)
    return known if any(known) else None


def _final_scores(value: Any) -> m.FourInts:
    found = value[:8:2] if isinstance(value, list) else []
    scores = [score for part in found if (score := whole_number(part)) is not None]
    if len(scores) != 4:
        raise ValueError("sc: is no final result")
    if max(map(abs, scores)) > m.MOST_POINTS:
        raise ValueError(f"sc: has a number beyond {m.MOST_POINTS}")
    a, b, c, d = scores
    return a, b, c, d


# --- one hand --------------------------------------------------------------------------------

_UNPLAYED: Final = 2
"""A hand that cannot be read is its deal and its end."""


def _hand_events(value: Any, name: str, number: int, notes: HandNotes) -> list[m.Event]:
    """Return the events of a hand; without its result, or dealt and not played, if it is bad.

    Raises :class:`RecordError` where not even its place in the game can be read.
    """
    try:
        hand = read_hand(value)
        return _events(hand, read_result(hand.result))
    except ValueError as error:
        notes.unreadable.append(RecordError(name, f"hand {number}", str(error)))
    try:
        return _events(read_hand(value), None)
    except ValueError:
        pass
    try:
        return [emit_deal(read_deal(value)), m.EndKyoku()]
    except ValueError:
        raise notes.unreadable.pop() from None


def _events(hand: HandColumns, result: Result) -> list[m.Event]:
    played = emit_events(hand, next(orders(hand, ronned_seat(result))), result)
    return [*played, m.EndKyoku()]


def ronned_seat(result: Result) -> int:
    """Return the seat whose last tile was won by another, for :func:`.order.orders`."""
    if result is None:
        return ANY_SEAT
    if isinstance(result, DrawEntry):
        return ANY_SEAT if result.reason == "sanchaho" else -1
    return result[0].source if result[0].source != result[0].winner else -1
