import json

from bench import __main__ as bench
from bench import pair


def test_the_slowest_hundredth_is_told_apart_from_the_rest(capsys):
    quick, slow = [f"{ms / 100:.3f} 0" for ms in range(985)], ["25.000 1"] * 15
    found = pair._figures("bot", [*slow, *quick])
    assert found["decisions"] == 1000
    assert found["median_ms"] < 10
    assert (found["p99_ms"], found["max_ms"], found["reached"]) == (25.0, 25.0, False)
    assert found["waited_percent"] == 1.5
    assert pair._figures("bot", [*slow[:5], *quick])["reached"]
    machine = {"processor": "x", "cores": 2, "python": "3", "load_before": [0], "load_after": [1]}
    report = {"machine": machine, "hanchan": 1, "seed": 2, "results": [found]}
    json.dumps(report)
    pair.print_report(report)
    assert "TOO SLOW (at most 20 ms)" in capsys.readouterr().out


def test_both_kinds_of_benchmarks_are_found():
    assert bench._is_benchmark("def contests() -> list[Contest]:")
    assert bench._is_benchmark("def report(rounds: int) -> dict[str, Any]:")
    assert not bench._is_benchmark("def measure(contests) -> None:")
