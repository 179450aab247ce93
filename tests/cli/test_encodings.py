"""Output that a stream cannot encode ends no command: escapes of JSON take its place."""

import ast
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from mjbot.cli import main as program
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.files import write_text
from mjbot.runtime.progress import progress
from mjbot.runtime.streams import ESCAPE, encoded, escape_unencodable
from papers.__main__ import main as papers_main

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "logs" / "east-four-winds.mjson"
NAME = "牌譜😀é.mjson"
PLAYERS = ("天鳳位", "B😀", "Ça", "d")
ENCODINGS = ("ascii", "latin-1", "cp1252", "cp932", "utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a record whose name and players no code page has."""
    folder = tmp_path_factory.mktemp("records")
    first, *rest = RECORD.read_text("utf-8").splitlines(keepends=True)
    start = json.loads(first) | {"names": PLAYERS}
    (folder / NAME).write_text(json.dumps(start) + "\n" + "".join(rest), "utf-8")
    return folder


def ended(encoding: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Run a command with streams of an encoding; return its status and what it wrote."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2)]
    for name, stream in zip(("stdout", "stderr"), streams, strict=True):
        monkeypatch.setattr(sys, name, stream)
    try:
        status = program.main(words)
    except SystemExit as end:
        status = int(end.code or 0)
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode(encoding) for stream in streams)  # type: ignore
    return status, out, err


COMMANDS = {
    "stats": ["stats", NAME, "--jobs", "1"],
    "stats --json": ["stats", NAME, "--jobs", "1", "--json"],
    "replay": ["replay", NAME],
    "watch --out": ["watch", NAME, "--out", "盤.html"],
    "convert": ["convert", NAME, "変.json"],
    "detect": ["detect", NAME],
    "explain": ["explain", NAME, "--seat", "0", "--strategy", "tsumogiri"],
    "review": ["review", NAME, "--seat", "0", "--playouts", "0", "--language", "zh-Hans"],
    "strategies": ["strategies"],
    "score --json": ["score", "123m406p789s55z67s", "--ron", "5s", "--riichi", "--json"],
    "help": ["help", "review"],
    "no such file": ["stats", "無😀.mjson"],
    "no such option": ["stats", "--無😀"],
    "no such command": ["無😀"],
}
STATUSES = {
    "no such file": ExitCode.UNREACHABLE,
    "no such option": ExitCode.BAD_ARGUMENTS,
    "no such command": ExitCode.BAD_ARGUMENTS,
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_ends_as_with_utf_8(
    name: str, encoding: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    status, out, err = ended(encoding, COMMANDS[name], monkeypatch)
    assert (status, "Traceback" in err) == (STATUSES.get(name, ExitCode.OK), False), err
    if name.endswith("--json"):
        assert json.loads(out) == json.loads(ended("utf-8", COMMANDS[name], monkeypatch)[1])


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text here")
@pytest.mark.parametrize("name", ["stats", "watch --out", "convert", "review", "no such file"])
def test_a_file_name_that_is_no_text_ends_nothing(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = os.fsdecode(b"\xff\xfe.mjson")
    monkeypatch.chdir(folder)
    (folder / broken).write_bytes((folder / NAME).read_bytes())
    words = [broken if word == NAME else word.replace("😀", broken) for word in COMMANDS[name]]
    status, _out, err = ended("utf-8", words, monkeypatch)
    assert (status, "Traceback" in err) == (STATUSES.get(name, ExitCode.OK), False), err


def test_the_program_itself_sets_its_streams(folder: Path) -> None:
    command = [sys.executable, "-m", "mjbot", "stats", "無😀.mjson"]
    environ = {**os.environ, "PYTHONIOENCODING": "ascii:strict", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=False)
    assert done.returncode == ExitCode.UNREACHABLE
    assert rb"mjbot stats: \u7121\ud83d\ude00.mjson: " in done.stderr


def test_the_papers_set_their_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "main", papers_main)
    status, _, err = ended("ascii", ["無"], monkeypatch)
    assert status == ExitCode.BAD_ARGUMENTS and r"\u7121" in err


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_bar_of_progress(encoding: str) -> None:
    paper = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=ESCAPE)
    console = Console(file=paper, force_terminal=True, width=80)
    with progress(console, "読む", 2, "games") as step:
        step(1, "牌譜")
    paper.flush()


def test_streams_without_an_encoding_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    escape_unencodable()
    assert encoded("漢", io.StringIO()) == "漢".encode()


def test_an_interruption_is_reported_in_the_encoding_of_the_stream() -> None:
    program_text = """
import os, signal
from mjbot.runtime.interruption import ending_at_once, keeping
with ending_at_once("mjbot 試"), keeping(lambda: "kept \\udcff"):
    signal.raise_signal(signal.SIGINT)
"""
    environ = {**os.environ, "PYTHONIOENCODING": "cp932", "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program_text], env=environ, capture_output=True, check=False
    )
    text = done.stderr.decode("cp932")
    assert (done.returncode, text) == (130, "mjbot 試: interrupted; kept \\udcff\n")


def test_files_are_written_in_utf_8(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "漢\udcff")
    assert (tmp_path / "a").read_bytes() == "漢\\udcff".encode()


MODES = re.compile("[rwxa]?[+t]*|[+t]*[rwxa]?")


def _unnamed(path: Path) -> list[str]:
    """Return the places where a file opens another as text and leaves its encoding to chance."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call) or {key.arg for key in node.keywords} & {"encoding"}:
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in ("read_text", "write_text"):
            is_bare = len(node.args) == (name == "write_text")
            is_path = isinstance(node.func, ast.Attribute)
            found += [f"{path}:{node.lineno}"] if is_bare and is_path else []
        elif getattr(getattr(node.func, "value", None), "id", "") == "archive":
            continue  # members of a zip are bytes
        elif name in ("open", "fdopen", "TemporaryFile", "NamedTemporaryFile"):
            texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
            texts += [k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)]
            modes = [text for text in texts if isinstance(text, str) and MODES.fullmatch(text)]
            found += [f"{path}:{node.lineno}"] if modes else []
    return found


def test_every_file_that_is_opened_as_text_names_its_encoding() -> None:
    paths = [
        path
        for folder in ("mjbot", "protocol", "strategies", "papers")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    assert [place for path in paths for place in _unnamed(path)] == []
