"""Decoded records of Mahjong Soul: forms of the file, rooms, bad hands, rules of the site.

That every event of a hand comes back from such a record is checked with the other formats
(``check_round_trips``).
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mjbot.cli.main import main
from mjbot.game.records.choices import steps
from mjbot.game.records.complete import CompleteGame, complete
from mjbot.game.records.game import ForeignRecordError, Game, RecordError
from mjbot.game.records.mahjong_soul import messages as lq
from mjbot.game.records.mahjong_soul.hands import hand_events
from mjbot.game.records.sources import games_of, list_sources, open_games
from mjbot.game.referee import Position
from mjbot.game.table.mirror.mirror import TableError
from mjbot.protocol import messages as m
from mjbot.protocol.rules import RANKED, Rules
from mjbot.protocol.tiles import parse_tiles, tile_names
from mjbot.runtime.errors import ExitCode
from tests.game.records.formats import events_of, first_kyoku, random_game, report
from tests.game.records.soul_form import DRAWS, Json, messages_of, record, text, with_actions
from tests.game.records.soul_form import message as soul
from tests.game.referee.scripted import Game as Scripted
from tests.game.referee.scripted import random_game as game_at_random

PLAYED = random_game(1)
RECORD = record(PLAYED)
THREE = record(report(game_at_random(1, Rules(players=3))))
SITE = PLAYED.rules.under("mahjong-soul")


def saved(value: Any, folder: Path, **how: Any) -> Path:
    path = folder / "record.json"
    path.write_text(json.dumps(value, ensure_ascii=False, **how), "utf-8")
    return path


def copied(value: Any) -> Any:
    return json.loads(json.dumps(value))


def damaged(number: int, _record: Json = RECORD, **fields: Any) -> Json:
    value = copied(_record)
    messages_of(value)[number]["data"].update(fields)
    return value


# --- forms of a file -------------------------------------------------------------------------


def respelled(form: Callable[[str, Json], Any]) -> Callable[[Json], Any]:
    """Return a record whose messages have another form, made of bare name and fields."""

    def spell(value: Json) -> Any:
        names = [one["name"].removeprefix(".lq.") for one in messages_of(value)]
        pairs = zip(names, messages_of(value), strict=True)
        return {**value, "data": [form(name, one["data"]) for name, one in pairs]}

    return spell


def with_bytes(value: Json) -> Json:
    """Return a record that holds the raw bytes, too."""
    decoded = [{"__type": one["name"], **one["data"]} for one in messages_of(value)]
    return {**value, "data": {"type": "Buffer", "data": [10, 20]}, "records": decoded}


def of_actions(value: Json) -> Json:
    results = [{"__type": one["name"], **one["data"]} for one in messages_of(value)]
    return {**value, "data": {"actions": [{"result": result} for result in results]}}


FORMS: dict[str, Callable[[Json], Any]] = {
    "__type beside the fields": respelled(lambda name, data: {"__type": name, **data}),
    "type in place of name": respelled(lambda name, data: {"type": name, "data": data}),
    "type with a package": respelled(lambda name, data: {"type": f".lq.{name}", "data": data}),
    "pairs": respelled(lambda name, data: [f".lq.{name}", data]),
    "pairs of bare names": respelled(lambda name, data: [name, data]),
    "pairs without a head": lambda value: [
        [one["name"], one["data"]] for one in messages_of(value)
    ],
    "raw bytes beside": with_bytes,
    "results of another form": of_actions,
    "no head": lambda value: {"records": messages_of(value)},
    "messages": lambda value: value,
    "actions": with_actions,
    "a bare list in data": lambda value: {**value, "data": messages_of(value)},
    "records beside the head": lambda value: {"head": value["head"], "records": messages_of(value)},
    "an array of one record": lambda value: [value],
    "without a head": messages_of,
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read(form: str, indent: int | None, tmp_path: Path) -> None:
    (game,) = open_games(saved(FORMS[form](RECORD), tmp_path, indent=indent))
    events, own = events_of(complete(game)), events_of(PLAYED)
    if "head" in form and form != "records beside the head":
        assert [type(event) for event, _ in events] == [type(event) for event, _ in own[:-1]]
    else:
        assert events[1:] == own[1:]
        assert events[0][0].mjbot_rules == SITE.announced
        assert events[0][0].names == own[0][0].names


def test_names_and_fields_that_protobuf_leaves_out_have_their_defaults(tmp_path: Path) -> None:
    value = copied(RECORD)
    value["head"]["accounts"] = [{"nickname": "a"}, {"seat": 2, "nickname": "c"}]
    for one in messages_of(value):
        one["name"] = one["name"].removeprefix(".lq.")
        one["data"] = {name: part for name, part in one["data"].items() if part not in (0, False)}
        one["data"]["liqi"] = None
    (game,) = open_games(saved(value, tmp_path))
    (start, _), *events = events_of(complete(game))
    assert start.names == ("a", "AI", "c", "AI")
    assert events == events_of(PLAYED)[1:]


def test_every_command_reads_it(tmp_path: Path, capsys) -> None:
    path = saved(with_actions(RECORD), tmp_path)
    for words in (
        ["replay", str(tmp_path)],
        ["stats", str(path)],
        ["convert", str(path), str(tmp_path / "a.mjlog"), "--rules", "tenhou"],
        ["convert", str(path), str(tmp_path / "b.json"), "--to", "tenhou6"],
        ["watch", str(path), "--out", str(tmp_path / "a.html")],
        ["draw", str(path), "--out", str(tmp_path / "a.svg")],
    ):
        assert main(words) == ExitCode.OK, words
    assert "no mismatch" in capsys.readouterr().out


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("name", ["a.mjlog", "a.json"])
def test_rules_of_a_room_that_tenhou_lacks_are_named_with_the_cure(players, name, tmp_path, capsys):
    rules = Rules(players=players).under("mahjong-soul", players)
    game = report(game_at_random(1, msgspec.structs.replace(rules, kiriage=True)))
    path, out = str(saved(record(game), tmp_path)), str(tmp_path / name)
    words = ["convert", path, out, *(["--to", "tenhou6"] if name == "a.json" else [])]
    assert main(words) == ExitCode.FAILED
    printed = " ".join(capsys.readouterr().err.split())
    assert "kiriage=yes" in printed
    assert "--rules tenhou writes it as a game of Tenhou" in printed
    assert main([*words, "--rules", "tenhou"]) == ExitCode.OK


# --- what is refused -------------------------------------------------------------------------


def with_detail(**detail: Any) -> Json:
    value = copied(RECORD)
    value["head"]["config"]["mode"]["detail_rule"] = detail
    return value


def with_message(name: str) -> Json:
    value = copied(RECORD)
    messages_of(value).insert(5, {"name": f".lq.{name}", "data": {"seat": 0}})
    return value


LIVE = {"name": "ActionNewRound", "data": {"chang": 0, "tiles": ["1m"] * 13}}
SHORT = [[{"name": "NewRound", "data": {"chang": 0, "scores": [25000] * 4}}]]
IN_SHORT = "in RiichiEnv's short form, which has no payments; save the decoded record"
PRINTED = "is a record of Mahjong Soul printed as protobuf text"
RAW = "is a raw record of Mahjong Soul (protobuf); save it decoded, as JSON"

CITY = {"handID": "x", "handEventRecord": [{"data": "{}", "eventPos": 1, "eventType": 1}]}

FOREIGN: dict[str, tuple[Any, str]] = {
    "bytes as node writes them": (
        {**RECORD, "data": {"type": "Buffer", "data": [10, 21, 46, 108]}}, RAW,
    ),
    "bytes as text": ({**RECORD, "data": "ChUubHEuR2FtZURldGFpbFJlY29yZHM="}, RAW),
    "bytes as numbers": ({**RECORD, "data": [10, 21, 46, 108]}, RAW),
    "undecoded actions": (
        {"head": {}, "data": {"data": {"version": 210715, "actions": [{"result": "CgA="}]}}}, RAW,
    ),
    "a live stream": ([LIVE, LIVE], "is a live stream of Mahjong Soul (ActionNewRound and so on)"),
    "local yaku": (with_detail(guyi_mode=1), "a special room of Mahjong Soul (local yaku, guyi"),
    "field spells": (with_detail(field_spell_mode=1), "(field spells, field_spell_mode)"),
    "odd points": (with_detail(init_point=12345), "start_points: 12345 is not a multiple of 100"),
    "a special message": (with_message("RecordSelectGap"), "(the message RecordSelectGap)"),
    "short names": ({"rounds": SHORT}, IN_SHORT),
    "short names with a header": ({"header": {}, "data": SHORT}, IN_SHORT),
    "a list of short names": (SHORT, IN_SHORT),
    "three players": (THREE, "is a three-player game"),
    "Riichi City": ({"code": 0, "data": {"handRecord": [CITY]}}, "a raw record of Riichi City"),
    "a hand of Riichi City": (CITY, "a raw record of Riichi City"),
    "hands of Riichi City": ([CITY], "a raw record of Riichi City"),
}  # fmt: skip


@pytest.mark.parametrize("case", FOREIGN)
def test_other_rooms_and_raw_records_are_refused_by_name(case: str, tmp_path: Path) -> None:
    value, problem = FOREIGN[case]
    with pytest.raises(ForeignRecordError) as caught:
        walk(saved(value, tmp_path))
    assert problem in str(caught.value) and "\n" not in str(caught.value)


def walk(path: Path, players: tuple[int, ...] = (4,)) -> list[Game]:
    (source,) = list_sources(path)
    games = list(games_of(source, players))
    for game in games:
        list(game.entries)
    return games


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\n\x15.lq.GameDetailRecords\x12\x9a\xae\x05", RAW),
        (b'name: ".lq.GameDetailRecords"\ndata: "\\n\\026.lq.RecordNewRound"\n', PRINTED),
        (b'head {\n  uuid: "x"\n  accounts {\n    seat: 1\n  }\n}\n', PRINTED),
        (b'chang: 0\nju: 1\ntiles0: "1m"\ntiles0: "2m"\n', PRINTED),
        (b'1: ".lq.GameDetailRecords"\n2 {\n  1: 2\n}\n', PRINTED),
        (b"title: notes\nauthor: me\n", "is no record of a game"),
        (json.dumps(RECORD).encode()[:-200], "the JSON is cut off"),
        (json.dumps(LIVE).encode() + b"\n" + json.dumps(LIVE).encode(), "is a live stream of"),
        (b'{"head": {}, "records": [{"name": ".lq.RecordNoTile", "data": {}}]}', "holds no hand"),
        (json.dumps(damaged(0, doras=[])).encode(), "hand 1: RecordNewRound: names no dora"),
        (json.dumps(damaged(0, ju=7)).encode(), "hand 1: RecordNewRound.ju: Expected `int` <= 3"),
        (json.dumps(damaged(0, scores="x")).encode(), "RecordNewRound.scores: Expected `array`"),
    ],
    ids=[
        "protobuf",
        "printed",
        "a printed head",
        "a printed deal",
        "numbers",
        "no print",
        "cut off",
        "lines of a stream",
        "no deal",
        "dora",
        "a dealer",
        "points",
    ],
)
def test_what_cannot_be_read_is_named(data: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)
    with pytest.raises(RecordError) as caught:
        walk(path)
    assert problem in str(caught.value) and "\n" not in str(caught.value)


def test_the_rules_of_a_room_are_those_of_its_record(tmp_path: Path) -> None:
    points = {"init_point": 30000, "fandian": 35000, "jingsuanyuandian": 30000}
    uma = {"shunweima_2": 5, "shunweima_3": -5, "shunweima_4": -15}
    on = (
        "have_yifa", "have_sanjiahele", "have_qieshangmanguan", "have_sifenglianda",
        "have_biao_dora", "have_gang_biao_dora", "have_gang_li_dora", "have_li_dora",
        "have_helelianzhuang",
    )  # fmt: skip
    off = {"shiduan": 0, "can_jifei": 0, "dora_count": 0, "disable_angang_guoshi": True}
    value = with_detail(**points, **uma, **dict.fromkeys(on, True), **off)
    value["head"]["config"]["mode"]["mode"] = 2
    (game,) = open_games(saved(value, tmp_path))
    assert Rules.read(next(iter(game.entries)).event.mjbot_rules) == Rules(
        open_tanyao=False, bust=False, red_fives=False, start_points=30000, target_points=35000,
        return_points=30000, uma=(15000, 5000, -5000, -15000), double_yakuman=True, pao_part=True,
        kiriage=True, agari_yame=False, tenpai_yame=False, extension=False,
        four_kans_draw=False, four_riichi_draw=False, nine_terminals_draw=False,
        nagashi=False, tenpai_renchan=False, triple_ron_paid=False, kokushi_ankan=False,
    )  # fmt: skip


def test_defaults_that_a_writer_adds_are_no_rules(tmp_path: Path) -> None:
    value = with_detail(init_point=0, dora_count=0, shiduan=0, can_jifei=False, have_yifa=False)
    for one in messages_of(value):
        one["data"] |= {"doras": one["data"].get("doras", []), "dora": "", "operation": None}
        for payment in one["data"].get("scores", []):
            if isinstance(payment, dict):
                payment.setdefault("delta_scores", [])
    (game,) = open_games(saved(value, tmp_path))
    (start, _), *events = events_of(complete(game))
    assert events == events_of(PLAYED)[1:] and start.mjbot_rules == SITE.announced


# --- bad hands -------------------------------------------------------------------------------


CALL = next(at for at, one in enumerate(messages_of(THREE)) if "ChiPeng" in one["name"])
CALLER = messages_of(THREE)[CALL]["data"]["seat"]
BAD: dict[str, tuple[Json, str]] = {
    "no tile": (damaged(1, tile="8z"), "RecordDiscardTile.tile: Expected `str` matching regex"),
    "not held": (damaged(1, tile="0p"), "which it does not hold"),
    "a seat": (damaged(2, seat=4), "RecordDealTile.seat: Expected `int` <= 3"),
    "a deal too short": (damaged(0, tiles0=["1m"]), "RecordNewRound.tiles0: has 1 tiles"),
    "a north of four players": (with_message("RecordBaBei"), "only three players set norths aside"),
    "a fourth player": (damaged(2, THREE, seat=3), "DealTile: names seat 3 of three players"),
    "a tile of a fourth player": (
        damaged(CALL, THREE, froms=[CALLER, CALLER, 3]),
        "ChiPengGang: names seat 3 of three players",
    ),
    "a fourth dealer": (damaged(0, THREE, ju=3), "NewRound: names seat 3 of three players"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_hand_costs_no_other(case: str, tmp_path: Path) -> None:
    value, problem = BAD[case]
    (game,) = walk(saved(value, tmp_path), players=(3, 4))
    (error,) = game.hands.unreadable
    assert error.place == "hand 1" and problem in str(error)
    assert len(game.hands.without_result) == 1


# --- rules of the site -----------------------------------------------------------------------


ON_FIVE_PIN = ["05p", "234m678m345s46p22s", "234m567m234s46p88s", "345m678s567s46p88m"]


def three_rons() -> Json:
    """Return a hand in which three win a red five, each of a value that all payments have."""
    value = record(
        first_kyoku(
            Scripted(ON_FIVE_PIN, "7z").discard(0, "5pr").together({1: "ron", 2: "ron", 3: "ron"})
        )
    )
    wins = [
        {"seat": seat, "hu_tile": "0p", "count": 2, "fu": 40, "point_rong": 2600, "fans": []}
        for seat in (1, 2, 3)
    ]
    messages_of(value)[-1] = soul("Hule", hules=wins, delta_scores=[-7800, 2600, 2600, 2600])
    return value


def double_yakuman() -> Json:
    game = Scripted(["9s", "111m222p333s444p9s", "", ""], "1z", dora="7z")
    value = record(first_kyoku(game.discard(0, "9s").do(1, "ron")))
    won = messages_of(value)[-1]["data"]
    won["hules"][0] |= {"point_rong": 64000, "fans": [{"id": 48, "val": 2}]}
    won["delta_scores"] = [-64000, 64000, 0, 0]
    return value


def robbed_concealed_kan() -> Json:
    game = Scripted(["1111m", "99m19p19s1234567z", "", ""], "2m", dora="5p")
    value = record(first_kyoku(game.to_turn(0).do(0, "ankan")))
    kan = next(at for at, one in enumerate(messages_of(value)) if "AnGang" in one["name"])
    win = {"seat": 1, "hu_tile": "1m", "yiman": True, "count": 1, "point_rong": 32000}
    won = soul("Hule", hules=[win | {"fans": [{"val": 1}]}], delta_scores=[-32000, 32000, 0, 0])
    messages_of(value)[kan].get("data", {}).pop("doras", None)
    value["data"]["data"]["records"] = [*messages_of(value)[: kan + 1], won]
    return value


def pao_for_its_part() -> Json:
    game = Scripted(["567z", "147m1112556677z", "", "2z"])
    for dragon, tile in (("P", "1m"), ("F", "4m"), ("C", "7m")):
        game.discard(0, dragon).do(1, "pon").discard(1, tile)
    value = record(first_kyoku(game.discard(3, "S").do(1, "ron")))
    messages_of(value)[-1]["data"]["delta_scores"] = [-16000, 64000, 0, -48000]
    return value


OTHER_RULES: dict[Callable[[], Json], str] = {
    three_rons: "three rons are a draw (docs/rules.md 5.3), but all are paid",
    double_yakuman: "double yakuman",
    robbed_concealed_kan: "a concealed kan may not be robbed (docs/rules.md 4.5)",
    pao_for_its_part: "pao for its own yakuman only",
}


@pytest.mark.parametrize("made", OTHER_RULES, ids=lambda made: made.__name__)
def test_a_rule_of_the_site_is_named(made: Callable[[], Json], tmp_path: Path, capsys) -> None:
    path = str(saved(made(), tmp_path))
    assert main(["replay", path]) == ExitCode.OK
    assert "rules mahjong-soul" in capsys.readouterr().err
    assert main(["replay", "--rules", "tenhou", path]) == ExitCode.FAILED
    printed = capsys.readouterr()
    assert OTHER_RULES[made] in printed.err and "1 mismatch" in printed.out
    assert "a rule of mahjong-soul: --rules mahjong-soul" in printed.err


def test_a_review_goes_past_a_double_yakuman(tmp_path: Path) -> None:
    path = saved(double_yakuman(), tmp_path)
    words = ["review", str(path), "--seat", "0", "--by", "fast-riichi-d", "--playouts", "0"]
    assert main([*words, "--out", str(tmp_path / "review.html")]) == ExitCode.OK


def test_a_walk_through_the_choices_names_the_rule(tmp_path: Path) -> None:
    path = saved(double_yakuman(), tmp_path)
    assert list(steps(path))
    with pytest.raises(TableError, match="double yakuman, a rule of mahjong-soul"):
        list(steps(path, rules=RANKED))


# --- abortive draws --------------------------------------------------------------------------


def four_kans(rules: Rules) -> Scripted:
    """Seat 0 and seat 1 have two concealed kans each."""
    hands = ["1111m7777s234p78p", "9999m8888s567p1z2z", "", ""]
    game = Scripted(hands, "3z4z", dora="9p", rinshan="3z3z4z4z", rules=rules)
    game.do(0, "ankan 1m").do(0, "ankan 7s").discard(0, "W")
    return game.do(1, "ankan 9m").do(1, "ankan 8s")


def four_riichi(rules: Rules) -> Scripted:
    hands = [
        "123m456p789s23m99s",
        "123p456p789p23p9m9m",
        "123s456s789m45s1p1p",
        "456m678m345s78s2p2p",
    ]
    game = Scripted(hands, "1z2z3z4z", dora="5z", rules=rules)
    for seat, tile in enumerate("ESWN"):
        game.riichi(seat, tile)
    return game


def four_winds(rules: Rules) -> Scripted:
    game = Scripted(["1z", "1z", "1z", "1z"], rules=rules)
    for seat in range(4):
        game.discard(seat, "E")
    return game


def nine_kinds(rules: Rules) -> Scripted:
    return Scripted(["19m19p19s1234z555m", "", "", ""], rules=rules).do(0, "nine terminals")


def three_rons_draw(rules: Rules) -> Scripted:
    rules = msgspec.structs.replace(rules, triple_ron_paid=False)
    game = Scripted(ON_FIVE_PIN, "7z", rules=rules).discard(0, "5pr")
    return game.together({1: "ron", 2: "ron", 3: "ron"})


ABORTS: dict[Callable[[Rules], Scripted], tuple[int, str]] = {
    nine_kinds: (1, "kyushukyuhai"),
    four_winds: (2, "sufonrenta"),
    four_kans: (3, "sukaikan"),
    four_riichi: (4, "suchareach"),
    three_rons_draw: (5, "sanchaho"),
}
"""With the number that the site's client has for each."""


