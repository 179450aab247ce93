"""Who is paid how much, and which circumstances of a win count."""

import numpy as np

from mjbot.game.referee import Position
from mjbot.game.referee.step import OUTCOME
from mjbot.game.statistics.figures import EventCounter, count_kyoku, no_counts
from mjbot.game.table.settle import PAYMENT
from mjbot.game.table.state import NO_DRAW, STATE
from mjbot.protocol import messages as m

ON_NINE_SOU = ["123456m123p44z11s", "234567m234p22s78s", "345678p345s88m78s", "345678m45677p78s"]


def yaku_of(win):
    return {name for name, _ in win.yakus}


# --- several rons ----------------------------------------------------------------------------


def test_two_rons_nearest_first_who_alone_gets_honba_and_sticks(scripted):
    position = Position(honba=2, sticks=1, scores=(24000, 25000, 25000, 25000))
    game = scripted(ON_NINE_SOU, "9s", dora="3z", position=position)
    game.discard(0, "9s").together({1: "ron", 3: "ron", 2: "pass"})
    first, second = game.all(m.Hora)
    assert (first.actor, second.actor) == (1, 3)
    assert first.deltas == (-1600, 2600, 0, 0)
    assert second.deltas == (-1000, 0, 0, 1000)
    assert first.scores == (22400, 27600, 25000, 25000)
    assert second.scores == (21400, 27600, 25000, 26000)
    start = game.last(m.StartKyoku)
    assert (start.oya, start.honba, start.kyotaku) == (1, 0, 0)


def test_a_double_ron_is_one_deal_in_and_two_wins_fed(scripted):
    game = scripted(ON_NINE_SOU, "9s", dora="3z")
    game.discard(0, "9s").together({1: "ron", 3: "ron", 2: "pass"})
    counter = EventCounter()
    for event in game.events:
        counter.add(event)
    outcome, wins = np.zeros(1, OUTCOME)[0], np.zeros(3, PAYMENT)
    outcome["n_wins"], outcome["target"], outcome["reason"] = 2, 0, NO_DRAW
    wins["winner"], wins["points"] = (1, 3, 0), (1000, 1000, 0)
    in_bulk = no_counts()
    count_kyoku(np.zeros(1, STATE)[0], outcome, wins, in_bulk)
    for counts in (counter.counts, in_bulk):
        assert counts["deal_ins"].tolist() == [1, 0, 0, 0]
        assert counts["deal_in_points"].tolist() == [2000, 0, 0, 0]
        assert counts["fed"][0].tolist() == [0, 1, 0, 1]
        assert counts["wins"].tolist() == [0, 1, 0, 1]


def test_the_nearest_counts_from_the_discarder(scripted):
    hands = [ON_NINE_SOU[1], ON_NINE_SOU[2], ON_NINE_SOU[0], ON_NINE_SOU[3]]
    game = scripted(hands, "3z3z9s", dora="3z").discard(2, "9s")
    game.together({0: "ron", 1: "pass", 3: "ron"})
    assert [win.actor for win in game.all(m.Hora)] == [3, 0]


def test_a_dealer_among_two_winners_stays(scripted):
    hands = [ON_NINE_SOU[1], ON_NINE_SOU[0], ON_NINE_SOU[2], ON_NINE_SOU[3]]
    game = scripted(hands, "3z9s", dora="3z").discard(1, "9s")
    game.together({0: "ron", 2: "ron", 3: "pass"})
    assert [win.actor for win in game.all(m.Hora)] == [2, 0]
    start = game.last(m.StartKyoku)
    assert (start.oya, start.honba) == (0, 1)


def test_a_dealt_in_riichi_tile_pays_no_stick(scripted):
    game = scripted(ON_NINE_SOU, "9s", dora="3z").riichi(0, "9s").do(1, "ron")
    assert not game.all(m.ReachAccepted)
    assert game.last(m.Hora).deltas == (-1000, 1000, 0, 0)


# --- liability -------------------------------------------------------------------------------

DRAGONS = ["5z", "556677z234m567p8s", "6z", "7z"]
WINDS = ["13z", "11223344z5z234m9p", "2z", "4z"]


