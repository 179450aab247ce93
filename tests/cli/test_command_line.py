"""What the command line prints before any command runs: help, examples, refusals."""

import re
import shlex
from pathlib import Path

import pytest

from mjbot.cli import main as program
from mjbot.cli.commands import COMMANDS, GROUPS
from mjbot.runtime.errors import ExitCode

ROOT = Path(__file__).parents[2]


def ended(capsys, *words: str) -> tuple[int, str, str]:
    """Run the program; return its status and what it printed."""
    try:
        status = program.main(words)
    except SystemExit as end:
        status = int(end.code or 0)
    return status, *capsys.readouterr()


def refusal(capsys, *words: str) -> str:
    """Return the one line with which the program refuses."""
    status, out, err = ended(capsys, *words)
    assert (status, out, err.count("\n")) == (ExitCode.BAD_ARGUMENTS, "", 1)
    return err.rstrip("\n")


@pytest.mark.parametrize("words", [(), ("help",), ("--help",)])
def test_without_a_command_the_help_lists_all_of_them_by_purpose(words, capsys):
    status, out, err = ended(capsys, *words)
    assert (status, err) == (ExitCode.OK, "")
    places = [out.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    for name, command in COMMANDS.items():
        assert len(re.findall(rf"^  {name} +{re.escape(command.summary)}$", out, re.M)) == 1


def test_help_of_a_command_and_the_version_need_no_dashes(capsys):
    assert ended(capsys, "help", "arena") == ended(capsys, "arena", "--help")
    assert ended(capsys, "version") == ended(capsys, "--version")
    assert ended(capsys, "version")[0] == ExitCode.OK


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_ends_with_examples_and_a_page(name, capsys):
    command = COMMANDS[name]
    status, out, _ = ended(capsys, name, "--help")
    assert status == ExitCode.OK
    listed = "\n".join(f"  {example}" for example in command.examples)
    assert out.endswith(f":\n{listed}\n\ndocumentation: {command.page}\n")
    assert (ROOT / command.page).is_file()


@pytest.mark.parametrize("example", [each for c in COMMANDS.values() for each in c.examples])
def test_every_example_is_a_command_line_that_is_accepted(example):
    mjbot, *words = shlex.split(example)
    assert mjbot == "mjbot"
    assert program._read(words).command == words[0]


def test_a_command_that_is_like_none_gets_the_list(capsys):
    line = refusal(capsys, "zzz")
    assert all(name in line for name in COMMANDS)
