"""Rooms of Mahjong Soul with the switches that leagues use, and rooms that are refused by name.

A record is made from a switch and a hand that shows it.  What the hand pays does not come from our
code: it is the sum of the PyPI package ``mahjong`` for the hand, with honba, sticks and noten
payments added by hand.  Our table must play the hand so, the record must replay, and by the
site's default rules it must not.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules
from mahjong.meld import Meld
from mahjong.tile import TilesConverter

from mjbot.cli.main import main
from mjbot.game.records.game import ForeignRecordError, Game
from mjbot.game.records.sources import games_of, list_sources
from mjbot.game.referee import Position
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import parse_tiles, tile_kind, tile_names
from mjbot.runtime.errors import ExitCode
from tests.game.records.formats import first_kyoku, random_game, report
from tests.game.records.soul_form import Json, messages_of, record, text
from tests.game.referee.scripted import FULL_SET, MISSING_OF_THREE
from tests.game.referee.scripted import Game as Scripted
from tests.game.referee.scripted import random_game as game_at_random

ON = (
    "can_jifei", "have_liujumanguan", "have_biao_dora", "have_gang_biao_dora", "have_li_dora",
    "have_gang_li_dora", "have_sifenglianda", "have_sigangsanle", "have_sijializhi",
    "have_jiuzhongjiupai", "have_helelianzhuang", "have_helezhongju", "have_tingpailianzhuang",
    "have_tingpaizhongju", "have_yifa", "have_nanruxiru",
)  # fmt: skip
FOUR = {
    "init_point": 25000, "fandian": 30000, "jingsuanyuandian": 25000, "dora_count": 3,
    "shiduan": 1, "fanfu": 1, "shunweima_2": 5, "shunweima_3": -5, "shunweima_4": -15,
    "liqibang_value": 1000, "changbang_value": 300, "noting_fafu_1": 1000,
    "noting_fafu_2": 1500, "noting_fafu_3": 3000, **dict.fromkeys(ON, True),
}  # fmt: skip
THREE = FOUR | {
    "init_point": 35000, "fandian": 40000, "jingsuanyuandian": 35000, "dora_count": 2,
    "shunweima_2": 0, "shunweima_3": -15, "shunweima_4": 0, "changbang_value": 200,
    "noting_fafu_2": 2000, "noting_fafu_3": 0, "have_zimosun": True,
}  # fmt: skip
"""The switches of a room that plays as the site's ranked games."""

PINFU = "234m456m678p22s56s"
"""With 4s or 7s: pinfu and all simples."""
NO_MAN = "234p456p678p22s56s"
"""The same without man."""
WINDS = "9p1z2z3z4z7s"
"""Draws from the dealer on, the second of whose draws is a North."""
AT_THREE = "9p1z2z4z7s"


@dataclass(frozen=True)
class Case:
    """What ``switches`` make of a hand; ``rule`` is the part of ``--rules`` that they are.

    ``deltas`` are what the hand moves, its riichi not included.
    """

    switches: Json
    rule: str
    play: Callable[[Rules], Scripted]
    deltas: tuple[int, ...]
    players: int = 4

    @property
    def detail(self) -> Json:
        return (FOUR if self.players == 4 else THREE) | self.switches

    @property
    def rules(self) -> Rules:
        named = Rules(players=self.players).under("mahjong-soul")
        values = dict(part.split("=") for part in self.rule.split(",") if part)
        read = {"yes": True, "no": False}
        fields = {name: read.get(text, text) for name, text in values.items()}
        fields |= {name: int(text) for name, text in values.items() if text.isdecimal()}
        if "renhou" in values:
            fields["renhou"] = values["renhou"]
        if "noten_points" in values:
            parts = values["noten_points"].split("/")
            fields["noten_points"] = tuple(map(int, parts))
        return msgspec.structs.replace(named, **fields)


