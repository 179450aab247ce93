"""Playouts in which opponents feed a cheap hand: when they do, by which lists, and who does not."""

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.referee.flow import offer
from mjbot.game.rules.acceptance import waits
from mjbot.game.rules.shanten import shanten
from mjbot.game.table.actions import ACTIONS
from mjbot.game.table.assume import assume_no_liability
from mjbot.game.table.state import ACCEPTED, RIICHI, TURN, copy_state
from mjbot.game.table.view import View
from mjbot.learning.models.fast_policy.ally import NO_ALLY
from mjbot.learning.models.fast_policy.choice import choose, load_policy, write_opinion
from mjbot.learning.models.fast_policy.games import choose_offered
from mjbot.learning.models.tenpai import hand_reader
from mjbot.learning.playouts.worlds import Playouts, deal_world, plan_of
from mjbot.protocol.tiles import tile_kind
from mjbot.strategies.evaluation.playouts import helped_worlds as helped
from mjbot.strategies.evaluation.playouts.helped_worlds import HelpedPlayouts, HelpedWorkspace
from papers.takada2022.experiment import FIGURE_6, FIGURE_6_SEAT, position

POLICY = load_policy()
BOTH = Playouts(), HelpedPlayouts()
FOUR_P, SEVEN_S = 12, 24
THREE_DRAGONS, BYSTANDERS = 2, (1, 3)


def own_turns(seeds, steps=60, phase=TURN):
    """Yield states of games of the fast policy at own turns, and whose: not in riichi before."""
    for seed in seeds:
        referee = Referee(seed)
        referee.start()
        for _ in range(steps):
            (seat, *others), state = referee.asked, referee.state
            is_own_turn = not others and int(state["phase"]) == phase
            if is_own_turn and int(state["riichi"][seat]) != ACCEPTED:
                yield copy_state(state), seat
            asked = referee.asked
            referee.step({s: ACTIONS[choose(POLICY, state, s, NO_ALLY)] for s in asked})
            if referee.over:
                break


def discard_of(state, seat, lists=None, discarding=helped.BY_LIST, own=-1):
    """Return the discard that a seat chooses by its list, and that of the fast policy: kinds."""
    workspace = HelpedWorkspace.new()
    plain = workspace["plain"]
    plain["playing"], plain["seat"] = state, own
    workspace["discarding"] = discarding
    workspace["lists"] = 0 if lists is None else lists
    offer(plain["playing"], plain["buffer"])
    code = choose_offered(POLICY, plain["playing"], seat, plain["buffer"])
    if not ACTIONS[code].is_discard:
        return None
    chosen = helped.choose_discard(POLICY, workspace, hand_reader(), seat, code)
    assert chosen in plain["buffer"]["codes"][seat, : plain["buffer"]["n_codes"][seat]]
    return tile_kind(ACTIONS[chosen].tile), tile_kind(ACTIONS[code].tile)


def test_the_tile_of_least_risk_goes_and_of_equals_the_policys_likeliest():
    n, opinion = 0, np.empty(64, np.float32)
    for number, (state, seat) in enumerate(own_turns([0], 40)):
        hand = state["hand"][seat]
        if shanten(hand, state["n_melds"][seat]) <= 0:
            continue
        risks = np.random.default_rng(number).integers(1, 4, 34).astype(np.float64)
        lists = np.zeros((4, 34))
        lists[seat] = risks
        chosen = discard_of(state, seat, lists)
        if chosen is None:
            continue
        held = np.flatnonzero(hand)
        least = held[risks[held] == risks[held].min()]
        write_opinion(POLICY, state, seat, NO_ALLY, opinion)
        assert chosen[0] == max(least, key=lambda kind: opinion[kind])
        n += chosen[0] != chosen[1]
    assert n > 5


def test_whoever_is_tenpai_stays_so_at_any_risk():
    n = 0
    for state, seat in own_turns(range(10)):
        hand, melds = state["hand"][seat].copy(), state["n_melds"][seat]
        if shanten(hand, melds) > 0:
            continue
        lists = np.zeros((4, 34))
        for kind in np.flatnonzero(hand):
            hand[kind] -= 1
            lists[seat, kind] = 1.0 if waits(hand, melds) else 0.0
            hand[kind] += 1
        chosen = discard_of(state, seat, lists)
        if chosen:
            n += 1
            assert lists[seat, chosen[0]] == 1.0
    assert n > 3


