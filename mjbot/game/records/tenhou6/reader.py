"""Games of tenhou.net/6, as events in the order in which they happened.

The order follows from turns and calls (:mod:`.order`); whether the rules allow it is not checked
here, as with other records.

A file holds one game, an array of them, or one after the other.  Single hands that follow each
other, as viewers export them, are one game.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from mjbot.game.records.dates import moment_of_id, moment_of_text
from mjbot.game.records.game import (
    Entry,
    Game,
    HandNotes,
    RecordError,
)
from mjbot.game.records.json_values import Lines, json_values
from mjbot.game.records.other_formats import is_tenhou6
from mjbot.game.records.tenhou6.events import emit_deal, emit_events
from mjbot.game.records.tenhou6.hands import (
    HandColumns,
    number_of_players,
    read_deal,
    read_hand,
)
from mjbot.game.records.tenhou6.order import ANY_SEAT, orders
from mjbot.game.records.tenhou6.results import DrawEntry, Result, read_result
from mjbot.protocol import messages as m
from mjbot.protocol.reading import whole_number
from mjbot.protocol.rules import MAHJONG_SOUL, Length, Rules
from mjbot.protocol.seats import by_seat

_TABLE: Final = re.compile("三?[般上特鳳]([東南])(喰?)(赤?)速?")
"""What Tenhou calls a table: 三 with three players, room and length, then 喰 where open tanyao
counts, red fives, fast."""
_ROOM: Final = re.compile(
    r"([東南]|East|South)喰?(?:赤| Red(?: Fives)?)?( Aka Nashi| No Red Fives)?\Z"
)
"""How the name of an exported room ends: length, and whether there are red fives."""
_RED_FIVES: Final = ("aka", "aka51", "aka52", "aka53")


def read_tenhou6(stream: Lines, name: str) -> Iterator[Game]:
    """Yield the games of a stream of JSON.

    Raises :class:`RecordError` here for what is no JSON; what is wrong with a game is raised while
    its entries are walked.  A bad hand among good ones is named in ``Game.hands`` and costs no
    other.
    """
    values = (value for _, value in json_values(stream, name))
    for count, value in enumerate(_joined(values), 1):
        title = name if count == 1 else f"{name}#{count}"
        ref = value.get("ref") if isinstance(value, dict) else None
        notes = HandNotes()
        entries = _entries(value, title, notes)
        ref = ref if isinstance(ref, str) else ""
        yield Game(title, "hand", entries, ref, _played_at(value, ref), notes)


def _played_at(value: Any, ref: str) -> str:
    """Return when a game was played, by Tenhou's id, its title's second text or the site's id.

    Exporters put the date of the end there in their own way; the id has the day of the start.
    """
    by_id = moment_of_id(ref)
    if "T" in by_id:
        return by_id
    title = value.get("title") if isinstance(value, dict) else None
    written = moment_of_text(title[1]) if isinstance(title, list) and len(title) > 1 else ""
    return written or by_id


class HandLink(NamedTuple):
    """By what a single hand is recognised as the next one of a game.

    ``names`` are the players, ``place`` is kyoku and honba, ``after`` are the points after its end,
    ``None`` if the hand cannot be read so far.
    """

    names: Any
    place: tuple[int, int]
    scores: m.FourInts
    after: m.FourInts | None

    def continues(self, before: "HandLink") -> bool:
        """Return whether this hand is a later one of the same players, with the points they had."""
        is_later = before.place < self.place
        return before.names == self.names and is_later and before.after == self.scores


def single_hand(value: Any) -> HandLink | None:
    """Return the link of a game that has one hand; ``None`` for other games and other values."""
    is_single = is_tenhou6(value) and isinstance(value["log"], list) and len(value["log"]) == 1
    return _last_hand(value) if is_single else None


def _last_hand(game: dict[str, Any]) -> HandLink | None:
    try:
        hand = game["log"][-1]
        deal = read_deal(hand)
    except (ValueError, LookupError, TypeError):
        return None
    try:
        before = read_hand(hand)
        result = _events(before, read_result(before.result, before.players))[-2]
    except ValueError:
        result = None
    after = result.scores if isinstance(result, m.Hora | m.Ryukyoku) else None
    return HandLink(game.get("name"), (deal.kyoku, deal.honba), deal.scores, after)


def _joined(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the games, single hands joined with those that continue them."""
    game: Any = None
    for value in values:
        link = single_hand(value) if is_tenhou6(game) else None
        if link and (before := _last_hand(game)) and link.continues(before):
            game = {**game, **value, "log": [*game["log"], *value["log"]]}
            continue
        if game is not None:
            yield game
        game = value
    if game is not None:
        yield game


def _entries(value: Any, name: str, notes: HandNotes) -> Iterator[Entry]:
    if not is_tenhou6(value):
        raise RecordError(name, "", 'an object with a "log" belongs here')
    hands = value["log"]
    if not isinstance(hands, list) or not hands:
        raise RecordError(name, "", "log: is no list of hands")
    players = _players(value)
    try:
        rules = _rules(value.get("rule"), players)
        start = m.StartGame(names=_names(value, players), mjbot_rules=rules)
        final = _final_scores(value.get("sc"), players)
    except ValueError as error:
        raise RecordError(name, "", str(error)) from None
    played = [_hand_events(hand, name, number, notes) for number, hand in enumerate(hands, 1)]
    yield from game_entries(start, played, final, notes)


