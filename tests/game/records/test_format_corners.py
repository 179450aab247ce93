"""Everything that can happen in a hand, played at our own table, as Tenhou's formats tell it."""

from typing import Any

import pytest
from msgspec.structs import replace

from mjbot.game.records.complete import complete
from mjbot.game.records.mjlog import read_mjlog
from mjbot.game.referee import Position
from mjbot.game.table.settle import has_nagashi
from mjbot.protocol import messages as m
from mjbot.protocol.tenhou.tiles import RED_TILES
from tests.game.records.formats import (
    calls_of,
    check_round_trips,
    first_kyoku,
    hand_of,
    report,
    tags_of,
)
from tests.game.referee.test_exhaustive_draws import edge_draws
from tests.game.referee.test_kans import two_added_kans

ON_NINE_SOU = ["123456m123p44z11s", "234567m234p22s78s", "345678p345s88m78s", "345678m45677p78s"]
NINE_KINDS = "19m19p19s123z2345m"
SEATS = ("right", "across", "left")


def names(tiles):
    return [RED_TILES[tile] for tile in tiles]


def seated(caller, **hands):
    """Return four hands; ``own`` is the caller's, the others are named by where they sit."""
    seats = {"own": caller} | {place: (caller + 1 + at) % 4 for at, place in enumerate(SEATS)}
    return [next((text for at, text in hands.items() if seats[at] == s), "") for s in range(4)]


# --- calls -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "tile", "action", "claimed", "text"),
    [
        ("23m", "1m", "chi low", "1m", "c111213"),
        ("13m", "2m", "chi middle", "2m", "c121113"),
        ("12m", "3m", "chi high", "3m", "c131112"),
        ("06m", "4m", "chi low with red", "4m", "c145116"),
        ("34m", "0m", "chi high", "5mr", "c511314"),
        ("40p", "6p", "chi high with red", "6p", "c262452"),
    ],
)
def test_a_chi_from_the_left(scripted, own, tile, action, claimed, text) -> None:
    hands = seated(1, own=own, left=tile)
    game = first_kyoku(scripted(hands).discard(0, claimed).do(1, action))
    call = calls_of(game)[0]
    assert (call.kind, call.source, RED_TILES[call.tile]) == ("chi", 3, claimed)
    assert text in hand_of(game)[8]
    check_round_trips(game)


@pytest.mark.parametrize(
    ("place", "source", "text"),
    [("right", 1, "4141p41"), ("across", 2, "41p4141"), ("left", 3, "p414141")],
)
def test_a_pon_from_each_side(scripted, place, source, text) -> None:
    caller = 1
    hands = seated(caller, own="11z", **{place: "1z"})
    game = first_kyoku(scripted(hands).discard((caller + source) % 4, "E").do(caller, "pon"))
    assert [(call.kind, call.source) for call in calls_of(game)] == [("pon", source)]
    assert text in hand_of(game)[8]
    check_round_trips(game)


@pytest.mark.parametrize(
    ("own", "tile", "claimed", "action", "text"),
    [
        ("55s", "0s", "5sr", "pon", "35p5335"),
        ("50s", "5s", "5s", "pon with red", "35p3553"),
        ("550s", "5s", "5s", "pon", "35p3535"),
    ],
)
def test_a_red_five_in_a_pon(scripted, own, tile, claimed, action, text) -> None:
    game = first_kyoku(scripted(seated(0, own=own, across=tile)).discard(2, claimed).do(0, action))
    called = next(call for call in calls_of(game) if call.kind == "pon")
    assert RED_TILES[called.tile] == claimed
    assert text in hand_of(game)[5]
    check_round_trips(game)


@pytest.mark.parametrize(
    ("place", "source", "text"),
    [("right", 1, "151551m15"), ("across", 2, "15m151551"), ("left", 3, "m15151551")],
)
def test_an_open_kan_from_each_side(scripted, place, source, text) -> None:
    hands = seated(2, own="550m", **{place: "5m"})
    game = scripted(hands, rinshan="1z").discard((2 + source) % 4, "5m").do(2, "daiminkan")
    game = first_kyoku(game)
    assert [(call.kind, call.source) for call in calls_of(game)] == [("daiminkan", source)]
    draws, plays = hand_of(game)[11:13]
    assert plays[draws.index(text)] == 0
    assert draws[draws.index(text) + 1] == 41
    check_round_trips(game)


