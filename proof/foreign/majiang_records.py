"""Games that majiang-core dealt and judged, as mjai events.

majiang-core writes a hand as a list of objects with one key each.  Seats count from the dealer
(``l``), tiles are ``m0`` (the red five) to ``z7``, a meld is a suit and its digits with a mark + =
- after the tile that was taken: the right, opposite, left neighbour's.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mjbot.play.match.node import find_node, packages_folder
from proof.answers import Report

SCRIPT: Final = Path(__file__).with_name("majiang_referee.js")
_HONOURS: Final = "ESWNPFC"
_GIVER: Final = {"+": 1, "=": 2, "-": 3}
"""Steps from the caller to the player whose tile it took."""

_DRAWS: Final = {
    "荒牌平局": "fanpai",
    "流し満貫": "nagashimangan",
    "九種九牌": "kyushukyuhai",
    "四風連打": "sufonrenta",
    "四家立直": "suchareach",
    "四開槓": "sukaikan",
    "三家和了": "sanchaho",
}
Event = dict[str, Any]


def majiang_games(seed: int, games: int) -> Iterator[list[Event]]:
    """Let majiang-core play games and yield the events of each; raises ``CalledProcessError``."""
    command = [find_node().executable, str(SCRIPT), str(packages_folder()), str(seed), str(games)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as node:
        assert node.stdout is not None
        for line in node.stdout:
            yield list(_game_events(json.loads(line)))
    if node.returncode:
        raise subprocess.CalledProcessError(node.returncode, command)


def replay_majiang_games(seed: int, games: int, report: Report) -> None:
    """Replay games that majiang-core judged, each event and payment checked."""
    with tempfile.TemporaryDirectory() as folder:
        for number, events in enumerate(majiang_games(seed, games)):
            record = Path(folder) / f"{number}.mjson"
            record.write_text("".join(json.dumps(event) + "\n" for event in events), "utf-8")
            report.agreed["hanchan of majiang-core"] += 1
            report.agreed["kyoku"] += sum(event["type"] == "start_kyoku" for event in events)
            report.agreed["events"] += len(events)
        _replay(folder, report)


def play_majiang_at_ours(seed: int, report: Report) -> None:
    """Let four of the AI play one game of East only at our table, and replay its record."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--length", "tonpu", "--seed", str(seed), "--log-dir", folder]
        done = mjbot("match", *["external:majiang"] * 4, *options)
        if done.returncode:
            report.differences.append(f"match: {(done.stderr or done.stdout).strip()[-300:]}")
        report.agreed["games of four majiang-ai at our table"] += 1
        _replay(folder, report)


def _replay(folder: str, report: Report) -> None:
    done = mjbot("replay", folder)
    if done.returncode:
        report.differences.append(f"replay: {done.stdout.strip()[-300:]}")


