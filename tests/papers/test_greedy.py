"""The greedy table: what its players discard, and how their hands are counted."""

import json

import numpy as np
import pytest

from mjbot.game.rules.acceptance import acceptance
from mjbot.game.rules.kinds import hand_counts, kinds_of
from mjbot.game.rules.shanten import shanten
from mjbot.game.statistics.estimates import t_quantile
from mjbot.game.table.actions import ACTIONS, TSUMO
from mjbot.learning.models.tenpai import greedy_table
from mjbot.learning.models.weights import load_weights
from mjbot.protocol.tiles import tile_kind
from papers.__main__ import main
from papers.takada2022.greedy import (
    GREEDY,
    complete_blocks,
    count_hands,
    greedy_choice,
    percent_of,
)


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
    hands, row, kyoku = count_hands(3, 5, "tonpu")
    again, _, _ = count_hands(3, 5, "tonpu")
    assert (hands == again).all()
    assert kyoku >= 12
    assert hands.shape == greedy_table().shape
    assert hands[0, 0, 0].sum() == 4 * kyoku  # one hand each before the first draw
    assert not hands[0, 1:].any()
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
    assert main(["train-greedy", "--games", "3", "--seed", "5", "--length", "tonpu",
                 "--out", str(tmp_path)]) == 0  # fmt: skip
    assert "paper %" in capsys.readouterr().out
    manifest = json.loads((tmp_path / "greedy.json").read_text())
    assert manifest["command"] == "python -m papers train-greedy --games 3 --seed 5 --length tonpu"
    assert (load_weights("greedy", tmp_path)["hands"] == count_hands(3, 5, "tonpu")[0]).all()


def test_one_game_gives_no_interval(capsys):
    assert main(["train-greedy", "--games", "1"]) == 2
    assert "--games" in capsys.readouterr().err