def test_a_seat_in_riichi_and_one_without_a_list_discard_as_the_policy_does():
    lists = np.random.default_rng(3).random((4, 34))
    states = [(state, seat, helped.BY_POLICY) for state, seat in own_turns([4], 30)]
    declared = [(state, seat, helped.BY_LIST) for state, seat in own_turns(range(12), phase=RIICHI)]
    assert len(states) > 5 and len(declared) > 5
    for state, seat, discarding in states + declared:
        chosen = discard_of(state, seat, lists, discarding)
        assert chosen is None or chosen[0] == chosen[1]


def figure_6():
    """Return the paper's position in which help decides; all pay for a win by draw."""
    state = copy_state(position(FIGURE_6, FIGURE_6_SEAT).state)
    assume_no_liability(state)
    return state


def compared(playouts, n, first=0):
    discards = View(state := figure_6(), FIGURE_6_SEAT).discards
    plans = [plan_of(action) for action in discards if action.tile in (FOUR_P, SEVEN_S)]
    assert len(plans) == 2
    return playouts.compare(state, FIGURE_6_SEAT, plans, n, seed=3, first=first)


def test_two_hands_that_seem_tenpai_make_the_opponents_feed_the_cheap_one():
    usual, by_lists = (compared(playouts, 60) for playouts in BOTH)
    wins = [(values.points[:, 1, FIGURE_6_SEAT] > 0).mean() for values in (usual, by_lists)]
    assert wins[1] > wins[0] + 0.15


def test_the_own_seat_and_seats_in_riichi_have_no_list():
    workspace, reader, n = HelpedWorkspace.new(), hand_reader(), 0
    plain = workspace["plain"]
    plain["position"], plain["seat"] = figure_6(), FIGURE_6_SEAT
    random = np.array([9], np.uint64)
    for _ in range(20):
        deal_world(plain, reader, random)
        plain["playing"] = plain["world"]
        plain["playing"]["riichi"][3] = ACCEPTED
        helped.play_helped(POLICY, workspace, reader, plan_of(ACTIONS[FOUR_P]))
        assert workspace["discarding"][FIGURE_6_SEAT] == helped.NOT_YET
        assert workspace["discarding"][3] == helped.NOT_YET
        n += workspace["discarding"][1] == helped.BY_LIST
    assert n > 10


def test_a_list_fears_the_expensive_hand_and_not_the_cheap_one():
    workspace = HelpedWorkspace.new()
    plain, random = workspace["plain"], np.array([2], np.uint64)
    plain["position"], plain["seat"] = figure_6(), FIGURE_6_SEAT
    deal_world(plain, hand_reader(), random)
    plain["playing"] = plain["world"]
    for viewer in BYSTANDERS:
        assert helped.make_list(workspace, hand_reader(), viewer)
        two_p, four_s = workspace["lists"][viewer][[10, 21]]
        assert two_p < np.median(workspace["lists"][viewer]) < four_s
    assert (workspace["tenpai"] > 0).tolist() == [True, False, True, False]


@pytest.mark.parametrize("seed", [5, 6])
def test_with_fewer_than_two_such_hands_nothing_differs(seed):
    n, reader, tenpai = 0, hand_reader(), np.empty(4)
    for number, (state, seat) in enumerate(list(own_turns([seed], 24))[::5]):
        state["riichi"][(seat + 1) % 4] = ACCEPTED * (number % 2)
        assert not helped.is_competition(state, reader, tenpai)
        discards = [ACTIONS[choose(POLICY, state, seat, NO_ALLY)]]
        plans = [plan_of(action) for action in discards]
        values = [each.compare(state, seat, plans, 4, seed=1) for each in BOTH]
        assert (values[0].points == values[1].points).all()
        assert (values[0].chances == values[1].chances).all()
        n += 1
    assert n > 3


def test_the_same_worlds_have_the_same_lists_wherever_the_work_is_cut():
    whole, later = compared(BOTH[1], 8), compared(HelpedPlayouts(), 3, first=5)
    assert (whole.points[5:] == later.points).all()


def test_a_playout_with_lists_counts_as_more_than_one():
    view = position(FIGURE_6, FIGURE_6_SEAT)
    assert BOTH[1].time_of_one(view.state) == helped.TIME_BY_LISTS > 1
    (state, _), *_ = own_turns([5], 4)
    assert BOTH[1].time_of_one(state) == 1
    assert BOTH[0].time_of_one(view.state) == 1
