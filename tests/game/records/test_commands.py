import gzip
import json
import os
import zipfile
from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.game.records.game import Game
from mjbot.game.records.sources import open_games
from mjbot.game.records.writers import FORMATS
from mjbot.protocol.rules import Rules
from mjbot.runtime.errors import ExitCode
from tests.game.records.formats import report
from tests.game.referee.scripted import random_game

LOG = Path(__file__).parents[3] / "logs" / "east-four-winds.mjson"
BEGUN = ("replaying ...\n", "converting ...\n")
MAJIANG = b'{"title":"x","player":["a"],"qijia":0,"log":[]}'


def zip_of(path: Path, members: dict[str, bytes]) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return str(path)


def received(capsys):
    """What was said but for the line that work begins: where nobody looks on, that is told."""
    output = capsys.readouterr()
    lines = [line for line in output.err.splitlines(keepends=True) if line not in BEGUN]
    return output._replace(err="".join(lines))


@pytest.fixture
def games_zip(tenhou, tmp_path: Path) -> str:
    members = {f"{number}.mjlog": tenhou.four_winds(number) for number in range(3)}
    return zip_of(tmp_path / "games.zip", members)


# --- replay ----------------------------------------------------------------------------------


def test_replay_counts_kyoku_and_events(games_zip: str, capsys) -> None:
    assert main(["replay", games_zip]) == ExitCode.OK
    output = capsys.readouterr()
    assert output.out == "3 games (3 unfinished), 3 kyoku, 36 events: no mismatch\n"
    assert output.err == "replaying ...\n"


def test_replay_names_the_first_mismatch(tenhou, tmp_path: Path, capsys) -> None:
    wrong = tenhou.four_winds(discard="E60")
    path = zip_of(tmp_path / "g.zip", {"a": wrong, "b": tenhou.four_winds(), "c": wrong})
    assert main(["replay", path]) == ExitCode.FAILED
    output = received(capsys)
    assert output.err.startswith(f"{path}/a: tag 8: ")
    assert f"{path}/c" not in output.err
    assert '"type":"dahai","actor":1' in output.err
    assert output.out == "1 game (1 unfinished), 1 kyoku, 5 events: 1 mismatch\n"


def test_replay_can_keep_going(tenhou, tmp_path: Path, capsys) -> None:
    wrong = tenhou.four_winds(discard="E60")
    path = zip_of(tmp_path / "g.zip", {"a": wrong, "b": tenhou.four_winds(), "c": wrong})
    assert main(["replay", "--keep-going", path]) == ExitCode.FAILED
    output = received(capsys)
    assert f"{path}/a: tag 8" in output.err
    assert f"{path}/c: tag 8" in output.err
    assert output.out.startswith("3 games")
    assert output.out.endswith(": 2 mismatches\n")


def test_lenient_replay_plays_on(tenhou, tmp_path: Path, capsys) -> None:
    path = tmp_path / "game.mjlog"
    path.write_bytes(tenhou.four_winds(discard="E60"))
    assert main(["replay", "--lenient", str(path)]) == ExitCode.OK
    output = received(capsys).out
    assert output == "1 game (1 unfinished), 1 kyoku, 12 events: played on past what did not fit\n"


def test_replay_goes_over_damaged_files(tenhou, tmp_path: Path, capsys) -> None:
    good = tenhou.four_winds()
    path = zip_of(tmp_path / "g.zip", {"a": good, "b": good[:-30], "c": good})
    assert main(["replay", path]) == ExitCode.FAILED
    output = received(capsys)
    assert f"damaged: {path}/b: tag" in output.err
    assert output.out.startswith("2 games")
    assert output.out.endswith("no mismatch, 1 damaged file\n")


def test_an_empty_file_is_no_game_and_no_damage(tenhou, tmp_path: Path, capsys) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.mjlog").write_bytes(tenhou.four_winds())
    (folder / "seen-by-top.mjson").write_bytes(b"")
    assert main(["replay", str(folder)]) == ExitCode.OK
    output = received(capsys)
    assert output.err == f"mjbot replay: {folder}/seen-by-top.mjson: is empty: no game\n"
    assert output.out.startswith("1 game ")
    assert main(["convert", str(folder), str(tmp_path / "out")]) == ExitCode.OK
    assert received(capsys).out.startswith("1 game written")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.mjson"]


def test_each_path_that_is_named_must_hold_a_game(tenhou, tmp_path: Path, capsys) -> None:
    good, empty = tmp_path / "good.mjlog", tmp_path / "empty.mjson"
    good.write_bytes(tenhou.four_winds())
    empty.touch()
    assert main(["replay", str(good), str(empty)]) == ExitCode.FAILED
    output = received(capsys)
    assert output.err == f"mjbot replay: {empty}: is empty: no game\n"
    assert output.out.startswith("1 game ")


