"""Wins scored by the simulator RiichiEnv: tiles 0..135, Mahjong Soul's yaku ids."""

from typing import Any

from mjbot.game.rules import wins
from mjbot.game.rules import yaku_table as yaku
from mjbot.game.rules.scoring import score_win
from mjbot.game.rules.shapes import ANKAN, CHI, DAIMINKAN, KAKAN, PON
from mjbot.game.rules.wins import Win
from mjbot.protocol.tiles import RED_FIVES, tile_kind
from proof.answers import Report, count_dora, make_win

COUNTED_TWICE = {
    yaku.SUUANKOU_TANKI,
    yaku.CHUUREN_NINE_WAITS,
    yaku.KOKUSHI_THIRTEEN_WAITS,
    yaku.DAISUUSHII,
}
"""Yakuman that count double in RiichiEnv's default rules."""

_YAKU = {
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
    34: yaku.DORA,  # a north that was set aside
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
_REDS = dict(zip((16, 52, 88), RED_FIVES, strict=True))
_MELD_TYPES = {"chi": CHI, "pon": PON, "daiminkan": DAIMINKAN, "kakan": KAKAN, "ankan": ANKAN}


def check_win(case: dict[str, Any], report: Report) -> None:
    """Compare yaku, han and fu of one win."""
    answer = case["expected"]
    win = _win_of(case)
    han, fu, mask, yakuman = score_win(win)
    ours = frozenset(yaku.yaku_ids(mask))
    theirs = tenhou_ids(answer["yaku"], win["seat_wind"], win["round_wind"])
    report.compare("RiichiEnv yaku", case, ours, theirs)
    doubled = len(ours & COUNTED_TWICE)
    if yakuman and answer["han"] == 13 * (yakuman + doubled) and doubled:
        report.explained["RiichiEnv counts some yakuman twice (Mahjong Soul's rule)"] += 1
    elif yakuman:
        report.compare("RiichiEnv yakuman", case, 13 * yakuman, answer["han"])
    else:
        report.compare("RiichiEnv han and fu", case, (han, fu), (answer["han"], answer["fu"]))


def tenhou_ids(numbers: list[int], seat_wind: int, round_wind: int) -> frozenset[int]:
    """Translate RiichiEnv's yaku numbers to Tenhou's."""
    winds = {10: yaku.SEAT_WIND + seat_wind, 11: yaku.ROUND_WIND + round_wind}
    return frozenset(winds.get(number) or _YAKU[number] for number in numbers)


def _win_of(case: dict[str, Any]) -> Win:
    conditions = case["conditions"]
    flags = sum(flag for name, flag in _CONDITIONS.items() if conditions[name])
    held = list(case["tiles_136"])
    if len(held) % 3 == 2:  # one case lists the winning tile in the hand, too
        held.remove(case["win_tile_136"])
    tiles = [_tile(number) for number in [*held, case["win_tile_136"]]]
    melds = []
    everything = list(tiles)
    for meld in case["melds"]:
        meld_tiles = [_tile(number) for number in meld["tiles"]]
        everything += meld_tiles
        melds.append((_MELD_TYPES[meld["meld_type"]], min(map(tile_kind, meld_tiles))))
    win = make_win(tiles, melds, flags)
    win["seat_wind"], win["round_wind"] = conditions["player_wind"], conditions["round_wind"]
    markers, ura_markers = (
        [_tile(number) for number in case[name]] for name in ("dora_indicators", "ura_indicators")
    )
    count_dora(win, everything, markers, ura_markers)
    return win


def _tile(number: int) -> int:
    return _REDS.get(number, number // 4)
