"""Draws that end a kyoku early: the dealer stays, one honba more, sticks stay on the table."""

import pytest

from mjbot.game.referee import Position
from mjbot.protocol import messages as m

NINE_KINDS = "19m19p19s123z2345m"
EIGHT_KINDS = "19m19p19s12z23456m"
READY = ["123456789m1199p", "123456789s2244z", "345678m345678p2s", "456m456p456s6677z"]
ON_NINE_SOU = ["123456m123p44z11s", "234567m234p22s78s", "345678p345s88m78s", "345678m45677p78s"]


def check_aborted(game, reason):
    draw = game.last(m.Ryukyoku)
    assert (draw.reason, draw.deltas) == (reason, (0, 0, 0, 0))
    start = game.last(m.StartKyoku)
    assert (start.kyoku, start.honba, start.oya) == (1, 1, 0)


# --- nine terminals --------------------------------------------------------------------------


def test_nine_kinds_of_terminals_abort_the_first_turn(scripted):
    game = scripted([NINE_KINDS, "", "", ""], "5p").do(0, "nine terminals")
    check_aborted(game, "kyushukyuhai")
    assert game.last(m.Ryukyoku).actor == 0


def test_the_drawn_tile_counts_among_the_nine(scripted):
    assert "nine terminals" in scripted([EIGHT_KINDS, "", "", ""], "3z").legal(0)
    assert "nine terminals" not in scripted([EIGHT_KINDS, "", "", ""], "1z").legal(0)


def test_nine_terminals_only_before_the_own_first_discard(scripted):
    game = scripted([NINE_KINDS, "", "", ""], "5p").discard(0, "5p").to_turn(0)
    assert "nine terminals" not in game.legal(0)


def test_a_call_before_ends_the_chance_of_nine_terminals(scripted):
    game = scripted(["", "", "55p", NINE_KINDS], "5p").discard(0, "5p").do(2, "pon")
    assert "nine terminals" not in game.to_turn(3).legal(3)


def test_so_does_a_concealed_kan(scripted):
    game = scripted(["7777p", NINE_KINDS, "", ""], "5p").do(0, "ankan 7p")
    assert "nine terminals" not in game.to_turn(1).legal(1)


# --- four winds ------------------------------------------------------------------------------


def test_four_equal_winds_abort(scripted):
    game = scripted(["2z", "2z", "2z", "2z"])
    for seat in range(4):
        game.discard(seat, "S")
    check_aborted(game, "sufonrenta")


def test_three_equal_winds_do_not(scripted):
    game = scripted(["2z", "2z", "2z", "1z"], dora="2z")
    for seat in range(3):
        game.discard(seat, "S")
    game.discard(3, "E").to_turn(1)
    assert not game.all(m.Ryukyoku)


def test_equal_dragons_do_not(scripted):
    game = scripted(["5z", "5z", "5z", "5z"])
    for seat in range(4):
        game.discard(seat, "P")
    assert not game.to_turn(1).all(m.Ryukyoku)


def test_a_concealed_kan_between_the_winds_prevents_it(scripted):
    game = scripted(["2z", "2z", "2z", "2z1111m"])
    for seat in range(3):
        game.discard(seat, "S")
    game.do(3, "ankan 1m").discard(3, "S").to_turn(1)
    assert not game.all(m.Ryukyoku)


# --- four riichi -----------------------------------------------------------------------------


def declare_three(scripted, draws):
    game = scripted(READY, draws)
    return game.riichi(0, "E").riichi(1, "W").riichi(2, "E")


def test_the_fourth_accepted_riichi_aborts(scripted):
    game = declare_three(scripted, "1z3z1z3z").riichi(3, "W")
    check_aborted(game, "suchareach")
    assert game.names()[-6:-2] == ["Dahai", "ReachAccepted", "Ryukyoku", "EndKyoku"]
    assert game.scores == [24000] * 4
    assert game.last(m.StartKyoku).kyotaku == 4


def test_not_if_the_fourth_is_ronned(scripted):
    game = declare_three(scripted, "1z3z1z9p").riichi(3, "9p").do(0, "ron")
    assert not game.all(m.Ryukyoku)
    assert len(game.all(m.ReachAccepted)) == 3
    win = game.last(m.Hora)
    assert win.deltas[0] == -win.deltas[3] + 3000
    assert game.last(m.StartKyoku).kyotaku == 0


# --- four kans -------------------------------------------------------------------------------


