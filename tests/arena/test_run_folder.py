"""The run's file survives any end of the program, and is nobody else's."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mjbot.arena.run import Arena, ArenaPlan
from mjbot.arena.run_folder import (
    FIGURES_FILE,
    GAMES_FILE,
    REPORT_FILE,
    GameLine,
    Results,
    ResultsError,
    erase_run,
    read_games,
)
from mjbot.arena.setup import Setup
from mjbot.arena.workers.files_read import FILES_COPY, FILES_FILE
from mjbot.game.statistics.figures import as_rows, no_counts
from mjbot.game.statistics.sequential import ErrorRates

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
    ("change", "report"),
    [
        ({"seed": 1}, "holds a run with seed 0"),
        ({"walls": "pinned"}, "holds a run with walls 'order'"),
        ({"code": "changed"}, "holds a run with other code of the strategies"),
    ],
)
def test_another_run_s_file_is_refused(
    written: Path, setup_of: MakeSetup, change: dict[str, object], report: str
) -> None:
    with pytest.raises(ResultsError, match=report):
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
    results = Results(written, setup_of("tsumogiri", "tsumogiri"))
    with pytest.raises(ResultsError, match="another process is writing there"):
        Results(written, setup_of("tsumogiri", "tsumogiri"))
    results.close()


@pytest.mark.parametrize("games", [None, b""], ids=["no games", "an empty file of games"])
@pytest.mark.parametrize(
    "name",
    [
        REPORT_FILE,
        FIGURES_FILE,
        FILES_FILE,
        FILES_COPY,
        "records/0000000-00.jsonl.gz",
        "faults/crash-0-1-2-0.json",
    ],
)
def test_what_stands_in_a_folder_without_a_run_is_not_overwritten(
    tmp_path: Path, setup_of: MakeSetup, name: str, games: bytes | None
) -> None:
    """It may be the user's, or a run's whose games are lost: nobody can tell."""
    files = {name: b"somebody's"} | ({} if games is None else {GAMES_FILE: games})
    lay(tmp_path, files)
    report = rf"{name} stands there without a run's games.*; name another --out or move it away$"
    with pytest.raises(ResultsError, match=report):
        Results(tmp_path, setup_of("tsumogiri", "tsumogiri"))
    assert files_in(tmp_path) == files


def test_a_run_may_lie_among_other_things(tmp_path: Path, setup_of: MakeSetup) -> None:
    lay(tmp_path, THEIRS)
    assert reopened(tmp_path, setup_of("tsumogiri", "tsumogiri")) == []
    lay(tmp_path, {REPORT_FILE: b"<html>"})
    assert reopened(tmp_path, setup_of("tsumogiri", "tsumogiri")) == []


@pytest.mark.parametrize("content", [None, b"", b"\xff", b"[]", b"[" * 100_000])
def test_games_of_which_nobody_knows_what_files_they_read_are_set_aside(
    written: Path, setup_of: MakeSetup, content: bytes | None
) -> None:
    if content is not None:
        (written / FILES_FILE).write_bytes(content)
    plan = ArenaPlan(
        setup=setup_of("tsumogiri", "tsumogiri"), n_walls=3, folder=written, rates=ErrorRates()
    )
    with Arena(plan) as arena:
        assert arena.games_kept == 0
        kept = written / "earlier-1"
        why = f"{written / FILES_FILE} is missing or damaged, and has no copy"
        report = f"{why}: played anew; 3 games of before: {kept}"
        assert arena.set_aside == report
        assert len(read_games(kept)) == 3


# --- erasing a run -------------------------------------------------------------------------------


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


THEIRS = {
    ".git/HEAD": b"ref: refs/heads/main",
    "thesis.txt": b"years of work",
    "records/mine.jsonl.gz": b"not of the arena",
    "faults/of-others.json": b"{}",
}


def lay(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_only_what_a_run_writes_is_erased(written: Path) -> None:
    lay(
        written,
        THEIRS
        | {
            "records/0000012-03.jsonl.gz": b"",
            "records/.0000013-00.jsonl.gz.unfinished": b"",
            "faults/late-0-1-2-34.json": b"{}",
            FIGURES_FILE: b"{}",
            REPORT_FILE: b"<html>",
        },
    )
    erase_run(written)
    assert files_in(written) == THEIRS | {GAMES_FILE: b""}


def test_a_folder_of_a_run_only_is_left_empty(written: Path, setup_of: MakeSetup) -> None:
    lay(written, {"records/0000012-03.jsonl.gz": b"", "faults/crash-0-1-2-0.json": b"{}"})
    erase_run(written)
    assert [path.name for path in written.iterdir()] == [GAMES_FILE]
    assert reopened(written, setup_of("tsumogiri", "tsumogiri", seed=9)) == []


def test_where_nothing_is_there_is_nothing_to_erase(tmp_path: Path) -> None:
    erase_run(tmp_path)
    erase_run(tmp_path / "to-come")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "games", [None, b'{"hello":"world"}\n', b"shopping list", b'{"type":"start_game"}\n']
)
def test_a_folder_without_a_run_is_left_as_it_is(tmp_path: Path, games: bytes | None) -> None:
    files = THEIRS if games is None else THEIRS | {GAMES_FILE: games}
    lay(tmp_path, files)
    with pytest.raises(ResultsError, match="name another --out") as error:
        erase_run(tmp_path)
    assert "\n" not in str(error.value)
    assert files_in(tmp_path) == files


def test_a_run_that_is_going_on_is_not_erased(written: Path, setup_of: MakeSetup) -> None:
    lay(written, {REPORT_FILE: b"<html>"})
    before = files_in(written)
    results = Results(written, setup_of("tsumogiri", "tsumogiri"))
    with pytest.raises(ResultsError, match="another process is writing there"):
        erase_run(written)
    results.close()
    assert files_in(written) == before


def test_a_file_of_somebody_else_is_not_cut_like_a_torn_header(
    tmp_path: Path, setup_of: MakeSetup
) -> None:
    lay(tmp_path, {GAMES_FILE: b"one line without an end"})
    with pytest.raises(ResultsError, match=r"games.jsonl is no log of ours; name another --out"):
        Results(tmp_path, setup_of("tsumogiri", "tsumogiri"))
    assert files_in(tmp_path) == {GAMES_FILE: b"one line without an end"}


def test_a_file_in_place_of_the_folder_is_told(tmp_path: Path, setup_of: MakeSetup) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ResultsError, match=r"file is a file, no folder; name another --out$"):
        Results(tmp_path / "file", setup_of("tsumogiri", "tsumogiri"))


def test_reading_leaves_out_a_torn_line(written: Path) -> None:
    path = written / GAMES_FILE
    path.write_bytes(path.read_bytes()[:-5])
    assert read_games(written) == [line(0), line(1)]