def test_an_open_kan_of_the_red_five(scripted) -> None:
    game = scripted(seated(2, own="555m", left="0m"), rinshan="1z").discard(1, "5mr")
    game = first_kyoku(game.do(2, "daiminkan"))
    assert [RED_TILES[call.tile] for call in calls_of(game)] == ["5mr"]
    assert "m51151515" in hand_of(game)[11]
    check_round_trips(game)


@pytest.mark.parametrize(
    ("place", "source", "text"),
    [("right", 1, "4141p41"), ("across", 2, "41p4141"), ("left", 3, "p414141")],
)
def test_a_riichi_tile_that_is_called_is_paid_first(scripted, place, source, text) -> None:
    declarer = 0
    caller = (declarer - source) % 4
    hands = [READY[0], "", "", ""]
    hands[caller] = "11z"
    game = scripted(hands, "1z").riichi(declarer, "E").do(caller, "pon")
    game = first_kyoku(game)
    names = ["D" if tag.name[1:].isdigit() else tag.name for tag in tags_of(game)]
    first = names.index("REACH")
    assert names[first : first + 4] == ["REACH", "D", "REACH", "N"]
    assert hand_of(game)[6][0] == "r60"
    assert text in hand_of(game)[5 + 3 * caller]
    check_round_trips(game)


@pytest.mark.parametrize(
    ("place", "source", "text"),
    [("right", 1, "4141k4141"), ("across", 2, "41k414141"), ("left", 3, "k41414141")],
)
def test_an_added_kan_tells_whose_tile_its_pon_claimed(scripted, place, source, text) -> None:
    hands = seated(3, own="111z", **{place: "1z"})
    game = scripted(hands).discard((3 + source) % 4, "E").do(3, "pon").do(3, "kakan E")
    game = first_kyoku(game)
    pon, kakan = calls_of(game)
    assert (kakan.kind, kakan.source, kakan.claimed) == ("kakan", source, pon.tile)
    assert sorted((pon.tile, *pon.own)) == sorted(kakan.own)
    assert text in hand_of(game)[15]
    check_round_trips(game)


@pytest.mark.parametrize(
    ("own", "pon", "added", "text"),
    [("550p", "pon", "5pr", "25k522525"), ("550p", "pon with red", "5p", "25k252552")],
)
def test_a_red_five_in_an_added_kan(scripted, own, pon, added, text) -> None:
    game = scripted(seated(1, own=own, across="5p")).discard(3, "5p").do(1, pon)
    game = first_kyoku(game.do(1, "kakan 5p"))
    assert RED_TILES[calls_of(game)[1].tile] == added
    assert text in hand_of(game)[9]
    check_round_trips(game)


@pytest.mark.parametrize(("own", "text"), [("1111z", "414141a41"), ("5550s", "353535a53")])
def test_a_concealed_kan(scripted, own, text) -> None:
    game = first_kyoku(scripted([own, "", "", ""]).do(0, "ankan"))
    (call,) = calls_of(game)
    assert (call.kind, call.source) == ("ankan", 0)
    assert text in hand_of(game)[6]
    check_round_trips(game)


# --- dora after kans -------------------------------------------------------------------------


def since_first_call(game):
    """The tags from the first call to the next discard, by name; draws and discards by letter."""
    short = [tag.name if not tag.name[1:].isdigit() else tag.name[0] for tag in tags_of(game)]
    first = short.index("N")
    last = next(
        at for at, name in enumerate(short) if at > first and name in "DEFG" and name != "D"
    )
    return short[first : last + 1]


def test_the_marker_of_a_concealed_kan_comes_before_the_draw(scripted) -> None:
    game = first_kyoku(scripted(["", "1111m", "", ""]).do(1, "ankan 1m").do(1, "discard"))
    assert since_first_call(game) == ["N", "DORA", "U", "E"]
    check_round_trips(game)


