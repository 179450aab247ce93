"""Converted games get names that others chose: safe, unique, bounded; none ends the batch."""

import os
import zipfile
from pathlib import Path

import pytest

import mjbot
from mjbot.cli.main import main
from mjbot.game.records.sources import open_games
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.files import MOST_NAME_BYTES, safe_name

GAME = (Path(mjbot.__file__).parents[1] / "logs" / "east-four-winds.mjson").read_bytes()
NAMES = (
    "a" * 300,
    "a" * 301,
    "東" * 200,
    "clear\x1b[2J\x1b]0;title\x07",
    "two\nlines",
    "tab\tand\u202eturn",
    "same",
    "SAME",
    "cafe\u0301",
    "caf\u00e9",
    "/".join(["deep"] * 400) + "/game",
    "/".join(["e" * 250] * 20),
    "../../outside",
    "/absolute",
    "last",
)


def games_in(path: Path) -> int:
    return sum(bool(list(game.entries)) for game in open_games(path))


@pytest.fixture
def games(tmp_path: Path) -> Path:
    path = tmp_path / "games.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in NAMES:
            archive.writestr(f"{name}.mjson", GAME)
    return path


@pytest.mark.parametrize("to", ["mjai", "mjlog", "tenhou6"])
@pytest.mark.parametrize("ending", ["", ".zip"])
def test_every_game_is_written_under_a_name_that_can_be_shown(
    games: Path, tmp_path: Path, ending: str, to: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"out{ending}"
    assert main(["convert", str(games), str(out), "--to", to]) == ExitCode.OK
    assert f"{len(NAMES)} games written" in capsys.readouterr().out
    if ending:
        names = zipfile.ZipFile(out).namelist()
    else:
        names = [str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()]
    assert len({name.casefold() for name in names}) == len(NAMES)
    for name in names:
        assert name.isprintable() and not name.startswith(("/", "."))
        assert all(len(os.fsencode(part)) <= MOST_NAME_BYTES + 10 for part in name.split("/"))
        assert len(name) < 600
    assert games_in(out) == len(NAMES)
    assert not (tmp_path.parent / "outside.mjson").exists()


def test_a_game_that_cannot_be_written_is_listed_and_the_others_are_there(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    (out / "same.mjson").mkdir(parents=True)
    (out / "last.mjson").mkdir()
    assert main(["convert", str(games), str(out)]) == ExitCode.FAILED
    printed = capsys.readouterr()
    assert "/same.mjson: cannot be written as same.mjson: Is a directory" in printed.err
    assert "cannot be written as last.mjson" in printed.err
    n = len(NAMES) - 2
    summary = f"{n} games written to {out} as mjai, 2 games under a name that cannot be written"
    assert f"{summary} skipped" in printed.out
    assert games_in(out) == n


def test_an_output_folder_that_takes_nothing_ends_the_command(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once for each of thousands of games."""
    from mjbot.game.records import writers

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(writers, "whole_file", refuse)
    assert main(["convert", str(games), str(tmp_path / "out")]) == ExitCode.UNREACHABLE
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "denied" in line]
    assert "Permission denied" in line


def test_names_that_are_cut_stay_apart() -> None:
    names = {safe_name("a" * length) for length in range(195, 400)}
    assert len(names) == 205
    assert max(len(name) for name in names) == MOST_NAME_BYTES
    assert safe_name("\ud800\0/\\:*?") == "___\\:*?"
