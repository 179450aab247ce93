"""Compiled bulk play makes the same games as the referee that tells its events."""

import gc
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from mjbot.game.referee import Referee
from mjbot.game.referee.bulk import (
    RANDOM,
    TSUMOGIRI,
    choose,
    play_games,
    play_kyoku,
    playouts,
)
from mjbot.game.referee.step import STEP_BUFFER
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.table.actions import ACTIONS, N_ACTIONS
from mjbot.game.table.state import CHANKAN, REACTION, State, copy_state
from mjbot.protocol import messages as m
from mjbot.runtime.compiler.splitmix import mix, next_below
from proof.peer.plots import WRITERS, robbed_kans

HANCHAN = rule_set()
MIXED = np.array([RANDOM, TSUMOGIRI, RANDOM, RANDOM], np.int8)
ALL_RANDOM = np.full(4, RANDOM, np.int8)
ALL = np.arange(136)


class Slow:
    """The same policies, asked through the referee, with the same random numbers."""

    def __init__(self, referee: Referee, policies: np.ndarray, random: np.ndarray) -> None:
        self.referee = referee
        self.policies = policies
        self.random = random

    def step(self) -> list[m.Event]:
        state, chosen = self.referee.state, {}
        asked = self.referee.asked
        turn = int(state["turn"])
        for seat in sorted(asked, key=lambda seat: (seat - turn) % 4):
            codes = np.empty(N_ACTIONS, np.uint8)
            code = choose(int(self.policies[seat]), state, seat, codes, self.random)
            chosen[seat] = ACTIONS[code]
        return self.referee.step(chosen)


def middle(seed: int, steps: int) -> State:
    """A position some random decisions after the deal."""
    referee = Referee(seed)
    referee.start()
    slow = Slow(referee, ALL_RANDOM, np.array([seed], np.uint64))
    for _ in range(steps):
        slow.step()
    return copy_state(referee.state)


def test_compiled_games_are_the_referees_games():
    seeds = np.arange(8, dtype=np.int64)
    finals = play_games(MIXED, seeds, HANCHAN)
    for seed, final in zip(seeds.tolist(), finals.tolist(), strict=True):
        referee = Referee(seed)
        referee.start()
        slow = Slow(referee, MIXED, np.array([mix(np.uint64(seed))], np.uint64))
        while not referee.over:
            slow.step()
        assert referee.state["scores"].tolist() == final
    assert len({tuple(final) for final in finals.tolist()}) > 1


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_compiled_playouts_are_the_referees_kyoku(writer):
    """From deals where something happens even to random players."""
    ends = set()
    for seed in range(20):
        wall = writer(Random(seed)).plot(Random(seed), 0).wall
        referee = Referee(walls=lambda round_, honba, to_fill, wall=wall: to_fill.put(ALL, wall))
        referee.start()
        (scores,) = playouts(referee.state, ALL_RANDOM, 1, seed).tolist()
        slow = Slow(referee, ALL_RANDOM, np.array([mix(np.uint64(seed))], np.uint64))
        events: list[m.Event] = []
        while not any(isinstance(event, m.EndKyoku) for event in events):
            events += slow.step()
        end = next(event for event in events[::-1] if isinstance(event, m.Hora | m.Ryukyoku))
        assert list(end.scores) == scores
        ends.add(type(end))
    assert m.Ryukyoku in ends


def at_a_robbed_kan(seed: int) -> Referee | None:
    """Calls and added kans wherever they are legal, until somebody may rob one."""
    wall = robbed_kans(Random(seed)).plot(Random(seed), 0).wall
    referee = Referee(walls=lambda round_, honba, to_fill: to_fill.put(ALL, wall))
    referee.start()
    while not referee.over and int(referee.state["honba"] + referee.state["round"]) == 0:
        if int(referee.state["phase"]) == CHANKAN:
            return referee
        chosen = {}
        for seat, legal in referee.asked.items():
            wanted = [action for action in legal if action.name in ("kakan", "pon")]
            chosen[seat] = wanted[0] if wanted else referee.view(seat).default_action
        referee.step(chosen)
    return None


def test_compiled_playouts_let_a_kan_be_robbed():
    robbed = []
    for place in (seed for seed in range(40) if at_a_robbed_kan(seed)):
        referee = at_a_robbed_kan(place)
        assert referee
        (scores,) = playouts(referee.state, ALL_RANDOM, 1, place).tolist()
        slow = Slow(referee, ALL_RANDOM, np.array([mix(np.uint64(place))], np.uint64))
        events = slow.step()
        robbed.append(any(isinstance(event, m.Hora) for event in events))
        while not any(isinstance(event, m.EndKyoku) for event in events):
            events += slow.step()
        end = next(event for event in events[::-1] if isinstance(event, m.Hora | m.Ryukyoku))
        assert list(end.scores) == scores
    assert {True, False} == set(robbed)


def test_playouts_leave_the_position_alone_and_depend_on_the_seed():
    state = middle(3, 30)
    before = state.tobytes()
    first, again = playouts(state, ALL_RANDOM, 50, 1), playouts(state, ALL_RANDOM, 50, 1)
    assert state.tobytes() == before
    assert (first == again).all()
    assert (first != playouts(state, ALL_RANDOM, 50, 2)).any()
    assert len(np.unique(first, axis=0)) > 1


def test_playouts_keep_all_points():
    state = middle(5, 40)
    scores = playouts(state, ALL_RANDOM, 200, 9)
    missing = 100_000 - scores.sum(axis=1)
    assert (missing >= 0).all()
    assert (missing % 1000 == 0).all()  # sticks on the table


def test_a_step_buffer_forgets_the_wins_of_the_kyoku_before():
    """Else the fourth win of a buffer is written behind the end of its record."""
    buffers = np.zeros(1, STEP_BUFFER)
    buffers[0]["outcome"]["n_wins"] = 3
    state = copy_state(middle(3, 30))
    play_kyoku(state, buffers[0], ALL_RANDOM, np.array([1], np.uint64))
    assert int(buffers[0]["outcome"]["n_wins"]) == int(state["wins"]).bit_count()


def test_playouts_go_on_from_a_discard_that_others_may_claim():
    state = middle(8, 25)
    steps = 26
    while int(state["phase"]) != REACTION:
        state = middle(8, steps)
        steps += 1
    assert len(playouts(state, ALL_RANDOM, 5, 1)) == 5


def test_random_numbers_are_in_range_and_all_come_up():
    random = np.array([1], np.uint64)
    drawn = [next_below(random, 7) for _ in range(7000)]
    counts = np.bincount(drawn, minlength=7)
    assert len(counts) == 7
    assert (abs(counts - 1000) < 150).all()  # 5 standard deviations


@pytest.fixture
def no_collection() -> Iterator[None]:
    """Let nothing that an earlier test left behind be freed meanwhile."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
def test_bulk_play_gives_back_all_memory():
    _nrt_python.memsys_enable_stats()
    state = middle(2, 30)
    playouts(state, ALL_RANDOM, 10, 1)
    play_games(MIXED, np.arange(2, dtype=np.int64), HANCHAN)
    before = rtsys.get_allocation_stats()
    playouts(state, ALL_RANDOM, 100, 1)
    play_games(MIXED, np.arange(3, dtype=np.int64), HANCHAN)
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc > 100
    assert after.alloc - before.alloc == after.free - before.free
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free
