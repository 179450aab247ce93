"""What a tenpai hand would be paid: exact scores, riichi's extras in the mean.

``points = sum of P(n extra han) x payment(han + n, fu)`` over the ippatsu and ura dora that
riichi may bring.  Their chances, :data:`EXTRA_HAN`, were set by hand and not tuned.

For hands with an unknown score, :func:`typical_points` interpolates from a mean number of han to
points along the payments of a non-dealer's ron of 30 to 40 fu, rounded.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.points import base_points, ron_points, tsumo_points
from mjbot.game.rules.scoring import score_win
from mjbot.game.rules.wins import RIICHI, TSUMO
from mjbot.game.table.hands import count_meld_reds
from mjbot.game.table.observe import add_melds, dora_values
from mjbot.game.table.seats import steps_between
from mjbot.game.table.state import State
from mjbot.protocol.tiles import NORTH
from mjbot.runtime.compiler.compiled import compiled

Counts = NDArray[np.int8]

EXTRA_HAN: Final = (0.58, 0.30, 0.12)
"""How likely a riichi win gains 0, 1, 2 han of ippatsu and ura dora."""


class HandContext(NamedTuple):
    """What the score of the hand depends on in addition to its concealed tiles."""

    win: NDArray[np.void]  # one record: melds and winds filled in
    dora: Counts
    bonus: NDArray[np.int64]  # [0] dora and red fives of melds and kita, [1] red fives in hand
    is_dealer: bool
    players: int
    scoring: int  # the rules among the flags of a win


@compiled
def read_holding(state: State, seat: int, win: NDArray[np.void], dora: Counts) -> HandContext:
    """Return what of the table the score depends on; ``win`` (one record), ``dora`` int8[34]."""
    dora_values(state, dora)
    record = win[0]
    record.n_melds = state.n_melds[seat]
    melds = np.zeros(34, np.int8)
    add_melds(state, seat, melds)
    bonus = np.zeros(2, np.int64)
    bonus[0] = state.kita[seat] * (1 + dora[NORTH])
    for meld in range(state.n_melds[seat]):
        record.meld_type[meld] = state.meld_type[seat, meld]
        record.meld_kind[meld] = state.meld_kind[seat, meld]
        bonus[0] += count_meld_reds(state.meld_red[seat, meld])
    for kind in range(34):
        bonus[0] += melds[kind] * dora[kind]
    for suit in range(3):
        bonus[1] += state.red[seat, suit]
    record.seat_wind = steps_between(state, state.dealer, seat)
    record.round_wind = state.round >> 2
    rules = state.rules
    return HandContext(
        win, dora, bonus, state.dealer == seat, int(rules.players), int(rules.scoring)
    )


@compiled
def add_meld(hand_context: HandContext, type_: int, kind: int) -> None:
    """Count one more meld; its dora are up to the caller."""
    record = hand_context.win[0]
    record.meld_type[record.n_melds] = type_
    record.meld_kind[record.n_melds] = kind
    record.n_melds += 1


@compiled
def hand_dora(hand: Counts, hand_context: HandContext) -> int:
    """Return the dora and red fives of hand and melds."""
    total = int(hand_context.bonus[0] + hand_context.bonus[1])
    for kind in range(34):
        total += hand[kind] * hand_context.dora[kind]
    return total


@compiled
def win_points(
    hand: Counts, kind: int, dora: int, hand_context: HandContext, riichi: bool, by_draw: bool
) -> float:
    """Return the points of winning on ``kind``, 0 without a yaku.

    ``hand`` has the 3n+1 tiles without it, ``dora`` counts the dora of these; a win by draw
    counts all payers.  With riichi the mean over ippatsu and ura dora.
    """
    record = hand_context.win[0]
    for other in range(34):
        record.hand[other] = hand[other]
    record.hand[kind] += 1
    record.win_kind = kind
    record.flags = hand_context.scoring | (RIICHI if riichi else 0) | (TSUMO if by_draw else 0)
    record.dora = dora + hand_context.dora[kind]
    han, fu, _, yakuman = score_win(record)
    if han == 0:
        return 0.0
    if not riichi or yakuman:
        return _paid(han, fu, yakuman, hand_context, by_draw)
    points = 0.0
    for extra in range(3):
        points += EXTRA_HAN[extra] * _paid(han + extra, fu, 0, hand_context, by_draw)
    return points


@compiled
def _paid(han: int, fu: int, yakuman: int, hand_context: HandContext, by_draw: bool) -> float:
    base = base_points(han, fu, yakuman, hand_context.scoring)
    payers = hand_context.players - 1
    if not by_draw:
        return float(ron_points(base, hand_context.is_dealer))
    if hand_context.is_dealer:
        return float(payers * tsumo_points(base, True))
    return float((payers - 1) * tsumo_points(base, False) + tsumo_points(base, True))


@compiled
def typical_points(han: float, is_dealer: bool) -> float:
    """Return about what a hand of a (mean) number of han is paid.

    >>> typical_points(2.5, False)
    3000.0
    """
    points = 0.0
    low = int(han)
    for step in range(2):
        part = han - low if step else 1 - (han - low)
        full = _STEPS[min(low + step, len(_STEPS) - 1)]
        points += part * full
    return points * (1.5 if is_dealer else 1.0)


_STEPS: Final = (0.0, 1300.0, 2000.0, 4000.0, 7500.0, 8000.0, 12000.0, 12000.0, 16000.0, 16000.0,
                 16000.0, 24000.0)  # fmt: skip
