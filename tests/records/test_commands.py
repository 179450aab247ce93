import gzip
import zipfile
from pathlib import Path

import pytest

from mjbot import exit_codes
from mjbot.cli.main import main
from mjbot.records.sources import open_games


def zip_of(path: Path, members: dict[str, bytes]) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return str(path)


@pytest.fixture
def games_zip(tenhou, tmp_path: Path) -> str:
    members = {f"{number}.mjlog": tenhou.four_winds(number) for number in range(3)}
    return zip_of(tmp_path / "games.zip", members)


# --- replay ----------------------------------------------------------------------------------


def test_replay_counts_kyoku_and_events(games_zip: str, capsys) -> None:
    assert main(["replay", games_zip]) == exit_codes.OK
    said = capsys.readouterr()
    assert said.out == "3 games (3 unfinished), 3 kyoku, 36 events: no mismatch\n"
    assert said.err == ""


def test_replay_names_the_first_mismatch(tenhou, tmp_path: Path, capsys) -> None:
    wrong = tenhou.four_winds(discard="E60")
    path = zip_of(tmp_path / "g.zip", {"a": wrong, "b": tenhou.four_winds(), "c": wrong})
    assert main(["replay", path]) == exit_codes.FAILED
    said = capsys.readouterr()
    assert said.err.startswith(f"{path}/a: tag 8: ")
    assert f"{path}/c" not in said.err
    assert '"type":"dahai","actor":1' in said.err
    assert said.out == "1 game (1 unfinished), 1 kyoku, 5 events: 1 mismatch\n"


def test_replay_can_keep_going(tenhou, tmp_path: Path, capsys) -> None:
    wrong = tenhou.four_winds(discard="E60")
    path = zip_of(tmp_path / "g.zip", {"a": wrong, "b": tenhou.four_winds(), "c": wrong})
    assert main(["replay", "--keep-going", path]) == exit_codes.FAILED
    said = capsys.readouterr()
    assert f"{path}/a: tag 8" in said.err
    assert f"{path}/c: tag 8" in said.err
    assert said.out.startswith("3 games")
    assert said.out.endswith(": 2 mismatches\n")


def test_lenient_replay_plays_on(tenhou, tmp_path: Path, capsys) -> None:
    path = tmp_path / "game.mjlog"
    path.write_bytes(tenhou.four_winds(discard="E60"))
    assert main(["replay", "--lenient", str(path)]) == exit_codes.OK
    said = capsys.readouterr().out
    assert said == "1 game (1 unfinished), 1 kyoku, 12 events: played on past what did not fit\n"


def test_replay_goes_over_damaged_files(tenhou, tmp_path: Path, capsys) -> None:
    good = tenhou.four_winds()
    path = zip_of(tmp_path / "g.zip", {"a": good, "b": good[:-30], "c": good})
    assert main(["replay", path]) == exit_codes.FAILED
    said = capsys.readouterr()
    assert f"damaged: {path}/b: tag" in said.err
    assert said.out.startswith("2 games")
    assert said.out.endswith("no mismatch, 1 damaged file\n")


def test_an_empty_file_is_no_game_and_no_damage(tenhou, tmp_path: Path, capsys) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.mjlog").write_bytes(tenhou.four_winds())
    (folder / "seen-by-top.mjson").write_bytes(b"")
    assert main(["replay", str(folder)]) == exit_codes.OK
    said = capsys.readouterr()
    assert said.err == f"mjbot: {folder}/seen-by-top.mjson: is empty: no game\n"
    assert said.out.startswith("1 game ")
    assert main(["convert", str(folder), str(tmp_path / "out")]) == exit_codes.OK
    assert capsys.readouterr().out.startswith("1 game written")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.mjson"]


def test_replay_tells_missing_files_from_bad_arguments(tmp_path: Path, capsys) -> None:
    missing = str(tmp_path / "missing.mjson")
    assert main(["replay", missing]) == exit_codes.UNREACHABLE
    assert capsys.readouterr().err == f"mjbot: {missing}: No such file or directory\n"
    with pytest.raises(SystemExit) as caught:
        main(["replay"])
    assert caught.value.code == exit_codes.BAD_ARGUMENTS


