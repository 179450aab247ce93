"""A strategy that writes to its view gets the error that it gets in the arena."""

import re
from pathlib import Path

import numpy as np
import pytest

from mjbot.analysis.review.decisions import judge
from mjbot.analysis.review.players import (
    SeatedPlayers,
    StrategyFailedError,
    honest_view,
    view_after,
)
from mjbot.cli.main import main
from mjbot.game.records.choices import steps_of
from mjbot.game.table.actions import ACTIONS, DECLARE_RIICHI
from mjbot.runtime.errors import ExitCode
from mjbot.strategy.registry import Spec
from mjbot.viewer.thoughts import NoThoughtError, thoughts_at

LOG = Path(__file__).parents[3] / "logs" / "hanchan-open-kan-and-bust.mjson"
BOT = """
from mjbot import Strategy

class Writer(Strategy):
    def decide(self, view):
        view.hand[0] += 1
        return view.default_action
"""
REFUSED = r"ValueError: .*read-only \(writer\.py, line 6\)"


@pytest.fixture
def writer(tmp_path):
    (tmp_path / "writer.py").write_text(BOT)
    return Spec.read(f"{tmp_path / 'writer.py'}:Writer")


def test_a_review_refuses_what_the_arena_refuses(writer, events):
    with pytest.raises(StrategyFailedError, match=REFUSED):
        judge(events, SeatedPlayers(writer, 0), [0])


def test_the_board_refuses_it_too(writer, events):
    with pytest.raises(NoThoughtError, match=REFUSED):
        thoughts_at(writer, steps_of(events), 3, 0)


def test_explain_says_where_it_was_written(writer, capsys):
    command = ["explain", str(LOG), "--at", "3", "--strategy", str(writer)]
    assert main(command) == ExitCode.FAILED
    assert re.search(REFUSED, capsys.readouterr().err)


def test_nothing_of_a_view_can_be_written_to_and_it_stays_as_it_was(review, events):
    for decision in review.decisions:
        view = decision.view
        for array in (view.hand, view.unseen, view.dora, view.scores, view.river(0)):
            assert not array.flags.writeable
        assert view.state["hand"][view.seat].sum() == view.state["hand_size"][view.seat]
    first = next(step for step in steps_of(events) if step.number == 3)
    view = honest_view(first.table, 0, 3)
    assert view.last_round == 3
    held = view.hand.copy()
    honest_view(first.table, 1)
    assert np.array_equal(view.hand, held)


def test_the_view_after_a_riichi_is_sealed_as_well(by_points):
    decision = next(
        each
        for each in by_points.judged.decisions
        if any(action.is_riichi for action in each.view.legal)
    )
    after = view_after(decision.view, ACTIONS[DECLARE_RIICHI])
    assert after is not None and after.riichi(after.seat)
    assert not after.hand.flags.writeable
