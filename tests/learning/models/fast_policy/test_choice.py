"""The fast policy's choices: legal, the same on both sides, and by what the seat may see alone."""

from pathlib import Path

import numpy as np
import pytest

from mjbot.game.records.sources import open_games
from mjbot.game.referee import Referee
from mjbot.game.table.actions import KITA, N_ACTIONS
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.observe import unseen_kinds
from mjbot.game.table.state import copy_state
from mjbot.game.table.view import Sealed, View
from mjbot.learning.models.danger import danger_weights, deal_in_chances
from mjbot.learning.models.fast_policy.ally import NO_ALLY
from mjbot.learning.models.fast_policy.candidates import CALL_CHI
from mjbot.learning.models.fast_policy.choice import choose, likeliest, load_policy, shares
from mjbot.learning.models.fast_policy.reading import Reading, read_table
from mjbot.protocol.masking import masked
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import FIVE_KINDS, N_KINDS, tile_kind
from mjbot.strategy.registry import make_strategy
from tests.game.referee.scripted import random_game

LOGS = sorted((Path(__file__).parents[4] / "logs").glob("*.mjson"))
POLICY = load_policy()


def recorded_views(log):
    """Every table of a recorded game at which a seat has a choice, all hands known."""
    table, (game,) = Mirror(), open_games(log)
    for entry in game.entries:
        table.apply(entry.event)
        for seat in range(4):
            view = View(table.state, seat)
            if len(view.legal) > 1:
                yield view


def share_of(policy, view):
    found = np.zeros(N_ACTIONS)
    shares(policy, view.state, view.seat, NO_ALLY, found)
    return found


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_choices_are_legal_and_shares_are_of_legal_actions(log):
    asked = 0
    for view in recorded_views(log):
        legal = {action.code for action in view.legal}
        assert choose(POLICY, view.state, view.seat, NO_ALLY) in legal
        found = share_of(POLICY, view)
        assert set(np.flatnonzero(found)) <= legal
        assert found.sum() == pytest.approx(1, abs=1e-5)
        asked += 1
    assert asked > 50


def views_of_three(seed):
    """Every table of a game at random among three at which a seat has a choice, hands known."""
    table = Mirror()
    for event in random_game(seed, Rules(players=3, length="tonpu")):
        table.apply(event)
        for seat in range(3):
            view = View(table.state, seat)
            if len(view.legal) > 1:
                yield view


def test_at_a_table_of_three_kita_has_a_share_and_the_empty_chair_none():
    """What stands in the fourth chair changes nothing: it is no rival."""
    policy, norths, elsewhere = load_policy(players=3), [], []
    for view in views_of_three(1):
        legal = {action.code for action in view.legal}
        assert choose(policy, view.state, view.seat, NO_ALLY) in legal
        found = share_of(policy, view)
        assert set(np.flatnonzero(found)) <= legal
        assert found.sum() == pytest.approx(1, abs=1e-5)
        if KITA in legal and not any(action.is_win for action in view.legal):
            norths.append(found[KITA])
        other = copy_state(view.state)
        other["scores"][3], other["riichi"][3], other["discarded"][3] = 90_000, 1, 5
        assert np.array_equal(share_of(policy, View(other, view.seat)), found)
        elsewhere.append(len(legal))
    assert len(elsewhere) > 100
    assert np.mean(norths) > 0.5
    assert np.min(norths) < 0.5


def test_a_fresh_policy_chooses_the_same():
    fresh = load_policy()
    for view in recorded_views(LOGS[0]):
        chosen = choose(POLICY, view.state, view.seat, NO_ALLY)
        assert choose(fresh, view.state, view.seat, NO_ALLY) == chosen
        assert (share_of(fresh, view) == share_of(POLICY, view)).all()


def test_hidden_hands_and_the_wall_do_not_matter():
    sealed, random, n = Sealed(), np.random.default_rng(1), 0
    for view in recorded_views(LOGS[-1]):
        found = share_of(POLICY, view)
        assert (share_of(POLICY, sealed.view(view)) == found).all()
        changed = copy_state(view.state)
        for step in range(1, 4):
            other = (view.seat + step) % 4
            changed["hand"][other] = random.integers(0, 3, 34)
            changed["red"][other] = random.integers(0, 2, 3)
            changed["waits"][other] = random.integers(0, 1 << 34)
        changed["wall"] = random.integers(0, 37, 136)
        assert (share_of(POLICY, View(changed, view.seat)) == found).all()
        n += 1
    assert n > 50


def test_a_mirror_gives_the_same_as_the_referee():
    bots = [make_strategy("fast-riichi-d") for _ in range(4)]
    referee, tables, n = Referee(12), [Mirror(seat) for seat in range(4)], 0
    events = referee.start()
    while n < 400:
        for event in events:
            for seat, table in enumerate(tables):
                table.apply(masked(event, seat))
        choices = {}
        for seat, legal in referee.asked.items():
            if len(legal) > 1:
                mirrored, known = tables[seat].view(seat), referee.view(seat)
                assert (share_of(POLICY, mirrored) == share_of(POLICY, known)).all()
                n += 1
            choices[seat] = bots[seat].decide(referee.view(seat))
        events = referee.step(choices)


def test_the_likeliest_discard_is_chosen_a_plain_five_before_a_red_one():
    fives = 0
    for log in LOGS:
        for view in recorded_views(log):
            code = choose(POLICY, view.state, view.seat, NO_ALLY)
            discards = {action.code: action for action in view.legal if action.is_discard}
            if code not in discards:
                continue
            found = share_of(POLICY, view)
            assert found[code] == max(found[other] for other in discards)
            tile = discards[code].tile
            if tile_kind(tile) in FIVE_KINDS and view.red[tile_kind(tile) // 9]:
                fives += 1
                assert tile < N_KINDS or view.hand[tile_kind(tile)] == 1
    assert fives > 5


def test_dangers_are_those_of_the_danger_model():
    reading, chance, points = Reading.new(), np.zeros((4, 34)), np.zeros((4, 34))
    unseen, n = np.zeros(34, np.int8), 0
    for view in recorded_views(LOGS[0]):
        read_table(view.state, view.seat, danger_weights(), reading, NO_ALLY)
        unseen_kinds(view.state, view.seat, unseen)
        deal_in_chances(view.state, view.seat, unseen, danger_weights(), chance, points)
        held = view.hand > 0
        expected = (chance * points).sum(axis=0)[held] / 8000
        assert reading["loss"][held] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        for step in range(3):
            other = (view.seat + step + 1) % 4
            assert reading["chance"][step][held] == pytest.approx(chance[other][held])
        n += 1
    assert n > 50


@pytest.mark.parametrize(
    ("chances", "chosen"),
    [
        ((0.30, 0.28, 0.42), 0),  # neither chi is likelier than "no", but both together are
        ((0.28, 0.30, 0.42), 1),
        ((0.24, 0.22, 0.54), 2),
        ((0.50, 0.00, 0.50), 0),
    ],
)
def test_a_call_is_weighed_by_all_its_candidates_against_no(chances, chosen):
    policy = load_policy()
    policy.layers["chances"][: len(chances)] = chances
    assert likeliest(policy, CALL_CHI, 2) == chosen
