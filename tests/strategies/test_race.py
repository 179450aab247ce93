"""The race for the win against slow enumerations of the same race."""

import numpy as np
import pytest

from mjbot.game.rules.acceptance import acceptance, waits
from mjbot.game.rules.kinds import hand_counts
from mjbot.game.rules.wins import WIN
from mjbot.learning.models.placement import LOWEST, N_STEPS, STEP, rank_worth, worth_of
from mjbot.learning.models.win_value import (
    EXTRA_HAN,
    HandContext,
    add_meld,
    hand_dora,
    typical_points,
    win_points,
)
from mjbot.strategies.evaluation.push_fold.plans import closed_han, open_value, regular_acceptance
from mjbot.strategies.evaluation.push_fold.race import (
    CHANGES,
    INHERITED,
    MAX_DRAWS,
    USUAL_TILES,
    Race,
    call_share,
    fill_stages,
    new_stages,
    one_away_value,
    stage_value,
    tenpai_value,
)

PLAIN = np.arange(N_STEPS) * float(STEP) + LOWEST
"""Worth that is points."""


def race(hand, draws=6, ron=0.0, live=1.0, risk=0.0, riichi=True, own=0) -> Race:
    unseen = (4 - hand).astype(np.int8)
    flat = np.full(MAX_DRAWS + 1, 1.0)
    return Race(
        unseen, float(unseen.sum()), draws, own, live * flat, risk * flat, risk * flat, PLAIN,
        ron, 0.8, 0.0, 0.0, riichi, 3,
    )  # fmt: skip


def hand_context(dora="", dealer=False) -> HandContext:
    win = np.zeros(1, WIN)
    win["seat_wind"] = 0 if dealer else 1
    return HandContext(win, hand_counts(dora) if dora else np.zeros(34, np.int8),
                   np.zeros(2, np.int64), dealer, 4, 0)  # fmt: skip


def tenpai(hand, race_, holding_, riichi, own=0):
    out = np.zeros(MAX_DRAWS + 1)
    tenpai_value(hand, waits(hand, 0), race_, holding_, own, riichi, out)
    return out


TANYAO = hand_counts("234m234p23467s88s")  # waits 5s 8s, simples


def test_points_of_a_win_are_those_of_the_rules():
    points = win_points(TANYAO, 22, 0, hand_context(), False, False)
    assert points == 7700  # simples, pinfu, the same run in three suits
    assert win_points(TANYAO, 22, 3, hand_context(), False, False) == 12000
    assert win_points(TANYAO, 22, 0, hand_context(dealer=True), False, False) == 11600
    no_yaku = hand_counts("123m99m")
    melded = hand_context()
    for run in (10, 12, 21):
        add_meld(melded, 0, run)
    assert win_points(hand_counts("23m99m"), 0, 0, melded, False, False) == 0
    assert hand_dora(no_yaku, hand_context("9m")) == 2


def test_a_riichi_win_is_paid_the_mean_of_what_ippatsu_and_ura_dora_make_it():
    points = {0: 2000, 1: 3900, 2: 7700}  # riichi and pinfu; 3 and 4 han of 30 fu
    mean = sum(share * points[han] for han, share in enumerate(EXTRA_HAN))
    assert sum(EXTRA_HAN) == pytest.approx(1)
    pinfu = hand_counts("123m234p23467s99s")  # waits on 5s 8s
    assert win_points(pinfu, 22, 0, hand_context(), True, False) == pytest.approx(mean)
    assert win_points(pinfu, 22, 0, hand_context(), False, False) == 1000


@pytest.mark.parametrize("draws", [1, 3, 9])
def test_without_rivals_and_rons_the_chance_is_that_of_the_draws(draws):
    r = race(TANYAO, draws)
    out = tenpai(TANYAO, r, hand_context(), False)
    chance = (r.unseen[22] + r.unseen[25]) / r.total
    drawn = win_points(TANYAO, 22, 0, hand_context(), False, True)
    low = win_points(TANYAO, 25, 0, hand_context(), False, True)
    mean = (drawn * r.unseen[22] + low * r.unseen[25]) / (r.unseen[22] + r.unseen[25])
    assert out[draws] == pytest.approx(mean * (1 - (1 - chance) ** draws))


