"""Games of our own table as decoded records of Mahjong Soul."""

from collections.abc import Iterable, Sequence
from typing import Any

from mjbot.game.records.complete import CompleteGame
from mjbot.game.records.game import Entry
from mjbot.game.rules.points import base_points, tsumo_points
from protocol import messages as m
from protocol.seats import by_seat, paid
from protocol.tiles import TILE_BY_NAME, TILE_NAMES, tile_kind

Json = dict[str, Any]
DRAWS = {"kyushukyuhai": 1, "sufonrenta": 2, "suchareach": 3, "sukaikan": 4, "sanchaho": 5}


def text(name: str) -> str:
    """Return a tile as the site writes it."""
    if name.endswith("r"):
        return f"0{name[1]}"
    kind = TILE_NAMES.index(name)
    return name if kind < 27 else f"{kind - 26}z"


def texts(names: Iterable[str]) -> list[str]:
    return [text(name) for name in names]


def kind(name: str) -> int:
    return tile_kind(TILE_BY_NAME[name])


def message(name: str, **data: Any) -> Json:
    return {"name": f".lq.Record{name}", "data": data}


class Writer:
    """The messages of a game; the dealer's first draw is its 14th tile."""

    def __init__(self) -> None:
        self.messages: list[Json] = []
        self._doras: list[str] = []
        self._owed: list[str] = []
        self._wins: list[Entry] = []
        self._riichi = False
        self._dealer = 0

    def write(self, entries: Iterable[Entry]) -> list[Json]:
        entries = [*entries]
        for entry, following in zip(entries, [*entries[1:], None], strict=True):
            self._add(entry, following)
        return self.messages

    def _put(self, name: str, **data: Any) -> None:
        if self._owed:
            self._doras += self._owed
            self._owed = []
            data["doras"] = [*self._doras]
        self.messages.append(message(name, **data))

    def _add(self, entry: Entry, following: Entry | None) -> None:
        match event := entry.event:
            case m.StartKyoku():
                assert following and isinstance(following.event, m.Tsumo)
                self._deal(event, following.event.pai)
            case m.Tsumo(actor=seat, pai=tile):
                if self.messages[-1]["name"] != ".lq.RecordNewRound":
                    self._put("DealTile", seat=seat, tile=text(tile), zhenting=[False] * 4)
            case m.Dora(dora_marker=marker):
                self._owed.append(text(marker))
            case m.Reach(actor=seat):
                self._riichi = True
            case m.Dahai(actor=seat, pai=tile, tsumogiri=drawn):
                riichi, self._riichi = self._riichi, False
                self._put("DiscardTile", seat=seat, tile=text(tile), is_liqi=riichi, moqie=drawn)
            case m.Hora():
                self._wins.append(entry)
                if following is None or not isinstance(following.event, m.Hora):
                    self._hule()
            case m.Ryukyoku():
                self._drawn(event)
            case _:
                self._meld(event)

    def _deal(self, event: m.StartKyoku, first: str) -> None:
        self._doras, self._wins = [text(event.dora_marker)], []
        self._dealer = event.oya
        tiles = {
            f"tiles{seat}": texts([*hand, *([first] if seat == event.oya else [])])
            for seat, hand in enumerate(event.tehais)
        }
        place = {
            "chang": "ESWN".index(event.bakaze), "ju": event.oya, "ben": event.honba,
            "liqibang": event.kyotaku, "scores": [*(event.scores or ())],
        }  # fmt: skip
        self.messages.append(message("NewRound", **place, doras=[*self._doras], **tiles))

    def _meld(self, event: m.Event) -> None:
        match event:
            case m.Chi() | m.Pon() | m.Daiminkan():
                number = [m.Chi, m.Pon, m.Daiminkan].index(type(event))
                froms = [*[event.actor] * len(event.consumed), event.target]
                called = texts([*event.consumed, event.pai])
                self._put("ChiPengGang", seat=event.actor, type=number, tiles=called, froms=froms)
            case m.Ankan(actor=seat, consumed=tiles):
                self._put("AnGangAddGang", seat=seat, type=3, tiles=text(tiles[-1]))
            case m.Kakan(actor=seat, pai=tile):
                self._put("AnGangAddGang", seat=seat, type=2, tiles=text(tile))

    def _hule(self) -> None:
        deltas = (0, 0, 0, 0)
        for entry in self._wins:
            deltas = paid(deltas, entry.win.deltas)
        hules = [hule(entry.event, entry.win, self._dealer) for entry in reversed(self._wins)]
        self._put("Hule", hules=hules, delta_scores=[*deltas])

    def _drawn(self, event: m.Ryukyoku) -> None:
        if event.reason in DRAWS:
            self._put("LiuJu", type=DRAWS[event.reason], seat=event.actor or 0)
            return
        nagashi = event.reason == "nagashimangan"
        scores = [{"delta_scores": [*event.deltas]}] if any(event.deltas) else [{}]
        players = [{"tingpai": tenpai} for tenpai in event.tenpais]
        self._put("NoTile", liujumanguan=nagashi, players=players, scores=scores)


