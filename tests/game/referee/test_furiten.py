"""Who may not win by ron, and for how long.  Seat 1 waits for 6m and 9m with pinfu."""

READY = "78m123456p456s22s"


def test_a_tile_of_the_own_river_bars_all_waits(scripted):
    game = scripted(["6m", READY], "1z9m1z1z6m").to_turn(1).tsumogiri().discard(0, "6m")
    assert "ron" not in game.legal(1)


def test_so_does_one_that_was_called_away(scripted):
    game = scripted(["", READY, "", "99m"], "1z9m1z1z6m").to_turn(1).tsumogiri().do(3, "pon")
    game.do(3, "discard").to_turn(0).discard(0, "6m")
    assert "ron" not in game.legal(1)


def test_the_own_river_does_not_bar_a_win_by_draw(scripted):
    game = scripted(["", READY], "1z9m1z1z1z6m").to_turn(1).tsumogiri().to_turn(1)
    assert "tsumo" in game.legal(1)


def test_a_passed_tile_bars_until_the_own_discard(scripted):
    game = scripted(["", READY], "6m1z9m6m9m1z9m").to_turn(0).tsumogiri()
    assert "ron" in game.legal(1)
    game.do(1, "pass").to_turn(2).tsumogiri()
    assert "ron" in game.legal(1), "its own discard lies between"
    game.do(1, "pass").to_turn(3).tsumogiri()
    assert "ron" not in game.legal(1)
    game.to_turn(0).tsumogiri()
    assert "ron" not in game.legal(1)
    game.to_turn(1).tsumogiri().to_turn(2).tsumogiri()
    assert "ron" in game.legal(1)


def test_a_call_by_another_does_not_lift_it(scripted):
    game = scripted(["", "4z", READY, "446z9m"], "6m").to_turn(0).tsumogiri().do(2, "pass")
    game.discard(1, "N").do(3, "pon").discard(3, "9m")
    assert "ron" not in game.legal(2)


def test_a_tile_without_yaku_bars_as_well(scripted):
    game = scripted(["", "", "123456m789p12s55z", ""], "3s").to_turn(0).tsumogiri()
    assert game.legal(2) == set()
    game.to_turn(1)
    assert game.referee.state["missed"].tolist() == [0, 0, 1, 0]


def test_a_win_passed_in_riichi_bars_for_good(scripted):
    game = scripted(["", READY], "1z2z6m3z3z4z9m").riichi(1, "S").to_turn(2).tsumogiri()
    assert "ron" in game.legal(1)
    game.do(1, "pass").to_turn(1).tsumogiri().to_turn(2).tsumogiri()
    assert game.legal(1) == set()


def test_a_kan_not_robbed_bars_as_well(scripted):
    hands = ["66m147p258s1234z9p", READY, "6m", ""]
    game = scripted(hands, "9s9s9s9s5z5z6m9m").discard(2, "6m").together({0: "pon", 1: "pass"})
    game.discard(0, "E").to_turn(1).tsumogiri().do(0, "kakan 6m").do(1, "pass").discard(0, "9p")
    assert game.referee.state["missed"][1]


def test_who_draws_the_last_copy_of_a_passed_wait_may_win(scripted):
    game = scripted(["", READY], "6m6m").to_turn(0).tsumogiri().do(1, "pass").to_turn(1)
    assert "tsumo" in game.legal(1)
