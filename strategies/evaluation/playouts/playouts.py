"""Playing a kyoku on to its end by lists of what each discard risks, on the table's own flow.

Takada 2022, section 4.4: whoever can win does; whoever is tenpai stays so; among the discards
that are left the one of least risk goes, of equals any.  Nobody calls or declares riichi.  The
lists, float64[4, 34] by seat and kind, stay as they are through the playout (section 4.2.3).  No
constants, nothing tuned.  Compiled code.
"""

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee.flow import carry_out
from mjbot.game.referee.step import StepBuffer
from mjbot.game.rules.acceptance import waits
from mjbot.game.rules.shanten import shanten
from mjbot.game.table.actions import DISCARD, DISCARD_DRAWN, PASS, RON, TSUMO
from mjbot.game.table.hands import kind_of
from mjbot.game.table.legal import (
    can_discard_kind,
    can_ron,
    can_tsumo,
    held_tiles,
)
from mjbot.game.table.state import ACCEPTED, CHANKAN, DRAW, REACTION, RINSHAN, TURN, WON, State
from mjbot.protocol.tiles import N_KINDS
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float64s, Int8s
from mjbot.runtime.compiler.splitmix import next_below

Random = NDArray[np.uint64]


@compiled
def play_out(state: State, buffer: StepBuffer, lists: Float64s, random: Random) -> None:
    """Play the kyoku to its end (phase WON or DRAWN).

    ``state`` must know all hands and the wall (``has_wall``); ``random`` is uint64[1].
    """
    buffer.outcome.n_wins = 0
    while state.phase < WON:
        buffer.n_rows = 0
        if state.phase == REACTION or state.phase == CHANKAN:
            _take_wins(state, buffer)
        elif state.phase != DRAW and state.phase != RINSHAN:
            buffer.choices[state.turn] = own_turn(state, lists, random)
        carry_out(state, buffer)


@compiled
def _take_wins(state: State, buffer: StepBuffer) -> None:
    """Whoever can win the tile on offer does, nobody else claims it."""
    bit = 1 << kind_of(state.last_tile)
    for seat in range(4):
        buffer.choices[seat] = PASS
        if state.waits[seat] & bit and seat != state.turn and can_ron(state, seat):
            buffer.choices[seat] = RON


@compiled
def own_turn(state: State, lists: Float64s, random: Random) -> int:
    """Return the code of what ``state.turn`` does: win or discard."""
    seat = state.turn
    if state.phase == TURN:
        if (state.waits[seat] >> kind_of(state.drawn)) & 1 and can_tsumo(state, seat):
            return TSUMO
        if state.riichi[seat] == ACCEPTED:
            return DISCARD_DRAWN + state.drawn
    return _copy_to_discard(state, seat, _kind_to_discard(state, seat, lists, random))


@compiled
def _kind_to_discard(state: State, seat: int, lists: Float64s, random: Random) -> int:
    """Return the kind of least risk that keeps tenpai; any of equals, a copy as likely as any."""
    tenpai = shanten(state.hand[seat], state.n_melds[seat]) <= 0
    kind = _cheapest(state, seat, lists, random, tenpai)
    return _cheapest(state, seat, lists, random, False) if kind < 0 else kind


@compiled
def stays_tenpai(hand: Int8s, n_melds: int, kind: int) -> bool:
    """Return whether a hand that discards a kind is tenpai."""
    hand[kind] -= 1
    is_tenpai = waits(hand, n_melds) != 0
    hand[kind] += 1
    return is_tenpai


@compiled
def _copy_to_discard(state: State, seat: int, kind: int) -> int:
    """Return the code of discarding a kind: the drawn tile if it is one, a red five last."""
    if state.drawn >= 0 and kind_of(state.drawn) == kind:
        return DISCARD_DRAWN + state.drawn
    if held_tiles(state, seat, kind) > 0:
        return DISCARD + kind
    return DISCARD + N_KINDS + kind // 9


@compiled
def _cheapest(state: State, seat: int, lists: Float64s, random: Random, tenpai: bool) -> int:
    best, n_best = -1, 0
    risks, hand = lists[seat], state.hand[seat].copy()
    for kind in range(N_KINDS):
        copies = hand[kind]
        if copies == 0 or (best >= 0 and risks[kind] > risks[best]):
            continue
        if not can_discard_kind(state, seat, kind) or (
            tenpai and not stays_tenpai(hand, state.n_melds[seat], kind)
        ):
            continue
        if best < 0 or risks[kind] < risks[best]:
            n_best = 0
        n_best += copies
        if next_below(random, n_best) < copies:
            best = kind
    return best
