"""The hidden-hand test is fair to whoever does not see the hand, and sees who does."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import mjbot
from mjbot.analysis.collusion.hidden import (
    CALL,
    NEXT_CALL,
    OWN,
    call_helps,
    hold_against_hand,
    no_discard,
    no_model,
    no_sums,
    no_tally,
    tally_choice,
    weigh_discards,
)
from mjbot.game.records.sources import open_games
from mjbot.game.rules.tile_sets import acceptance_of, shanten_of
from mjbot.game.table.observe import unseen_kinds
from mjbot.game.table.state import State, copy_state
from mjbot.learning.training.positions import GameStep, replay_trusted
from mjbot.protocol.messages import Dahai
from mjbot.protocol.tiles import NORTH
from tests.game.records.formats import game_of_three

LOG = Path(mjbot.__file__).parents[1] / "logs" / "hanchan-thirteen-kyoku.mjson"
MODEL = no_model()
WANTED = 4
KINDS_OF = {4: range(34), 3: [0, *range(8, 34)]}


def steps_of(players: int) -> Iterator[GameStep]:
    if players == 4:
        (game,) = open_games(LOG)
    else:
        game = game_of_three()
    return replay_trusted(game)


@pytest.fixture(scope="module", params=[4, 3], ids=["four", "three"])
def before(request: pytest.FixtureRequest) -> tuple[State, int]:
    """A table at which nobody has called, and the seat that is to discard."""
    for step in steps_of(request.param):
        quiet = not step.state["n_melds"].any() and not step.state["riichi"].any()
        if isinstance(step.event, Dahai) and quiet and step.state["n_discards"] == 8:
            return copy_state(step.state), step.event.actor
    raise AssertionError


def after(state: State, seat: int) -> int:
    return (seat + 1) % int(state["rules"]["players"])


def call_of(state: State) -> int:
    """The score of a call of the next seat."""
    return NEXT_CALL if state["rules"]["players"] == 4 else CALL


def dealt(state: State, seat: int, random: np.random.Generator) -> State:
    """The table with a fair hand of a shanten dealt to the next seat."""
    state = copy_state(state)
    unseen = np.empty(34, np.int8)
    unseen_kinds(state, seat, unseen)
    players, other = int(state["rules"]["players"]), after(state, seat)
    if players == 3:
        unseen[NORTH] = 0  # set aside
    deck = np.repeat(np.arange(34), unseen)
    while True:
        hand = np.bincount(random.permutation(deck)[:13], minlength=34).astype(np.int8)
        if shanten_of(hand, 0, players) == WANTED:
            break
    state["hand"][other] = hand
    return state


def held_against(state: State, seat: int, kind: int, seed: int = 7):
    discard, sums, tally = no_discard(), no_sums(), no_tally()
    weigh_discards(state, seat, MODEL, discard)
    tally_choice(discard, kind, tally)
    for other in range(state["rules"]["players"]):
        if other != seat:
            hold_against_hand(
                state, (seat, other), kind, discard, MODEL, tally,
                np.array([seed], np.uint64), sums,
            )  # fmt: skip
    return sums, tally


def of_next(before: tuple[State, int], choose: Callable[[State, int], int], n: int):
    """T towards the next seat in fair deals: float64[n, N_SCORES]."""
    random, (table, seat), found = np.random.default_rng(3), before, []
    for number in range(n):
        state = dealt(table, seat, random)
        sums, _ = held_against(state, seat, choose(state, seat), number)
        found.append(sums.t[seat, after(state, seat)])
    return np.array(found)


def t_of(x):
    return x.sum() / np.sqrt((x**2).sum())


def by_own_hand(state: State, seat: int) -> int:
    """The discard that leaves most kinds to draw, whatever the others hold."""
    hand = state["hand"][seat].copy()
    value = {}
    for kind in np.flatnonzero(hand).tolist():
        hand[kind] -= 1
        away, mask = acceptance_of(hand, 0, int(state["rules"]["players"]))
        value[kind] = (-away, mask.bit_count())
        hand[kind] += 1
    return max(value, key=value.__getitem__)


def most_needed(state: State, seat: int) -> int:
    kinds, other = np.flatnonzero(state["hand"][seat]).tolist(), state["hand"][after(state, seat)]
    called = call_of(state) == NEXT_CALL, int(state["rules"]["players"])
    return next((kind for kind in kinds if call_helps(other, 0, kind, *called)), kinds[0])


def test_whoever_does_not_see_the_hand_serves_it_by_chance(before):
    left = of_next(before, by_own_hand, 150)
    served = left[:, call_of(before[0])]
    assert served.std() > 0.1
    assert abs(t_of(served)) < 3
    assert abs(t_of(left[:, OWN])) < 3


def test_whoever_sees_it_serves_it_more(before):
    left = of_next(before, most_needed, 150)
    assert t_of(left[:, call_of(before[0])]) > 5
    assert not left[:, CALL if call_of(before[0]) == NEXT_CALL else NEXT_CALL].any()


def test_nothing_is_asked_of_a_hand_that_is_unknown_or_of_who_has_no_choice(before):
    table, seat = before
    kind = int(np.flatnonzero(table["hand"][seat])[0])
    for field, value, who in (("hand_known", 0, after(table, seat)), ("riichi", 2, seat)):
        state = copy_state(table)
        state[field][who] = value
        sums, tally = held_against(state, seat, kind)
        assert not sums.t[seat, after(table, seat)].any()
        assert tally.chosen.any() == (field == "hand_known")


def test_redraws_leave_the_table_as_it_is(before):
    table, seat = before
    state = copy_state(table)
    sums, tally = held_against(state, seat, int(np.flatnonzero(table["hand"][seat])[0]))
    assert state == table  # by field: the padding between fields is undefined
    assert tally.chosen[:, 0].sum() == pytest.approx(tally.chosen[:, 1].sum())  # one was discarded
    assert sums.level[..., 1].sum() > 0


def helps_by_definition(hand, n_melds: int, kind: int, may_chi: bool, players: int) -> bool:
    """Whether a pon, or a chi where it may be called, leaves a hand with fewer shanten."""
    taken = [(kind, kind)]
    if may_chi and kind < 27:
        steps = ((-2, -1), (-1, 1), (1, 2))
        taken += [(kind + a, kind + b) for a, b in steps if kind % 9 + a >= 0 and kind % 9 + b < 9]
    for two in taken:
        rest = hand.copy()
        for each in two:
            rest[each] -= 1
        here = shanten_of(hand, n_melds, players)
        if rest.min() >= 0 and shanten_of(rest, n_melds + 1, players) < here:
            return True
    return False


@pytest.mark.parametrize(("may_chi", "players"), [(True, 4), (False, 4), (False, 3)])
def test_a_call_helps_where_it_lowers_the_shanten(may_chi, players):
    random, helped = np.random.default_rng(8), 0
    for number in range(80):
        n_melds = number % 4
        kinds = random.permutation(KINDS_OF[players])[: 34 if number % 2 else 12]
        deck = random.permutation(np.repeat(kinds, 4))[: 13 - 3 * n_melds]
        hand = np.bincount(deck, minlength=34).astype(np.int8)
        for kind in range(34):
            expected = helps_by_definition(hand, n_melds, kind, may_chi, players)
            assert call_helps(hand, n_melds, kind, may_chi, players) == expected
            helped += expected
    assert helped > 50
