"""One hand of a tenhou.net/6 log: its JSON, checked place by place, and back.

A hand is ``[[kyoku, honba, sticks], scores, dora indicators, ura indicators, then three columns
for each seat: start tiles, draws, discards; and at the end the result]``.  Tiles are numbers:
11-19 man, 21-29 pin, 31-39 sou, 41-47 E S W N haku hatsu chun, 51 52 53 the red fives.

===========  =====================================================================================
draws        a tile, or a call: ``c`` chi, ``p`` pon, ``m`` daiminkan before the claimed tile.
             The letter stands first for a tile of the seat to the left, after one tile for the
             one across, last (before the last tile) for the one to the right
discards     a tile, 60 for the drawn one, 0 for none after a daiminkan; ``r`` and either of the
             first two for riichi; ``k`` kakan before the added tile, at the place of its pon's
             letter; ``a`` ankan before the last tile; ``f44`` kita
===========  =====================================================================================
Of three players the fourth seat's columns are empty or absent, and lists by seat end in its 0 or
have three items; a call counts seats with the empty one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NoReturn

from mjbot.protocol.messages import MOST_POINTS, MOST_STICKS, FourInts
from mjbot.protocol.reading import whole_number
from mjbot.protocol.seats import by_seat
from mjbot.protocol.tiles import TILE_NAMES, tile_kind

TILE_CODES: Final = {
    name: 51 + code - 34 if code >= 34 else 11 + code // 9 * 10 + code % 9
    for code, name in enumerate(TILE_NAMES[:37])
}
"""Tile -> number in the log."""
_TILES: Final = {code: name for name, code in TILE_CODES.items()}
_DRAWN: Final = 60
_NOTHING: Final = 0
_COLUMNS: Final = {4: 17, 3: 14}
"""By how many seats have columns."""
_KITA: Final = "f44"
_DEALT: Final = 13
_CALL: Final = re.compile(r"(\d\d)*[a-z](\d\d)+")
_CALL_KINDS: Final[dict[str, "ClaimKind"]] = {"c": "chi", "p": "pon", "m": "daiminkan"}
_CALL_LETTERS: Final = {kind: letter for letter, kind in _CALL_KINDS.items()}
_CALL_SIZES: Final = {"chi": 3, "pon": 3, "daiminkan": 4}

ClaimKind = Literal["chi", "pon", "daiminkan"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A call of another seat's discard, in the place of a draw.

    ``source`` counts seats to the right of the caller; ``own`` are its own tiles, as they stand.
    """

    kind: ClaimKind
    source: int
    tile: str
    own: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnKan:
    """A kakan of ``tile`` on a pon of ``own`` (``source`` is the seat of the claimed tile), or an
    ankan of ``own`` and ``tile`` (``source`` 0).
    """

    kind: Literal["kakan", "ankan"]
    source: int
    tile: str
    own: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NorthAside:
    """A kita."""


@dataclass(frozen=True, slots=True)
class RiverEntry:
    """A discard; ``tile`` is ``None`` if it is the tile just drawn."""

    tile: str | None
    riichi: bool = False


@dataclass(frozen=True, slots=True)
class Nothing:
    """After a daiminkan: the seat draws before it discards."""


Draw = str | Claim
Play = RiverEntry | OwnKan | NorthAside | Nothing


@dataclass(frozen=True, slots=True)
class SeatColumns:
    """What one seat was dealt, drew or called, and did with it."""

    start: tuple[str, ...]
    draws: tuple[Draw, ...]
    plays: tuple[Play, ...]


@dataclass(frozen=True, slots=True)
class HandColumns:
    """One hand of a log.  ``result`` is the JSON of how it ended (:mod:`.results`)."""

    kyoku: int
    honba: int
    sticks: int
    scores: FourInts
    dora: tuple[str, ...]
    ura: tuple[str, ...]
    seats: tuple[SeatColumns, ...]
    result: list[Any]
    players: int = 4


# --- reading ---------------------------------------------------------------------------------


def read_hand(value: Any) -> HandColumns:
    """Check the JSON of a hand.  Raises ``ValueError`` that names the place in its list."""
    deal = read_deal(value)
    if len(value) not in _COLUMNS.values():
        _refuse("", f"has {len(value)} parts where {_COLUMNS[deal.players]} belong")
    firsts = (4, 7, 10, 13)[: deal.players]
    seats = [_read_seat(value[at : at + 3], at, deal.players) for at in firsts]
    return replace(
        deal,
        dora=_indicators(value[2], "[2]"),
        ura=_indicators(value[3], "[3]"),
        seats=(*seats, *deal.seats[deal.players :]),
        result=_list(value[-1], f"[{len(value) - 1}]"),
    )


