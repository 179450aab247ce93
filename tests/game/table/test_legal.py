"""Legal actions in positions made by hand; rules: docs/rules.md."""

import pytest

from mjbot.game.table.legal import kuikae_kinds
from mjbot.game.table.state import CHI, PON
from mjbot.protocol import messages as m

JUNK = "147m258p369s1234z"
NO_PINZU = "1478m3466s12345z"


def test_every_distinct_tile_and_the_drawn_one_may_be_discarded(story):
    position = story(["1123m456p789s123z", None, None, None]).draw(0, "1m")
    discards = position.legal(0)
    assert {"discard 1m", "discard 1m (drawn)"} <= set(discards)
    assert len(discards) == 12 + 1


def test_a_drawn_tile_that_is_not_held_is_only_tsumogiri(story):
    position = story(["1123m456p789s123z", None, None, None]).draw(0, "9m")
    assert "discard 9m" not in position.legal(0)
    assert "discard 9m (drawn)" in position.legal(0)


def test_red_and_plain_five_are_different_discards(story):
    position = story(["50m258p369s12345z", None, None, None]).draw(0, "9p")
    assert {"discard 5m", "discard 5mr"} <= set(position.legal(0))


def test_only_the_left_neighbour_may_chi(story):
    position = story([JUNK, "34m258p369s11223z", "34m258p369s44556z", None]).turn(0, "5m")
    assert position.calls(1) == ["pass", "chi high"]
    assert position.calls(2) == []


def test_chi_with_and_without_the_red_five(story):
    position = story([JUNK, "350m28p369s12345z", None, None]).turn(0, "4m")
    assert position.calls(1) == ["pass", "chi middle", "chi middle with red"]


def test_pon_offers_the_red_five_apart(story):
    position = story([JUNK, None, "550m28p369s12345z", None]).turn(0, "5m")
    assert position.calls(2) == ["pass", "pon", "pon with red", "daiminkan"]


def test_kuikae_forbids_the_same_tile_and_the_other_end(story):
    position = story([JUNK, "34568m258p369s11z", None, None]).turn(0, "5m").chi(1, 0, "5m", "34m")
    assert "discard 6m" in position.legal(1)
    assert "discard 5m" not in position.legal(1)
    position = story([JUNK, "4566m258p369s112z", None, None]).turn(0, "3m").chi(1, 0, "3m", "45m")
    assert "discard 6m" not in position.legal(1)
    position = story([JUNK, "556m258p369s1123z", None, None]).turn(0, "5m").pon(1, 0, "5m", "55m")
    assert "discard 6m" in position.legal(1)


@pytest.mark.parametrize("suit", range(3))
def test_kuikae_forbids_whatever_the_same_two_tiles_would_have_called(suit):
    """Of every chi, 12 with 3 and 89 with 7 included: those have no other end."""
    for low in range(9 * suit, 9 * suit + 7):
        for called in range(low, low + 3):
            rest = {*range(low, low + 3)} - {called}
            runs = [{*range(other, other + 3)} for other in range(9 * suit, 9 * suit + 7)]
            same = set().union(*(run - rest for run in runs if rest < run))
            assert kuikae_kinds(CHI, called, low) == sum(1 << kind for kind in same)


def test_after_a_pon_kuikae_forbids_the_same_tile_alone():
    assert [kuikae_kinds(PON, kind, -1) for kind in range(34)] == [1 << kind for kind in range(34)]


def test_a_chi_that_leaves_only_kuikae_is_not_offered(story):
    """Three pons leave 2345m: after a chi of 2m with 34m only 2m and 5m would be left."""
    position = story([NO_PINZU, "2345m112233p789s", None, None], dora="9s")
    for pair, spare in (("11p", "7s"), ("22p", "8s"), ("33p", "9s")):
        tile = pair[1:]
        position.turn(0, tile).pon(1, 0, tile, pair).discard(1, spare)
        for seat, thrown in ((2, "7z"), (3, "6z")):
            position.draw(seat, "?").discard(seat, thrown, drawn=True)
    assert position.turn(0, "1m").calls(1) == ["pass", "chi low"]
    position.draw(1, "9m").discard(1, "9m", drawn=True)
    for seat in (2, 3):
        position.draw(seat, "?").discard(seat, "9s", drawn=True)
    assert position.turn(0, "2m").calls(1) == []