def test_rivals_risk_and_furiten_take_away_and_rons_add():
    base = tenpai(TANYAO, race(TANYAO, ron=1.5), hand_context(), False)[6]
    assert tenpai(TANYAO, race(TANYAO, ron=1.5, live=0.9), hand_context(), False)[6] < base
    assert tenpai(TANYAO, race(TANYAO, ron=1.5, risk=50.0), hand_context(), False)[6] < base
    assert tenpai(TANYAO, race(TANYAO), hand_context(), False)[6] < base
    furiten = tenpai(TANYAO, race(TANYAO, ron=1.5), hand_context(), False, own=1 << 25)[6]
    assert furiten == tenpai(TANYAO, race(TANYAO), hand_context(), False)[6]


def test_a_silent_tenpai_may_fold_and_one_in_riichi_may_not():
    dangerous = race(TANYAO, risk=5000.0)
    assert tenpai(TANYAO, dangerous, hand_context(), False)[6] == 0
    assert tenpai(TANYAO, dangerous, hand_context(), True)[6] < -1000


def slow_tenpai(hand, r, holding_, left, riichi):
    """Go-around after go-around: others' discards, their wins, the own draw, its risk."""
    if left == 0:
        return r.tenpai_points
    chances = [(kind, r.unseen[kind] / r.total) for kind in range(34) if waits(hand, 0) >> kind & 1]
    extra = r.extra_points + (1000 if riichi else 0)
    drawn = sum(chance for _, chance in chances)
    gain = [
        sum(chance * (win_points(hand, kind, 0, holding_, riichi, by_draw) + extra)
            for kind, chance in chances)
        for by_draw in (False, True)
    ]  # fmt: skip
    claimed = r.ron_rate * drawn
    share = min(1.0, 0.9 / claimed) if claimed else 0.0
    later_loss = slow_tenpai(hand, r, holding_, left - 1, riichi)
    risk = (r.risk if riichi else r.evasion)[left]
    own = gain[True] + (1 - drawn) * (later_loss - risk)
    worth = share * r.ron_rate * gain[False] + (1 - share * claimed) * r.live[left] * own
    return worth if riichi else max(worth, 0.0)


@pytest.mark.parametrize("riichi", [False, True])
@pytest.mark.parametrize(
    ("ron", "live", "risk"), [(0.0, 1.0, 0.0), (2.0, 0.9, 300.0), (50.0, 0.9, 30.0)]
)
def test_tenpai_is_what_enumeration_gives(ron, live, risk, riichi):
    r = race(TANYAO, 5, ron, live, risk)._replace(tenpai_points=1500.0, extra_points=2300.0)
    r = r._replace(evasion=r.risk / 2)
    out = tenpai(TANYAO, r, hand_context(), riichi)
    stick = 1000 if riichi else 0
    for left in range(6):
        slow = slow_tenpai(TANYAO, r, hand_context(), left, riichi) - stick
        assert out[left] == pytest.approx(slow), left


def slow_stage(r, stage, tiles, left):
    """The chance to win and the discards until then, for a hand that accepts so many tiles."""
    if left == 0:
        return 0.0, 0.0
    relative = (tiles + 0.5) / USUAL_TILES[stage]
    hit = USUAL_TILES[stage] * relative ** (CHANGES if stage else 1) / r.total
    again = slow_stage(r, stage, tiles, left - 1)
    if stage == 0:
        by_ron = hit * r.ron_rate
        stays = (1 - by_ron) * r.live[left]
        win = by_ron + stays * (hit + (1 - hit) * again[0])
        return win, stays * (1 - hit) * (1 + again[1])
    nearer = int(USUAL_TILES[stage - 1] * relative**INHERITED)
    following = slow_stage(r, stage - 1, nearer - nearer % 2, left - 1)
    mean = [hit * then + (1 - hit) * now for then, now in zip(following, again, strict=True)]
    return r.live[left] * mean[0], r.live[left] * (1 + mean[1])


@pytest.mark.parametrize(("stage", "tiles"), [(0, 4), (0, 8), (1, 12), (2, 20), (2, 40), (4, 60)])
def test_usual_hands_win_as_often_as_enumeration_gives(stage, tiles):
    r, stages = race(TANYAO, 7, 2.0, 0.9, 20.0), new_stages()
    fill_stages(r, stages)
    win, turns = slow_stage(r, stage, tiles, 7)
    assert stages.win[stage, tiles, 7] == pytest.approx(win)
    assert stages.turns[stage, tiles, 7] == pytest.approx(turns)
    worth = stage_value(r, stages, stage, tiles, 8000.0)
    assert worth == pytest.approx(max(0.0, 8000 * win - 20 * turns))


