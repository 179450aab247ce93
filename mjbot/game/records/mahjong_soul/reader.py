"""Decoded records of Mahjong Soul, as scripts in the site's page and archives save them.

A record has a ``head`` (players, rules, final points) and a list of messages such as ``{"name":
".lq.RecordNewRound", "data": {...}}``: in ``records``, or since 2021 in ``actions`` next to clicks
and remarks, of which the messages are the ``result``; both inside one or two ``data``, or bare.
A list of messages without a head is read, too.  Nothing is fetched, and of the players only their
names are read.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NoReturn, TypeVar

from mjbot.game.records.discards import settle_discards
from mjbot.game.records.game import (
    Entry,
    ForeignRecordError,
    Game,
    HandNotes,
    RecordError,
)
from mjbot.game.records.json_values import Lines
from mjbot.game.records.mahjong_soul import messages as lq
from mjbot.game.records.mahjong_soul.hands import deal_only, hand_events
from mjbot.game.records.other_formats import RAW_MAHJONG_SOUL, whole_json
from mjbot.game.records.tenhou6.reader import game_entries
from mjbot.protocol import messages as m
from mjbot.protocol.rules import MAHJONG_SOUL, RANKED, SET, Rules
from mjbot.protocol.seats import by_seat

LIVE_STREAM: Final = (
    "is a live stream of Mahjong Soul (ActionNewRound and so on), which one seat sees;"
    " save the record of the game when it is over"
)
T = TypeVar("T")
_LIVE: Final = "Action"
_SPECIAL: Final = {
    "guyi_mode": "local yaku",
    "enable_renhe": "blessing of man",
    "dora3_mode": "more dora",
    "begin_open_mode": "open hands",
    "open_hand": "open hands",
    "reveal_discard": "hidden discards",
    "jiuchao_mode": "hidden tiles",
    "muyu_mode": "wooden fish",
    "zhanxing": "divination",
    "tianming_mode": "destiny tiles",
    "field_spell_mode": "field spells",
    "yongchang_mode": "event rules",
    "hunzhiyiji_mode": "event rules",
    "wanxiangxiuluo_mode": "event rules",
    "beishuizhizhan_mode": "event rules",
    "amusement_switches": "event rules",
    "huansanzhang": "exchange of three tiles",
    "chuanma": "Sichuan rules",
    "xuezhandaodi": "fight to the end",
}
"""Switches of rooms whose rules are not those of riichi as ranked games have it."""
_NAMED: Final = {"dora_count": "red_fives", "shiduan": "open_tanyao"}
_SWITCHES: Final = {
    "can_jifei": "bust",
    "have_toutiao": "head_bump",
    "have_qieshangmanguan": "kiriage",
    "have_helezhongju": "agari_yame",
    "have_tingpaizhongju": "tenpai_yame",
    "have_nanruxiru": "extension",
    "have_sifenglianda": "four_winds_draw",
    "have_sigangsanle": "four_kans_draw",
    "have_sijializhi": "four_riichi_draw",
    "have_jiuzhongjiupai": "nine_terminals_draw",
}
_DISABLED: Final = {
    "disable_double_yakuman": ["double_yakuman"],
    "disable_composite_yakuman": ["composite_yakuman"],
    "disable_multi_yukaman": ["double_yakuman", "composite_yakuman"],  # before there were those two
    "disable_leijiyiman": ["counted_yakuman"],
    "disable_angang_guoshi": ["kokushi_ankan"],
}
_POINTS: Final = {
    "init_point": "start_points",
    "fandian": "target_points",
    "jingsuanyuandian": "return_points",
}
"""Switches of friend rooms, and the rules that they set."""
_LENGTHS: Final = {1: "tonpu", 2: "hanchan"}
"""By the last digit of a room's mode; others (one hand, say) are not announced."""


def read_mahjong_soul(stream: Lines, first: Any, name: str) -> Iterator[Game]:
    """Yield the game of a decoded record, or those of an array of records.

    ``first`` is the first value of the stream.  What is wrong with a game is raised while its
    entries are walked, as for tenhou.net/6; raw and live records and special rooms raise
    :class:`ForeignRecordError`.
    """
    value = whole_json(stream)
    if value is None:
        if lq.bare_name(first).startswith(_LIVE):
            raise ForeignRecordError(name, LIVE_STREAM)
        raise RecordError(name, "", "the JSON is cut off, or holds more than one value")
    is_many = isinstance(value, list) and not any(map(lq.bare_name, value[:1]))
    for count, record in enumerate(value if is_many else [value], 1):
        title = name if count == 1 else f"{name}#{count}"
        notes = HandNotes()
        yield Game(title, "hand", settle_discards(_entries(record, title, notes)), "", notes)


def _entries(record: Any, name: str, notes: HandNotes) -> Iterator[Entry]:
    head = record.get("head") if isinstance(record, dict) else None
    head = head if isinstance(head, dict) else {}
    messages = _messages(record, name)
    hands = list(_hands(messages))
    if not hands:
        raise RecordError(name, "", f"holds no hand: no {lq.NEW_ROUND}")
    scores = _inside(hands[0][0], "data").get("scores")
    players = 3 if isinstance(scores, list) and len(scores) == 3 else 4
    rules = _rules(head, players, name)
    start = m.StartGame(names=_names(head, players), mjbot_rules=rules)
    played = [_played(hand, name, number, notes) for number, hand in enumerate(hands, 1)]
    yield from game_entries(start, played, _final_scores(head, players), notes)


