"""Comparisons adjusted for the opponents' strength, against players of known strength."""

import numpy as np
import pytest

from mjbot.analysis.stats.breakdown import Breakdown, BreakdownPlan
from mjbot.analysis.stats.counted_games import GameBatch
from mjbot.analysis.stats.outputs import StatsReport, comparison_lines
from mjbot.analysis.stats.periods import ComparedSide
from mjbot.analysis.stats.strength import Adjusted, FinishedGames, PlackettLuce
from mjbot.analysis.stats.sums import PLAYER_FIGURES
from tests.analysis.stats.test_breakdown import counted, made_game

APART = 0.6
"""Log odds of the two pools, on either side of the players that are compared."""
RUNS = 50
FIGURE = PLAYER_FIGURES[0]
Table = tuple[str, ...]


def drawn_ranks(rng: np.random.Generator, strengths: list[float]) -> tuple[int, ...]:
    """Ranks of a Plackett-Luce order: strengths with Gumbel noise, sorted."""
    scores = np.array(strengths) + rng.gumbel(size=4)
    return tuple((1 + (-scores).argsort().argsort()).tolist())


def pools(rng: np.random.Generator, bridges: int, shuffled: bool) -> list[Table]:
    """``a`` meets eight weak players, ``b`` eight strong ones; in ``bridges`` games these meet."""
    tables: list[Table] = []
    for own, kind in (("a", "weak"), ("b", "strong")):
        for _ in range(150):
            tables.append((own, *[f"{kind} {k}" for k in rng.permutation(8)[:3]]))
    for _ in range(bridges):
        met = [f"{kind} {k}" for kind in ("weak", "strong") for k in rng.permutation(8)[:2]]
        tables.append(tuple(met))
    if shuffled:
        rng.shuffle(tables)
    return [tuple(str(name) for name in rng.permutation(table)) for table in tables]


def played(rng: np.random.Generator, tables: list[Table], more_of_a: float = 0.0) -> FinishedGames:
    strength = {"a": more_of_a, "b": 0.0}
    strength |= {f"weak {k}": -APART for k in range(8)}
    strength |= {f"strong {k}": APART for k in range(8)}
    games = FinishedGames()
    for number, table in enumerate(tables):
        games.add(number, table, drawn_ranks(rng, [strength[name] for name in table]))
    return games


def simulated(seed: int, bridges: int, shuffled: bool, more_of_a: float = 0.0) -> Adjusted | None:
    rng = np.random.default_rng(seed)
    return played(rng, pools(rng, bridges, shuffled), more_of_a).adjusted("a", "b")


def test_pools_that_never_met_are_not_compared() -> None:
    assert all(simulated(seed, 0, True) is None for seed in range(5))