@pytest.mark.parametrize(
    ("held", "kind", "opponents"),
    [
        ("22m", 1, 3),  # pon
        ("44z", 30, 3),
        ("4z", 30, 0),
        ("23m", 0, 1),  # chi 1m, 4m
        ("23m", 3, 1),
        ("13m", 1, 1),
        ("89m", 6, 1),
        ("89m", 9, 0),  # 1p is no run with them
        ("12m", 33, 0),
        ("2m4m", 4, 0),
    ],
)
def test_what_can_be_claimed_comes_from_three_opponents_or_the_left_one(held, kind, opponents):
    r = race(TANYAO)
    assert call_share(hand_counts(held), kind, r) == pytest.approx(0.8 * opponents)


ONE_AWAY = hand_counts("234m23p23467s88s9s")


def slow_one_away(hand, r, holding_, left):
    """Enumerate every draw and discard, one go-around after the other."""
    if left == 0:
        return 0.0
    accepted = acceptance(hand, 0)
    later_loss = slow_one_away(hand, r, holding_, left - 1)
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
    return max(0.0, r.live[left] * (total + rest * later_loss - r.evasion[left]))


@pytest.mark.parametrize(("ron", "live", "risk"), [(0.0, 1.0, 0.0), (2.0, 0.9, 30.0)])
def test_one_away_is_what_enumeration_gives(ron, live, risk):
    r = race(ONE_AWAY, 4, ron, live, risk)
    out = np.zeros(MAX_DRAWS + 1)
    one_away_value(ONE_AWAY.copy(), 0, acceptance(ONE_AWAY, 0), r, hand_context(), False, out)
    assert out[4] == pytest.approx(slow_one_away(ONE_AWAY, r, hand_context(), 4))
    assert out[4] > 50


def test_one_away_an_open_hand_is_helped_by_what_it_can_claim():
    """A draw before the end a tenpai is worth its 1,000 points, however it is come by."""
    hand = hand_counts("23m55p345s77p9s")  # a run called: 1m 4m by chi, 5p 7p by pon
    r = race(hand, 1, riichi=False)._replace(tenpai_points=1000.0)
    accepted, out = acceptance(hand, 1), np.zeros(MAX_DRAWS + 1)
    claimed = {0: 0.8, 3: 0.8, 13: 2.4, 15: 2.4}  # 0.8 an opponent, chi from one
    assert accepted == sum(1 << kind for kind in claimed)
    for is_open in (False, True):
        copies = {kind: 1 + share * is_open for kind, share in claimed.items()}
        hit = sum(r.unseen[kind] * n for kind, n in copies.items()) / r.total
        one_away_value(hand.copy(), 1, accepted, r, hand_context(), is_open, out)
        assert out[1] == pytest.approx(1000 * hit)


def test_nearer_hands_and_more_tiles_are_worth_more():
    r, stages = race(TANYAO, 10, 2.0, 0.9), new_stages()
    fill_stages(r, stages)
    assert ((stages.win >= 0) & (stages.win <= 1)).all()
    usual = [stage_value(r, stages, stage, tiles, 5000.0) for stage, tiles in
             enumerate((5.5, 14, 25, 45, 64, 78))]  # fmt: skip
    assert usual == sorted(usual, reverse=True)
    assert stage_value(r, stages, 2, 40, 5000.0) > stage_value(r, stages, 2, 12, 5000.0)
    assert stage_value(r, stages, 9, 40, 5000.0) == 0


def plan_worth(hand, melds=(), dora=""):
    counts = hand_counts(hand)
    r, stages, held = race(counts, 12, 2.0, 0.95), new_stages(), hand_context(dora)
    for type_, kind in melds:
        add_meld(held, type_, kind)
    fill_stages(r, stages)
    return open_value(counts, len(melds), r, stages, held)


def test_a_hand_can_be_opened_only_for_a_yaku():
    chi_with_a_terminal = [(0, 0)]
    assert plan_worth("46m19p357s12z", chi_with_a_terminal) == 0
    assert plan_worth("46m28p3577s34m", [(0, 10)]) > 0  # all simples
    secured, bare = [(1, 31)], [(1, 30)]  # a dragon, the guest wind north
    assert plan_worth("46m19p3577s12z", secured) > plan_worth("46m19p3577s12z", bare)


def test_a_pair_of_dragons_is_worth_more_than_one_of_guest_winds():
    assert plan_worth("234m2357p4489s55z") > plan_worth("234m2357p4489s44z")


def test_a_closed_hand_counts_its_yaku_and_dora():
    assert closed_han(hand_counts("234m345p34677s88s"), hand_context()) > closed_han(
        hand_counts("234m345p34677s99s"), hand_context()
    )
    plain, with_dora = hand_context(), hand_context("88s")
    assert closed_han(TANYAO, with_dora) == closed_han(TANYAO, plain) + 4  # 8s counts double
    assert regular_acceptance(hand_counts("1133557799m11p2z"), 0)[0] > 1  # no seven pairs


