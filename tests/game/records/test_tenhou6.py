"""Reading tenhou.net/6: the order of events, what it may look like, and what is wrong with it."""

import gzip
import json
import random
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mjbot.cli.main import main
from mjbot.game.records.complete import complete
from mjbot.game.records.game import RecordError
from mjbot.game.records.mjai_log import log_line, read_mjai_log
from mjbot.game.records.mjlog_writer import write_mjlog
from mjbot.game.records.sources import games_of, list_sources, open_games
from mjbot.game.records.tenhou6 import order
from mjbot.game.records.tenhou6.hands import Claim, Draw, HandColumns, Play, RiverEntry, SeatColumns
from mjbot.game.records.tenhou6.order import orders
from mjbot.game.records.tenhou6.reader import read_tenhou6
from mjbot.game.records.tenhou6.results import DrawEntry, read_result
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.protocol import messages as m
from mjbot.runtime.errors import ExitCode
from tests.game.records.formats import (
    check_round_trips,
    first_kyoku,
    hand_of,
    stream,
)

# --- order -----------------------------------------------------------------------------------


def test_a_call_of_the_second_of_two_equal_discards(scripted) -> None:
    # Seat 0 discards 1m, pons what seat 1 discards, discards 1m again; only now seat 2 pons.
    game = scripted(["11m55z", "5z", "11m", ""], "9s")
    game.discard(0, "1m").discard(1, "P").do(0, "pon").discard(0, "1m").do(2, "pon")
    report = first_kyoku(game)
    assert hand_of(report)[11][0] == "11p1111"
    check_round_trips(report)


@dataclass
class MadeUpHand:
    """Turns at random with few tiles, so that equal discards and calls meet all the time."""

    rng: random.Random
    draws: list[list[Draw]] = field(default_factory=lambda: [[], [], [], []])
    plays: list[list[Play]] = field(default_factory=lambda: [[], [], [], []])
    output: list[tuple[str, int]] = field(default_factory=list)

    def play(self, turns: int) -> HandColumns:
        seat, called = 0, False
        for _ in range(turns):
            if not called:
                self.draws[seat].append(self.tile())
                self.output.append(("Tsumo", seat))
            tile = self.tile()
            self.plays[seat].append(RiverEntry(tile))
            self.output.append(("Dahai", seat))
            seat, called = self.next(seat, tile)
        columns = zip(self.draws, self.plays, strict=True)
        seats = tuple(SeatColumns((), tuple(draws), tuple(plays)) for draws, plays in columns)
        return HandColumns(0, 0, 0, (0, 0, 0, 0), ("E",), (), seats, [])

    def tile(self) -> str:
        return self.rng.choice(["1m", "2m"])

    def next(self, seat: int, tile: str) -> tuple[int, bool]:
        if self.rng.random() < 0.5:
            return (seat + 1) % 4, False
        step = self.rng.randint(1, 3)
        caller = (seat + step) % 4
        kind = self.rng.choice(["pon", "pon", "chi" if step == 1 else "pon"])
        self.draws[caller].append(Claim(kind, 4 - step, tile, (tile, tile)))
        self.output.append((kind.capitalize(), caller))
        return caller, True