# --- convert ---------------------------------------------------------------------------------


@pytest.mark.parametrize("out", ["out", "out.zip", "out.jsonl.gz", "out.jsonl", "deep/out.mjson"])
def test_converted_games_are_the_same_games(
    games_zip: str, tmp_path: Path, capsys, out: str
) -> None:
    target = tmp_path / out
    assert main(["convert", games_zip, str(target)]) == exit_codes.OK
    assert capsys.readouterr().out == f"3 games written to {target}\n"
    before = [[entry.event for entry in game.entries] for game in open_games(Path(games_zip))]
    after = [[entry.event for entry in game.entries] for game in open_games(target)]
    assert after == before
    assert main(["replay", str(target)]) == exit_codes.OK


def test_convert_names_each_game_after_its_source(tenhou, tmp_path: Path) -> None:
    data = tmp_path / "in"
    data.mkdir()
    game = tenhou.four_winds()
    (data / "2020.01.mjlog").write_bytes(game)
    (data / "x.mjlog.gz").write_bytes(gzip.compress(game))
    (data / "x.xml").write_bytes(game)
    zip_of(data / "pack.zip", {"../../evil.mjlog": game, "/sub/b.mjlog": game})
    out = tmp_path / "out"
    assert main(["convert", str(data), str(out)]) == exit_codes.OK
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.mjson"))
    assert written == [
        "out/2020.01.mjson",
        "out/pack/evil.mjson",
        "out/pack/sub/b.mjson",
        "out/x-2.mjson",
        "out/x.mjson",
    ]


def test_convert_refuses_an_ending_it_does_not_write(games_zip, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out.txt"
    assert main(["convert", games_zip, str(out)]) == exit_codes.BAD_ARGUMENTS
    assert (
        f"{out}: cannot write .txt; a folder (without a dot), .zip, .gz" in capsys.readouterr().err
    )
    assert not out.exists()
    out.mkdir()  # whoever made a folder of that name means it
    assert main(["convert", games_zip, str(out)]) == exit_codes.OK
    assert len(list(out.iterdir())) == 3


def test_convert_goes_over_damaged_files(tenhou, tmp_path: Path, capsys) -> None:
    good = tenhou.four_winds()
    path = zip_of(tmp_path / "g.zip", {"a.mjlog": good, "b.mjlog": good[:-30], "c.mjlog": good})
    out = tmp_path / "out"
    assert main(["convert", path, str(out)]) == exit_codes.FAILED
    said = capsys.readouterr()
    assert f"damaged, skipped: {path}/b.mjlog: tag" in said.err
    assert said.out == f"2 games written to {out}, 1 damaged file skipped\n"
    assert sorted(file.name for file in out.iterdir()) == ["a.mjson", "c.mjson"]


def test_convert_leaves_no_half_file(games_zip: str, tmp_path: Path, monkeypatch) -> None:
    target = tmp_path / "out.jsonl"
    target.write_bytes(b"what was there before")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mjbot.records.writers.log_line", interrupted)
    assert main(["convert", games_zip, str(target)]) == exit_codes.INTERRUPTED
    assert target.read_bytes() == b"what was there before"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["games.zip", "out.jsonl"]


def test_convert_says_what_it_cannot_open(games_zip: str, tmp_path: Path, capsys) -> None:
    missing = str(tmp_path / "missing")
    assert main(["convert", missing, str(tmp_path / "out")]) == exit_codes.UNREACHABLE
    assert capsys.readouterr().err == f"mjbot: {missing}: No such file or directory\n"
    (tmp_path / "file").touch()
    blocked = str(tmp_path / "file" / "out.zip")
    assert main(["convert", games_zip, blocked]) == exit_codes.UNREACHABLE
    assert "file" in capsys.readouterr().err
