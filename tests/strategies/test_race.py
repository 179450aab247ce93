"""The race for the win against slow enumerations of the same race."""

import numpy as np
import pytest

from mjbot.rules.acceptance import acceptance
from mjbot.rules.hands import hand_counts
from mjbot.rules.waits import waits
from mjbot.rules.wins import WIN
from strategies.evaluation.placement import LOWEST, N_STEPS, STEP, rank_worth, worth_of
from strategies.evaluation.plans import closed_han, open_worth, regular_acceptance
from strategies.evaluation.race import (
    MAX_DRAWS,
    Race,
    fill_stages,
    new_stages,
    one_away_worth,
    stage_worth,
    tenpai_worth,
)
from strategies.evaluation.win_value import Holding, add_meld, hand_dora, win_points

PLAIN = np.arange(N_STEPS) * float(STEP) + LOWEST
"""Worth that is points."""


def race(hand, draws=6, ron=0.0, live=1.0, risk=0.0, riichi=True, own=0) -> Race:
    unseen = (4 - hand).astype(np.int8)
    flat = np.full(MAX_DRAWS + 1, 1.0)
    return Race(
        unseen, float(unseen.sum()), draws, own, live * flat, risk * flat, risk * flat, PLAIN,
        ron, 0.8, 0.0, 0.0, riichi,
    )  # fmt: skip


def holding(dora="", dealer=False) -> Holding:
    win = np.zeros(1, WIN)
    win["seat_wind"] = 0 if dealer else 1
    return Holding(win, hand_counts(dora) if dora else np.zeros(34, np.int8),
                   np.zeros(2, np.int64), dealer)  # fmt: skip


def tenpai(hand, race_, holding_, riichi, own=0):
    out = np.zeros(MAX_DRAWS + 1)
    tenpai_worth(hand, waits(hand, 0), race_, holding_, own, riichi, out)
    return out


TANYAO = hand_counts("234m234p23467s88s")  # waits 5s 8s, simples


def test_points_of_a_win_are_those_of_the_rules():
    points = win_points(TANYAO, 22, 0, holding(), False, False)
    assert points == 7700  # simples, pinfu, the same run in three suits
    assert win_points(TANYAO, 22, 3, holding(), False, False) == 12000
    assert win_points(TANYAO, 22, 0, holding(dealer=True), False, False) == 11600
    no_yaku = hand_counts("123m99m")
    melded = holding()
    for run in (10, 12, 21):
        add_meld(melded, 0, run)
    assert win_points(hand_counts("23m99m"), 0, 0, melded, False, False) == 0
    assert hand_dora(no_yaku, holding("9m")) == 2


@pytest.mark.parametrize("draws", [1, 3, 9])
def test_without_rivals_and_rons_the_chance_is_that_of_the_draws(draws):
    r = race(TANYAO, draws)
    out = tenpai(TANYAO, r, holding(), False)
    chance = (r.unseen[22] + r.unseen[25]) / r.total
    drawn = win_points(TANYAO, 22, 0, holding(), False, True)
    low = win_points(TANYAO, 25, 0, holding(), False, True)
    mean = (drawn * r.unseen[22] + low * r.unseen[25]) / (r.unseen[22] + r.unseen[25])
    assert out[draws] == pytest.approx(mean * (1 - (1 - chance) ** draws))


def test_rivals_risk_and_furiten_take_away_and_rons_add():
    base = tenpai(TANYAO, race(TANYAO, ron=1.5), holding(), False)[6]
    assert tenpai(TANYAO, race(TANYAO, ron=1.5, live=0.9), holding(), False)[6] < base
    assert tenpai(TANYAO, race(TANYAO, ron=1.5, risk=50.0), holding(), False)[6] < base
    assert tenpai(TANYAO, race(TANYAO), holding(), False)[6] < base
    furiten = tenpai(TANYAO, race(TANYAO, ron=1.5), holding(), False, own=1 << 25)[6]
    assert furiten == tenpai(TANYAO, race(TANYAO), holding(), False)[6]


def test_a_silent_tenpai_may_fold_and_one_in_riichi_may_not():
    dangerous = race(TANYAO, risk=5000.0)
    assert tenpai(TANYAO, dangerous, holding(), False)[6] == 0
    assert tenpai(TANYAO, dangerous, holding(), True)[6] < -1000


