"""Scores, shanten and waits against the package ``cmajiang``, which has wheels for some systems."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mjbot.game.rules.acceptance import waits
from mjbot.game.rules.scoring import score_win
from mjbot.game.rules.shanten import shanten
from proof.made_hands import MadeHand, made_hands
from proof.made_wins import MadeWin, made_wins

pytest.importorskip("cmajiang")
from proof.cmajiang_answers import cmajiang_shanten, cmajiang_value, cmajiang_waits

many = settings(max_examples=400, database=None)


@many
@given(made_wins())
def test_han_fu_and_yakuman_agree_with_cmajiang(made: MadeWin) -> None:
    han, fu, _, yakuman = score_win(made.record())
    assert cmajiang_value(made) == ((0, 0, yakuman) if yakuman else (han, fu, 0))


@many
@given(st.one_of(made_hands(1), made_hands(2)))
def test_shanten_agrees_but_for_fifth_copies(made: MadeHand) -> None:
    """Where a hand holds all four of a kind ``cmajiang`` may count on a fifth."""
    ours, theirs = shanten(made.counts(), made.n_melds), cmajiang_shanten(made)
    assert ours == theirs or (max(made.counts()) == 4 and theirs == ours - 1)


@many
@given(made_hands(1))
def test_waits_agree_with_cmajiang(made: MadeHand) -> None:
    assert waits(made.counts(), made.n_melds) == cmajiang_waits(made)
