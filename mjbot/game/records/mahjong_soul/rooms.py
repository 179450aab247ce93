"""The rules of a room of Mahjong Soul, from the switches that its records name (``detail_rule``).

Every switch that differs from the site's default is applied as a rule or refused by name; so is a
switch that is not known here.  A switch at 0 or ``false`` is one that protobuf leaves out, which
some writers write and others do not:

* A room that lists its switches names those that are on.  Where one is written as off, the writer
  writes all, so what is missing has its default.  Else it leaves out what is off.
* Where all of them are off the room has no list (a friend room, a ranked game), and the writer has
  added what protobuf takes for missing.
"""

from typing import Any, Final

from mjbot.protocol.rules import MAHJONG_SOUL, RANKED, SET, Length, Rules

_LENGTHS: Final[dict[int, Length]] = {1: "tonpu", 2: "hanchan"}
"""By the last digit of a room's mode; others, such as one hand, are not announced."""
_MODES: Final = (*range(5), *range(10, 15))
"""Modes of games of four and of three players."""
_NO_RULE: Final = frozenset({"time_fixed", "time_add", "bianjietishi", "ai_level", "thinking_type"})
"""Time to think, hints and programs as players."""
_BESIDE: Final = frozenset(
    {"mode", "ai", "extendinfo", "detail_rule", "testing_environment", "game_setting"}
)
"""What stands next to the switches."""

_USUALLY_ON: Final = {
    "can_jifei": "bust",
    "have_liujumanguan": "nagashi",
    "have_gang_biao_dora": "kan_dora",
    "have_li_dora": "ura_dora",
    "have_gang_li_dora": "kan_ura",
    "have_sifenglianda": "four_winds_draw",
    "have_sigangsanle": "four_kans_draw",
    "have_sijializhi": "four_riichi_draw",
    "have_jiuzhongjiupai": "nine_terminals_draw",
    "have_helelianzhuang": "agari_renchan",
    "have_helezhongju": "agari_yame",
    "have_tingpailianzhuang": "tenpai_renchan",
    "have_tingpaizhongju": "tenpai_yame",
    "have_yifa": "ippatsu",
    "have_nanruxiru": "extension",
    "have_biao_dora": "",
    "have_zimosun": "tsumo_loss",
}
"""Switches that are on by default and the rules that they set; without dora there is no rule."""
_USUALLY_OFF: Final = {
    "have_qieshangmanguan": "kiriage",
    "have_toutiao": "head_bump",
    "ming_dora_immediately_open": "open_kan_dora_at_once",
}
_DISABLED: Final = {
    "have_sanjiahele": ["triple_ron_paid"],  # the draw by three rons
    "disable_double_yakuman": ["double_yakuman"],
    "disable_composite_yakuman": ["composite_yakuman"],
    "disable_multi_yukaman": ["double_yakuman", "composite_yakuman"],  # before there were those two
    "disable_leijiyiman": ["counted_yakuman"],
    "disable_angang_guoshi": ["kokushi_ankan"],
}
"""Switches that are off by default, and the rules that they switch off."""
_POINTS: Final = {
    "init_point": "start_points",
    "fandian": "target_points",
    "jingsuanyuandian": "return_points",
}
_PLACES: Final = ("shunweima_2", "shunweima_3", "shunweima_4")
_NOTEN: Final = ("noting_fafu_1", "noting_fafu_2", "noting_fafu_3")
_VALUES: Final = ("liqibang_value", "changbang_value", *_NOTEN)
_RENHOU: Final = {1: "mangan", 2: "yakuman"}
_REDS: Final = {4: (0, 3, 4), 3: (0, 2, 3)}
"""How many red fives a room may have, by the number of players; 3 of three players are a habit of
writers."""

_REFUSED: Final = {
    "have_biao_dora": "there are no dora indicators",
    "tianbian_value": "the game ends at once when a seat has so many points",
    "enable_shiti": "the kind just called may be discarded, kuikae",
    "enable_nontsumo_liqi": "riichi is allowed without a draw left",
    "enable_baopai_extend_settings": "liability for four kans, or none at all",
    "guyi_mode": "local yaku",
    "dora3_mode": "three dora indicators from the start",
    "begin_open_mode": "hands are dealt open",
    "open_hand": "hands are open",
    "reveal_discard": "discards may be hidden",
    "jiuchao_mode": "some tiles are seen through",
    "muyu_mode": "a wooden fish passes round and doubles payments",
    "zhanxing": "draws are chosen among several tiles",
    "tianming_mode": "each seat has destiny tiles",
    "field_spell_mode": "field spells",
    "yongchang_mode": "event rules",
    "hunzhiyiji_mode": "event rules",
    "wanxiangxiuluo_mode": "event rules",
    "beishuizhizhan_mode": "event rules",
    "amusement_switches": "event rules",
    "huansanzhang": "three tiles are exchanged at the start",
    "chuanma": "Sichuan rules",
    "xuezhandaodi": "the hand goes on after a win",
}
"""Switches of rules that are not implemented, with what is known of them."""


class RoomError(ValueError):
    """A room whose rules are not implemented; the text names the switch."""


