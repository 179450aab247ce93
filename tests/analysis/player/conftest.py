"""Recorded games of one player, and one game of all four."""

from pathlib import Path

import pytest

from mjbot.analysis.player.reviewed_games import ReviewedHeader, review_source
from mjbot.game.records.sources import list_sources

LOGS = Path(__file__).parents[3] / "logs"
SOURCES = list_sources(LOGS / "east-four-winds.mjson") + list_sources(
    LOGS / "east-extra-round.mjson"
)


@pytest.fixture(scope="session")
def lines():
    header = ReviewedHeader("majiang", "fold-recognition-plus", 0.0, 0)
    return [review_source(source, header) for source in SOURCES]


@pytest.fixture(scope="session")
def games(lines):
    return [game for line in lines for game in line.games]


@pytest.fixture(scope="session")
def room():
    """Return all four seats of a game."""
    header = ReviewedHeader("", "fast-riichi-d", 0.0, 0)
    return review_source(SOURCES[0], header).games
