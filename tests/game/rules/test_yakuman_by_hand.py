"""Hands worked by hand for every yakuman (notation: see conftest)."""

from collections.abc import Callable

import pytest

from mjbot.game.rules import yaku_table as yaku
from mjbot.game.rules.wins import FIRST_TURN, IPPATSU, RIICHI, TSUMO

Score = Callable[..., tuple[set[int], int, int]]

EAST, SOUTH = 0, 1
PINFU = "234m456p678s99m34s+5s"

CASES = [
    (PINFU, TSUMO | FIRST_TURN, EAST, {yaku.TENHOU}),
    (PINFU, TSUMO | FIRST_TURN, SOUTH, {yaku.CHIIHOU}),
    ("23m99p+4m p555z p666z d777z", 0, SOUTH, {yaku.DAISANGEN}),
    ("222m444p666s99s88m+8m", TSUMO, SOUTH, {yaku.SUUANKOU}),
    ("222m444p99s88m+8m a6666s", TSUMO | RIICHI, SOUTH, {yaku.SUUANKOU}),
    ("222m444p666s888m9s+9s", 0, SOUTH, {yaku.SUUANKOU_TANKI}),
    ("222m444p666s888m9s+9s", TSUMO, SOUTH, {yaku.SUUANKOU_TANKI}),
    ("1122334455667z+7z", RIICHI | IPPATSU, SOUTH, {yaku.TSUUIISOU}),
    ("111z222z44z55z+5z p666z", 0, SOUTH, {yaku.TSUUIISOU}),
    ("234m4z+4z p111z p222z p333z", 0, SOUTH, {yaku.SHOUSUUSHII}),
    ("44z99m+4z p111z p222z p333z", 0, SOUTH, {yaku.DAISUUSHII}),
    ("223344s666s88s66z+6z", 0, SOUTH, {yaku.RYUUIISOU}),
    ("23s88s+4s p666s c234s p222s", 0, SOUTH, {yaku.RYUUIISOU}),
    ("111m11s99p+9p p999m p111p", 0, SOUTH, {yaku.CHINROUTOU}),
    ("1112245678999m+3m", 0, SOUTH, {yaku.CHUUREN}),
    ("1112345678999m+5m", 0, SOUTH, {yaku.CHUUREN_NINE_WAITS}),
    ("1112345678999p+9p", TSUMO, SOUTH, {yaku.CHUUREN_NINE_WAITS}),
    ("119m19p19s123456z+7z", 0, SOUTH, {yaku.KOKUSHI}),
    ("19m19p19s1234567z+7z", 0, SOUTH, {yaku.KOKUSHI_THIRTEEN_WAITS}),
    ("9p+9p a1111m d2222m k3333p d4444s", 0, SOUTH, {yaku.SUUKANTSU}),
    # Different yakuman add up.
    ("11z55z+1z p222z p333z p444z", 0, SOUTH, {yaku.DAISUUSHII, yaku.TSUUIISOU}),
    (
        "1z+1z a2222z a3333z a4444z a8888m",
        0,
        SOUTH,
        {yaku.SHOUSUUSHII, yaku.SUUANKOU_TANKI, yaku.SUUKANTSU},
    ),
    ("19m19p19s1234567z+7z", TSUMO | FIRST_TURN, EAST, {yaku.TENHOU, yaku.KOKUSHI_THIRTEEN_WAITS}),
]


@pytest.mark.parametrize(("hand", "flags", "seat", "ids"), CASES)
def test_yakuman(score: Score, hand: str, flags: int, seat: int, ids: set[int]) -> None:
    found, han, _ = score(hand, flags, seat)
    assert (found, han) == (ids, 13 * len(ids))


@pytest.mark.parametrize(
    ("hand", "flags", "ids"),
    [
        # A triplet completed by ron is not concealed.
        ("222m444p666s99s88m+8m", 0, {yaku.TOITOI, yaku.SANANKOU}),
        # A closed kan ends the first turn.
        ("456p678s99m34s+5s a2222m", TSUMO | FIRST_TURN, {yaku.TSUMO}),
        # Nine gates need the hand without melds.
        ("2345678899m+9m a1111m", TSUMO, {yaku.TSUMO, yaku.CHINITSU}),
    ],
)
def test_near_misses(score: Score, hand: str, flags: int, ids: set[int]) -> None:
    assert score(hand, flags)[0] == ids
