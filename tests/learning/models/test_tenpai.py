"""How far a seat seems to be, by the greedy table and by the learned network."""

import numpy as np
import pytest

from mjbot.learning.models.networks.hidden_shanten import learned_chances, shanten_weights
from mjbot.learning.models.tenpai import (
    draw_shanten,
    greedy_table,
    hand_reader,
    shanten_chances,
    smoothed,
    tenpai_chance,
)
from mjbot.learning.models.weights import OF_PLAYERS, load_manifest, load_weights


def test_what_ships_was_made_by_a_thousand_games():
    manifest = load_manifest("greedy")
    assert "--games 1000 " in manifest.command
    hands = load_weights("greedy")["hands"].astype(float)
    row = 100 * hands[6, 1, 0] / hands[6, 1, 0].sum()
    report = manifest.scores["percent_1_shanten_after_6_draws_1_middle"]
    assert f"{row[1]:.2f}" == str(report).split()[0]


def test_chances_add_up_and_follow_the_counts():
    table = greedy_table()
    assert table.sum(axis=-1) == pytest.approx(np.ones(table.shape[:-1]))
    assert (table > 0).all()
    hands = load_weights("greedy")["hands"][6, 1, 0].astype(float)
    assert table[6, 1, 0] == pytest.approx(hands / hands.sum(), abs=0.002)
    assert smoothed(np.zeros((2, 2, 2, 7), np.int64)) == pytest.approx(np.full((2, 2, 2, 7), 1 / 7))


READINGS = pytest.mark.parametrize("reading", ["learned", "greedy"])


@READINGS
@pytest.mark.parametrize("melds", [0, 1, 2, 3, 4])
def test_drawn_shanten_are_as_frequent_as_their_chances(position, melds, reading):
    state = position("123m", rivers={1: "19m1234z456p"}).state
    state["n_melds"][1] = melds
    random, reader, chances = np.array([4], np.uint64), hand_reader(reading), np.zeros(7)
    shanten_chances(state, 1, reader, chances)
    drawn = np.bincount([draw_shanten(state, 1, reader, random) for _ in range(5000)], minlength=7)
    assert (
        np.abs(drawn / 5000 - chances) < 4 * np.sqrt(chances * (1 - chances) / 5000) + 1e-9
    ).all()
    assert chances.sum() == pytest.approx(1)
    assert not chances[8 - 2 * melds + 1 :].any()
    assert chances[0] == pytest.approx(tenpai_chance(state, 1, reader))


def test_melds_and_discards_tell_of_tenpai(position):
    reader, found = hand_reader("greedy"), []
    for melds in range(5):
        state = position("123m", rivers={1: "19m1234z456p"}).state
        state["n_melds"][1] = melds
        found.append(tenpai_chance(state, 1, reader))
    assert found == sorted(found)
    assert found[4] == 1
    quiet, busy = "19m19p19s1234z", "1m3456p34567s"
    rates = [tenpai_chance(position("1m", rivers={1: r}).state, 1, reader) for r in (quiet, busy)]
    assert rates[0] < rates[1]


def test_the_greedy_way_is_the_table_itself(position):
    state, chances = position("1m", rivers={1: "19m1234z5p"}).state, np.zeros(7)
    shanten_chances(state, 1, hand_reader("greedy"), chances)
    assert chances == pytest.approx(greedy_table()[7, 1, 0])
    learned = tenpai_chance(state, 1, hand_reader())
    assert learned < 0.7 * chances[0]  # who is silent mostly has nothing to declare


def test_a_table_of_three_is_read_by_weights_of_its_own(position):
    state, found = position("1m", rivers={1: "19m1234z456p"}).state, np.zeros((2, 7))
    for players, chances in zip((3, 4), found, strict=True):
        learned_chances(state, 1, shanten_weights(OF_PLAYERS[players]), chances)
        assert tenpai_chance(state, 1, hand_reader(players=players)) == chances[0] > 0
    assert found[0, 0] != found[1, 0]


@READINGS
def test_riichi_is_tenpai(position, reading):
    state = position("1m", rivers={1: "19m"}, riichi=[1]).state
    assert tenpai_chance(state, 1, hand_reader(reading)) == 1
    assert draw_shanten(state, 1, hand_reader(reading), np.array([1], np.uint64)) == 0
