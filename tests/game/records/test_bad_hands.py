"""A bad hand costs that hand: every command that reads records names it and goes on, status 1."""

import json
from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.game.records.complete import complete
from mjbot.game.records.game import Entry, hand_problems
from mjbot.game.records.mjai_log import log_line
from mjbot.game.records.sources import open_games
from mjbot.game.records.tenhou6.writer import write_tenhou6
from mjbot.protocol import messages as m
from mjbot.runtime.errors import ExitCode
from tests.game.records.formats import events_of

LOG = Path(__file__).parents[3] / "logs" / "east-four-winds.mjson"


def entries() -> list[Entry]:
    (game,) = open_games(LOG)
    return list(game.entries)


@pytest.fixture(scope="module")
def bad(tmp_path_factory) -> Path:
    """A whole game whose second hand has a call that is none."""
    (game,) = open_games(LOG)
    value = json.loads(write_tenhou6(complete(game)))
    value["log"][1][5][0] = "c1112"
    path = tmp_path_factory.mktemp("bad") / "bad.json"
    path.write_text(json.dumps(value), "utf-8")
    return path


COMMANDS = {
    "replay": ["replay", "BAD"],
    "convert": ["convert", "BAD", "OUT/a.mjson"],
    "stats": ["stats", "BAD"],
    "review": ["review", "BAD", "--seat", "0", "--by", "fast-riichi-d", "--playouts", "0"],
    "watch": ["watch", "BAD", "--out", "OUT/a.html"],
    "draw": ["draw", "BAD", "--out", "OUT/a.svg"],
    "detect": ["detect", "BAD", "--jobs", "1"],
    "detect --helpers": ["detect", "BAD", "--helpers", "--jobs", "1"],
    "train": ["train", "data", "BAD", "--folder", "OUT/columns"],
    "explain": ["explain", "BAD", "--seat", "0", "--strategy", "tsumogiri"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_names_it_and_goes_on(
    command: str, bad: Path, tmp_path: Path, capsys, caplog, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [
        word.replace("BAD", str(bad)).replace("OUT", str(tmp_path)) for word in COMMANDS[command]
    ]
    assert main(words) == ExitCode.FAILED
    warnings = [line for line in caplog.messages if "hand 2: [5][0]" in line]
    printed = [line for line in capsys.readouterr().err.splitlines() if "hand 2: [5][0]" in line]
    named = warnings or printed  # a warning is printed as well where logging is set up
    assert len(named) == 1
    assert f'{bad}: hand 2: [5][0]: "c1112" is no call; the other hands are read' in named[0]


# --- hands without a result ------------------------------------------------------------------

RESULTS = (m.Hora, m.Ryukyoku)


def without(wanted: set[int], ends: bool = True, wins_only: bool = False) -> list[m.Event]:
    """Return the game without the results of these hands, by number."""
    left, hand = [], -1
    for event in (entry.event for entry in entries()):
        hand += isinstance(event, m.StartKyoku)
        spared = wins_only and not isinstance(event, m.Hora)
        if isinstance(event, RESULTS) and hand in wanted and not spared:
            continue
        if ends or not isinstance(event, m.EndGame):
            left.append(event)
    return left


HANDS = sum(isinstance(entry.event, m.StartKyoku) for entry in entries())
SHAPES = {
    "first": without({0}),
    "last": without({HANDS - 1}),
    "inside": without({1}),
    "last without end_game": without({HANDS - 1}, ends=False),
    "all wins": without(set(range(HANDS)), wins_only=True),
    "all": without(set(range(HANDS))),
}


@pytest.mark.parametrize("form", ["mjai", "mjlog", "tenhou6"])
@pytest.mark.parametrize("shape", SHAPES)
def test_convert_writes_no_hand_without_a_result_in_a_format_of_tenhou(
    shape: str, form: str, tmp_path: Path, capsys
) -> None:
    source, out = tmp_path / "a.mjson", tmp_path / "out"
    source.write_bytes(b"".join(map(log_line, SHAPES[shape])) + LOG.read_bytes())
    status = main(["convert", str(source), str(out), "--to", form])
    printed = capsys.readouterr()
    games = list(open_games(out))
    if form == "mjai":
        assert status == ExitCode.OK and len(games) == 2
        (first,) = open_games(out / "a.mjson")
        assert [entry.event for entry in first.entries] == SHAPES[shape]
        return
    assert status == ExitCode.FAILED
    assert "1 game written" in printed.out
    assert "1 game that cannot be shown whole skipped" in printed.out
    assert " has no result" in printed.err
    assert [events_of(complete(game), in_order=True) for game in games] == [
        events_of(complete(game), in_order=True) for game in open_games(LOG)
    ]


@pytest.mark.parametrize("command", ["replay", "stats", "convert"])
def test_hands_without_a_result_are_counted_and_named(command, tmp_path, capsys) -> None:
    source = tmp_path / "a.mjson"
    source.write_bytes(b"".join(map(log_line, without({0, 2}))))
    more = [str(tmp_path / "b.mjson")] if command == "convert" else []
    assert main([command, str(source), *more]) == ExitCode.OK
    (line,) = [each for each in capsys.readouterr().err.splitlines() if "without a result" in each]
    assert f"{source}: 2 hands without a result: E1-0, E3-0" in line


def test_a_log_that_stops_inside_a_hand_is_unfinished(tmp_path: Path) -> None:
    source = tmp_path / "a.mjson"
    source.write_bytes(b"".join(log_line(entry.event) for entry in entries()[:20]))
    (game,) = open_games(source)
    assert len(list(game.entries)) == 20 and not list(hand_problems(game))


# --- bad lines of mjai -----------------------------------------------------------------------


@pytest.mark.parametrize("spoil", ["a draw", "a discard", "no JSON", "the deal", "the end"])
@pytest.mark.parametrize("place", [0, 2])
def test_a_bad_line_costs_its_hand(spoil: str, place: int, tmp_path: Path, capsys) -> None:
    lines = LOG.read_text("utf-8").splitlines()
    deals = [at for at, line in enumerate(lines) if '"start_kyoku"' in line]
    end = next(at for at, line in enumerate(lines) if at > deals[place] and "end_kyoku" in line)
    at, line = {
        "a draw": (deals[place] + 1, '{"type":"tsumo","actor":0,"pai":"0m"}'),
        "a discard": (deals[place] + 4, '{"type":"dahai","actor":7,"pai":"1m","tsumogiri":true}'),
        "no JSON": (deals[place] + 5, '{"type":'),
        "the deal": (deals[place], lines[deals[place]].replace('"tehais":[["', '"tehais":[["x', 1)),
        "the end": (end, '{"type":"end_kyoku"'),
    }[spoil]
    lines[at] = line
    path = tmp_path / "a.mjson"
    path.write_text("\n".join(lines), "utf-8")
    assert main(["replay", str(path)]) == ExitCode.FAILED
    printed = capsys.readouterr()
    assert f"{path}: line {at + 1}: " in printed.err and "the other hands are read" in printed.err
    assert f"{HANDS} kyoku" in printed.out and "no mismatch" in printed.out
