"""Techniques that the paper names and does not build, each in positions made by hand."""

import numpy as np
import pytest

from mjbot.game.rules.kinds import hand_counts
from mjbot.game.table.state import ACCEPTED, ANKAN
from mjbot.game.table.view import View
from mjbot.protocol.tiles import TILE_NAMES, parse_tiles, tile_kind
from mjbot.strategies.evaluation.fast_riichi.steps import FastRiichi
from mjbot.strategies.evaluation.pair.situation import PairSituation
from mjbot.strategies.evaluation.pair.techniques import (
    add_dora,
    danger_after,
    held_back,
    last_drawer,
    loose_kinds,
    open_way,
    points_of_call,
    send_last_tile,
    spared_danger,
    spares_ally,
)
from mjbot.strategies.evaluation.pair.value import (
    deal_in_cost,
    discard_danger,
    expected_win,
    tenpai_by_turn,
    value_after,
)
from mjbot.strategies.fold_recognition_plus import FoldRecognitionPlus
from mjbot.strategy.pair.member import Ally
from mjbot.strategy.pair.messages import SharedHand, game_fingerprint

ALLY = 1
TENPAI = "234m66m345p678s24s"  # waits on 3s
HOPELESS = "2468m19p3579s256z"


def names(text: str) -> tuple[str, ...]:
    return tuple(TILE_NAMES[tile] for tile in parse_tiles(text))


def situation(view: View, ally: str = TENPAI, waits: str = "3s") -> PairSituation:
    held = SharedHand(
        game=game_fingerprint(()), kyoku=0, honba=0, turn=0, seat=ALLY, hand=names(ally),
        waits=names(waits),
    )  # fmt: skip
    return PairSituation(view, Ally(view, held))


def base(view: View):
    return FastRiichi().discard(view)


# --- danger ----------------------------------------------------------------------------------


def test_the_ally_is_no_danger_and_genbutsu_is_none(position):
    view = position("1405m19p55s2234z1s9s", drawn="3m", rivers={2: "46m1z"}, riichi=[1, 2])
    danger = dict(zip(TILE_NAMES, discard_danger(view, (0, ALLY)).tolist(), strict=False))
    assert danger["4m"] == pytest.approx(0, abs=1)  # genbutsu of the riichi; seat 3 is far
    assert 0 < danger["1m"] < danger["5p"] == danger["5pr"]
    view.state["riichi"][2] = 0
    assert discard_danger(view, (0, ALLY)).max() < min(danger["1m"], danger["5p"])


def test_tenpai_grows_with_melds_and_turns(position):
    view = position("1405m19p55s2234z1s9s", drawn="3m", rivers={2: "46m1z", 3: "1z"}, riichi=[])
    chances = [tenpai_by_turn(view, seat) for seat in (3, 2)]
    view.state["n_melds"][2] = 2
    view.state["is_open"][2] = 1
    chances.append(tenpai_by_turn(view, 2))
    view.state["riichi"][2] = ACCEPTED
    chances.append(tenpai_by_turn(view, 2))
    assert chances == sorted(set(chances))
    assert chances[-1] == 1


def test_a_win_is_expected_to_be_worth_more_with_riichi_dora_and_as_dealer(position):
    """6,000 points in riichi, 4,000 closed, 2,500 open, 1,500 more a dora; a dealer's by half."""
    view = position("46m19p55s2z", drawn="3m", melds=["777z", "345p"], markers="6z", riichi=[2])
    assert expected_win(view, 2) == 6000
    assert expected_win(view, 3) == 4000
    assert expected_win(view, 0) == (2500 + 3 * 1500) * 1.5
    view.state["meld_red"][0, 1] = 2
    assert expected_win(view, 0) == (2500 + 4 * 1500) * 1.5
    view.state["dealer"] = 2
    assert expected_win(view, 2) == 9000
    assert expected_win(view, 0) == 2500 + 4 * 1500


def test_dealing_in_costs_points_and_the_rank_that_goes_with_them(position):
    view = position("1405m19p55s2234z1s9s", drawn="3m")
    view.state["round"] = view.state["rules"]["last_round"] = 7
    view.state["dealer"] = 3
    view.state["scores"] = (31_000, 20_000, 30_000, 19_000)
    assert deal_in_cost(view, (0, ALLY), 0, 2, 400) == 400
    assert deal_in_cost(view, (0, ALLY), 0, 2, 2000) == 2000 + 30_000  # oka, too


