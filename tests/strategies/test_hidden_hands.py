"""Filled-in hands: legal, of the shanten wished, as frequent as said; and the wall beside them."""

from collections import Counter

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.referee.bulk import RANDOM, choose, playouts
from mjbot.game.rules.acceptance import waits
from mjbot.game.rules.kinds import hand_counts
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.rules.shanten import shanten
from mjbot.game.rules.wall_plan import FOUR_PLAYERS as WALL
from mjbot.game.table.actions import ACTIONS, N_ACTIONS
from mjbot.game.table.assume import hide
from mjbot.game.table.observe import visible_kinds
from mjbot.game.table.state import ACCEPTED, CHI, PON, REACTION, STATE, copy_state
from mjbot.learning.playouts.random_hands import (
    deal_fairly,
    deal_shanten,
    stack_unseen,
    walk_to_shanten,
)
from mjbot.learning.playouts.sampler import deal_hands, deal_wall, new_hand_sampler
from mjbot.learning.playouts.tenpai_samples import ONE_KIND, TWO_SIDES
from mjbot.protocol.tiles import N_KINDS, tile_kind
from mjbot.runtime.compiler.compiled import compiled
from tests.strategies.frequencies import deviation, hands_from


@pytest.fixture(scope="module")
def tables():
    """Positions on the way of random games: calls, kans, riichi, the end of the wall."""
    found = []
    for seed in range(6):
        referee, random = Referee(seed), np.array([seed], np.uint64)
        referee.start()
        for step in range(110):
            chosen = {}
            for seat in referee.asked:
                codes = np.empty(N_ACTIONS, np.uint8)
                code = choose(RANDOM, referee.state, seat, codes, random)
                chosen[seat] = ACTIONS[code]
            referee.step(chosen)
            if step % 7 == 0:
                found.append(copy_state(referee.state))
    return found


def tiles_of_hand(state, seat):
    tiles = [kind for kind in range(N_KINDS) for _ in range(state["hand"][seat, kind])]
    for suit in range(3):
        if state["red"][seat, suit]:
            tiles[tiles.index(9 * suit + 4)] = N_KINDS + suit
    return tiles


def hidden_wall(state):
    live = WALL["live"] + WALL["n_live"] - int(state["wall_left"]) - int(state["rinshan_taken"])
    wall = state["wall"].tolist()
    dead = (
        wall[WALL["dora"] + int(state["n_dora"]) : WALL["ura"]]
        + wall[WALL["ura"] : WALL["rinshan"]]
    )
    return wall[live : WALL["dora"]] + dead + wall[WALL["rinshan"] + int(state["rinshan_taken"]) :]


def seen_reds(state):
    reds = [tile for tile in state["dora_markers"][: state["n_dora"]].tolist() if tile >= N_KINDS]
    for seat in range(4):
        river = zip(state["river"][seat], state["river_flags"][seat], strict=True)
        reds += [int(tile) for tile, flags in list(river)[: state["n_river"][seat]]
                 if tile >= N_KINDS and not flags & 4]  # fmt: skip
        for place in range(state["n_melds"][seat]):
            reds += [
                N_KINDS + suit for suit in range(3) if state["meld_red"][seat, place] >> suit & 1
            ]
    return reds


def concealed_before_draw(state, seat):
    hand = state["hand"][seat].copy()
    if int(hand.sum()) % 3 == 2:
        hand[tile_kind(int(state["drawn"]))] -= 1
    return hand


def test_every_tile_is_there_once_and_nothing_known_is_changed(tables):
    random, dealer = np.array([5], np.uint64), new_hand_sampler()
    for number, before in enumerate(tables):
        seat = number % 4
        state = copy_state(before)
        deal_hands(state, seat, np.array([1, 2, 3, 4], np.int8), random, dealer)
        deal_wall(state, random, dealer)
        counts = np.zeros(N_KINDS, np.int8)
        visible_kinds(state, counts)
        reds = seen_reds(state)
        hands = [tile for holder in range(4) for tile in tiles_of_hand(state, holder)]
        for tile in hidden_wall(state) + hands:
            counts[tile_kind(tile)] += 1
            reds += [tile] if tile >= N_KINDS else []
        assert (counts == 4).all()
        assert sorted(reds) == [34, 35, 36]
        blank, there = copy_state(before), copy_state(state)
        for one in (blank, there):
            one["pinned"] = 0
            hide(one, seat)
        assert blank.tobytes() == there.tobytes()


