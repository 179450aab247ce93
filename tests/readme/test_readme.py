"""What the README promises."""

import re
from pathlib import Path

import pytest

from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner
from mjbot.cli.main import COMMANDS
from mjbot.game.statistics.figures import from_rows

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md"))
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", *PAGES]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def test_the_first_bot_has_at_most_15_lines_and_wins_without_a_fault(tmp_path):
    code = re.search(r"```python\n(.*?)```", README, re.S)[1]
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 15
    file = tmp_path / "my_bot.py"
    file.write_text(code)
    setup = Setup(strategies=(f"{file}:MyBot", "fast-riichi-b"), format="2v2", length="tonpu")
    own = []
    with Clock(0, [0] * HEARTBEAT_SIZE) as clock:
        for seating, table in enumerate(setup.seating.tables):
            played = GameRunner(setup, clock).play(GameId(0, seating), {})
            assert not played.faults
            seats = from_rows(played.line.counts)
            own += [seats[seat] for seat in range(4) if table[seat] == 0]
    assert sum(seat["wins"] for seat in own) > 0.1 * sum(seat["kyoku"] for seat in own)


def test_it_is_short_and_shows_the_commands_of_the_three_ways_in():
    assert len(README.splitlines()) <= 120
    for command in ("review", "arena", "serve", "match", "help"):
        assert command in COMMANDS or command == "help"
        assert f"mjbot {command}" in README


def test_it_counts_the_strategies_that_a_wheel_has():
    (count,) = re.findall(r"Ships (\d+) strategies", README)
    modules = [path for path in (ROOT / "strategies").glob("*.py") if path.stem != "__init__"]
    assert int(count) == len(modules)


@pytest.mark.parametrize("file", DOCUMENTS)
def test_every_path_it_names_exists(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    paths = re.findall(r"`((?:mjbot|protocol|strategies|logs|tests|proof|bench)/[\w./]*)`", text)
    for path in paths:
        assert (ROOT / path).exists() or path == "logs/runs/", path


@pytest.mark.parametrize("file", [*DOCUMENTS, "CHANGELOG.md"])
def test_every_page_it_links_to_exists(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((ROOT / file).parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES)
def test_every_page_can_be_reached_from_the_readme(page):
    seen, new = set(), {ROOT / "README.md"}
    while new:
        file = new.pop()
        seen.add(file)
        links = re.findall(r"\]\(([^)#:]+\.md)\)", file.read_text(encoding="utf-8"))
        new |= {(file.parent / link).resolve() for link in links} - seen
    assert ROOT / page in seen


def test_every_room_and_its_packages_are_in_the_architecture():
    picture = ARCHITECTURE[ARCHITECTURE.index("```") : ARCHITECTURE.rindex("```")]
    rooms = re.split(r"^ (?=mjbot/)", picture, flags=re.M)[1:]
    folders = {path.parent for path in (ROOT / "mjbot").glob("*/__init__.py")}
    assert {room.split()[0] for room in rooms} == {
        f"mjbot/{folder.name}" for folder in folders if not folder.is_symlink()
    }
    beside = {folder.name for folder in folders if folder.is_symlink()}
    assert {*re.findall(r"^ (\w+)/", picture, re.M)} - {"mjbot"} == beside
    for room in rooms:
        packages = set(re.findall(r"^ {5}(\w+)/", room, re.M))
        found = {path.parent.name for path in (ROOT / room.split()[0]).glob("*/__init__.py")}
        assert packages == found, room.split()[0]