def test_the_marker_of_an_open_kan_comes_before_the_discard(scripted) -> None:
    game = scripted(["1m", "111m"]).discard(0, "1m").do(1, "daiminkan").do(1, "discard")
    game = first_kyoku(game)
    assert since_first_call(game) == ["N", "U", "DORA", "E"]
    assert len(hand_of(game)[2]) == 2
    check_round_trips(game)


def test_a_concealed_kan_after_an_open_one_turns_both_markers(scripted) -> None:
    game = scripted(["1m", "111m2222m"]).discard(0, "1m").do(1, "daiminkan")
    game = first_kyoku(game.do(1, "ankan 2m").do(1, "discard"))
    assert since_first_call(game) == ["N", "U", "N", "DORA", "DORA", "U", "E"]
    check_round_trips(game)


def test_an_added_kan_after_another_turns_the_first_marker_before_its_draw(scripted) -> None:
    game = first_kyoku(two_added_kans(scripted).do(1, "discard"))
    short = [type(entry.event).__name__ for entry in game.entries]
    first = short.index("Kakan")
    kans = ["Kakan", "Tsumo", "Kakan", "Dora", "Tsumo", "Dora", "Dahai"]
    assert short[first : first + 7] == kans
    check_round_trips(game)


def test_a_robbed_second_kan_turns_nothing(scripted) -> None:
    game = two_added_kans(scripted, robber="456m23p567p88s678s").do(2, "ron")
    game = first_kyoku(game)
    assert not tags_of(game, "DORA")
    (win,) = tags_of(game, "AGARI")
    assert (win["who"], win["fromWho"]) == ("2", "1")
    assert "3," in win["yaku"]
    assert "槍槓(1飜)" in hand_of(game)[16][2]
    check_round_trips(game)


@pytest.mark.parametrize(("pon", "added"), [("pon", "5pr"), ("pon with red", "5p")])
def test_a_robbed_kan_of_a_five(scripted, pon, added) -> None:
    robber = "123456m46p234s99s"
    game = scripted(["5p", "550p", robber, ""], dora="3z").discard(0, "5p").do(1, pon)
    game = first_kyoku(game.do(1, "kakan 5p").do(2, "ron"))
    (win,) = tags_of(game, "AGARI")
    assert RED_TILES[int(win["machi"])] == added
    assert win["yaku"].startswith("3,1")
    assert not tags_of(game, "DORA")
    check_round_trips(game)


def test_a_kan_won_on_the_replacement_tile_shows_no_new_marker(scripted) -> None:
    hands = ["9p", "999p123456m78s11s"]
    game = scripted(hands, "1z", rinshan="9s", dora="3z8s").discard(0, "9p")
    game = first_kyoku(game.do(1, "daiminkan").do(1, "tsumo"))
    assert len(hand_of(game)[2]) == 1
    check_round_trips(game)


# --- wins ------------------------------------------------------------------------------------


def test_two_rons_are_two_tags_the_nearest_first(scripted) -> None:
    position = Position(honba=2, sticks=1, scores=(24000, 25000, 25000, 25000))
    game = scripted(ON_NINE_SOU, "9s", dora="3z", position=position)
    game = first_kyoku(game.discard(0, "9s").together({1: "ron", 3: "ron", 2: "pass"}))
    first, second = tags_of(game, "AGARI")
    assert (first["who"], first["ba"]) == ("1", "2,1")
    assert (second["who"], second["ba"]) == ("3", "2,0")
    assert second["sc"] == "224,-10,276,0,250,0,250,10"
    assert first["machi"] == second["machi"]
    result = hand_of(game)[16]
    assert [result[0], result[1], result[3]] == [
        "和了", [-1600, 2600, 0, 0], [-1000, 0, 0, 1000],
    ]  # fmt: skip
    check_round_trips(game)


def test_two_rons_pay_the_sticks_and_end_the_game_in_the_last(scripted) -> None:
    position = Position(7, honba=1, sticks=2, scores=(30000, 20000, 27900, 20100))
    game = scripted(ON_NINE_SOU, "9s", dora="3z", position=position)
    game.discard(3, "9s").together({1: "ron", 2: "ron"})
    assert game.referee.over
    game = first_kyoku(game)
    first, last = tags_of(game, "AGARI")
    assert ("owari" in first.attributes, "owari" in last.attributes) == (False, True)
    assert (first["ba"], last["ba"]) == ("1,2", "1,0")
    check_round_trips(game)


