"""Who may declare riichi, what it costs, and which kans it leaves."""

import pytest

from mjbot.game.referee import Position
from mjbot.protocol import messages as m

READY = "123456m789p1122s"


def test_a_riichi_is_paid_once_its_discard_is_not_ronned(scripted):
    game = scripted([READY], "1z").riichi(0, "E")
    assert game.names()[-4:-1] == ["Reach", "Dahai", "ReachAccepted"]
    accepted = game.last(m.ReachAccepted)
    assert (accepted.deltas, accepted.scores) == ((-1000, 0, 0, 0), (24000, 25000, 25000, 25000))
    assert game.referee.state["sticks"] == 1


def test_only_discards_that_keep_the_hand_ready_may_follow(scripted):
    game = scripted([READY], "1z").do(0, "riichi")
    assert game.legal(0) == {"discard E (drawn)"}


@pytest.mark.parametrize(("points", "allowed"), [(900, False), (1000, True)])
def test_riichi_needs_a_thousand_points(scripted, points, allowed):
    scores = (points, 25000, 25000, 50000 - points)
    game = scripted([READY], "1z", position=Position(scores=scores))
    assert ("riichi" in game.legal(0)) is allowed


def test_riichi_needs_four_tiles_to_draw(scripted):
    offered = {}
    for seat in (1, 2):
        hands = ["", "", "", ""]
        hands[seat] = READY
        game = scripted(hands, dora="1s2s1s2s").to_turn(seat)
        while (left := int(game.referee.state["wall_left"])) > 3:
            offered[left] = "riichi" in game.legal(seat)
            game.tsumogiri().to_turn(seat)
        offered[left] = "riichi" in game.legal(seat)
    assert offered[4]
    assert not offered[3]
    assert all(offered[left] for left in offered if left > 4)


def test_an_open_hand_may_not_declare(scripted):
    game = scripted(["1z", "11z23456m789p11s9p"], "9s").discard(0, "E").do(1, "pon")
    game.discard(1, "9p")
    assert game.referee.state["waits"][1]
    assert "riichi" not in game.to_turn(1).legal(1)


def test_a_concealed_kan_keeps_it_closed(scripted):
    game = scripted(["1111z123m456p789s"], "9s", rinshan="4z").do(0, "ankan E")
    assert "riichi" in game.legal(0)


def test_a_declaration_in_the_first_turn_is_double(scripted):
    game = scripted(["", READY], "1z2z").riichi(1, "S")
    assert game.referee.state["double_riichi"].tolist() == [0, 1, 0, 0]


def test_a_call_before_makes_it_single(scripted):
    hands = ["1z", "", READY, "11z"]
    game = scripted(hands, "3z").discard(0, "E").do(3, "pon").do(3, "discard").to_turn(2)
    game.do(2, "riichi").do(2, "discard")
    assert game.referee.state["riichi"][2]
    assert not game.referee.state["double_riichi"].any()


def test_a_called_riichi_tile_is_paid_before_the_call(scripted):
    game = scripted([READY, "", "11z"], "1z").riichi(0, "E").do(2, "pon")
    assert game.names()[-4:] == ["Reach", "Dahai", "ReachAccepted", "Pon"]


def test_riichi_leaves_only_the_drawn_tile(scripted):
    game = scripted([READY], "1z3z3z3z4z").riichi(0, "E").to_turn(0)
    assert game.legal(0) == {"discard N (drawn)"}


def test_furiten_does_not_forbid_riichi(scripted):
    game = scripted([READY], "1s3z3z3z4z").discard(0, "1s").to_turn(0)
    assert "riichi" in game.legal(0)


@pytest.mark.parametrize(
    ("hand", "kan", "allowed"),
    [
        ("111m456789p123s5z", "1m", True),  # the wait stays 5z
        ("333m45m456789p22s", "3m", False),  # 3m 6m alone, and 345m with 33m 6m
        ("222333444m6788p", "3m", True),  # three runs or three triplets: the waits are the same
        ("1112m456789p123s", "1m", False),  # 3m goes, 2m stays
        ("111m22m456789p55s", "1m", True),
    ],
)
def test_a_kan_in_riichi_must_not_change_the_waits(scripted, hand, kan, allowed):
    game = scripted([hand], f"1z3z3z3z{kan}").riichi(0, "E").to_turn(0)
    assert (f"ankan {kan}" in game.legal(0)) is allowed


def test_a_kan_in_riichi_needs_the_drawn_tile(scripted):
    game = scripted(["1111m456789p12s5z"], "5z3z3z3z4z").do(0, "riichi").do(0, "discard")
    assert not any("ankan" in text for text in game.to_turn(0).legal(0))
