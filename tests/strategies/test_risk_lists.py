"""Risk lists: priced as the table would price them, and joined as described."""

from math import comb

import numpy as np
import pytest

from mjbot.game.rules.acceptance import waits
from mjbot.game.rules.kinds import hand_counts, kinds_of
from mjbot.game.table.assume import hide
from mjbot.game.table.settle import PAYMENT, win_payment
from mjbot.game.table.state import CHI, DRAW, PON, REACTION, TURN, copy_state
from mjbot.game.table.view import View
from mjbot.learning.models.tenpai import hand_reader
from mjbot.learning.playouts.tenpai_samples import sample_tenpai
from mjbot.protocol.tiles import parse_tiles, tile_kind
from mjbot.strategies.evaluation.hidden_hands.hand_values import (
    draws_left,
    read_opponent,
    survive_draws,
)
from mjbot.strategies.evaluation.hidden_hands.pricing import prepare_pricing, price_sample
from mjbot.strategies.evaluation.playouts.risk_lists import (
    JOINT,
    PAPER,
    new_pricing_workspace,
    risk_list,
)
from mjbot.strategies.evaluation.playouts.risk_table import risk_lists_of, risk_table

MELDS = {
    "234m": CHI,
    "345p": CHI,
    "555s": PON,
    "555z": PON,
    "666z": PON,
    "777z": PON,
    "999m": PON,
    "666m": PON,
}
DRAGONS = ("555z", "666z", "777z")


@pytest.fixture(name="table")
def table_builder(position):
    """Seat 0 with a hand that holds the red fives; the others as told."""

    def build(melds=None, rivers=None, riichi=(), wall_left=40, honba=0):
        view = position(
            "055m067p089s1245z", drawn="7z", rivers=rivers, riichi=riichi, wall_left=wall_left
        )
        state = view.state
        state["honba"] = honba
        for seat in range(1, 4):
            state["hand_size"][seat] = 13
            state["pao_dragons"][seat] = state["pao_winds"][seat] = -1
            for place, text in enumerate((melds or {}).get(seat, ())):
                dragons = {"P": 31, "F": 32, "C": 33}
                kind = dragons.get(text[0])
                state["meld_kind"][seat, place] = (
                    tile_kind(parse_tiles(text)[0]) if kind is None else kind
                )
                state["meld_type"][seat, place] = MELDS[text]
                state["n_melds"][seat] = place + 1
                state["hand_size"][seat] -= 3
                state["is_open"][seat] = 1
        return state

    return build


def random_of(seed):
    return np.array([seed], np.uint64)


def reading_of(state, other, viewer=0, seed=1):
    pricing = new_pricing_workspace()
    read_opponent(state, viewer, other, random_of(seed), pricing)
    return pricing["values"][other]


def prices(value):
    """Return kind -> what a ron on it costs, a mean over the samples that win on it."""
    won = np.flatnonzero(value["win_chance"])
    return {int(kind): value["ron"][kind] / value["win_chance"][kind] for kind in won}


@pytest.mark.parametrize("melds", [("234m",), ("234m", "555s"), ("777z", "345p", "999m"), ()])
@pytest.mark.parametrize("by_draw", [False, True])
def test_a_sample_costs_what_the_table_would_make_one_pay(table, melds, by_draw):
    """The table's own payment is the oracle; the red fives are all in the viewer's hand."""
    state = table({2: melds}, honba=2)
    pricing, random, payment = new_pricing_workspace(), random_of(3), np.zeros(1, PAYMENT)[0]
    prepare_pricing(state, 0, 2, pricing)
    for _ in range(60):
        assert sample_tenpai(pricing["tenpai"], random)
        price_sample(state, 0, 2, random, pricing)
        expected, copies = 0.0, 0
        for kind in kinds_of(pricing["tenpai"]["waits"]):
            after = copy_state(state)
            after["hand_known"][2], after["waits"][2] = 1, pricing["tenpai"]["waits"]
            after["hand"][2] = pricing["tenpai"]["hand"]
            after["phase"], after["turn"], after["last_tile"] = REACTION, 0, kind
            after["n_river"][2] = 1
            if by_draw:
                after["phase"], after["turn"], after["drawn"] = TURN, 2, kind
                after["hand"][2, kind] += 1
            win_payment(after, 2, kind, by_draw, payment)
            paid = -int(payment["deltas"][0]) if payment["han"] else 0
            left = int(pricing["unseen"][kind] - pricing["tenpai"]["hand"][kind])
            if payment["han"]:
                expected, copies = expected + left * paid, copies + left
            if not by_draw:
                assert pricing["ron_points"][kind] == paid
        if by_draw:
            assert pricing["draw_copies"] == copies
            assert pricing["draw_points"] == pytest.approx(expected / max(1, copies))


