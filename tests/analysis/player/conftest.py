"""Recorded games of one player, games of three, and all seats of a game."""

from pathlib import Path
from typing import NamedTuple

import pytest

from mjbot.analysis.player.reviewed_games import ReviewedGame, ReviewedHeader, review_source
from mjbot.game.records.game import Entry, Game
from mjbot.game.records.sources import games_of, list_sources
from mjbot.game.records.writers import FORMATS
from mjbot.protocol.messages import Event
from tests.game.referee.played import game_of_three

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
def of_three(tmp_path_factory):
    """Return the files of three games of three, whose players change seats."""
    folder, names = tmp_path_factory.mktemp("three"), ("a", "b", "c")
    files = []
    for number in range(3):
        events = game_of_three(number, names[number:] + names[:number])
        entries = (Entry(place, event) for place, event in enumerate(events))
        files.append(folder / f"{number}.mjson")
        files[-1].write_bytes(FORMATS["mjai"].encode(Game("own", "line", entries)))
    return files


class Room(NamedTuple):
    """All seats of a game, reviewed, and its events."""

    games: tuple[ReviewedGame, ...]
    events: list[Event]


@pytest.fixture(scope="session", params=[4, 3])
def room(request):
    source = SOURCES[0]
    if request.param == 3:
        (source,) = list_sources(request.getfixturevalue("of_three")[0])
    (game,) = games_of(source, (3, 4))
    games = review_source(source, ReviewedHeader("", "fast-riichi-d", 0.0, 0)).games
    assert len(games) == request.param
    return Room(games, [entry.event for entry in game.entries])
