"""What a seat knows of an ally whose hand it sees: of the ally, and of each tile for the ally.

Both are zero where there is no ally, so that the fast policy of one seat is the same network.  The
ally's hand is the one after its last discard, which its messages hold
(:mod:`mjbot.strategy.pair.messages`); before that nothing is known (:func:`known_ally`).
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from mjbot.game.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.game.rules.wins import Win
from mjbot.game.table.observe import genbutsu, offered_since
from mjbot.game.table.settle import seats_ahead
from mjbot.game.table.state import State
from mjbot.learning.models.danger_features import honour_value
from mjbot.learning.models.networks.look_ahead import MOST_TILES, MOST_WAITS, POINTS
from mjbot.learning.models.win_value import hand_dora, read_holding, win_points
from mjbot.protocol.tiles import FIRST_HONOUR
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float32s, Int8s, Int64, Record

NO_ALLY: Final = -1

OF_ALLY: Final = 17
"""Numbers of the ally.

Known; shanten 0, 1, 2, more; riichi, open, dora / 4, tiles on which it wins / 12, points of its
best win / 8,000; whether it is 1, 2, 3 seats on; lead on it / 16,000, seats ahead of it / 3, tiles
it accepts / 40, whether it can win by ron now.
"""
OF_TILE: Final = 8
"""Numbers of a tile.

The ally wins on it, points / 8,000; it completes its hand without a win; brings its hand forward;
it can call pon, chi; a call brings it forward; the pon is one of a value honour.
"""


class AllyReading(Record):
    """What is read of the ally once for a decision; with ``seat`` NO_ALLY the rest is stale."""

    wins: Annotated[Sequence[Win], 1]
    points: Annotated[Float32s, 34]  # of its ron on each kind, 0 where it cannot win
    shape: Int64  # mask of kinds that complete its hand
    useful: Int64  # mask of kinds that bring it forward
    seat: Int64
    shanten: Int64
    accepts: Int64  # tiles
    waits: Int64  # tiles on which it wins by ron
    dora: Int64


@compiled
def known_ally(state: State, ally: int) -> int:
    """Return the ally, or NO_ALLY as long as it has not discarded: then it has sent no hand."""
    return ally if ally != NO_ALLY and state.n_river[ally] > 0 else NO_ALLY


@compiled
def read_ally(state: State, ally: int, unseen: Int8s, dora: Int8s, reading: AllyReading) -> None:
    """Read the hand of the ally, which ``state`` knows; ``unseen`` by both, ``dora`` by kind."""
    hand = state.hand[ally]
    reading.shanten, reading.useful = shanten_and_acceptance(hand, int(state.n_melds[ally]))
    reading.accepts = count_tiles(reading.useful, unseen)
    wins: Any = reading.wins
    holding = read_holding(state, ally, wins, dora)
    reading.dora = hand_dora(hand, holding)
    reading.points[:] = 0
    reading.shape, reading.waits = state.waits[ally], 0
    if reading.shape == 0 or reading.shape & (genbutsu(state, ally) | offered_since(state, ally)):
        return
    for kind in range(34):
        if reading.shape >> kind & 1:
            riichi = state.riichi[ally] > 0
            reading.points[kind] = win_points(hand, kind, reading.dora, holding, riichi, False)
            if reading.points[kind] > 0:
                reading.waits += unseen[kind]


@compiled
def write_ally(state: State, seat: int, reading: AllyReading, out: Float32s) -> None:
    """Write the numbers of the ally: float32[OF_ALLY]."""
    ally = reading.seat
    out[0] = 1
    out[1 + min(max(reading.shanten, 0), 3)] = 1
    out[5] = state.riichi[ally] > 0
    out[6] = state.is_open[ally]
    out[7] = min(reading.dora, 8) / 4
    out[8] = reading.waits / MOST_WAITS
    for kind in range(34):
        out[9] = max(out[9], reading.points[kind] / POINTS)
    out[9] = min(out[9], 4.0)
    out[9 + ((ally - seat) & 3)] = 1
    out[13] = min(max((state.scores[seat] - state.scores[ally]) / 16000, -2.0), 2.0)
    out[14] = seats_ahead(state.scores, ally) / 3
    out[15] = reading.accepts / MOST_TILES
    out[16] = reading.waits > 0


@compiled
def write_tile(state: State, seat: int, kind: int, reading: AllyReading, out: Float32s) -> None:
    """Write what a tile from ``seat`` is for the ally: float32[OF_TILE], nothing without one."""
    ally = reading.seat
    if ally == NO_ALLY:
        return
    out[0] = reading.points[kind] > 0
    out[1] = min(reading.points[kind] / POINTS, 4.0)
    out[2] = reading.shape >> kind & 1 == 1 and reading.points[kind] == 0
    is_useful = reading.useful >> kind & 1 == 1
    out[3] = is_useful
    hand = state.hand[ally]
    can_call = state.riichi[ally] == 0 and state.wall_left > 0
    can_pon = can_call and hand[kind] >= 2
    can_chi = can_call and (seat + 1) & 3 == ally and _can_chi(hand, kind)
    out[4] = can_pon
    out[5] = can_chi
    out[6] = is_useful and (can_pon or can_chi)
    out[7] = can_pon and kind >= FIRST_HONOUR and honour_value(state, ally, kind) > 0


@compiled
def _can_chi(hand: Int8s, kind: int) -> bool:
    if kind >= FIRST_HONOUR:
        return False
    rank = kind % 9
    low = rank >= 2 and hand[kind - 2] > 0 and hand[kind - 1] > 0
    middle = 1 <= rank <= 7 and hand[kind - 1] > 0 and hand[kind + 1] > 0
    high = rank <= 6 and hand[kind + 1] > 0 and hand[kind + 2] > 0
    return bool(low or middle or high)
