"""What was chosen in recorded games, as far as the records tell."""

from pathlib import Path

import pytest

from mjbot.records.choices import Numbering, kyoku_name, steps
from mjbot.table.actions import ACTIONS, PASS
from protocol.messages import ReachAccepted

LOGS = Path(__file__).parents[2] / "logs"
PATHS = sorted(LOGS.glob("*.mjson"))


def recorded(name, number, seat):
    for step in steps(LOGS / f"{name}.mjson"):
        if step.number == number:
            assert step.choices(seat)
            return step.recorded(seat)
    raise AssertionError(f"{name} has no event {number}")


@pytest.mark.parametrize("log", PATHS, ids=lambda path: path.stem)
def test_what_was_chosen_was_allowed(log):
    numbering, seen, untold = Numbering(), 0, 0
    for step in steps(log):
        for seat in numbering.choosers(step):
            choice = step.recorded(seat)
            seen += 1
            untold += choice is None
            assert choice is None or choice in step.choices(seat)
    assert seen > 150
    assert untold <= 2


def test_a_call_hides_what_a_slower_seat_wanted():
    assert recorded("east-extra-round", 50, 0) is None  # it could chi, another has pon
    assert recorded("east-extra-round", 138, 0) is None  # it could pon, another has won


def test_who_could_have_taken_the_tile_before_another_s_chi_has_passed():
    assert recorded("hanchan-thirteen-kyoku", 1390, 1) is ACTIONS[PASS]


def test_a_question_that_a_riichi_stick_interrupts_counts_once():
    """The seat may chi the tile of a riichi before and after the stick is paid."""
    numbering, told = Numbering(), {}
    for step in steps(LOGS / "hanchan-open-kan-and-bust.mjson"):
        told[step.number] = numbering.choosers(step)
        if isinstance(step.event, ReachAccepted) and step.number == 272:
            assert step.choices(1)
            assert str(step.recorded(1)) == "chi middle"
            break
    assert told[271] == {}
    assert list(told[272]) == [1]


def test_a_kyoku_is_named_with_its_honba():
    names = [kyoku_name(step.table.state) for step in steps(PATHS[2])]
    assert list(dict.fromkeys(names[1:])) == ["E1-0", "E2-0", "E3-0", "E3-1", "E4-0", "S1-0"]
