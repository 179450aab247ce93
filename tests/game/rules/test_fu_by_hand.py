"""Fu worked by hand: each hand with the sum of its parts (notation: see conftest)."""

from collections.abc import Callable

import pytest

from mjbot.game.rules.wins import HAITEI, HOUTEI, RIICHI, TSUMO

Score = Callable[..., tuple[set[int], int, int]]

EAST, SOUTH = 0, 1
CLOSED_RON = 20 + 10

CASES = [
    ("234m456p678s99m34s+5s", RIICHI, CLOSED_RON),
    ("234m456p678s99m34s+5s", TSUMO, 20),  # pinfu: no fu for the self-draw
    ("456p678s99m34s+5s c123m", HOUTEI, 30),  # an open hand never has 20
    ("456p678s99m34s+5s c123m", TSUMO | HAITEI, 20 + 2),
    ("1122m3344p5577s6z+6z", TSUMO, 25),  # seven pairs: always, never rounded up
    # Waits: two sides 0; closed, edge and pair 2; two pairs 0.
    ("234m456p678s99m35s+4s", RIICHI, CLOSED_RON + 2),
    ("234m456p678s99m12s+3s", RIICHI, CLOSED_RON + 2),
    ("234m456p678s99m89s+7s", RIICHI, CLOSED_RON + 2),
    ("234m456p678s345s9m+9m", RIICHI, CLOSED_RON + 2),
    ("456p678s99m35s+4s c123m", TSUMO | HAITEI, 20 + 2 + 2),
    # Pairs: dragons and each wind of one's own 2, a double wind 4, guest winds 0.
    ("234m456p678s77z34s+5s", RIICHI, CLOSED_RON + 2),
    ("234m456p678s22z34s+5s", RIICHI, CLOSED_RON + 2),
    ("234m456p678s33z34s+5s", RIICHI, CLOSED_RON),
    ("666s11z35s+4s p222m p333p", TSUMO | HAITEI, 20 + 2 + 2 + 2 + 4 + 2 + 2),
    # Triplets: 2, doubled for outside tiles, doubled when concealed; a kan four times as much.
    ("34s99m+5s p222m p444p p555p", HOUTEI, 20 + 2 + 2 + 2),
    ("34s99m+5s p111m p999p p333z", HOUTEI, 20 + 4 + 4 + 4),
    ("222m444p34s99m+5s c678p", HOUTEI, 20 + 4 + 4),
    ("111m999p34s99m+5s c678p", HOUTEI, 20 + 8 + 8),
    ("34s99m+5s d2222m k4444p c678p", HOUTEI, 20 + 8 + 8),
    ("34s99m+5s d1111m k3333z c678p", HOUTEI, 20 + 16 + 16),
    ("34s99m+5s a2222m a4444p c678p", HOUTEI, 20 + 16 + 16),
    ("34s99m+5s a1111m a3333z c678p", HOUTEI, 20 + 32 + 32),
    ("8m+8m a1111m a1111p a9999s a3333z", TSUMO, 20 + 2 + 2 + 4 * 32),
    # A triplet completed by ron counts as open, by self-draw as concealed.
    ("444p22s99m+2s c678p c678m", HOUTEI, 20 + 4 + 2),
    ("444p99s88m+9s c678p p333z", HOUTEI, 20 + 4 + 4 + 4),
    ("444p99s88m+9s c678p p333z", TSUMO | HAITEI, 20 + 2 + 4 + 8 + 4),
]


@pytest.mark.parametrize(("hand", "flags", "parts"), CASES)
def test_fu(score: Score, hand: str, flags: int, parts: int) -> None:
    _, han, fu = score(hand, flags)
    assert han > 0
    assert fu == (25 if parts == 25 else -(-parts // 10) * 10)


def test_a_double_wind_pair_has_four_fu(score: Score) -> None:
    hand = "222m11z35s+4s p666s p333p"  # 20 + concealed 4 + pair + wait 2 + pons 2 + 2
    assert score(hand, HOUTEI, seat_wind=SOUTH, round_wind=EAST)[2] == 40  # 32
    assert score(hand, HOUTEI, seat_wind=2, round_wind=1)[2] == 30  # 30, a guest wind
    assert score("34s11z+5s p222m p333p p666s", HOUTEI, EAST, EAST)[2] == 30  # 26 + 4
    assert score("35s11z+4s p222m p333p p666s", HOUTEI, EAST, EAST)[2] == 40  # 26 + 4 + 2
    assert score("35s11z+4s p222m p333p p666s", HOUTEI, SOUTH, EAST)[2] == 30  # 26 + 2 + 2
