import json
from math import inf

import pytest

from bench import strategies
from mjbot.strategy.registry import built_in_names

MakeTimes = strategies.Times


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let games end, however busy the machine, and even where all must be compiled first."""
    monkeypatch.setattr(strategies, "Times", lambda left_ns=inf: MakeTimes(left_ns=inf))


def test_a_strategy_is_timed_at_all_its_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    found = strategies.measured("fast-riichi-a", 1)
    again = strategies.Times()
    strategies.play(strategies.table_of("fast-riichi-a"), 0, again)
    assert found["decisions"] == len(again.wall) == len(again.processor) > 300
    assert 0 < found["median_us"] <= found["p99_us"]
    assert found["hanchan_per_processor_s"] > 0
    assert found["reached"]


def test_one_of_a_pair_is_linked_with_another_and_timed_alone() -> None:
    setup = strategies.table_of("yaku-evaluation")
    assert setup.format == "pair"
    assert setup.strategies == ("yaku-evaluation", "combo-partner", strategies.RIVAL)
    times = strategies.Times()
    strategies.play(setup, 0, times)
    assert 50 < len(times.wall) < 600  # one seat of four


def test_a_slow_strategy_is_found_wanting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "LIMITS_MS", {"fast-riichi": 1e-6})
    assert not strategies.measured("fast-riichi-a", 1)["reached"]


def test_every_strategy_of_the_list_is_in_the_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    idle = strategies.measured("tsumogiri", 1)
    assert idle["median_us"] is None  # it asks to be left alone
    monkeypatch.setattr(strategies, "measured", lambda name, _: {**idle, "name": name})
    report = strategies.report(1)
    json.dumps(report)
    assert [result["name"] for result in report["results"]] == list(built_in_names())
    strategies.print_report(report)
    assert len(capsys.readouterr().out.splitlines()) == 4 + len(built_in_names())


def test_a_very_slow_strategy_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "Times", lambda left_ns=0.0: MakeTimes(left_ns=1.0))
    found = strategies.measured("fast-riichi-a", 5)
    assert found["hanchan"] == 0
    assert found["hanchan_per_processor_s"] is None
    assert found["decisions"] >= 1
