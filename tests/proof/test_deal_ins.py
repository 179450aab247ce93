"""``python -m proof deal-ins``: what it counts in recorded games."""

from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from mjbot.learning.models.danger import danger_weights
from mjbot.learning.training.positions import collect, index_games
from proof import deal_ins
from proof.deal_ins import COUNT, DISCARDED, KEPT, STATED, WINNING, sums_of, table
from protocol.messages import Dahai, Hora

LOGS = Path(__file__).parents[2] / "logs"


def test_tiles_that_win_when_discarded_are_those_that_were_won_on():
    def counted(game):
        steps = list(game)
        rons = [step.event for step in steps if isinstance(step.event, Hora)]
        discards = sum(isinstance(step.event, Dahai) for step in steps)
        return sum(each.actor != each.target for each in rons), discards

    refs = index_games([LOGS / "hanchan-thirteen-kyoku.mjson", LOGS / "east-extra-round.mjson"])
    games = np.array(list(collect(refs, lambda game: sums_of(game, danger_weights()))))
    rons, discards = np.array(list(collect(refs, counted))).T
    assert rons.sum() > 5
    assert np.array_equal(games[:, :, DISCARDED, WINNING].sum(axis=1), rons)
    assert np.array_equal(games[:, :, DISCARDED, COUNT].sum(axis=1), 3 * discards)
    assert 0 < games[:, :, DISCARDED, STATED].sum() < games[:, :, KEPT, STATED].sum()


def test_the_ratio_is_of_sums_with_a_game_as_one_observation():
    games = np.zeros((40, 4, 2, 3))
    games[::2, 1, DISCARDED] = (4, 2, 40)
    games[1::2, 1, DISCARDED] = (2, 2, 40)
    lines = list(table(games))
    assert len(lines) == 2 + 2 * 5
    assert lines[5] == "| the opponent's riichi | discarded | 1,600 | 120 | 80 | 1.500 ± 0.162 |"
    assert lines[-1] == lines[5].replace("the opponent's riichi", "all")


def test_the_table_of_a_record_is_printed(capsys: pytest.CaptureFixture[str]):
    assert deal_ins.run(Namespace(records=LOGS / "east-extra-round.mjson", games=None)) == 0
    assert capsys.readouterr().out.endswith("\n1 games\n")
