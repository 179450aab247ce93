"""What is said of strong players' open discards: the fit, and what it is fitted to."""

from pathlib import Path

import numpy as np
import pytest

from mjbot.records.choices import steps
from proof.open_discards import LEAST, SURE, Asked, fit, rows_of, told
from strategies.collusion_mc import CollusionMc
from strategies.fold_recognition_plus import FoldRecognitionPlus
from strategies.supervised import Supervised

LOG = Path(__file__).parents[2] / "logs" / "hanchan-open-kan-and-bust.mjson"


def test_the_fit_finds_what_choices_were_made_by():
    generator = np.random.default_rng(4)
    inputs = generator.normal(size=(20_000, 3))
    by = np.array([1.0, 0.5, 0.0])
    chosen = (generator.random(20_000) < 1 / (1 + np.exp(-inputs @ by))).astype(float)
    found = fit(inputs, chosen)
    assert found.values == pytest.approx(by, abs=0.06)
    assert (np.abs(found.values - by) < 2 * found.half_widths).all()
    assert found.half_widths == pytest.approx([0.04, 0.035, 0.033], abs=0.006)
    assert found.log_loss < fit(inputs[:, 1:], chosen).log_loss < np.log(2)


def test_open_discards_of_a_game_have_what_each_says_of_them():
    asked = Asked(Supervised(), FoldRecognitionPlus(), CollusionMc(), 3)
    rows = np.array(list(rows_of(steps(LOG), asked)))
    odds, points, ranks, chosen = rows.T
    assert len(rows) > 5
    assert ((odds >= 0) & (odds <= np.log(SURE / LEAST))).all()
    assert (np.abs(points) <= 3).all() and points.any()
    assert (np.abs(ranks) <= 4).all() and ranks.any()
    assert set(chosen) == {0, 1}
    assert len(list(told(rows))) == 5