FOREIGN = {
    "majiang.json": (MAJIANG, "Majiang"),
    "pretty.json": (json.dumps(json.loads(MAJIANG), indent=1).encode(), "Majiang"),
    "table.json": (b'{"hello":1}\n', "is JSON, but holds no mjai messages"),
    "figures.jsonl": (b'{"v":1,"error":0.05}\n', "is JSON, but holds no mjai messages"),
    "list.json": (b"[1, 2]\n", "is JSON, but holds no mjai messages"),
    "page.mjlog": (b"<!DOCTYPE html>\n<html></html>", "is a web page"),
    "other.xml": (b"<svg/>", "begins with <svg>"),
    "a.mjson": (b"%PDF-1.4", "is no record of a game"),
    "a.log": (b"\xfd7zXZ\x00\x00", "is packed with xz: unpack it"),
    "twice.gz": (gzip.compress(gzip.compress(b"x")), "is packed with gzip twice"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_good_file_of_another_kind_is_not_called_damaged(
    tenhou, tmp_path: Path, capsys, name: str
) -> None:
    data, kind = FOREIGN[name]
    path, good = tmp_path / name, tmp_path / "good.mjlog"
    path.write_bytes(data)
    good.write_bytes(tenhou.four_winds())
    assert main(["replay", str(path), str(good)]) == ExitCode.FAILED
    output = received(capsys)
    assert output.err.startswith(f"mjbot replay: {path}: ")
    assert kind in output.err
    assert output.err.count("\n") == 1
    assert "damaged" not in output.err + output.out
    assert output.out.startswith("1 game ")
    assert output.out.endswith("no mismatch, 1 file of another kind\n")
    assert main(["explain", str(path)]) == ExitCode.FAILED
    assert kind in received(capsys).err


@pytest.mark.parametrize("form", FORMATS)
def test_three_players_are_replayed_converted_and_counted_by_detect(
    tmp_path: Path, capsys, form: str
) -> None:
    entries = report(random_game(0, Rules(players=3))).entries
    path = tmp_path / f"sanma{FORMATS[form].ending}"
    path.write_bytes(FORMATS[form].encode(Game("own", "line", entries)))
    assert main(["replay", str(path)]) == ExitCode.OK
    assert received(capsys).out.endswith("no mismatch\n")
    assert main(["convert", str(path), str(tmp_path / "out.mjlog")]) == ExitCode.OK
    assert b'type="25"' in (tmp_path / "out.mjlog").read_bytes()
    capsys.readouterr()
    assert main(["detect", str(path), "--jobs", "1"]) == ExitCode.OK
    assert "1 game of 3 players; 0 pairs met" in received(capsys).out


def test_games_of_other_formats_in_a_folder_are_told(tenhou, tmp_path: Path, capsys) -> None:
    (tmp_path / "good.mjlog").write_bytes(tenhou.four_winds())
    (tmp_path / "m.json").write_bytes(MAJIANG)
    (tmp_path / "figures.jsonl").write_bytes(b'{"strategy":"x"}\n')  # an arena's, not meant
    assert main(["replay", str(tmp_path)]) == ExitCode.FAILED
    output = received(capsys)
    assert output.err.count("\n") == 1
    assert "m.json: is a game in the format of Majiang" in output.err
    assert output.out.startswith("1 game ")


def test_a_file_may_be_called_like_a_game_of_tenhou(tenhou, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = "2016010100gm-00a9-0000-abcdef01"
    Path(name).write_bytes(tenhou.four_winds())
    assert main(["replay", name]) == ExitCode.OK


def test_damage_in_a_folder_does_not_end_the_batch(tenhou, tmp_path: Path, capsys) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and no more")
    (tmp_path / "b.mjson").write_bytes(
        b'{"type":"start_game"}\n{"type":"reach_accepted","actor":0,"scores":[4294967296,0,0,0]}\n'
    )
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b'{"type":"start_game"}\n')[:-9])
    (tmp_path / "z.mjlog").write_bytes(tenhou.four_winds())
    assert main(["replay", "--keep-going", "--lenient", str(tmp_path)]) == ExitCode.FAILED
    output = received(capsys)
    assert [line.split(": ")[2] for line in output.err.splitlines()] == [
        f"{tmp_path}/a.zip", f"{tmp_path}/b.mjson", f"{tmp_path}/c.jsonl.gz",
    ]  # fmt: skip
    assert output.out.startswith("2 games")
    assert output.out.endswith("3 damaged files\n")


def test_a_pipe_is_refused_and_not_waited_for(tenhou, tmp_path: Path, capsys) -> None:
    pipe, good = tmp_path / "pipe.mjson", tmp_path / "good.mjlog"
    os.mkfifo(pipe)
    good.write_bytes(tenhou.four_winds())
    assert main(["replay", str(pipe), str(good)]) == ExitCode.FAILED
    output = received(capsys)
    assert f"{pipe}: is a pipe or a device; write it to a file first" in output.err
    assert output.out.startswith("1 game ")


def test_a_tile_that_is_not_named_does_not_end_a_lenient_batch(tmp_path: Path, capsys) -> None:
    broken = LOG.read_text().replace('"pai":"2p","tsumogiri"', '"pai":"?","tsumogiri"')
    (tmp_path / "a.mjson").write_text(broken)
    (tmp_path / "b.mjson").write_text(LOG.read_text())
    assert main(["replay", "--lenient", str(tmp_path)]) == ExitCode.OK
    assert received(capsys).out.startswith("2 games, ")
    assert main(["replay", "--keep-going", str(tmp_path)]) == ExitCode.FAILED
    output = received(capsys)
    assert output.out.endswith("1 mismatch\n")
    assert "'?' is not a known tile" in output.err


# --- convert ---------------------------------------------------------------------------------


@pytest.mark.parametrize("out", ["out", "out.zip", "out.jsonl.gz", "out.jsonl", "deep/out.mjson"])
def test_converted_games_are_the_same_games(
    games_zip: str, tmp_path: Path, capsys, out: str
) -> None:
    target = tmp_path / out
    assert main(["convert", games_zip, str(target)]) == ExitCode.OK
    assert capsys.readouterr() == (f"3 games written to {target} as mjai\n", "converting ...\n")
    before = [[entry.event for entry in game.entries] for game in open_games(Path(games_zip))]
    after = [[entry.event for entry in game.entries] for game in open_games(target)]
    assert after == before
    assert main(["replay", str(target)]) == ExitCode.OK


def test_convert_names_each_game_after_its_source(tenhou, tmp_path: Path) -> None:
    data = tmp_path / "in"
    data.mkdir()
    game = tenhou.four_winds()
    (data / "2020.01.mjlog").write_bytes(game)
    (data / "x.mjlog.gz").write_bytes(gzip.compress(game))
    (data / "x.xml").write_bytes(game)
    zip_of(data / "pack.zip", {"../../evil.mjlog": game, "/sub/b.mjlog": game})
    out = tmp_path / "out"
    assert main(["convert", str(data), str(out)]) == ExitCode.OK
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
    assert main(["convert", games_zip, str(out)]) == ExitCode.BAD_ARGUMENTS
    assert f"{out}: cannot write .txt; a folder (without a dot), .zip, .gz" in received(capsys).err
    assert not out.exists()
    out.mkdir()  # whoever made a folder of that name means it
    assert main(["convert", games_zip, str(out)]) == ExitCode.OK
    assert len(list(out.iterdir())) == 3


def test_convert_goes_over_damaged_files(tenhou, tmp_path: Path, capsys) -> None:
    good = tenhou.four_winds()
    path = zip_of(tmp_path / "g.zip", {"a.mjlog": good, "b.mjlog": good[:-30], "c.mjlog": good})
    out = tmp_path / "out"
    assert main(["convert", path, str(out)]) == ExitCode.FAILED
    output = received(capsys)
    assert f"damaged: {path}/b.mjlog: tag" in output.err
    assert output.out == f"2 games written to {out} as mjai, 1 damaged file skipped\n"
    assert sorted(file.name for file in out.iterdir()) == ["a.mjson", "c.mjson"]


def test_convert_replaces_nothing_by_nothing(tmp_path: Path, capsys) -> None:
    (tmp_path / "m.json").write_bytes(MAJIANG)
    target = tmp_path / "out.jsonl"
    target.write_bytes(b'{"type":"what was there before"}')
    assert main(["convert", str(tmp_path / "m.json"), str(target)]) == ExitCode.FAILED
    output = received(capsys)
    assert output.out == f"0 games written to {target} as mjai, 1 file of another kind skipped\n"
    assert target.read_bytes() == b'{"type":"what was there before"}'


def test_convert_leaves_no_half_file(games_zip: str, tmp_path: Path, monkeypatch) -> None:
    target = tmp_path / "out.jsonl"
    target.write_bytes(b'{"type":"what was there before"}')

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mjbot.game.records.writers.log_line", interrupted)
    assert main(["convert", games_zip, str(target)]) == ExitCode.INTERRUPTED
    assert target.read_bytes() == b'{"type":"what was there before"}'
    assert sorted(file.name for file in tmp_path.iterdir()) == ["games.zip", "out.jsonl"]
