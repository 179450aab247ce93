"""Plans compared in the same worlds: the referee's own kyoku, played by the fast policy."""

from itertools import chain

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.referee.step import new_step_buffer
from mjbot.game.referee.wall import next_live_tile, pin_wall
from mjbot.game.rules.wall_plan import FOUR_PLAYERS as WALL
from mjbot.game.table.actions import ACTIONS, DECLARE_RIICHI, PASS
from mjbot.game.table.observe import extra_copy
from mjbot.game.table.state import DRAWN, WON, RiverFlag, copy_state
from mjbot.game.table.view import Sealed
from mjbot.learning.models.fast_policy.ally import NO_ALLY
from mjbot.learning.models.fast_policy.choice import choose, load_policy
from mjbot.learning.models.fast_policy.games import NO_CODE, play_plan
from mjbot.learning.models.tenpai import hand_reader
from mjbot.learning.playouts.worlds import (
    Playouts,
    PlayoutWorkspace,
    deal_world,
    plan_of,
)
from mjbot.protocol.rules import STICK_POINTS, Rules
from mjbot.runtime.compiler.splitmix import mix

POLICIES = {players: load_policy(players=players) for players in (3, 4)}
POLICY = POLICIES[4]


def moments(seeds, steps=160, players=4):
    """Yield a referee at every moment of games of the fast policy at which a seat has a choice."""
    for seed in seeds:
        referee = Referee(seed, Rules(players=players))
        referee.start()
        for _ in range(steps):
            if any(len(legal) > 1 for legal in referee.asked.values()):
                yield referee
            referee.step(choices_of(referee))
            if referee.over:
                break


def choices_of(referee):
    state, policy = referee.state, POLICIES[referee.rules.players]
    return {seat: ACTIONS[choose(policy, state, seat, NO_ALLY)] for seat in referee.asked}


def kyoku_of(referee):
    return int(referee.state["round"]), int(referee.state["honba"])


def scores_at_the_end(referee, first):
    """Play the referee on to the end of the kyoku from the choices ``first``; return the scores."""
    kyoku, choices = kyoku_of(referee), first
    while kyoku_of(referee) == kyoku and not referee.over:
        scores = next(
            (e.scores for e in reversed(referee.step(choices)) if hasattr(e, "scores")), None
        )
        choices = choices_of(referee)
    return list(scores)


@pytest.mark.parametrize("seed", range(4))
def test_a_plan_is_the_kyoku_that_the_referee_would_play(seed):
    for number, referee in enumerate(moments([seed], 90)):
        if number % 30 != 29:
            continue
        played, seat = copy_state(referee.state), next(iter(referee.asked))
        action = referee.asked[seat][number % len(referee.asked[seat])]
        play_plan(POLICY, played, new_step_buffer(), seat, plan_of(action))
        assert int(played["phase"]) in (WON, DRAWN)
        first = choices_of(referee) | {seat: action}
        assert scores_at_the_end(referee, first) == played["scores"].tolist()
        return
    pytest.fail("no moment was played on")


def worlds_of(view, n):
    workspace, random = PlayoutWorkspace.new(), np.array([mix(np.uint64(5))], np.uint64)
    workspace["position"], workspace["seat"] = view.state, view.seat
    for _ in range(n):
        deal_world(workspace, hand_reader(), random)
        yield workspace["world"]


@pytest.mark.parametrize("players", [3, 4])
def test_worlds_hold_every_tile_once_and_keep_what_is_known(players):
    sealed, visible, n = Sealed(), np.empty(34, np.int8), 0
    left_out = {*range(1, 8)} if players == 3 else set()
    for referee in list(moments([3], 80, players))[::9]:
        seat = next(iter(referee.asked))
        view = sealed.view(referee.view(seat))
        for world in worlds_of(view, 3):
            assert extra_copy(world, visible) == -1
            assert world["hand"][seat].tolist() == view.hand.tolist()
            assert world["hand"].sum(axis=1).tolist() == view.state["hand_size"].tolist()
            assert not left_out & {*np.flatnonzero(world["hand"].sum(axis=0)), *world["wall"]}
            n += 1
    assert n > 15


def test_hidden_hands_do_not_matter_and_work_can_be_cut():
    playouts, sealed = Playouts(), Sealed()
    for referee in list(moments([5], 60))[::15]:
        seat = next(iter(referee.asked))
        view = sealed.view(referee.view(seat))
        plans = [plan_of(action) for action in view.legal[:2]]
        whole = playouts.compare(referee.state, seat, plans, 6, seed=8)
        again = Playouts().compare(view.state, seat, plans[1:], 6, seed=8)
        assert (whole.ranks[:, 1] == again.ranks[:, 0]).all()
        later = playouts.compare(view.state, seat, plans, 2, seed=8, first=4)
        assert (whole.points[4:] == later.points).all()