FEW_EDGES = (0.9, 0.6, 0.35, 0.15)
"""Han of all simples, by how many other tiles are held."""


@pytest.mark.parametrize(
    ("hand", "han"),
    [
        ("2255m3366p4477s8s", FEW_EDGES[0]),
        ("2255m3366p4477s9s", FEW_EDGES[1]),
        ("2255m3366p447s19s", FEW_EDGES[2]),
        ("2255m3366p44s199s", FEW_EDGES[3]),
        ("2255m3366p4s1199s", 0),
        ("258m258p28s13447z", 0),  # a pair of norths is worth nothing
        ("258m258p28s13557z", 0.3),  # one of dragons a little
        ("258m258p28s15557z", 1),
        ("258m258p28s13227z", 0.3),  # the seat's wind
        ("258m258p28s11137z", 1),  # the round's
        ("234m234p234s1199s", 2.0),
        ("234m234p23s11899s", 1.2),
        ("234m234p2s111899s", 0.5),
        ("123456789m159p5z", 2.0),
        ("12345678m1599p5z", 1.2),
        ("1234567m15999p5z", 0.4),
        ("1122557799m144z", 3.0),
        ("1122557799m15z1p", 1.6),
        ("1122557799m1z19p", 0.6),
    ],
)
def test_a_closed_hand_may_expect_so_many_han(hand, han):
    assert closed_han(hand_counts(hand), hand_context()) == pytest.approx(2 + han)


def test_an_open_plan_is_worth_what_its_kept_tiles_win():
    """A half flush with a triplet of dragons and dora inside and outside of the suit."""
    hand, drop = "224679m555z", "9p1s3z"
    counts = hand_counts(hand + drop)
    r, stages, held = race(counts, 12, 2.0, 0.95), new_stages(), hand_context("2m9p")
    fill_stages(r, stages)
    kept = hand_counts(hand + "3z")
    stage, accepted = regular_acceptance(kept.copy(), 0)
    fits = sum(1 << kind for kind in (*range(9), *range(27, 34)))
    tiles = sum(
        r.unseen[kind] * (1 + call_share(counts, kind, r))
        for kind in range(34)
        if accepted & fits & 1 << kind
    )
    flush = stage_value(r, stages, stage, tiles, typical_points(2 + 1 + 2, False))
    stage, accepted = regular_acceptance(counts.copy(), 0)
    tiles = sum(
        r.unseen[kind] * (1 + call_share(counts, kind, r))
        for kind in range(34)
        if accepted >> kind & 1
    )
    dragons = stage_value(r, stages, stage, tiles, typical_points(1 + 3, False))
    assert open_value(counts, 0, r, stages, held) == pytest.approx(max(flush, dragons))
    assert flush != dragons


@pytest.mark.parametrize(
    ("hand", "drop", "han"),
    [
        ("12246799m555z34z", "", 2 + 2 + 1),  # two of them dora; a triplet of dragons
        ("1124679m3344z", "9p1s", 2 + 1),  # a dora kept, one dropped
        ("124679m3344z", "19p1s", 2 + 1),
    ],
)
def test_a_half_flush_has_two_han_and_those_of_what_it_keeps(hand, drop, han):
    counts, kept = hand_counts(hand + drop), hand_counts(hand)
    r, stages = race(counts, 12, 2.0, 0.95), new_stages()
    fill_stages(r, stages)
    stage, accepted = regular_acceptance(kept, 0)
    tiles = sum(
        r.unseen[kind] * (1 + call_share(counts, kind, r))
        for kind in (*range(9), *range(27, 34))
        if accepted >> kind & 1
    )
    worth = stage_value(r, stages, stage, tiles, typical_points(han, False))
    assert open_value(counts, 0, r, stages, hand_context("2m9p")) == pytest.approx(worth)
    assert worth > 0


def test_the_worth_of_points_is_0_for_none_and_grows(position):
    table = np.empty(N_STEPS)
    rank_worth(position("123m", drawn=None).state, 0, 7000.0, 0.5, table)
    assert (np.diff(table) > 0).all()
    assert worth_of(table, 0.0) == pytest.approx(0.0, abs=1e-6)
    assert worth_of(table, 1000.0) == pytest.approx(1000.0, rel=0.1)
    assert worth_of(table, 1e6) == table[-1]
    assert worth_of(table, -1e6) == table[0]