def aborted(play: Callable[[Rules], Scripted], number: int) -> Json:
    rules = msgspec.structs.replace(SITE, length="hanchan")
    value = record(first_kyoku(play(rules)))
    value["head"]["config"]["mode"]["detail_rule"] = DRAW_BY_RONS if play is three_rons_draw else {}
    last = messages_of(value)[-1]
    assert last["name"] == ".lq.RecordLiuJu"
    last["data"]["type"] = number
    return value


DRAW_BY_RONS = {
    "init_point": 25000,
    "fandian": 30000,
    "have_sanjiahele": True,
    "have_toutiao": False,
}


@pytest.mark.parametrize("number", [*range(6), 9])
@pytest.mark.parametrize("play", ABORTS, ids=lambda play: play.__name__)
def test_the_table_says_which_abortive_draw_it_is(play, number, tmp_path, capsys) -> None:
    """Whatever the writer calls it: the table leaves no choice in these."""
    path = saved(aborted(play, number), tmp_path)
    assert main(["replay", str(path)]) == ExitCode.OK, capsys.readouterr()
    assert "no mismatch" in capsys.readouterr().out
    (game,) = walk(path)
    assert main(["convert", str(path), str(tmp_path / "out.mjson")]) == ExitCode.OK
    lines = map(json.loads, (tmp_path / "out.mjson").read_text().splitlines())
    (draw,) = [line for line in lines if line["type"] == "ryukyoku"]
    assert draw["reason"] == ABORTS[play][1]
    assert not game.hands.unreadable


