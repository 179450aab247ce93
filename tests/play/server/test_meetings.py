"""Rotation by names: everybody meets everybody, and new names gain nothing."""

import itertools
import random
from collections import Counter

import pytest

from mjbot.play.server import meetings as meetings_module
from mjbot.play.server.meetings import Meetings

ROUNDS = 300
FAIR = ROUNDS * 3 / 7


def rounds(names_of, n=ROUNDS, seed=5):
    """Seat six regulars and two colluders at two tables; yield who sat together each round."""
    lots = random.Random(seed)
    meetings = Meetings(random.Random(seed))
    met = False
    for number in range(n):
        two = names_of(number, met)
        queue = [*[f"regular{i}" for i in range(6)], *two]
        lots.shuffle(queue)
        tables = []
        while queue:
            sitting = [queue.pop(0)]
            while len(sitting) < 4:
                sitting.append(queue.pop(meetings.choose(queue, sitting)))
            meetings.note(sitting, queue)
            tables.append(sitting)
        met = any(set(two) <= set(table) for table in tables)
        yield met, tables
    assert len(meetings) <= meetings_module.MOST_PAIRS


def own_names():
    return lambda number, met: ("a", "b")


def fresh_each_game():
    return lambda number, met: (f"a{number}", f"b{number}")


def one_fresh():
    return lambda number, met: ("a", f"b{number}")


def fresh_after_meeting():
    current = [0]

    def names(number, met):
        current[0] += met
        return f"a{current[0]}", f"b{current[0]}"

    return names


@pytest.mark.parametrize("habit", [own_names, fresh_each_game, one_fresh, fresh_after_meeting])
def test_colluders_meet_no_more_than_fair_whatever_names_they_take(habit):
    """Of ten runs the mean: four standard errors of it, by lot, are 11 meetings."""
    counts = [sum(met for met, _ in rounds(habit(), seed=seed)) for seed in range(10)]
    assert sum(counts) / len(counts) < FAIR + 11


def test_players_with_names_of_their_own_meet_evenly():
    pairs = Counter()
    for _, tables in rounds(own_names(), 70):
        for table in tables:
            pairs.update(itertools.combinations(sorted(table), 2))
    assert len(pairs) == 28
    assert 29 <= min(pairs.values()) <= max(pairs.values()) <= 31


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(meetings_module, "MOST_PAIRS", 40)
    assert len(list(rounds(fresh_each_game(), 50))) == 50
