"""The proof of reviews counts every seat of every game once."""

from pathlib import Path

import pytest

from mjbot.analysis.review.reasons import KINDS
from mjbot.game.records.sources import list_sources
from proof.review import SeatLine, report_lines, review_batch

LOG = Path(__file__).parents[2] / "logs" / "east-extra-round.mjson"


@pytest.fixture(scope="module")
def outcome():
    return review_batch((list_sources(LOG), "fast-riichi-d"))


def test_each_seat_of_a_game_has_a_line(outcome):
    assert outcome.faults == []
    assert [line.seat for line in outcome.lines] == [0, 1, 2, 3]
    assert sorted(line.place for line in outcome.lines) == [1, 2, 3, 4]
    for line in outcome.lines:
        assert 0 < line.same <= line.decisions
        assert sum(line.kinds.values()) == pytest.approx(line.loss)


def line(game: int, place: int, loss: float) -> SeatLine:
    kinds = dict.fromkeys(KINDS, 0.0)
    return SeatLine(f"g{game}", place - 1, f"p{place}", place, 0, 10, 10, 5, loss, loss, kinds)


def test_it_says_whether_losses_tell_fourth_from_first():
    apart = [line(n, place, 10 * place + n % 3) for n in range(9) for place in (1, 2, 3, 4)]
    text = "\n".join(report_lines(apart, "points"))
    assert "loss: separates fourth from first, 3.000 ± 0.000" in text
    assert "loss: the least loss ended at place 1.000" in text
    by_name = [row for row in report_lines(apart, "points", players=True) if row.startswith("| p")]
    assert [row.split(" | ")[4].split()[0] for row in by_name] == [
        "1.100",
        "2.100",
        "3.100",
        "4.100",
    ]
    alike = [line(n, place, 10 + (n * place) % 5) for n in range(9) for place in (1, 2, 3, 4)]
    assert "loss: does not separate fourth from first" in "\n".join(report_lines(alike, "points"))


def test_a_record_that_cannot_be_read_is_a_fault(tmp_path):
    broken = tmp_path / "broken.mjson"
    broken.write_text(LOG.read_text()[:3000] + "\n")
    assert len(review_batch((list_sources(broken), "fast-riichi-d")).faults) == 1
