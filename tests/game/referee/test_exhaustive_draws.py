"""The wall is empty: who counts as ready, what is paid, nagashi mangan, who deals next."""

import pytest

from mjbot.game.referee import Position
from mjbot.protocol import messages as m
from mjbot.protocol.tiles import FIVE_KINDS, parse_tiles

NOTEN = "147m369p369s1234z"
READY = "123456789m55z22p"
OTHER_READY = ("123456789p66z33m", "123456789s77z44m")
EDGES = [kind for kind in range(34) if kind >= 27 or kind % 9 in (0, 8)]
MIDDLES = [kind for kind in range(27) if kind not in (*EDGES, *FIVE_KINDS)]


@pytest.mark.parametrize(
    ("ready", "deltas"),
    [
        ((), (0, 0, 0, 0)),
        ((2,), (-1000, -1000, 3000, -1000)),
        ((0, 3), (1500, -1500, -1500, 1500)),
        ((0, 1, 2), (1000, 1000, 1000, -3000)),
    ],
)
def test_noten_payments(scripted, ready, deltas):
    hands = [READY if seat in ready else NOTEN for seat in range(4)]
    for seat, hand in zip(ready[1:], OTHER_READY, strict=False):
        hands[seat] = hand
    game = scripted(hands).finish_kyoku()
    draw = game.last(m.Ryukyoku)
    assert draw.reason == "fanpai"
    assert draw.deltas == deltas
    assert draw.tenpais == tuple(seat in ready for seat in range(4))


@pytest.mark.parametrize(("hands", "kyoku"), [([READY, NOTEN], 1), ([NOTEN, READY], 2)])
def test_a_ready_dealer_stays_and_honba_grows_either_way(scripted, hands, kyoku):
    position = Position(honba=3, sticks=2, scores=(25000, 25000, 25000, 23000))
    game = scripted([*hands, NOTEN, NOTEN], position=position).finish_kyoku()
    start = game.last(m.StartKyoku)
    assert (start.kyoku, start.honba, start.kyotaku) == (kyoku, 4, 2)


@pytest.mark.parametrize(
    ("hand", "ready"),
    [
        ("123456789m55p77z", True),  # no yaku is needed
        ("1111m456789p123s", False),  # its only wait is 1m, all four in the own hand
    ],
)
def test_shape_is_enough_but_four_own_copies_are_no_wait(scripted, hand, ready):
    game = scripted([hand, "369p369s1234z", "369p369s1234z", "369p369s1234z"]).finish_kyoku()
    assert game.last(m.Ryukyoku).tenpais[0] is ready


def test_a_wait_that_the_own_pon_used_up_counts(scripted):
    game = scripted(["1m", "111m456789p123s9p"], "1z").discard(0, "1m").do(1, "pon")
    game.discard(1, "9p").finish_kyoku()
    assert game.last(m.Ryukyoku).tenpais[1]


# --- nagashi mangan --------------------------------------------------------------------------


def edge_draws(seats, hands=(), last=""):
    """The draws before ``last``: terminals and honours for ``seats``, simples for the others."""
    used = [tile for text in (*hands, last) for tile in parse_tiles(text)]
    edges = [kind for kind in EDGES for _ in range(4 - used.count(kind))]
    middles = [kind for kind in MIDDLES for _ in range(4 - used.count(kind))]
    turns = range(70 - len(parse_tiles(last)))
    kinds = [(edges if turn % 4 in seats else middles).pop() for turn in turns]
    return "".join(f"{kind % 9 + 1}{'mpsz'[kind // 9]}" for kind in kinds)


@pytest.mark.parametrize(
    ("seats", "deltas"),
    [
        ((1,), (-4000, 8000, -2000, -2000)),
        ((0,), (12000, -4000, -4000, -4000)),
        ((1, 2), (-8000, 6000, 6000, -4000)),
    ],
)
def test_nagashi_is_paid_as_mangan_without_honba_or_sticks(scripted, seats, deltas):
    position = Position(honba=2, sticks=1, scores=(24000, 25000, 25000, 25000))
    hands = [NOTEN, "258p369s258m44z", "", ""]
    game = scripted(hands, edge_draws(seats, hands), position=position).finish_kyoku()
    draw = game.last(m.Ryukyoku)
    assert (draw.reason, draw.deltas) == ("nagashimangan", deltas)
    start = game.last(m.StartKyoku)
    assert (start.oya, start.honba, start.kyotaku) == (1, 3, 1)


def test_a_ready_dealer_stays_after_anothers_nagashi(scripted):
    hands = ["234678m234678p5s", NOTEN, "", ""]
    game = scripted(hands, edge_draws((1,), hands)).finish_kyoku()
    assert game.last(m.Ryukyoku).reason == "nagashimangan"
    start = game.last(m.StartKyoku)
    assert (start.oya, start.honba) == (0, 1)


def test_a_called_tile_spoils_nagashi(scripted):
    hands = ["", "55z", "", ""]
    last = "5z2m2m1m2p2p"  # seat 0's last draws, with and without the call between
    game = scripted(hands, edge_draws((0,), hands, last), last=last)
    while game.to_turn(0).referee.state["wall_left"] > 5:
        game.tsumogiri()
    game.tsumogiri().do(1, "pon").finish_kyoku()
    assert game.last(m.Ryukyoku).reason == "fanpai"


def test_the_own_call_does_not(scripted):
    hands = ["55z1z", "", "", ""]
    last = "5z2m2m2m1m2p2p"
    game = scripted(hands, edge_draws((0,), hands, last), last=last)
    while game.to_turn(3).referee.state["wall_left"] > 6:
        game.tsumogiri()
    game.tsumogiri().do(0, "pon").discard(0, "E").finish_kyoku()
    assert game.last(m.Ryukyoku).reason == "nagashimangan"