def cost(hand: str, tile: str, kan: str = "", dora: str = "", ura: str = "", **how: Any) -> Any:
    """Return the cost of a win by ``mahjong``; ``kan`` begins with ``x`` if it is open."""
    as_yakuman = how.pop("renhou_as_yakuman", False)
    rules = OptionalRules(has_open_tanyao=True, renhou_as_yakuman=as_yakuman)
    config = HandConfig(options=rules, **how)
    melds = []
    if kan:
        tiles = TilesConverter.one_line_string_to_136_array(kan.removeprefix("x"))
        melds = [Meld(Meld.KAN, tiles, opened=kan[0] == "x")]
    every = TilesConverter.one_line_string_to_136_array(hand + kan.removeprefix("x") + tile)
    kind = TilesConverter.one_line_string_to_34_array(tile).index(1)
    won = next(each for each in every if each // 4 == kind)
    indicators = [TilesConverter.one_line_string_to_136_array(text) for text in (dora, ura)]
    answer = HandCalculator.estimate_hand_value(
        every, won, melds=melds, dora_indicators=indicators[0] or None,
        ura_dora_indicators=indicators[1] or None, config=config,
    )  # fmt: skip
    assert answer.error is None, answer.error
    return answer.cost


EAST = 27


def ron(hand: str, tile: str, **how: Any) -> int:
    return int(cost(hand, tile, player_wind=EAST, round_wind=EAST, **how)["main"])


def from_all(hand: str, tile: str, **how: Any) -> int:
    how = {"player_wind": EAST, "round_wind": EAST, "is_tsumo": True} | how
    return int(cost(hand, tile, **how)["main"])


def in_riichi(hand: str = PINFU, draws: str = WINDS, **where: Any) -> Callable[[Rules], Scripted]:
    """Let the dealer declare riichi at its second turn, and win at once the next discard."""

    def play(rules: Rules) -> Scripted:
        hands = [hand, *[""] * (rules.players - 1)]
        game = Scripted(hands, draws, **({"dora": "9s", "ura": "9m"} | where), rules=rules)
        return game.discard(0, "9p").riichi(0, "N").do(0, "ron")

    return play


def dama(hand: str = PINFU, draws: str = WINDS, **where: Any) -> Callable[[Rules], Scripted]:
    def play(rules: Rules) -> Scripted:
        hands = [hand, *[""] * (rules.players - 1)]
        game = Scripted(hands, draws, **({"dora": "9s"} | where), rules=rules)
        return game.discard(0, "9p").discard(0, "N").do(0, "ron")

    return play


def with_kan(rules: Rules) -> str:
    return "999p" + (AFTER_KAN_OF_THREE if rules.players == 3 else AFTER_KAN)


def concealed_kan(rules: Rules) -> Scripted:
    """The dealer's kan turns an indicator of two dora; it wins by its next draw."""
    hands = [with_kan(rules), "", "", ""][: rules.players]
    draws = "9p1z2z3z"[: 2 * rules.players] + "7s"
    game = Scripted(hands, draws, dora="9s1s", rinshan="4z", rules=rules)
    return game.do(0, "ankan").discard(0, "N").do(0, "tsumo")


def kan_and_riichi(rules: Rules) -> Scripted:
    """Both ura indicators show two dora."""
    hands = [with_kan(rules), "", "", ""][: rules.players]
    tiles = {"dora": "9s9m", "ura": "1s1s", "rinshan": "4z"}
    game = Scripted(hands, "9p7s", **tiles, rules=rules)
    return game.do(0, "ankan").riichi(0, "N").do(0, "ron")


def open_kan(rules: Rules) -> Scripted:
    """An open kan's indicator shows four dora; the hand is won by the replacement draw."""
    hands = [with_kan(rules), "", "", ""][: rules.players]
    game = Scripted(hands, "1z9p", dora="9s8p", rinshan="7s", rules=rules)
    return game.discard(0, "E").do(0, "daiminkan").do(0, "tsumo")


def added_kan(rules: Rules) -> Scripted:
    """The same of an added kan; the hand is won a discard later."""
    hands = [AFTER_KAN + "55z1z", "", "", ""]
    game = Scripted(hands, "1z5z2z3z4z5z7s", dora="9s7z", rinshan="4z", rules=rules)
    game.discard(0, "E").do(0, "pon").discard(0, "E")
    return game.do(0, "kakan").discard(0, "N").do(0, "ron")


def first_discard(rules: Rules) -> Scripted:
    """South wins the dealer's first discard."""
    hands = ["", NO_MAN if rules.players == 3 else PINFU, "", ""][: rules.players]
    return Scripted(hands, "7s", dora="9s", rules=rules).discard(0, "7s").do(1, "ron")


TENPAI = (PINFU, "123m123p123s4455z", "789m789p789s6677z")
NOTEN = ("1289m1289p89s123z", "1289m1289p89s123z", "1289m1289p89s567z")
NOTEN_OF_THREE = ("19m1289p89s12345z", "19m1289p89s12367z")


def drawn(*hands: str, nagashi: bool = False) -> Callable[[Rules], Scripted]:
    """Let all tiles be drawn and discarded.

    With ``nagashi`` the last seat discards terminals and honours alone.
    """

    def play(rules: Rules) -> Scripted:
        players, left = rules.players, [*FULL_SET]
        if players == 3:
            left = [tile for tile in left if tile not in MISSING_OF_THREE]
        for tile in parse_tiles("".join(hands) + "9s"):
            left.remove(tile)
        outer = [tile for tile in left if tile_kind(tile) >= 27 or tile_kind(tile) % 9 in (0, 8)]
        inner = [tile for tile in left if tile not in outer]
        draws = []
        for at in range(70 if players == 4 else 55):
            is_last = nagashi and at % players == players - 1
            draws.append((outer if is_last or not inner else inner).pop())
        written = "".join(map(text, tile_names(draws)))
        return Scripted([*hands], written, dora="9s", rules=rules).finish_kyoku()

    return play


def won(points: int, sticks: int = 0, winner: int = 0, loser: int = 1) -> tuple[int, ...]:
    """Return what a ron moves, with sticks of so many thousands."""
    gain = points + 1000 * sticks
    return tuple(gain * (seat == winner) - points * (seat == loser) for seat in range(4))


def self_drawn(each: int, players: int = 4) -> tuple[int, ...]:
    """Return what the dealer's win by draw moves."""
    return (each * (players - 1), *[-each] * (players - 1), *[0] * (4 - players))


def ron_of_south(hand: str = PINFU, **how: Any) -> int:
    return int(cost(hand, "7s", player_wind=EAST + 1, round_wind=EAST, **how)["main"])


AFTER_KAN = "234m678p22s56s"
AFTER_KAN_OF_THREE = "234p678p22s56s"
RESULTS = (m.Hora, m.Ryukyoku)


CASES = {
    # 3 han 30 fu of the dealer in place of 4
    "ippatsu off": Case(
        {"have_yifa": False}, "ippatsu=no", in_riichi(),
        won(ron(PINFU, "7s", is_riichi=True), 1),
    ),
    "ura dora off": Case(
        {"have_li_dora": False}, "ura_dora=no", in_riichi(ura="1s"),
        won(ron(PINFU, "7s", is_riichi=True, is_ippatsu=True), 1),
    ),
    "ura dora of kans off": Case(
        {"have_gang_li_dora": False}, "kan_ura=no", kan_and_riichi,
        won(ron(AFTER_KAN, "7s", kan="9999p", ura="1s", is_riichi=True, is_ippatsu=True), 1),
    ),
    "dora of kans off": Case(
        {"have_gang_biao_dora": False}, "kan_dora=no", concealed_kan,
        self_drawn(from_all(AFTER_KAN, "7s", kan="9999p")),
    ),
    "an open kan's dora at once": Case(
        {"ming_dora_immediately_open": True}, "open_kan_dora_at_once=yes", open_kan,
        self_drawn(from_all(AFTER_KAN, "7s", kan="x9999p", dora="8p", is_rinshan=True)),
    ),
    "an added kan's dora at once": Case(
        {"ming_dora_immediately_open": True}, "open_kan_dora_at_once=yes", added_kan,
        won(ron(AFTER_KAN, "7s", kan="x5555z", dora="7z")),
    ),
    "nagashi off": Case(
        {"have_liujumanguan": False}, "nagashi=no", drawn(PINFU, *NOTEN, nagashi=True),
        (3000, -1000, -1000, -1000),
    ),
    # one is tenpai: each of three pays 5,000
    "noten payments": Case(
        {"noting_fafu_1": 5000}, "noten_points=5000/1500/3000", drawn(PINFU, *NOTEN),
        (15000, -5000, -5000, -5000),
    ),
    # two are tenpai: each of two pays 2,500
    "noten payments of two": Case(
        {"noting_fafu_2": 2500}, "noten_points=1000/2500/3000", drawn(*TENPAI[:2], *NOTEN[1:]),
        (2500, 2500, -2500, -2500),
    ),
    # three are tenpai: one pays 6,000
    "noten payments of three": Case(
        {"noting_fafu_3": 6000}, "noten_points=1000/1500/6000", drawn(*TENPAI, NOTEN[0]),
        (2000, 2000, 2000, -6000),
    ),
    # 2,900 and two honba of 1,500
    "honba of 1,500": Case(
        {"changbang_value": 1500}, "honba_points=500", dama(position=Position(0, 2)),
        won(ron(PINFU, "7s") + 2 * 1500),
    ),
    # the own stick of 5,000 and one that lay there
    "sticks of 5,000": Case(
        {"liqibang_value": 5000}, "stick_points=5000", in_riichi(position=Position(0, 0, 1)),
        won(ron(PINFU, "7s", is_riichi=True, is_ippatsu=True), 10),
    ),
    "blessing of man as a mangan": Case(
        {"enable_renhe": 1}, "renhou=mangan", first_discard,
        won(ron_of_south(is_renhou=True), winner=1, loser=0),
    ),
    "blessing of man as a yakuman": Case(
        {"enable_renhe": 2}, "renhou=yakuman", first_discard,
        won(ron_of_south(is_renhou=True, renhou_as_yakuman=True), winner=1, loser=0),
    ),
    # pinfu, all simples and two red fives: 4 han 30 fu, 30 * 2 ** 6 * 6 = 11,520
    "two red 5p": Case(
        {"dora_count": 4}, "two_red_5p=yes", dama("234m456m678p00p56s"), won(11600),
    ),
    # South's repeats are as the dealer's; points and place of the zero
    "points of the start": Case(
        {"init_point": 30000, "jingsuanyuandian": 30000},
        "start_points=30000,return_points=30000", dama(), won(ron(PINFU, "7s")),
    ),
    "a league": Case(
        {"have_yifa": False, "have_li_dora": False, "have_gang_li_dora": False,
         "have_gang_biao_dora": False, "have_toutiao": True, "liqibang_value": 2000},
        "ippatsu=no,ura_dora=no,kan_ura=no,kan_dora=no,head_bump=yes,stick_points=2000",
        in_riichi(ura="1s"), won(ron(PINFU, "7s", is_riichi=True), 2),
    ),
    "four han, with four": Case(
        {"fanfu": 4}, "least_han=4", in_riichi(),
        won(ron(PINFU, "7s", is_riichi=True, is_ippatsu=True), 1),
    ),
    "two han, with two": Case({"fanfu": 2}, "least_han=2", dama(), won(ron(PINFU, "7s"))),
    "ippatsu off, three players": Case(
        {"have_yifa": False}, "ippatsu=no", in_riichi(NO_MAN, AT_THREE),
        won(ron(NO_MAN, "7s", is_riichi=True), 1), players=3,
    ),
    # two honba of 1,000 by ron
    "honba of 1,000, three players": Case(
        {"changbang_value": 1000}, "honba_points=500",
        dama(NO_MAN, AT_THREE, position=Position(0, 2)),
        won(ron(NO_MAN, "7s") + 2 * 1000), players=3,
    ),
    "sticks of 2,000, three players": Case(
        {"liqibang_value": 2000}, "stick_points=2000", in_riichi(NO_MAN, AT_THREE),
        won(ron(NO_MAN, "7s", is_riichi=True, is_ippatsu=True), 2), players=3,
    ),
    "noten payments, three players": Case(
        {"noting_fafu_1": 3000}, "noten_points=3000/2000", drawn(NO_MAN, *NOTEN_OF_THREE),
        (6000, -3000, -3000, 0), players=3,
    ),
    "nagashi off, three players": Case(
        {"have_liujumanguan": False}, "nagashi=no", drawn(NO_MAN, *NOTEN_OF_THREE, nagashi=True),
        (2000, -1000, -1000, 0), players=3,
    ),
    "an open kan's dora at once, three players": Case(
        {"ming_dora_immediately_open": True}, "open_kan_dora_at_once=yes", open_kan,
        self_drawn(from_all(AFTER_KAN_OF_THREE, "7s", kan="x9999p", dora="8p", is_rinshan=True), 3),
        players=3,
    ),
    "dora of kans off, three players": Case(
        {"have_gang_biao_dora": False}, "kan_dora=no", concealed_kan,
        self_drawn(from_all(AFTER_KAN_OF_THREE, "7s", kan="9999p"), 3), players=3,
    ),
    "blessing of man, three players": Case(
        {"enable_renhe": 1}, "renhou=mangan", first_discard,
        won(ron_of_south(NO_MAN, is_renhou=True), winner=1, loser=0), players=3,
    ),
}  # fmt: skip
LIKE_DEFAULT = ("points of the start", "four han, with four", "two han, with two")
"""Cases that the default rules pay alike."""
LIKE_DEFAULT += ("an open kan's dora at once", "an open kan's dora at once, three players")
"""The strict table takes an indicator whenever it comes before the next discard's end."""


def made(case: Case) -> Json:
    """Return the record of a case, with what it pays by the judge."""
    value = record(first_kyoku(case.play(case.rules)))
    value["head"]["config"]["mode"]["detail_rule"] = case.detail
    last = messages_of(value)[-1]["data"]
    row = [*case.deltas[: case.players]]
    if "hules" in last:
        last["delta_scores"] = row
        for hule in last["hules"]:
            hule.pop("point_rong", None)
            hule |= {"count": 0, "fu": 0, "fans": []}
            if not hule["zimo"]:
                loser = row.index(min(row))
                hule["point_rong"] = -row[loser] - bonus(case)
    else:
        last["scores"] = [{"delta_scores": row}]
    return value


def bonus(case: Case) -> int:
    """Return what the discarder pays for honba."""
    deal = case.play(case.rules).all(m.StartKyoku)[0]
    return deal.honba * case.detail["changbang_value"]


def saved(value: Any, folder: Path) -> Path:
    path = folder / "room.json"
    path.write_text(json.dumps(value), "utf-8")
    return path


@pytest.mark.parametrize("name", CASES)
def test_the_table_plays_by_the_rule(name: str) -> None:
    case = CASES[name]
    game = first_kyoku(case.play(case.rules))
    (result,) = [entry.event for entry in game.entries if isinstance(entry.event, RESULTS)]
    assert result.deltas == case.deltas


@pytest.mark.parametrize("name", CASES)
def test_a_record_of_the_room_replays_by_its_rules_alone(name, tmp_path, capsys) -> None:
    case = CASES[name]
    path = saved(made(case), tmp_path)
    assert main(["replay", str(path)]) == ExitCode.OK, capsys.readouterr()
    printed = capsys.readouterr()
    assert "no mismatch" in printed.out and f"rules {case.rules}" in printed.err
    default = str(Rules(players=case.players).under("mahjong-soul"))
    code = main(["replay", "--rules", default, str(path)])
    assert code == (ExitCode.OK if name in LIKE_DEFAULT else ExitCode.FAILED)


@pytest.mark.parametrize("name", ["honba of 1,500", "sticks of 5,000", "two red 5p"])
def test_a_converted_record_keeps_the_rule(name: str, tmp_path: Path) -> None:
    path, out = saved(made(CASES[name]), tmp_path), tmp_path / "out.mjson"
    assert main(["convert", str(path), str(out)]) == ExitCode.OK
    assert main(["replay", str(out)]) == ExitCode.OK
    (start, *_) = out.read_text().splitlines()
    assert Rules.read(json.loads(start)["mjbot_rules"]) == CASES[name].rules


def read(value: Json, folder: Path) -> list[Game]:
    (source,) = list_sources(saved(value, folder))
    return list(games_of(source, players=(3, 4)))


REFUSED = {
    "tianbian_value": 100000, "enable_shiti": 1, "enable_nontsumo_liqi": 1,
    "enable_baopai_extend_settings": 2, "guyi_mode": 1, "dora3_mode": 1, "begin_open_mode": 1,
    "open_hand": 1, "reveal_discard": 1, "jiuchao_mode": 1, "muyu_mode": 1, "zhanxing": 1,
    "tianming_mode": 1, "field_spell_mode": 20103, "yongchang_mode": 1, "hunzhiyiji_mode": 1,
    "wanxiangxiuluo_mode": 1, "beishuizhizhan_mode": 1, "amusement_switches": [18],
    "huansanzhang": 1, "chuanma": 1, "xuezhandaodi": 1, "have_biao_dora": False,
    "fanfu": 3, "dora_count": 2, "enable_renhe": 3, "changbang_value": 500,
    "noting_fafu_3": 4000, "new_event_mode": 1, "have_new_thing": True, "enable_thing": 1,
    "disable_thing": True, "muyu": 1,
}  # fmt: skip


@pytest.mark.parametrize("players", [4, 3])
@pytest.mark.parametrize("switch", REFUSED)
def test_a_room_of_other_rules_is_refused_by_name(switch, players, tmp_path: Path) -> None:
    if players == 3 and switch in ("changbang_value", "noting_fafu_3", "dora_count"):
        switch, value = "dora_count", 4
    else:
        value = REFUSED[switch]
    refused(RECORDS[players], {switch: value}, switch if switch in OWN else "", tmp_path)


def refused(base: Json, switches: Json, name: str, folder: Path) -> None:
    value = json.loads(json.dumps(base))
    full = FOUR if base is RECORDS[4] else THREE
    value["head"]["config"]["mode"]["detail_rule"] = full | switches
    (game,) = read(value, folder)
    with pytest.raises(ForeignRecordError, match="a special room of Mahjong Soul") as caught:
        list(game.entries)
    assert name in str(caught.value) and "\n" not in str(caught.value)


OWN = REFUSED.keys() - {"changbang_value", "noting_fafu_3"}
"""Switches that the message names; of the others it names the rule."""
RECORDS = {
    4: record(random_game(1)),
    3: record(report(game_at_random(1, Rules(players=3)))),
}


@pytest.mark.parametrize("mode", [23, 99, 7])
def test_an_unknown_mode_is_refused(mode: int, tmp_path: Path) -> None:
    value = json.loads(json.dumps(RECORDS[4]))
    value["head"]["config"]["mode"]["mode"] = mode
    (game,) = read(value, tmp_path)
    with pytest.raises(ForeignRecordError, match=f"mode {mode} is not known"):
        list(game.entries)


def rules_of(detail: Json, folder: Path, players: int = 4) -> Rules:
    value = json.loads(json.dumps(RECORDS[players]))
    value["head"]["config"]["mode"]["detail_rule"] = detail
    (game,) = read(value, folder)
    return Rules.read(next(iter(game.entries)).event.mjbot_rules, players=(3, 4))


def test_a_full_list_of_defaults_is_the_ranked_rules(tmp_path: Path) -> None:
    for players, full in ((4, FOUR), (3, THREE)):
        assert rules_of(full, tmp_path, players) == rules_of({}, tmp_path, players)


def test_switches_that_are_off_are_left_out_by_some_writers(tmp_path: Path) -> None:
    named = {key: value for key, value in FOUR.items() if value and key != "have_yifa"}
    assert rules_of(named, tmp_path) == rules_of(FOUR | {"have_yifa": False}, tmp_path)
    assert not rules_of(named, tmp_path).ippatsu


def test_a_switch_alone_is_the_one_that_differs(tmp_path: Path) -> None:
    usual = rules_of({"init_point": 25000, "fandian": 30000}, tmp_path)
    for switch, rule in (
        ("have_yifa", "ippatsu"),
        ("can_jifei", "bust"),
        ("have_nanruxiru", "extension"),
    ):
        detail = {"init_point": 25000, "fandian": 30000, switch: False}
        assert rules_of(detail, tmp_path) == msgspec.structs.replace(usual, **{rule: False})


def test_a_friend_room_whose_writer_adds_what_is_missing_has_no_switches(tmp_path: Path) -> None:
    room = {"init_point": 25000, "fandian": 30000, "dora_count": 3, "shiduan": 1, "fanfu": 1}
    zeros = {key: type(value)(0) for key, value in FOUR.items()}
    assert rules_of(zeros | room, tmp_path) == rules_of(room, tmp_path)


def test_points_of_a_room(tmp_path: Path) -> None:
    """Without a zero of its own a room's is what it starts with; with one it is that."""
    room = {"init_point": 30000, "fandian": 40000}
    assert rules_of(room, tmp_path).return_points == 30000
    assert rules_of(room | {"jingsuanyuandian": 35000}, tmp_path).return_points == 35000
    three = {"init_point": 35000, "fandian": 40000, "shunweima_2": 5, "shunweima_3": -20}
    assert rules_of(three | {"shunweima_4": -9}, tmp_path, 3).uma == (15000, 5000, -20000)


@pytest.mark.parametrize("off", ["disable_multi_yukaman", "disable_composite_yakuman"])
def test_yakuman_of_a_room(off: str, tmp_path: Path) -> None:
    rules = rules_of(FOUR | {off: True}, tmp_path)
    assert not rules.composite_yakuman
    assert rules.double_yakuman == (off == "disable_composite_yakuman")


def test_the_rules_begin_with_other_points_than_the_deal(tmp_path: Path, capsys) -> None:
    value = json.loads(json.dumps(RECORDS[4]))
    points = {"init_point": 30000, "jingsuanyuandian": 30000}
    value["head"]["config"]["mode"]["detail_rule"] = FOUR | points
    assert main(["replay", str(saved(value, tmp_path))]) == ExitCode.FAILED
    assert "but the rules begin with 30000 each (start_points)" in capsys.readouterr().err


def repeats(rules: Rules, by_win: bool) -> list[m.Event]:
    """Return two kyoku: the dealer wins the first, or is tenpai at its end."""
    game = dama()(rules) if by_win else drawn(PINFU, *NOTEN)(rules)
    referee = game.referee
    while game.kyoku < 3 and not referee.over:
        defaults = {seat: referee.view(seat).default_action for seat in referee.asked}
        game.events += referee.step(defaults)
    ends = [at for at, event in enumerate(game.events) if isinstance(event, m.EndKyoku)]
    return game.events[: ends[1] + 1]


@pytest.mark.parametrize(
    ("by_win", "switch", "honba"),
    [(True, "have_helelianzhuang", 0), (False, "have_tingpailianzhuang", 1)],
    ids=["won", "tenpai"],
)
def test_a_dealer_does_not_repeat(by_win, switch, honba, tmp_path: Path, capsys) -> None:
    rule = "agari_renchan" if by_win else "tenpai_renchan"
    rules = msgspec.structs.replace(Rules().under("mahjong-soul"), **{rule: False})
    events = repeats(rules, by_win)
    _, second = [event for event in events if isinstance(event, m.StartKyoku)]
    assert (second.kyoku, second.honba) == (2, honba)
    value = record(report(events))
    value["head"]["config"]["mode"]["detail_rule"] = FOUR | {switch: False}
    path = str(saved(value, tmp_path))
    assert main(["replay", path]) == ExitCode.OK
    capsys.readouterr()
    assert main(["replay", "--rules", "mahjong-soul", path]) == ExitCode.FAILED
    assert f"--rules mahjong-soul,{rule}=no" in capsys.readouterr().err


@pytest.mark.parametrize(("least", "legal"), [(1, True), (2, True), (4, False)])
def test_a_win_of_fewer_han_is_not_offered(least: int, legal: bool) -> None:
    """Pinfu and all simples with three dora: dora do not count."""
    rules = Rules.read({"rule_set": "mahjong-soul", "least_han": least})
    game = Scripted([PINFU, "", "", ""], WINDS, dora="1s1m", rules=rules)
    game.discard(0, "9p").discard(0, "N").discard(1, "7s")
    assert ("ron" in game.legal(0)) == legal


def test_a_record_of_too_few_han_names_the_rule(tmp_path: Path, capsys) -> None:
    value = made(CASES["two han, with two"])
    value["head"]["config"]["mode"]["detail_rule"] = FOUR | {"fanfu": 4}
    assert main(["replay", str(saved(value, tmp_path))]) == ExitCode.FAILED
    assert "2 han as the least of a win, right with" in capsys.readouterr().err


TO_CALL = "234m678m22s56s"
CALLS: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "pon of both reds": ("00p1z", "1z5p", ("pon with red",), ("5pr", "5pr")),
    "pon of a red by a red": ("05p1z", "1z0p", ("pon with red",), ("5pr", "5p")),
    "open kan": ("005p", "1z5p", ("daiminkan",), ("5pr", "5pr", "5p")),
    "concealed kan": ("0055p", "1z", ("ankan",), ("5pr", "5pr", "5p", "5p")),
    "added kan": ("00p1z", "1z5p2z3z4z5p", ("pon with red", "kakan"), ("5pr", "5pr", "5p")),
}


