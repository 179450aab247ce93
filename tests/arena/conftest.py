"""Runs of the arena with the strategies of bots.py."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mjbot.arena.setup import Setup
from mjbot.game.statistics.seating import SeatingFormat

BOTS = Path(__file__).with_name("bots.py")


def bot(name: str) -> str:
    return f"{BOTS}:{name}" if name[0].isupper() else name


@pytest.fixture
def setup_of() -> Callable[..., Setup]:
    """Make a setup of tonpu games; names with capitals are classes of bots.py."""

    def make(*names: str, format_: SeatingFormat = "2v2", **fields: object) -> Setup:
        strategies = tuple([bot(name) for name in names])
        return Setup(strategies=strategies, format=format_, length="tonpu", **fields)  # type: ignore[arg-type]

    return make