def test_the_form_numbers_draws_as_the_client_does() -> None:
    assert {ABORTS[play][1]: ABORTS[play][0] for play in ABORTS} == DRAWS


@pytest.mark.parametrize(("number", "reason"), [(4, "suchareach"), (5, "sanchaho")])
def test_the_number_chooses_where_the_table_leaves_a_choice(number, reason, tmp_path) -> None:
    """The fourth riichi's discard completes three hands: its stick is paid only if none wins."""
    rules = msgspec.structs.replace(SITE, length="hanchan", triple_ron_paid=False)
    waits = ["46m123p456p789p99s", "46m234s567s789s88p", "46m345s678s111p22p"]
    game = Scripted([*waits, "123789m33399m56p"], "1z2z3z5m", dora="5z", rules=rules)
    for seat, tile in enumerate("ESW"):
        game.riichi(seat, tile)
    game.riichi(3, "5m")
    game.together({seat: "ron" if number == 5 else "pass" for seat in range(3)})
    value = record(first_kyoku(game))
    value["head"]["config"]["mode"]["detail_rule"] = DRAW_BY_RONS
    messages_of(value)[-1]["data"]["type"] = number
    path = saved(value, tmp_path)
    assert main(["replay", str(path)]) == ExitCode.OK
    (events,) = [[entry.event for entry in game.entries] for game in open_games(path)]
    accepted = [event.actor for event in events if isinstance(event, m.ReachAccepted)]
    assert events[-2].reason == reason and accepted == [0, 1, 2, 3][: 4 - (number == 5)]


