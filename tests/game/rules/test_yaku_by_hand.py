"""Hands worked by hand for every yaku, closed and open (notation: see conftest)."""

from collections.abc import Callable

import pytest

from mjbot.game.rules import yaku_table as yaku
from mjbot.game.rules.kinds import hand_counts
from mjbot.game.rules.scoring import score_win
from mjbot.game.rules.wins import (
    CHANKAN,
    DOUBLE_RIICHI,
    HAITEI,
    HOUTEI,
    IPPATSU,
    RIICHI,
    RINSHAN,
    TSUMO,
    new_win,
)

Score = Callable[..., tuple[set[int], int, int]]

PINFU = "234m456p678s99m34s+5s"
KANCHAN = "234m456p678s99m35s+4s"  # no yaku of its own
FOUR_SOU, FIVE_SOU = 21, 22
OPEN = "456p678s99m34s+5s c123m"  # none either

CASES = [
    # How the tile came.
    (PINFU, 0, {yaku.PINFU}, 1, 30),
    (PINFU, TSUMO, {yaku.TSUMO, yaku.PINFU}, 2, 20),
    (PINFU, RIICHI, {yaku.RIICHI, yaku.PINFU}, 2, 30),
    (PINFU, RIICHI | IPPATSU, {yaku.RIICHI, yaku.IPPATSU, yaku.PINFU}, 3, 30),
    (PINFU, DOUBLE_RIICHI, {yaku.DOUBLE_RIICHI, yaku.PINFU}, 3, 30),
    (PINFU, DOUBLE_RIICHI | RIICHI, {yaku.DOUBLE_RIICHI, yaku.PINFU}, 3, 30),
    (PINFU, TSUMO | HAITEI, {yaku.TSUMO, yaku.HAITEI, yaku.PINFU}, 3, 20),
    (PINFU, HOUTEI, {yaku.HOUTEI, yaku.PINFU}, 2, 30),
    (PINFU, CHANKAN, {yaku.CHANKAN, yaku.PINFU}, 2, 30),
    (KANCHAN, 0, set(), 0, 0),
    (KANCHAN, HOUTEI, {yaku.HOUTEI}, 1, 40),
    (OPEN, 0, set(), 0, 0),
    (OPEN, TSUMO, set(), 0, 0),
    (OPEN, TSUMO | HAITEI, {yaku.HAITEI}, 1, 30),
    # The tile after a kan is not the last one of the wall, and a closed kan leaves the hand closed.
    ("456p678s99m34s+5s a2222m", TSUMO | RINSHAN, {yaku.TSUMO, yaku.RINSHAN}, 2, 40),
    ("456p678s99m34s+5s k2222m", TSUMO | RINSHAN | HAITEI, {yaku.RINSHAN}, 1, 30),
    # Runs.
    ("223344m678s99m67p+8p", 0, {yaku.IIPEIKOU, yaku.PINFU}, 2, 30),
    ("23344m678s99m678p+2m", 0, {yaku.IIPEIKOU, yaku.PINFU}, 2, 30),
    ("234m678s99m67p+8p c234m", 0, set(), 0, 0),
    ("223344m667788p9s+9s", 0, {yaku.RYANPEIKOU}, 3, 40),
    ("222233334444m5p+5p", 0, {yaku.TANYAO, yaku.RYANPEIKOU}, 4, 40),
    ("123456m99p456s78m+9m", 0, {yaku.ITTSUU, yaku.PINFU}, 3, 30),
    ("123456m99p78m+9m c456s", 0, {yaku.ITTSUU}, 1, 30),
    ("234m234p99p678s34s+2s", 0, {yaku.SANSHOKU, yaku.PINFU}, 3, 30),
    ("234m99p678s34s+2s c234p", 0, {yaku.SANSHOKU}, 1, 30),
    # Triplets.
    ("222m222p99p678s22s+2s", 0, {yaku.SANSHOKU_DOUKOU}, 2, 40),
    ("222m99p678s22s+2s p222p", 0, {yaku.SANSHOKU_DOUKOU}, 2, 30),
    ("222m44p99p+4p p666s p999m", 0, {yaku.TOITOI}, 2, 40),
    ("222m444p99p666s78s+9s", 0, {yaku.SANANKOU}, 2, 50),
    ("222m444p99p78s+9s a6666s", 0, {yaku.SANANKOU}, 2, 60),
    ("222m444p66s99p+6s p999m", TSUMO, {yaku.TOITOI, yaku.SANANKOU}, 4, 40),
    ("222m444p66s99p+6s p999m", 0, {yaku.TOITOI}, 2, 40),
    ("99p67s+8s d2222m k4444p d6666s", 0, {yaku.SANKANTSU}, 2, 50),
    ("77z678s23m+4m p555z p666z", 0, {yaku.SHOUSANGEN, yaku.HAKU, yaku.HAKU + 1}, 4, 30),
    # Simples, outside tiles, one suit.
    ("234m456p678s88m34s+5s", 0, {yaku.TANYAO, yaku.PINFU}, 2, 30),
    ("456p678s88m34s+5s c234m", 0, {yaku.TANYAO}, 1, 30),
    ("123m789p11z123s78s+9s", 0, {yaku.CHANTA}, 2, 40),
    ("123m789p11z78s+9s c123s", 0, {yaku.CHANTA}, 1, 30),
    ("123m789p99m123s78s+9s", 0, {yaku.JUNCHAN, yaku.PINFU}, 4, 30),
    ("123m789p99m78s+9s c123s", 0, {yaku.JUNCHAN}, 2, 30),
    ("111m99p11z+1z p999s p111p", 0, {yaku.HONROUTOU, yaku.TOITOI, yaku.ROUND_WIND}, 5, 40),
    ("123456m99m234m44z+4z", 0, {yaku.HONITSU}, 3, 40),
    ("123456m99m44z+4z c234m", 0, {yaku.HONITSU}, 2, 30),
    ("123456m99m23478m+9m", 0, {yaku.CHINITSU, yaku.ITTSUU, yaku.PINFU}, 9, 30),
    ("12345699m78m+9m c234m", 0, {yaku.CHINITSU, yaku.ITTSUU}, 6, 30),
    # Seven pairs.
    ("1122m3344p5577s6z+6z", 0, {yaku.CHIITOI}, 2, 25),
    ("1122m3344p5577s6z+6z", TSUMO, {yaku.TSUMO, yaku.CHIITOI}, 3, 25),
    ("1199m1199p1199s1z+1z", 0, {yaku.HONROUTOU, yaku.CHIITOI}, 4, 25),
    ("2244m3366p4488s6s+6s", 0, {yaku.TANYAO, yaku.CHIITOI}, 3, 25),
    ("1111m3344p5577s6z+6z", 0, set(), 0, 0),
    # Honours that are yaku, and the guest winds that are not.
    ("678s23m99p+4m p555z c678p", 0, {yaku.HAKU}, 1, 30),
    ("678s23m99p+4m p666z c678p", 0, {yaku.HAKU + 1}, 1, 30),
    ("678s23m99p+4m p777z c678p", 0, {yaku.HAKU + 2}, 1, 30),
    ("678s23m99p+4m p111z c678p", 0, {yaku.ROUND_WIND}, 1, 30),
    ("678s23m99p+4m p222z c678p", 0, {yaku.SEAT_WIND + 1}, 1, 30),
    ("678s23m99p+4m p333z c678p", 0, set(), 0, 0),
]


