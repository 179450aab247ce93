"""What is left over of pairs: planted help is found; style and strength are not taken for it."""

import numpy as np
import pytest

from mjbot.detection.detectors import N
from mjbot.detection.games import Games
from mjbot.detection.pairs import RELATIVE, base_rates, left_over_of, who_met

CHANCES = 20
PLAYERS = 12
RATE = 0.1


def played(n: int, acts=None, served=None, helped: float = 1.0, tables: int = PLAYERS) -> Games:
    """Games at random tables; players 0 and 1 hit each other ``helped`` times as often."""
    random = np.random.default_rng(5)
    acts = np.ones(PLAYERS) if acts is None else np.asarray(acts)
    served = np.ones(PLAYERS) if served is None else np.asarray(served)
    names = np.array([random.permutation(tables)[:4] for _ in range(n)], np.int32)
    rates = RATE * acts[names][:, :, None] * served[names][:, None]
    allied = (names[:, :, None] + names[:, None] == 1) & (names[:, :, None] != names[:, None])
    rates = np.where(allied, helped * rates, rates)
    chances = np.full((n, 4, 4, N), CHANCES, np.int16)
    hits = random.binomial(CHANCES, np.repeat(rates[..., None], N, axis=-1)).astype(np.int16)
    hits[:, range(4), range(4)] = chances[:, range(4), range(4)] = 0
    return Games(
        players=[f"p{k}" for k in range(PLAYERS)],
        numbers=np.arange(n, dtype=np.int32),
        names=names,
        hits=hits,
        chances=chances,
        scores=np.full((n, 4), 25_000, np.int32),
        kyoku=np.full(n, 10, np.int16),
        **nothing_hidden(n),
    )


def nothing_hidden(n: int):
    shapes = {"t": (4, 4, 5), "base": (4, 4, 5, 4), "level": (4, 5, 4, 2), "products": (6, 2, 5, 5)}
    return {name: np.zeros((n, *shape), np.float32) for name, shape in shapes.items()}


def z_of(games: Games, least: int = 5):
    met = who_met(games, least)
    rates = np.where(RELATIVE[0][:, None] > 0, RATE, 0.0) * np.ones((4, N))
    return met, left_over_of(games, met, rates)


def test_every_two_who_met_often_enough_are_a_pair_once():
    games = played(60)
    met = who_met(games, 5)
    for pair, places, seats in zip(met.pairs, met.games, met.seats, strict=True):
        assert pair[0] < pair[1] and len(places) >= 5
        for side in (0, 1):
            assert (games.names[places, seats[:, side]] == pair[side]).all()
    assert len(np.unique(met.pairs, axis=0)) == len(met.pairs)
    assert len(who_met(games, 1).pairs) == PLAYERS * (PLAYERS - 1) / 2


def test_base_rates_are_the_share_of_chances_taken():
    rates = base_rates(played(200))
    assert rates[1:] == pytest.approx(RATE, abs=0.01)
    assert not rates[0].any()


def test_strangers_have_a_z_of_mean_0_and_spread_1_at_most():
    _, left = z_of(played(150))
    assert abs(left.everywhere.mean()) < 0.1
    assert 0.75 < left.everywhere.std() < 1.05
    assert 0.75 < left.here.std() < 1.05


def test_help_stands_out_in_both_columns():
    met, left = z_of(played(150, helped=2.0))
    first = int(np.flatnonzero((met.pairs == (0, 1)).all(axis=1))[0])
    assert left.everywhere[first].mean() > 3
    assert left.here[first].mean() > 3
    others = np.delete(left.everywhere.mean(axis=1), first)
    assert others.max() < 1.5


def test_two_who_do_and_suffer_much_from_all_are_no_pair():
    wild = [3.0, 3.0] + [1.0] * (PLAYERS - 2)
    met, left = z_of(played(300, acts=wild, served=wild))
    first = int(np.flatnonzero((met.pairs == (0, 1)).all(axis=1))[0])
    assert abs(left.everywhere[first].mean()) < 1
    assert left.here[first].mean() > 3  # the one column alone would accuse them


def test_whoever_shuffles_the_seats_of_a_pair_takes_its_help_away():
    games = played(150, helped=2.0)
    random = np.random.default_rng(1)
    order = random.permuted(np.tile(np.arange(4), (len(games), 1)), axis=1)
    shuffled = Games(
        games.players, games.numbers, np.take_along_axis(games.names, order, axis=1),
        games.hits, games.chances, games.scores, games.kyoku, **nothing_hidden(len(games)),
    )  # fmt: skip
    before, after = (_z_of_the_first_two(each) for each in (games, shuffled))
    assert abs(after) < before / 3  # a sixth of the games is still as it was


def _z_of_the_first_two(games: Games) -> float:
    met, left = z_of(games)
    return float(left.everywhere[(met.pairs == (0, 1)).all(axis=1)].mean())
