import argparse
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench import compile, measure, rules

ROOT = Path(__file__).resolve().parent.parent.parent


def test_contenders_of_the_rules_benchmark_do_the_same_amount_of_work() -> None:
    contests = rules.contests()  # compares the answers, too
    assert len(contests) == 4 + 2 * bool(find_spec("cmajiang"))
    for contest in contests:
        assert contest.ours() == contest.theirs() == rules.N_HANDS


def test_report_has_rates_and_their_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "LEAST_SECONDS", 0.001)
    monkeypatch.setattr(measure, "_pin_to_one_core", lambda: None)
    contest = measure.Contest("work", "things", lambda: 3, "msgspec", lambda: 3, 0.1)
    report = measure.measure([contest], rounds=3)
    json.dumps(report)
    (result,) = report["results"]
    assert result["mjbot"] > 0
    assert result["peer_rate"] > 0
    assert result["lowest_ratio"] <= result["ratio"]
    assert set(report["packages"]) == {"numba", "msgspec"}


def test_an_unknown_benchmark_is_refused_with_the_names_there_are() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "bench", "nothing"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "rules" in run.stderr
    assert "Traceback" not in run.stderr


def test_both_kinds_of_benchmarks_are_found() -> None:
    assert bench._is_benchmark("def contests() -> list[Contest]:")
    assert bench._is_benchmark("def report(rounds: int) -> dict[str, Any]:")
    assert not bench._is_benchmark("def measure(contests) -> None:")


FEW_FUNCTIONS = """
from bench import compile
from mjbot.game.rules.kinds import hand_counts
from mjbot.game.rules.shanten import shanten

compile._play = lambda strategy: [int(shanten(hand_counts("123m456p789s1122z"), 0))]
compile.work()
"""


def test_the_benchmark_of_compiling_lists_the_costliest_functions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compile, "_PROGRAM", FEW_FUNCTIONS)
    monkeypatch.setattr(compile, "PRINTED", 2)
    args = argparse.Namespace(strategy="tsumogiri", json=False)
    assert compile.run(args) == 0  # the second start compiles nothing and finds the same
    head, bodies, _, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("tsumogiri: first start ")
    assert re.fullmatch(r"\d+ libraries of \d+ bodies", bodies)
    assert len(rows) == compile.PRINTED
    seconds = [float(row.split()[0]) for row in rows]
    assert seconds == sorted(seconds, reverse=True)


def test_what_the_benchmark_of_compiling_plays_is_a_game() -> None:
    assert sum(compile._play("tsumogiri")) == 100_000
