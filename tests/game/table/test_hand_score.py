"""Hands that are written down: scored as other programs do, or refused with the cause."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mjbot.cli.main import main
from mjbot.game.rules import wins
from mjbot.game.rules.hand_notation import read_hand, read_tiles
from mjbot.game.rules.kinds import count_kinds
from mjbot.game.rules.shapes import ANKAN
from mjbot.game.rules.yaku_table import YAKU
from mjbot.game.table.hand_score import WinningHand, score_hand
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import N_KINDS, N_TILES, WIND_NAMES, tile_kind
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.languages import LANGUAGES, using_language
from mjbot.viewer.drawing.tiles import tile_text
from proof.made_wins import MadeWin, made_wins
from proof.oracles import mahjong_payments, mahjong_score

FLAGS = {
    "riichi": wins.RIICHI,
    "double_riichi": wins.DOUBLE_RIICHI,
    "ippatsu": wins.IPPATSU,
    "haitei": wins.HAITEI,
    "houtei": wins.HOUTEI,
    "rinshan": wins.RINSHAN,
    "chankan": wins.CHANKAN,
    "first_turn": wins.FIRST_TURN,
}


def tiles(ids: Iterable[int]) -> str:
    """Return ids 0..135 in writing; the first of a five is red."""
    return "".join(
        f"{0 if id_ in (16, 52, 88) else id_ // 4 % 9 + 1}{'mpsz'[id_ // 36]}" for id_ in ids
    )


def markers(kinds: Iterable[int]) -> str:
    return tiles(4 * kind + 1 for kind in kinds)


def written(made: MadeWin, honba: int = 0, sticks: int = 0) -> WinningHand:
    rest, tile, *melds = made.tile_ids()
    texts = [
        f"[{tiles(ids)}]" if type_ == ANKAN else f"({tiles(ids)})"
        for (type_, _), ids in zip(made.melds, melds, strict=True)
    ]
    return WinningHand(
        hand=tiles(rest) + "".join(texts),
        dora=markers(made.dora_markers),
        ura=markers(made.ura_markers),
        seat=WIND_NAMES[made.seat_wind],
        round=WIND_NAMES[made.round_wind],
        honba=honba,
        sticks=sticks,
        **{"tsumo" if made.flags & wins.TSUMO else "ron": tiles(tile)},
        **{name: bool(made.flags & flag) for name, flag in FLAGS.items()},
    )


def made_of(win: WinningHand) -> MadeWin:
    """Return a hand in writing as the oracles take it."""
    hand, (tile,) = read_hand(win.hand), read_tiles(win.ron or win.tsumo)
    concealed = [*hand.concealed, tile]
    flags = sum(flag for name, flag in FLAGS.items() if getattr(win, name))
    return MadeWin(
        concealed=tuple(map(tile_kind, concealed)),
        melds=tuple((meld.type, meld.kind) for meld in hand.melds),
        win_kind=tile_kind(tile),
        flags=flags | (wins.TSUMO if win.tsumo else 0),
        seat_wind=WIND_NAMES.index(win.seat),
        round_wind=WIND_NAMES.index(win.round),
        dora_markers=tuple(map(tile_kind, read_tiles(win.dora))),
        ura_markers=tuple(map(tile_kind, read_tiles(win.ura))),
        red_suits=frozenset(red - N_KINDS for red in [*hand.tiles, tile] if red >= N_KINDS),
    )


RULES = st.builds(
    Rules,
    open_tanyao=st.booleans(),
    double_yakuman=st.booleans(),
    counted_yakuman=st.booleans(),
    kiriage=st.booleans(),
)


@settings(max_examples=300, database=None)
@given(made_wins(), st.integers(0, 3), st.integers(0, 3), RULES)
def test_random_wins_are_scored_and_paid_as_by_mahjong(
    made: MadeWin, honba: int, sticks: int, rules: Rules
) -> None:
    held = count_kinds(made.kinds())
    shown = held + count_kinds([*made.dora_markers, *made.ura_markers])
    assume(shown.max() <= 4)
    assume(not (made.flags & wins.CHANKAN and held[made.win_kind] > 1))
    han, fu, ids = mahjong_score(made, rules)
    if not han:
        with pytest.raises(ArgumentError, match="no yaku: the hand is complete"):
            score_hand(written(made), rules)
        return
    score = score_hand(written(made, honba, sticks), rules)
    assert (score.han, score.fu) == (han, fu)
    assert {name for name, _ in score.yaku} == {YAKU[yaku].name for yaku in ids}
    assert sum(value for _, value in score.yaku) == han
    assert sum(part.fu for part in score.fu_parts) == fu
    one, each, total = mahjong_payments(made, honba, sticks, rules)
    assert score.received == total == sum(score.payments.values()) + 1000 * sticks
    if not made.flags & wins.TSUMO:
        assert score.payments == {"discarder": one}
    elif made.seat_wind == 0:
        assert score.payments == {"S": one, "W": one, "N": one}
    else:
        others = {wind: each for wind in "ESWN" if wind != WIND_NAMES[made.seat_wind]}
        assert score.payments == others | {"E": one}


THREE = Rules(players=3)
KITA = (
    WinningHand(hand="12399p456s66778s", tsumo="5s", riichi=True, kita=2, dora="3z"),
    WinningHand(hand="12399p456s66778s", tsumo="5s", seat="W", kita=1, rinshan=True, ura=""),
    WinningHand(hand="1199m1199p11s44z9s", ron="9s", seat="S", kita=2, dora="9m", honba=2),
    WinningHand(hand="19m19p19s1234567z", ron="1m", kita=3),
    WinningHand(hand="11m456s(111z)(555p)78s", ron="9s", round="S", kita=4, dora="33z", sticks=1),
)


@pytest.mark.parametrize("win", KITA, ids=lambda win: win.hand)
def test_norths_of_three_players_are_scored_as_by_mahjong(win: WinningHand) -> None:
    score, made = score_hand(win, THREE), made_of(win)
    one, each, total = mahjong_payments(made, win.honba, win.sticks, THREE, win.kita)
    assert score.received == total
    others = {wind: each for wind in "SW" if wind != win.seat}
    children = dict.fromkeys("SW", one) if win.seat == "E" else {"E": one} | others
    assert score.payments == (children if win.tsumo else {"discarder": one})


PART = Rules.read({"rule_set": "mahjong-soul"})
DRAGONS = "22z1m1m(555z)(666z)(777z)"
WINDS = "5z(1111z)[2222z](333z)(444z)"
PAO = (
    (DRAGONS, {"ron": "1m", "honba": 1}, Rules(), {"discarder": 16000, "W": 16300}),
    (DRAGONS, {"tsumo": "1m", "honba": 1}, Rules(), {"W": 32300}),
    (DRAGONS, {"tsumo": "1m"}, THREE, {"W": 24000}),
    (WINDS, {"ron": "5z", "seat": "E"}, Rules(), {"discarder": 48000, "W": 48000}),
    (WINDS, {"ron": "5z"}, PART, {"discarder": 64000, "W": 32000}),
    (WINDS, {"tsumo": "5z", "honba": 1}, PART, {"E": 16000, "W": 72300, "N": 8000}),
)
"""Halves by ron, the whole by draw; where the part counts, big four winds are two yakuman of three:
the other one is paid as without pao (docs/rules.md 2.6, RiichiEnv's tests of pao)."""


@pytest.mark.parametrize(("hand", "how", "rules", "payments"), PAO)
def test_a_liable_seat_pays_its_yakuman(hand, how, rules, payments) -> None:
    win = WinningHand(**{"hand": hand, "seat": "S", "liable": "W"} | how)
    score = score_hand(win, rules)
    assert score.payments == payments
    assert score.received == sum(payments.values())


HAND = "123m406p789s55z67s"

REFUSED = {
    ("123m", "--ron 5s"): "wrong number of tiles: 3 concealed tiles without the winning one,"
    " but with 0 melds there are 13",
    ("123m406p789s55z67s5s", "--ron 5s"): "wrong number of tiles: 14 concealed tiles",
    ("123m406p789s55z67s(123m)", "--ron 5s"): "13 concealed tiles without the winning one,"
    " but with 1 meld there are 10",
    ("1s(123m)(123m)(123m)(123m)(123m)", "--ron 1s"): "5 tiles of 1m in hand, indicators and river",
    ("1s(123m)(123p)(123s)(456m)(789m)", "--ron 1s"): "5 melds, but a hand has 4 at most",
    ("5555m123p789s66z4m", "--ron 5m"): "5 tiles of 5m in hand, indicators and river",
    (HAND, "--ron 5s --dora 555z"): "5 tiles of P in hand, indicators and river",
    (HAND, "--ron 0s --dora 0p"): "2 red fives 5pr, but there is one",
    (HAND, "--ron 1m"): "not a winning hand with 1m: it waits on 5s 8s",
    ("123m406p789s5z169s", "--ron 5s"): "not a winning hand with 5s: it is 1-shanten",
    ("99m45s(678p)(123m)(789p)", "--ron 6s --dora 8m"): "no yaku: the hand is complete",
    (HAND, "--ron 5s --river 8s9m"): "furiten: 8s is among the own discards",
    (HAND, ""): "the winning tile: give one, by ron or by tsumo",
    (HAND, "--ron 5s --tsumo 5s"): "the winning tile: give one, by ron or by tsumo",
    (HAND, "--ron 58s"): "the winning tile '58s': expected one tile",
    ("123m456p789x", "--ron 5s"): "expected digits followed by m, p, s or z",
    ("99m45s(124m)(123m)(789p)", "--ron 6s"): "meld (124m): neither a run of three nor",
    ("99m45s(1234z)(123m)(789p)", "--ron 6s"): "meld (1234z): neither a run of three nor",
    ("99m45s(890m)(123m)(789p)", "--ron 6s"): "meld (890m): neither a run of three nor",
    ("99m45s[111m](123m)(789p)", "--ron 6s"): "meld [111m]: write (123m) or (555p)",
    ("99m45s(111z)(123m)(789p)", "--ron 6s --riichi"): "impossible: riichi with an open hand",
    (HAND, "--ron 5s --ippatsu"): "impossible: ippatsu without riichi",
    (HAND, "--ron 5s --dora 1m --ura 1m"): "impossible: ura dora without riichi",
    (HAND, "--ron 5s --riichi --ura 1m"): "0 dora and 1 ura indicators: at most 5",
    (HAND, "--ron 5s --haitei"): "impossible: haitei by ron: the last discard is houtei",
    (HAND, "--tsumo 5s --houtei"): "impossible: houtei by tsumo",
    (HAND, "--tsumo 5s --rinshan"): "impossible: rinshan without a tsumo after an own kan",
    (HAND, "--tsumo 5s --chankan"): "impossible: chankan by tsumo",
    (HAND.replace("67s", "34s").replace("789s", "555s"), "--ron 5s --chankan"): "chankan of a tile",
    (HAND, "--ron 5s --first-turn"): "impossible: first turn by ron",
    (HAND, "--tsumo 5s --first-turn --river 1m"): "first turn after a call, a discard or riichi",
    (HAND, "--ron 5s --honba -1"): "honba: -1 is not 0 to",
    (HAND, "--ron 5s --kita 1"): "impossible: kita with four players",
    (HAND, "--ron 5s --kita 5 --rules players=3"): "kita: 5 is not 0 to 4",
    (HAND, "--ron 5s --rules players=3"): "1 tile of 2m in hand, indicators and river, but the"
    " game has 0",
    ("22p78s(123p)(111p)(111z)", "--ron 9s --rules players=3"): "impossible: a chi with three",
    ("11p456s(111z)(444z)78s", "--ron 9s --kita 2 --rules players=3"): "5 tiles of N in hand",
    (DRAGONS, "--ron 1m --seat N --rules players=3"): "impossible: a seat N of three players",
    (DRAGONS, "--ron 1m --seat S --liable S"): "impossible: the winner as the liable seat",
    (HAND, "--ron 5s --liable S"): "a liable seat without melds of all dragons or all winds",
    ("22z1m1m[5555z][6666z][7777z]", "--ron 1m --liable S"): "all winds, one of them called",
}


@pytest.mark.parametrize(("hand", "options"), REFUSED)
def test_wrong_hands_are_refused_with_the_cause(hand: str, options: str, capsys) -> None:
    assert main(["score", hand, *options.split()]) == ExitCode.BAD_ARGUMENTS
    printed = capsys.readouterr()
    assert not printed.out and printed.err.count("\n") == 1
    assert REFUSED[hand, options] in printed.err


def test_rules_of_the_table_count() -> None:
    hand = WinningHand(hand="22345m67p456s(678m)", ron="8p", seat="S")
    assert score_hand(hand).yaku == (("all simples", 1),)
    with pytest.raises(ArgumentError, match="no yaku: the hand is complete"):
        score_hand(hand, Rules(open_tanyao=False))
    with pytest.raises(ArgumentError, match="1 red five 5pr, but the rules have none"):
        score_hand(WinningHand(hand=HAND, ron="5s"), Rules(red_fives=False))


PRINTED = """\
round wind East  1 han
1 han, 60 fu = 20 base + 16 open kan of East + 16 concealed kan of 2m + 2 self-draw + 6 rounded up
2,000 points
paid by East 1,100, West 600, North 600; received 2,300
"""


def test_the_score_is_printed_and_written_as_json(capsys) -> None:
    words = ["score", "99m45s(678p)(1111z) [2222m]", "--tsumo", "6s", "--seat", "S", "--honba", "1"]
    assert main(words) == ExitCode.OK
    assert capsys.readouterr().out == PRINTED
    assert main([*words, "--json"]) == ExitCode.OK
    report = json.loads(capsys.readouterr().out)
    assert report["yaku"] == [{"name": "round wind East", "han": 1}]
    assert report["payments"] == {"E": 1100, "W": 600, "N": 600}
    assert sum(part["fu"] for part in report["fu_parts"]) == report["fu"] == 60


@pytest.mark.parametrize(
    ("hand", "options", "printed"),
    [
        ("1112345678999m", "--ron 5m --seat S --rules double_yakuman=yes", "64,000 points, double"),
        ("1112223334445z", "--ron 5z --rules double_yakuman=yes", "240,000 points, 5x yakuman\n"),
        ("222333444m6667p", "--ron 7p", "four concealed triplets, pair wait  yakuman\n"),
    ],
)
def test_how_often_a_yakuman_counts_is_printed(hand, options, printed, capsys) -> None:
    assert main(["score", hand, *options.split()]) == ExitCode.OK
    assert printed in capsys.readouterr().out


def wide(text):
    """Return the full-width forms of ASCII."""
    return "".join(chr(ord(letter) + 0xFEE0) if letter.isascii() else letter for letter in text)


DRAGONS = ("white dragon", "green dragon", "red dragon")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("honour", range(1, 8))
def test_honours_are_printed_by_their_names(honour, language, capsys) -> None:
    """As pair, concealed triplet, pon and kan: never by a letter of the wire."""
    hands = [
        f"123m406p789s11s{honour}{honour}z --ron 1s",
        f"123m406p1s{honour}{honour}{honour}z(678s) --ron 1s",
        f"123m406p1s({honour}{honour}{honour}z)(678s) --ron 1s",
        f"123m406p1s[{honour}{honour}{honour}{honour}z](678s) --ron 1s",
    ]
    for text in hands:
        hand, *options = text.split()
        words = ["score", hand, *options, "--round", "E", "--seat", "S", "--language", language]
        assert main([*words, "--riichi"] if "(" not in hand else words) in (
            ExitCode.OK,
            ExitCode.BAD_ARGUMENTS,  # a wind of no seat is no yaku
        )
        out = capsys.readouterr().out
        assert not re.search(r"\b[PFC]\b|\b[ESWN]\b|[1-7]z", out)
        if language == "en" and honour > 4 and out:
            assert DRAGONS[honour - 5] in out


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("一萬", "1m"),
        ("二筒三索", "2p3s"),
        ("一二三萬四五六筒", "123m456p"),
        ("東南西北白發中", "1234567z"),
        ("东南西北白发中", "1234567z"),
        ("発", "6z"),
        ("東風南风西風北风白板發財发财紅中红中", "12345z66z77z"),
        (wide("123m406p1z"), "123m406p1z"),
        (wide("12萬3筒"), "12m3p"),
        ("12万3饼4条5條6餅", "12m3p45s6p"),
        ("赤五萬赤5筒赤伍索红五万紅5条", "0m0p0s0m0s"),
        ("四赤五六萬", "406m"),
        ("一万子九索", "1m9s"),
        ("一二　三 萬", "123m"),
    ],
)
def test_tiles_may_be_written_in_kanji(text, same) -> None:
    assert read_hand(text) == read_hand(same)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("赤三萬", "赤三 is no red five"),
        ("五赤萬", "赤萬 is no red five"),
        ("一二東", "一二 lacks its suit"),
        ("一二三", "'123' lacks its suit letter"),
        ("萬", "expected digits followed by m, p, s or z"),
        ("一二三月", "expected digits followed by m, p, s or z"),
    ],
)
def test_kanji_that_are_no_tiles_are_refused_as_they_were_written(text, problem) -> None:
    with pytest.raises(ValueError, match=problem) as caught:
        read_hand(text)
    assert text in str(caught.value)


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "en"])
def test_a_tile_that_is_shown_can_be_typed_again(language) -> None:
    with using_language(language):
        for tile in range(N_TILES):
            assert read_tiles(tile_text(tile)) == [tile]


