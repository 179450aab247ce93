"""``python -m proof cost-spread``: made costs, whose spread is known, and a recorded game."""

from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from mjbot.analysis.review.playouts import FIRST_WORLDS
from proof import cost_spread
from proof.cost_spread import SHARES, greatest, likelihood, report
from proof.game_lines import read_lines

LOG = Path(__file__).parents[2] / "logs" / "east-extra-round.mjson"


def made(share, n=4000):
    """Return gains whose true values scatter by so many standard deviations of one world."""
    random = np.random.default_rng(2)
    scatter = random.choice([0.05, 0.2, 0.6], n)
    errors = scatter / FIRST_WORLDS**0.5
    means = random.normal(random.normal(0, share * scatter), errors)
    return np.array([means, errors, np.full(n, FIRST_WORLDS)])


def test_the_spread_of_made_costs_is_found():
    means, errors, worlds = made(0.08)
    scatter = errors * np.sqrt(worlds)
    found, _ = greatest(SHARES, lambda share: likelihood(means, errors, share * scatter))
    assert found.low < 0.08 < found.high and found.half_width < 0.01


def test_the_report_prefers_the_model_that_made_the_costs(monkeypatch):
    for spreads in ("NARROW", "WIDE"):  # of two classes a few are enough here
        monkeypatch.setattr(cost_spread, spreads, getattr(cost_spread, spreads)[::6])
    gains = made(0.08).T.tolist()
    lines = [{"game": "g", "gains": [*gains, [0.0, 0.0, FIRST_WORLDS]]}]
    text = list(report(lines))
    assert text[0] == "4001 different choices of 1 games, 1 alike in all worlds"
    assert text[1] == "standard deviation of one world: median 0.200 places"
    assert text[3].startswith("spread, in standard deviations of one world: 0.0")
    assert float(text[5].rsplit(" ", 1)[1]) > 100
    assert list(report([{"game": "g", "gains": []}])) == [
        "0 different choices of 1 games, 0 alike in all worlds"
    ]


def test_a_game_is_played_on_once(tmp_path, capsys):
    out = tmp_path / "spread.jsonl"
    args = Namespace(records=LOG, by="fast-riichi-d", games=":", out=out, simulate=False)
    assert cost_spread.run(args) == 0
    (line,) = read_lines(out)
    assert line["gains"] and all(worlds == FIRST_WORLDS for _, _, worlds in line["gains"])
    assert cost_spread.run(args) == 0
    assert len(out.read_text().splitlines()) == 1
    assert capsys.readouterr().out.count("mean cost: ") == 2


@pytest.mark.parametrize("spread", [0.0, 0.05])
def test_the_likelihood_is_that_of_normal_numbers(spread):
    means, errors = np.array([0.1, -0.2]), np.array([0.05, 0.1])
    scale = np.sqrt(errors**2 + spread**2)
    density = np.exp(-0.5 * (means / scale) ** 2) / scale
    assert likelihood(means, errors, spread) == pytest.approx(np.log(density).sum())