@pytest.mark.parametrize(("hand", "flags", "ids", "han", "fu"), CASES)
def test_yaku(score: Score, hand: str, flags: int, ids: set[int], han: int, fu: int) -> None:
    assert score(hand, flags) == (ids, han, fu)


@pytest.mark.parametrize(
    ("hand", "ids", "han", "fu"),
    [
        # The winning tile completes a run (pinfu) rather than the pair ...
        ("234m456p678s2344s+4s", {yaku.TANYAO, yaku.PINFU}, 2, 30),
        # ... but the pair where two fu lift the hand from 30 to 40.
        ("222m2344s+4s p555z p333p", {yaku.HAKU}, 1, 40),
        # Three triplets or three equal runs.
        ("222333444m99p67s+8s", {yaku.SANANKOU}, 2, 50),
        ("111222333m99p78s+9s", {yaku.JUNCHAN, yaku.IIPEIKOU, yaku.PINFU}, 5, 30),
        # Two twin runs are worth more than seven pairs.
        ("112233m778899p1s+1s", {yaku.JUNCHAN, yaku.RYANPEIKOU}, 6, 40),
    ],
)
def test_the_reading_that_pays_most_counts(
    score: Score, hand: str, ids: set[int], han: int, fu: int
) -> None:
    assert score(hand) == (ids, han, fu)


def test_dora_add_to_a_yaku() -> None:
    win = new_win()
    win["hand"], win["win_kind"] = hand_counts("234m456p678s99m345s"), FIVE_SOU
    win["dora"], win["ura"], win["red"] = 3, 0, 1
    assert score_win(win) == (5, 30, 1 << yaku.PINFU | 1 << yaku.DORA | 1 << yaku.RED_DORA, 0)


def test_dora_alone_are_no_yaku() -> None:
    win = new_win()
    win["hand"], win["win_kind"] = hand_counts("234m456p678s99m345s"), FOUR_SOU
    win["dora"], win["ura"], win["red"] = 3, 2, 1
    assert score_win(win) == (0, 0, 0, 0)