def test_a_ronned_riichi_is_not_accepted(scripted) -> None:
    game = first_kyoku(scripted(ON_NINE_SOU, "9s", dora="3z").riichi(0, "9s").do(1, "ron"))
    assert [tag["step"] for tag in tags_of(game, "REACH")] == ["1"]
    assert hand_of(game)[6] == ["r60"]
    check_round_trips(game)


def test_three_rons_abort(scripted) -> None:
    game = scripted(ON_NINE_SOU, "9s").riichi(0, "9s")
    game = first_kyoku(game.together({1: "ron", 2: "ron", 3: "ron"}))
    (tag,) = tags_of(game, "RYUUKYOKU")
    assert tag["type"] == "ron3"
    assert {f"hai{seat}" for seat in (1, 2, 3)} == {key for key in tag.attributes if "hai" in key}
    assert hand_of(game)[16] == ["三家和了"]
    check_round_trips(game)


def three_dragons(scripted, after):
    hands = ["5z", "556677z234m567p8s", "6z", "7z"]
    game = scripted(hands, "1m1m1m1m" + after, dora="3z", position=Position(honba=1))
    for seat, dragon, thrown in ((0, "P", "2m"), (2, "F", "3m"), (3, "C", "4m")):
        game.discard(seat, dragon).do(1, "pon").discard(1, thrown)
    return game


def test_a_liable_seat_is_named_at_a_self_draw(scripted) -> None:
    game = first_kyoku(three_dragons(scripted, "9p9p9p8s").do(1, "tsumo"))
    (win,) = tags_of(game, "AGARI")
    assert (win["paoWho"], win["who"], win["fromWho"]) == ("3", "1", "1")
    assert (win["yakuman"], win["ten"].split(",")[1:]) == ("39", ["32000", "5"])
    assert hand_of(game)[16][2] == [1, 1, 3, "役満8000-16000点", "大三元(役満)"]
    check_round_trips(game)


def test_a_liable_seat_shares_a_ron(scripted) -> None:
    game = first_kyoku(three_dragons(scripted, "8s").discard(2, "8s").do(1, "ron"))
    (win,) = tags_of(game, "AGARI")
    assert (win["paoWho"], win["fromWho"]) == ("3", "2")
    assert win["sc"] == "250,0,250,323,250,-160,250,-163"
    assert hand_of(game)[16][2][:4] == [1, 2, 3, "役満32000点"]
    check_round_trips(game)


def test_a_liable_seat_that_deals_in_pays_all(scripted) -> None:
    game = first_kyoku(three_dragons(scripted, "9p8s").discard(3, "8s").do(1, "ron"))
    (win,) = tags_of(game, "AGARI")
    assert (win["fromWho"], win["sc"]) == ("3", "250,0,250,323,250,0,250,-323")
    check_round_trips(game)


def test_stacked_yakuman_are_listed_without_han_and_all_laid_on_the_liable_seat(scripted) -> None:
    hands = ["13z", "11223344z5z234m9p", "2z", "4z"]
    game = scripted(hands, "1p1p1p1p2p2p2p3p3p3p5z", dora="9s")
    for seat, wind, thrown in ((0, "E", "2m"), (2, "S", "3m"), (0, "W", "4m"), (3, "N", "9p")):
        game.discard(seat, wind).do(1, "pon").discard(1, thrown)
    game = first_kyoku(game.do(1, "tsumo"))
    (win,) = tags_of(game, "AGARI")
    assert (win["yakuman"], win["paoWho"]) == ("42,49", "3")
    assert "yaku" not in win.attributes
    assert win["ten"].split(",")[1:] == ["64000", "5"]
    assert win["sc"] == "250,0,250,640,250,0,250,-640"
    check_round_trips(game)


FLUSH = "123456789m2350m"


