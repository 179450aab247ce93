"""Where numba cannot be imported, commands run interpreted and report that in one line."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mjbot.runtime.compiler import mode

ROOT = Path(__file__).parents[2]
GAME = str(ROOT / "logs" / "east-four-winds.mjson")
BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        package = name.partition(".")[0]
        if package in ("numba", "llvmlite"):
            raise {problem}

sys.meta_path.insert(0, Blocked())
"""
MISSING = 'ModuleNotFoundError(f"No module named {name!r}", name=package)'
BROKEN = 'ImportError("Numba needs NumPy 2.4 or less.")'
LINE = r"mjbot runs interpreted, tens to hundreds of times slower: numba {} \(to compile: {}\)"
SCORE = ["score", "123m456p789s11z22z", "--ron", "1z"]
COMMANDS = {
    "score": SCORE,
    "convert": ["convert", GAME, "game.json"],
    "replay": ["replay", GAME],
    "draw": ["draw", GAME, "--at", "15", "--out", "position.svg"],
    "watch": ["watch", GAME, "--out", "game.html"],
    "stats": ["stats", GAME],
    "explain": ["explain", GAME, "--at", "15", "--strategy", "fast-policy"],
    "match": ["match", *4 * ["fast-riichi-a"], "--length", "tonpu", "--seed", "1"],
    "arena": ["arena", "fast-riichi-a", "fast-riichi-b", "--games", "4", "--length", "tonpu"],
}
PLAYED = {"match", "arena"}


def run(command, folder, problem=MISSING, **environ):
    (folder / "sitecustomize.py").write_text(BLOCKED.format(problem=problem) if problem else "")
    search = os.pathsep.join([str(folder), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-m", "mjbot", *command],
        env={**os.environ, "PYTHONPATH": search, "COLUMNS": "120", **environ},
        capture_output=True, text=True, check=False, cwd=folder, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_print_the_same_without_numba(tmp_path, name):
    done = run(COMMANDS[name], tmp_path)
    assert done.returncode == 0, done.stderr
    line = LINE.format("is not installed", "pip install numba")
    assert len(re.findall(line, done.stderr)) == 1
    assert done.stderr.count("interpreted") == 1  # by no worker, no player and no second time
    made = files_in(tmp_path)
    usual = run(COMMANDS[name], tmp_path, problem="")
    assert usual.returncode == 0
    if name in PLAYED:  # by processes, which come to the table in any order
        assert sorted(re.findall(r"\b\d{5}\b", done.stdout)) == sorted(
            re.findall(r"\b\d{5}\b", usual.stdout)
        )
    else:
        assert done.stdout == usual.stdout
    assert files_in(tmp_path) == made
    assert "interpreted" not in usual.stderr


def files_in(folder):
    suffixes = (".json", ".svg", ".html")
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in suffixes}


def test_a_numba_that_cannot_be_imported_is_named_with_its_reason(tmp_path):
    done = run(SCORE, tmp_path, problem=BROKEN)
    reason = r"cannot be imported \(Numba needs NumPy 2.4 or less.\)"
    assert re.fullmatch(LINE.format(reason, "pip install numba"), done.stderr.strip())


@pytest.mark.parametrize("variable", ["MJBOT_INTERPRETED", "NUMBA_DISABLE_JIT"])
def test_a_variable_asks_for_it(tmp_path, variable):
    done = run(SCORE, tmp_path, problem="", **{variable: "1"})
    assert done.stderr.rstrip().endswith(f": {variable} is set (to compile: unset {variable})")
    assert not run(SCORE, tmp_path, problem="", **{variable: "0"}).stderr


def test_what_takes_minutes_is_reported_with_the_cure(tmp_path):
    done = run(["explain", GAME, "--at", "15", "--strategy", "strongest"], tmp_path)
    assert done.returncode == 0
    line = r"^strongest: interpreted, a decision takes (about|more than) \d+\.\d s and a seat's "
    line += r"hanchan (about|more than) \d+ min \(to compile: pip install numba\)$"
    assert len(re.findall(line, done.stderr, re.MULTILINE)) == 1


def test_no_module_but_the_compiler_s_knows_numba():
    """One seam: what must be imported where nothing is compiled may not need it."""
    outside = re.compile(r"^\s*(import|from) (numba|llvmlite)\b", re.MULTILINE)
    seam = ROOT / "mjbot" / "runtime" / "compiler"
    for room in ("mjbot", "protocol", "strategies", "papers"):
        for path in (ROOT / room).rglob("*.py"):
            if seam not in path.parents:
                assert not outside.search(path.read_text(encoding="utf-8")), path


def test_this_process_compiles():
    """Else the tests of the compiler, and those above, prove nothing."""
    assert not mode.IS_INTERPRETED
    assert not mode.INTERPRETED_BECAUSE
