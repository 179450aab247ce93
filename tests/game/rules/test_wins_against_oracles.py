"""Scores against the packages ``mahjong`` (Tenhou's rules) and ``riichienv``."""

import numpy as np
from hypothesis import given, settings

from mjbot.game.rules.points import base_points
from mjbot.game.rules.scoring import score_many, score_win
from mjbot.game.rules.wins import WIN
from mjbot.game.rules.yaku_table import YAKUMAN
from proof.made_wins import MadeWin, made_wins
from proof.oracles import as_riichienv, mahjong_score, riichienv_score, yaku_set

many = settings(max_examples=400, database=None)


@many
@given(made_wins())
def test_yaku_han_and_fu_agree_with_mahjong(made: MadeWin) -> None:
    han, fu, mask, _ = score_win(made.record())
    assert (han, fu, yaku_set(mask)) == mahjong_score(made)


@many
@given(made_wins())
def test_yaku_han_and_fu_agree_with_riichienv(made: MadeWin) -> None:
    ours = score_win(made.record())
    theirs = riichienv_score(made)
    if ours[3] == 1 and theirs[0] >= 13 and not theirs[2] & yaku_set(YAKUMAN):
        return  # as many points by 13 ordinary han, which it prefers to a yakuman
    assert as_riichienv(ours) == theirs


@many
@given(made_wins())
def test_a_win_needs_a_yaku(made: MadeWin) -> None:
    assert (score_win(made.record())[0] > 0) == (mahjong_score(made)[0] > 0)


@settings(max_examples=100, database=None)
@given(made_wins(), made_wins())
def test_many_wins_at_once_give_what_each_gives(made: MadeWin, other: MadeWin) -> None:
    records = np.array([made.record(), other.record()], WIN)
    columns = score_many(records)
    for place, record in enumerate(records):
        assert tuple(int(column[place]) for column in columns) == score_win(record)


@many
@given(made_wins())
def test_the_score_does_not_depend_on_the_order_of_melds(made: MadeWin) -> None:
    win = made.record()
    turned = made.record()
    n = len(made.melds)
    for field in ("meld_type", "meld_kind"):
        turned[field][:n] = turned[field][:n][::-1].copy()
    assert score_win(win) == score_win(turned)


@many
@given(made_wins())
def test_another_dora_never_lowers_the_points(made: MadeWin) -> None:
    win = made.record()
    before = score_win(win)
    win["dora"] += 1
    after = score_win(win)
    assert _base(after) >= _base(before)


def _base(score: tuple[int, int, int, int]) -> int:
    han, fu, _, yakuman = score
    return base_points(han, fu, yakuman, 0) if han else 0