def test_three_dragons_are_priced_as_daisangen(table):
    value = reading_of(table({2: DRAGONS}), 2)
    assert {round(points) for points in prices(value).values()} == {32000}
    assert value["draw"] == pytest.approx(16000 * (1 - value["alive_at"][-1]))  # 0 is the dealer


@pytest.mark.parametrize(("viewer", "ron", "draw"), [(0, 16000, 0), (1, 32000, 32000)])
def test_who_is_liable_pays(table, viewer, ron, draw):
    state = table({2: DRAGONS})
    state["pao_dragons"][2] = 1
    state["hand_known"][1] = 1
    state["hand"][1] = hand_counts("123456789m1234p")
    value = reading_of(state, 2, viewer)
    assert {round(points) for points in prices(value).values()} == {ron}
    assert value["draw"] == pytest.approx(draw * (1 - value["alive_at"][-1]))


def mean_price(state):
    values = [reading_of(state, 2, seed=seed) for seed in range(20)]
    chances = sum(value["win_chance"].sum() for value in values)
    return sum(value["ron"].sum() for value in values) / chances


def test_a_hand_that_shows_itself_cheap_is_priced_cheap(table):
    cheap = mean_price(table({2: ("234m", "345p", "555s")}))
    closed = mean_price(table(riichi=[2]))
    assert 999 < cheap < 1600
    assert 2000 < closed < 5000


def test_nothing_in_the_own_river_is_won_by_ron(table):
    state = table({2: ("234m",)}, rivers={2: "3456789m3456p19s"})
    barred = kinds_of(state["discarded"][2])
    for seed in range(5):
        value = reading_of(state, 2, seed=seed)
        assert not value["win_chance"][barred].any()
        assert value["win_chance"].any()


def test_open_hands_without_a_yaku_are_left_out(table):
    state = table({2: ("234m", "555s")})
    for seed in range(5):
        value = reading_of(state, 2, seed=seed)
        assert value["win_chance"].sum() > 0.99  # each sample wins on something
        assert value["draw"] > 0


def test_where_no_other_yaku_is_found_it_is_a_flush_or_nothing(table):
    honours = {1: "111222333444555666777z"}
    one_suit = table({2: ("234m", "234m", "999m")}, honours)
    two_suits = table({2: ("234m", "345p", "999m")}, honours)
    for seed in range(5):
        won = np.flatnonzero(reading_of(one_suit, 2, seed=seed)["win_chance"])
        assert len(won)
        assert (won < 9).all()
        nothing = reading_of(two_suits, 2, seed=seed)
        assert not nothing["found"]
        assert not nothing["draw"]


@pytest.mark.parametrize("wall_left", [0, 1, 5, 14, 60])
def test_draws_left_share_out_the_wall(table, wall_left):
    state = table(wall_left=wall_left)
    others = [draws_left(state, 0, other) for other in (1, 2, 3)]
    assert sum(others) + wall_left // 4 == wall_left
    assert others == sorted(others, reverse=True)


def test_the_chance_to_draw_is_that_of_drawing_without_replacement(table):
    state, pricing, random = table(riichi=[1]), new_pricing_workspace(), random_of(9)
    prepare_pricing(state, 0, 1, pricing)
    for draws in (0, 1, 7, 18):
        assert sample_tenpai(pricing["tenpai"], random)
        price_sample(state, 0, 1, random, pricing)
        survive_draws(draws, pricing)
        left = (pricing["unseen"] - pricing["tenpai"]["hand"]).astype(int)
        good = sum(left[kind] for kind in kinds_of(pricing["tenpai"]["waits"]))
        missed = [comb(left.sum() - good, n) / comb(left.sum(), n) for n in range(draws + 1)]
        assert pricing["alive"][: draws + 1] == pytest.approx(missed)
        assert (pricing["alive"][draws:] == pricing["alive"][draws]).all()


def test_the_paper_knows_ron_or_draw_but_not_both(table):
    state = table({2: DRAGONS}, riichi=[1])
    pricing, out = new_pricing_workspace(), np.zeros(34)
    risk_list(state, 0, np.array([0, 1.0, 1, 0]), PAPER, random_of(2), out, pricing)
    one, two = pricing["values"][1], pricing["values"][2]
    picked = one["picked"] + two["picked"]
    assert 0 < np.count_nonzero(picked) <= 20
    assert out[picked > 0] == pytest.approx(picked[picked > 0])
    assert out[picked == 0] == pytest.approx(one["draw"] + two["draw"])