# --- playing on ------------------------------------------------------------------------------


@pytest.mark.parametrize("own_points", [0, 8000])
@pytest.mark.parametrize("wall_left", [1, 8, 50])
def test_playing_on_is_what_all_who_may_win_first_make_of_it(position, wall_left, own_points):
    """A turn the ally wins on 1.7 tiles, we on 1.3, a tenpai rival seven times in a hundred."""
    view = position("123m456m789m23p55s", wall_left=wall_left, riichi=[2], offered="9s")
    view.state["sticks"] = 1
    here = situation(view)
    unseen = here.own_view.unseen
    chances = {
        ALLY: 1.7 * unseen[20] / unseen.sum(),
        2: 0.07,
        3: 0.07 * tenpai_by_turn(view, 3),
    }
    if own_points:
        chances[0] = 1.3 * (unseen[9] + unseen[12]) / unseen.sum()
    won = {
        0: (9000, -0, -4000, -4000),  # each rival pays half; the stick on the table beside
        ALLY: (0, 5900 + 1000, -2950, -2950),
        2: (-2000, -2000, 6000 + 1000, -2000),
        3: (-1334, -1334, -1334, 4000 + 1000),
    }
    rate = sum(chances.values())
    over = 1 - (1 - rate) ** (wall_left / 4)
    expected = (1 - over) * value_after(view, (0, ALLY), (0, 0, 0, 0))
    for seat, chance in chances.items():
        expected += over * chance / rate * value_after(view, (0, ALLY), won[seat], seat)
    assert here.value_of_playing_on(5900, own_points) == pytest.approx(expected)


# --- nakase ----------------------------------------------------------------------------------


RECKONER = FoldRecognitionPlus()


def points_of(position, ally: str, fed: str = "5p", seat: int = ALLY, **changes: object) -> float:
    view = position("23m8m4678p1578s99p", drawn=fed, **changes)
    held = SharedHand(
        game=game_fingerprint(()), kyoku=0, honba=0, turn=0, seat=seat, hand=names(ally),
        helps=names("5p"),
    )  # fmt: skip
    return points_of_call(PairSituation(view, Ally(view, held)), view.legal[-1], RECKONER)


def test_a_call_is_worth_the_more_the_less_time_is_left_for_a_closed_hand(position):
    closed = "234m66m346p678s24s"  # 1-shanten, and riichi with more points while there is time
    gains = [points_of(position, closed, wall_left=left) for left in (50, 20, 12, 8, 4)]
    assert gains[0] == 0
    assert gains == sorted(set(gains))


def test_a_call_is_worth_nothing_early_without_a_yaku(position):
    assert points_of(position, "123m99m346p789s24s") == 0
    assert points_of(position, "33m555777z46p46s2z") > 0


def test_a_call_for_tenpai_at_the_draw_is_worth_its_payment_and_no_more(position):
    assert 0 < points_of(position, "123m99m346p789s24s", wall_left=4) < RECKONER.tenpai_points


def test_what_the_ally_does_not_wish_or_may_not_call_is_worth_nothing(position):
    assert points_of(position, "234m66m346p678s24s", fed="6m", wall_left=12) == 0
    assert points_of(position, "234m66m346p678s24s", seat=3, wall_left=12) == 0  # of the left only


def test_the_ally_that_weighs_a_call_takes_us_for_harmless_and_sees_our_tiles(position):
    view = position("23m8m4678p1578s99p", drawn="5p", riichi=[0, 2])
    seen = situation(view).ally_after(view.legal[-1])
    assert not seen.riichi(0)
    assert seen.riichi(2)
    assert seen.unseen[tile_kind(TILE_NAMES.index("9p"))] == 2
    assert view.riichi(0)


# --- haitei-okuri ----------------------------------------------------------------------------


def test_who_draws_last():
    assert [last_drawer(3, left) for left in (1, 2, 3, 4)] == [0, 1, 2, 3]


CALLER = "1199m2255p3378s1z"
SAFE = {2: "1z9m", 3: "1z9m"}


def offered(position, wall_left: int, source: int = 2, **changes: object) -> View:
    rivers = {seat: tiles for seat, tiles in SAFE.items() if seat != source}
    return position(CALLER, offered="1m", source=source, wall_left=wall_left, rivers=rivers)


def test_the_last_tile_is_sent_to_a_tenpai_ally(position):
    view = offered(position, wall_left=1)  # seat 3 would draw it; after a pon seat 1 does
    assert str(send_last_tile(situation(view))) == "pon"