def number_of_players(columns: list[Any]) -> int:
    """Return how many play a hand: three if the fourth seat's columns are empty or absent.

    >>> number_of_players([None] * 17), number_of_players([None] * 14)
    (4, 3)
    """
    has_fourth = len(columns) != _COLUMNS[3] and columns[13:14] != [[]]
    return 4 if has_fourth else 3


def read_deal(value: Any) -> HandColumns:
    """Check only where in a game a hand stands; its tiles are hidden, but for the first indicator.

    Raises ``ValueError`` that names the place in its list.
    """
    columns = _list(value, "")
    if len(columns) < 3:
        _refuse("", f"has {len(columns)} parts where {_COLUMNS[4]} belong")
    players = number_of_players(columns)
    kyoku, honba, sticks = (_number(columns[0], "[0]", at, 3) for at in range(3))
    if not 0 <= kyoku < 16 or not (0 <= honba <= MOST_STICKS and 0 <= sticks <= MOST_STICKS):
        _refuse("[0]", f"{columns[0]} is no kyoku, honba and sticks")
    scores = four_numbers(columns[1], "[1]", players)
    if not (dora := _list(columns[2], "[2]")):
        _refuse("[2]", "names no dora indicator")
    hidden = SeatColumns(("?",) * _DEALT, (), ())
    return HandColumns(
        kyoku=kyoku,
        honba=honba,
        sticks=sticks,
        scores=scores,
        dora=(_tile(dora[0], "[2][0]"),),
        ura=(),
        seats=(hidden,) * 4,
        result=[],
        players=players,
    )


def four_numbers(value: Any, place: str, players: int) -> FourInts:
    """Return numbers by seat; of three players a fourth number is dropped, and 0 stands for it."""
    count = len(value) if players == 3 and isinstance(value, list) and len(value) == 3 else 4
    numbers = [_number(value, place, at, count) for at in range(players)]
    return by_seat([*numbers, 0][:4])


def _read_seat(columns: list[Any], first: int, players: int) -> SeatColumns:
    start = _tiles(columns[0], f"[{first}]")
    if len(start) != _DEALT:
        _refuse(f"[{first}]", f"has {len(start)} start tiles where {_DEALT} belong")
    draws = _list(columns[1], f"[{first + 1}]")
    plays = _list(columns[2], f"[{first + 2}]")
    return SeatColumns(
        start,
        tuple(_read_draw(value, f"[{first + 1}][{at}]") for at, value in enumerate(draws)),
        tuple(_read_play(value, f"[{first + 2}][{at}]", players) for at, value in enumerate(plays)),
    )


def _read_draw(value: Any, place: str) -> Draw:
    if not isinstance(value, str):
        return _tile(value, place)
    letter, tile, own, before = _read_call(value, place)
    kind = _CALL_KINDS.get(letter)
    if kind is None or len(own) + 1 != _CALL_SIZES[kind]:
        _refuse(place, f'"{value[:40]}" is no call')
    source = _source(before, len(own))
    if source is None or (kind == "chi" and source != 3):
        _refuse(place, f'"{value[:40]}" is a call from no seat')
    return Claim(kind, source, tile, own)


def _read_play(value: Any, place: str, players: int) -> Play:
    if not isinstance(value, str):
        if value == _NOTHING and not isinstance(value, bool):
            return Nothing()
        return RiverEntry(None if value == _DRAWN else _tile(value, place))
    if value == _KITA and players == 3:
        return NorthAside()
    if value[:1] == "r" and value[1:].isdecimal():
        code = int(value[1:])
        return RiverEntry(None if code == _DRAWN else _tile(code, place), riichi=True)
    letter, tile, own, before = _read_call(value, place)
    if letter not in "ka" or len(own) != 3:
        _refuse(place, f'"{value[:40]}" is neither a discard nor a kan')
    if letter == "a":
        return OwnKan("ankan", 0, tile, own)
    source = _source(min(before, 2), 2)
    if source is None:
        _refuse(place, f'"{value[:40]}" is a kakan on a pon from no seat')
    return OwnKan("kakan", source, tile, own)