def room_rules(mode: dict[str, Any], players: int) -> tuple[Rules, dict[str, Any]]:
    """Return the rules of a room, and the object for ``start_game``.

    The object has no length if the room names none.  Raises :class:`RoomError`.
    """
    number = _number(mode, "mode")
    if number not in _MODES:
        raise RoomError(f"mode {number} is not known")
    for key, value in mode.items():
        if key not in _BESIDE and value:
            raise RoomError(_unknown(key))
    detail = mode.get("detail_rule")
    detail = detail if isinstance(detail, dict) else {}
    length = _LENGTHS.get(number % 10)
    fields = {SET: MAHJONG_SOUL, "players": players, "length": length or RANKED.length}
    fields |= _switched(detail, players)
    try:
        rules = Rules.read(fields, players=(3, 4))
    except ValueError as error:
        raise RoomError(str(error)) from None
    announced = ({"length": length} if length else {}) | rules.differences
    if "start_points" in fields:
        announced["start_points"] = rules.start_points
    return rules, announced


def _switched(detail: dict[str, Any], players: int) -> dict[str, Any]:
    """Return the rules that the switches set."""
    detail = {key: value for key, value in detail.items() if value is not None}
    for key in detail:
        if detail[key] and key not in _KNOWN:
            raise RoomError(f"{_REFUSED[key]}, {key}" if key in _REFUSED else _unknown(key))
    if not any(value for key, value in detail.items() if key not in _NO_RULE):
        return {}  # a ranked game
    rules = _of_switches(detail, players)
    rules |= _of_tiles(detail, players)
    for switch, disabled in _DISABLED.items():
        rules |= dict.fromkeys(disabled, False) if detail.get(switch) else {}
    if detail.get("disable_double_wind_four_fu"):
        rules["double_wind_fu"] = 2
    if (least := _number(detail, "fanfu")) > 1:
        if least not in (2, 4):
            raise RoomError(f"a win needs {least} han, fanfu")
        rules["least_han"] = least
    if renhou := _number(detail, "enable_renhe"):
        if renhou not in _RENHOU:
            raise RoomError(f"blessing of man of another value ({renhou}), enable_renhe")
        rules["renhou"] = _RENHOU[renhou]
    return rules | _of_points(detail, players)


def _lists(detail: dict[str, Any]) -> bool:
    """Return whether a room lists its switches."""
    have = [bool(value) for key, value in detail.items() if key.startswith("have_")]
    return any(have) or (bool(have) and "have_biao_dora" not in detail)


def _of_switches(detail: dict[str, Any], players: int) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    lists = _lists(detail)
    on = [switch for switch in _USUALLY_ON if detail.get(switch) and switch != "can_jifei"]
    writes_all = any(key.startswith("have_") and not detail[key] for key in detail)
    for switch, rule in _USUALLY_ON.items():
        if not lists or (switch == "have_zimosun" and players == 4):
            continue
        is_on = bool(detail.get(switch, writes_all or not on))
        if rule:
            rules[rule] = is_on
        elif not is_on:
            raise RoomError(f"{_REFUSED[switch]}, {switch}")
    if not any(key.startswith("have_") for key in detail) and "can_jifei" in detail:
        rules["bust"] = bool(detail["can_jifei"])
    rules |= {rule: True for switch, rule in _USUALLY_OFF.items() if detail.get(switch)}
    if "shiduan" in detail or (lists and on and not writes_all):
        rules["open_tanyao"] = bool(detail.get("shiduan"))
    return rules


def _of_tiles(detail: dict[str, Any], players: int) -> dict[str, Any]:
    if "dora_count" not in detail:
        return {}
    count = _number(detail, "dora_count")
    if count not in _REDS[players]:
        raise RoomError(f"{count} red fives of {players} players, dora_count")
    return {"red_fives": count > 0, "two_red_5p": count == 4}


def _of_points(detail: dict[str, Any], players: int) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    for switch, rule in _POINTS.items():
        if points := _number(detail, switch):
            rules[rule] = points
    if "start_points" in rules:
        rules.setdefault("return_points", rules["start_points"])
    uma = [_number(detail, switch) for switch in _PLACES[: players - 1]]
    if any(uma):
        rules["uma"] = [1000 * part for part in (-sum(uma), *uma)]
    values = {
        switch: _number(detail, switch)
        for switch in _VALUES
        if detail.get(switch) or (switch in detail and _lists(detail))
    }
    if "liqibang_value" in values:
        rules["stick_points"] = values["liqibang_value"]
    if "changbang_value" in values:
        part, rest = divmod(values["changbang_value"], players - 1)
        if rest:
            shares = f"{players - 1} payers cannot share"
            raise RoomError(f"a honba of {part * (players - 1) + rest} points, which {shares}")
        rules["honba_points"] = part
    if not values.keys().isdisjoint(_NOTEN):
        usual = Rules(players=players).noten_points
        pairs = zip(_NOTEN, usual, strict=False)
        rules["noten_points"] = [values.get(switch, points) for switch, points in pairs]
    return rules


_KNOWN: Final = (
    _NO_RULE
    | _USUALLY_ON.keys()
    | _USUALLY_OFF.keys()
    | _DISABLED.keys()
    | _POINTS.keys()
    | {*_PLACES, *_VALUES}
    | {"dora_count", "shiduan", "fanfu", "enable_renhe", "disable_double_wind_four_fu"}
)


def _number(fields: dict[str, Any], key: str) -> int:
    """Return a number, 0 where it is missing; ``true`` is 1."""
    value = fields.get(key) or 0
    if not isinstance(value, int):
        raise RoomError(f"{key} is no number")
    return int(value)


def _unknown(key: str) -> str:
    return f"the switch {key[:40]!r} is not known, so its rule is not either"
