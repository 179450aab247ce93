"""The arena from Python: the games of the command, its statistics as numbers."""

import json

import pytest

from mjbot.arena.report.page import notebook_html
from mjbot.arena.run_folder import GAMES_FILE
from mjbot.arena.tournament import play_arena, statistics_of
from mjbot.arena.workers.files_read import FILES_COPY, FILES_FILE
from mjbot.cli.main import main
from mjbot.protocol.rules import Rules
from mjbot.runtime.errors import ArgumentError, ExitCode, MjbotError
from tests.damage import damages

pytestmark = pytest.mark.usefixtures("forked_workers")

NAMES = ["fast-riichi-a", "tsumogiri"]


def test_it_plays_what_the_command_plays_and_resumes_it(tmp_path, capsys):
    folder = tmp_path / "run"
    rules = Rules(length="tonpu")
    outcome = play_arena(NAMES, games=12, rules=rules, seed=5, folder=folder, jobs=1)
    games = (folder / "games.jsonl").read_bytes()
    command = ["arena", *NAMES, "--games", "12", "--length", "tonpu", "--seed", "5", "--json"]
    assert main([*command, "--out", str(folder), "--jobs", "1"]) == ExitCode.OK
    assert (folder / "games.jsonl").read_bytes() == games  # nothing was played again
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = statistics_of(outcome)
    assert list(found) == NAMES
    for record in records:
        if record["record"] == "strategy":
            rank = found[record["name"]]["rank"]
            assert [rank.value, rank.low, rank.high] == record["rank"]
    assert outcome.games == 12
    assert found["fast-riichi-a"]["win"].value > found["tsumogiri"]["win"].value


def test_the_usual_folder_is_that_of_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    outcome = play_arena(NAMES, games=6, rules=Rules(length="tonpu"), jobs=1)
    command = ["arena", *NAMES, "--games", "6", "--length", "tonpu", "--jobs", "1"]
    assert main(command) == ExitCode.OK
    shown = capsys.readouterr().out
    assert "6 of them kept from before" in shown
    assert str(outcome.plan.folder) in shown


def test_a_damaged_list_of_files_costs_no_game_and_is_logged(tmp_path, caplog):
    folder = tmp_path / "run"
    options = {"games": 2, "rules": Rules(length="tonpu"), "folder": folder, "jobs": 1}
    before = play_arena(NAMES, **options)
    games = (folder / GAMES_FILE).read_bytes()
    for text in (b"", (folder / FILES_FILE).read_bytes()[:-9]):
        (folder / FILES_FILE).write_bytes(text)
        assert (play_arena(NAMES, **options).rows == before.rows).all()
        assert (folder / GAMES_FILE).read_bytes() == games
        assert caplog.text.count("files.json is missing or damaged; ") == 1
        caplog.clear()
    for path in (folder / FILES_FILE, folder / FILES_COPY):
        path.write_bytes(b"")
    assert (play_arena(NAMES, **options).rows == before.rows).all()
    assert f"played anew; {before.games} games of before: {folder / 'earlier-1'}" in caplog.text
    for _ in damages(folder / GAMES_FILE, 1):
        try:
            play_arena(NAMES, **options)
        except MjbotError as error:
            assert str(folder) in str(error) and "\n" not in str(error)


def test_a_notebook_gets_table_and_plots_with_a_style_of_their_own(tmp_path):
    rules = Rules(length="tonpu")
    outcome = play_arena(NAMES, games=12, rules=rules, folder=tmp_path / "run", jobs=1)
    html = notebook_html(outcome)
    assert html.count("<svg") == 4
    assert html.startswith('<div class="mjbot-arena"><style>.mjbot-arena {')
    assert "<body" not in html and "body{" not in html
    assert "average rank" in html


@pytest.mark.parametrize(
    ("names", "options", "problem"),
    [
        (["tsumogiri"], {}, "1 strategies, 400 games, seed 0: two strategies or more"),
        (NAMES, {"games": 0}, "games from 1"),
        (NAMES, {"seed": -1}, "seed from 0"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_line(names, options, problem, tmp_path):
    with pytest.raises(ArgumentError, match=problem):
        play_arena(names, folder=tmp_path / "run", **options)
    with pytest.raises(MjbotError, match="unknown strategy"):
        play_arena(["tsumogiry", "tsumogiri"], folder=tmp_path / "run")
