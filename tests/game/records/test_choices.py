"""What was chosen in recorded games, as far as the records tell."""

from pathlib import Path

import pytest

from mjbot.game.records.choices import Numbering, kyoku_name, recorded_decisions, steps
from mjbot.game.records.positions import NoPositionError, RecordPosition, recorded_view
from mjbot.game.table.actions import ACTIONS, PASS
from mjbot.protocol.messages import ReachAccepted

LOGS = Path(__file__).parents[3] / "logs"
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
    numbering, report = Numbering(), {}
    for step in steps(LOGS / "hanchan-open-kan-and-bust.mjson"):
        report[step.number] = numbering.choosers(step)
        if isinstance(step.event, ReachAccepted) and step.number == 272:
            assert step.choices(1)
            assert str(step.recorded(1)) == "chi middle"
            break
    assert report[271] == {}
    assert list(report[272]) == [1]


def test_a_kyoku_is_named_with_its_honba():
    names = [kyoku_name(step.table.state) for step in steps(PATHS[2])]
    assert list(dict.fromkeys(names[1:])) == ["E1-0", "E2-0", "E3-0", "E3-1", "E4-0", "S1-0"]


def test_recorded_decisions_are_those_of_the_steps_and_stay_as_they_are():
    log = LOGS / "east-four-winds.mjson"
    kept = [(view, view.tiles, view.wall_left, action) for view, action in recorded_decisions(log)]
    numbering, expected = Numbering(), []
    for step in steps(log):
        for seat in numbering.choosers(step):
            if (action := step.recorded(seat)) is not None:
                expected.append((seat, step.table.view(seat).tiles, action))
    assert [(view.seat, tiles, action) for view, tiles, _, action in kept] == expected
    for view, tiles, wall_left, action in kept:
        assert (view.tiles, view.wall_left) == (tiles, wall_left)
        assert action in view.legal
        for seat in range(4):
            assert seat == view.seat or not view.state["hand"][seat].any()
    with pytest.raises(ValueError, match="read-only"):
        kept[0][0].hand[0] = 1


def test_a_position_is_found_by_its_name_and_by_its_event():
    log = LOGS / "hanchan-thirteen-kyoku.mjson"
    view = recorded_view(log, "S2-0:2", 0)
    assert (view.seat, view.round, view.honba) == (0, 5, 0)
    assert len(view.legal) > 1
    number = RecordPosition.read("S2-0:2").event_in(steps(log), 0)
    assert recorded_view(log, str(number), 0).tiles == view.tiles
    assert recorded_view(log, str(number), 2).seat == 2
    with pytest.raises(NoPositionError, match="choices in S2-0"):
        recorded_view(log, "S2-0:99", 0)
    with pytest.raises(NoPositionError, match="there is no event 99999, the last is 1399"):
        recorded_view(log, "99999", 0)
    with pytest.raises(ValueError, match="expected KYOKU-HONBA:CHOICE"):
        recorded_view(log, "somewhere", 0)
