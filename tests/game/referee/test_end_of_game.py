"""When a game goes on and when it ends; who gets what is left on the table."""

import pytest

from mjbot.game.referee import Position
from mjbot.game.table.actions import ACTIONS, NINE_TERMINALS
from mjbot.protocol import messages as m

NOTEN = "147m369p369s1234z"
READY = "123456789m55z22p"
PINFU_FOR_SIX = "234567m234p22s78s"

LEVEL = (25000, 25000, 25000, 25000)


def after_a_draw(scripted, round_, scores, ready=None, **more):
    """A kyoku that ends with nobody ready but the seat ``ready``, which gets 3,000."""
    hands = [READY if seat == ready else NOTEN for seat in range(4)]
    position = Position(round_, more.pop("honba", 0), more.pop("sticks", 0), scores)
    return scripted(hands, position=position, **more).finish_kyoku()


@pytest.mark.parametrize(
    ("round_", "scores", "ready", "over", "why"),
    [
        (6, (40000, 20000, 20000, 20000), None, False, "South 3 is not the last"),
        (7, (30000, 25000, 24000, 21000), None, True, "30,000 and the dealer goes"),
        (7, (29900, 25000, 24000, 21100), None, False, "nobody has 30,000: extension"),
        (7, (29900, 26000, 23000, 21100), 1, False, "payments count, but 29,000 are too few"),
        (7, (25000, 27000, 24000, 24000), 1, True, "payments bring it to 30,000"),
        (7, (20000, 25000, 25000, 30000), 3, True, "a ready dealer, top, 30,000: tenpai-yame"),
        (7, (24100, 25000, 24000, 26900), 3, False, "a ready dealer, top, below 30,000"),
        (7, (41000, 15000, 14000, 30000), 3, False, "a ready dealer with 30,000, not top"),
        (7, (34000, 15000, 21000, 30000), 3, False, "the tie goes to the earlier seat"),
        (8, (29000, 25000, 25000, 21000), 1, False, "West 1, nobody there"),
        (8, (24000, 28000, 24000, 24000), 1, True, "sudden death in West 1"),
        (8, (24000, 25000, 24000, 27000), 0, False, "West 1, the dealer ready, below"),
        (8, (29000, 25000, 23000, 23000), 0, True, "West 1, the dealer ready, top, 30,000"),
        (8, (27000, 38000, 18000, 17000), 0, False, "West 1, the dealer ready, not top"),
        (11, (29000, 25000, 25000, 21000), None, True, "the last of the extension"),
        (11, (26000, 24000, 24100, 25900), 3, False, "but not if the dealer repeats below"),
        (11, (24000, 24000, 22000, 30000), 3, True, "West 4, the dealer ready and there"),
    ],
)
def test_the_end_of_a_hanchan(scripted, round_, scores, ready, over, why):
    assert sum(scores) == 100000
    game = after_a_draw(scripted, round_, scores, ready)
    assert game.referee.over is over, why
    assert (game.names()[-1] == "EndGame") is over


@pytest.mark.parametrize(
    ("round_", "scores", "over"),
    [
        (3, (25000, 25000, 25000, 25000), False),
        (3, (31000, 24000, 23000, 22000), True),
        (4, (25000, 25000, 25000, 25000), False),
        (7, (25000, 25000, 25000, 25000), True),
    ],
)
def test_a_tonpu_ends_one_wind_earlier(scripted, round_, scores, over):
    game = after_a_draw(scripted, round_, scores, length="tonpu")
    assert game.referee.over is over


def test_the_extension_moves_on_to_west(scripted):
    start = after_a_draw(scripted, 7, LEVEL).last(m.StartKyoku)
    assert (start.bakaze, start.kyoku, start.oya) == ("W", 1, 0)


def test_sticks_on_the_table_do_not_count_towards_the_target(scripted):
    game = after_a_draw(scripted, 7, (29000, 24000, 23000, 22000), sticks=2)
    assert not game.referee.over


