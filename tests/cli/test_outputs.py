"""No command writes over what it reads, nor over a file of another kind."""

import errno
import gzip
import os
import shutil
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from mjbot.analysis.stats.outputs import write_csv
from mjbot.cli.commands import COMMANDS
from mjbot.cli.main import main, request_class
from mjbot.cli.outputs import check_outputs, holds_games
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.files import write_text
from mjbot.runtime.requests import GAMES, NamedPath

RECORD = next((Path(__file__).parents[2] / "logs").glob("east-four-winds.mjson"))
TENHOU6 = '{"title":["",""],"name":["a","b","c","d"],"rule":{"disp":""},"log":[[[0,0,0],[]]]}'

READ = {
    "accounts", "token_file", "account_file", "ws_token_file", "profile", "game", "records",
    "reference", "review", "repro", "source", "start", "check", "weights", "files",
    "data", "pair_start", "mean_of", "protocol",
}  # fmt: skip
FOLDERS = {"log_dir", "folder", "out"}
WRITTEN = {
    ("check", "junit"), ("stats", "html"), ("stats", "csv"), ("stats", "parquet"),
    ("review", "out"), ("review", "json"), ("watch", "out"), ("draw", "out"), ("convert", "out"),
    ("detect", "html"), ("init", "file"), ("play", "log"), ("play", "timings"),
    ("run", "log"), ("run", "status"), ("ladder", "report"),
}  # fmt: skip


def path_fields(command, request):
    """Yield the command, name and mark of all options and arguments that are paths."""
    types = get_type_hints(request)
    for each in fields(request):
        if "kinds" in each.metadata:
            for word, kind in each.metadata["kinds"][0]().items():
                yield from path_fields(f"{command} {word}", kind.request)
        elif part := each.metadata.get("request"):
            yield from path_fields(command, part)
        elif "argparse" in each.metadata:
            alternatives = [types[each.name], *get_args(types[each.name])]
            if Path in alternatives:
                yield command, each.name, each.metadata["writes"]


ALL = [found for name in COMMANDS for found in path_fields(name, request_class(name))]


def test_every_path_of_every_command_is_read_or_written_or_a_folder():
    """A new option has to be put into one of the three."""
    assert {(command, name) for command, name, writes in ALL if writes is not None} == WRITTEN
    others = {(command, name) for command, name, writes in ALL if writes is None}
    unknown = {(command, name) for command, name in others if name not in READ | FOLDERS}
    assert unknown == {("explain", "log")}  # a record


@pytest.fixture
def game(tmp_path):
    return Path(shutil.copy(RECORD, tmp_path / "g.mjson"))


