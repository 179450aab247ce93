"""What a win or a draw moves between the seats, in points.

Seats are absolute 0..3, deltas ``int32[4]``; with
three players the last of them is 0.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules import wins
from mjbot.game.rules.ruleset import RuleSet
from mjbot.runtime.compiler.compiled import compiled

MANGAN: Final = 2000
YAKUMAN_BASE: Final = 8000
KIRIAGE_BASE: Final = 1920  # 4 han 30 fu, 3 han 60 fu


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
def base_points(han: int, fu: int, yakuman: int, flags: int) -> int:
    """Return the points that a non-dealer pays for a self-draw, before rounding.

    ``flags`` are those of the win, of which the rules count (``RuleSet.scoring``).

    >>> base_points(4, 30, 0, 0), base_points(13, 30, 0, 0), base_points(26, 0, 2, 0)
    (1920, 8000, 16000)
    >>> base_points(4, 30, 0, wins.KIRIAGE), base_points(13, 30, 0, wins.NO_COUNTED_YAKUMAN)
    (2000, 6000)
    """
    if yakuman:
        return YAKUMAN_BASE * yakuman
    if han >= 13 and not flags & wins.NO_COUNTED_YAKUMAN:
        return YAKUMAN_BASE
    if han >= 11:
        return 3 * MANGAN
    if han >= 8:
        return 2 * MANGAN
    if han >= 6:
        return MANGAN + MANGAN // 2
    if han == 5:
        return MANGAN
    base = fu << (2 + han)
    if base >= MANGAN or (base == KIRIAGE_BASE and flags & wins.KIRIAGE):
        return MANGAN
    return base


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
def _share(base: int, dealer_wins: bool, dealer_pays: bool, rules: RuleSet) -> int:
    """Return what one payer of a self-draw pays, with a part of what a missing player would pay.

    Without tsumo loss two payers take half of the missing player's share each, rounded up.
    """
    share = tsumo_points(base, dealer_wins or dealer_pays)
    if rules.players == 3 and not rules.tsumo_loss:
        share += _rounded(tsumo_points(base, dealer_wins) // 2)
    return share


@compiled
def tsumo_total(base: int, dealer_wins: bool, rules: RuleSet) -> int:
    """Return what all payers of a self-draw pay together, without honba.

    >>> from mjbot.game.rules.ruleset import rule_set
    >>> from mjbot.protocol.rules import Rules
    >>> [tsumo_total(640, False, rule_set(Rules(players=players))) for players in (4, 3)]
    [2700, 2000]
    """
    others = (rules.players - 2) * _share(base, dealer_wins, False, rules)
    return _share(base, dealer_wins, not dealer_wins, rules) + others


@compiled
def win_deltas(
    base: int, parties: Parties, honba: int, sticks: int, rules: RuleSet
) -> NDArray[np.int32]:
    """Return the change of each seat's score for one win.

    At a double ron pass honba and sticks for the first winner only, 0 and 0 for the other.
    The liable seat pays a self-draw alone; a ron it shares with the discarder, half each, the
    honba falling to the liable seat; both hold for yakuman that come on top, too.

    >>> from mjbot.game.rules.ruleset import rule_set
    >>> win_deltas(1920, Parties(1, 3, 0, -1), 1, 2, rule_set()).tolist()
    [0, 10000, 0, -8000]
    >>> win_deltas(8000, Parties(1, 3, 0, 2), 1, 0, rule_set()).tolist()
    [0, 32300, -16300, -16000]
    >>> win_deltas(8000, Parties(1, 1, 0, 2), 1, 0, rule_set()).tolist()
    [0, 32300, -32300, 0]
    """
    deltas = np.zeros(4, np.int32)
    winner, loser, dealer, liable = parties
    if winner == loser and liable < 0:
        for seat in range(rules.players):
            if seat != winner:
                share = _share(base, dealer == winner, dealer == seat, rules)
                deltas[seat] -= share + rules.honba_points * honba
    else:
        is_dealer = winner == dealer
        by_draw = winner == loser
        total = tsumo_total(base, is_dealer, rules) if by_draw else ron_points(base, is_dealer)
        if liable < 0:
            liable = loser
        discarder_share = 0 if by_draw or loser == liable else total // 2
        deltas[loser] -= discarder_share
        all_honba = rules.honba_points * (rules.players - 1) * honba
        deltas[liable] -= total - discarder_share + all_honba
    paid = deltas[0] + deltas[1] + deltas[2] + deltas[3]  # for `sum()` numba compiles 0.1 s
    deltas[winner] = rules.stick_points * sticks - paid
    return deltas


@compiled
def draw_deltas(tenpai: NDArray[np.int8], rules: RuleSet) -> NDArray[np.int32]:
    """Return the payments at an exhaustive draw; ``tenpai[4]`` is 1 for a tenpai seat.

    >>> from mjbot.game.rules.ruleset import rule_set
    >>> draw_deltas(np.array([1, 0, 0, 0], np.int8), rule_set()).tolist()
    [3000, -1000, -1000, -1000]
    """
    deltas = np.zeros(4, np.int32)
    players = int(rules.players)
    n_tenpai = int(tenpai[0] + tenpai[1] + tenpai[2] + tenpai[3])
    if n_tenpai == 0 or n_tenpai == players:
        return deltas
    part = rules.noten_points[n_tenpai - 1]
    for seat in range(players):
        deltas[seat] = part * (players - n_tenpai) // n_tenpai if tenpai[seat] else -part
    return deltas


@compiled
def nagashi_deltas(nagashi: NDArray[np.int8], dealer: int, rules: RuleSet) -> NDArray[np.int32]:
    """Return the payments at a nagashi mangan; ``nagashi[4]`` is 1 for seats that have it.

    Each is paid like a self-drawn mangan without honba; sticks stay on the table.

    >>> from mjbot.game.rules.ruleset import rule_set
    >>> nagashi_deltas(np.array([0, 1, 0, 0], np.int8), 0, rule_set()).tolist()
    [-4000, 8000, -2000, -2000]
    """
    deltas = np.zeros(4, np.int32)
    for seat in range(rules.players):
        if nagashi[seat]:
            deltas += win_deltas(MANGAN, Parties(seat, seat, dealer, -1), 0, 0, rules)
    return deltas


@compiled
def _rounded(points: int) -> int:
    return (points + 99) // 100 * 100