def test_hands_have_their_shanten_and_are_not_furiten(tables):
    random, dealer = np.array([6], np.uint64), new_hand_sampler()
    tried = found_all = 0
    for number, before in enumerate(tables):
        for wished in range(5):
            state = copy_state(before)
            seat = (number + wished) % 4
            met = deal_hands(state, seat, np.full(4, wished, np.int8), random, dealer)
            tried, found_all = tried + 1, found_all + met
            for other in (seat + 1) % 4, (seat + 2) % 4, (seat + 3) % 4:
                n_melds = int(state["n_melds"][other])
                if int(state["hand"][other].sum()) % 3 == 2 and int(state["drawn"]) < 0:
                    continue  # it has called and is to discard: no tile of it is the drawn one
                hand = concealed_before_draw(state, other)
                assert hand.sum() == 13 - 3 * n_melds
                assert state["hand"][other].sum() == before["hand_size"][other]
                assert state["waits"][other] == waits(hand, n_melds)
                if not met:
                    continue
                riichi = bool(before["riichi"][other])
                expected = 0 if riichi else min(wished, 8 - 2 * n_melds, 6)
                assert shanten(hand, n_melds) == expected
                if expected == 0:
                    assert not state["waits"][other] & before["discarded"][other]
                    passed = before["passed"][other] if riichi else 0
                    assert not state["waits"][other] & passed
    assert found_all > 0.95 * tried


def test_the_table_plays_on(tables):
    random, dealer = np.array([7], np.uint64), new_hand_sampler()
    for number, before in enumerate(tables[::3]):
        state = copy_state(before)
        deal_hands(state, number % 4, np.array([2, 1, 0, 2], np.int8), random, dealer)
        deal_wall(state, random, dealer)
        total = int(before["scores"].sum()) + 1000 * int(before["sticks"])
        scores = playouts(state, np.full(4, RANDOM, np.int8), 3, number)
        assert set((total - scores.sum(axis=1)).tolist()) <= {0, 1000, 2000, 3000, 4000}


def test_the_same_seed_deals_the_same_and_nothing_hidden_is_looked_at(tables):
    before = tables[10]
    blind = copy_state(before)
    hide(blind, 2)
    dealt = []
    for state in (copy_state(before), copy_state(before), blind):
        random, dealer = np.array([8], np.uint64), new_hand_sampler()
        deal_hands(state, 2, np.array([1, 0, 2, 3], np.int8), random, dealer)
        deal_wall(state, random, dealer)
        dealt.append((state["hand"].tolist(), state["red"].tolist(), hidden_wall(state)))
    assert dealt[0] == dealt[1] == dealt[2]


# --- frequencies -------------------------------------------------------------------------------


@compiled
def walked(dealer, size, n_melds, wished, random, out):
    """Write hands found by walking alone, each from a deal of its own: int8[n, 34]."""
    for row in out:
        stack_unseen(dealer)
        deal_fairly(dealer, size, random)
        walk_to_shanten(dealer, size, n_melds, wished, random)
        for kind in range(34):
            row[kind] = dealer.hand[kind]


@compiled
def dealt_until(dealer, size, n_melds, wished, random, out):
    """Write hands of the shanten among fair deals: int8[n, 34]."""
    stack_unseen(dealer)
    for row in out:
        while True:
            deal_fairly(dealer, size, random)
            if shanten(dealer.hand, n_melds) == wished:
                break
        for kind in range(34):
            row[kind] = dealer.hand[kind]


@compiled
def dealt(dealer, size, n_melds, wished, random, out):
    for row in out:
        deal_shanten(dealer, size, n_melds, wished, random)
        for kind in range(34):
            row[kind] = dealer.hand[kind]


@pytest.mark.parametrize("deal", [walked, dealt])
@pytest.mark.parametrize("wished", [1, 2])
def test_hands_of_a_shanten_are_equally_likely(deal, wished):
    unseen = hand_counts("1145579m2336p5566z")
    weights = {
        tuple(hand.tolist()): ways
        for hand, ways in hands_from(unseen, 7)
        if shanten(hand, 2) == wished
    }
    dealer, out = new_hand_sampler(), np.zeros((8000, 34), np.int8)
    dealer["unseen"] = unseen
    deal(dealer, 7, 2, wished, np.array([wished], np.uint64), out)
    assert deviation(Counter(map(tuple, out.tolist())), weights) < 4


