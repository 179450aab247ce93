"""What a win or a draw moves between the seats, in points.

No rounding up to mangan (4 han 30 fu stays 7,700), 13 han count as one yakuman, honba are 300.
Seats are absolute 0..3, deltas ``int32[4]``.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.runtime.compiler.compiled import compiled
from protocol.rules import STICK_POINTS

HONBA_POINTS: Final = 100  # from each payer of a self-draw
NOTEN_POINTS: Final = 3000
MANGAN: Final = 2000
YAKUMAN_BASE: Final = 8000


class Parties(NamedTuple):
    """The seats concerned by a win.

    ``loser`` is the seat dealing in, or ``winner`` itself for a self-draw.  ``liable`` is the
    seat that answers for a daisangen or daisuushii (pao), -1 for none.
    """

    winner: int
    loser: int
    dealer: int
    liable: int


@compiled
def base_points(han: int, fu: int, yakuman: int) -> int:
    """Return the points that a non-dealer pays for a self-draw, before rounding.

    >>> base_points(4, 30, 0), base_points(5, 30, 0), base_points(13, 30, 0), base_points(26, 0, 2)
    (1920, 2000, 8000, 16000)
    """
    if yakuman:
        return YAKUMAN_BASE * yakuman
    if han >= 13:
        return YAKUMAN_BASE
    if han >= 11:
        return 3 * MANGAN
    if han >= 8:
        return 2 * MANGAN
    if han >= 6:
        return MANGAN + MANGAN // 2
    if han == 5:
        return MANGAN
    return min(MANGAN, fu << (2 + han))


@compiled
def ron_points(base: int, winner_is_dealer: bool) -> int:
    """Return what the discarder pays, without honba.

    >>> ron_points(1920, False), ron_points(1920, True)
    (7700, 11600)
    """
    return _rounded(base * (6 if winner_is_dealer else 4))


@compiled
def tsumo_points(base: int, dealer_involved: bool) -> int:
    """Return what one payer of a self-draw pays, without honba.

    ``dealer_involved``: the winner or this payer is the dealer.

    >>> tsumo_points(640, False), tsumo_points(640, True)
    (700, 1300)
    """
    return _rounded(base * (2 if dealer_involved else 1))


@compiled
def win_deltas(base: int, parties: Parties, honba: int, sticks: int) -> NDArray[np.int32]:
    """Return the change of each seat's score for one win.

    At a double ron pass honba and sticks for the first winner only, 0 and 0 for the other.
    The liable seat pays a self-draw alone; a ron it shares with the discarder, half each, the
    honba falling to the liable seat; both hold for yakuman that come on top, too.

    >>> win_deltas(1920, Parties(1, 3, 0, -1), 1, 2).tolist()
    [0, 10000, 0, -8000]
    >>> win_deltas(8000, Parties(1, 3, 0, 2), 1, 0).tolist()
    [0, 32300, -16300, -16000]
    >>> win_deltas(8000, Parties(1, 1, 0, 2), 1, 0).tolist()
    [0, 32300, -32300, 0]
    """
    deltas = np.zeros(4, np.int32)
    winner, loser, dealer, liable = parties
    if winner == loser and liable < 0:
        for seat in range(4):
            if seat != winner:
                share = tsumo_points(base, dealer == winner or dealer == seat)
                deltas[seat] -= share + HONBA_POINTS * honba
    else:
        total = ron_points(base, winner == dealer)
        if liable < 0:
            liable = loser
        discarder_share = 0 if loser == winner or loser == liable else total // 2
        deltas[loser] -= discarder_share
        deltas[liable] -= total - discarder_share + 3 * HONBA_POINTS * honba
    paid = deltas[0] + deltas[1] + deltas[2] + deltas[3]  # for `sum()` numba compiles 0.1 s
    deltas[winner] = STICK_POINTS * sticks - paid
    return deltas


@compiled
def draw_deltas(tenpai: NDArray[np.int8]) -> NDArray[np.int32]:
    """Return the payments at an exhaustive draw; ``tenpai[4]`` is 1 for a tenpai seat.

    >>> draw_deltas(np.array([1, 0, 0, 0], np.int8)).tolist()
    [3000, -1000, -1000, -1000]
    """
    deltas = np.zeros(4, np.int32)
    n_tenpai = tenpai[0] + tenpai[1] + tenpai[2] + tenpai[3]
    if n_tenpai in (0, 4):
        return deltas
    for seat in range(4):
        if tenpai[seat]:
            deltas[seat] = NOTEN_POINTS // n_tenpai
        else:
            deltas[seat] = -NOTEN_POINTS // (4 - n_tenpai)
    return deltas


@compiled
def nagashi_deltas(nagashi: NDArray[np.int8], dealer: int) -> NDArray[np.int32]:
    """Return the payments at a nagashi mangan; ``nagashi[4]`` is 1 for seats that have it.

    Each is paid like a self-drawn mangan without honba; sticks stay on the table.

    >>> nagashi_deltas(np.array([0, 1, 0, 0], np.int8), 0).tolist()
    [-4000, 8000, -2000, -2000]
    """
    deltas = np.zeros(4, np.int32)
    for seat in range(4):
        if nagashi[seat]:
            deltas += win_deltas(MANGAN, Parties(seat, seat, dealer, -1), 0, 0)
    return deltas


@compiled
def _rounded(points: int) -> int:
    return (points + 99) // 100 * 100