def test_a_whole_win_in_kanji_scores_as_in_letters() -> None:
    kanji = WinningHand(
        hand=wide("九九萬四五索(六七八筒)") + "(東東東東)" + wide("[二二二二萬]"),
        tsumo="六索",
        dora="白",
        river="一萬",
        seat="S",
        honba=1,
    )
    plain = replace(kanji, hand="99m45s(678p)(1111z)[2222m]", tsumo="6s", dora="5z", river="1m")
    assert score_hand(kanji) == score_hand(plain)


def test_a_yakuman_is_printed_without_han(capsys) -> None:
    assert main(["score", "111222333444z5z", "--ron", "5z", "--seat", "W"]) == ExitCode.OK
    assert capsys.readouterr().out == (
        "four concealed triplets, pair wait  yakuman\n"
        "all honours                         yakuman\n"
        "big four winds                      yakuman\n"
        "96,000 points, triple yakuman\n"
        "paid by discarder 96,000; received 96,000\n"
    )
    words = [
        "2233445566778m",
        "--ron",
        "8m",
        "--riichi",
        "--dora",
        "16m",
        "--ura",
        "11m",
        "--seat",
        "W",
    ]
    assert main(["score", *words]) == ExitCode.OK
    counted = capsys.readouterr().out
    assert (
        "20 han, 30 fu = 20 base + 10 closed hand by ron\n32,000 points, counted yakuman\n"
        in counted
    )


