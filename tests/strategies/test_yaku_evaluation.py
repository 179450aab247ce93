"""What yaku-evaluation does in positions made by hand."""

import pytest

from mjbot.game.table.state import CALLED_AWAY
from mjbot.strategy.registry import make_strategy
from tests.strategies.test_terms import decisions

LEEWAY = 500
FOLD = {"fold": "yes", "leeway": str(LEEWAY)}


def choice(view, **options: str) -> str:
    action = make_strategy("yaku-evaluation", options).decide(view)
    assert action in view.legal
    return str(action)


def test_wins_are_taken(position):
    assert choice(position("123m456m789m23p55s", drawn="4p")) == "tsumo"
    assert choice(position("234m456m678m23p55s", offered="4p", riichi=[0])) == "ron"


def test_riichi_is_a_switch(position):
    view = position("234m456m678m23p55s", drawn="1z")
    assert choice(view) == "riichi"
    assert choice(view, riichi="off") == "discard E (drawn)"


def test_the_riichi_discard_keeps_tenpai(position):
    view = position("234m456m678m23p55s", drawn="1z", declared=True)
    assert choice(view) == "discard E (drawn)"


def test_the_tile_that_no_yaku_needs_goes(position):
    assert choice(position("234m66m345p67s24s9p", drawn="3s"), riichi="off") == "discard 9p"


def test_for_honitsu_a_foreign_tile_goes(position):
    assert choice(position("11133577999s1z5p", drawn="1z")) == "discard 5p"


def test_of_equal_tiles_the_drawn_one_goes_and_the_red_five_stays(position):
    view = position("123m456m789m77p2z3z", drawn="4z", rivers={1: "223344z"})
    assert choice(view) == "discard N (drawn)"
    assert choice(position("234m66m34p678s2z05p", drawn="2z")) != "discard 5pr"


def test_calls_that_raise_the_score_are_made(position):
    assert choice(position("1199m19p19s3355z7z", offered="5z")) == "pon"
    assert choice(position("23m66m346p678s24s9p", offered="4m")).startswith("chi")


def test_calls_that_do_not_are_left(position):
    assert choice(position("123m456m78p99p1z2z4s", offered="6m")) == "pass"


def test_in_tenpai_nothing_is_called(position):
    view = position("234m66m345p678s24s", offered="6m")
    assert view.waits
    assert choice(view) == "pass"


def test_a_red_five_goes_into_the_meld(position):
    view = position("0m5m2p3p4p6p8p2s3s4s9s9s1z", offered="5m")
    assert choice(view) == "pon with red"


def test_tiles_called_away_are_counted_once(position):
    view = position("67s1m4m1p4p9p1z2z3z4z5z6z", drawn="7z", rivers={1: "555s"})
    view.state["river_flags"][1, 0] = CALLED_AWAY
    assert view.unseen[22] == 2


@pytest.mark.parametrize(
    ("hand", "melds"),
    [("345m68m22p456s", ["222m"]), ("345m68m22p", ["333s", "567p"])],
)
def test_open_hands_are_played_on(position, hand, melds):
    assert choice(position(hand, drawn="1z", melds=melds)) == "discard E (drawn)"


def test_it_folds_by_points_only_where_its_yaku_costs_more_than_the_leeway():
    aims, folds = make_strategy("yaku-evaluation"), make_strategy("yaku-evaluation", FOLD)
    never = make_strategy("yaku-evaluation", {"fold": "yes", "leeway": "1e9"})
    reckoner = make_strategy("fold-recognition-plus")
    left = kept = 0
    for view in decisions(10):
        wanted, done = aims.decide(view), folds.decide(view)
        assert never.decide(view) == wanted
        if wanted.is_win:
            assert done == wanted
            continue
        best = reckoner.decide(view)
        worths = {rated.action: rated.value for rated in reckoner.ratings(view)}
        if done != wanted:
            left += 1
            assert done == best
        elif best != wanted and {best, wanted} <= worths.keys() and not wanted.is_riichi:
            kept += 1
            assert worths[best] - worths[wanted] < LEEWAY + 1e-6
    assert left > 2
    assert kept > 2
