"""Games of our own table as decoded records of Mahjong Soul."""

from collections.abc import Iterable, Sequence
from typing import Any

from mjbot.game.records.complete import CompleteGame
from mjbot.game.records.game import Entry
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.protocol.seats import paid
from mjbot.protocol.tiles import TILE_BY_NAME, TILE_NAMES, tile_kind
from proof.riichienv_answers import COUNTED_TWICE

Json = dict[str, Any]
DRAWS = {"kyushukyuhai": 1, "sufonrenta": 2, "sukaikan": 3, "suchareach": 4, "sanchaho": 5}
"""As two public copies of the site's client number them."""


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

    def __init__(self, rules: Rules) -> None:
        self.messages: list[Json] = []
        self._rules = rules
        self._players = rules.players
        self._doras: list[str] = []
        self._owed: list[str] = []
        self._wins: list[Entry] = []
        self._riichi = False

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
        tiles = {
            f"tiles{seat}": texts([*hand, *([first] if seat == event.oya else [])])
            for seat, hand in enumerate(event.tehais[: self._players])
        }
        place = {
            "chang": "ESWN".index(event.bakaze), "ju": event.oya, "ben": event.honba,
            "liqibang": event.kyotaku, "scores": self._row(event.scores),
        }  # fmt: skip
        self.messages.append(message("NewRound", **place, doras=[*self._doras], **tiles))

    def _row(self, values: Sequence[Any]) -> list[Any]:
        """Return values by seat of those who play."""
        return [*values[: self._players]]

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
            case m.Kita(actor=seat):
                self._put("BaBei", seat=seat, moqie=False)

    def _hule(self) -> None:
        deltas = (0, 0, 0, 0)
        for entry in self._wins:
            deltas = paid(deltas, entry.win.deltas)
        hules = [hule(entry.event, entry.win, self._rules) for entry in reversed(self._wins)]
        self._put("Hule", hules=hules, delta_scores=self._row(deltas))

    def _drawn(self, event: m.Ryukyoku) -> None:
        if event.reason in DRAWS:
            self._put("LiuJu", type=DRAWS[event.reason], seat=event.actor or 0)
            return
        nagashi = event.reason == "nagashimangan"
        scores = [{"delta_scores": self._row(event.deltas)}] if any(event.deltas) else [{}]
        players = [{"tingpai": tenpai} for tenpai in self._row(event.tenpais)]
        self._put("NoTile", liujumanguan=nagashi, players=players, scores=scores)


def hule(event: m.Hora, win: Any, rules: Rules) -> Json:
    points: Json = {} if event.actor == event.target else {"point_rong": win.hand_points}
    twice = COUNTED_TWICE if rules.double_yakuman else set()
    counts = [1 + (yaku in twice) for yaku in win.yakuman]
    if not rules.composite_yakuman:
        counts = counts and [max(counts)]
    yaku = [{"id": 1, "val": count} for count in counts or [han for _, han in win.yaku]]
    return {
        "seat": event.actor, "hu_tile": text(event.pai), "zimo": event.actor == event.target,
        "yiman": bool(win.yakuman), "count": sum(each["val"] for each in yaku),
        "fu": win.fu, "fans": yaku, "li_doras": texts(win.ura_markers), **points,
    }  # fmt: skip


SWITCHES = {
    "nagashi": "have_liujumanguan", "kan_dora": "have_gang_biao_dora",
    "ura_dora": "have_li_dora", "kan_ura": "have_gang_li_dora", "ippatsu": "have_yifa",
    "agari_renchan": "have_helelianzhuang", "tenpai_renchan": "have_tingpailianzhuang",
    "open_kan_dora_at_once": "ming_dora_immediately_open", "least_han": "fanfu",
    "stick_points": "liqibang_value", "return_points": "jingsuanyuandian",
    "bust": "can_jifei", "head_bump": "have_toutiao",
    "kiriage": "have_qieshangmanguan", "agari_yame": "have_helezhongju",
    "tenpai_yame": "have_tingpaizhongju", "extension": "have_nanruxiru",
    "four_winds_draw": "have_sifenglianda", "four_kans_draw": "have_sigangsanle",
    "four_riichi_draw": "have_sijializhi", "nine_terminals_draw": "have_jiuzhongjiupai",
    "tsumo_loss": "have_zimosun", "open_tanyao": "shiduan", "start_points": "init_point",
    "target_points": "fandian",
}  # fmt: skip
OFF_BY = {
    "triple_ron_paid": "have_sanjiahele", "double_yakuman": "disable_double_yakuman",
    "composite_yakuman": "disable_composite_yakuman", "counted_yakuman": "disable_leijiyiman",
    "kokushi_ankan": "disable_angang_guoshi",
}  # fmt: skip


def detail_rule(rules: Rules) -> Json:
    """Return the rules of a friend room that names all of them."""
    detail: Json = {switch: getattr(rules, rule) for rule, switch in SWITCHES.items()}
    detail |= {switch: not getattr(rules, rule) for rule, switch in OFF_BY.items()}
    detail |= {"dora_count": 3 * rules.red_fives + rules.two_red_5p, "have_biao_dora": True}
    uma = enumerate(rules.uma[1:], 2)
    detail |= {f"shunweima_{place}": part // 1000 for place, part in uma}
    detail["changbang_value"] = rules.honba_points * (rules.players - 1)
    detail |= {f"noting_fafu_{n}": points for n, points in enumerate(rules.noten_points, 1)}
    detail["enable_renhe"] = ["no", "mangan", "yakuman"].index(rules.renhou)
    return detail | {"disable_double_wind_four_fu": rules.double_wind_fu == 2}


def head(game: CompleteGame) -> Json:
    rules = game.rules
    mode = (1 if rules.length == "tonpu" else 2) + 10 * (rules.players == 3)
    detail: Json = {"dora_count": 0, "init_point": rules.start_points}
    if rules != Rules(length=rules.length, red_fives=False):
        detail = {} if rules == Rules(length=rules.length) else detail_rule(rules)
    final = [entry.event.scores for entry in game.entries if isinstance(entry.event, m.EndGame)]
    points = enumerate(final[0][: rules.players] if final else [])
    players = [{"seat": seat, "part_point_1": part} for seat, part in reversed([*points])]
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
    messages = Writer(game.rules).write(game.entries)
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