@pytest.mark.parametrize("players", [3, 4])
def test_points_and_ranks_add_up(players):
    playouts, sealed = Playouts(players=players), Sealed()
    for referee in list(moments([6], 100, players))[::20]:
        seat = next(iter(referee.asked))
        view = sealed.view(referee.view(seat))
        values = playouts.compare(view.state, seat, [plan_of(view.legal[0])], 10)
        assert values.ranks.sum(axis=2) == pytest.approx(sum(range(1 + players)), abs=1e-4)
        won = values.points.sum(axis=2)
        assert (won % STICK_POINTS == 0).all() and (won <= STICK_POINTS * view.sticks).all()
        of_players = values.ranks[:, :, :players]
        assert ((of_players >= 1) & (of_players <= players)).all()
        pairs = np.corrcoef(values.points[:, 0, seat], values.ranks[:, 0, seat])
        assert pairs[0, 1] < -0.8


def test_a_riichi_is_declared_with_the_tile_of_the_plan():
    n, tiles = 0, set()
    for referee in moments(range(8)):
        for seat, legal in referee.asked.items():
            if ACTIONS[DECLARE_RIICHI] not in legal:
                continue
            for discard in (action for action in legal if action.is_discard):
                played = copy_state(referee.state)
                place = int(played["n_river"][seat])
                plan = plan_of(ACTIONS[DECLARE_RIICHI], discard)
                play_plan(POLICY, played, new_step_buffer(), seat, plan)
                assert int(played["river_flags"][seat][place]) & RiverFlag.RIICHI_DISCARD
                n += int(played["river"][seat][place]) == discard.tile
                tiles.add(discard.tile)
    assert n > 20 and len(tiles) > 5


def test_a_seat_may_pass_what_it_would_claim():
    n = 0
    for referee in moments(range(8)):
        for seat, legal in referee.asked.items():
            code = choose(POLICY, referee.state, seat, NO_ALLY)
            if ACTIONS[PASS] in legal and ACTIONS[code].is_call:
                played = [copy_state(referee.state) for _ in range(2)]
                melds = int(played[0]["n_melds"][seat])
                for state, action in zip(played, (ACTIONS[code], ACTIONS[PASS]), strict=True):
                    play_plan(POLICY, state, new_step_buffer(), seat, plan_of(action))
                n += int(played[0]["n_melds"][seat]) > int(played[1]["n_melds"][seat]) == melds
    assert n > 5


def test_what_is_not_legal_in_its_turn_is_dropped():
    referee = list(moments([7], 40))[20]
    seat = next(iter(referee.asked))
    ends = []
    for actions in ([], [ACTIONS[155], referee.asked[seat][0]], [ACTIONS[155]]):
        state = copy_state(referee.state)
        play_plan(POLICY, state, new_step_buffer(), seat, plan_of(*actions))
        ends.append(state.tobytes())
    assert ends[0] == ends[1] == ends[2]
    assert NO_CODE not in {action.code for action in ACTIONS}


def drain(state, order):
    """Return what each seat draws from the live wall if seats draw in an order."""
    state, drawn = copy_state(state), {seat: [] for seat in range(4)}
    for seat in order:
        drawn[seat].append(next_live_tile(state, seat))
        state["draws"][seat] += 1
        state["wall_left"] -= 1
    return drawn


def test_a_pinned_wall_has_the_same_tiles_and_each_seat_its_own_whoever_draws_before():
    random, n = np.random.default_rng(1), 0
    for referee in list(moments([1, 2, 9], 150))[::7]:
        state = copy_state(referee.state)
        left = int(state["wall_left"])
        start = WALL["live"] + WALL["n_live"] - left - int(state["rinshan_taken"])
        tiles = sorted(state["wall"][start : start + left].tolist())
        pin_wall(state)
        orders = [random.integers(0, 4, left).tolist() for _ in range(2)]
        first, second = (drain(state, order) for order in orders)
        for drawn in (first, second):
            assert sorted(chain.from_iterable(drawn.values())) == tiles
        for seat in range(4):
            own = min(len(first[seat]), len(second[seat]), left // 8)
            assert first[seat][:own] == second[seat][:own]
            n += own
    assert n > 100


def test_a_position_set_up_by_hand_is_left_as_it_is(position):
    view = position("123m456p789s1234z", drawn="5z", wall_left=40)
    workspace, random = PlayoutWorkspace.new(), np.array([3], np.uint64)
    workspace["position"], workspace["seat"] = view.state, view.seat
    deal_world(workspace, hand_reader(), random)
    assert not workspace["world"]["pinned"]
    assert set(workspace["world"]["wall"][WALL["live"] + 30 :].tolist()) <= set(range(37)) | {-1}