def refused(capsys, *arguments):
    assert main([str(each) for each in arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


COMMANDS_ON = {
    "convert": ["convert", "GAME", "GAME"],
    "review": ["review", "GAME", "--seat", "0", "--out", "GAME"],
    "review --json": ["review", "GAME", "--seat", "0", "--json", "GAME"],
    "watch": ["watch", "GAME", "--out", "GAME"],
    "draw": ["draw", "GAME", "--out", "GAME"],
    "stats --html": ["stats", "GAME", "--html", "GAME"],
    "stats --csv": ["stats", "GAME", "--csv", "GAME"],
    "stats --parquet": ["stats", "GAME", "--parquet", "GAME"],
    "detect": ["detect", "GAME", "--html", "GAME"],
    "check": ["check", "tsumogiri", "--junit", "GAME"],
    "init": ["init", "GAME", "--force"],
    "ladder": ["ladder", "--report", "GAME"],
    "play --timings": ["play", "ws://127.0.0.1:1/ws", "--timings", "GAME"],
}


@pytest.mark.parametrize("command", COMMANDS_ON)
@pytest.mark.parametrize("name", ["g.mjson", "g.json", "g.jsonl", "g.html", "g.csv", "g.xml",
                                  "g.parquet", "g.svg", "g.zip", "g.toml"])  # fmt: skip
def test_a_record_is_never_written_over(command, name, tmp_path, game, capsys):
    """Neither the record that is read nor another, whatever its ending."""
    path = game.rename(tmp_path / name)
    before = path.read_bytes()
    line = refused(
        capsys, *[str(path) if word == "GAME" else word for word in COMMANDS_ON[command]]
    )
    assert "name a file that ends in" in line or "name another file" in line
    assert path.read_bytes() == before


@pytest.mark.parametrize("how", ["link", "hard link", "dots"])
def test_another_name_of_the_input_is_the_input(how, tmp_path, game, capsys):
    other = tmp_path / "other.mjson"
    if how == "link":
        other.symlink_to(game)
    elif how == "hard link":
        os.link(game, other)
    else:
        (tmp_path / "sub").mkdir()
        other = tmp_path / "sub" / ".." / "g.mjson"
    before = game.read_bytes()
    assert "the command reads it (IN)" in refused(capsys, "convert", game, other)
    assert game.read_bytes() == before


def test_two_outputs_are_two_files(tmp_path, game, capsys):
    html, page = tmp_path / "a.html", tmp_path / "a.html"
    line = refused(capsys, "stats", game, "--html", html, "--csv", page.with_suffix(".csv"),
                   "--parquet", html)  # fmt: skip
    assert "name a file that ends in .parquet" in line
    request = [NamedPath("--a", html, ()), NamedPath("--b", page, ())]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ArgumentError, match="writes it"):
        patch.setattr("mjbot.cli.outputs.paths_of", lambda _: request)
        check_outputs(None)


@pytest.mark.parametrize(
    "existing", ["[server]\n", "import os\n", '{"games": 3}', "<!doctype html>"]
)
@pytest.mark.parametrize("command", ["convert", "play"])
def test_a_record_is_not_written_over_a_file_of_another_kind(
    command, existing, tmp_path, game, capsys
):
    out = tmp_path / "report.json"
    out.write_text(existing)
    arguments = ["convert", game, out]
    if command == "play":
        arguments = ["play", "mjsonp://127.0.0.1:1/default", "--log", out]
    assert "exists, and is no record of games; name another file" in refused(capsys, *arguments)
    assert out.read_text() == existing


@pytest.mark.parametrize("key", ["log", "status"])
@pytest.mark.parametrize("file", ["bot.toml", "token", "g.mjson"])
def test_a_service_logs_over_no_file_of_its_own(key, file, tmp_path, game, capsys):
    (tmp_path / "token").write_text("a-token\n")
    text = f'[server]\nurl = "ws://127.0.0.1:1/ws"\ntoken_file = "{tmp_path}/token"\n'
    (tmp_path / "bot.toml").write_text(f'{text}[logs]\n{key} = "{tmp_path / file}"\n')
    before = (tmp_path / file).read_bytes()
    assert "name another file" in refused(capsys, "run", tmp_path / "bot.toml", "--check")
    assert (tmp_path / file).read_bytes() == before


def test_a_folder_of_conversions_holds_none_of_the_inputs(tmp_path, game, capsys):
    before = game.read_bytes()
    assert main(["convert", str(game), str(tmp_path), "--to", "mjai"]) == 2
    assert "g.mjson: is read by this command; name another folder" in capsys.readouterr().err
    assert game.read_bytes() == before


def test_an_earlier_output_is_written_again(tmp_path, game):
    for out in ("a.jsonl", "a.jsonl.gz", "a.zip", "folder"):
        for _ in range(2):
            assert main(["convert", str(game), str(tmp_path / out)]) == 0
    for _ in range(2):
        assert main(["draw", str(game), "--out", str(tmp_path / "a.svg")]) == 0
        assert main(["init", str(tmp_path / "bot.toml"), "--force"]) == 0


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"type":"start_game"}', True),
        (b'\xef\xbb\xbf [ {"type": "hello"}', True),
        (TENHOU6.encode(), True),
        (b"<mjloggm ver='2.3'>", True),
        (gzip.compress(b"<mjloggm ver='2.3'>", mtime=0), True),
        (gzip.compress(b"text", mtime=0), False),
        (b"\x1f\x8bno gzip", False),
        (b'{"engine": "x", "mjai_log": [{"type": "none"}]}', False),
        (b'{"program": "mjbot", "lanes": []}', False),
        (b"[server]\n", False),
        (b"<?xml version='1.0'?><testsuite>", False),
        (b"", False),
    ],
)
def test_what_looks_like_a_record(data, expected, tmp_path):
    (tmp_path / "file").write_bytes(data)
    assert holds_games(tmp_path / "file") is expected


@pytest.mark.parametrize(("name", "expected"), [("a/b.mjson", True), ("bot.py", False)])
def test_a_zip_of_something_else_is_no_record(name, expected, tmp_path):
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr(name, "x")
    assert holds_games(tmp_path / "z.zip") is expected


def test_paths_are_found_in_groups_and_lists():
    found = {(command, name) for command, name, writes in ALL if writes == GAMES}
    assert found == {("convert", "out"), ("play", "log")}


@pytest.mark.parametrize("writes", ["page", "csv"])
def test_a_full_disk_leaves_the_page_that_was_there(writes, tmp_path, monkeypatch):
    out = tmp_path / "out"
    out.write_text("the old one")

    class Report:
        rows = ()

    def full(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("mjbot.analysis.stats.outputs.columns", lambda report: {"a": ["b"]})
    open_ = Path.open

    def opened(path, *how, **more):
        file = open_(path, *how, **more)

        class Full:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                file.close()

            write = full

        return Full()

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(OSError, match=r"No space left on device.*out"):
        write_text(out, "half") if writes == "page" else write_csv(out, Report())
    monkeypatch.undo()
    assert out.read_text() == "the old one"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_device_is_written_directly_and_a_link_stays_one(tmp_path):
    write_text(Path(os.devnull), "x")
    assert not Path(os.devnull).is_file()
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "target").write_text("old")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"
