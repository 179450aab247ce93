from pathlib import Path

import pytest

from proof.answers import Report
from proof.known_answers import check_known_answers
from proof.records import shared_folder


@pytest.fixture
def folder() -> Path:
    folder = shared_folder() / "data" / "known-answers"
    if not folder.is_dir():
        pytest.skip(f"no known answers in {folder}; MJBOT_SHARED names the shared folder")
    return folder


def test_every_published_answer_agrees_or_differs_for_a_known_reason(folder: Path) -> None:
    report = check_known_answers(folder)
    assert report.differences == []
    assert report.agreed["majiang-core shanten (three forms)"] == 40_000
    assert report.agreed["majiang-core payments"] == 10_000
    assert report.agreed["RiichiEnv yaku"] == 816
    assert sum(report.explained.values()) == 9


def test_a_wrong_answer_is_reported() -> None:
    report = Report()
    report.compare("fu", "some hand", 30, 40)
    assert list(report.lines()) == [
        "      1 differ without a known reason",
        "fu: ours 30, theirs 40, of some hand",
    ]
