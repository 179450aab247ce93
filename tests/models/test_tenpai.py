"""How far a seat seems to be: the greedy table, how it was counted, and either way to read."""

import json

import numpy as np
import pytest

from mjbot.cli.main import main
from mjbot.models.tenpai import (
    draw_shanten,
    greedy_table,
    hand_reader,
    shanten_chances,
    smoothed,
    tenpai_chance,
)
from mjbot.models.weights import load_manifest, load_weights
from mjbot.rules.acceptance import acceptance
from mjbot.rules.kinds import hand_counts, kinds_of
from mjbot.rules.shanten import shanten
from mjbot.statistics.estimates import t_quantile
from mjbot.table.actions import ACTIONS, TSUMO
from mjbot.training.tenpai import (
    GREEDY,
    complete_blocks,
    count_hands,
    greedy_choice,
    percent_of,
)
from protocol.tiles import tile_kind


def greedy(view):
    return ACTIONS[greedy_choice(view.state, 0, np.zeros(1, GREEDY)[0])]


@pytest.mark.parametrize(
    "hand", ["123m456p2256s1289m", "1357m2468p13579s", "19m19p19s123456z7p", "2233m4455p6678s1z"]
)
@pytest.mark.parametrize("drawn", ["9s", "5z", "3p"])
def test_a_greedy_player_lowers_shanten_then_keeps_most_tiles(position, hand, drawn):
    view = position(hand, drawn=drawn, rivers={1: "334m88p"})
    rated = {}
    for kind in np.flatnonzero(view.hand):
        rest = view.hand.copy()
        rest[kind] -= 1
        accepted = sum(int(view.unseen[k]) for k in kinds_of(acceptance(rest, 0)))
        rated[int(kind)] = (-shanten(rest, 0), accepted)
    assert rated[tile_kind(greedy(view).tile)] == max(rated.values())


def test_it_wins_when_it_can_and_keeps_the_red_five(position):
    assert greedy(position("19m19p19s1234567z", drawn="9s")).code == TSUMO
    assert greedy(position("11223344556677m", drawn="9s")).name == "discard"
    assert greedy(position("05m123p456789s11z", drawn="4m")).tile == tile_kind(34)


@pytest.mark.parametrize(
    ("hand", "blocks"),
    [("11123m", 1), ("111222333m", 3), ("112233m", 2), ("2344456m", 2), ("33344456m777z", 3),
     ("12345678m", 2), ("123m1z", 1), ("", 0), ("111m111p111s111z222z", 4)],
)  # fmt: skip
def test_complete_blocks(hand, blocks):
    assert complete_blocks(hand_counts(hand), np.empty(9, np.int8)) == blocks


def test_counting_is_the_same_each_time_and_adds_up():
    hands, row, kyoku = count_hands(3, 5, 3)
    again, _, _ = count_hands(3, 5, 3)
    assert (hands == again).all()
    assert kyoku >= 12
    assert hands[0, 0, 0].sum() == 4 * kyoku  # one hand each before the first draw
    assert (hands[:, :, 1:] <= hands[:, :, :-1]).all()  # at least so many blocks
    assert row.sum(axis=0).tolist() == hands[6, 1, 0].tolist()


def test_the_interval_takes_a_game_as_one_observation():
    row = np.zeros((4, 7), np.int64)
    row[:, 0], row[:, 1] = (10, 20, 30, 40), (90, 80, 70, 60)
    found = percent_of(row, 0)
    assert found.value == pytest.approx(25)
    deviations = np.array([-0.15, -0.05, 0.05, 0.15])
    t = t_quantile(0.975, 3)
    assert found.half_width == pytest.approx(100 * t * deviations.std(ddof=1) / 2)
    never = percent_of(row, 6)  # four games hold none: that is not "0 +- 0"
    assert (never.value, never.low) == (0, 0)
    assert never.high == pytest.approx(100 * (1 - 0.025**0.25))


def test_the_command_writes_what_strategies_read(tmp_path, capsys):
    assert main(["train", "greedy", "--games", "3", "--seed", "5", "--length", "tonpu",
                 "--out", str(tmp_path)]) == 0  # fmt: skip
    assert "paper %" in capsys.readouterr().out
    manifest = json.loads((tmp_path / "greedy.json").read_text())
    assert manifest["command"] == "mjbot train greedy --games 3 --seed 5 --length tonpu"
    assert (load_weights("greedy", tmp_path)["hands"] == count_hands(3, 5, 3)[0]).all()


def test_one_game_gives_no_interval(capsys):
    assert main(["train", "greedy", "--games", "1"]) == 2
    assert "--games" in capsys.readouterr().err


def test_what_ships_was_made_by_a_thousand_games():
    manifest = load_manifest("greedy")
    assert "--games 1000 " in manifest.command
    hands = load_weights("greedy")["hands"].astype(float)
    row = 100 * hands[6, 1, 0] / hands[6, 1, 0].sum()
    told = manifest.scores["percent_1_shanten_after_6_draws_1_middle"]
    assert f"{row[1]:.2f}" == str(told).split()[0]


# --- reading a seat ----------------------------------------------------------------------------


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


@READINGS
def test_riichi_is_tenpai(position, reading):
    state = position("1m", rivers={1: "19m"}, riichi=[1]).state
    assert tenpai_chance(state, 1, hand_reader(reading)) == 1
    assert draw_shanten(state, 1, hand_reader(reading), np.array([1], np.uint64)) == 0
