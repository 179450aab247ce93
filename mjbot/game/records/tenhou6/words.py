"""The words of tenhou.net/6: results, yaku and limits, as the site and exporters write them.

The site writes Japanese.  Exporters of Mahjong Soul games (tensoul, its ports and the browser
script "downloadlogs") write Japanese, romaji or English, by a setting; the site's editor writes
``不明`` for a hand whose result nobody entered.
"""

from typing import Final

from mjbot.protocol.yaku import DORA, N_YAKU

WIN: Final = "和了"
EXHAUSTIVE: Final = "流局"
ALL_TENPAI: Final = "全員聴牌"
NOBODY_TENPAI: Final = "全員不聴"
NAGASHI: Final = "流し満貫"
TRIPLE_RON: Final = "三家和了"
DRAWS: Final = {
    EXHAUSTIVE: "fanpai",
    ALL_TENPAI: "fanpai",
    NOBODY_TENPAI: "fanpai",
    NAGASHI: "nagashimangan",
    "九種九牌": "kyushukyuhai",
    "四風連打": "sufonrenta",
    "四槓散了": "sukaikan",
    "四家立直": "suchareach",
    TRIPLE_RON: "sanchaho",
    "三家和": "sanchaho",
}
"""Name of a draw as the site writes it -> mjai reason; the first of a reason is written."""
EXPORTED_DRAWS: Final = {
    "荒牌平局": "fanpai",
    "四開槓": "sukaikan",
    "ryuukyoku": "fanpai",
    "nagashi mangan": "nagashimangan",
    "kyuushu kyuuhai": "kyushukyuhai",
    "suufon renda": "sufonrenta",
    "suukaikan": "sukaikan",
    "suucha riichi": "suchareach",
    "sanchahou": "sanchaho",
    "exhaustive draw": "fanpai",
    "mangan at draw": "nagashimangan",
    "nine terminal abortion": "kyushukyuhai",
    "four wind abortion": "sufonrenta",
    "four kan abortion": "sukaikan",
    "four riichi abortion": "suchareach",
    "three ron abortion": "sanchaho",
}
"""Further names that exporters write, in lower case."""
WINS: Final = (WIN, "agari")
"""What the site and exporters write for a win."""
UNKNOWN_RESULT: Final = "不明"
"""What the site's editor writes for a hand without a result."""

YAKU_NAMES: Final = (
    "門前清自摸和", "立直", "一発", "槍槓", "嶺上開花",
    "海底摸月", "河底撈魚", "平和", "断幺九", "一盃口",
    "自風 東", "自風 南", "自風 西", "自風 北", "場風 東",
    "場風 南", "場風 西", "場風 北", "役牌 白", "役牌 發",
    "役牌 中", "両立直", "七対子", "混全帯幺九", "一気通貫",
    "三色同順", "三色同刻", "三槓子", "対々和", "三暗刻",
    "小三元", "混老頭", "二盃口", "純全帯幺九", "混一色",
    "清一色", "人和", "天和", "地和", "大三元",
    "四暗刻", "四暗刻単騎", "字一色", "緑一色", "清老頭",
    "九蓮宝燈", "純正九蓮宝燈", "国士無双", "国士無双１３面", "大四喜",
    "小四喜", "四槓子", "ドラ", "裏ドラ", "赤ドラ",
)  # fmt: skip
"""By Tenhou's id."""
LIMITS: Final = ("", "満貫", "跳満", "倍満", "三倍満", "役満")
assert len(YAKU_NAMES) == N_YAKU

YAKU_IDS: Final = {name: yaku for yaku, name in enumerate(YAKU_NAMES)} | {"抜きドラ": DORA}
"""Mahjong Soul counts the dora of kita apart."""
