"""Checks the rules against published answers: 10,000 + 816 scored wins and 40,000 shanten.

The answers are those of the simulators majiang-core and RiichiEnv, in the shared data folder.
Where their rules differ from Tenhou's (double yakuman), the difference is counted by its reason.
"""

import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mjbot.rules import wins, yaku
from mjbot.rules.hands import count_kinds
from mjbot.rules.melds import ANKAN, CHI, DAIMINKAN, KAKAN, PON
from mjbot.rules.points import Parties, base_points, ron_points, tsumo_points, win_deltas
from mjbot.rules.scoring import score_win
from mjbot.rules.shanten import shanten_orphans, shanten_pairs, shanten_regular
from mjbot.rules.wins import Win, new_win
from mjbot.table.observe import dora_kind
from protocol.tiles import parse_tiles, tile_kind

MAJIANG = Path("known-answers/majiang-core.zip")
RIICHIENV = Path("known-answers/riichienv-agari-4p.json")

_DOUBLE_YAKUMAN = {yaku.SUUANKOU_TANKI, yaku.CHUUREN_NINE_WAITS, yaku.KOKUSHI_THIRTEEN_WAITS}
_DOUBLE_YAKUMAN |= {yaku.DAISUUSHII}


@dataclass
class Report:
    """How many answers agreed (by kind), differed for a known reason, and differed without one."""

    agreed: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def compare(self, what: str, case: object, ours: object, theirs: object) -> None:
        """Book one answer."""
        if ours == theirs:
            self.agreed[what] += 1
        else:
            self.differences.append(f"{what}: ours {ours}, theirs {theirs}, of {case}")


def check_known_answers(data: Path) -> Report:
    """Compare every answer under ``data``, the shared data folder."""
    report = Report()
    with zipfile.ZipFile(data / MAJIANG) as archive:
        for number in range(1, 5):
            for case in json.loads(archive.read(f"xiangting_{number}.json")):
                _check_shanten(case, report)
        for case in json.loads(archive.read("hule.json")):
            _check_majiang_win(case, report)
    for case in json.loads((data / RIICHIENV).read_text(encoding="utf-8"))["cases"]:
        _check_riichienv_win(case, report)
    return report


def _check_shanten(case: dict[str, Any], report: Report) -> None:
    hand = count_kinds(tile for name in case["q"] for tile in parse_tiles(name[1] + name[0]))
    ours = [shanten_regular(hand, 0), shanten_orphans(hand, 0), shanten_pairs(hand, 0)]
    report.compare("majiang-core shanten (three forms)", case["q"], ours, case["x"])


# majiang-core: tiles m0..z7, relative seats + = -, melds after commas.