def test_equal_players_of_badly_connected_pools_are_called_equal() -> None:
    """In 95 of 100 simulations, as a 95 % interval should."""
    ways = [(1, True), (10, True), (100, False), (100, True)]
    found = [simulated(seed, *way) for way in ways for seed in range(RUNS // 2)]
    wrong = [one for one in found if one is None or one.rank.leaves_out_zero]
    assert len(wrong) <= 0.05 * len(found)


def test_the_interval_holds_the_true_chance_of_finishing_ahead_and_not_more_than_it_must() -> None:
    """One in twenty intervals misses in the mean; from one sigma it would be one in three."""
    true = 1 / (1 + np.exp(-0.5))
    found = [simulated(1000 + seed, 100, True, more_of_a=0.5) for seed in range(RUNS)]
    held = [one is not None and one.ahead.low < true < one.ahead.high for one in found]
    assert 0.88 * RUNS <= sum(held) < RUNS
    values = [one.ahead.value for one in found if one is not None]
    assert np.mean(values) == pytest.approx(true, abs=0.02)
    assert sum(one is not None and one.rank.high < 0 for one in found) > 0.3 * RUNS


def test_more_games_between_the_pools_make_the_comparison_surer() -> None:
    few, more, many = (simulated(3, bridges, True) for bridges in (1, 10, 100))
    assert few is not None and more is not None and many is not None
    assert few.rank.half_width > 1.3 * more.rank.half_width > 1.6 * many.rank.half_width


def test_the_order_of_the_games_has_no_influence() -> None:
    rng = np.random.default_rng(8)
    tables = pools(rng, 30, True)
    ranks = [drawn_ranks(rng, [0.0] * 4) for _ in tables]
    found = []
    for order in (range(len(tables)), rng.permutation(len(tables)).tolist()):
        games = FinishedGames()
        for number in order:
            games.add(number, tables[number], ranks[number])
        adjusted = games.adjusted("a", "b")
        assert adjusted is not None
        found.append([adjusted.rank.value, adjusted.rank.low, adjusted.ahead.high])
    assert found[0] == pytest.approx(found[1], abs=1e-6)


def test_strengths_are_those_of_greatest_posterior_probability() -> None:
    """Against a dense Newton step with derivatives by differences."""
    rng = np.random.default_rng(4)
    order = np.array([rng.permutation(6)[:4] for _ in range(40)])
    model = PlackettLuce(order, 6)
    best = model._value(model.strengths)
    for _ in range(200):
        assert model._value(model.strengths + rng.normal(0, 0.02, 6)) < best
    step = 1e-4
    unit = step * np.eye(6)
    second = np.array(
        [
            [
                model._value(model.strengths + one + other)
                - model._value(model.strengths + one - other)
                - model._value(model.strengths - one + other)
                + model._value(model.strengths - one - other)
                for other in unit
            ]
            for one in unit
        ]
    ) / (4 * step**2)
    right = rng.normal(size=6)
    assert -second @ model.solve(right) == pytest.approx(right, abs=1e-3)


def test_games_of_one_wall_are_one_observation() -> None:
    """The same game told sixteen times over is no surer than once, if it is one wall's."""
    rng = np.random.default_rng(2)
    walls = [(drawn_ranks(rng, [0.0] * 4), tuple(rng.permutation(["a", "b", "c", "d"])))
             for _ in range(100)]  # fmt: skip
    once, often = FinishedGames(), FinishedGames()
    for number, (ranks, names) in enumerate(walls):
        once.add(number, names, ranks)
        for _ in range(16):
            often.add(number, names, ranks)
    one, many = once.adjusted("a", "b"), often.adjusted("a", "b")
    assert one is not None and many is not None
    assert many.rank.half_width == pytest.approx(one.rank.half_width, rel=0.15)


# --- what is compared ---------------------------------------------------------------------------


def test_two_periods_of_one_player_are_players_of_their_own() -> None:
    """The player got much better, its opponents did not."""
    rng = np.random.default_rng(6)
    games = []
    for number in range(400):
        later = number >= 200
        names = ("bot", *[f"other {k}" for k in rng.permutation(5)[:3]])
        ranks = drawn_ranks(rng, [1.5 * later, 0.0, 0.0, 0.0])
        day = "2026-11-02" if later else "2026-10-02"
        games.append(made_game(names, ranks, day, number))
    sides = ComparedSide.read("bot@2026-11"), ComparedSide.read("bot@2026-10")
    found = counted(BreakdownPlan(sides=sides), games)
    adjusted = found.adjusted()
    assert adjusted is not None
    assert adjusted.rank.high < -0.4 and adjusted.ahead.low > 0.65
    assert adjusted.rank.value == pytest.approx(found.sides.difference(FIGURE).value, abs=0.15)


def test_where_nothing_connects_two_players_one_line_says_so() -> None:
    sides = ComparedSide("a"), ComparedSide("b")
    games = [made_game((own, f"{own}1", f"{own}2", f"{own}3"), (1, 2, 3, 4), number=number)
             for number, own in enumerate("abab")]  # fmt: skip
    report = StatsReport("", counted(BreakdownPlan(sides=sides), games))
    assert list(comparison_lines(report)) == [
        "a (2 games) less b (2 games)",
        "not adjusted for the opponents' strength: no chain of games connects a and b",
    ]


def test_batches_change_no_comparison() -> None:
    rng = np.random.default_rng(1)
    sides = ComparedSide("a"), ComparedSide("b")
    games = [made_game(tuple(rng.permutation(["a", "b", "c", "d"])), (1, 2, 3, 4), number=number)
             for number in range(60)]  # fmt: skip
    one = counted(BreakdownPlan(sides=sides), games)
    many = Breakdown(BreakdownPlan(sides=sides))
    for game in games:
        many.add(GameBatch([game], []))
    many.finish()
    first, second = one.adjusted(), many.adjusted()
    assert first is not None and second is not None and first.rank == second.rank