def game_entries(
    start: m.StartGame,
    played: Sequence[Sequence[m.Event]],
    final: m.FourInts | None,
    notes: HandNotes,
) -> Iterator[Entry]:
    """Yield a game of these hands, each with its number; ``final`` are the scores at its end.

    Raises the first error of ``notes`` if no hand is played.
    """
    if not any(len(events) > _UNPLAYED for events in played):
        raise notes.unreadable.pop(0)
    yield Entry(1, start)
    for number, events in enumerate(played, 1):
        for event in events:
            yield Entry(number, event)
    if final is not None and (len(played) > 1 or _may_end(played[0], final)):
        yield Entry(len(played), m.EndGame(scores=final))


def _may_end(hand: Sequence[m.Event], final: m.FourInts) -> bool:
    """Return whether a single hand can end a game so; those cut out of a game keep its ``sc``.

    Sticks that are left go to first place, so one score may differ.
    """
    results = [event.scores for event in hand if isinstance(event, m.Hora | m.Ryukyoku)]
    if not results or results[-1] is None:
        return True
    return sum(one != other for one, other in zip(results[-1], final, strict=True)) <= 1


def _players(game: dict[str, Any]) -> int:
    hand = game["log"][0]
    names = game.get("name")
    if isinstance(names, list) and len(names) == 3:
        return 3
    return number_of_players(hand) if isinstance(hand, list) else 4


def _rules(rule: Any, players: int) -> dict[str, Any] | None:
    """Return the rules for ``start_game`` that the site's name of a table stands for.

    Red fives are played with where the name has 赤, and where ``aka`` or one of ``aka51`` to
    ``aka53`` counts any.
    """
    fields = rule if isinstance(rule, dict) else {}
    display = fields.get("disp")
    match = _TABLE.fullmatch(display) if isinstance(display, str) else None
    if match is None:
        return _room_rules(str(display), fields, players)
    length, open_tanyao, red_fives = match.groups()
    return Rules(
        length="hanchan" if length == "南" else "tonpu",
        open_tanyao=bool(open_tanyao),
        red_fives=bool(red_fives) or any(fields.get(name) for name in _RED_FIVES),
        players=players,
    ).announced


def _room_rules(display: str, fields: dict[str, Any], players: int) -> dict[str, Any] | None:
    """Return the rules of a room of Mahjong Soul, as exporters name it; else the default ones.

    Exporters count the red fives of each suit, the site's own records count all together.
    """
    match = _ROOM.search(display)
    counts = [fields[name] for name in _RED_FIVES if name in fields]
    if match is None and not any(name in fields for name in _RED_FIVES[1:]):
        return Rules(players=players).announced
    length: Length = "tonpu" if match and match[1] in ("東", "East") else "hanchan"
    no_reds = match and match[2]
    site = Rules(length=length, players=players).under(MAHJONG_SOUL)
    red_fives = not no_reds and (not counts or any(counts))
    named = msgspec.structs.replace(site, red_fives=red_fives).differences
    return ({"length": length} if match else {}) | named


def _names(game: dict[str, Any], players: int) -> tuple[str, ...] | None:
    names = game.get("name")
    if names is None:
        return None
    if not isinstance(names, list) or len(names) not in (4, players):
        raise ValueError("name: is no list of four names")
    known = tuple([name if isinstance(name, str) else "" for name in [*names, ""][:4]])
    return known if any(known) else None


def _final_scores(value: Any, players: int) -> m.FourInts | None:
    columns = value[: 2 * players : 2] if isinstance(value, list) else []
    if value in (None, []) or None in columns:
        return None
    scores = [score for column in columns if (score := whole_number(column)) is not None]
    if len(scores) != players:
        raise ValueError("sc: is no final result")
    if max(map(abs, scores)) > m.MOST_POINTS:
        raise ValueError(f"sc: has a number beyond {m.MOST_POINTS}")
    return by_seat([*scores, 0][:4])


# --- one hand --------------------------------------------------------------------------------

_UNPLAYED: Final = 2
"""A hand that cannot be read is its deal and its end."""


def _hand_events(value: Any, name: str, number: int, notes: HandNotes) -> list[m.Event]:
    """Return the events of a hand; without its result, or dealt and not played, if it is bad.

    Raises :class:`RecordError` where not even its place in the game can be read.
    """
    hand = None
    try:
        hand = read_hand(value)
        return _events(hand, read_result(hand.result, hand.players))
    except ValueError as error:
        notes.unreadable.append(RecordError(name, f"hand {number}", str(error)))
    try:
        return _events(hand, None) if hand else _unplayed(read_deal(value))
    except ValueError:
        if hand is None:
            raise notes.unreadable.pop() from None
        return _unplayed(hand)


def _unplayed(hand: HandColumns) -> list[m.Event]:
    return [emit_deal(hand), m.EndKyoku()]


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