# --- several rons ----------------------------------------------------------------------------

WAITS = ["6s56z", "234p456p678p22s78s", "78s556677z99m147p"]


def dragons(liable: int, winners: tuple[int, ...], honba: int, players: int) -> Scripted:
    """Let seat 2 win by big three dragons, of which ``liable`` gave the third, and others along."""
    hands = ["6s567z" if liable == 0 else "6s56z", WAITS[1], WAITS[2], "7z" if liable == 3 else ""]
    draws = {4: "1z2z3z4z1z7z", 3: "1z3z1z7z"}[players] if liable == 1 else ""
    rules = Rules(players=players).under("mahjong-soul")
    position = Position(0, honba)
    game = Scripted(hands[:players], draws, dora="1z", rules=rules, position=position)
    game.discard(0, "P").do(2, "pon").discard(2, "1p")
    game.discard(0, "F").do(2, "pon").discard(2, "4p")
    game.discard(liable, "C").do(2, "pon").discard(2, "7p")
    return game.discard(0, "6s").together(dict.fromkeys(winners, "ron"))


RONS = {
    # 2,000 of seat 1, and 32,000 of which the liable seat gives half
    "the farther winner's": (3, (1, 2), 0, 4, [(-2000, 2000, 0, 0), (-16000, 0, 32000, -16000)]),
    # honba go to the nearer winner
    "with honba": (3, (1, 2), 2, 4, [(-2600, 2600, 0, 0), (-16000, 0, 32000, -16000)]),
    "the nearer winner is liable": (
        1, (1, 2), 1, 4, [(-2300, 2300, 0, 0), (-16000, -16000, 32000, 0)],
    ),
    "the discarder is liable": (0, (1, 2), 1, 4, [(-2300, 2300, 0, 0), (-32000, 0, 32000, 0)]),
    "three players": (1, (1, 2), 1, 3, [(-2200, 2200, 0, 0), (-16000, -16000, 32000, 0)]),
}  # fmt: skip