@pytest.mark.parametrize(
    ("riichi", "limit", "text"),
    [(False, "4", "三倍満36000点"), (True, "5", "役満48000点")],
)
def test_thirteen_han_are_a_yakuman_that_lists_its_yaku(scripted, riichi, limit, text) -> None:
    hands = [FLUSH, "4m", "", ""]
    game = scripted(hands, "2z", dora="9m", ura="9m")
    game = game.riichi(0, "S") if riichi else game.discard(0, "S")
    game = first_kyoku(game.discard(1, "4m").do(0, "ron"))
    (win,) = tags_of(game, "AGARI")
    assert win["ten"].split(",")[2] == limit
    assert "yakuman" not in win.attributes
    assert win["yaku"].endswith("52,1,54,1,53,1" if riichi else "52,1,54,1")
    assert text in hand_of(game)[16][2][3]
    check_round_trips(game)


def test_thirteen_orphans_have_no_fu(scripted) -> None:
    game = scripted(["19m19p19s1234567z", "1z"], "5m", dora="5p").discard(0, "5m")
    game = first_kyoku(game.discard(1, "E").do(0, "ron"))
    (win,) = tags_of(game, "AGARI")
    assert (win["yakuman"], win["ten"]) == ("48", "0,48000,5")
    check_round_trips(game)


def test_a_riichi_shows_ura_markers_and_counts_them_even_if_none(scripted) -> None:
    hands = ["1111m23456p789s1z"]
    game = scripted(hands, "1z", rinshan="2z7p", ura="5z5z", dora="3z6z").do(0, "ankan 1m")
    game = first_kyoku(game.riichi(0, "S").do(0, "tsumo"))
    (win,) = tags_of(game, "AGARI")
    assert win["yaku"].endswith("53,0")
    assert names(win.integers("doraHaiUra")) == ["P", "P"]
    assert hand_of(game)[3] == [45, 45]
    assert not any("裏ドラ" in text for text in hand_of(game)[16][2][3:])
    check_round_trips(game)


@pytest.mark.parametrize("shown", ["dora", "ura"])
def test_red_fives_may_show_up_as_markers_alone(scripted, shown) -> None:
    hands = ["123456789m23p77s", "4p199p1199s11223z", "1368p2468s33445z", "78p1368s1455667z"]
    markers = {"dora": "9m", "ura": "9p", shown: "0s"}
    game = scripted(hands, "2z1z", **markers).riichi(0, "S")
    game = first_kyoku(game.discard(1, "4p").do(0, "ron"))
    (win,) = tags_of(game, "AGARI")
    assert "5sr" in names(win.integers("doraHai" if shown == "dora" else "doraHaiUra"))
    assert str(game.entries).count("5sr") == 2  # the marker, or the win, and its record
    check_round_trips(game)


def test_a_dealers_self_draw_below_a_limit_tells_what_each_pays(scripted) -> None:
    game = first_kyoku(scripted(["123456789m99p45s"], "6s", dora="7z").do(0, "tsumo"))
    text = hand_of(game)[16][2][3]
    assert text.endswith("点∀")
    check_round_trips(game)


# --- draws -----------------------------------------------------------------------------------

READY = ["123456789m1199p", "123456789s2244z", "345678m345678p2s", "456m456p456s6677z"]


def test_nine_terminals_show_the_fourteen_tiles(scripted) -> None:
    game = first_kyoku(scripted([NINE_KINDS, "", "", ""], "5p").do(0, "nine terminals"))
    (tag,) = tags_of(game, "RYUUKYOKU")
    assert tag["type"] == "yao9"
    assert len(tag.integers("hai0")) == 14
    assert hand_of(game)[16] == ["九種九牌"]
    check_round_trips(game)


def test_four_winds(scripted) -> None:
    game = scripted(["2z", "2z", "2z", "2z"])
    for seat in range(4):
        game.discard(seat, "S")
    game = first_kyoku(game)
    (tag,) = tags_of(game, "RYUUKYOKU")
    assert (tag["type"], "hai0" in tag.attributes) == ("kaze4", False)
    assert hand_of(game)[16] == ["四風連打"]
    check_round_trips(game)


