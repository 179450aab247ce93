"""Programs of others in ``python -m proof strangers``: what stands between their words and ours."""

import pytest

from proof.answers import Report

pytest.importorskip("jansou")
from proof.foreign.jansou_records import replay_jansou_games


def test_a_game_of_jansou_replays_with_an_abort_and_a_draw_without_payments():
    report = Report()
    replay_jansou_games(1, 1, report)
    assert not report.differences
    assert report.agreed["hanchan of jansou"] == 1 and report.agreed["kyoku"] > 8