def four_kans_by_two(scripted, others=("", ""), rinshan="1z2z3z9p"):
    hands = ["1111m2222m", "3333m4444m666s", *others]
    game = scripted(hands, "7p6s", rinshan=rinshan)
    game.do(0, "ankan 1m").do(0, "ankan 2m").discard(0, "S")
    return game.do(1, "ankan 3m").do(1, "ankan 4m")


def test_four_kans_by_two_players_abort_after_the_discard(scripted):
    game = four_kans_by_two(scripted)
    assert not game.all(m.Ryukyoku)
    check_aborted(game.discard(1, "9p"), "sukaikan")
    assert len(game.all(m.Dora)) == 4


def test_a_call_of_that_discard_comes_too_late(scripted):
    game = four_kans_by_two(scripted, ("99p", "")).discard(1, "9p").do(2, "pon")
    check_aborted(game, "sukaikan")
    assert not game.all(m.Pon)


def test_a_ron_on_that_discard_wins(scripted):
    game = four_kans_by_two(scripted, ("234567p234s77s78p", "")).discard(1, "9p").do(2, "ron")
    assert game.last(m.Hora).actor == 2
    assert not game.all(m.Ryukyoku)


def test_a_fifth_kan_is_not_possible(scripted):
    game = four_kans_by_two(scripted)
    assert not any("kan" in text for text in game.legal(1))


def test_four_kans_by_one_player_go_on(scripted):
    hands = ["111122223333m4z", "6666s", "", ""]
    game = scripted(hands, "4z", rinshan="4z4z5z6z")
    for kan in ("ankan 1m", "ankan 2m", "ankan 3m", "ankan N"):
        game.do(0, kan)
    game.discard(0, "F").to_turn(1)
    assert not game.all(m.Ryukyoku)
    assert not any("kan" in text for text in game.legal(1))


def test_three_kans_by_two_players_go_on(scripted):
    game = scripted(["1111m2222m", "3333m", "", ""], "7p6s", rinshan="1z2z3z")
    game.do(0, "ankan 1m").do(0, "ankan 2m").discard(0, "S").do(1, "ankan 3m").discard(1, "W")
    assert not game.to_turn(2).all(m.Ryukyoku)


def test_three_kans_and_one_of_another_player_abort(scripted):
    game = scripted(["111122223333m6z", "666z", "", ""], "7p", rinshan="1z2z3z4z")
    for kan in ("ankan 1m", "ankan 2m", "ankan 3m"):
        game.do(0, kan)
    game.discard(0, "F").do(1, "daiminkan")
    check_aborted(game.discard(1, "N"), "sukaikan")


def test_an_open_one_counts_with_the_three_of_its_player(scripted):
    game = scripted(["111122223333m6z", "6z", "", ""], "6z", rinshan="6z1z2z4z")
    for kan in ("ankan 1m", "ankan 2m", "ankan 3m"):
        game.do(0, kan)
    game.discard(0, "S").discard(1, "F").do(0, "daiminkan").discard(0, "E").to_turn(1)
    assert not game.all(m.Ryukyoku)


# --- triple ron ------------------------------------------------------------------------------


def test_three_rons_abort_and_pay_nothing(scripted):
    game = scripted(ON_NINE_SOU, "9s").discard(0, "9s")
    game.together({1: "ron", 2: "ron", 3: "ron"})
    check_aborted(game, "sanchaho")
    assert not game.all(m.Hora)
    assert game.last(m.Ryukyoku).tenpais == (False, True, True, True)
    assert game.scores == [25000] * 4


def test_a_riichi_ronned_three_times_pays_no_stick(scripted):
    game = scripted(ON_NINE_SOU, "9s").riichi(0, "9s").together({1: "ron", 2: "ron", 3: "ron"})
    check_aborted(game, "sanchaho")
    assert not game.all(m.ReachAccepted)
    assert game.scores == [25000] * 4
    assert game.last(m.StartKyoku).kyotaku == 0


# --- in the last round -----------------------------------------------------------------------


@pytest.mark.parametrize("round_", [7, 11])
def test_an_abortive_draw_never_ends_the_game(scripted, round_):
    position = Position(round_, honba=2, sticks=1, scores=(20000, 20000, 19000, 40000))
    game = scripted(["", "", "", NINE_KINDS], "5p", position=position).do(3, "nine terminals")
    assert not game.referee.over
    start = game.last(m.StartKyoku)
    assert (start.oya, start.honba, start.kyotaku) == (3, 3, 1)
