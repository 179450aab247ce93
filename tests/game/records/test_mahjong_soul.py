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
from mjbot.game.records.complete import complete
from mjbot.game.records.game import ForeignRecordError, Game, RecordError
from mjbot.game.records.sources import games_of, list_sources, open_games
from mjbot.game.table.mirror.mirror import TableError
from mjbot.protocol.rules import RANKED, Rules
from mjbot.runtime.errors import ExitCode
from tests.game.records.formats import events_of, first_kyoku, random_game, report
from tests.game.records.soul_form import Json, messages_of, record, with_actions
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

FORMS: dict[str, Callable[[Json], Any]] = {
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
    if form == "without a head":
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
RAW = "is a raw record of Mahjong Soul (protobuf); save it decoded, as JSON"

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
        (json.dumps(RECORD).encode()[:-200], "the JSON is cut off"),
        (json.dumps(LIVE).encode() + b"\n" + json.dumps(LIVE).encode(), "is a live stream of"),
        (b'{"head": {}, "records": [{"name": ".lq.RecordNoTile", "data": {}}]}', "holds no hand"),
        (json.dumps(damaged(0, doras=[])).encode(), "hand 1: RecordNewRound: names no dora"),
        (json.dumps(damaged(0, ju=7)).encode(), "hand 1: RecordNewRound.ju: Expected `int` <= 3"),
        (json.dumps(damaged(0, scores="x")).encode(), "RecordNewRound.scores: Expected `array`"),
    ],
    ids=["protobuf", "cut off", "lines of a stream", "no deal", "dora", "a dealer", "points"],
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
    on = dict.fromkeys(
        ("have_yifa", "have_sanjiahele", "have_qieshangmanguan", "have_sifenglianda"), True
    )
    off = {"shiduan": 0, "can_jifei": 0, "dora_count": 0, "disable_angang_guoshi": True}
    value = with_detail(**points, **uma, **on, **off)
    value["head"]["config"]["mode"]["mode"] = 2
    (game,) = open_games(saved(value, tmp_path))
    assert Rules.read(next(iter(game.entries)).event.mjbot_rules) == Rules(
        open_tanyao=False, bust=False, red_fives=False, start_points=30000, target_points=35000,
        return_points=30000, uma=(15000, 5000, -5000, -15000), double_yakuman=True, pao_part=True,
        kiriage=True, agari_yame=False, tenpai_yame=False, extension=False,
        four_kans_draw=False, four_riichi_draw=False, nine_terminals_draw=False,
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
