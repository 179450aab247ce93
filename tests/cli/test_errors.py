"""How a command ends that a mistake or a bad file ends, and how it says so."""

import re
from pathlib import Path

import pytest

from mjbot.cli import main as program
from mjbot.play.match.node import Node
from mjbot.protocol.errors import LocalProtocolError, ProtocolError
from mjbot.runtime.errors import ArgumentError, ExitCode, MjbotError
from mjbot.strategy.options import StrategyError


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (MjbotError("two\nlines\x1b[2J"), 1, "two lines\\x1b[2J"),
        (MjbotError("gone", exit_code=ExitCode.UNREACHABLE), 3, "gone"),
        (ArgumentError("--games 0: at least 1"), 2, "--games 0: at least 1"),
        (StrategyError("unknown strategy 'x'"), 2, "unknown strategy 'x'"),
        (FileNotFoundError(2, "No such file or directory", "a.npz"), 3,
         "a.npz: No such file or directory"),
        (ConnectionError("nobody answers"), 3, "nobody answers"),
        (ProtocolError("type", "is missing"), 4, "the server broke the protocol: type: is missing"),
        (LocalProtocolError("type", "not now"), 1,
         "mjbot itself was about to break the protocol: type: not now"),
    ],
)  # fmt: skip
def test_what_ends_a_command_is_one_safe_line_and_its_code(error, code, line, monkeypatch, capsys):
    def raising() -> Node:
        raise error

    monkeypatch.setattr("mjbot.play.match.node.find_node", raising)
    assert program.main(["setup-node"]) == code
    assert capsys.readouterr() == ("", f"mjbot setup-node: {line}\n")


def test_a_fault_of_ours_keeps_its_traceback(monkeypatch):
    def raising() -> Node:
        raise KeyError("seat")

    monkeypatch.setattr("mjbot.play.match.node.find_node", raising)
    with pytest.raises(KeyError):
        program.main(["setup-node"])


BETWEEN_OURSELVES = {
    "BrokenLineError", "BusyError", "CrashError", "DeadlineError", "EngineError", "GivenUpError",
    "GoneError", "IllegalActionError", "LateError", "LostError", "ReplyError", "RoomError",
    "SilentError",
    "_CutError", "_DeadEndError", "_EnoughError", "_MissingFactError", "_OtherRulesError",
}  # fmt: skip
"""Caught where they are meant: said to another program, or turned into a fault."""
FAMILY = {"ArgumentError", "MismatchError", "RecordError", "StrategyError"}


def test_what_a_user_may_meet_is_of_one_family():
    strangers = set()
    for file in (Path(__file__).parents[2] / "mjbot").rglob("*.py"):
        for name, bases in re.findall(r"^class (\w+Error)\((.*)\):", file.read_text(), re.M):
            if "MjbotError" not in bases and not set(bases.split(", ")) & FAMILY:
                strangers.add(name)
    assert strangers == BETWEEN_OURSELVES | {"MjbotError"}
