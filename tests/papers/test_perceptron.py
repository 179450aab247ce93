"""The averaged perceptron against one written out plainly."""

import numpy as np
import pytest

from mjbot.game.table.view import View
from mjbot.learning.models.hand import (
    FEATURE_SETS,
    N_FEATURES,
    new_choices,
    new_position,
    write_choices,
)
from mjbot.learning.models.hand_position import observe
from mjbot.learning.training.hand_positions import before_first_riichi, of_closed_hands
from mjbot.learning.training.positions import collect, index_games, steps
from mjbot.protocol.messages import Dahai, Reach, StartKyoku
from mjbot.protocol.tiles import TILE_BY_NAME, tile_kind
from papers.mizukami2013.training import perceptron
from papers.mizukami2013.training.hand import agreement


@pytest.fixture(scope="module")
def positions(own_games):
    return np.concatenate(list(collect(index_games([own_games]), before_first_riichi)))


def made_choice(position, choices, n):
    return choices.kinds[:n].tolist().index(tile_kind(int(position["tile"])))


def plain_average(feature_set, positions, order):
    """Add up the weights after every step and divide: no shortcut."""
    choices = new_choices()
    weights, total = np.zeros(N_FEATURES[feature_set]), np.zeros(N_FEATURES[feature_set])
    right = 0
    for number in order:
        n = write_choices(FEATURE_SETS.index(feature_set), positions[number], choices)
        rows = [choices.features[i, : choices.counts[i]] for i in range(n)]
        best = int(np.argmax([weights[row].sum() for row in rows]))
        made = made_choice(positions[number], choices, n)
        if best == made:
            right += 1
        else:
            np.add.at(weights, rows[made], 1)
            np.add.at(weights, rows[best], -1)
        total += weights
    return total / len(order), right


@pytest.mark.parametrize("feature_set", FEATURE_SETS)
def test_the_average_is_that_of_the_weights_after_every_step(feature_set, positions):
    order = np.random.default_rng(5).permutation(len(positions))[:60]
    lesson = perceptron.initial_state(N_FEATURES[feature_set])
    number = FEATURE_SETS.index(feature_set)
    right = perceptron.learn(number, positions, order, new_choices(), lesson)
    expected, expected_right = plain_average(feature_set, positions, order)
    assert right == expected_right
    assert np.abs(expected).max() > 0.5
    assert np.allclose(perceptron.averaged(lesson), expected, atol=1e-4)


def test_who_knows_nothing_agrees_with_nothing(positions):
    ranks = np.zeros(len(positions), np.int8)
    perceptron.ranks_of_made(
        0, positions, new_choices(), np.zeros(N_FEATURES["paper"], np.float32), ranks
    )
    assert ranks.tolist() == [int((position["hand"] > 0).sum()) for position in positions]


def test_positions_are_the_discards_of_the_first_to_declare(own_games, positions):
    """The same, said with views of the table and lists of events."""
    expected, after_riichi = [], 0
    for number, game in enumerate(steps(index_games([own_games]))):
        made, declarer = {}, None
        for step in game:
            match step.event:
                case StartKyoku():
                    made, declarer = {}, None
                case Reach(actor=actor):
                    after_riichi += declarer is not None
                    declarer = actor if declarer is None else -1
                case Dahai(actor=actor, pai=pai):
                    view = View(step.state, actor)
                    seen = (number, TILE_BY_NAME[pai], view.hand.tolist(), view.unseen.tolist())
                    made.setdefault(actor, []).append(seen)
                    if actor == declarer:
                        expected += made[actor]
                        declarer = -1
    found = [
        (int(p["game"]), int(p["tile"]), p["hand"].tolist(), p["unseen"].tolist())
        for p in positions
    ]
    assert found == expected
    assert after_riichi > 0
    assert len(found) > 500


def test_positions_of_closed_hands_have_those_before_a_riichi_among_them(own_games, positions):
    every = np.concatenate(list(collect(index_games([own_games]), of_closed_hands)))
    chosen = np.sort(every[every["before_riichi"] == 1], order=["game", "turn", "hand"])
    assert np.array_equal(chosen, np.sort(positions, order=["game", "turn", "hand"]))
    assert len(every) > len(positions)
    assert (every["riichis"] > 0).any()
    assert not (positions["riichis"] > 0).any()


def test_what_a_position_says_of_the_table(own_games):
    game = next(steps(index_games([own_games])))
    seen = 0
    for step in game:
        if isinstance(step.event, Dahai):
            seat = step.event.actor
            view = View(step.state, seat)
            position = new_position()
            observe(step.state, seat, position)
            others = [other for other in range(4) if other != seat]
            assert position["hand"].tolist() == view.hand.tolist()
            assert position["unseen"].tolist() == view.unseen.tolist()
            assert position["dora"].tolist() == view.dora.tolist()
            assert position["seat_wind"] == view.seat_wind(seat)
            assert position["turn"] == len(view.river(seat))
            assert position["riichis"] == sum(view.riichi(other) for other in others)
            safe = [sum(view.genbutsu(other) >> kind & 1 for other in others) for kind in range(34)]
            assert position["safe"].tolist() == safe
            called = sum(meld.source != other for other in others for meld in view.melds(other))
            assert position["open_melds"] == called
            seen += 1
    assert seen > 50


def test_agreement_counts_games_as_one_observation_each():
    ranks, games = np.int8([1, 1, 1, 1, 4, 4]), np.int32([7, 7, 7, 7, 9, 9])
    one, two, three = agreement(ranks, games).values()
    assert one.value == two.value == three.value == pytest.approx(2 / 3)
    assert (one.low, one.high) == (0.0, 1.0)  # two games, however many positions, tell nothing