def test_a_missed_win_is_furiten_until_the_own_discard(story):
    position = story([NO_PINZU, "234m456p678s5534p", None, None], dora="9p")
    position.turn(0, "2p")
    assert "ron" in position.calls(1)  # tanyao
    position.turn(1, "9m").draw(2, "?").discard(2, "5p", drawn=True)
    assert "ron" in position.calls(1)  # its own discard ended the furiten
    position.draw(3, "?").discard(3, "2p", drawn=True)
    assert "ron" not in position.calls(1)
    assert position.table.view(1).furiten
    position.turn(0, "1z").draw(1, "8m")
    assert position.table.view(1).furiten
    position.discard(1, "8m", drawn=True)
    assert not position.table.view(1).furiten


def test_an_own_discard_among_the_waits_is_furiten(story):
    position = story([NO_PINZU, "234m456p678s5534p", None, None], dora="9p")
    position.turn(0, "1z").draw(1, "5p").discard(1, "5p", drawn=True)
    position.draw(2, "?").discard(2, "2p", drawn=True)
    assert position.calls(1) == []


def test_nine_terminals_on_the_first_turn_only(story):
    hand = "19m19p19s1234z258p"
    position = story([hand, None, None, None]).draw(0, "5m")
    assert "nine terminals" in position.legal(0)
    position.discard(0, "5m", drawn=True)
    for seat, tile in ((1, "4z"), (2, "4z"), (3, "9p")):
        position.draw(seat, "?").discard(seat, tile, drawn=True)
    assert "nine terminals" not in position.draw(0, "5m").legal(0)


def riichi_story(story):
    hand = "123m456p78s55z222s"
    position = story([hand, None, None, None], dora="9p").draw(0, "1z")
    assert "riichi" in position.legal(0)
    return position


def test_after_declaring_only_discards_that_keep_tenpai(story):
    position = riichi_story(story).say(m.Reach(actor=0))
    assert position.legal(0) == ["discard E (drawn)"]


def test_in_riichi_only_the_drawn_tile_or_a_harmless_kan(story):
    position = riichi_story(story).say(m.Reach(actor=0)).discard(0, "1z", drawn=True)
    position.say(m.ReachAccepted(actor=0))
    for seat, tile in ((1, "4z"), (2, "4z"), (3, "1p")):
        position.draw(seat, "?").discard(seat, tile, drawn=True)
    position.draw(0, "2s")
    assert position.legal(0) == ["discard 2s (drawn)", "ankan 2s"]


def test_riichi_needs_a_thousand_points(story):
    position = riichi_story(story)
    position.table.state["scores"][0] = 900
    assert "riichi" not in position.legal(0)
    position.table.state["scores"][0] = 1000
    assert "riichi" in position.legal(0)


def test_riichi_needs_four_tiles_to_draw(story):
    position = riichi_story(story)
    position.table.state["wall_left"] = 4
    assert "riichi" in position.legal(0)
    position.table.state["wall_left"] = 3
    assert "riichi" not in position.legal(0)


def test_no_calls_on_the_last_discard(story):
    position = story([JUNK, "34m258p369s12345z", None, None]).draw(0, "5m")
    position.table.state["wall_left"] = 0
    assert position.discard(0, "5m", drawn=True).legal(1) == []


def test_no_fifth_kan(story):
    position = story(["1111m258p369s123z", None, None, None]).draw(0, "9p")
    assert "ankan 1m" in position.legal(0)
    position.table.state["kans"] = 4
    assert "ankan 1m" not in position.legal(0)