_MAJIANG_YAKU = {
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


def _check_majiang_win(case: dict[str, Any], report: Report) -> None:
    given, answer = case["in"], case["out"]
    win = _majiang_win(given)
    han, fu, mask, yakuman = score_win(win)
    theirs = {_MAJIANG_YAKU[entry["name"]] for entry in answer["hupai"]}
    report.compare("majiang-core yaku", given, set(yaku.yaku_ids(mask)), theirs)
    if not yakuman:
        report.compare(
            "majiang-core han and fu", given, (han, fu), (answer["fanshu"], answer["fu"])
        )
    base = base_points(han, fu, yakuman)
    seat = given["param"]["menfeng"]
    loser = seat
    if "rongpai" in given:
        loser = (seat + " +=-".index(given["rongpai"][2])) % 4
    extra = given["param"]["jicun"]
    deltas = win_deltas(base, Parties(seat, loser, 0, -1), extra["changbang"], extra["lizhibang"])
    report.compare("majiang-core payments", given, deltas.tolist(), answer["fenpei"])
    report.compare("majiang-core points", given, _points(base, win), answer["defen"])


def _points(base: int, win: Win) -> int:
    is_dealer = win["seat_wind"] == 0
    if not win["flags"] & wins.TSUMO:
        return ron_points(base, is_dealer)
    if is_dealer:
        return 3 * tsumo_points(base, True)
    return tsumo_points(base, True) + 2 * tsumo_points(base, False)


def _majiang_win(given: dict[str, Any]) -> Win:
    parameters, declared = given["param"], given["param"]["hupai"]
    concealed, *melds = given["shoupai"].split(",")
    tiles = _majiang_tiles(concealed)
    flags = 0 if "rongpai" in given else wins.TSUMO
    if "rongpai" in given:
        tiles += _majiang_tiles(given["rongpai"])
    flags |= (0, wins.RIICHI, wins.DOUBLE_RIICHI)[declared.get("lizhi", 0)]
    flags |= (0, wins.HAITEI, wins.HOUTEI)[declared.get("haidi", 0)]
    flags |= wins.IPPATSU if declared.get("yifa") else 0
    flags |= wins.RINSHAN if declared.get("lingshang") else 0
    win = _win(tiles, [_majiang_meld(meld) for meld in melds], flags)
    win["seat_wind"], win["round_wind"] = parameters["menfeng"], parameters["zhuangfeng"]
    everything = tiles + [tile for meld in melds for tile in _majiang_tiles(meld)]
    _count_dora(
        win,
        everything,
        [_majiang_tiles(marker)[0] for marker in parameters["baopai"]],
        [_majiang_tiles(marker)[0] for marker in parameters["fubaopai"] or []],
    )
    return win


def _majiang_tiles(text: str) -> list[int]:
    return [
        tile
        for suit, ranks in re.findall(r"([mpsz])([^mpsz]*)", text)
        for tile in parse_tiles("".join(filter(str.isdigit, ranks)) + suit)
    ]


def _majiang_meld(text: str) -> tuple[int, int]:
    kinds = sorted(map(tile_kind, _majiang_tiles(text)))
    if kinds[0] != kinds[1]:
        return CHI, kinds[0]
    if len(kinds) == 3:
        return PON, kinds[0]
    if text[-1].isdigit():
        return (KAKAN if set(text) & set("+=-") else ANKAN), kinds[0]
    return DAIMINKAN, kinds[0]


# RiichiEnv: tiles 0..135, Mahjong Soul's yaku ids.

_RIICHIENV_YAKU = {
    1: yaku.TSUMO,
    2: yaku.RIICHI,
    3: yaku.CHANKAN,
    4: yaku.RINSHAN,
    5: yaku.HAITEI,
    6: yaku.HOUTEI,
    7: yaku.HAKU,
    8: yaku.HAKU + 1,
    9: yaku.HAKU + 2,
    12: yaku.TANYAO,
    13: yaku.IIPEIKOU,
    14: yaku.PINFU,
    15: yaku.CHANTA,
    16: yaku.ITTSUU,
    17: yaku.SANSHOKU,
    18: yaku.DOUBLE_RIICHI,
    19: yaku.SANSHOKU_DOUKOU,
    20: yaku.SANKANTSU,
    21: yaku.TOITOI,
    22: yaku.SANANKOU,
    23: yaku.SHOUSANGEN,
    24: yaku.HONROUTOU,
    25: yaku.CHIITOI,
    26: yaku.JUNCHAN,
    27: yaku.HONITSU,
    28: yaku.RYANPEIKOU,
    29: yaku.CHINITSU,
    30: yaku.IPPATSU,
    31: yaku.DORA,
    32: yaku.RED_DORA,
    33: yaku.URA_DORA,
    35: yaku.TENHOU,
    36: yaku.CHIIHOU,
    37: yaku.DAISANGEN,
    38: yaku.SUUANKOU,
    39: yaku.TSUUIISOU,
    40: yaku.RYUUIISOU,
    41: yaku.CHINROUTOU,
    42: yaku.KOKUSHI,
    43: yaku.SHOUSUUSHII,
    44: yaku.SUUKANTSU,
    45: yaku.CHUUREN,
    47: yaku.CHUUREN_NINE_WAITS,
    48: yaku.SUUANKOU_TANKI,
    49: yaku.KOKUSHI_THIRTEEN_WAITS,
    50: yaku.DAISUUSHII,
}
_CONDITIONS = {
    "tsumo": wins.TSUMO,
    "riichi": wins.RIICHI,
    "double_riichi": wins.DOUBLE_RIICHI,
    "ippatsu": wins.IPPATSU,
    "haitei": wins.HAITEI,
    "houtei": wins.HOUTEI,
    "rinshan": wins.RINSHAN,
    "chankan": wins.CHANKAN,
    "tsumo_first_turn": wins.FIRST_TURN,
}
_MELD_TYPES = {"chi": CHI, "pon": PON, "daiminkan": DAIMINKAN, "kakan": KAKAN, "ankan": ANKAN}


def _check_riichienv_win(case: dict[str, Any], report: Report) -> None:
    answer = case["expected"]
    win = _riichienv_win(case)
    han, fu, mask, yakuman = score_win(win)
    ours = set(yaku.yaku_ids(mask))
    theirs = {
        yaku.SEAT_WIND + win["seat_wind"]
        if number == 10
        else yaku.ROUND_WIND + win["round_wind"]
        if number == 11
        else _RIICHIENV_YAKU[number]
        for number in answer["yaku"]
    }
    report.compare("RiichiEnv yaku", case, ours, theirs)
    doubled = len(ours & _DOUBLE_YAKUMAN)
    if yakuman and answer["han"] == 13 * (yakuman + doubled) and doubled:
        report.explained["RiichiEnv counts some yakuman twice (Mahjong Soul's rule)"] += 1
    elif yakuman:
        report.compare("RiichiEnv yakuman", case, 13 * yakuman, answer["han"])
    else:
        report.compare("RiichiEnv han and fu", case, (han, fu), (answer["han"], answer["fu"]))


def _riichienv_win(case: dict[str, Any]) -> Win:
    conditions = case["conditions"]
    flags = sum(flag for name, flag in _CONDITIONS.items() if conditions[name])
    tiles = [_tile(number) for number in [*case["tiles_136"], case["win_tile_136"]]]
    melds = []
    everything = list(tiles)
    for meld in case["melds"]:
        meld_tiles = [_tile(number) for number in meld["tiles"]]
        everything += meld_tiles
        melds.append((_MELD_TYPES[meld["meld_type"]], min(map(tile_kind, meld_tiles))))
    win = _win(tiles, melds, flags)
    win["seat_wind"], win["round_wind"] = conditions["player_wind"], conditions["round_wind"]
    markers, ura_markers = (
        [_tile(number) for number in case[name]] for name in ("dora_indicators", "ura_indicators")
    )
    _count_dora(win, everything, markers, ura_markers)
    return win


def _tile(number: int) -> int:
    reds = {16: 34, 52: 35, 88: 36}
    return reds.get(number, number // 4)


# Both.


def _win(tiles: list[int], melds: list[tuple[int, int]], flags: int) -> Win:
    """Describe a win by the last of ``tiles``."""
    win = new_win()
    win["hand"] = count_kinds(tiles)
    win["win_kind"] = tile_kind(tiles[-1])
    win["flags"] = flags
    win["n_melds"] = len(melds)
    for place, (meld_type, kind) in enumerate(melds):
        win["meld_type"][place], win["meld_kind"][place] = meld_type, kind
    return win


def _count_dora(win: Win, tiles: list[int], markers: list[int], ura_markers: list[int]) -> None:
    held = count_kinds(tiles)
    win["dora"] = sum(held[dora_kind(marker)] for marker in markers)
    if win["flags"] & (wins.RIICHI | wins.DOUBLE_RIICHI):
        win["ura"] = sum(held[dora_kind(marker)] for marker in ura_markers)
    win["red"] = sum(tile >= 34 for tile in tiles)


def report_lines(report: Report) -> Iterator[str]:
    """Yield the report as text."""
    for what, count in report.agreed.items():
        yield f"{what}: {count:,} agree"
    for reason, count in report.explained.items():
        yield f"{count:,} differ for a known reason: {reason}"
    yield f"{len(report.differences):,} differ without a known reason"
    yield from report.differences[:20]
