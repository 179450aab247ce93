"""Mortal's 46 actions and the codes they stand for."""

import numpy as np
import pytest

from mjbot.game.table import actions as table_actions
from mjbot.game.table.actions import (
    ADDED_KAN,
    CALL_KAN,
    CHI_HIGH,
    CHI_HIGH_RED,
    CHI_LOW,
    CONCEALED_KAN,
    DECLARE_RIICHI,
    DISCARD_DRAWN,
    PASS,
    PON_PLAIN,
    PON_RED,
    RON,
    TSUMO,
)
from mjbot.learning.env import actions as env_actions
from mjbot.learning.env.actions import ACTION_OF_CODE, ILLEGAL, N_ACTIONS, NAMES, SEVERAL_KANS


def code_of(codes: list[int], action: int, at_kan: bool = False) -> int:
    return env_actions.code_of(np.array(codes, np.uint8), len(codes), at_kan, action)


def mask_of(codes: list[int], at_kan: bool = False) -> set[int]:
    mask = np.ones(N_ACTIONS, np.uint8)
    env_actions.write_mask(np.array(codes, np.uint8), len(codes), at_kan, mask)
    return set(np.flatnonzero(mask).tolist())


def test_each_of_our_codes_is_one_of_the_46_actions_and_none_is_left_over():
    assert len(NAMES) == N_ACTIONS
    assert set(ACTION_OF_CODE.tolist()) == {*range(N_ACTIONS)}
    assert len(ACTION_OF_CODE) == table_actions.N_ACTIONS


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (34, "discard 5mr"),
        (DISCARD_DRAWN + 2, "discard 3m"),
        (DECLARE_RIICHI, "riichi"),
        (CHI_LOW, "chi low"),
        (CHI_HIGH_RED, "chi high"),
        (PON_RED, "pon"),
        (CALL_KAN, "kan"),
        (CONCEALED_KAN + 33, "kan"),
        (ADDED_KAN, "kan"),
        (RON, "win"),
        (TSUMO, "win"),
        (table_actions.NINE_TERMINALS, "nine terminals"),
        (table_actions.KITA, "chi low"),  # which three players do not have
        (PASS, "pass"),
    ],
)
def test_an_action_is_called_as_what_it_means(code, name):
    assert NAMES[ACTION_OF_CODE[code]] == name


def test_a_tile_that_is_also_the_drawn_one_is_discarded_as_drawn():
    assert code_of([4, 5, DISCARD_DRAWN + 4], 4) == DISCARD_DRAWN + 4
    assert code_of([4, 5, DISCARD_DRAWN + 4], 5) == 5


def test_a_red_five_is_given_up_where_it_can_be():
    assert code_of([PASS, PON_PLAIN, PON_RED], env_actions.PON) == PON_RED
    assert code_of([PASS, PON_PLAIN], env_actions.PON) == PON_PLAIN
    chi = [PASS, CHI_LOW, CHI_HIGH, CHI_HIGH_RED]
    assert code_of(chi, env_actions.CHI) == CHI_LOW
    assert code_of(chi, env_actions.CHI + 2) == CHI_HIGH_RED


def test_of_several_kans_the_kind_is_a_second_choice():
    codes = [7, CONCEALED_KAN + 3, ADDED_KAN + 12]
    assert mask_of(codes) == {7, env_actions.KAN}
    assert code_of(codes, env_actions.KAN) == SEVERAL_KANS
    assert mask_of(codes, at_kan=True) == {3, 12}
    assert code_of(codes, 12, at_kan=True) == ADDED_KAN + 12
    assert code_of(codes, 7, at_kan=True) == ILLEGAL
    assert code_of(codes[:2], env_actions.KAN) == CONCEALED_KAN + 3


def test_any_code_of_ours_can_be_said_beyond_the_46():
    codes = [4, DISCARD_DRAWN + 4]
    assert code_of(codes, N_ACTIONS + 4) == 4
    assert code_of(codes, N_ACTIONS + 5) == ILLEGAL
    assert code_of(codes, env_actions.PASS) == ILLEGAL