def hule(event: m.Hora, win: Any, dealer: int) -> Json:
    base = base_points(sum(han for _, han in win.yaku), win.fu, len(win.yakuman), 0)
    points: Json = {"point_rong": win.hand_points}
    if event.actor == event.target:
        from_child = tsumo_points(base, event.actor == dealer)
        points = {"point_zimo_xian": from_child, "point_zimo_qin": tsumo_points(base, True)}
    yaku = [{"id": 1, "val": 1} for _ in win.yakuman] or [
        {"id": 1, "val": han} for _, han in win.yaku
    ]
    return {
        "seat": event.actor, "hu_tile": text(event.pai), "zimo": event.actor == event.target,
        "yiman": bool(win.yakuman), "count": len(win.yakuman) or sum(h for _, h in win.yaku),
        "fu": win.fu, "fans": yaku, "li_doras": texts(win.ura_markers), **points,
    }  # fmt: skip


def head(game: CompleteGame) -> Json:
    rules = game.rules
    mode = 1 if rules.length == "tonpu" else 2
    detail = {} if rules.red_fives else {"dora_count": 0}
    detail |= {} if rules.open_tanyao else {"shiduan": 0}
    detail |= {"init_point": rules.start_points} if detail else {}
    final = [entry.event.scores for entry in game.entries if isinstance(entry.event, m.EndGame)]
    players = [
        {"seat": seat, "part_point_1": points}
        for seat, points in sorted(enumerate(by_seat(final[0])) if final else [], reverse=True)
    ]
    accounts = [
        {"account_id": 1000 + seat, "seat": seat, "nickname": name}
        for seat, name in reversed([*enumerate(game.names)])
        if name
    ]
    config = {"category": 2, "mode": {"mode": mode, "detail_rule": detail}}
    return {
        "uuid": "made-up",
        "config": config,
        "accounts": accounts,
        "result": {"players": players},
    }


def record(game: CompleteGame) -> Json:
    """Return a record as it was until 2021: a list of messages."""
    messages = Writer().write(game.entries)
    return {
        "head": head(game),
        "data": {"name": ".lq.GameDetailRecords", "data": {"records": messages}},
    }


def with_actions(value: Json) -> Json:
    """Return a record as it is since 2021: messages between clicks."""
    actions: list[Json] = []
    for one in value["data"]["data"]["records"]:
        actions.append({"passed": 1, "type": 2, "user_input": {"seat": 0, "type": 2}})
        actions.append({"passed": 2, "type": 1, "result": one})
    inside = {"version": 210715, "actions": actions}
    return {**value, "data": {"name": ".lq.GameDetailRecords", "data": inside}}


def messages_of(value: Json) -> Sequence[Json]:
    records: Sequence[Json] = value["data"]["data"]["records"]
    return records