SOUL = Rules().under("mahjong-soul")
HEAVEN = [
    # yakuman of a dealer's first 14 tiles: 48,000 each, of three players 32,000; the blessing
    # counts once, pure nine gates, thirteen waits, the pair wait and big four winds twice
    ("1112340567899m", "9m", 4, 3 * 48_000),
    ("1112345678999m", "5m", 4, 3 * 48_000),
    ("1112345678999p", "2p", 3, 3 * 32_000),
    ("19m19p19s1234567z", "7z", 4, 3 * 48_000),
    ("19m19p19s1234566z", "7z", 4, 3 * 48_000),
    ("19m19p19s1234566z", "7z", 3, 3 * 32_000),
    ("111222333m44p77z", "7z", 4, 3 * 48_000),
    ("111222333m444p7z", "7z", 4, 3 * 48_000),
    ("11222333444z66z", "1z", 3, 6 * 32_000),
    ("123456m789p23s55z", "1s", 4, 1 * 48_000),
]


@pytest.mark.parametrize(("hand", "tile", "players", "points"), HEAVEN)
def test_any_tile_of_a_blessing_of_heaven_is_the_winning_one(hand, tile, players, points) -> None:
    rules = Rules(players=players).under("mahjong-soul")
    assert score_hand(WinningHand(hand=hand, tsumo=tile, first_turn=True), rules).points == points