def features(hands):
    """Sum a hand of 13 up in a few numbers: pairs, honours, tiles of its largest suit."""
    suits = np.stack([hands[:, 9 * s : 9 * s + 9].sum(axis=1) for s in range(3)])
    rows = ((hands >= 2).sum(axis=1), hands[:, 27:].sum(axis=1) // 2, suits.max(axis=0) // 2)
    return Counter(zip(*(row.tolist() for row in rows), strict=True))


def test_walked_hands_of_13_are_like_dealt_ones():
    """One-shanten hands from 100 tiles: a fair deal has one in 150."""
    dealer = new_hand_sampler()
    dealer["unseen"] = 3
    n = 3000
    fair, ours = np.zeros((10 * n, 34), np.int8), np.zeros((n, 34), np.int8)
    dealt_until(dealer, 13, 0, 1, np.array([11], np.uint64), fair)
    walked(dealer, 13, 0, 1, np.array([12], np.uint64), ours)
    expected = features(fair)
    seen = {key: count for key, count in features(ours).items() if key in expected}
    assert n - sum(seen.values()) < 10
    assert deviation(seen, expected) < 4


def small_table():
    """Three pons each, five draws left: hands of four tiles, few of which are unseen."""
    state = np.zeros(1, STATE)[0]
    state["rules"] = rule_set()
    kinds = [0, 8, 9, 17, 18, 26, 27, 28, 29, 30, 31, 32]
    state["phase"], state["turn"], state["last_tile"] = REACTION, 3, 2
    state["drawn"] = -1
    state["n_dora"], state["dora_markers"][0] = 1, 33
    state["wall_left"] = 5
    for seat in range(4):
        state["n_melds"][seat] = 3
        state["meld_kind"][seat, :3] = kinds[3 * seat : 3 * seat + 3]
        state["meld_type"][seat, :3] = PON
        state["hand_size"][seat] = 4
        state["is_open"][seat] = 1
    state["hand_known"][0] = 1
    state["hand"][0] = hand_counts("1234p")
    return state


def gone_but(state, unseen):
    """Lay everything into the rivers but ``unseen`` and what lies elsewhere."""
    counts = np.zeros(N_KINDS, np.int8)
    visible_kinds(state, counts)
    left = 4 - counts - state["hand"][0] - hand_counts(unseen)
    tiles = np.repeat(np.arange(N_KINDS), left)
    for seat, river in enumerate(np.array_split(tiles, 4)):
        state["river"][seat, : len(river)] = river
        state["n_river"][seat] = len(river)


def in_short(hand):
    return int(hand[:9].sum()), int((hand[:9] >= 2).sum()), int(hand[27:].max())


def chances(unseen, wished):
    """Return every hand of four tiles of the shanten, with its probability."""
    hands = [(hand, ways) for hand, ways in hands_from(unseen, 4) if shanten(hand, 3) == wished]
    return [(hand, ways / sum(ways for _, ways in hands)) for hand, ways in hands]


def test_each_hand_is_dealt_from_what_the_ones_before_it_left():
    """Tenpai first (here a single tile), then the lower shanten, then by seats."""
    state = small_table()
    text = "222334m345p66s77z"
    state["n_melds"][3], state["hand_size"][3] = 4, 1
    state["meld_type"][3, 3], state["meld_kind"][3, 3] = CHI, 21
    gone_but(state, text)
    unseen = hand_counts(text)
    expected = Counter()
    for kind in np.flatnonzero(unseen):
        left = unseen.copy()
        left[kind] -= 1
        for first, chance in chances(left, 1):
            for second, then in chances(left - first, 1):
                share = unseen[kind] / unseen.sum() * chance * then
                expected[in_short(first) + in_short(second)] += share
    dealer, random = new_hand_sampler(), np.array([3], np.uint64)
    seen = Counter()
    for _ in range(8000):
        assert deal_hands(state, 0, np.array([0, 1, 1, 3], np.int8), random, dealer)
        seen[in_short(state["hand"][1]) + in_short(state["hand"][2])] += 1
    assert deviation(seen, expected) < 4


@pytest.mark.parametrize("class_", [TWO_SIDES, ONE_KIND])
def test_both_sorts_of_waits_are_dealt(class_):
    state = small_table()
    dealer, random = new_hand_sampler(), np.array([3], np.uint64)
    sorts = Counter()
    for _ in range(2000):
        deal_hands(state, 0, np.array([0, 0, 5, 5], np.int8), random, dealer)
        sorts[bool(state["waits"][1] & (state["waits"][1] - 1))] += 1
    share = sorts[class_ == TWO_SIDES] / 2000
    assert abs(share - (0.73 if class_ == TWO_SIDES else 0.27)) < 0.04


def test_a_seat_in_riichi_is_tenpai_on_nothing_it_let_pass():
    state = small_table()
    state["n_melds"][1] = state["is_open"][1] = 0
    state["hand_size"][1] = 13
    state["riichi"][1] = ACCEPTED
    passed = hand_counts("2345m2345p")
    state["passed"][1] = sum(1 << int(kind) for kind in np.flatnonzero(passed))
    dealer, random = new_hand_sampler(), np.array([3], np.uint64)
    for _ in range(50):
        assert deal_hands(state, 0, np.full(4, 2, np.int8), random, dealer)
        assert state["waits"][1]
        assert not state["waits"][1] & state["passed"][1]