def three_dragons(scripted, after, honba=0):
    """Seat 1 pons dragons of seats 0, 2 and 3; ``after`` are the draws of 2, 3, 0 and 1."""
    game = scripted(DRAGONS, "1m1m1m1m" + after, dora="3z", position=Position(honba=honba))
    for seat, dragon, thrown in ((0, "P", "2m"), (2, "F", "3m"), (3, "C", "4m")):
        game.discard(seat, dragon).do(1, "pon").discard(1, thrown)
    return game


def test_the_third_dragon_makes_liable_for_all_of_a_self_draw(scripted):
    win = three_dragons(scripted, "9p9p9p8s", honba=1).do(1, "tsumo").last(m.Hora)
    assert win.pao == 3
    assert win.deltas == (0, 32300, 0, -32300)


def test_a_ron_from_another_is_shared_and_the_liable_seat_pays_the_honba(scripted):
    win = three_dragons(scripted, "8s", honba=1).discard(2, "8s").do(1, "ron").last(m.Hora)
    assert win.pao == 3
    assert win.deltas == (0, 32300, -16000, -16300)


def test_a_ron_from_the_liable_seat_is_all_its_own(scripted):
    win = three_dragons(scripted, "9p8s").discard(3, "8s").do(1, "ron").last(m.Hora)
    assert win.deltas == (0, 32000, 0, -32000)


def test_a_third_dragon_that_was_not_called_makes_nobody_liable(scripted):
    hands = ["5z", "5566777z23m567p8s", "6z", ""]
    game = scripted(hands, "1m1m1m1m9p8s", dora="3z")
    for seat, dragon, thrown in ((0, "P", "2m"), (2, "F", "3m")):
        game.discard(seat, dragon).do(1, "pon").discard(1, thrown)
    win = game.do(1, "tsumo").last(m.Hora)
    assert ("daisangen", 100) in win.yakus
    assert win.pao is None


def four_winds(scripted, after):
    """Seat 1 pons winds of 0, 2, 0 and 3; ``after`` are the draws of 2, 3, 0 and 1."""
    game = scripted(WINDS, "1p1p1p1p2p2p2p" + after, dora="9s")
    for seat, wind, thrown in ((0, "E", "2m"), (2, "S", "3m"), (0, "W", "4m"), (3, "N", "9p")):
        game.discard(seat, wind).do(1, "pon").discard(1, thrown)
    return game


def test_the_fourth_wind_makes_liable_for_stacked_yakuman_too(scripted):
    win = four_winds(scripted, "3p3p3p5z").do(1, "tsumo").last(m.Hora)
    assert yaku_of(win) == {"daisushi", "tsuiso"}
    assert win.pao == 3
    assert win.deltas == (0, 64000, 0, -64000)


def test_a_shared_ron_of_stacked_yakuman_is_halved(scripted):
    win = four_winds(scripted, "5z").discard(2, "P").do(1, "ron").last(m.Hora)
    assert win.deltas == (0, 64000, -32000, -32000)


# --- the replacement tile --------------------------------------------------------------------

READY_TO_KAN = "999p123456m78s11s"


def test_an_open_kan_won_on_the_replacement_tile_turns_no_marker(scripted):
    game = scripted(["9p", READY_TO_KAN], "1z", rinshan="9s", dora="3z8s").discard(0, "9p")
    win = game.do(1, "daiminkan").do(1, "tsumo").last(m.Hora)
    assert win.yakus == (("rinshankaiho", 1),)
    assert not game.all(m.Dora)


def test_the_marker_of_a_concealed_kan_counts_for_the_replacement_tile(scripted):
    game = scripted([READY_TO_KAN, ""], "9p", rinshan="9s", dora="3z8s")
    win = game.do(0, "ankan 9p").do(0, "tsumo").last(m.Hora)
    assert yaku_of(win) == {"dora", "rinshankaiho", "menzenchin_tsumoho"}


def test_the_replacement_tile_is_never_the_last_of_the_sea(scripted):
    game = scripted([READY_TO_KAN, ""], last="9p1z", rinshan="9s").do(0, "ankan 9p")
    assert game.referee.state["wall_left"] == 0
    names = yaku_of(game.do(0, "tsumo").last(m.Hora))
    assert "rinshankaiho" in names
    assert "haiteiraoyue" not in names


# --- the last tile ---------------------------------------------------------------------------

ON_WHITE = "123456m789p123s5z"