ONE_AWAY = hand_counts("234m23p23467s88s9s")


def slow_one_away(hand, r, holding_, left):
    """Enumerate every draw and discard, one go-around after the other."""
    if left == 0:
        return 0.0
    accepted = acceptance(hand, 0)
    later = slow_one_away(hand, r, holding_, left - 1)
    total, rest = 0.0, 1.0
    for kind in range(34):
        chance = r.unseen[kind] / r.total
        if not accepted >> kind & 1 or not chance:
            continue
        best = 0.0
        for given in range(34):
            after = hand.copy()
            after[kind] += 1
            after[given] -= 1
            if after.min() >= 0 and given != kind and waits(after, 0):
                best = max(best, tenpai(after, r, holding_, True, own=1 << given)[left - 1])
        total += chance * best
        rest -= chance
    return max(0.0, r.live[left] * (total + rest * later - r.evasion[left]))


@pytest.mark.parametrize(("ron", "live", "risk"), [(0.0, 1.0, 0.0), (2.0, 0.9, 30.0)])
def test_one_away_is_what_enumeration_gives(ron, live, risk):
    r = race(ONE_AWAY, 4, ron, live, risk)
    out = np.zeros(MAX_DRAWS + 1)
    one_away_worth(ONE_AWAY.copy(), 0, acceptance(ONE_AWAY, 0), r, holding(), False, out)
    assert out[4] == pytest.approx(slow_one_away(ONE_AWAY, r, holding(), 4))
    assert out[4] > 50


def test_nearer_hands_and_more_tiles_are_worth_more():
    r, stages = race(TANYAO, 10, 2.0, 0.9), new_stages()
    fill_stages(r, stages)
    assert ((stages.win >= 0) & (stages.win <= 1)).all()
    usual = [stage_worth(r, stages, stage, tiles, 5000.0) for stage, tiles in
             enumerate((5.5, 14, 25, 45, 64, 78))]  # fmt: skip
    assert usual == sorted(usual, reverse=True)
    assert stage_worth(r, stages, 2, 40, 5000.0) > stage_worth(r, stages, 2, 12, 5000.0)
    assert stage_worth(r, stages, 9, 40, 5000.0) == 0


def plan_worth(hand, melds=(), dora=""):
    counts = hand_counts(hand)
    r, stages, held = race(counts, 12, 2.0, 0.95), new_stages(), holding(dora)
    for type_, kind in melds:
        add_meld(held, type_, kind)
    fill_stages(r, stages)
    return open_worth(counts, len(melds), r, stages, held)


def test_a_hand_can_be_opened_only_for_a_yaku():
    chi_with_a_terminal = [(0, 0)]
    assert plan_worth("46m19p357s12z", chi_with_a_terminal) == 0
    assert plan_worth("46m28p3577s34m", [(0, 10)]) > 0  # all simples
    secured, bare = [(1, 31)], [(1, 30)]  # a dragon, the guest wind north
    assert plan_worth("46m19p3577s12z", secured) > plan_worth("46m19p3577s12z", bare)


def test_a_pair_of_dragons_is_worth_more_than_one_of_guest_winds():
    assert plan_worth("234m2357p4489s55z") > plan_worth("234m2357p4489s44z")


def test_a_closed_hand_counts_its_yaku_and_dora():
    assert closed_han(hand_counts("234m345p34677s88s"), holding()) > closed_han(
        hand_counts("234m345p34677s99s"), holding()
    )
    plain, with_dora = holding(), holding("88s")
    assert closed_han(TANYAO, with_dora) == closed_han(TANYAO, plain) + 4  # 8s counts double
    assert regular_acceptance(hand_counts("1133557799m11p2z"), 0)[0] > 1  # no seven pairs


def test_the_worth_of_points_is_0_for_none_and_grows(position):
    table = np.empty(N_STEPS)
    rank_worth(position("123m", drawn=None).state, 0, 7000.0, 0.5, table)
    assert (np.diff(table) > 0).all()
    assert worth_of(table, 0.0) == pytest.approx(0.0, abs=1e-6)
    assert worth_of(table, 1000.0) == pytest.approx(1000.0, rel=0.1)
    assert worth_of(table, 1e6) == table[-1]
    assert worth_of(table, -1e6) == table[0]