@pytest.mark.parametrize("is_told", [True, False], ids=["with baopai", "without"])
@pytest.mark.parametrize("case", RONS)
def test_rons_with_a_liable_seat_are_split(case: str, is_told: bool, tmp_path: Path) -> None:
    """The message has the sum alone; who is liable follows from the calls."""
    liable, winners, honba, players, moved = RONS[case]
    value = record(first_kyoku(dragons(liable, winners, honba, players)))
    value["head"]["config"]["mode"]["detail_rule"] = {}
    last = messages_of(value)[-1]["data"]
    assert last["delta_scores"] == [sum(part) for part in zip(*moved, strict=True)][:players]
    for hule in last["hules"]:
        if hule["yiman"] and is_told:
            hule |= {"baopai": liable + 1, "baopai_seats": [liable]}
    path = saved(value, tmp_path)
    assert main(["replay", str(path)]) == ExitCode.OK
    (game,) = walk_events(path)
    wins = [event for event in game if isinstance(event, m.Hora)]
    assert [win.deltas for win in wins] == moved
    out = tmp_path / "out.mjson"
    assert main(["convert", str(path), str(out)]) == ExitCode.OK
    assert main(["replay", str(out)]) == ExitCode.OK


def walk_events(path: Path) -> list[list[m.Event]]:
    (source,) = list_sources(path)
    return [[entry.event for entry in game.entries] for game in games_of(source, players=(3, 4))]


