"""When a kan turns a dora marker, and what it does to the wall (docs/rules.md, section 4)."""

from mjbot.protocol import messages as m


def since_first_kan(game):
    """Names of the events from the first kan to the discard after it."""
    names = game.names()
    first = next(place for place, name in enumerate(names) if "kan" in name)
    return names[first : names.index("Dahai", first) + 1]


def test_the_marker_of_a_concealed_kan_comes_before_the_draw(scripted):
    game = scripted(["1111m"], dora="3z4z").do(0, "ankan 1m").do(0, "discard")
    assert since_first_kan(game) == ["Ankan", "Dora", "Tsumo", "Dahai"]
    assert game.last(m.Dora).dora_marker == "N"


def test_the_marker_of_an_open_kan_comes_before_the_discard(scripted):
    game = scripted(["1m", "111m"]).discard(0, "1m").do(1, "daiminkan").do(1, "discard")
    assert since_first_kan(game) == ["Daiminkan", "Tsumo", "Dora", "Dahai"]


def test_so_does_that_of_an_added_kan(scripted):
    game = scripted(["1m", "11m9p"], "2z1z1z1z1m").discard(0, "1m").do(1, "pon")
    game.discard(1, "9p").do(1, "kakan 1m").do(1, "discard")
    assert since_first_kan(game) == ["Kakan", "Tsumo", "Dora", "Dahai"]


def test_a_concealed_kan_after_an_open_one_turns_both_markers(scripted):
    game = scripted(["1m", "111m2222m"]).discard(0, "1m").do(1, "daiminkan")
    game.do(1, "ankan 2m").do(1, "discard")
    kans = ["Daiminkan", "Tsumo", "Ankan", "Dora", "Dora", "Tsumo", "Dahai"]
    assert since_first_kan(game) == kans


def test_an_open_kan_after_a_concealed_one_waits_for_the_discard(scripted):
    game = scripted(["1m", "11m2222m9p"], "2z1z1z1z1z", rinshan="1m").discard(0, "1m").do(1, "pon")
    game.discard(1, "9p").do(1, "ankan 2m").do(1, "kakan 1m").do(1, "discard")
    assert since_first_kan(game) == ["Ankan", "Dora", "Tsumo", "Kakan", "Tsumo", "Dora", "Dahai"]


def two_added_kans(scripted, robber=""):
    """Seat 1 pons 1m and 4p and adds to both, one right after the other."""
    hands = ["1m4p", "11m44p7z9p", robber, ""]
    game = scripted(hands, "2z3z3z2z6z6z5z1m", dora="3z6s", rinshan="4p6z")
    game.discard(0, "1m").do(1, "pon").discard(1, "9p").discard(0, "4p").do(1, "pon")
    return game.discard(1, "C").do(1, "kakan 1m").do(1, "kakan 4p")


def test_an_added_kan_after_another_turns_the_first_marker_before_its_draw(scripted):
    game = two_added_kans(scripted).do(1, "discard")
    kans = ["Kakan", "Tsumo", "Kakan", "Dora", "Tsumo", "Dora", "Dahai"]
    assert since_first_kan(game) == kans


def test_a_robbed_second_kan_turns_nothing(scripted):
    game = two_added_kans(scripted, robber="456m23p567p88s678s").do(2, "ron")
    assert not game.all(m.Dora)
    assert game.names()[-5:-2] == ["Kakan", "Hora", "EndKyoku"]


def test_the_new_dora_counts_for_a_ron_on_the_discard(scripted):
    hands = ["9p", "999p", "234567m234p22s78s"]
    game = scripted(hands, "1z", rinshan="9s", dora="3z8s").discard(0, "9p").do(1, "daiminkan")
    win = game.discard(1, "9s").do(2, "ron").last(m.Hora)
    assert ("dora", 1) in win.yakus


def test_ura_markers_are_as_many_as_dora_markers(scripted):
    game = scripted(["1111m23456p789s1z"], "1z", rinshan="2z7p", ura="4z5z", dora="3z6z")
    game.do(0, "ankan 1m").riichi(0, "S")
    win = game.do(0, "tsumo").last(m.Hora)
    assert win.uradora_markers == ("N", "P")


def test_each_kan_shortens_the_live_wall_by_one(scripted):
    game = scripted(["1111m2222m"]).do(0, "ankan 1m").do(0, "ankan 2m")
    assert game.referee.state["wall_left"] == 69 - 2
    game.finish_kyoku()
    assert len(game.all(m.Tsumo)) - 1 == 70  # one is the next kyoku's


def test_a_kan_needs_a_tile_in_the_live_wall(scripted):
    game = scripted(["", "1111m"]).to_turn(1)
    offered = {}
    while (left := int(game.referee.state["wall_left"])) > 0:
        offered[left] = "ankan 1m" in game.legal(1)
        game.tsumogiri().to_turn(1)
    assert all(offered.values())
    assert "ankan 1m" not in game.legal(1)