def _messages(record: Any, name: str) -> list[dict[str, Any]]:
    """Return the messages of a record, wherever they lie in it."""
    inside = record
    while isinstance(inside, dict):
        known = [inside[key] for key in ("actions", "records", "data") if inside.get(key)]
        if inside.get("type") == "Buffer" or not known or isinstance(known[0], str):
            raise ForeignRecordError(name, RAW_MAHJONG_SOUL)
        inside = known[0]
    if not isinstance(inside, list):
        raise RecordError(name, "", "holds no list of messages")
    results = [item.get("result", item) if isinstance(item, dict) else item for item in inside]
    messages = [result for result in results if lq.bare_name(result)]
    if not messages:
        raise ForeignRecordError(name, RAW_MAHJONG_SOUL)
    for message in messages:
        _check_kind(lq.bare_name(message), name)
    return messages


def _check_kind(kind: str, name: str) -> None:
    if kind.startswith(_LIVE):
        raise ForeignRecordError(name, LIVE_STREAM)
    if kind not in lq.KNOWN:
        _refuse_room(name, f"the message {kind[:40]}")


def _refuse_room(name: str, reason: str) -> NoReturn:
    raise ForeignRecordError(name, f"is a game of a special room of Mahjong Soul ({reason})")


def _hands(messages: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the messages of each hand; those before the first deal belong to none."""
    hand: list[dict[str, Any]] = []
    for message in messages:
        if lq.bare_name(message) == lq.NEW_ROUND:
            if hand:
                yield hand
            hand = []
        elif not hand:
            continue
        hand.append(message)
    if hand:
        yield hand


def _played(
    hand: Sequence[dict[str, Any]], name: str, number: int, notes: HandNotes
) -> list[m.Event]:
    """Return the events of a hand; dealt and not played, if it is bad.

    Raises :class:`RecordError` where not even the deal can be read.
    """
    place = f"hand {number}"
    try:
        deal = lq.read_message(hand[0])
        assert isinstance(deal, lq.NewRound)
        unplayed = deal_only(deal)
    except ValueError as error:
        raise RecordError(name, place, str(error)) from None
    try:
        return hand_events(deal, map(lq.read_message, hand[1:]))
    except ValueError as error:
        notes.unreadable.append(RecordError(name, place, str(error)))
        return unplayed


# --- the head -------------------------------------------------------------------------------------


def _rules(head: dict[str, Any], players: int, name: str) -> dict[str, Any]:
    """Return the rules of the room for ``start_game``, without a length if none is named.

    Raises :class:`ForeignRecordError` for rooms of other games.
    """
    mode = _inside(head, "config", "mode")
    number = mode.get("mode")
    number = number if isinstance(number, int) else 0
    detail = _inside(mode, "detail_rule")
    for switch, meaning in _SPECIAL.items():
        if detail.get(switch):
            _refuse_room(name, f"{meaning}, {switch}")
    length = _LENGTHS.get(number % 10)
    fields = {SET: MAHJONG_SOUL, "players": players, "length": length or RANKED.length}
    if detail.get("init_point"):  # of ranked games defaults may be written
        fields |= _room_rules(detail, players)
    try:
        rules = Rules.read(fields, players=(3, 4))
    except ValueError as error:
        _refuse_room(name, str(error))
    return ({"length": length} if length else {}) | rules.differences


def _room_rules(detail: dict[str, Any], players: int) -> dict[str, Any]:
    """Return what the switches of a friend room change.

    Those that are off are left out by some writers, so they count where a room names any.
    """
    rules: dict[str, Any] = {
        rule: bool(detail[switch]) for switch, rule in _NAMED.items() if switch in detail
    }
    if any(value for switch, value in detail.items() if switch.startswith("have_")):
        rules |= {rule: bool(detail.get(switch)) for switch, rule in _SWITCHES.items()}
        if players == 3:
            rules["tsumo_loss"] = bool(detail.get("have_zimosun"))
        rules["triple_ron_paid"] = not detail.get("have_sanjiahele")  # the draw by three rons
    for switch, disabled in _DISABLED.items():
        rules |= dict.fromkeys(disabled, False) if detail.get(switch) else {}
    if detail.get("disable_double_wind_four_fu"):
        rules["double_wind_fu"] = 2
    points = {rule: detail[switch] for switch, rule in _POINTS.items() if detail.get(switch)}
    points.setdefault("return_points", points["start_points"])
    uma = [detail.get(f"shunweima_{place}", 0) for place in range(2, players + 1)]
    if all(isinstance(part, int) for part in uma) and any(uma):
        points["uma"] = [1000 * part for part in (-sum(uma), *uma)]
    return rules | points


def _names(head: dict[str, Any], players: int) -> tuple[str, ...] | None:
    """Return the names of the players by seat; a seat without an account is a program's."""
    names = _by_seat(head.get("accounts"), "nickname", str)
    if not names:
        return None
    return tuple(names.get(seat, "AI" if seat < players else "") for seat in range(4))


def _final_scores(head: dict[str, Any], players: int) -> m.FourInts | None:
    points = _by_seat(_inside(head, "result").get("players"), "part_point_1", int)
    known = [points[seat] for seat in range(players) if seat in points]
    is_known = len(known) == players and max(map(abs, known)) <= m.MOST_POINTS
    return by_seat([*known, 0][:4]) if is_known else None


def _by_seat(items: Any, field: str, kind: type[T]) -> dict[int, T]:
    """Return a field of the objects in a list by their seat, which is 0 where it is missing."""
    objects = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    pairs = [(item.get("seat", 0), item.get(field)) for item in objects]
    return {
        seat: value for seat, value in pairs if isinstance(seat, int) and isinstance(value, kind)
    }


def _inside(value: Any, *keys: str) -> dict[str, Any]:
    """Return the object at this path, empty if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