def test_the_tile_of_a_blessing_of_earth_is_the_drawn_one() -> None:
    pure, other = (
        score_hand(WinningHand(hand=hand, tsumo=tile, first_turn=True, seat="S"), SOUL).points
        for hand, tile in (("1112345678999m", "5m"), ("1112340567899m", "9m"))
    )
    assert (pure, other) == (3 * 32_000, 2 * 32_000)


def test_of_readings_that_pay_alike_the_one_with_most_fu_is_shown() -> None:
    """3p completes 33p as the pair, with 345p; or 345p by an open wait, with the pair 33p."""
    parts = score_hand(WinningHand(hand="3345p888m(777p)(067m)", ron="3p")).fu_parts
    assert ("pair wait", 2) in parts and sum(fu for name, fu in parts if name != "rounded up") == 28


RULES_OF_LEAGUES = {
    "ippatsu=no": ("--ron 5s --riichi --ippatsu", "the rules have no ippatsu (ippatsu=no)"),
    "ura_dora=no": ("--ron 5s --riichi --dora 1m --ura 1m", "no ura dora (ura_dora=no)"),
    "kan_ura=no": ("--ron 5s --riichi --dora 11m --ura 12m", "no ura dora of kans (kan_ura=no)"),
    "kan_dora=no": ("--ron 5s --dora 11m", "no dora of kans (kan_dora=no)"),
    "least_han=4": ("--ron 5s --riichi --dora 9p9p", "too few yaku: the rules need 4 han of yaku"),
    "renhou=no": ("--ron 5s --first-turn --seat S", "blessing of man (renhou=no)"),
    "renhou=mangan": ("--ron 5s --first-turn", "first turn by ron of the dealer"),
}


