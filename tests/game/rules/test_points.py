import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mjbot.game.rules.points import (
    Parties,
    base_points,
    draw_deltas,
    nagashi_deltas,
    ron_points,
    tsumo_points,
    tsumo_total,
    win_deltas,
)
from mjbot.game.rules.ruleset import RuleSet, rule_set
from mjbot.protocol.rules import Rules

FOUR = rule_set()
THREE = rule_set(Rules(players=3))
NO_LOSS = rule_set(Rules(players=3, tsumo_loss=False))

seats = st.integers(0, 3)


@pytest.mark.parametrize(
    ("han", "fu", "child_ron", "dealer_ron", "from_child", "from_dealer"),
    [
        (1, 30, 1000, 1500, 300, 500),
        (1, 110, 3600, 5300, 900, 1800),
        (2, 20, 1300, 2000, 400, 700),
        (2, 25, 1600, 2400, 400, 800),
        (3, 60, 7700, 11600, 2000, 3900),
        (3, 70, 8000, 12000, 2000, 4000),
        (4, 25, 6400, 9600, 1600, 3200),
        (4, 30, 7700, 11600, 2000, 3900),
        (4, 40, 8000, 12000, 2000, 4000),
        (5, 30, 8000, 12000, 2000, 4000),
        (6, 30, 12000, 18000, 3000, 6000),
        (7, 30, 12000, 18000, 3000, 6000),
        (8, 30, 16000, 24000, 4000, 8000),
        (10, 30, 16000, 24000, 4000, 8000),
        (11, 30, 24000, 36000, 6000, 12000),
        (12, 30, 24000, 36000, 6000, 12000),
        (13, 30, 32000, 48000, 8000, 16000),
        (40, 30, 32000, 48000, 8000, 16000),
    ],
)
def test_the_score_table(
    han: int, fu: int, child_ron: int, dealer_ron: int, from_child: int, from_dealer: int
) -> None:
    base = base_points(han, fu, 0, 0)
    assert ron_points(base, False) == child_ron
    assert ron_points(base, True) == dealer_ron
    assert tsumo_points(base, False) == from_child
    assert tsumo_points(base, True) == from_dealer


def test_yakuman_add_up() -> None:
    assert ron_points(base_points(26, 30, 2, 0), False) == 64_000


@pytest.mark.parametrize(
    ("base", "parties", "honba", "sticks", "deltas"),
    [
        (2000, Parties(0, 0, 0, -1), 0, 0, [12000, -4000, -4000, -4000]),
        (2000, Parties(1, 1, 0, -1), 2, 3, [-4200, 8600 + 3000, -2200, -2200]),
        (2000, Parties(0, 2, 0, -1), 2, 0, [12600, 0, -12600, 0]),
        (2000, Parties(3, 2, 0, -1), 0, 1, [0, 0, -8000, 9000]),
        # Pao: alone for a self-draw, honba included; half of a ron each, honba on the liable;
        (8000, Parties(0, 0, 0, 3), 1, 1, [48300 + 1000, 0, 0, -48300]),
        (8000, Parties(0, 1, 0, 3), 1, 0, [48300, -24000, 0, -24300]),
        # all of it for a liable seat that deals in; on stacked yakuman, too.
        (8000, Parties(2, 1, 0, 1), 1, 0, [0, -32300, 32300, 0]),
        (16000, Parties(2, 0, 0, 1), 0, 0, [-32000, -32000, 64000, 0]),
    ],
)
def test_who_pays_a_win(
    base: int, parties: Parties, honba: int, sticks: int, deltas: list[int]
) -> None:
    assert win_deltas(base, parties, honba, sticks, FOUR).tolist() == deltas


