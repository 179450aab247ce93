"""What the README promises."""

import re
from pathlib import Path

import pytest

from mjbot.cli.main import COMMANDS
from mjbot.referee import Referee
from mjbot.registry import make_strategy

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_bot_has_at_most_15_lines_and_plays_a_game(tmp_path):
    code = re.search(r"```python\n(.*?)```", README, re.S)[1]
    assert len(code.splitlines()) <= 15
    file = tmp_path / "my_bot.py"
    file.write_text(code)
    bots = [make_strategy(f"{file}:MyBot") for _ in range(4)]
    referee = Referee(seed=1, length="tonpu")
    referee.start()
    while not referee.over:
        referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in referee.asked})
    assert referee.state["scores"].sum() == 100000


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command):
    assert f"`mjbot {command}" in README


def test_every_path_it_names_exists():
    paths = re.findall(r"`((?:mjbot|protocol|strategies|logs|tests|proof|bench)/[\w./]*)`", README)
    assert len(paths) > 10
    for path in paths:
        assert (ROOT / path).exists() or path == "logs/runs/", path
