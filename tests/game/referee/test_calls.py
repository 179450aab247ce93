"""Claims on a discard: what may be called, by whom first, and what may be thrown afterwards."""

import pytest

from mjbot.game.referee import IllegalActionError
from mjbot.game.table.actions import ACTIONS, TSUMO
from mjbot.protocol import messages as m


@pytest.mark.parametrize(
    ("hand", "claimed", "call", "banned"),
    [
        ("22446m13579p357s", "2m", "pon", {"2m"}),
        ("34567m13579p357s", "2m", "chi low", {"2m", "5m"}),
        ("24567m13579p357s", "3m", "chi middle", {"3m"}),
        ("34567m13579p357s", "5m", "chi high", {"5m", "2m"}),
        ("12356m13579p357s", "4m", "chi low", {"4m", "7m"}),
        ("44067m13579p357s", "5m", "chi low", {"5m", "5mr", "8m"}),
    ],
)
def test_the_called_tile_and_its_other_end_may_not_follow(scripted, hand, claimed, call, banned):
    game = scripted(["", hand], claimed).to_turn(0).tsumogiri().do(1, call)
    left = {text.removeprefix("discard ") for text in game.legal(1)}
    assert left
    assert not left & banned
    held = set(game.all(m.StartKyoku)[0].tehais[1])
    used = set(game.events[-1].consumed)
    assert left >= held - used - banned


@pytest.mark.parametrize(
    ("claimed", "offered"), [("3m", {"ron", "pass"}), ("5m", {"chi middle", "pass"})]
)
def test_a_chi_that_leaves_no_discard_is_not_offered(scripted, claimed, offered):
    """Left are 4566m: chi 345 would leave 66m, its other end; chi 456 leaves 5m and 6m."""
    hands = ["111122223333z4m", "", "", claimed]
    game = scripted(hands, "5m", rinshan="6m6m9p")
    for kan in ("ankan E", "ankan S", "ankan W"):
        game.do(0, kan)
    game.discard(0, "9p").discard(3, claimed)
    assert game.legal(0) == offered


def test_chi_only_from_the_left(scripted):
    game = scripted(["", "34m", "34m", "34m"], "5m").to_turn(0).tsumogiri()
    assert "chi high" in game.legal(1)
    assert not any("chi" in text for seat in (2, 3) for text in game.legal(seat))


def test_pon_goes_before_chi(scripted):
    game = scripted(["", "34m", "", "55m"], "5m").to_turn(0).tsumogiri()
    game.together({1: "chi high", 3: "pon"})
    assert isinstance(game.events[-1], m.Pon)
    assert not game.all(m.Chi)


def test_so_does_an_open_kan(scripted):
    game = scripted(["", "45m", "666m", ""], "6m").to_turn(0).tsumogiri()
    game.together({1: "chi high", 2: "daiminkan"})
    assert game.all(m.Daiminkan)
    assert not game.all(m.Chi)


def test_ron_goes_before_any_call(scripted):
    game = scripted(["", "55m", "", "46m123456p456s22s"], "5m").to_turn(0).tsumogiri()
    game.together({1: "pon", 3: "ron"})
    assert game.last(m.Hora).actor == 3
    assert not game.all(m.Pon)


def test_a_call_skips_the_seats_between(scripted):
    game = scripted(["", "", "", "55m9p"], "5m").to_turn(0).tsumogiri().do(3, "pon")
    game.discard(3, "9p").to_turn(0)
    assert [event.actor for event in game.all(m.Tsumo)] == [0, 0]


def test_nobody_calls_in_riichi(scripted):
    game = scripted(["", "123456m789p1122s"], "1z3z3z3z2s").riichi(1, "W").to_turn(0)
    assert game.tsumogiri().legal(1) == {"ron", "pass"}


def test_a_call_of_the_last_discard_is_not_offered(scripted):
    game = scripted(["", "", "999s999p999m", ""], last="9s").to_turn(1)
    while game.referee.state["wall_left"] > 0:
        game.tsumogiri().to_turn(1)
    game.tsumogiri()
    assert game.names()[-5:-2] == ["Dahai", "Ryukyoku", "EndKyoku"]


def test_the_last_call_is_on_the_last_but_one(scripted):
    game = scripted(["", "", "99s", ""], last="9s1z").to_turn(0)
    while game.referee.state["wall_left"] > 1:
        game.tsumogiri().to_turn(0)
    game.tsumogiri()
    assert "pon" in game.legal(2)


def test_a_wrong_choice_is_refused_and_changes_nothing(scripted):
    game = scripted(["123456m13579p11z"], "9s")
    before = game.referee.state.tobytes()
    with pytest.raises(IllegalActionError, match="seat 0 may not tsumo; it may: discard 1m"):
        game.referee.step({0: ACTIONS[TSUMO]})
    assert game.referee.state.tobytes() == before
