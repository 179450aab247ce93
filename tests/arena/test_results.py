"""The run's file survives any end of the program, and is nobody else's."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mjbot.arena.counts import as_rows, no_counts
from mjbot.arena.results import GAMES_FILE, GameLine, Results, ResultsError
from mjbot.arena.setup import Setup

MakeSetup = Callable[..., Setup]


def line(wall: int, seating: int = 0) -> GameLine:
    return GameLine(wall, seating, (25000,) * 4, as_rows(no_counts()))


@pytest.fixture
def written(tmp_path: Path, setup_of: MakeSetup) -> Path:
    results = Results(tmp_path, setup_of("tsumogiri", "tsumogiri"))
    for wall in range(3):
        results.append(line(wall))
    results.close()
    return tmp_path


def reopened(folder: Path, setup: Setup) -> list[GameLine]:
    results = Results(folder, setup)
    results.close()
    return results.lines


def test_games_are_taken_up_again(written: Path, setup_of: MakeSetup) -> None:
    lines = reopened(written, setup_of("tsumogiri", "tsumogiri"))
    assert lines == [line(0), line(1), line(2)]


def test_a_file_cut_anywhere_keeps_its_whole_lines(written: Path, setup_of: MakeSetup) -> None:
    path = written / GAMES_FILE
    text = path.read_bytes()
    for end in range(0, len(text) + 1, 7):
        path.write_bytes(text[:end])
        lines = reopened(written, setup_of("tsumogiri", "tsumogiri"))
        assert lines == [line(wall) for wall in range(max(0, text[:end].count(b"\n") - 1))]
        assert path.read_bytes().endswith(b"\n")


def test_a_game_after_a_cut_begins_a_new_line(written: Path, setup_of: MakeSetup) -> None:
    path = written / GAMES_FILE
    path.write_bytes(path.read_bytes()[:-5])
    results = Results(written, setup_of("tsumogiri", "tsumogiri"))
    results.append(line(7))
    results.close()
    lines = reopened(written, setup_of("tsumogiri", "tsumogiri"))
    assert [game.wall for game in lines] == [0, 1, 7]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 1}, "holds a run with seed 0"),
        ({"walls": "pinned"}, "holds a run with walls 'order'"),
        ({"code": "changed"}, "holds a run with other code of the strategies"),
    ],
)
def test_another_run_s_file_is_refused(
    written: Path, setup_of: MakeSetup, change: dict[str, object], told: str
) -> None:
    with pytest.raises(ResultsError, match=told):
        Results(written, setup_of("tsumogiri", "tsumogiri", **change))


def test_a_damaged_line_is_named(written: Path, setup_of: MakeSetup) -> None:
    path = written / GAMES_FILE
    path.write_bytes(path.read_bytes().replace(b'"wall":1', b'"wall":"x"'))
    with pytest.raises(ResultsError, match=r"games.jsonl, line 3: .*wall.*--fresh"):
        Results(written, setup_of("tsumogiri", "tsumogiri"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"scores":[25000,', b'"scores":[26000,'),
        (b'"wall":1', b'"wall":7'),
        (b'"wall":1', b'"wall":-1'),
        (b'"seating":0', b'"seating":3'),
        (b',"check"', b',"chock"'),
    ],
)
def test_a_game_that_was_edited_is_named(
    written: Path, setup_of: MakeSetup, old: bytes, new: bytes
) -> None:
    path = written / GAMES_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    assert old in lines[2]
    path.write_bytes(b"".join([*lines[:2], lines[2].replace(old, new), *lines[3:]]))
    with pytest.raises(ResultsError, match=r"line 3: .* not as it was written .*--fresh"):
        Results(written, setup_of("tsumogiri", "tsumogiri"))


def test_a_file_that_is_no_run_is_refused(tmp_path: Path, setup_of: MakeSetup) -> None:
    (tmp_path / GAMES_FILE).write_text('{"hello":"world"}\n')
    with pytest.raises(ResultsError, match=r"line 1: .*--out"):
        Results(tmp_path, setup_of("tsumogiri", "tsumogiri"))


def test_two_runs_cannot_write_into_one_file(written: Path, setup_of: MakeSetup) -> None:
    pytest.importorskip("fcntl", reason="files are locked on Unix only")
    results = Results(written, setup_of("tsumogiri", "tsumogiri"))
    with pytest.raises(ResultsError, match="another arena is writing there"):
        Results(written, setup_of("tsumogiri", "tsumogiri"))
    results.close()