@pytest.mark.parametrize("seed", range(20))
def test_only_one_order_uses_up_the_columns(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(40):
        made_up = MadeUpHand(rng)
        hand = made_up.play(rng.randint(1, 24))
        (events,) = orders(hand, -1)
        assert [(type(event).__name__, event.actor) for event in events] == made_up.output


def test_no_more_orders_are_tried_than_the_bound_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    class WithoutCalls(random.Random):
        def random(self) -> float:
            return 0.0

    hand = MadeUpHand(WithoutCalls(1)).play(12)
    monkeypatch.setattr(order, "MOST_EVENTS", 12)
    assert len(list(orders(hand, -1))) == 1
    monkeypatch.setattr(order, "MOST_EVENTS", 11)
    with pytest.raises(ValueError, match="too many orders of events"):
        list(orders(hand, -1))


# --- files -----------------------------------------------------------------------------------


def four_winds_json(scripted) -> dict[str, Any]:
    game = scripted(["2z", "2z", "2z", "2z"])
    for seat in range(4):
        game.discard(seat, "S")
    return json.loads(write_tenhou6(first_kyoku(game)))


def damage(value: Any) -> str:
    """Return what is wrong with a game, without the file's name."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    with pytest.raises(RecordError) as caught:
        for game in read_tenhou6(stream(data), "x"):
            list(game.entries)
            for error in game.hands.unreadable:
                raise error
    output = str(caught.value)
    assert output.startswith("x: ") and "\n" not in output and len(output) < 200
    return output.removeprefix("x: ")


@pytest.fixture
def own(scripted) -> dict[str, Any]:
    return four_winds_json(scripted)


def test_one_game_an_array_or_one_per_line(own, tmp_path: Path) -> None:
    one = json.dumps(own)
    for name, text, count in [
        ("one.json", one, 1),
        ("pretty.json", json.dumps(own, indent=2), 1),
        ("array.txt", f"[{one},\n{one}, {one}]\n", 3),
        ("pretty-array", json.dumps([own, own], indent=1), 2),
        ("lines.mjlog", f"{one}\n{one}\n\n", 2),
        ("bom.json", f"\ufeff {one}", 1),
    ]:
        path = tmp_path / name
        path.write_text(text, "utf-8")
        games = list(open_games(path))
        assert [game.name for game in games] == [
            str(path) if at == 1 else f"{path}#{at}" for at in range(1, count + 1)
        ]
        assert {len(list(game.entries)) for game in games} == {12}
    assert games[0].place(3) == "hand 3"


def test_it_is_found_in_zips_and_behind_gzip(own, tmp_path: Path) -> None:
    data = json.dumps(own).encode()
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("b.json", data)
        archive.writestr("c.json.gz", gzip.compress(data))
    (tmp_path / "figures.json").write_text('{"v": 1}')
    names = [game.name for source in list_sources(tmp_path) for game in games_of(source)]
    assert names == [f"{tmp_path}/a.zip/b.json", f"{tmp_path}/a.zip/c.json.gz"]


def test_many_games_in_one_array_are_read_one_by_one(own, tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text(json.dumps([own] * 5000), "utf-8")
    assert path.stat().st_size > 2 << 20
    assert sum(1 for _ in open_games(path)) == 5000


def test_a_bad_game_among_good_ones_leaves_the_others(own, tmp_path: Path) -> None:
    bad = json.loads(json.dumps(own))
    bad["log"][0][4][0] = 99
    path = tmp_path / "all.json"
    path.write_text(json.dumps([own, bad, own]), "utf-8")
    read = []
    for game in open_games(path):
        try:
            read.append(len(list(game.entries)))
        except RecordError as error:
            read.append(str(error))
    assert read == [12, f"{path}#2: hand 1: [4][0]: 99 is no tile", 12]


# --- damage ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        ([], {"name": []}, 'an object with a "log" belongs here'),
        (["log"], [], "log: is no list of hands"),
        (["log"], 7, "log: is no list of hands"),
        (["name"], ["a"], "name: is no list of four names"),
        (["sc"], [1, 2], "sc: is no final result"),
        (["log", 0], {}, "hand 1: is no list"),
        (["log", 0], [[]], "hand 1: has 1 parts where 17 belong"),
        (["log", 0, 0], [0, 0], "hand 1: [0]: has 2 parts where 3 belong"),
        (["log", 0, 0], [16, 0, 0], "hand 1: [0]: [16, 0, 0] is no kyoku, honba and sticks"),
        (["log", 0, 1, 2], "x", "hand 1: [1][2]: x is no number of points or sticks"),
        (["log", 0, 2], [], "hand 1: [2]: names no dora indicator"),
        (["log", 0, 2, 0], 60, "hand 1: [2][0]: 60 is no tile"),
        (["log", 0, 4], [11], "hand 1: [4]: has 1 start tiles where 13 belong"),
        (["log", 0, 5, 0], "c1112", 'hand 1: [5][0]: "c1112" is no call'),
        (["log", 0, 5, 0], "1112c13", 'hand 1: [5][0]: "1112c13" is a call from no seat'),
        (["log", 0, 5, 0], [11], "hand 1: [5][0]: [11] is no tile"),
        (["log", 0, 6, 0], "f44", 'hand 1: [6][0]: "f44" is neither a discard nor a kan'),
        (["log", 0, 6, 0], "41x", 'hand 1: [6][0]: "41x" is no call'),
        (["log", 0, 6, 0], True, "hand 1: [6][0]: True is no tile"),
        (["log", 0, 16], "和了", "hand 1: [16]: is no list"),
        (["log", 0, 16], [7], "hand 1: [16]: does not begin with a text"),
        (
            ["log", 0, 16],
            ["引分"],
            'hand 1: [16][0]: "引分" is neither a win nor a draw',
        ),
        (
            ["log", 0, 16],
            ["和了", [0, 0, 0, 0]],
            "hand 1: [16]: has 2 parts; after 和了",
        ),
        (["log", 0, 16], ["和了", [0], [0, 0, 0]], "hand 1: [16][1]: has 1 parts where 4 belong"),
        (
            ["log", 0, 16],
            ["和了", [0, 0, 0, 0], [4, 0, 0]],
            "hand 1: [16][2][0]: 4 is no seat, seats are 0..3",
        ),
        (
            ["log", 0, 16],
            ["和了", [0, 0, 0, 0], [1, 0, 1, "30符1飜1000点"]],
            "hand 1: [16]: seat 1 wins a tile of seat 0, which is not there",
        ),
        (["log", 0, 5], [], "hand 1: seat 0 is to draw, but its 0 draws are used up"),
        (["log", 0, 6], [], "hand 1: seat 0 is to discard, but its 0 discards are used up"),
        (["log", 0, 6, 0], 0, "hand 1: seat 0 is to discard, but its discard 0 is 0"),
        (["log", 0, 2], [11, 12], "hand 1: [2]: has 2 dora indicators, but 1 are turned"),
        (["log", 0, 6, 0], 29, "hand 1: seat 0 plays 9p, which it does not hold"),
    ],
)
def test_damage_names_the_field_and_the_place(own, place, value, problem) -> None:
    if not place:
        own = value
    else:
        inner = own
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
    assert damage(own).startswith(problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"log":[[', "game 1: the JSON is cut off (this game begins at line 1)"),
        (b'{"log":[[x]]}', "game 1: not JSON (Expecting value at line 1, character 10)"),
        (b'{"log":\n[\n[x]]}', "game 1: not JSON (Expecting value at line 3, character 2)"),
        (b'\n{"log":[[1]]}\n {"log":', "game 2: the JSON is cut off (this game begins at line 3)"),
        (b'[{"log":[[1]]}', "game 2: the JSON is cut off"),
        (b'{"log":[["\xff"]]}', "game 1: is not UTF-8"),
        (b"[" * 200_000, "game 1: nested too deep"),
        (b'{"log":[[' + b"1" * 5000, "game 1: has an endless number"),
        (b'{"name":["\\uD83D\\uDE00","\\uD800"],"log":[[]]}', "game 1: has half of a character"),
        (b'{"log":["' + b"x" * (1 << 21), "game 1: no game ends within 1048576 characters"),
        (b'[[{"log":[]}]]', 'an object with a "log" belongs here'),
    ],
)
def test_damaged_json_names_the_game(text: bytes, problem: str) -> None:
    data = text
    with pytest.raises(RecordError) as caught:
        for game in read_tenhou6(stream(data), "x"):
            try:
                list(game.entries)
            except RecordError as error:
                if "hand 1" not in str(error):
                    raise
    assert str(caught.value).startswith(f"x: {problem}")


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ("般南赤", {"length": "hanchan", "open_tanyao": False}),
        ("鳳東喰", {"length": "tonpu", "red_fives": False}),
        ("鳳南喰赤", None),
        ("a club's table", None),
    ],
)
def test_the_name_of_a_table_gives_its_rules(own, words: str, rules: object) -> None:
    own["rule"] = {"disp": words}
    (game,) = read_tenhou6(stream(json.dumps(own).encode()), "x")
    assert next(iter(game.entries)).event.mjbot_rules == rules


@pytest.mark.parametrize(
    ("fields", "has_red_fives"),
    [
        ({}, False),
        ({"aka": 0}, False),
        ({"aka51": 0, "aka52": 0, "aka53": 0}, False),
        ({"aka": 1}, True),
        ({"aka51": 1, "aka52": 1, "aka53": 1}, True),
        ({"aka52": 2}, True),
    ],
)
def test_red_fives_are_announced_by_number_or_by_name(own, fields, has_red_fives) -> None:
    own["rule"] = {"disp": "般東喰", **fields}
    (game,) = read_tenhou6(stream(json.dumps(own).encode()), "x")
    rules = next(iter(game.entries)).event.mjbot_rules
    assert rules == {"length": "tonpu"} | ({} if has_red_fives else {"red_fives": False})


@pytest.mark.parametrize("how", ["aka", "nothing", "mjai"])
def test_a_game_with_red_fives_is_written_whatever_it_announces(scripted, how: str) -> None:
    made = first_kyoku(scripted(["123406789m99p45s"], "6s", dora="7z").do(0, "tsumo"))
    value = json.loads(write_tenhou6(made))
    value["rule"] = {"disp": "般東喰"} | ({"aka": 1} if how == "aka" else {})
    (game,) = read_tenhou6(stream(json.dumps(value).encode()), "x")
    if how == "mjai":
        data = b"".join(log_line(entry.event) for entry in game.entries)
        (game,) = read_mjai_log(stream(data), "x")
    whole = complete(game)
    assert whole.rules.red_fives
    assert b"<GO type" in write_mjlog(whole) and b"\xe8\xb5\xa4" in write_tenhou6(whole)


# --- words -----------------------------------------------------------------------------------


def test_words_of_another_tongue_leave_the_value_to_the_rules(scripted) -> None:
    report = first_kyoku(scripted(["123456789m99p45s"], "6s", dora="7z").do(0, "tsumo"))
    value = json.loads(write_tenhou6(report))
    value["log"][0][16][2][3:] = ["40 Fu 3 Han 2600 all", "Full straight(2 han)"]
    (game,) = read_tenhou6(stream(json.dumps(value).encode()), "x")
    win = next(entry.event for entry in game.entries if isinstance(entry.event, m.Hora))
    assert (win.fu, win.fan, win.yakus, win.hora_points) == (None, None, None, None)
    (game,) = read_tenhou6(stream(json.dumps(value).encode()), "x")
    assert [entry.event for entry in complete(game).entries if entry.win] == [
        entry.event for entry in report.entries if entry.win
    ]


FANPAI, KANS, NAGASHI = "fanpai", "sukaikan", "nagashimangan"
DRAW_WORDS = {
    FANPAI: ("流局", "全員聴牌", "全員不聴", "荒牌平局", "Ryuukyoku", "Exhaustive Draw"),
    NAGASHI: ("流し満貫", "Nagashi Mangan", "Mangan at Draw"),
    "kyushukyuhai": ("九種九牌", "Kyuushu Kyuuhai", "Nine Terminal Abortion"),
    "sufonrenta": ("四風連打", "Suufon Renda", "Four Wind Abortion"),
    KANS: ("四槓散了", "四開槓", "Suukaikan", "Four Kan Abortion"),
    "suchareach": ("四家立直", "Suucha Riichi", "Four Riichi Abortion"),
    "sanchaho": ("三家和了", "三家和", "Sanchahou", "Three Ron Abortion"),
}


@pytest.mark.parametrize(
    ("reason", "word"), [(reason, word) for reason, words in DRAW_WORDS.items() for word in words]
)
@pytest.mark.parametrize("change", [str, str.upper, lambda word: f" {word} "])
def test_every_writers_word_for_a_draw_is_read(own, reason: str, word: str, change) -> None:
    own["log"][0][16] = [change(word), [0, 0, 0, 0]]
    (game,) = read_tenhou6(stream(json.dumps(own).encode()), "x")
    draws = [entry.event for entry in game.entries if isinstance(entry.event, m.Ryukyoku)]
    assert [draw.reason for draw in draws] == [reason]
    assert not game.hands.unreadable


def test_a_win_in_romaji_is_read(scripted) -> None:
    value = json.loads(
        write_tenhou6(first_kyoku(scripted(["123456789m99p45s"], "6s", dora="7z").do(0, "tsumo")))
    )
    value["log"][0][16][0] = "Agari"
    (game,) = read_tenhou6(stream(json.dumps(value).encode()), "x")
    assert any(isinstance(entry.event, m.Hora) for entry in game.entries)


@pytest.mark.parametrize("result", [["不明"], []])
def test_an_unknown_result_is_a_hand_without_one(own, result: list, tmp_path: Path, capsys) -> None:
    own["log"][0][16] = result
    path = tmp_path / "a.json"
    path.write_text(json.dumps(own), "utf-8")
    assert main(["replay", str(path)]) == ExitCode.OK
    printed = capsys.readouterr()
    assert "1 kyoku (1 without a result)" in printed.out
    assert f"{path}: 1 hand without a result: E1-0" in printed.err


# --- bad hands -------------------------------------------------------------------------------

SPOILS: dict[str, tuple[list, Any]] = {
    "a word": ([16], ["引分"]),
    "no changes": ([16], ["和了", [0, 0, 0, 0]]),
    "a win of nothing": ([16], ["和了", [0, 0, 0, 0], [1, 0, 1, "30符1飜1000点"]]),
    "a tile": ([4, 0], 99),
    "no hand": ([4], []),
    "a call": ([5, 0], "c1112"),
    "no draws": ([5], []),
    "a discard not held": ([6, 0], 29),
    "a column less": ([], None),
    "dora": ([2], [11, 12]),
}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("spoil", SPOILS)
def test_a_bad_hand_costs_that_hand(own, spoil: str, place: int, tmp_path, capsys) -> None:
    own["log"] = [json.loads(json.dumps(own["log"][0])) for _ in range(3)]
    for honba, hand in enumerate(own["log"]):
        hand[0][1] = honba
    inner, (keys, value) = own["log"][place], SPOILS[spoil]
    if not keys:
        inner.pop()
    for key in keys[:-1]:
        inner = inner[key]
    if keys:
        inner[keys[-1]] = value
    path = tmp_path / "a.json"
    path.write_text(json.dumps(own), "utf-8")
    assert main(["replay", str(path)]) == ExitCode.FAILED
    printed = capsys.readouterr()
    assert "3 kyoku (1 without a result)" in printed.out and "no mismatch" in printed.out
    assert "1 hand that cannot be read" in printed.out
    (line,) = [line for line in printed.err.splitlines() if "replaying" not in line]
    assert line.startswith(f"mjbot replay: {path}: hand {place + 1}: ")
    assert main(["convert", str(path), str(tmp_path / "a.mjson")]) == ExitCode.FAILED
    assert main(["replay", str(tmp_path / "a.mjson")]) == ExitCode.OK
    for form in ("mjlog", "tenhou6"):
        assert main(["convert", str(path), str(tmp_path / "x"), "--to", form]) == ExitCode.FAILED
        refusal = capsys.readouterr().err
        assert f"the hand E1-{place} has no result" in refusal or "is hidden" in refusal
        assert not (tmp_path / "x").exists()


def test_whole_floats_are_points(scripted) -> None:
    made = first_kyoku(scripted(["123456789m99p45s"], "6s", dora="7z").do(0, "tsumo"))
    value = json.loads(write_tenhou6(made))
    hand = value["log"][0]
    hand[1] = [float(score) for score in hand[1]]
    hand[16][1] = [float(change) for change in hand[16][1]]
    final = next(entry.event.scores for entry in made.entries if entry.win)
    value["sc"] = [float(part) for score in final for part in (score, 0)]
    (game,) = read_tenhou6(stream(json.dumps(value).encode()), "x")
    events = [entry.event for entry in game.entries]
    win = next(event for event in events if isinstance(event, m.Hora))
    assert all(isinstance(part, int) for part in (*win.deltas, *events[-1].scores))
    hand[1][0] = 25000.5
    (game,) = read_tenhou6(stream(json.dumps(value).encode()), "x")
    with pytest.raises(RecordError, match=r"25000\.5 is no number of points"):
        list(game.entries)


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        (["流局", None], True),
        (["流局", []], True),
        (["流局", [None, 0, 0, 0]], True),
        (["九種九牌", []], True),
        (["流局", [1500, -1500, 1500, -1500], None], True),
    ],
)
def test_a_draw_with_gaps_keeps_its_result(result, kept) -> None:
    entry = read_result(result)
    assert isinstance(entry, DrawEntry) is kept
    assert entry.deltas in (None, (1500, -1500, 1500, -1500))
    assert entry.is_open == (entry.deltas is None and entry.reason == "fanpai")


def test_a_win_with_gaps_keeps_its_result() -> None:
    win = ["和了", [None, 1000, -1000, 0], [1, 2, None, "30符1飜1000点", "断幺九(1飜)", None], None]
    (entry,) = read_result(win)
    assert (entry.deltas, entry.liable, entry.points) == ((0, 1000, -1000, 0), None, 1000)
