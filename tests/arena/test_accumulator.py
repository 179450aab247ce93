"""Games become walls in whatever order they come, and a run's memory is what its figures need."""

import random
import tracemalloc

import numpy as np
import pytest

from mjbot.arena.accumulator import WallAccumulator
from mjbot.arena.run_folder import GameLine
from mjbot.game.statistics.figures import COLUMNS, PAIR, ROW
from mjbot.game.statistics.seating import make_seating

WALLS = 250


def line(wall: int, seating: int, void: str = "", faults: tuple[int, ...] = ()) -> GameLine:
    own = random.Random(f"{wall} {seating}")
    scores = [own.randrange(0, 50_000, 100) for _ in range(3)]
    counts = tuple(tuple(own.randrange(9) for _ in COLUMNS) for _ in range(4))
    return GameLine(
        wall=wall, seating=seating, scores=(*scores, 100_000 - sum(scores)), counts=counts,
        faults=faults, void=void,
    )  # fmt: skip


@pytest.mark.parametrize("format_", ["pair", "1v3"])
def test_the_order_of_games_changes_nothing(format_):
    seating = make_seating(format_, 2)
    games = [(wall, table) for wall in range(200) for table in range(len(seating.tables))]
    in_order, shuffled = WallAccumulator(seating), WallAccumulator(seating)
    for game in games:
        in_order.add(line(*game))
    random.Random(7).shuffle(games)
    for game in [*games, *games[:50]]:
        shuffled.add(line(*game))
    assert shuffled.games == in_order.games == len(games)
    for n_walls in (0, 1, 63, 64, 65, 150, 200, 999):
        assert np.array_equal(shuffled.rows(n_walls), in_order.rows(n_walls))
        assert np.array_equal(shuffled.pairs(n_walls), in_order.pairs(n_walls))
    assert len(in_order.rows(999)) == 200


def test_void_and_unfinished_walls_have_no_rows():
    accumulator = WallAccumulator(make_seating("2v2", 2))
    for wall in range(100):
        for seating in range(6 - (wall == 9)):
            accumulator.add(line(wall, seating, void="why" * (wall == 70 and seating == 3)))
    assert len(accumulator.rows(100)) == 98
    assert accumulator.void == {70: "why"}
    assert accumulator.row(70) is accumulator.row(9) is accumulator.row(100) is None
    assert not accumulator.is_settled(9)
    assert accumulator.is_settled(70)
    assert np.array_equal(accumulator.row(99), accumulator.rows(100)[-1])


def test_a_wall_costs_its_records_and_hardly_more():
    """The 95 % intervals are clustered by wall: sums of each must be kept, but nothing beside."""
    seating = make_seating("pair", 2)
    games = [line(0, table) for table in range(6)]
    first = WallAccumulator(seating)
    for game in games:  # a first wall loads compiled code, which stays
        first.add(game)
    accumulator = WallAccumulator(seating)
    tracemalloc.start()
    for wall in range(WALLS):
        for game in games:
            accumulator.add(GameLine(wall, game.seating, game.scores, game.counts))
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    records = 2 * ROW.itemsize + 2 * PAIR.itemsize
    assert used / WALLS < 1.1 * (records + 2)  # there is room for 256
