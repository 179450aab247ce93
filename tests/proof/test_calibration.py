"""The proof of chances to win: what it counts, and the calibration that it fits."""

import ast
from pathlib import Path

import numpy as np
import pytest

from mjbot.game.records.sources import open_games
from mjbot.protocol.messages import Hora, StartKyoku
from mjbot.strategies.evaluation.push_fold.win_chance import SITUATIONS
from proof.calibration import fitted, monotone, rows_of, table, won

LOG = Path(__file__).parents[2] / "logs" / "east-extra-round.mjson"


def rows(chances, share, situation=0, games=50):
    """Decisions whose players win as often as ``share`` of the estimated chance says."""
    wins = np.random.default_rng(3).random(len(chances)) < share(chances)
    game = np.arange(len(chances)) % games
    return np.column_stack([game, np.full(len(chances), situation), chances, wins])


def test_decisions_count_as_won_if_their_player_won_that_kyoku():
    (game,) = open_games(LOG)
    events = [entry.event for entry in game.entries]
    found = list(rows_of(events, 7))
    assert {each.game for each in found} == {7}
    n_kyoku = sum(isinstance(event, StartKyoku) for event in events)
    n_wins = sum(isinstance(event, Hora) for event in events)
    assert 0 < sum(each.won for each in found) < len(found)
    assert len({(each.situation) for each in found}) > 4
    assert 0.1 < np.mean([each.won for each in found]) < 2 * n_wins / (4 * n_kyoku)


def test_the_fit_finds_the_share_of_wins_and_never_falls():
    chances = np.random.default_rng(1).random(20_000)
    knots = monotone(rows(chances, lambda chance: chance**2))
    estimates, shares = zip(*knots, strict=True)
    assert list(estimates) == sorted(set(estimates))
    assert list(shares) == sorted(shares)
    assert shares == pytest.approx(np.square(estimates), abs=0.06)


def test_where_wins_fall_bins_are_merged():
    chances = np.linspace(0.01, 0.99, 4_000)
    knots = monotone(rows(chances, lambda chance: 0.9 - 0.8 * chance))
    assert len(knots) <= 2
    assert knots[-1] == pytest.approx((0.5, 0.5), abs=0.03)


def test_a_fit_is_printed_as_it_is_copied():
    printed = "\n".join(fitted(rows(np.linspace(0.2, 0.9, 5_000), lambda chance: chance, 1)))
    found = ast.literal_eval("{" + printed + "}")
    assert found["silent tenpai"][0] == (0.0, 0.0)
    assert found["silent tenpai"][-1] == pytest.approx((0.885, 0.885), abs=0.05)


def test_the_table_has_a_line_for_each_situation_that_occurs():
    lines = list(table(rows(np.linspace(0.1, 0.9, 2_000), lambda chance: chance, situation=3)))
    assert len(lines) == 4
    cells = lines[2].strip("| ").split(" | ")
    assert cells[:3] == [SITUATIONS[3], "2,000", "50.0"]
    assert len(cells) == 14
    assert lines[3].endswith("tenths outside their intervals")


def test_a_game_is_one_observation():
    game = np.repeat(np.arange(10), 100)
    alike = np.column_stack([game, np.zeros(1000), np.full(1000, 0.5), game % 2])
    alone = np.column_stack([np.arange(1000), np.zeros(1000), np.full(1000, 0.5), game % 2])
    assert won(alike).value == won(alone).value == 50
    assert won(alike).half_width > 5 * won(alone).half_width
