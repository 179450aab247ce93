"""What is kept of each game, and which pairs of players met in them."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import mjbot
from mjbot.detection.games import GameCounts, count_games, who_met
from mjbot.detection.hidden import no_model
from mjbot.records.sources import open_games
from mjbot.training.positions import index_games
from protocol.messages import EndGame, Event, StartGame, StartKyoku

LOGS = sorted((Path(mjbot.__file__).parents[1] / "logs").glob("*.mjson"))


@pytest.fixture(scope="module")
def games() -> GameCounts:
    return count_games(index_games(LOGS), no_model())


def events_of(log: Path) -> Iterator[Event]:
    for game in open_games(log):
        yield from (entry.event for entry in game.entries)


def test_names_scores_and_kyoku_are_those_of_each_record(games: GameCounts) -> None:
    assert len(games) == len(LOGS)
    for place, log in enumerate(LOGS):
        events = list(events_of(log))
        (start,) = [event for event in events if isinstance(event, StartGame)]
        (end,) = [event for event in events if isinstance(event, EndGame)]
        names = [games.players[number] for number in games.names[place]]
        assert names == list(start.names or ())
        assert tuple(games.scores[place]) == (end.scores or (0, 0, 0, 0))
        assert games.kyoku[place] == sum(isinstance(event, StartKyoku) for event in events)
    assert games.scores.any()


def at_random_tables(games: GameCounts, n: int, players: int) -> GameCounts:
    """Return ``n`` copies of the first game, each with four of so many players."""
    random = np.random.default_rng(5)
    many = games.take(np.zeros(n, np.intp))
    names = np.array([random.permutation(players)[:4] for _ in range(n)], np.int32)
    return replace(many, names=names, players=[f"p{k}" for k in range(players)])


def test_every_two_who_met_often_enough_are_a_pair_once(games: GameCounts) -> None:
    many = at_random_tables(games, 60, 12)
    together = {
        pair: sum({*pair} <= {*table} for table in many.names.tolist())
        for pair in combinations(range(12), 2)
    }
    assert min(together.values()) < 5 < max(together.values())
    for least in (1, 5):
        met = who_met(many, least)
        pairs = list(map(tuple, met.pairs.tolist()))
        assert pairs == [pair for pair, n in together.items() if n >= least]
        for pair, places, seats in zip(pairs, met.games, met.seats, strict=True):
            assert len(places) == together[pair]
            for side in (0, 1):
                assert (many.names[places, seats[:, side]] == pair[side]).all()