@pytest.mark.parametrize("wall_left", [2, 3, 4, 5, 0])
def test_a_call_that_sends_it_elsewhere_is_left(position, wall_left):
    assert send_last_tile(situation(offered(position, wall_left))) is None


def test_an_ally_that_is_not_tenpai_has_no_use_for_it(position):
    view = offered(position, wall_left=1)
    assert send_last_tile(situation(view, "234m66m345p678s2s9p", "")) is None


def test_nor_is_it_sent_at_the_price_of_the_own_tenpai(position):
    hand, safe = "11m234567p34588s", {3: "1z9m"}
    view = position(hand, offered="1m", source=2, wall_left=1, rivers=safe)
    assert view.waits
    assert {"pon"} < set(map(str, view.legal))
    assert send_last_tile(situation(view)) is None


def test_nor_is_it_sent_at_the_price_of_a_dangerous_discard(position):
    view = position("11455m4567p4567s", offered="1m", source=2, wall_left=1, riichi=[3])
    assert send_last_tile(situation(view)) is None


SWAPS = {"pon": ("111455m4567p456s", "1m"), "chi": ("56777m4567p4567s", "4m")}
"""Beside the called tile the hand keeps one that is safe and that kuikae forbids: 1m, 7m."""


@pytest.mark.parametrize("call", SWAPS)
def test_the_discard_after_it_is_one_that_kuikae_allows(position, call):
    hand, tile = SWAPS[call]
    safe = tile_kind(parse_tiles("1m" if call == "pon" else "7m")[0])
    view = position(hand, offered=tile, wall_left=1, riichi=[2])
    view.state["passed"][2:] = 1 << safe
    here = situation(view)
    (chosen,) = [action for action in view.legal if action.name == call]
    used = {"pon": "11m", "chi": "56m"}[call]
    left = view.hand - hand_counts(used)
    allowed = [kind for kind in left.nonzero()[0].tolist() if kind != safe]
    assert here.danger[safe] == 0
    assert danger_after(here, chosen) == min(here.danger[kind] for kind in allowed) > 100
    assert send_last_tile(here) is None


# --- dora-fuyashi ----------------------------------------------------------------------------


def test_a_kan_adds_dora_for_an_ally_in_riichi(position):
    view = position("1111m5p19p3579s23z", drawn="7z", riichi=[ALLY])
    assert str(add_dora(situation(view))) == "ankan 1m"


def test_but_not_without_its_riichi_nor_beside_a_rivals(position):
    assert add_dora(situation(position("1111m5p19p3579s23z", drawn="7z"))) is None
    view = position("1111m5p19p3579s23z", drawn="7z", riichi=[ALLY, 2])
    assert add_dora(situation(view)) is None


def test_a_fourth_kan_would_end_the_kyoku(position):
    view = position("1111m5p19p3579s23z", drawn="7z", riichi=[ALLY])
    view.state["kans"] = 3
    assert add_dora(situation(view)) is None


def test_but_one_seat_alone_may_declare_all_four(position):
    view = position("1111m5z", melds=["222p", "333p", "444s"], riichi=[ALLY], drawn="7z")
    view.state["kans"] = 3
    assert add_dora(situation(view)) is None
    view.state["meld_type"][0, :3] = ANKAN
    assert str(add_dora(situation(view))) == "ankan 1m"


def test_of_two_kans_the_concealed_one(position):
    view = position("1111m5p19p357s", drawn="5z", melds=["555z"], riichi=[ALLY])
    assert {action.name for action in view.legal} > {"ankan", "kakan"}
    assert str(add_dora(situation(view))) == "ankan 1m"


def test_without_a_kan_there_is_none(position):
    view = position(HOPELESS, drawn="7z", riichi=[ALLY])
    assert add_dora(situation(view)) is None


# --- open the way ----------------------------------------------------------------------------

WITH_SPARE = "234m66m345p67s5p9p1z"  # 9p and 1z are of no use to it


def test_tiles_that_the_ally_does_not_need_are_loose(position):
    view = position("5m1199p3579s2356z", drawn="7z")
    loose = loose_kinds(situation(view, WITH_SPARE, "").ally.view)
    assert {17, 27} <= {kind for kind in range(34) if loose >> kind & 1}
    assert not loose >> 1 & 1


IDLE_HANDS = ("5m19p245799s2356z", "5m789p245799s23z")
"""Of no use to themselves is the 9p of the first, but not of the second."""


