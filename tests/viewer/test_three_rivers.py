"""Boards of three players: three rivers, and the norths that were set aside."""

import json
from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.game.records.game import Game
from mjbot.game.records.writers import FORMATS
from mjbot.protocol.rules import Rules
from mjbot.runtime.errors import ExitCode
from mjbot.viewer.drawing.board_data import board_of
from mjbot.viewer.drawing.picture import picture
from mjbot.viewer.game import fold_steps
from mjbot.viewer.library import Library
from tests.game.records.formats import report
from tests.game.referee.scripted import random_game

NAMES = ["East 1", "South 1", "West 1"]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    game = report(random_game(3, Rules(players=3, length="tonpu")))
    path = tmp_path_factory.mktemp("game") / "three.mjson"
    path.write_bytes(FORMATS["mjai"].encode(Game("own", "line", game.entries)))
    return path


def test_every_board_has_three_seats_and_the_norths_behind_the_melds(record: Path) -> None:
    n_norths = 0
    for step in Library(record).game(0).steps():
        board = board_of(step.table.state, range(3))
        assert len(board["scores"]) == len(board["seats"]) == 3
        for seat, drawn in enumerate(board["seats"]):
            kita = int(step.table.state["kita"][seat])
            norths = [meld for meld in drawn["melds"] if set(meld.split()) == {"N"}]
            assert norths[-1:] == ([" ".join(["N"] * kita)] if kita else norths[-1:])
            n_norths += kita
    assert n_norths


@pytest.mark.parametrize("viewpoint", range(3))
def test_the_empty_seat_is_not_drawn(record: Path, viewpoint: int) -> None:
    game = fold_steps(Library(record).game(0).steps())
    assert game["names"] == NAMES
    drawing = picture(game["kyoku"][0]["board"], game["names"], viewpoint)
    empty = (3 - viewpoint) % 4
    sides = [side for side in range(4) if f'id="river{side}"' in drawing]
    assert sides == [side for side in range(4) if side != empty]
    last = game["kyoku"][-1]["steps"][-1]
    assert sorted(last["change"]["result"]["ranks"].values()) == [1, 2, 3]


def test_the_commands_draw_and_watch_a_record_of_three(record: Path, tmp_path: Path) -> None:
    for command, out, text in (
        ("draw", "a.svg", 'id="plate2"'),
        ("watch", "a.html", "<title>E: East 1, S: South 1, W: West 1 · East 1<"),
    ):
        assert main([command, str(record), "--out", str(tmp_path / out)]) == ExitCode.OK
        assert text in (tmp_path / out).read_text()


def test_a_strategy_of_four_players_explains_nothing_there(record: Path, tmp_path: Path, capsys):
    out = str(tmp_path / "game.html")
    command = ["watch", str(record), "--by", "supervised", "--out", out]
    assert main(command) == ExitCode.BAD_ARGUMENTS
    assert "plays no table of 3 players" in " ".join(capsys.readouterr().err.split())


EMPTY_SEAT = {"pon": "target", "hora": "target", "dahai": "actor", "kita": "actor"}


@pytest.mark.parametrize("name", EMPTY_SEAT)
def test_an_event_of_the_empty_seat_is_named(name: str, record: Path, tmp_path: Path, capsys):
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    wrong = next(line for line in lines if line["type"] == name)
    wrong[EMPTY_SEAT[name]] = 3
    path = tmp_path / "wrong.mjson"
    path.write_text("\n".join(map(json.dumps, lines)))
    for words in (["watch", "--out", "a.html"], ["draw", "--out", "a.svg"], ["replay"]):
        command, *rest = words
        out = [str(tmp_path / part) if part.startswith("a.") else part for part in rest]
        assert main([command, str(path), *out]) == ExitCode.FAILED
        problem = f"{name}.{EMPTY_SEAT[name]}: is seat 3 of three players"
        assert f"line {lines.index(wrong) + 1}: {problem}" in " ".join(
            capsys.readouterr().err.split()
        )


def test_a_chi_that_makes_no_run_is_left_out(tmp_path: Path) -> None:
    """The lenient table goes on, and the board shows what can be drawn."""
    log = Path(__file__).parents[2] / "logs" / "east-four-winds.mjson"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    chi = next(line for line in lines if line["type"] == "chi" and line["pai"][0] != "1")
    chi["consumed"] = (
        [f"1{chi['pai'][1]}"] * 2 if chi["pai"][0] > "3" else [f"9{chi['pai'][1]}"] * 2
    )
    path = tmp_path / "wrong.mjson"
    path.write_text("\n".join(map(json.dumps, lines)))
    fold_steps(Library(path).game(0).steps())
