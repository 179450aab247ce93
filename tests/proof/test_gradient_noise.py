"""``python -m proof gradient-noise`` and ``one-against-others``: their figures."""

import argparse

import numpy as np
import pytest

from mjbot.learning.models.weights import OF_PLAYERS
from proof import gradient_noise, one_against_others


def test_signal_and_noise_are_found_where_they_are_known():
    random = np.random.default_rng(0)
    signal = random.normal(size=2000)
    signal *= 0.5 / np.linalg.norm(signal)
    parts = signal + random.normal(size=(16, 2000)) / np.sqrt(1000)
    found = gradient_noise.signal_and_noise(parts @ parts.T)
    assert found.signal == pytest.approx(0.25, abs=4 * found.error)
    assert found.error < 0.02
    assert found.noise == pytest.approx(2.0, rel=0.05)
    assert found.is_shown
    at, low, high = (
        float(part.strip("()").replace(",", ""))
        for part in found.decisions(500.0).split()
        if part != "to"
    )
    assert low < 2000 < high
    assert low < at < high
    nothing = gradient_noise.Signal(-0.1, 2.0, 0.2)
    assert nothing.decisions(300.0) == "1,000 or more"


def test_a_row_of_the_table_is_written_for_each_advantage(monkeypatch, capsys):
    monkeypatch.setattr(gradient_noise, "TABLES", 2)
    parser = argparse.ArgumentParser()
    gradient_noise.add_arguments(parser)
    sizes = ("--hanchan", "4", "--parts", "4", "--critic", "2")
    assert gradient_noise.run(parser.parse_args(sizes)) == 0
    printed = capsys.readouterr().out.splitlines()
    assert "open decisions; the critic explains" in printed[0]
    assert len(printed) == 4 + len(gradient_noise.VARIANTS)
    assert "critic, lambda 1 |" in printed[4 + gradient_noise.UNBIASED]


@pytest.mark.parametrize(("players", "hanchan", "middle"), [(4, 100, "2.500"), (3, 75, "2.000")])
def test_one_among_others_alike_comes_out_in_the_middle(capsys, players, hanchan, middle):
    parser = argparse.ArgumentParser()
    one_against_others.add_arguments(parser)
    options = ("--players", str(players), "--hanchan", str(hanchan), "--seed", "1")
    args = parser.parse_args([str(OF_PLAYERS[players]), *options])
    assert one_against_others.run(args) == 0
    expected = f"{hanchan} hanchan: rank {middle} [{middle}, {middle}], points "
    assert expected in capsys.readouterr().out