def declare_three(scripted, draws):
    game = scripted(READY, draws)
    return game.riichi(0, "E").riichi(1, "W").riichi(2, "E")


def test_four_riichi_are_paid_before_the_draw(scripted) -> None:
    game = first_kyoku(declare_three(scripted, "1z3z1z3z").riichi(3, "W"))
    last, tag = tags_of(game)[-2:]
    assert (last.name, last["step"], last["ten"]) == ("REACH", "2", "240,240,240,240")
    assert (tag["type"], tag["ba"]) == ("reach4", "0,4")
    assert hand_of(game)[16] == ["四家立直"]
    check_round_trips(game)


def test_a_ronned_fourth_riichi_is_a_win(scripted) -> None:
    game = first_kyoku(declare_three(scripted, "1z3z1z9p").riichi(3, "9p").do(0, "ron"))
    (win,) = tags_of(game, "AGARI")
    assert win["ba"] == "0,3"
    check_round_trips(game)


def test_four_kans_of_two_players(scripted) -> None:
    hands = ["1111m2222m", "3333m4444m666s", "", ""]
    game = scripted(hands, "7p6s", rinshan="1z2z3z9p").do(0, "ankan 1m").do(0, "ankan 2m")
    game = game.discard(0, "S").do(1, "ankan 3m").do(1, "ankan 4m").discard(1, "9p")
    game = first_kyoku(game)
    assert tags_of(game, "RYUUKYOKU")[0]["type"] == "kan4"
    assert hand_of(game)[16] == ["四槓散了"]
    assert len(hand_of(game)[2]) == 5
    check_round_trips(game)


NOTEN = "147m369p369s1234z"
ONE_READY = "123456789m55z22p"
MORE_READY = ("123456789p66z33m", "123456789s77z44m")


@pytest.mark.parametrize(
    ("ready", "result"),
    [
        ((), ["全員不聴"]),
        ((2,), ["流局", [-1000, -1000, 3000, -1000]]),
        ((0, 1, 2), ["流局", [1000, 1000, 1000, -3000]]),
    ],
)
def test_an_exhaustive_draw_shows_who_is_tenpai(scripted, ready, result) -> None:
    hands = [ONE_READY if seat in ready else NOTEN for seat in range(4)]
    for seat, hand in zip(ready[1:], MORE_READY, strict=False):
        hands[seat] = hand
    game = first_kyoku(scripted(hands))
    (tag,) = tags_of(game, "RYUUKYOKU")
    assert "type" not in tag.attributes
    assert [seat for seat in range(4) if f"hai{seat}" in tag.attributes] == list(ready)
    assert hand_of(game)[16] == result
    check_round_trips(game)


def test_all_four_tenpai(scripted) -> None:
    game = first_kyoku(scripted(ON_NINE_SOU))
    assert [f"hai{seat}" in tags_of(game, "RYUUKYOKU")[0].attributes for seat in range(4)] == [
        True
    ] * 4
    assert hand_of(game)[16] == ["全員聴牌"]
    check_round_trips(game)


def test_nagashi_shows_who_is_tenpai_and_pays_a_mangan(scripted) -> None:
    hands = ["234678m234678p5s", NOTEN, "", ""]
    game = first_kyoku(scripted(hands, edge_draws((1,), hands)))
    (tag,) = tags_of(game, "RYUUKYOKU")
    assert (tag["type"], tag["sc"]) == ("nm", "250,-40,250,80,250,-20,250,-20")
    assert "hai0" in tag.attributes
    assert hand_of(game)[16] == ["流し満貫", [-4000, 8000, -2000, -2000]]
    check_round_trips(game)


def test_two_nagashi_are_both_paid(scripted) -> None:
    hands = [NOTEN, "258p369s258m44z", "", ""]
    game = first_kyoku(scripted(hands, edge_draws((1, 2), hands)))
    (tag,) = tags_of(game, "RYUUKYOKU")
    assert (tag["type"], tag["sc"]) == ("nm", "250,-80,250,60,250,60,250,-40")
    assert hand_of(game)[16][:2] == ["流し満貫", [-8000, 6000, 6000, -4000]]
    check_round_trips(game)


