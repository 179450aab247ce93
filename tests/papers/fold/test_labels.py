"""Who folds and from when on: hands by hand, and what must hold in recorded games."""

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from mjbot.game.rules.shanten import shanten
from mjbot.game.table.assume import hide
from mjbot.game.table.state import STATE, copy_state
from mjbot.learning.models.fold_features import (
    N_FEATURES,
    NAMES,
    RANGES,
    fold_features,
    joint_grades,
    threats_to,
)
from mjbot.learning.training.positions import index_games, steps
from mjbot.protocol.messages import Dahai
from mjbot.protocol.tiles import parse_tiles
from papers.mizukami2013.training.fold_labels import FOLD, PUSH, UNCLEAR, label_hand, steps_aside
from papers.mizukami2013.training.fold_positions import join_positions, positions_of

GAMES = index_games(sorted((Path(__file__).parents[3] / "logs").glob("*.mjson")))
SAFE = "1m9p9s5z"
TENPAI = "123m45678p23499s"
ONE_AWAY = "123m45678p2399s3z"


@pytest.fixture(name="labels")
def labels_of(table_before):
    def labels(*turns: tuple[str, str], won: bool = False, riichi=(1,), **rest) -> list[int]:
        """Each turn is a hand of 14 and its discard."""
        tables = [table_before(hand, rivers={1: SAFE}, riichi=riichi, **rest) for hand, _ in turns]
        kinds = np.array([parse_tiles(tile)[0] for _, tile in turns], np.int8)
        return label_hand(np.array(tables, STATE), kinds, 0, won).tolist()

    return labels


def test_a_broken_tenpai_that_does_not_return_is_a_fold(labels):
    turns = (TENPAI + "5s", "9s"), ("123m45678p2345s9s1z", "9s")
    assert labels(*turns) == [FOLD, FOLD]
    assert labels(*turns, riichi=()) == [PUSH, PUSH]
    assert labels(*turns, riichi=(), melds={1: ["777z", "666z"]}) == [FOLD, FOLD]
    assert labels(*turns, riichi=(), melds={1: ["777z"]}) == [PUSH, PUSH]


def test_a_fold_needs_a_safe_tile(labels):
    assert labels((TENPAI + "5s", "3m"), ("12m45678p234599s7m", "7m")) == [PUSH, PUSH]


def test_going_round_is_neither_fold_nor_push(labels):
    away = TENPAI + "5s", "9s"
    assert labels(away, ("123m45678p22345s9s", "9s")) == [UNCLEAR, PUSH]
    meld = {"melds": {0: ["555p"]}}
    assert labels(("123m78p234s995s", "9s"), ("123m78p2345s1z9s", "9s"), **meld) == [FOLD, FOLD]
    assert labels(("123m78p23499s5s", "9s"), ("123m78p22345s9s", "9s"), **meld) == [UNCLEAR, PUSH]


def test_a_risk_taken_later_shows_that_it_was_no_fold(labels):
    assert labels((TENPAI + "5s", "9s"), ("123m45678p2345s9s6m", "6m")) == [UNCLEAR, PUSH]


def test_who_wins_has_not_folded(labels):
    turns = (TENPAI + "5s", "9s"), ("123m45678p2345s9s1z", "9s")
    assert labels(*turns, won=True) == [UNCLEAR, UNCLEAR]


def test_safe_discards_before_a_fold_may_be_part_of_it(labels):
    fold = ONE_AWAY + "1z", "1m"
    assert labels((ONE_AWAY + "5z", "5z"), fold) == [UNCLEAR, FOLD]
    assert labels((ONE_AWAY + "5m", "5m"), fold) == [PUSH, FOLD]
    assert labels((ONE_AWAY + "5z", "5z"), (ONE_AWAY + "5m", "5m")) == [PUSH, PUSH]
    assert labels((ONE_AWAY + "5z", "5z")) == [UNCLEAR]
    assert labels((TENPAI + "5z", "5z")) == [PUSH]  # tenpai waits, and does not fold


def test_ones_own_riichi_is_a_push(labels):
    turns = (TENPAI + "5s", "9s"), ("123m45678p2345s9s1z", "9s")
    assert labels(*turns, riichi=(0, 1)) == [PUSH, PUSH]


