"""What the README promises."""

import re
from pathlib import Path

import pytest

from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import Games
from mjbot.cli.main import COMMANDS
from mjbot.statistics.counts import from_rows

ROOT = Path(__file__).parents[2]
DOCUMENTS = ["README.md", *sorted(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_bot_has_at_most_15_lines_and_wins_without_a_fault(tmp_path):
    code = re.search(r"```python\n(.*?)```", README, re.S)[1]
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 15
    file = tmp_path / "my_bot.py"
    file.write_text(code)
    setup = Setup(strategies=(f"{file}:MyBot", "fast-riichi-b"), format="2v2", length="tonpu")
    own = []
    with Clock(0, [0] * HEARTBEAT_SIZE) as clock:
        for seating, table in enumerate(setup.seating.tables):
            played = Games(setup, clock).play(GameId(0, seating), {})
            assert not played.faults
            seats = from_rows(played.line.counts)
            own += [seats[seat] for seat in range(4) if table[seat] == 0]
    assert sum(seat["wins"] for seat in own) > 0.1 * sum(seat["kyoku"] for seat in own)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command):
    assert f"`mjbot {command}" in README


@pytest.mark.parametrize("file", DOCUMENTS)
def test_every_path_it_names_exists(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    paths = re.findall(r"`((?:mjbot|protocol|strategies|logs|tests|proof|bench)/[\w./]*)`", text)
    for path in paths:
        assert (ROOT / path).exists() or path == "logs/runs/", path


def test_every_room_of_mjbot_is_in_the_readme():
    rooms = [path for path in (ROOT / "mjbot").iterdir() if path.name[0] not in "._"]
    for room in rooms:
        name = f"`mjbot/{room.name}/`" if room.is_dir() else f"`{room.name}`"
        assert name in README or room.suffix not in ("", ".py"), name