def test_a_draw_without_a_reason_is_a_nagashi_of_one_of_four_seats(
    scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def checked(state: Any, seat: int) -> bool:
        assert seat in range(4)  # compiled code checks no index
        return bool(has_nagashi(state, seat))

    monkeypatch.setattr(f"{complete.__module__}.has_nagashi", checked)
    for seats, kind in ((), "fanpai"), ((3,), "nagashimangan"):
        hands = ["234678m234678p5s", NOTEN, "", ""]
        game = scripted(hands, edge_draws(seats, hands) if seats else "").finish_kyoku()
        events = [
            replace(event, reason=None) if isinstance(event, m.Ryukyoku) else event
            for event in game.events[: game.names().index("EndKyoku") + 1]
        ]
        (draw,) = [one for one in report(events).entries if isinstance(one.event, m.Ryukyoku)]
        assert draw.event.reason == kind


# --- the end of the game ---------------------------------------------------------------------


def ended(scripted):
    position = Position(7, sticks=1, scores=(20300, 24400, 18700, 35600))
    game = scripted(ON_NINE_SOU, "9s", dora="3z", position=position)
    game.discard(3, "9s").together({1: "ron", 2: "pass"})
    assert game.referee.over
    return first_kyoku(game)


def test_owari_tells_scores_and_unrounded_placement_points(scripted) -> None:
    game = ended(scripted)
    (win,) = tags_of(game, "AGARI")
    assert win["owari"] == "203,-19.7,264,6.4,187,-31.3,346,44.6"
    check_round_trips(game)


@pytest.mark.parametrize("points", ["-20,6,-31,45", "-19.7,6.4,-31.3,44.6"])
def test_owari_is_read_before_and_after_the_change_of_rounding(tenhou, points) -> None:
    a, b, c, d = points.split(",")
    owari = f'owari="203,{a},264,{b},187,{c},346,{d}"'
    document = tenhou.mjlog(
        tenhou.deal(), "T60", "D60", tenhou.OVER.split("owari=")[0] + owari + "/>"
    )
    assert list(read_mjlog(document, "x"))[-1].event == m.EndGame(
        scores=(20300, 26400, 18700, 34600)
    )


def test_leftover_sticks_go_to_the_first_in_owari_only(scripted) -> None:
    position = Position(7, sticks=2, scores=(20000, 25000, 18000, 35000))
    hands = [NOTEN, NOTEN, NOTEN, ONE_READY]
    game = scripted(hands, position=position).finish_kyoku()
    assert game.referee.over
    game = first_kyoku(game)
    (tag,) = tags_of(game, "RYUUKYOKU")
    assert tag["sc"].endswith("350,30")
    assert tag["owari"].startswith("190,")
    assert tag["owari"].split(",")[6] == "400"
    check_round_trips(game)


# --- ids -------------------------------------------------------------------------------------


@pytest.mark.parametrize("drawn", [True, False])
def test_of_equal_tiles_the_drawn_one_is_known_by_its_id(scripted, drawn) -> None:
    text = "discard 1m (drawn)" if drawn else "discard 1m"
    game = first_kyoku(scripted(["1m"], "1m").do(0, text))
    draw, discard = [tag.name for tag in tags_of(game) if tag.name[1:].isdigit()][:2]
    assert (draw[1:] == discard[1:]) is drawn
    check_round_trips(game)


def test_a_game_without_red_fives_is_written_as_one(scripted) -> None:
    swap = {"5mr": "5m", "5pr": "5p", "5sr": "5s"}

    def plain(value):
        if isinstance(value, tuple):
            return tuple(map(plain, value))
        return swap.get(value, value) if isinstance(value, str) else value

    game = scripted(ON_NINE_SOU, "9s", dora="3z").discard(0, "9s").together({1: "ron", 2: "pass"})
    names = game.names()
    events = game.events[: names.index("Hora")]
    events = [
        type(event)(**{name: plain(getattr(event, name)) for name in event.__struct_fields__})
        for event in events
    ]
    without = report([*events, m.Hora(actor=1, target=0), m.EndKyoku()])
    assert int(tags_of(without, "GO")[0]["type"]) & 2
    check_round_trips(without)