@pytest.mark.parametrize("rule", RULES_OF_LEAGUES)
def test_what_rules_exclude_is_refused_by_name(rule: str, capsys) -> None:
    options, problem = RULES_OF_LEAGUES[rule]
    assert main(["score", HAND, *options.split(), "--rules", rule]) != ExitCode.OK
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"tsumo": "5s", "rinshan": True, "haitei": True}, "rinshan and haitei"),
        ({"ron": "5s", "chankan": True}, ""),
    ],
)
def test_last_and_robbed_tiles(options, problem) -> None:
    """The replacement draw is never the last one; a robbed tile is the only one of the hand."""
    kan = WinningHand(hand="99m46s678p[2222m]111z", **options)
    if problem:
        with pytest.raises(ArgumentError, match=problem):
            score_hand(kan)
        return
    assert ("robbing a kan", 1) in score_hand(kan).yaku
    pair = WinningHand(hand="3455s678p[2222m]111z", ron="5s", chankan=True)
    with pytest.raises(ArgumentError, match="of which the robbed kan has the others"):
        score_hand(pair)


def test_ura_indicators_of_three_players_turn_from_1m_to_9m() -> None:
    hand = WinningHand(hand="99m123p456p789p23s", ron="1s", riichi=True, dora="9p", ura="1m")
    assert dict(score_hand(hand, Rules(players=3)).yaku)["ura dora"] == 2


@pytest.mark.parametrize("liable", ["E", "W"])
def test_the_liable_seat_is_not_the_discarder(liable: str) -> None:
    hand = WinningHand(hand="99m(555z)(666z)(777z)23s", ron="1s", seat="S", liable=liable)
    payments = score_hand(hand).payments
    assert payments == {"discarder": 16_000, liable: 16_000}


@pytest.mark.parametrize("reds", [1, 2, 3])
def test_red_fives_of_four_red_fives(reds: int) -> None:
    hand = WinningHand(hand="234m567m678p" + {1: "05p", 2: "00p", 3: "00p"}[reds] + "67s", ron="8s")
    rules = Rules(two_red_5p=True)
    if reds < 3:
        assert dict(score_hand(hand, rules).yaku)["red dora"] == reds
        with pytest.raises(ArgumentError, match="2 red fives 5pr, but there is one"):
            score_hand(WinningHand(hand="234m567m678p00p67s", ron="8s"))
        return
    with pytest.raises(ArgumentError, match="3 red fives 5pr, but there are two"):
        score_hand(WinningHand(hand="234m567m067p00p67s", ron="8s"), rules)
