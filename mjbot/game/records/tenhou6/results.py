"""The end of a hand of tenhou.net/6, read and written (:mod:`.words` has the names).

A win is ``["和了", changes, [winner, from, liable or winner, value, yaku...]]``, two more items for
each further winner; a draw is its name and, where something is paid, the changes.  Values:
``30符4飜7700点`` below the limits, ``満貫2000-4000点`` at one, where the dealer pays the second
number; ``∀`` means that each of the others pays.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from mjbot.game.records.game import WinRecord
from mjbot.game.records.tenhou6.hands import four_numbers
from mjbot.game.records.tenhou6.words import (
    ALL_TENPAI,
    DRAWS,
    EXHAUSTIVE,
    EXPORTED_DRAWS,
    LIMITS,
    NOBODY_TENPAI,
    UNKNOWN_RESULT,
    WIN,
    WINS,
    YAKU_IDS,
    YAKU_NAMES,
)
from mjbot.game.rules.points import base_points, tsumo_points
from mjbot.game.rules.yaku_table import DOUBLED
from mjbot.protocol.messages import FourInts
from mjbot.protocol.yaku import YAKUMAN_FAN, is_yakuman, named_yaku

_YAKU: Final = re.compile(r"(.+)\((?:(\d+)飜|役満)\)")
_VALUE: Final = re.compile(
    r"(?:(\d+)(?:符|Fu)(\d+)(?:飜|Han)|\D*)(\d+)(?:-(\d+))?(?:点|Points)(∀?)"
)


@dataclass(frozen=True, slots=True)
class WinEntry:
    """One win of the log; what its text does not contain, or not in a known form, is
    ``None``.
    """

    winner: int
    source: int
    liable: int | None
    deltas: FourInts
    points: int | None
    fu: int | None
    yakus: tuple[tuple[str, int], ...] | None
    fan: int | None


@dataclass(frozen=True, slots=True)
class DrawEntry:
    """A draw: its mjai reason, its name in the log, and what was paid if that is known.

    ``is_open``: something was paid that the log does not have.
    """

    reason: str
    name: str
    deltas: FourInts | None
    is_open: bool = False


Result = tuple[WinEntry, ...] | DrawEntry | None
"""``None``: the log does not contain how the hand ended."""


def read_result(value: list[Any], players: int = 4) -> Result:
    """Read a result of so many players.  Raises ``ValueError`` that names the place in its list."""
    has_gap = len(value) > 1 and _has_gap(value[1])
    while value and value[-1] is None:
        value = value[:-1]
    if not value or value[0] == UNKNOWN_RESULT:
        return None
    if not isinstance(value[0], str):
        raise ValueError("[16]: does not begin with a text")
    name = value[0].strip().lower()
    if name in WINS:
        if len(value) < 3 or len(value) % 2 == 0:
            raise ValueError(f"[16]: has {len(value)} parts; after {WIN} come pairs for each win")
        return tuple(_read_win(value, at, players) for at in range(1, len(value), 2))
    if (reason := DRAWS.get(name) or EXPORTED_DRAWS.get(name)) is None:
        raise ValueError(f'[16][0]: "{value[0][:40]}" is neither a win nor a draw known here')
    deltas = None if has_gap or len(value) < 2 else four_numbers(value[1], "[16][1]", players)
    return DrawEntry(reason, name, deltas, has_gap and reason == "fanpai")


def _has_gap(changes: Any) -> bool:
    """Return whether a list of changes is empty or lacks some."""
    return changes is None or (isinstance(changes, list) and (not changes or None in changes))


def _read_win(result: list[Any], at: int, players: int) -> WinEntry:
    place = f"[16][{at + 1}]"
    changes, parts = result[at], result[at + 1]
    if isinstance(changes, list) and any(changes):
        changes = [0 if change is None else change for change in changes]
    deltas = four_numbers(changes, f"[16][{at}]", players)
    if not isinstance(parts, list) or len(parts) < 3:
        raise ValueError(f"{place}: has no winner and source")
    if parts[2] is None:
        parts = [*parts[:2], parts[0], *parts[3:]]
    winner, source, third = (_seat(parts[index], f"{place}[{index}]") for index in range(3))
    texts = [text for text in parts[3:] if text is not None]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{place}: the value and the yaku are texts")
    points, fu = _read_value(texts[0], players) if texts else (None, None)
    yakus, fan = _read_yaku(texts[1:])
    liable = third if third != winner else None
    return WinEntry(winner, source, liable, deltas, points, fu, yakus, fan)


def _read_value(text: str, players: int) -> tuple[int | None, int | None]:
    if not (match := _VALUE.fullmatch(text)):
        return None, None
    fu, _, first, second, each = match.groups()
    if second is None:
        points = int(first) * (players - 1 if each else 1)
    else:
        points = (players - 2) * int(first) + int(second)
    return points, int(fu) if fu else None


def _read_yaku(texts: Sequence[str]) -> tuple[tuple[tuple[str, int], ...] | None, int | None]:
    matches = [_YAKU.fullmatch(text) for text in texts]
    if not matches or not all(match and match[1] in YAKU_IDS for match in matches):
        return None, None
    ids = [(YAKU_IDS[match[1]], int(match[2] or 0)) for match in matches if match]
    yakuman = [yaku for yaku, _ in ids if is_yakuman(yaku)]
    yaku = [] if yakuman else _summed(ids)
    if DOUBLED & sum({1 << each for each in yakuman}):
        return named_yaku(yaku, yakuman), None  # a double yakuman is listed once or twice
    return named_yaku(yaku, yakuman), YAKUMAN_FAN * len(yakuman) or sum(han for _, han in yaku)


def _summed(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the han of each yaku, in the order in which it is first listed."""
    han: dict[int, int] = {}
    for yaku, value in pairs:
        han[yaku] = han.get(yaku, 0) + value
    return list(han.items())


