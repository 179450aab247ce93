"""What fast-riichi-a .. -d do in positions made by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mjbot.game.table.actions import ACTIONS, DECLARE_RIICHI
from mjbot.game.table.state import MISSED_FOR_GOOD
from mjbot.protocol.tiles import tile_kind
from mjbot.strategies.evaluation.fast_riichi.steps import FastRiichi, tiles_of
from mjbot.strategy.registry import make_strategy, strategy_class

ALL = ("fast-riichi-a", "fast-riichi-b", "fast-riichi-c", "fast-riichi-d")
CALLERS = ("fast-riichi-b", "fast-riichi-d")
OPEN_ENDED = "123m456m789m23p55s"  # waits on 1p and 4p once a fourteenth tile goes


def choice(name: str, view, **options: str) -> str:
    action = make_strategy(name, options).decide(view)
    assert action in view.legal
    return str(action)


# --- wins and riichi -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_wins_are_taken(position, name):
    assert choice(name, position(OPEN_ENDED, drawn="4p")) == "tsumo"
    assert choice(name, position("234m456m789m23p55s", offered="4p", riichi=[0])) == "ron"


@pytest.mark.parametrize("name", ALL)
def test_nine_terminals_end_the_kyoku(position, name):
    view = position("19m19p19s1234z567m", drawn="5z")
    view.state["calls_made"] = 0
    assert choice(name, view) == "nine terminals"


@pytest.mark.parametrize("name", ALL)
def test_riichi_on_every_closed_tenpai(position, name):
    assert choice(name, position(OPEN_ENDED, drawn="2z")) == "riichi"


@pytest.mark.parametrize("name", ALL)
def test_riichi_on_seven_pairs(position, name):
    assert choice(name, position("11m33m55p77p99s2z3z3z", drawn="1s")) == "riichi"


@pytest.mark.parametrize("name", ALL)
def test_no_riichi_in_furiten(position, name):
    view = position(OPEN_ENDED, drawn="2z", rivers={0: "1p"})
    assert "riichi" in map(str, view.legal)
    assert choice(name, view).startswith("discard")


@pytest.mark.parametrize("name", ALL)
def test_no_riichi_on_waits_that_are_gone(position, name):
    view = position("123m456m789m24p55s", drawn="2z", rivers={1: "33p", 2: "33p"})
    assert choice(name, view).startswith("discard")


@pytest.mark.parametrize(("wall_left", "expected"), [(4, "riichi"), (3, "discard S (drawn)")])
def test_riichi_needs_four_tiles(position, wall_left, expected):
    view = position(OPEN_ENDED, drawn="2z", wall_left=wall_left)
    assert choice("fast-riichi-a", view) == expected


@pytest.mark.parametrize("name", ["fast-riichi-c", "fast-riichi-d"])
def test_riichi_comes_before_folding(position, name):
    view = position(OPEN_ENDED, drawn="2z", rivers={1: "1m"}, riichi=[1, 2], wall_left=10)
    assert choice(name, view, lookahead="text") == "riichi"


@pytest.mark.parametrize("name", ALL)
def test_the_riichi_discard_avoids_furiten(position, name):
    hand = "123m456m789m24p88s"  # 2p leaves 3p and 6p, 5p leaves 3p
    assert choice(name, position(hand, drawn="5p", declared=True)) == "discard 2p"
    view = position(hand, drawn="5p", declared=True, rivers={0: "6p"})
    assert choice(name, view) == "discard 5p (drawn)"


# --- discards --------------------------------------------------------------------------------


def test_of_equal_discards_the_drawn_tile_goes(position):
    hand = "123m456m77p79p5s2z3z"
    view = position(hand, drawn="1z", rivers={1: "123z"}, markers="9s")
    assert choice("fast-riichi-a", view) == "discard E (drawn)"


def test_of_equal_discards_the_dora_is_kept(position):
    hand = "123m456m77p79p5s2z3z"
    view = position(hand, drawn="1z", rivers={1: "123z"}, markers="4z")
    assert choice("fast-riichi-a", view) == "discard S"
    assert choice("fast-riichi-a", view, dora_points="0") == "discard E (drawn)"


def test_the_plain_five_goes_before_the_red_one(position):
    view = position("123p456p789p11s1z5m", drawn="0m")
    bot = strategy_class("fast-riichi-a")()
    assert str(bot.discard(view, kinds=[4])) == "discard 5m"


def test_the_lookahead_of_the_text_is_the_best_draw_alone(position):
    view = position("2388m34457p4556s2z", drawn="7s")
    values = {
        name: max(strategy_class("fast-riichi-a")(lookahead=name).rate(view))
        for name in ("text", "appendix")
    }
    assert values["text"] < 6 * 50 + 136 < values["appendix"]


@pytest.mark.parametrize("name", ["fast-riichi-c", "fast-riichi-d"])
def test_folding_discards_what_is_safe(position, name):
    hand, rivers = "2388m34457p4556s2z", {1: "8m1p", 2: "9s"}
    view = position(hand, drawn="7s", rivers=rivers, riichi=[1])
    assert choice(name, view, lookahead="text") == "discard 8m"
    assert choice("fast-riichi-a", view, lookahead="text") != "discard 8m"


# --- calls -----------------------------------------------------------------------------------

CLOSED = "2388m345p46s19p77z"
OPENED = "34m67p55s789s1z"
PON = ["555z"]


@pytest.mark.parametrize("name", CALLERS)
def test_a_closed_hand_is_opened_by_a_pair_of_value_honours(position, name):
    assert choice(name, position(CLOSED, offered="7z")) == "pon"
    assert choice(name, position("2388m345p46s19p11z", offered="1z")) == "pon"


@pytest.mark.parametrize("name", CALLERS)
@pytest.mark.parametrize(
    ("hand", "offered"),
    [
        ("2388m345p46s19p33z", "3z"),  # somebody else's wind
        ("2388m345p46s1p777z", "7z"),  # three of them
        (CLOSED, "8m"),  # no honour
        (CLOSED, "4m"),  # chi
        ("123m456m789m23p77z", "7z"),  # tenpai
    ],
)
def test_a_closed_hand_is_opened_by_nothing_else(position, name, hand, offered):
    assert choice(name, position(hand, offered=offered)) == "pass"


@pytest.mark.parametrize("name", ["fast-riichi-a", "fast-riichi-c"])
def test_the_others_never_call(position, name):
    assert choice(name, position(CLOSED, offered="7z")) == "pass"


@pytest.mark.parametrize("name", CALLERS)
def test_an_open_hand_takes_calls_that_raise_its_value(position, name):
    assert choice(name, position(OPENED, offered="2m", melds=PON)) == "chi low"
    assert choice(name, position(OPENED, offered="5m", melds=PON)) == "chi high"
    assert choice(name, position("34m67p5599s12z", offered="5s", melds=PON)) == "pon"


@pytest.mark.parametrize("name", CALLERS)
def test_an_open_hand_leaves_calls_that_do_not(position, name):
    # The chi would only turn 123m into 234m and throw 1m away.
    view = position("123m466p55s78s", offered="4m", melds=PON)
    assert "chi high" in map(str, view.legal)
    assert choice(name, view) == "pass"


@pytest.mark.parametrize("name", CALLERS)
def test_of_equal_calls_pon_comes_first_and_chi_in_the_middle_last(position, name):
    view = position("346m67p55s789s", offered="5m", melds=PON)
    assert {"chi middle", "chi high"} < set(map(str, view.legal))
    assert choice(name, view) == "chi high"


@pytest.mark.parametrize("name", CALLERS)
def test_a_dora_in_the_meld_makes_a_call_worth_it(position, name):
    view = position("123m466p55s78s", offered="4m", melds=PON, markers="3m")
    assert choice(name, view) == "pass"
    assert choice(name, view, dora_points="100000") == "chi high"


@pytest.mark.parametrize("name", CALLERS)
@pytest.mark.parametrize("hand", ["056m67p55s789s", "056m67p55s78s2z"])
def test_a_red_five_goes_into_the_meld(position, name, hand):
    view = position(hand, offered="4m", melds=PON)
    assert choice(name, view) == "chi low with red"


@pytest.mark.parametrize("name", CALLERS)
def test_a_swap_that_kuikae_forbids_is_no_gain(position, name):
    # Chi with 6m and 7m, then 5m away, would win the red five for nothing.
    view = position("567m466p55s78s", offered="0m", melds=PON)
    assert "chi low" in map(str, view.legal)
    assert choice(name, view) == "pass"


@pytest.mark.parametrize("threat", [{"riichi": [1]}, {"wall_left": 15}])
def test_d_calls_nothing_under_threat(position, threat):
    view = position(OPENED, offered="2m", melds=PON, **threat)
    assert choice("fast-riichi-d", view) == "pass"
    assert choice("fast-riichi-b", view) == "chi low"


# --- open tenpai -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", CALLERS)
def test_open_tenpai_is_kept_unless_the_waits_widen(position, name):
    hand = "24m456p55s789s"  # waits on 3m
    assert choice(name, position(hand, drawn="1m", melds=PON)) == "discard 1m (drawn)"
    assert choice(name, position(hand, drawn="5m", melds=PON)) == "discard 2m"
    view = position(hand, drawn="5m", melds=PON, rivers={1: "6666m"})
    assert choice(name, view) == "discard 5m (drawn)"
    view = position(hand, drawn="5m", melds=PON, rivers={0: "6m"})
    assert choice(name, view) == "discard 5m (drawn)"


@pytest.mark.parametrize("name", CALLERS)
def test_in_tenpai_nothing_is_called(position, name):
    view = position("24m456p55s789s", offered="5s", melds=PON)
    assert choice(name, view) == "pass"


def test_d_gives_an_open_tenpai_up_for_safety(position):
    view = position("24m456p55s789s", drawn="5m", melds=PON, rivers={1: "9s"}, riichi=[1])
    assert choice("fast-riichi-d", view, lookahead="text") == "discard 9s"
    assert choice("fast-riichi-b", view, lookahead="text") == "discard 2m"


def test_a_missed_win_does_not_stop_a_riichi_on_other_turns(position):
    view = position(OPEN_ENDED, drawn="2z")
    view.state["missed"][0] = MISSED_FOR_GOOD
    assert choice("fast-riichi-a", view) == "riichi"


# --- compiled choices ------------------------------------------------------------------------


class Rating(FastRiichi):
    """Rates discards as it is told to, of a view that only lists them."""

    def __init__(self, points: list[int], codes: bytes) -> None:
        super().__init__()
        self.points = np.array(points, np.int64)
        self.discard_codes = codes

    def rate(self, view: Any) -> Any:
        return self.points


@given(
    st.lists(st.integers(-1, 1), min_size=37, max_size=37),
    st.sets(st.integers(0, DECLARE_RIICHI - 1), min_size=1),
    st.sets(st.integers(0, 33)),
)
def test_the_best_discard_is_the_first_with_the_most_points_but_the_drawn_one_before_it(
    points: list[int], codes: set[int], kinds: set[int]
) -> None:
    bot: Any = Rating(points, bytes(sorted(codes)))
    discards = [ACTIONS[code] for code in sorted(codes)]
    best = max(discards, key=lambda action: (points[action.tile], action.tsumogiri))
    assert bot.discard(bot) is best
    of_kinds = [action for action in discards if tile_kind(action.tile) in kinds]
    best_of_kinds = max(
        of_kinds, key=lambda action: (points[action.tile], action.tsumogiri), default=None
    )
    assert bot.discard(bot, kinds) is best_of_kinds


def test_copies_of_the_kinds_in_a_mask_are_added_up() -> None:
    unseen = np.arange(34, dtype=np.int8) % 5
    assert tiles_of(0, unseen) == 0
    assert tiles_of(1 << 4 | 1 << 33, unseen) == 4 + 3