def with_calls(case: str) -> Json:
    """Return a record in which the dealer calls or declares a kan of fives."""
    reds, draws, actions, _ = CALLS[case]
    rules = msgspec.structs.replace(Rules().under("mahjong-soul"), two_red_5p=True)
    hand = reds + (TO_CALL if len(reds) < 5 else TO_CALL[:-3])
    game = Scripted([hand, "", "", ""], draws, dora="9s", rules=rules)
    if actions[0] != "ankan":
        game.discard(0, "E")
    for action in actions:
        game.do(0, action)
        if action == "pon with red" and "1z" in reds:
            game.discard(0, "E")
    value = record(first_kyoku(game))
    value["head"]["config"]["mode"]["detail_rule"] = FOUR | {"dora_count": 4}
    return value


@pytest.mark.parametrize("case", CALLS)
def test_both_red_5p_are_called(case: str, tmp_path: Path) -> None:
    path = saved(with_calls(case), tmp_path)
    assert main(["replay", str(path)]) == ExitCode.OK
    (game,) = read(with_calls(case), tmp_path)
    melds = [entry.event for entry in game.entries if hasattr(entry.event, "consumed")]
    assert [meld.consumed for meld in melds if meld.actor == 0][-1] == CALLS[case][3]


@pytest.mark.parametrize("tiles", [["0p", "0p"], ["0p", "5p"]])
def test_a_pon_may_give_both_reds_or_one(tiles: list[str], tmp_path: Path) -> None:
    """The dealer holds both and a plain 5p."""
    rules = msgspec.structs.replace(Rules().under("mahjong-soul"), two_red_5p=True)
    game = Scripted(["005p" + TO_CALL, "", "", ""], "1z5p", dora="9s", rules=rules)
    value = record(first_kyoku(game.discard(0, "E").do(0, "pon with red")))
    value["head"]["config"]["mode"]["detail_rule"] = FOUR | {"dora_count": 4}
    (pon,) = [one for one in messages_of(value) if one["data"].get("froms") == [0, 0, 1]]
    pon["data"]["tiles"] = [*tiles, "5p"]
    assert main(["replay", str(saved(value, tmp_path))]) == ExitCode.OK
