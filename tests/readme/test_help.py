"""What ``--help`` promises: every option is explained, and its default is told."""

import argparse
import re
from pathlib import Path

import pytest

from mjbot.cli.commands import COMMANDS, GROUPS
from mjbot.cli.main import declare_command, main

ROOT = Path(__file__).parents[2]


def options_of(command):
    parser = argparse.ArgumentParser()
    declare_command(command, parser)
    return parser, [action for action in parser._actions if action.option_strings]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_says_what_it_is_and_what_it_is_if_left_out(command):
    parser, options = options_of(command)
    for action in options:
        name = action.option_strings[0]
        assert action.help, name
        report = parser._get_formatter()._expand_help(action)
        default = action.default
        if isinstance(default, bool) or default in (None, [], (), argparse.SUPPRESS):
            continue
        shown = f"{default:g}" if isinstance(default, float) else str(default)
        assert re.search(rf"(?<![\w-]){re.escape(shown)}(?![\w-])", report), f"{name}: {report}"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_ends_with_two_examples_and_its_page(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = capsys.readouterr().out
    end = r"\nexamples:\n((?:  .+\n)+)\ndocumentation: (\S+)\n$"
    examples, page = re.search(end, text).groups()
    assert examples.count("\n") >= 2
    assert (ROOT / page).is_file()


def test_mjbot_alone_lists_every_command_in_a_group(capsys):
    with pytest.raises(SystemExit):
        main([])
    text = capsys.readouterr().out
    for title, group in GROUPS.items():
        assert re.search(rf"^{title}:$", text, re.M)
        for name, command in group.items():
            assert re.search(rf"^  {name} +{re.escape(command.summary)}$", text, re.M)
