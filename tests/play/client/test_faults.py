"""A strategy's faults: whole in the log at first, short afterwards, and all of them in the file."""

import logging

import pytest

from mjbot.play.client.faults import (
    FAULTS_VARIABLE,
    REPORTED_WHOLE,
    Faults,
    named_file,
    read_faults,
)
from mjbot.strategy.faults import Fault
from tests.damage import damages

LATE = Fault("late", 2, 7, "not ready after 30 s")


@pytest.fixture
def report():
    """Return what is logged, one text per message."""
    texts = []
    handler = logging.Handler()
    handler.emit = lambda record: texts.append(record.getMessage())
    ours = logging.getLogger("mjbot")
    ours.addHandler(handler)
    yield texts
    ours.removeHandler(handler)


def crash(text):
    def fail():
        raise ValueError(text)

    try:
        fail()
    except ValueError as error:
        return Fault("crash", 2, 7, f"ValueError: {text}"), error


def test_the_same_problem_is_told_whole_only_once(report):
    faults = Faults()
    for _ in range(3):
        faults.add(*crash("no {such} plan"))
    assert faults.count == {"crash": 3}
    first, *others = report
    assert first.startswith("fault 1 of the strategy: crash, ValueError: no {such} plan; a safe")
    assert "in fail" in first and first.endswith("ValueError: no {such} plan")
    assert others == [f"fault {number}: ValueError: no {{such}} plan" for number in (2, 3)]


def test_problems_that_are_never_the_same_do_not_fill_the_log(report):
    faults = Faults()
    for number in range(20):
        faults.add(*crash(str(number)))
    assert sum("Traceback" in text for text in report) == REPORTED_WHOLE
    assert report[-1] == "fault 20: ValueError: 19"


def test_the_file_has_every_fault_as_soon_as_it_happened(tmp_path):
    file = tmp_path / "faults.csv"
    assert read_faults(file) == []
    odd = Fault("crash", 2, 0, 'KeyError: "a, b"')
    faults = Faults(file)
    for number, fault in enumerate([odd, LATE, odd], 1):
        faults.add(fault)
        assert len(read_faults(file)) == number
    Faults(file).add(LATE)  # the player's next process
    assert read_faults(file) == [odd, LATE, odd, LATE]


def test_a_damaged_line_is_a_fault_too(tmp_path):
    file = tmp_path / "faults.csv"
    kept = [Fault("crash", 2, 0, 'KeyError: "a, b"'), LATE, Fault("absent", 1, 7, "no one é")]
    for fault in kept:
        Faults(file).add(fault)
    text = file.read_bytes()
    for form in damages(file, 150):
        found = read_faults(file)
        assert len(found) == len([line for line in form.split(b"\r\n") if line]), form
        whole = text.startswith(form) * form.count(b"\r\n")
        assert found[:whole] == kept[:whole], form
    file.write_bytes(text.replace(b"late,2", b"lbte,2"))
    assert [fault.problem for fault in read_faults(file)] == [
        kept[0].problem, f"line 2 of {file} is damaged", kept[2].problem
    ]  # fmt: skip


def test_who_starts_the_player_names_the_file(monkeypatch, tmp_path):
    monkeypatch.delenv(FAULTS_VARIABLE, raising=False)
    assert named_file() is None
    monkeypatch.setenv(FAULTS_VARIABLE, str(tmp_path / "x.csv"))
    assert named_file() == tmp_path / "x.csv"
