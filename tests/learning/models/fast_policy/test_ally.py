"""What the fast policy reads of an ally: against the table's rules and the messages of a pair."""

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.rules.shanten import shanten
from mjbot.game.table.actions import N_ACTIONS, RON, is_chi_code, is_pon_code
from mjbot.game.table.apply import apply_discard
from mjbot.game.table.legal import legal_codes
from mjbot.game.table.settle import PAYMENT, win_payment
from mjbot.game.table.state import TURN, copy_state
from mjbot.learning.models.danger import danger_weights
from mjbot.learning.models.fast_policy.ally import NO_ALLY, OF_ALLY, OF_TILE, known_ally, write_tile
from mjbot.learning.models.fast_policy.choice import N_OPINION, policy_of, write_opinion
from mjbot.learning.models.fast_policy.network import load_network, load_pair_network
from mjbot.learning.models.fast_policy.reading import PLAIN_CONTEXT, Reading, read_table
from mjbot.strategy.pair.member import pair_up
from mjbot.strategy.registry import make_strategy

NAMES = ("a", "b", "c", "d")
PAIR = (0, 3)


def choices_of_pair(seed):
    """Yield each choice of two allies in a game: the member, and its view with all hands known."""
    bots = [make_strategy("combo-partner" if seat in PAIR else "fast-policy") for seat in range(4)]
    pair_up(*(bots[seat] for seat in PAIR))
    for seat, bot in enumerate(bots):
        bot.start_game(seat, NAMES)
    referee, before = Referee(seed, "tonpu"), None
    referee.start()
    while asked := referee.asked:
        kyoku = referee.state["round"], referee.state["honba"]
        for seat in asked:
            if kyoku != before:
                for each, bot in enumerate(bots):
                    bot.start_kyoku(referee.view(each))
                before = kyoku
            if seat in PAIR:
                yield bots[seat], referee.view(seat)
        referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in asked})


def other_of(seat):
    return PAIR[1 - PAIR.index(seat)]


def read(view, ally):
    reading = Reading.new()
    read_table(view.state, view.seat, danger_weights(), reading, ally)
    return reading


def tile_numbers(view, kind, reading):
    out = np.zeros(OF_TILE, np.float32)
    write_tile(view.state, view.seat, kind, reading["ally"], out)
    return out.tolist()


def offered_by_rules(view, kind, ally):
    """What the rules offer the ally on this discard: its points by ron, whether pon, chi."""
    after = copy_state(view.state)
    apply_discard(after, view.seat, kind, 0)
    codes = np.zeros(N_ACTIONS, np.uint8)
    offered = codes[: legal_codes(after, ally, codes)].tolist()
    payment = np.zeros(1, PAYMENT)[0]
    if RON in offered:
        win_payment(after, ally, kind, False, payment)
    pon, chi = any(map(is_pon_code, offered)), any(map(is_chi_code, offered))
    return int(payment["deltas"][ally]), pon, chi


@pytest.fixture(scope="module")
def own_turns():
    found = []
    for seed in range(4):
        for _, view in choices_of_pair(seed):
            if view.state["phase"] == TURN and view.discards:
                found.append(type(view)(copy_state(view.state), view.seat))
    return found


def test_what_a_tile_is_for_the_ally_is_what_the_rules_offer_it(own_turns):
    wins = pons = chis = 0
    for view in own_turns:
        ally = other_of(view.seat)
        reading = read(view, ally)
        for kind in {action.tile for action in view.discards if action.tile < 34}:
            points, can_pon, can_chi = offered_by_rules(view, kind, ally)
            rons, _, _, useful, pon, chi, *_ = tile_numbers(view, kind, reading)
            assert rons == (points > 0)
            assert (pon, chi) == (can_pon, can_chi)
            hand = view.state["hand"][ally].copy()
            before = shanten(hand, view.state["n_melds"][ally])
            hand[kind] += 1
            assert useful == (shanten(hand, view.state["n_melds"][ally]) < before)
            wins, pons, chis = wins + (points > 0), pons + can_pon, chis + can_chi
    assert wins > 3
    assert min(pons, chis) > 30


def test_a_silent_ally_s_points_are_those_of_the_payment(own_turns):
    n = 0
    for view in own_turns:
        ally = other_of(view.seat)
        if view.riichi(ally) or view.state["waits"][ally] == 0:
            continue
        reading = read(view, ally)
        for kind in {action.tile for action in view.discards if action.tile < 34}:
            points, _, _ = offered_by_rules(view, kind, ally)
            extra = 300 * view.honba + 1000 * int(view.state["sticks"])
            if points:
                stated = 8000 * tile_numbers(view, kind, reading)[1]
                assert stated == pytest.approx(points - extra, rel=1e-6)
                n += 1
    assert n > 0


def test_the_ally_is_no_danger_and_its_tiles_are_seen(own_turns):
    for view in own_turns[::5]:
        ally = other_of(view.seat)
        alone, together = read(view, NO_ALLY), read(view, ally)
        step = (ally - view.seat - 1) & 3
        assert (together["chance"][step] == 0).all()
        assert together["safe"][step] == (1 << 34) - 1
        seen = alone["shape"]["unseen"] - together["shape"]["unseen"]
        assert np.array_equal(seen, view.state["hand"][ally])
        assert (alone["context"][PLAIN_CONTEXT:] == 0).all()
        assert together["context"][PLAIN_CONTEXT] == 1
        assert len(together["context"][PLAIN_CONTEXT:]) == OF_ALLY


def test_the_messages_of_a_pair_give_the_same_chances_as_all_hands_known():
    policy, n = policy_of(load_pair_network()), 0
    known, received = np.zeros((2, N_OPINION), np.float32)
    for member, view in choices_of_pair(9):
        ally = member.receive_hand(view)
        expected = known_ally(view.state, other_of(view.seat))
        assert (NO_ALLY if ally is None else ally.seat) == expected
        if ally is not None:
            write_opinion(policy, view.state, view.seat, ally.seat, known)
            write_opinion(policy, ally.state, view.seat, ally.seat, received)
            assert np.array_equal(known, received)
            n += 1
    assert n > 50


def test_without_an_ally_the_pair_s_network_is_the_fast_policy(own_turns):
    alone, pair = policy_of(load_network()), policy_of(load_pair_network())
    one, other = np.zeros((2, N_OPINION), np.float32)
    changed = 0
    for view in own_turns[::3]:
        write_opinion(alone, view.state, view.seat, NO_ALLY, one)
        write_opinion(pair, view.state, view.seat, NO_ALLY, other)
        assert np.array_equal(one, other)
        write_opinion(pair, view.state, view.seat, other_of(view.seat), other)
        changed += not np.allclose(one, other, atol=1e-3)
    assert changed > 50
