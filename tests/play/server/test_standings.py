"""Standings of a server's players: from its results on disk, over any number of restarts."""

import json

import pytest

from mjbot.play.server.standings import RESULTS, PlayedGame, Results, uma_of
from mjbot.protocol.rules import Rules
from tests.damage import damages

NAMES = ("ann", "bob", "cid", "dan")
SCORES = (40000, 30000, 20000, 10000)


def played(number, names=NAMES, scores=SCORES, **more):
    uma = uma_of(scores, Rules(players=len(scores)))
    ended = f"2026-11-28T12:00:{number:02}Z"
    return PlayedGame(
        ended=ended, game=number, table="a-1", names=names, scores=scores, uma=uma, **more
    )


def figures(results):
    return [(each.name, each.games, each.mean_rank, round(each.uma, 1)) for each in results]


def test_games_add_up_to_standings_over_restarts(tmp_path):
    for number in range(1, 7):
        results = Results(tmp_path, 4)
        assert (len(results.earlier), results.last_number) == (number - 1, number - 1)
        names = NAMES if number % 2 else NAMES[::-1]
        results.add(played(number, names, record=f"{number}.mjson"))
        results.close()
    again = Results(tmp_path, 4)
    assert figures(again.standings()) == [
        ("ann", 6, 2.5, 30.0),
        ("dan", 6, 2.5, 30.0),
        ("bob", 6, 2.5, -30.0),
        ("cid", 6, 2.5, -30.0),
    ]
    assert again.standings()[0].last == "2026-11-28T12:00:06Z"
    assert again.standings()[0].ranks == [3, 0, 0, 3]
    assert [game.record for game in again.earlier] == [f"{n}.mjson" for n in range(1, 7)]


def test_three_players_and_four_have_standings_of_their_own(tmp_path):
    results = Results(tmp_path, 3)
    results.add(played(1, NAMES[:3], (45000, 35000, 25000)))
    results.close()
    four = Results(tmp_path, 4)
    assert four.standings() == [] and four.last_number == 1
    four.add(played(2))
    four.close()
    assert [each.name for each in Results(tmp_path, 3).standings()] == ["ann", "bob", "cid"]


@pytest.mark.parametrize(
    "rules", [Rules(), Rules(players=3), Rules(uma=(15000, 5000, -5000, -15000))]
)
def test_the_uma_of_a_game_is_that_of_its_rules_and_adds_up_to_nothing(rules):
    start = rules.start_points
    scores = [start + (rules.players - 1) * 1000, *[start - 1000] * (rules.players - 1)]
    uma = uma_of(scores, rules)
    assert sum(uma) == pytest.approx(0, abs=0.3)
    assert uma[1] == (start - 1000 - rules.return_points + rules.uma[1]) / 1000


GOOD = json.dumps(
    {"ended": "", "game": 2, "table": "a-1", "names": ["x"], "scores": [1], "uma": [1]}
)


@pytest.mark.parametrize(
    "line",
    ["", "\x00", "{", "[]", GOOD[:-5], GOOD.replace("2", "-2"), GOOD.replace("2", '"2"'),
     GOOD.replace("[1]", "[1, 1]", 1), GOOD.replace("[1]", "[1000000000000]", 1)],
)  # fmt: skip
def test_a_damaged_line_costs_only_itself(tmp_path, line):
    results = Results(tmp_path, 4)
    results.add(played(7))
    results.close()
    path = tmp_path / RESULTS
    path.write_text(f"{line}\n{path.read_text()}{line}")  # the last one is cut off by a kill
    again = Results(tmp_path, 4)
    assert again.last_number == 7 and len(again.standings()) == 4
    assert [game.game for game in again.earlier] == [7]
    again.add(played(8))
    again.close()
    assert Results(tmp_path, 4).last_number == 8


def test_damaged_results_are_named_and_only_their_games_do_not_count(tmp_path, caplog):
    path, games = tmp_path / RESULTS, [played(number) for number in range(1, 6)]
    results = Results(tmp_path, 4)
    for game in games:
        results.add(game)
    results.close()
    lines = path.read_bytes().splitlines(keepends=True)
    for form in damages(path, 150):
        caplog.clear()
        again = Results(tmp_path, 4)
        again.close()
        assert all(game in games for game in again.earlier)
        assert path.read_bytes().startswith(form)
        lost = form.count(b"\n") - len(again.earlier) + (not form.endswith(b"\n") and form != b"")
        named = f"{path}: line "
        assert (lost > 0) == (named in caplog.text), form
        if len(form) == len(b"".join(lines)):
            assert len(again.earlier) >= len(games) - 2  # a flipped end of a line costs two
    old = [line.split(b',"check"')[0] + b"}\n" for line in lines]
    path.write_bytes(old[0] + lines[1].replace(b"40000", b"41000") + old[2])
    again = Results(tmp_path, 4)
    assert [game.game for game in again.earlier] == [1, 3]
    assert f"{path}: line 2: damaged, so that its game does not count" in caplog.text


def test_results_that_cannot_be_kept_are_reported_and_games_go_on(tmp_path, caplog):
    first, second = Results(tmp_path, 4), Results(tmp_path, 4)
    assert f"{tmp_path / RESULTS}: another server writes it" in caplog.text
    second.add(played(1))
    assert len(second.standings()) == 4 and not (tmp_path / RESULTS).read_text()
    first.close()
    (tmp_path / "file").write_text("")
    nowhere = Results(tmp_path / "file", 4)
    nowhere.add(played(1))
    assert len(nowhere.standings()) == 4
    assert "Not a directory" in caplog.text or "File exists" in caplog.text
    memory = Results(None, 4)
    memory.add(played(1))
    assert len(memory.standings()) == 4


def test_a_full_disk_leaves_whole_lines(tmp_path, limited_files, caplog):
    results = Results(tmp_path, 4)
    results.add(played(1))
    with limited_files((tmp_path / RESULTS).stat().st_size + 10):
        results.add(played(2))
        results.add(played(3))
    assert caplog.text.count("the standings of this server are not kept") == 1
    assert Results(tmp_path, 4).last_number == 1
