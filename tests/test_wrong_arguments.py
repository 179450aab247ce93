"""No call of anything public with wrong arguments crashes, or returns as if they were right."""

import copy
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mjbot
from mjbot.learning.env import raw_env
from mjbot.runtime.compiler.compiled import compiled

ROOT = Path(mjbot.__file__).parents[1]
RECORD = ROOT / "logs" / "east-four-winds.mjson"
GUARD_S = 600
TENPAI = "123m456p789s1122z"


def test_wrong_arguments_are_refused_by_name_and_crash_nothing():
    """In a process of its own: what kills it is the last call that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.wrong_arguments"],
        cwd=ROOT, capture_output=True, text=True, timeout=GUARD_S, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{done.returncode} at {lines[-1:]}: {done.stderr[-2000:]}"
    assert [line for line in lines if line.startswith("FAULT")] == []
    assert lines[-2] == "uncovered: []"
    assert int(re.fullmatch(r"done: (\d+) calls", lines[-1])[1]) > 1500


@compiled
def called_in_compiled_code(hand, n_melds):
    mask = mjbot_acceptance(hand, n_melds) | mjbot_waits(hand, n_melds)
    away, accepted = mjbot_both(hand, n_melds)
    return mjbot_shanten(hand, n_melds) + away, mask | accepted, mjbot_count(mask, hand)


mjbot_acceptance, mjbot_waits = mjbot.acceptance, mjbot.waits
mjbot_both, mjbot_shanten = mjbot.shanten_and_acceptance, mjbot.shanten
mjbot_count = mjbot.count_tiles


def test_compiled_code_calls_the_functions_on_hands():
    assert called_in_compiled_code(mjbot.hand_counts(TENPAI), 0) == (0, 0b11 << 27, 4)
    called_in_compiled_code(mjbot.hand_counts("12m"), 0)  # unchecked there


@pytest.mark.parametrize(
    ("text", "n_melds", "due"),
    [(TENPAI[:-3], 0, "13 or 14"), (TENPAI, 1, "10 or 11"), ("2345m", 2, "7 or 8"), ("", 0, "13")],
)
def test_a_hand_has_three_tiles_less_for_each_meld(text, n_melds, due):
    text = text if text[-1:] in "mpsz" else f"{text}z"
    with pytest.raises(ValueError, match=f"hand: .* tiles; with n_melds={n_melds} it has {due}"):
        mjbot.shanten(mjbot.hand_counts(text), n_melds)


def test_arrays_of_other_integers_are_hands_too():
    hand = mjbot.hand_counts(TENPAI)
    strided = np.zeros(68, np.int8)
    strided[::2] = hand
    for same in (hand.astype(np.int64), hand.astype(np.uint8), hand.tolist(), strided[::2]):
        assert mjbot.shanten(same, np.int64(0)) == 0
        assert mjbot.kinds_of(mjbot.waits(same, 0)) == [27, 28]


@pytest.mark.parametrize("name", ["seat", "hand", "legal", "state", "time_left_ms", "new"])
def test_a_view_cannot_be_written_to(name):
    view = mjbot.recorded_view(RECORD, 15, 0)
    before = view.seat, view.legal
    with pytest.raises(AttributeError, match=f"a View is read-only: {name} cannot be set"):
        setattr(view, name, 3)
    with pytest.raises(AttributeError, match=f"a View is read-only: {name} cannot be deleted"):
        delattr(view, name)
    assert (view.seat, view.legal) == before == (copy.copy(view).seat, copy.deepcopy(view).legal)


def test_a_discard_after_which_the_table_is_asked_must_be_possible():
    view = mjbot.recorded_view(RECORD, 15, 0)
    own, held = view.seat, view.tiles[0]
    after = view.after_discard(own, held)
    assert after.river(own)[-1] == held
    assert after.hand.sum() == view.hand.sum() - 1
    absent = next(tile for tile in range(34) if not view.hand[tile])
    with pytest.raises(ValueError, match=f"tile {absent} is not in the own hand"):
        view.after_discard(own, absent)
    with pytest.raises(ValueError, match="no tile too many to discard"):
        after.after_discard(own, after.tiles[0])
    for _ in range(100):  # a river is as long as it is
        after = after.after_discard((own + 1) % 4, 5)
    assert len(after.river((own + 1) % 4)) <= 36


def test_a_red_five_that_is_not_held_is_not_discarded():
    view = mjbot.recorded_view(RECORD, 15, 0)
    for five, red in ((4, 34), (13, 35), (22, 36)):
        if view.hand[five] and not view.red[red - 34]:
            with pytest.raises(ValueError, match=f"tile {red} is not in the own hand"):
                view.after_discard(view.seat, red)


def test_three_players_have_no_fourth_discard(three_players_view):
    with pytest.raises(ValueError, match="source must be 0 to 2 with three players, not 3"):
        three_players_view.after_discard(3, 9)
    with pytest.raises(ValueError, match="seat must be 0 to 2, not 3"):
        three_players_view.seat_wind(3)
    assert three_players_view.river(3).size == 0


@pytest.fixture
def three_players_view():
    from mjbot.learning.env import BatchEnv

    batch = BatchEnv(1, 1, n_seats=3)
    return batch.view(0, int(batch.reset().seats[0]))


@pytest.mark.parametrize("at", [15, "15", np.int64(15)])
@pytest.mark.parametrize("path", [RECORD, str(RECORD)])
def test_a_recorded_position_is_named_by_a_number_or_text_in_a_path_or_text(path, at):
    view = mjbot.recorded_view(path, at, 0)
    assert view.codes == mjbot.recorded_view(RECORD, "15", 0).codes
    assert next(iter(mjbot.recorded_decisions(path)))[0].seat in range(4)


@pytest.mark.parametrize("seed", [1.5, 2**63, -1, "1", None])
def test_a_refused_seed_changes_nothing_and_later_resets_work(seed):
    game = raw_env("tonpu")
    game.reset(seed=7)
    before = game.render(), game.agent_selection
    if seed is not None:
        with pytest.raises((TypeError, ValueError), match="seed must be"):
            game.reset(seed=seed)
        assert (game.render(), game.agent_selection) == before
    game.reset()
    again = raw_env("tonpu")
    again.reset(seed=8)
    assert (game.observe("player_0") == again.observe("player_0")).all()
