"""``breakpoint()`` in a strategy, where docs/strategies.md says that it works: a terminal."""

import os
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

BOT = """
from mjbot.api import Strategy

class Debugged(Strategy):
    stopped = False

    def decide(self, view):
        if not Debugged.stopped:
            Debugged.stopped = True
            breakpoint()
        return view.default_action

class Always(Strategy):
    def decide(self, view):
        breakpoint()
        return view.default_action

class AtTheStart(Strategy):
    def start_game(self, seat, names):
        breakpoint()

    def decide(self, view):
        return view.default_action
"""


def _read_until(terminal: int, wanted: bytes) -> bytes:
    """Return what was printed up to the text, or to the end of the program."""
    printed = b""
    while wanted not in printed:
        try:
            printed += os.read(terminal, 4096)
        except OSError:  # the program has ended
            return printed
    return printed


def _arena(folder: Path, strategy: str) -> tuple[int, int]:
    """Start an arena in a terminal; return the process and the terminal."""
    (folder / "debugged.py").write_text(BOT)
    arguments = [f"debugged.py:{strategy}", "tsumogiri", "--games", "6", "--length", "tonpu"]
    arguments += ["--jobs", "1", "--deadline-s", "0"]
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(folder)
        os.execv(sys.executable, [sys.executable, "-m", "mjbot", "arena", *arguments])
    return pid, terminal


def test_a_strategy_can_be_debugged_with_one_job_and_no_deadline(tmp_path: Path) -> None:
    pid, terminal = _arena(tmp_path, "Debugged")
    assert b"(Pdb) " in _read_until(terminal, b"(Pdb) ")
    os.write(terminal, b"p len(view.tiles) * 1000\n")
    assert b"\n14000\r\n" in _read_until(terminal, b"(Pdb) ")
    os.write(terminal, b"c\n")
    ended = _read_until(terminal, b"no such text")
    assert b"BdbQuit" not in ended
    assert b"processes lost: 0" in ended
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)


@pytest.mark.parametrize("strategy", ["Always", "AtTheStart"])
def test_leaving_the_debugger_ends_the_run(tmp_path: Path, strategy: str) -> None:
    pid, terminal = _arena(tmp_path, strategy)
    assert b"(Pdb) " in _read_until(terminal, b"(Pdb) ")
    os.write(terminal, b"q\n")
    ended = _read_until(terminal, b"(Pdb) ")
    assert b"(Pdb) " not in ended
    assert b"interrupted; kept: 0 games" in ended
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    os.close(terminal)
