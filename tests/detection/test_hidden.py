"""The hidden-hand test is fair to whoever does not see the hand, and sees who does."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mjbot
from mjbot.detection.counting import call_helps
from mjbot.detection.hidden import CALL, WAIT, redraw, verdict_of
from mjbot.records.sources import open_games
from mjbot.rules.shanten import shanten
from mjbot.table.observe import unseen_kinds
from mjbot.table.state import State, copy_state
from mjbot.training.positions import replay_trusted
from protocol.messages import Dahai

REDRAWS = 39
LOG = Path(mjbot.__file__).parents[1] / "logs" / "hanchan-thirteen-kyoku.mjson"


@pytest.fixture(scope="module")
def before() -> tuple[State, int]:
    """A table at which nobody has called, and the seat that is to discard."""
    (game,) = open_games(LOG)
    for step in replay_trusted(game):
        if isinstance(step.event, Dahai) and step.state["n_discards"] == 8:
            assert not step.state["n_melds"].any() and not step.state["riichi"].any()
            return copy_state(step.state), step.event.actor
    raise AssertionError


def dealt(state: State, seat: int, random: np.random.Generator, wanted: int) -> State:
    """The table with a fair hand of a shanten dealt to the next seat."""
    state = copy_state(state)
    unseen = np.empty(34, np.int8)
    unseen_kinds(state, seat, unseen)
    deck = np.repeat(np.arange(34), unseen)
    while True:
        hand = np.bincount(random.permutation(deck)[:13], minlength=34).astype(np.int8)
        if shanten(hand, 0) == wanted:
            break
    state["hand"][(seat + 1) % 4] = hand
    return state


def residuals(before: tuple[State, int], choose: Callable[[State, int], int], n: int):
    random, seed, hits = np.random.default_rng(3), np.array([7], np.uint64), np.zeros(2)
    found, (table, seat) = [], before
    for _ in range(n):
        state = dealt(table, seat, random, 4)
        tile = choose(state, seat)
        assert redraw(state, seat, (seat + 1) % 4, tile, REDRAWS, seed, hits) == CALL
        found.append(hits[0] - hits[1])
    return np.array(found)


def test_who_does_not_see_the_hand_serves_it_no_more_than_redrawn_ones(before):
    left = residuals(before, lambda state, seat: int(state["hand"][seat].argmax()), 300)
    assert left.std() > 0.05
    assert abs(left.mean()) < 3 * left.std() / len(left) ** 0.5


def test_who_sees_it_serves_it_more(before):
    def best(state: State, seat: int) -> int:
        kinds, other = np.flatnonzero(state["hand"][seat]), state["hand"][(seat + 1) % 4]
        helps = [int(kind) for kind in kinds if call_helps(other, 0, int(kind), True)]
        return helps[0] if helps else int(kinds[0])

    left = residuals(before, best, 100)
    assert left.mean() > 5 * left.std() / len(left) ** 0.5


def test_nothing_is_asked_of_a_hand_that_is_unknown_or_in_riichi(before):
    table, seat = before
    other, seed, hits = (seat + 1) % 4, np.array([7], np.uint64), np.zeros(2)
    for field, value in (("hand_known", 0), ("riichi", 2)):
        state = copy_state(table)
        state[field][other] = value
        assert redraw(state, seat, other, 13, REDRAWS, seed, hits) == -1


def kyoku(pair: tuple[int, int, float], others: tuple[int, int, float]):
    told = np.zeros((2, 2, 3))
    told[0, WAIT], told[1, WAIT] = pair, others
    return told


def test_what_all_do_to_all_is_no_sign_of_a_pair():
    random = np.random.default_rng(2)
    fair = [
        kyoku((10, random.binomial(10, 0.2), 1.0), (40, random.binomial(40, 0.2), 4.0))
        for _ in range(200)
    ]
    assert verdict_of(fair).p > 0.01  # twice what redraws have, but towards everybody
    kept = [kyoku((10, 0, 1.0), (40, random.binomial(40, 0.1), 4.0)) for _ in range(200)]
    assert verdict_of(kept).p < 1e-6
    assert verdict_of([]).p == 1