def mjbot(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of ours to its end."""
    command = [sys.executable, "-P", "-m", "mjbot", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _game_events(game: dict[str, Any]) -> Iterator[Event]:
    yield {"type": "start_game", "names": [f"majiang-{seat}" for seat in range(4)]}
    for kyoku in game["log"]:
        yield from Hand(kyoku).events()
    yield {"type": "end_game", "scores": _from(game["qijia"], game["defen"])}


def _from(first: int, values: list[Any]) -> list[Any]:
    """Return values of players 0..3 from player ``first`` on: seat 0 is the first dealer."""
    return [values[(first + seat) % 4] for seat in range(4)]


class Hand:
    """One kyoku; ``entries`` are its objects in majiang-core's order."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self._entries: Final = entries
        self._dealer: Final = int(entries[0]["qipai"]["jushu"])
        self._last_seat = self._dealer
        self._last_tile = ""
        self._drawn = ""
        self._reach: int | None = None

    def events(self) -> Iterator[Event]:
        """Yield the events of the kyoku."""
        yield self._start(self._entries[0]["qipai"])
        for entry in self._entries[1:]:
            (kind, value), *_ = entry.items()
            if kind in ("zimo", "fulou", "gang", "gangzimo", "pingju") and self._reach is not None:
                yield {"type": "reach_accepted", "actor": self._reach}
                self._reach = None
            yield from getattr(self, f"_{kind}")(value)
        yield {"type": "end_kyoku"}

    def _seat(self, player: int) -> int:
        return (self._dealer + player) % 4

    def _by_seat(self, values: list[Any]) -> list[Any]:
        return [values[(seat - self._dealer) % 4] for seat in range(4)]

    def _start(self, deal: dict[str, Any]) -> Event:
        hands = [_tiles(hand) for hand in self._by_seat(deal["shoupai"])]
        return {
            "type": "start_kyoku",
            "bakaze": "ESWN"[deal["zhuangfeng"]],
            "kyoku": self._dealer + 1,
            "honba": deal["changbang"],
            "kyotaku": deal["lizhibang"],
            "oya": self._dealer,
            "scores": self._by_seat(deal["defen"]),
            "dora_marker": _tile(deal["baopai"]),
            "tehais": hands,
        }

    def _zimo(self, draw: dict[str, Any]) -> Iterator[Event]:
        self._last_seat, self._drawn = self._seat(draw["l"]), _tile(draw["p"])
        yield {"type": "tsumo", "actor": self._last_seat, "pai": self._drawn}

    _gangzimo = _zimo

    def _dapai(self, discard: dict[str, Any]) -> Iterator[Event]:
        seat, tile = self._seat(discard["l"]), _tile(discard["p"])
        if "*" in discard["p"]:
            yield {"type": "reach", "actor": seat}
            self._reach = seat
        self._last_seat, self._last_tile = seat, tile
        drawn = "_" in discard["p"]
        yield {"type": "dahai", "actor": seat, "pai": tile, "tsumogiri": drawn}

    def _fulou(self, call: dict[str, Any]) -> Iterator[Event]:
        seat, (taken, consumed, giver) = self._seat(call["l"]), _meld(call["m"])
        kind = "daiminkan" if len(consumed) == 3 else "chi"
        if kind == "chi" and len({tile[0] for tile in (taken, *consumed)}) == 1:
            kind = "pon"
        yield {
            "type": kind,
            "actor": seat,
            "target": (seat + giver) % 4,
            "pai": taken,
            "consumed": consumed,
        }
        self._last_seat = seat

    def _gang(self, kan: dict[str, Any]) -> Iterator[Event]:
        seat, meld = self._seat(kan["l"]), kan["m"]
        self._last_seat = seat
        if not re.search(r"[+=-]", meld):
            yield {"type": "ankan", "actor": seat, "consumed": _tiles(meld)}
            return
        suit, digits = meld[0], re.sub(r"[+=-]", "", meld[1:])
        self._last_tile = _tile(suit + digits[3])
        consumed = [_tile(suit + digit) for digit in digits[:3]]
        yield {"type": "kakan", "actor": seat, "pai": self._last_tile, "consumed": consumed}

    def _kaigang(self, marker: dict[str, Any]) -> Iterator[Event]:
        yield {"type": "dora", "dora_marker": _tile(marker["baopai"])}

    def _hule(self, win: dict[str, Any]) -> Iterator[Event]:
        seat = self._seat(win["l"])
        by_draw = win["baojia"] is None
        event = {
            "type": "hora",
            "actor": seat,
            "target": seat if by_draw else self._seat(win["baojia"]),
            "pai": self._drawn if by_draw else self._last_tile,
            "deltas": self._by_seat(win["fenpei"]),
            "uradora_markers": [_tile(marker) for marker in win.get("fubaopai") or ()],
        }
        if "damanguan" not in win:
            event |= {"fan": win["fanshu"], "fu": win["fu"]}
        yield event

    def _pingju(self, draw: dict[str, Any]) -> Iterator[Event]:
        tenpai = [bool(hand) for hand in self._by_seat(draw["shoupai"])]
        yield {
            "type": "ryukyoku",
            "reason": _DRAWS[draw["name"]],
            "tenpais": tenpai,
            "deltas": self._by_seat(draw["fenpei"]),
        }


def _tile(text: str) -> str:
    """Return majiang-core's tile in mjai's spelling.

    >>> _tile("m0_*"), _tile("z7"), _tile("s9")
    ('5mr', 'C', '9s')
    """
    suit, digit = text[0], int(text[1])
    if suit == "z":
        return _HONOURS[digit - 1]
    return f"{digit or 5}{suit}{'' if digit else 'r'}"


def _tiles(text: str) -> list[str]:
    """Return the tiles of a hand or a concealed kan.

    >>> _tiles("m10z1")
    ['1m', '5mr', 'E']
    """
    suits = re.findall(r"([mpsz])(\d+)", text)
    return [_tile(suit + digit) for suit, digits in suits for digit in digits]


def _meld(text: str) -> tuple[str, list[str], int]:
    """Return the taken tile, the others, and the steps to the player it was taken from.

    >>> _meld("p30-4")
    ('5pr', ['3p', '4p'], 3)
    """
    found = re.search(r"(\d)([+=-])", text)
    assert found is not None
    index = found.start() - 1
    digits = re.sub(r"[+=-]", "", text[1:])
    rest = [_tile(text[0] + digit) for at, digit in enumerate(digits) if at != index]
    return _tile(text[0] + found[1]), rest, _GIVER[found[2]]