@pytest.mark.parametrize(
    ("base", "parties", "honba", "sticks", "deltas"),
    [
        (2000, Parties(0, 0, 0, -1), 1, 1, [8200 + 1000, -4100, -4100, 0]),
        (2000, Parties(1, 1, 0, -1), 2, 0, [-4200, 6400, -2200, 0]),
        (640, Parties(1, 1, 2, -1), 0, 0, [-700, 2000, -1300, 0]),
        (2000, Parties(2, 0, 1, -1), 2, 0, [-8400, 0, 8400, 0]),
        # Pao: what the self-draw would have brought; a ron and its honba as with four players.
        (8000, Parties(1, 1, 0, 2), 1, 0, [0, 24200, -24200, 0]),
        (8000, Parties(0, 0, 0, 2), 0, 0, [32000, 0, -32000, 0]),
        (8000, Parties(1, 0, 0, 2), 1, 0, [-16000, 32200, -16200, 0]),
    ],
)
def test_who_pays_a_win_of_three_players(
    base: int, parties: Parties, honba: int, sticks: int, deltas: list[int]
) -> None:
    assert win_deltas(base, parties, honba, sticks, THREE).tolist() == deltas


@pytest.mark.parametrize(
    ("winner", "deltas"), [(0, [4000, -2000, -2000, 0]), (1, [-1700, 2800, -1100, 0])]
)
def test_without_tsumo_loss_each_payer_adds_half_a_share(winner: int, deltas: list[int]) -> None:
    assert win_deltas(640, Parties(winner, winner, 0, -1), 0, 0, NO_LOSS).tolist() == deltas
    assert tsumo_total(640, winner == 0, NO_LOSS) == deltas[winner]
    by_ron = win_deltas(640, Parties(winner, 2, 0, -1), 0, 0, NO_LOSS)
    assert (by_ron == win_deltas(640, Parties(winner, 2, 0, -1), 0, 0, THREE)).all()


@given(
    st.sampled_from([FOUR, THREE, NO_LOSS]),
    st.tuples(seats, seats, seats, st.integers(-1, 3)).filter(lambda who: who[3] != who[0]),
    st.tuples(st.integers(1, 13), st.sampled_from([20, 25, 30, 40, 50, 70, 110])),
    st.integers(0, 9),
    st.integers(0, 5),
)
def test_a_win_moves_points_and_makes_none(
    rules: RuleSet,
    who: tuple[int, int, int, int],
    value: tuple[int, int],
    honba: int,
    sticks: int,
) -> None:
    parties = Parties(*who)
    assume(max(who) < rules["players"])
    yakuman = int(parties.liable >= 0)  # only yakuman have a liable seat
    deltas = win_deltas(base_points(*value, yakuman, 0), parties, honba, sticks, rules)
    assert deltas.sum() == 1000 * sticks
    assert (deltas % 100 == 0).all()
    assert all(deltas[seat] <= 0 for seat in range(4) if seat != parties.winner)
    if parties.winner != parties.loser:
        payers = {seat for seat in range(4) if deltas[seat] < 0}
        assert payers <= {parties.loser, parties.liable}


@pytest.mark.parametrize(
    ("tenpai", "deltas"),
    [
        ([0, 0, 0], [0, 0, 0, 0]),
        ([1, 1, 1], [0, 0, 0, 0]),
        ([0, 1, 0], [-1000, 2000, -1000, 0]),
        ([1, 0, 1], [1000, -2000, 1000, 0]),
        ([0, 0, 0, 0], [0, 0, 0, 0]),
        ([1, 1, 1, 1], [0, 0, 0, 0]),
        ([0, 1, 0, 0], [-1000, 3000, -1000, -1000]),
        ([1, 0, 0, 1], [1500, -1500, -1500, 1500]),
        ([1, 1, 0, 1], [1000, 1000, -3000, 1000]),
    ],
)
def test_payments_to_tenpai_players(tenpai: list[int], deltas: list[int]) -> None:
    players = len(tenpai)
    flags = np.array([*tenpai, 0][:4], np.int8)
    assert draw_deltas(flags, rule_set(Rules(players=players))).tolist() == deltas


def test_nagashi_is_paid_like_a_self_drawn_mangan_to_each() -> None:
    assert nagashi_deltas(np.array([1, 0, 0, 0], np.int8), 0, FOUR).tolist() == [
        12000, -4000, -4000, -4000,
    ]  # fmt: skip
    assert nagashi_deltas(np.array([1, 0, 1, 0], np.int8), 0, FOUR).tolist() == [
        12000 - 4000, -4000 - 2000, -4000 + 8000, -4000 - 2000,
    ]  # fmt: skip
    assert nagashi_deltas(np.array([0, 1, 0, 0], np.int8), 0, THREE).tolist() == [
        -4000, 6000, -2000, 0,
    ]  # fmt: skip
