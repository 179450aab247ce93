"""What ``--help`` promises: every option is explained, and its default is told."""

import argparse
import re

import pytest

from mjbot.cli.commands import COMMANDS
from mjbot.cli.main import declare_command


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
        told = parser._get_formatter()._expand_help(action)
        default = action.default
        if isinstance(default, bool) or default in (None, [], (), argparse.SUPPRESS):
            continue
        shown = f"{default:g}" if isinstance(default, float) else str(default)
        assert re.search(rf"(?<![\w-]){re.escape(shown)}(?![\w-])", told), f"{name}: {told}"