# --- wins in the last round ------------------------------------------------------------------


def after_a_win(scripted, scores, winner):
    """South 4, dealer 3; seat 2 deals in to tanyao and pinfu: 2,000, to the dealer 2,900."""
    hands = [NOTEN, NOTEN, "", NOTEN]
    hands[winner] = PINFU_FOR_SIX
    game = scripted(hands, "5z6z7z6s", dora="3z", position=Position(7, scores=scores))
    return game.discard(2, "6s").do(winner, "ron")


@pytest.mark.parametrize(
    ("scores", "winner", "over"),
    [
        ((20000, 25000, 25000, 30000), 3, True),
        ((20000, 30000, 25000, 25000), 3, False),
        ((20000, 30000, 25000, 25000), 0, True),
        ((25000, 25000, 25000, 25000), 0, False),
        ((28000, 25000, 25000, 22000), 0, True),
    ],
)
def test_a_winning_dealer_stops_only_as_top_above_the_target(scripted, scores, winner, over):
    assert after_a_win(scripted, scores, winner).referee.over is over


# --- bust, leftovers -------------------------------------------------------------------------


@pytest.mark.parametrize(("points", "over"), [(1000, False), (900, True)])
def test_below_zero_ends_the_game_and_zero_does_not(scripted, points, over):
    scores = (25000, 25000, 50000 - points, points)
    game = after_a_draw(scripted, 0, scores, ready=0)
    assert game.referee.over is over
    assert min(game.scores) == points - 1000


def test_a_seat_below_zero_ends_the_game_even_if_the_dealer_repeats(scripted):
    game = after_a_draw(scripted, 1, (500, 25000, 25000, 49500), ready=1)
    assert game.referee.over


def test_leftover_sticks_go_to_first_place(scripted):
    game = after_a_draw(scripted, 7, (20000, 33000, 25000, 19000), sticks=3)
    assert game.last(m.EndGame).scores == (20000, 36000, 25000, 19000)
    assert game.scores == [20000, 36000, 25000, 19000]


def test_of_equal_seats_the_earlier_gets_them(scripted):
    game = after_a_draw(scripted, 7, (15000, 33000, 33000, 18000), sticks=1)
    assert game.scores == [15000, 34000, 33000, 18000]


# --- chombo ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seat", "deltas"),
    [(0, (-12000, 4000, 4000, 4000)), (2, (4000, 2000, -8000, 2000))],
)
def test_a_fault_pays_a_mangan_and_the_kyoku_is_played_again(scripted, seat, deltas):
    position = Position(honba=1, sticks=1, scores=(24000, 25000, 25000, 25000))
    game = scripted(["", "", "", ""], position=position)
    events = game.referee.fault(seat)
    draw = events[0]
    assert isinstance(draw, m.Ryukyoku)
    assert (draw.reason, draw.deltas) == ("error", deltas)
    start = events[2]
    assert isinstance(start, m.StartKyoku)
    assert (start.oya, start.honba, start.kyotaku) == (0, 2, 1)
    assert not game.referee.over


def test_a_fault_that_busts_ends_the_game(scripted):
    game = scripted(["", "", "", ""], position=Position(scores=(7900, 25000, 25000, 42100)))
    events = game.referee.fault(0)
    assert isinstance(events[-1], m.EndGame)
    assert game.referee.over


# --- who is asked ----------------------------------------------------------------------------


def test_only_asked_seats_may_choose_and_all_of_them_must(scripted):
    game = scripted(["", "", "", ""])
    with pytest.raises(ValueError, match=r"choices from seats \[0, 1\], asked \[0\]"):
        game.referee.step({0: ACTIONS[NINE_TERMINALS], 1: ACTIONS[NINE_TERMINALS]})


def test_nobody_is_asked_after_the_end(scripted):
    game = after_a_draw(scripted, 7, (31000, 24000, 23000, 22000))
    assert game.referee.asked == {}
