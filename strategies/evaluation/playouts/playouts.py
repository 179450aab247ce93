"""Playing a kyoku on to its end by the price of each discard, on the table's own record and flow.

Takada 2022, section 4.4: whoever can win does; whoever is tenpai stays so; among the discards
that are left the one of least risk goes, of equals any.  Nobody calls.  With live models
(:mod:`strategies.evaluation.playouts.opponent_models`) being tenpai has a price instead, and
riichi is declared whenever it is legal.  No constants, nothing tuned.  Compiled code.
"""

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.compiler.record import Int8s
from mjbot.compiler.splitmix import GOLDEN, mix, next_below
from mjbot.referee.flow import carry_out
from mjbot.referee.step import StepBuffer
from mjbot.rules.acceptance import waits
from mjbot.rules.shanten import shanten
from mjbot.table.actions import DECLARE_RIICHI, DISCARD, DISCARD_DRAWN, PASS, RON, TSUMO
from mjbot.table.hands import kind_of
from mjbot.table.legal import (
    can_declare_riichi,
    can_discard_kind,
    can_ron,
    can_tsumo,
    held_tiles,
)
from mjbot.table.state import ACCEPTED, CHANKAN, DRAW, REACTION, RINSHAN, TURN, WON, State
from protocol.tiles import N_KINDS
from strategies.evaluation.playouts.opponent_models import OpponentModels, price_discards

Random = NDArray[np.uint64]


@compiled
def play_out(state: State, buffer: StepBuffer, models: OpponentModels, random: Random) -> None:
    """Play the kyoku to its end (phase WON or DRAWN).

    ``state`` must know all hands and the wall (``has_wall``), ``models`` is what the four think
    of each discard, ``random`` uint64[1].
    """
    buffer.outcome.n_wins = 0
    while state.phase < WON:
        buffer.n_rows = 0
        if state.phase == REACTION or state.phase == CHANKAN:
            _take_wins(state, buffer)
        elif state.phase != DRAW and state.phase != RINSHAN:
            buffer.choices[state.turn] = own_turn(state, models, random)
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
def own_turn(state: State, models: OpponentModels, random: Random) -> int:
    """Return the code of what ``state.turn`` does: win, declare riichi, or discard."""
    seat = state.turn
    if state.phase == TURN:
        if (state.waits[seat] >> kind_of(state.drawn)) & 1 and can_tsumo(state, seat):
            return TSUMO
        if state.riichi[seat] == ACCEPTED:
            return DISCARD_DRAWN + state.drawn
        if models.declares and can_declare_riichi(state, seat):
            return DECLARE_RIICHI
    return _copy_to_discard(state, seat, _kind_to_discard(state, seat, models, random))


@compiled
def _kind_to_discard(state: State, seat: int, models: OpponentModels, random: Random) -> int:
    """Return the kind of least price that keeps tenpai; any of equals, a copy as likely as any."""
    price_discards(state, seat, models)
    tenpai = False
    if models.keeps_tenpai:
        tenpai = shanten(state.hand[seat], state.n_melds[seat]) <= 0
    kind = _cheapest(state, seat, models, random, tenpai)
    return _cheapest(state, seat, models, random, False) if kind < 0 else kind


@compiled
def _stays_tenpai(hand: Int8s, n_melds: int, kind: int) -> bool:
    hand[kind] -= 1
    found = waits(hand, n_melds) != 0
    hand[kind] += 1
    return found


@compiled
def _copy_to_discard(state: State, seat: int, kind: int) -> int:
    """Return the code of discarding a kind: the drawn tile if it is one, a red five last."""
    if state.drawn >= 0 and kind_of(state.drawn) == kind:
        return DISCARD_DRAWN + state.drawn
    if held_tiles(state, seat, kind) > 0:
        return DISCARD + kind
    return DISCARD + N_KINDS + kind // 9


@compiled
def _cheapest(state: State, seat: int, models: OpponentModels, random: Random, tenpai: bool) -> int:
    best, n_best = -1, 0
    lot = np.uint64(0)
    for kind in range(N_KINDS):
        copies = state.hand[seat, kind]
        if copies == 0 or (best >= 0 and models.prices[kind] > models.prices[best]):
            continue
        if not can_discard_kind(state, seat, kind) or (
            tenpai and not _stays_tenpai(models.hand, state.n_melds[seat], kind)
        ):
            continue
        if best < 0 or models.prices[kind] < models.prices[best]:
            n_best, lot = 0, np.uint64(0)
        if models.paired:
            drawn = _lot(random, state.n_river[seat], seat, kind, copies)
            if drawn >= lot:
                best, lot = kind, drawn
            continue
        n_best += copies
        if next_below(random, n_best) < copies:
            best = kind
    return best


@compiled
def _lot(random: Random, turn: int, seat: int, kind: int, copies: int) -> np.uint64:
    """Return the highest of the copies' lots, which hang on nothing that was drawn before."""
    highest = np.uint64(0)
    for copy in range(copies):
        place = ((int(turn) * 4 + seat) * N_KINDS + kind) * 4 + copy
        highest = max(highest, mix(random[0] + np.uint64(place) * GOLDEN))
    return highest