# --- gaps and markers ------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [None, [], [None]], ids=["null", "empty", "a gap"])
def test_what_a_message_lacks_has_its_default(gap: Any) -> None:
    payment = {"delta_scores": gap} if gap != [None] else None
    message = lq.read_message({"name": "RecordNoTile", "data": {"scores": [payment]}})
    assert message in (lq.NoTile(scores=(lq.Payment(),)), lq.NoTile())


def test_a_north_goes_before_the_indicators_that_its_message_turns() -> None:
    """Those are of an open kan before it."""
    deal = lq.NewRound(
        scores=(35000,) * 3, doras=("9s",), tiles0=tuple(parse("1119p234678s11z4z9m")),
        tiles1=tuple(parse("19m19p19s1234567z")), tiles2=tuple(parse("2222p3333p4444p5z")),
    )  # fmt: skip
    played = [lq.BaBei(seat=0, doras=("9s", "8s"))]
    events = hand_events(deal, played, Rules(players=3).under("mahjong-soul"))
    names = [type(event).__name__ for event in events]
    assert names.index("Kita") < names.index("Dora")


def parse(tiles: str) -> list[str]:
    return [text(name) for name in tile_names(parse_tiles(tiles))]


@pytest.mark.parametrize(("number", "reason"), [(3, "sukaikan"), (4, "suchareach")])
def test_a_fourth_riichi_after_a_fourth_kan_is_what_the_record_calls_it(
    number: int, reason: str, tmp_path: Path
) -> None:
    hands = ["1111m9999m34p55z6z", "8888s123p678p45s3z", "234m567m234s67s44z", "9999p345m678m56p7z"]
    rules = msgspec.structs.replace(SITE, length="hanchan")
    game = Scripted(hands, "6z1z1z3z", dora="1z", rinshan="6z2z3z7z", rules=rules)
    game.do(0, "ankan 1m").do(0, "ankan 9m").riichi(0, "S")
    game.do(1, "ankan 8s").riichi(1, "E").riichi(2, "E")
    game.do(3, "ankan 9p").riichi(3, "W")
    assert called(first_kyoku(game), number, tmp_path) == reason