def test_the_last_draw_wins_haitei(scripted):
    game = scripted(["", ON_WHITE], last="5z", dora="3z5z5z").do(1, "tsumo")
    assert "haiteiraoyue" in yaku_of(game.last(m.Hora))


def test_the_last_discard_wins_houtei_and_nothing_else_claims_it(scripted):
    game = scripted(["", "", "55z", ON_WHITE], last="5z", dora="3z").to_turn(1)
    while game.referee.state["wall_left"] > 0:
        game.tsumogiri().to_turn(1)
    game.do(1, "discard P (drawn)")
    assert game.legal(2) == set()
    assert game.legal(3) == {"ron", "pass"}
    assert game.do(3, "ron").last(m.Hora).yakus == (("hoteiraoyui", 1),)


def test_without_the_last_tile_that_hand_has_no_yaku(scripted):
    game = scripted(["5z", "", "", ON_WHITE]).discard(0, "P")
    assert "ron" not in game.legal(3)


# --- robbing a kan ---------------------------------------------------------------------------


def test_an_added_kan_is_robbed_within_ippatsu(scripted):
    hands = ["66m147p258s1234z9p", "123456p78m22s45s1z", "6m", ""]
    game = scripted(hands, "9s9s9s6s5z5z6m", dora="3z").discard(2, "6m").do(0, "pon")
    game.discard(0, "E").riichi(1, "E").do(0, "kakan 6m")
    assert game.legal(1) == {"ron", "pass"}
    win = game.do(1, "ron").last(m.Hora)
    assert {"reach", "ippatsu", "chankan"} <= yaku_of(win)
    assert (win.target, win.pai) == (0, "6m")
    assert not game.all(m.Dora)


def test_ippatsu_ends_once_the_added_kan_was_let_pass(scripted):
    hands = ["66m147p258s1234z9p", "123456p78m22s45s1z", "6m", ""]
    game = scripted(hands, "9s9s9s6s5z5z6m9m", dora="3z", rinshan="9s").discard(2, "6m")
    game.do(0, "pon").discard(0, "E").riichi(1, "E").do(0, "kakan 6m").to_turn(0)
    assert not game.referee.state["ippatsu"].any()


def test_any_call_ends_ippatsu(scripted):
    game = scripted(["123456p78m22s456s", "", "44p", ""], "1z4p").riichi(0, "E")
    assert game.referee.state["ippatsu"].tolist() == [1, 0, 0, 0]
    game.discard(1, "4p").do(2, "pon")
    assert not game.referee.state["ippatsu"].any()


def test_so_does_a_concealed_kan(scripted):
    game = scripted(["123456p78m22s456s", "1111z", "", ""], "2z").riichi(0, "S")
    assert not game.do(1, "ankan E").referee.state["ippatsu"].any()


def test_ippatsu_ends_with_the_own_next_discard(scripted):
    game = scripted(["123456p78m22s456s"], "2z3z3z3z4z").riichi(0, "S").to_turn(0)
    assert game.referee.state["ippatsu"][0]
    assert not game.discard(0, "N").referee.state["ippatsu"].any()


def test_but_not_that_of_another(scripted):
    ready = ["123456p78m22s456s", "", "345678p34s55m678s", ""]
    game = scripted(ready, "3z4z4z4z2z4z9m", dora="7z").riichi(0, "W").riichi(2, "N").to_turn(0)
    assert game.referee.state["ippatsu"].tolist() == [1, 0, 1, 0]
    game.tsumogiri()
    assert game.referee.state["ippatsu"].tolist() == [0, 0, 1, 0]


ALL_BUT_NINE_MAN = "1m119p19s1234567z"


def test_thirteen_orphans_may_not_rob_a_concealed_kan(scripted):
    game = scripted(["999m", ALL_BUT_NINE_MAN], "9m", rinshan="2p")
    assert game.referee.state["waits"][1] == 1 << 8
    assert game.do(0, "ankan 9m").names()[-3:] == ["Ankan", "Dora", "Tsumo"]


def test_but_they_may_rob_an_added_one(scripted):
    game = scripted(["99m", ALL_BUT_NINE_MAN, "9m", ""], "2p2s2p2s2p2s9m").discard(2, "9m")
    win = game.together({0: "pon", 1: "pass"}).do(0, "kakan 9m").do(1, "ron").last(m.Hora)
    assert yaku_of(win) == {"kokushimuso"}
