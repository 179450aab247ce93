"""A game as the JSON of tenhou.net/6.

Left out is what the columns have no place for: the order of events, of equal tiles the copies,
the fu of a hand at a limit, the wall and the dice; start tiles stand in order, as the site sorts
them.
"""

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from mjbot.game.records.complete import CompleteGame
from mjbot.game.records.game import Entry, WinRecord
from mjbot.game.records.tenhou6 import hands as h
from mjbot.game.records.tenhou6.results import draw_json, win_json
from mjbot.protocol import messages as m
from mjbot.protocol.rules import MAHJONG_SOUL, Rules
from mjbot.protocol.tenhou.game_type import game_type
from mjbot.protocol.tenhou.results import final_points
from mjbot.protocol.tiles import TILE_BY_NAME, WIND_NAMES, tile_kind


def _rule(rules: Rules) -> dict[str, Any]:
    """Return how the site names a table: room, length, open tanyao and red fives.

    A game of Mahjong Soul gets a room's name as exporters write it.
    """
    site = Rules(length=rules.length, players=rules.players).under(MAHJONG_SOUL)
    if rules == msgspec.structs.replace(site, red_fives=rules.red_fives):
        text = ("雀魂南喰" if rules.length == "hanchan" else "雀魂東喰") + "赤" * rules.red_fives
        return {"disp": text, **dict.fromkeys(("aka51", "aka52", "aka53"), int(rules.red_fives))}
    game_type(rules)  # raises for what the site has no name for
    text = "三" * (rules.players == 3) + ("般南" if rules.length == "hanchan" else "般東")
    text += "喰" * rules.open_tanyao + "赤" * rules.red_fives
    return {"disp": text, "aka": int(rules.red_fives)}


def write_tenhou6(game: CompleteGame) -> bytes:
    """Return a game, as complete as :mod:`mjbot.game.records.complete` makes it, as one line of
    JSON.

    Raises ``ValueError`` for rules that the site has no table for.
    """
    log: list[Any] = []
    columns: _Columns | None = None
    final: m.FourInts | None = None
    for entry in game.entries:
        if isinstance(entry.event, m.StartKyoku):
            columns = _Columns(entry.event, game.rules.players)
        elif isinstance(entry.event, m.EndKyoku) and columns is not None:
            log.append(h.hand_json(columns.hand()))
        elif isinstance(entry.event, m.EndGame):
            final = entry.event.scores
        elif columns is not None:
            columns.take(entry)
    document: dict[str, Any] = {
        "title": ["", ""],
        "name": list(game.names),
        "rule": _rule(game.rules),
        "log": log,
    }
    if final is not None:
        points = final_points(final, game.rules.players)
        document["sc"] = [part for pair in zip(final, points, strict=True) for part in pair]
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class _Columns:
    """Sorts the events of a hand into the columns of the seats."""

    def __init__(self, deal: m.StartKyoku, players: int) -> None:
        self._deal = deal
        self._players = players
        self._dora = [deal.dora_marker]
        self._ura: tuple[str, ...] = ()
        self._draws: list[list[h.Draw]] = [[], [], [], []]
        self._plays: list[list[h.Play]] = [[], [], [], []]
        self._pons: list[dict[int, h.Claim]] = [{}, {}, {}, {}]
        self._riichi = False
        self._wins: list[WinRecord] = []
        self._result: list[Any] = []

    def hand(self) -> h.HandColumns:
        """Return the finished hand."""
        deal = self._deal
        columns = zip(deal.tehais, self._draws, self._plays, strict=True)
        return h.HandColumns(
            kyoku=4 * WIND_NAMES.index(deal.bakaze) + deal.kyoku - 1,
            honba=deal.honba,
            sticks=deal.kyotaku,
            scores=deal.scores or (0, 0, 0, 0),
            dora=tuple(self._dora),
            ura=self._ura,
            seats=tuple(h.SeatColumns(start, tuple(d), tuple(p)) for start, d, p in columns),
            result=self._result,
            players=self._players,
        )

    def take(self, entry: Entry) -> None:
        """Put an event where it belongs."""
        match entry.event:
            case m.Tsumo(actor=seat, pai=tile):
                self._draws[seat].append(tile)
            case m.Reach():
                self._riichi = True
            case m.Dahai(actor=seat, pai=tile, tsumogiri=tsumogiri):
                self._plays[seat].append(h.RiverEntry(None if tsumogiri else tile, self._riichi))
                self._riichi = False
            case m.Chi() | m.Pon() | m.Daiminkan():
                self._claim(entry.event)
            case m.Ankan(actor=seat, consumed=(a, b, c, d)):
                *own, last = _red_last((a, b, c, d))
                self._plays[seat].append(h.OwnKan("ankan", 0, last, tuple(own)))
            case m.Kakan():
                self._kakan(entry.event)
            case m.Kita(actor=seat):
                self._plays[seat].append(h.NorthAside())
            case m.Dora(dora_marker=marker):
                self._dora.append(marker)
            case m.Hora() if entry.win is not None:
                self._wins.append(entry.win)
                self._ura = self._ura or entry.win.ura_markers
                self._result = win_json(self._wins, self._deal.oya, self._players)
            case m.Ryukyoku(reason=reason, deltas=deltas, tenpais=tenpais):
                shown = (tenpais or ())[: self._players]
                self._result = draw_json(reason or "", deltas or (0, 0, 0, 0), shown)

    def _claim(self, event: m.Chi | m.Pon | m.Daiminkan) -> None:
        seat = event.actor
        source, own = (event.target - seat) % 4, _red_last(event.consumed)
        match event:
            case m.Chi():
                self._draws[seat].append(h.Claim("chi", source, event.pai, own))
            case m.Pon():
                pon = h.Claim("pon", source, event.pai, own)
                self._pons[seat][_kind(event.pai)] = pon
                self._draws[seat].append(pon)
            case m.Daiminkan():
                self._draws[seat].append(h.Claim("daiminkan", source, event.pai, own))
                self._plays[seat].append(h.Nothing())

    def _kakan(self, event: m.Kakan) -> None:
        pon = self._pons[event.actor][_kind(event.pai)]
        # The claimed tile follows the added one, as it stood in the pon.
        before = {3: 0, 2: 1, 1: 2}[pon.source]
        own = (*pon.own[:before], pon.tile, *pon.own[before:])
        self._plays[event.actor].append(h.OwnKan("kakan", pon.source, event.pai, own))


def _red_last(tiles: Iterable[str]) -> tuple[str, ...]:
    """Return tiles in the order in which the site writes those of a call."""
    return tuple(sorted(tiles, key=lambda name: (_kind(name), name[-1] == "r")))


def _kind(name: str) -> int:
    return tile_kind(TILE_BY_NAME[name])
