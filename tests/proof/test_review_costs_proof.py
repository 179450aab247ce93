"""``python -m proof review-costs`` and ``mistakes``: correlations, the last judge, and resuming."""

import json
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mjbot.analysis.review.decisions import judge
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.playouts import Shown
from mjbot.game.records.sources import open_games
from mjbot.game.statistics.estimates import Estimate, around
from mjbot.game.table.actions import RON, TSUMO
from mjbot.learning.playouts.override import Gain
from mjbot.strategy.registry import Spec
from proof import mistakes, review_costs
from proof.game_lines import read_lines
from proof.mistakes import FinalJudge
from proof.review_costs import pulls, report

LOG = Path(__file__).parents[2] / "logs" / "east-extra-round.mjson"


def rooms(n, slope, seed=0):
    """Return made games: costs that go with the place by ``slope``, shares that do not."""
    random = np.random.default_rng(seed)
    for number in range(n):
        places = random.permutation(4) + 1
        seats = [
            {
                "place": int(place), "decisions": 150, "differing": 30,
                "cost": slope * place + random.normal(), "shown": 0.0,
                "share": random.normal(), "points": random.normal(),
                "verdicts": {"shown": 2, "not shown to differ": 28},
            }
            for place in places
        ]  # fmt: skip
        yield {"game": f"g{number}", "seats": seats}


def within(lines, key):
    values = np.array([[seat[key] for seat in line["seats"]] for line in lines], float)
    return values - values.mean(axis=1, keepdims=True)


def test_the_correlation_is_that_of_numpy_and_its_interval_holds_the_truth():
    lines = list(rooms(200, 0.5))
    x, y = within(lines, "cost"), within(lines, "place")
    r, pull = pulls(x, y)
    assert r == pytest.approx(np.corrcoef(x.ravel(), y.ravel())[0, 1])
    assert 0.3 < r < 0.7
    held = 0
    for seed in range(200):
        made = list(rooms(60, 0.0, seed))
        value, pull = pulls(within(made, "cost"), within(made, "place"))
        estimate = around(value, pull)
        held += estimate.low < 0 < estimate.high
    assert 180 <= held <= 199


def test_the_report_compares_costs_with_shares():
    text = list(report([*rooms(100, 0.5), {"game": "bad", "fault": "a table"}]))
    assert text[0] == "100 games, 12,000 different choices played on, 1 faults"
    assert "shown: 800 (6.7 %)" in text and "bad: a table" in text
    cells = {row.split(" | ")[0].strip("| "): row.split(" | ") for row in text if "(" in row}
    assert cells["cost"][2].startswith("+0.") and cells["cost"][3].startswith("+0.")
    low = float(cells["cost"][3].split("(")[1].split(" to ")[0])
    assert low > 0
    assert cells["share"][3].startswith("-")
    assert cells["shown"][2].startswith("+0.000")  # nothing was shown of any seat


def test_a_run_resumes_after_the_last_whole_game(tmp_path, monkeypatch, capsys):
    out = tmp_path / "costs.jsonl"
    args = Namespace(records=LOG, by="fast-riichi-d", games=":", budget=0.0, out=out)
    assert review_costs.run(args) == 0
    (line,) = read_lines(out)
    assert len(line["seats"]) == 4 and sorted(s["place"] for s in line["seats"]) == [1, 2, 3, 4]
    for seat in line["seats"]:
        assert sum(seat["verdicts"].values()) <= seat["differing"] <= seat["decisions"]
    out.write_bytes(out.read_bytes() + b'{"game": "cut off')
    monkeypatch.setattr(review_costs, "judge", None)  # nothing is judged again
    assert review_costs.run(args) == 0
    assert len(out.read_text().splitlines()) == 1
    assert "1 games" in capsys.readouterr().out


@pytest.fixture(scope="module")
def won():
    """Return a decision at which a seat won, and what it could have done instead."""
    (game,) = open_games(LOG)
    events = [entry.event for entry in game.entries]
    judged = judge(events, SeatedPlayers(Spec.read("fast-riichi-d"), 0), range(4), ())
    decision = next(each for each in judged.decisions if each.actual.code in (RON, TSUMO))
    other = next(each for each in decision.view.legal if each.is_pass or each.is_discard)
    return decision, other


def test_a_win_let_go_costs_places_at_the_end_of_the_game(won):
    decision, other = won
    none, gain = Estimate(0, 0, 0), Gain(0.0, 0.0, 1)
    shown = Shown(none, none, gain, gain, better=decision.actual)
    cost = FinalJudge().gain(replace(decision, actual=other, then=None), shown, 300)
    assert cost.low > 0
    same = FinalJudge().gain(replace(decision, then=None), shown, 50)
    assert (same.value, same.low, same.high) == (0, 0, 0)


def test_mistakes_that_hold_are_counted(tmp_path, capsys):
    def mistake(value, half):
        final = [value, value - half, value + half]
        return {"at": "E1-0:1", "actual": "a", "better": "b", "review": [0.1, 0.05, 0.15],
                "worlds": 128, "final": final}  # fmt: skip

    found = [mistake(0.1, 0.05), mistake(0.05, 0.1), mistake(-0.01, 0.1), mistake(-0.2, 0.1)]
    out = tmp_path / "mistakes.jsonl"
    out.write_text(
        json.dumps({"game": str(LOG), "different": 30, "shown": 6, "mistakes": found}) + "\n"
    )
    args = Namespace(records=LOG, by="fast-riichi-d", games=":", budget=0.0, out=out)
    assert mistakes.run(args) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "confirmed 2 of 4; interval above 0: 1, below 0: 1"
    assert "1 games: 30 different choices, 6 shown, 4 judged" in lines
    assert lines[-2].startswith("mean places: +0.100 in the review, -0.015")