def called(game: CompleteGame, number: int, folder: Path) -> str:
    """Return the reason of an abortive draw that a record calls by this number."""
    value = record(game)
    value["head"]["config"]["mode"]["detail_rule"] = {}
    assert messages_of(value)[-1]["data"]["type"] == DRAWS["suchareach"]
    messages_of(value)[-1]["data"]["type"] = number
    path = saved(value, folder)
    assert main(["replay", str(path)]) == ExitCode.OK
    draw = walk_events(path)[0][-2]
    assert isinstance(draw, m.Ryukyoku) and draw.reason
    return draw.reason


@pytest.mark.parametrize(("number", "reason"), [(2, "sufonrenta"), (4, "suchareach")])
def test_a_fourth_riichi_by_the_fourth_equal_wind_is_what_the_record_calls_it(
    number: int, reason: str, tmp_path: Path
) -> None:
    hands = ["123m456p789s23m99s", "123p456p789p23p9m9m", "123s456s789m45s1p1p"]
    rules = msgspec.structs.replace(SITE, length="hanchan")
    game = Scripted([*hands, "456m678m345s78s2p2p"], "1z1z1z1z", dora="5z", rules=rules)
    for seat in range(4):
        game.riichi(seat, "E")
    assert called(first_kyoku(game), number, tmp_path) == reason
