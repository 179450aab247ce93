"""What the proof of the checks counts."""

import json

import pytest

from proof.check import PartyResults, line_of, note


def report(**verdicts):
    checks = [{"id": id_, "verdict": verdict, "text": "why"} for id_, verdict in verdicts.items()]
    return json.dumps({"checks": checks})


def test_failed_checks_and_verdicts_that_differ_are_listed():
    tally = PartyResults()
    note(tally, report(B01="OK", B04="NON-STRICT"), 2.0)
    note(tally, report(B01="OK", B04="FAILED"), 3.0)
    assert tally.failed == {"B04: why": 1}
    assert line_of("x", tally) == (
        "x: 2 runs, 1 failed check, 3 s at most, verdicts that differ: B04"
    )


@pytest.mark.parametrize("text", ["", "mjbot check: no such file", "[]"])
def test_a_run_without_a_report_is_a_failure(text):
    tally = PartyResults()
    note(tally, text, 1.0)
    assert sum(tally.failed.values()) == 1
