"""Wins scored by the simulator majiang-core (hule.json) and its shanten (xiangting_1..4.json).

Tiles are m0..z7, relative seats + = -, melds follow the hand after commas.
"""

import re
from typing import Any

from mjbot.game.rules import wins
from mjbot.game.rules import yaku_table as yaku
from mjbot.game.rules.kinds import count_kinds
from mjbot.game.rules.points import Parties, base_points, ron_points, tsumo_total, win_deltas
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.rules.scoring import score_win
from mjbot.game.rules.shanten import shanten_orphans, shanten_pairs, shanten_regular
from mjbot.game.rules.shapes import ANKAN, CHI, DAIMINKAN, KAKAN, PON
from mjbot.game.rules.wins import Win
from mjbot.protocol.tiles import parse_tiles, tile_kind
from proof.answers import Report, count_dora, make_win


def check_shanten(case: dict[str, Any], report: Report) -> None:
    """Compare the shanten of the three forms."""
    hand = count_kinds(tile for name in case["q"] for tile in parse_tiles(name[1] + name[0]))
    ours = [shanten_regular(hand, 0), shanten_orphans(hand, 0), shanten_pairs(hand, 0)]
    report.compare("majiang-core shanten (three forms)", case["q"], ours, case["x"])


_YAKU = {
    "門前清自摸和": yaku.TSUMO,
    "立直": yaku.RIICHI,
    "一発": yaku.IPPATSU,
    "嶺上開花": yaku.RINSHAN,
    "海底摸月": yaku.HAITEI,
    "河底撈魚": yaku.HOUTEI,
    "平和": yaku.PINFU,
    "断幺九": yaku.TANYAO,
    "一盃口": yaku.IIPEIKOU,
    "翻牌 白": yaku.HAKU,
    "翻牌 發": yaku.HAKU + 1,
    "翻牌 中": yaku.HAKU + 2,
    "ダブル立直": yaku.DOUBLE_RIICHI,
    "七対子": yaku.CHIITOI,
    "混全帯幺九": yaku.CHANTA,
    "一気通貫": yaku.ITTSUU,
    "三色同順": yaku.SANSHOKU,
    "三色同刻": yaku.SANSHOKU_DOUKOU,
    "対々和": yaku.TOITOI,
    "三暗刻": yaku.SANANKOU,
    "小三元": yaku.SHOUSANGEN,
    "混老頭": yaku.HONROUTOU,
    "二盃口": yaku.RYANPEIKOU,
    "純全帯幺九": yaku.JUNCHAN,
    "混一色": yaku.HONITSU,
    "清一色": yaku.CHINITSU,
    "四暗刻": yaku.SUUANKOU,
    "国士無双": yaku.KOKUSHI,
    "ドラ": yaku.DORA,
    "裏ドラ": yaku.URA_DORA,
    "赤ドラ": yaku.RED_DORA,
    **{f"自風 {wind}": yaku.SEAT_WIND + i for i, wind in enumerate("東南西北")},
    **{f"場風 {wind}": yaku.ROUND_WIND + i for i, wind in enumerate("東南西北")},
}


def check_win(case: dict[str, Any], report: Report) -> None:
    """Compare yaku, han, fu, points and payments of one win."""
    given, answer = case["in"], case["out"]
    win = _win(given)
    han, fu, mask, yakuman = score_win(win)
    theirs = {_YAKU[entry["name"]] for entry in answer["hupai"]}
    report.compare("majiang-core yaku", given, set(yaku.yaku_ids(mask)), theirs)
    if not yakuman:
        report.compare(
            "majiang-core han and fu", given, (han, fu), (answer["fanshu"], answer["fu"])
        )
    base = base_points(han, fu, yakuman, 0)
    seat = given["param"]["menfeng"]
    loser = seat
    if "rongpai" in given:
        loser = (seat + " +=-".index(given["rongpai"][2])) % 4
    extra = given["param"]["jicun"]
    parties = Parties(seat, loser, 0, -1)
    deltas = win_deltas(base, parties, extra["changbang"], extra["lizhibang"], rule_set())
    report.compare("majiang-core payments", given, deltas.tolist(), answer["fenpei"])
    report.compare("majiang-core points", given, _points(base, win), answer["defen"])


def _points(base: int, win: Win) -> int:
    is_dealer = win["seat_wind"] == 0
    if not win["flags"] & wins.TSUMO:
        return ron_points(base, is_dealer)
    return int(tsumo_total(base, is_dealer, rule_set()))


def _win(given: dict[str, Any]) -> Win:
    parameters, declared = given["param"], given["param"]["hupai"]
    concealed, *melds = given["shoupai"].split(",")
    tiles = _tiles(concealed)
    flags = 0 if "rongpai" in given else wins.TSUMO
    if "rongpai" in given:
        tiles += _tiles(given["rongpai"])
    flags |= (0, wins.RIICHI, wins.DOUBLE_RIICHI)[declared.get("lizhi", 0)]
    flags |= (0, wins.HAITEI, wins.HOUTEI)[declared.get("haidi", 0)]
    flags |= wins.IPPATSU if declared.get("yifa") else 0
    flags |= wins.RINSHAN if declared.get("lingshang") else 0
    win = make_win(tiles, [_meld(meld) for meld in melds], flags)
    win["seat_wind"], win["round_wind"] = parameters["menfeng"], parameters["zhuangfeng"]
    everything = tiles + [tile for meld in melds for tile in _tiles(meld)]
    count_dora(
        win,
        everything,
        [_tiles(marker)[0] for marker in parameters["baopai"]],
        [_tiles(marker)[0] for marker in parameters["fubaopai"] or []],
    )
    return win


def _tiles(text: str) -> list[int]:
    return [
        tile
        for suit, ranks in re.findall(r"([mpsz])([^mpsz]*)", text)
        for tile in parse_tiles("".join(filter(str.isdigit, ranks)) + suit)
    ]


def _meld(text: str) -> tuple[int, int]:
    kinds = sorted(map(tile_kind, _tiles(text)))
    if kinds[0] != kinds[1]:
        return CHI, kinds[0]
    if len(kinds) == 3:
        return PON, kinds[0]
    if text[-1].isdigit():
        return (KAKAN if set(text) & set("+=-") else ANKAN), kinds[0]
    return DAIMINKAN, kinds[0]