def _seat(value: Any, place: str) -> int:
    if not isinstance(value, int) or not 0 <= value <= 3:
        raise ValueError(f"{place}: {str(value)[:40]} is no seat, seats are 0..3")
    return value


# --- writing ---------------------------------------------------------------------------------


def win_json(wins: Sequence[WinRecord], dealer: int, players: int) -> list[Any]:
    """Return the result of a hand that one or two seats won."""
    result: list[Any] = [WIN]
    for win in wins:
        third = win.winner if win.liable is None else win.liable
        parts: list[Any] = [win.winner, win.source, third, _value_text(win, dealer, players)]
        parts += [f"{YAKU_NAMES[yaku]}({han}飜)" for yaku, han in win.yaku if han]
        parts += [f"{YAKU_NAMES[yaku]}(役満)" for yaku in win.yakuman]
        result += [list(win.deltas), parts]
    return result


def _value_text(win: WinRecord, dealer: int, players: int) -> str:
    han = sum(han for _, han in win.yaku)
    rank = LIMITS[win.limit] or f"{win.fu}符{han}飜"
    if win.winner != win.source:
        return f"{rank}{win.hand_points}点"
    if win.winner == dealer:
        return f"{rank}{win.hand_points // (players - 1)}点∀"
    base = win.hand_points // players if win.limit else int(base_points(han, win.fu, 0, 0))
    return f"{rank}{tsumo_points(base, False)}-{tsumo_points(base, True)}点"


def draw_json(reason: str, deltas: FourInts, tenpais: Sequence[bool]) -> list[Any]:
    """Return the result of a drawn hand."""
    if reason == "fanpai":
        if any(deltas):
            return [EXHAUSTIVE, list(deltas)]
        return [ALL_TENPAI if all(tenpais) else NOBODY_TENPAI]
    name = next(name for name, known in DRAWS.items() if known == reason)
    return [name, list(deltas)] if reason == "nagashimangan" else [name]