def _read_call(text: str, place: str) -> tuple[str, str, tuple[str, ...], int]:
    """Return the letter, the tile after it, the others, and how many stand before it."""
    if not _CALL.fullmatch(text):
        _refuse(place, f'"{text[:40]}" is no call')
    at = next(index for index, letter in enumerate(text) if letter.isalpha())
    digits = text[:at] + text[at + 1 :]
    tiles = [_tile(int(digits[index : index + 2]), place) for index in range(0, len(digits), 2)]
    called = tiles.pop(at // 2)
    return text[at], called, tuple(tiles), at // 2


def _source(before: int, n_own: int) -> int | None:
    """Return the seat counted to the right, by how many own tiles stand before the letter."""
    return {0: 3, 1: 2, n_own: 1}.get(before)


def _tile(value: Any, place: str) -> str:
    name = _TILES.get(value) if isinstance(value, int) and not isinstance(value, bool) else None
    if name is None:
        _refuse(place, f"{str(value)[:40]} is no tile")
    return name


def _tiles(value: Any, place: str) -> tuple[str, ...]:
    return tuple(_tile(item, f"{place}[{at}]") for at, item in enumerate(_list(value, place)))


def _indicators(value: Any, place: str) -> tuple[str, ...]:
    """Return indicators; ``null`` among them, or instead of them, is none."""
    known = [] if value is None else [item for item in _list(value, place) if item is not None]
    return _tiles(known, place)


def _number(value: Any, place: str, at: int, count: int) -> int:
    entry = _list(value, place, count)[at]
    number = whole_number(entry)
    if number is None or abs(number) > MOST_POINTS:
        _refuse(f"{place}[{at}]", f"{str(entry)[:40]} is no number of points or sticks")
    return number


def _list(value: Any, place: str, count: int | None = None) -> list[Any]:
    if not isinstance(value, list):
        _refuse(place, "is no list")
    if count is not None and len(value) != count:
        _refuse(place, f"has {len(value)} parts where {count} belong")
    return value


def _refuse(place: str, problem: str) -> NoReturn:
    raise ValueError(f"{place or 'it'}: {problem}" if place else problem)


# --- writing ---------------------------------------------------------------------------------


def hand_json(hand: HandColumns) -> list[Any]:
    """Return a hand as its JSON."""
    columns: list[Any] = [[hand.kyoku, hand.honba, hand.sticks], list(hand.scores)]
    columns += [_codes(hand.dora), _codes(hand.ura)]
    for seat in hand.seats[: hand.players]:
        columns += [
            sorted(_codes(seat.start), key=_sorting),
            [draw_json(draw) for draw in seat.draws],
            [play_json(play) for play in seat.plays],
        ]
    columns += [[]] * (3 * (4 - hand.players))
    return [*columns, hand.result]


def draw_json(draw: Draw) -> int | str:
    """Return a draw or call.

    >>> draw_json("5pr"), draw_json(Claim("pon", 2, "C", ("C", "C")))
    (52, '47p4747')
    """
    if isinstance(draw, str):
        return TILE_CODES[draw]
    places = {3: 0, 2: 1, 1: len(draw.own)}
    return _call_text(_CALL_LETTERS[draw.kind], draw.tile, draw.own, places[draw.source])


def play_json(play: Play) -> int | str:
    """Return a discard or kan.

    >>> play_json(RiverEntry(None, riichi=True))
    'r60'
    >>> play_json(OwnKan("ankan", 0, "5sr", ("5s", "5s", "5s")))
    '353535a53'
    """
    match play:
        case RiverEntry(tile, riichi):
            code = _DRAWN if tile is None else TILE_CODES[tile]
            return f"r{code}" if riichi else code
        case NorthAside():
            return _KITA
        case OwnKan("kakan", source, tile, own):
            return _call_text("k", tile, own, {3: 0, 2: 1, 1: 2}[source])
        case OwnKan(_, _, tile, own):
            return _call_text("a", tile, own, 3)
    return _NOTHING


def _call_text(letter: str, tile: str, own: Sequence[str], before: int) -> str:
    codes = _codes(own)
    codes.insert(before, TILE_CODES[tile])
    parts = [str(code) for code in codes]
    parts[before] = letter + parts[before]
    return "".join(parts)


def _codes(tiles: Iterable[str]) -> list[int]:
    return [TILE_CODES[name] for name in tiles]


def _sorting(code: int) -> tuple[int, bool]:
    return tile_kind(TILE_NAMES.index(_TILES[code])), code > 50
