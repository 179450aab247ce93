import gzip
import zipfile
from functools import partial
from itertools import chain
from pathlib import Path

import pytest

from mjbot.game.records.sources import open_games
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.state import copy_state
from mjbot.learning.training.positions import DistinctGames, LeftOut, collect, index_games, steps
from mjbot.learning.training.runs import GameRange
from mjbot.protocol.messages import Dahai, StartKyoku

LOGS = Path(__file__).parents[3] / "logs"
GAMES = sorted(LOGS.glob("*.mjson"))


def test_the_table_before_each_event_is_that_of_a_strict_replay():
    events = 0
    recorded = chain.from_iterable(map(open_games, GAMES))
    for number, (game, found) in enumerate(zip(recorded, steps(index_games(GAMES)), strict=True)):
        table = Mirror(strict=True)
        for entry, step in zip(game.entries, found, strict=True):
            assert step.game == number
            assert step.event == entry.event
            for field in table.state.dtype.names:
                if not field.startswith("ura") and field != "n_ura" and field != "last_round":
                    assert (table.state[field] == step.state[field]).all(), field
            table.apply(entry.event)
            events += 1
    assert events > 1000


def count_discards(found, kyoku_too=False):
    events = [(step.game, type(step.event)) for step in found]
    kinds = (Dahai, StartKyoku) if kyoku_too else (Dahai,)
    return events[0][0], sum(kind in kinds for _, kind in events)


def test_processes_find_what_one_finds_in_the_same_order():
    games = index_games(GAMES)
    count = partial(count_discards, kyoku_too=True)
    alone = list(collect(games, count))
    assert alone == list(collect(games, count, jobs=2))
    assert [number for number, _ in alone] == list(range(len(games)))


def test_one_job_is_this_process():
    found = []
    assert list(collect(index_games(GAMES), lambda game: found.append(len(list(game))))) == [
        None for _ in GAMES
    ]
    assert min(found) > 100


def test_an_empty_file_has_no_games(tmp_path):
    (tmp_path / "b.mjson").write_bytes(GAMES[0].read_bytes())
    before = index_games([tmp_path])
    (tmp_path / "a.mjson").write_bytes(b"")
    assert index_games([tmp_path]) == before != []


@pytest.fixture
def archive(tmp_path):
    """A zip in which files lie out of order; the second by name holds two games."""
    lines = [
        (LOGS / f"{name}.mjson").read_bytes() for name in ("east-four-winds", "east-extra-round")
    ]
    path = tmp_path / "games.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("c.mjson", lines[0])
        out.writestr("b.jsonl.gz", gzip.compress(lines[1] + lines[0]))
        out.writestr("a.mjson", lines[1])
    return path


def test_games_are_numbered_by_name_and_place(archive):
    games = index_games([archive, archive])
    assert [ref.number for ref in games] == list(range(8))
    assert [ref.source.member for ref in games[:4]] == ["a.mjson", *["b.jsonl.gz"] * 2, "c.mjson"]
    assert [ref.place for ref in games[:4]] == [0, 0, 1, 0]
    long, short = (count_discards(found)[1] for found in list_first(games, [0, 3]))
    assert long != short
    found = [count_discards(found) for found in steps(games)]
    assert found == list(enumerate([long, long, short, short] * 2))
    some = [games[2], games[5]]
    assert [count_discards(found) for found in steps(some)] == [(2, short), (5, long)]


def list_first(games, places):
    return [next(steps([games[place]])) for place in places]


def test_a_damaged_game_is_left_out(tmp_path):
    good = (LOGS / "east-four-winds.mjson").read_bytes()
    (tmp_path / "a.mjson").write_bytes(good)
    (tmp_path / "b.mjson").write_bytes(good.replace(b'"start_game"', b'"start_game', 1))
    (tmp_path / "c.mjson").write_bytes(good)
    found = collect(index_games([tmp_path]), count_discards)
    assert [number for number, _ in found] == [0, 2]


def test_damaged_and_foreign_files_are_told_and_counted_and_the_rest_is_there(tmp_path, caplog):
    good = (LOGS / "east-four-winds.mjson").read_bytes()
    packed = gzip.compress(good + good)
    for name, content in {
        "a.mjson": good,
        "b.jsonl.gz": packed[: len(packed) * 3 // 4],  # ends in its second game
        "c.mjlog": b"<html>",
        "d.mjson": good,
        "e.mjson": good.replace(b'"start_game"', b'"start_game', 1),
    }.items():
        (tmp_path / name).write_bytes(content)
    left_out = LeftOut()
    games = index_games([tmp_path], left_out)
    assert (left_out.files, left_out.games) == (2, 0)
    for jobs in (1, 2):
        found = list(collect(games, count_discards, jobs, left_out))
        assert {n for _, n in found} == {found[0][1]}
        assert len(found) == len(games) - 1 == 3
    assert (left_out.files, left_out.games) == (2, 2)
    report = caplog.messages
    assert report[0].startswith(f"left out: {tmp_path}/b.jsonl.gz: damaged archive")
    assert report[1].startswith(f"left out: {tmp_path}/c.mjlog: is a web page")
    assert report[2].startswith(f"game 3 is left out: {tmp_path}/e.mjson: line")
    assert f"{left_out}" == "; 2 files and 2 games that cannot be read are left out"


def test_a_damaged_hand_is_told_and_counted_and_the_rest_is_there(tmp_path, caplog):
    good = (LOGS / "east-four-winds.mjson").read_bytes()
    (tmp_path / "a.mjson").write_bytes(good)
    (tmp_path / "b.mjson").write_bytes(good.replace(b'"dahai"', b'"dahai', 1))
    left_out = LeftOut()
    games = DistinctGames(left_out).index([tmp_path])
    number = 1 + good[: good.index(b'"dahai"')].count(b"\n")
    (line,) = caplog.messages
    assert line.startswith(f"{tmp_path}/b.mjson: line {number}: ")
    assert line.endswith("; the other hands are read")
    assert left_out and f"{left_out}" == "; 1 hand that cannot be read has no result"
    (_, whole), (_, damaged) = collect(games, partial(count_discards, kyoku_too=True))
    first = good[: good.index(b'"end_kyoku"')].count(b'"dahai"')
    assert damaged == whole - first


def test_states_can_be_kept_by_copying_them():
    kept, fleeting = zip(
        *[(copy_state(step.state), step.state) for step in next(steps(index_games(GAMES)))],
        strict=True,
    )
    assert len({id(state) for state in fleeting}) == 1
    assert kept[5]["n_discards"] < kept[50]["n_discards"]


@pytest.mark.parametrize(
    ("text", "expected"), [("2:4", [2, 3]), (":2", [0, 1]), ("3:", [3, 4]), (":", [0, 1, 2, 3, 4])]
)
def test_ranges(text, expected):
    assert list(GameRange(text).take(range(5))) == expected


@pytest.mark.parametrize("text", ["3", "a:b", "1:2:3", "-1:2", "\u0663:4"])
def test_no_ranges(text):
    with pytest.raises(Exception, match="expected START:STOP"):
        GameRange(text)
