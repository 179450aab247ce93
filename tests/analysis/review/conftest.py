"""A recorded game judged by two players, and a game that a player played itself."""

from pathlib import Path

import pytest

from mjbot.analysis.review.decisions import judge
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.summary import Review, Reviewer
from mjbot.game.records.sources import open_games
from mjbot.game.referee import Referee
from mjbot.protocol.messages import StartGame
from mjbot.strategy.registry import Spec, make_strategy
from tests.game.referee.played import game_of_three

LOG = Path(__file__).parents[3] / "logs" / "hanchan-open-kan-and-bust.mjson"
SEAT = 2


def review_by(name, events, seat=SEAT, seats=range(4), in_full=()):
    spec = Spec.read(name)
    judged = judge(events, SeatedPlayers(spec, 0), seats, in_full or [seat])
    return Review("a game", seat, Reviewer.of(spec, players=judged.players), judged)


@pytest.fixture(scope="session")
def events():
    (game,) = open_games(LOG)
    return [entry.event for entry in game.entries]


@pytest.fixture(scope="session")
def by_points(events):
    return review_by("fold-recognition-plus", events)


@pytest.fixture(scope="session")
def by_shares(events):
    return review_by("supervised", events)


@pytest.fixture(scope="session")
def of_three():
    """Return a game of three, by the shares that ``strongest`` has for three, all seats in full."""
    return review_by("strongest", game_of_three(2), seats=range(3), in_full=range(3))


@pytest.fixture(params=["by_points", "by_shares"])
def review(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def played():
    """Return what a strategy plays against three others, as its record."""

    def events_of(name, seed):
        bots = [make_strategy(name), *[make_strategy("fast-riichi-d") for _ in range(3)]]
        referee = Referee(seed, "tonpu")
        events = [StartGame(names=("own", "b", "c", "d")), *referee.start()]
        while asked := referee.asked:
            events += referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in asked})
        return [event for place, event in enumerate(events) if place == 0 or not is_start(event)]

    return events_of


def is_start(event):
    return isinstance(event, StartGame)