def test_who_throws_a_safer_tile_than_the_hand_wants_steps_aside(table_before):
    state = table_before(ONE_AWAY + "5m", rivers={1: SAFE}, riichi=[1])
    wanted, safe, risky = (parse_tiles(tile)[0] for tile in ("5m", "1m", "6p"))
    assert steps_aside(state, 0, wanted, safe)
    assert not steps_aside(state, 0, wanted, risky)
    assert not steps_aside(state, 0, safe, wanted)
    assert not steps_aside(table_before(ONE_AWAY + "5m", rivers={1: SAFE}), 0, wanted, safe)
    state["riichi"][0] = 2
    assert not steps_aside(state, 0, wanted, safe)


# --- recorded games --------------------------------------------------------------------------


@pytest.fixture(scope="module", name="all_positions")
def positions_of_all_games():
    return join_positions([positions_of(game, 0, 0) for game in steps(GAMES)])


def test_folds_last_to_the_end_of_the_hand_and_begin_with_a_safe_costly_discard(all_positions):
    rows = list(range(len(all_positions.labels)))
    hands = groupby(rows, key=lambda row: _hand(all_positions, row))
    folds = 0
    for _, hand in hands:
        found = list(hand)
        labels = all_positions.labels[found].tolist()
        if FOLD not in labels:
            continue
        folds += 1
        first = labels.index(FOLD)
        assert labels[first:] == [FOLD] * (len(labels) - first)
        _is_safe_and_costly(all_positions, found[first])
    assert folds > 5


def _hand(positions, row):
    state = positions.states[row]
    kyoku = int(state["round"]), int(state["honba"])
    return int(positions.games[row]), *kyoku, int(positions.seats[row])


def _is_safe_and_costly(positions, row):
    state, seat, kind = positions.states[row], int(positions.seats[row]), positions.kinds[row]
    threats = threats_to(state, seat)
    assert threats
    assert joint_grades(state, seat, threats)[kind] <= 1
    hand, n_melds = state["hand"][seat].copy(), int(state["n_melds"][seat])
    before = shanten(hand, n_melds)
    hand[kind] -= 1
    assert hand[kind] >= 0
    assert shanten(hand, n_melds) > before or hand.sum() % 3 == 1


def test_drawing_some_positions_is_drawing_some_of_all(all_positions):
    (some,) = [positions_of(game, 20, 5) for game in steps(GAMES[:1])]
    (again,) = [positions_of(game, 20, 5) for game in steps(GAMES[:1])]
    (other,) = [positions_of(game, 20, 6) for game in steps(GAMES[:1])]
    assert len(some.labels) == 20
    assert (some.states == again.states).all()
    assert not np.array_equal(some.kinds, other.kinds)
    everything = {state.tobytes() for state in all_positions.states}
    assert all(state.tobytes() in everything for state in some.states)


# --- features --------------------------------------------------------------------------------


def test_features_of_a_table_made_by_hand(table_before):
    state = table_before(
        "23406m1178p55s66z5z",
        rivers={0: "1z", 1: "58m9s", 2: "6m0p", 3: "1m"},
        melds={2: ["406p", "7777z"], 3: ["555z"]},
        riichi=[1],
        markers="5m4z",
        wall_left=35,
    )
    found = np.zeros(N_FEATURES, np.float32)
    fold_features(state, 0, parse_tiles("6m")[0], found)
    known = dict(zip(NAMES, np.round(found * RANGES).astype(int).tolist(), strict=True))
    assert {name: value for name, value in known.items() if value} == {
        "own_shanten": 2,
        "own_pairs_shanten": 3,
        "own_dealer": 1,
        "own_dora": 2,  # 6m and the red 5m
        "right_riichi": 1,
        "right_no_suji": 1,
        "across_melds": 2,
        "across_dora_shown": 1,
        "across_genbutsu": 1,
        "left_melds": 1,
        "left_no_suji": 1,
        "kans": 1,
        "dora_discarded": 3,  # 1z, 6m and the red 5p
        "tiles_left": 35,
        "accepted": 13,  # 6p (one is in a meld), 9p, 1p, 5s, 6z
    }


def test_features_show_nothing_of_other_hands():
    differing = 0
    for game, event, state in steps(GAMES[:1]).__next__():
        if isinstance(event, Dahai):
            kind = int(np.argmax(state["hand"][event.actor] > 0))
            honest = copy_state(state)
            hide(honest, event.actor)
            differing += honest.tobytes() != state.tobytes()
            seen, known = np.zeros((2, N_FEATURES), np.float32)
            fold_features(honest, event.actor, kind, seen)
            fold_features(state, event.actor, kind, known)
            assert np.array_equal(seen, known), game
    assert differing > 100