def way_view(position, scores: tuple[int, int, int, int], hand: str = IDLE_HANDS[0]) -> View:
    view = position(hand, drawn="6z", rivers={2: "6z5z"}, riichi=[2])
    view.state["scores"] = scores
    view.state["round"] = view.state["rules"]["last_round"] = 0
    return view


def test_a_way_is_opened_for_an_ally_that_has_more_to_lose(position):
    view = way_view(position, (1_000, 40_000, 20_000, 39_000))
    safe = next(action for action in view.legal if action.tile == 31)
    assert str(open_way(situation(view, WITH_SPARE, ""), safe)) == "discard 9p"
    view.state["riichi"][2] = 0
    assert open_way(situation(view, WITH_SPARE, ""), safe) is None


def test_no_way_is_opened_at_the_price_of_the_own_first_place(position):
    view = way_view(position, (34_000, 1_000, 33_000, 32_000))
    safe = next(action for action in view.legal if action.tile == 31)
    assert open_way(situation(view, WITH_SPARE, ""), safe) is None


@pytest.mark.parametrize("hand", IDLE_HANDS)
@pytest.mark.parametrize("ally_points", range(30_000, 50_000, 2_000))
def test_the_way_is_worth_six_tenths_of_the_danger_that_it_spares(position, ally_points, hand):
    view = way_view(position, (21_000, ally_points, 20_000, 59_000 - ally_points), hand)
    here = situation(view, WITH_SPARE, "")
    loose, spared = loose_kinds(here.ally.view), spared_danger(here)
    ways = [action for action in here.view.discards if loose >> tile_kind(action.tile) & 1]
    gains = [0.6 * spared[tile_kind(way.tile)] - here.danger[way.tile] for way in ways]
    best = int(np.argmax(gains))
    for base in here.view.discards:
        pays = bool(gains[best] + here.danger[base.tile] >= 200)
        nearer = here.own_shanten(ways[best]) <= here.own_shanten(base)
        assert (open_way(here, base) is ways[best]) is (pays and nearer), str(base)


# --- spare the ally --------------------------------------------------------------------------

COMPLETE = "123m456m789m23p55s"  # waits on 1p and 4p


def spared(position, scores: tuple[int, int, int, int], last: int = 7, **changes: object) -> bool:
    view = position(COMPLETE, offered="1p", source=changes.pop("source", ALLY), **changes)
    view.state["scores"] = scores
    view.state["rules"]["last_round"] = last
    ron = next(action for action in view.legal if action.name == "ron")
    return spares_ally(situation(view, WITH_SPARE, ""), ron, 0)


EVEN = (25_000, 25_000, 25_000, 25_000)


def test_a_win_from_the_ally_that_changes_nothing_is_passed(position):
    assert spared(position, EVEN, riichi=[0])


def test_one_from_a_rival_is_not(position):
    assert not spared(position, EVEN, riichi=[0], source=2)


def test_nor_one_that_ends_the_kyoku_before_rivals_in_riichi_win(position):
    assert not spared(position, EVEN, riichi=[0, 2, 3], rivers={2: "1z", 3: "1z"})


def test_nor_one_that_wins_the_game_when_hardly_a_tile_is_left(position):
    won = {"last": 0, "riichi": [0], "wall_left": 4}
    assert not spared(position, (30_000, 20_000, 30_500, 19_500), **won)
    assert spared(position, (19_000, 31_000, 30_500, 19_500), **won)


# --- hold back -------------------------------------------------------------------------------


def test_waits_without_a_win_are_held_back(position):
    view = position(HOPELESS, drawn="7z")
    assert held_back(situation(view, waits="")) == 1 << 20
    assert held_back(situation(view)) == 0


def test_a_situation_leaves_the_view_as_it_was(position):
    view = position(HOPELESS, drawn="7z", rivers={2: "4z"}, riichi=[ALLY])
    before = np.array([view.state]).tobytes()
    here = situation(view)
    assert here.own_view.riichi(ALLY) is False
    assert here.danger.max() > 0
    assert np.array([view.state]).tobytes() == before


def test_the_ally_s_tiles_are_seen(position):
    view = position(HOPELESS, drawn="7z")
    here = situation(view)
    held = here.ally.view.hand
    assert held.sum() == 13
    assert np.array_equal(here.own_view.unseen, view.unseen - held)
    assert here.own_view.unseen.min() >= 0