def test_one_opponent_is_ron_or_what_is_left_of_the_draw(table):
    state, pricing, out = table(riichi=[3]), new_pricing_workspace(), np.zeros(34)
    risk_list(state, 0, np.array([0, 0, 0, 0.25]), JOINT, random_of(2), out, pricing)
    value = pricing["values"][3]
    kept = value["draw"] - value["draw_at_won"].sum(axis=1)
    assert value["draw_at"].sum() == pytest.approx(value["draw"])
    assert out == pytest.approx(0.25 * (value["ron"] + kept))
    safe = value["win_chance"] == 0
    assert kept[safe] == pytest.approx(value["draw"])
    assert (kept[~safe] < value["draw"]).all()


def draw_price(value):
    return value["draw"] / (1 - value["alive_at"][-1])


def test_two_opponents_are_as_playing_it_out_would_show(table):
    """Both wait on one tile that is known: draw on and on, and see who is first."""
    state = table({1: DRAGONS, 3: ("234m", "345p", "555s")}, wall_left=30)
    for seat, kind, melds in ((1, 20, "234m"), (3, 2, "666m")):
        state["n_melds"][seat], state["hand_size"][seat] = 4, 1
        state["meld_kind"][seat, 3] = tile_kind(parse_tiles(melds)[0])
        state["meld_type"][seat, 3] = MELDS[melds]
        state["discarded"][seat] = ~(1 << kind) & (1 << 34) - 1
    tenpai = np.array([0, 0.8, 0, 1.0])
    pricing, out = new_pricing_workspace(), np.zeros(34)
    risk_list(state, 0, tenpai, JOINT, random_of(4), out, pricing)
    unseen = View(state, 0).unseen.copy()
    unseen[[2, 20]] -= 1  # both hold one of what they wait on
    pool = np.repeat(np.arange(34), unseen)
    prices = {seat: draw_price(pricing["values"][seat]) for seat in (1, 3)}
    assert prices[1] == pytest.approx(16000)
    numbers, lost = np.random.default_rng(7), []
    for _ in range(6000):
        order = numbers.permutation(pool)[:32]
        waits_on = {1: 20 if numbers.random() < 0.8 else -1, 3: 2}
        hits = [(1 + turn) % 4 for turn in range(30) if order[turn] == waits_on.get((1 + turn) % 4)]
        lost.append(prices[hits[0]] if hits else 0)
    neither = [kind for kind in range(34) if kind not in (2, 20)]
    assert np.ptp(out[neither]) < 1e-6
    mean, error = np.mean(lost), np.std(lost) / len(lost) ** 0.5
    assert abs(out[0] - mean) < 4 * error + 0.02 * mean
    # who feeds the cheap one is out of danger
    assert out[2] == pytest.approx(pricing["values"][3]["ron"][2])
    assert out[2] < out[0] < out[20]


def test_only_what_the_viewer_sees_counts(table):
    state = table({2: ("234m",)}, riichi=[3])
    state["hand_known"][3] = 1
    state["hand"][3] = hand_counts("123456789m1234p")
    state["waits"][3] = waits(state["hand"][3], 0)
    blind, lists = copy_state(state), []
    hide(blind, 0)
    for seen in (state, blind):
        out = np.zeros(34)
        risk_list(seen, 0, np.ones(4), JOINT, random_of(6), out, new_pricing_workspace())
        lists.append(out)
    assert (lists[0] == lists[1]).all()


@pytest.mark.parametrize("mode", [JOINT, PAPER])
def test_all_four_lists_of_a_position(table, mode):
    state = table({2: DRAGONS}, rivers={1: "19m", 2: "34567m34567p", 3: "2z"}, riichi=[3])
    state["phase"] = TURN
    assert state["phase"] != DRAW
    view = View(state, 0)
    lists = risk_lists_of(view, hand_reader(), mode, 4, seed=5)
    assert (lists == risk_lists_of(view, hand_reader(), mode, 4, seed=5)).all()
    assert lists.shape == (4, 34)
    assert (lists[0] > 0).all()
    # who holds the yakuman has less to fear than the others
    assert lists[2].mean() < lists[[0, 1, 3]].mean(axis=1).min()
    shown = risk_table(lists, view)
    assert [row[1] or 0 for row in shown.rows] == view.hand.tolist()
    assert shown.marked == set(view.hand.nonzero()[0].tolist())
    assert shown.columns[3] == "seat 0 (own)"
    assert [row[3] for row in shown.rows] == lists[0].round().tolist()
