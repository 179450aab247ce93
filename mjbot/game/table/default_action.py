"""The safe action that is played for a seat without a choice of its own.

Strategies return it where no rule of theirs applies
(:attr:`mjbot.game.table.view.View.default_action`). Tables, clients and the arena play it after a
timeout, a failure or an illegal choice (:func:`mjbot.strategy.faults.accepted`), a client only if
no fallback strategy (:mod:`mjbot.play.client.fallback_strategy`) decides.
"""

from mjbot.game.table.actions import DISCARD, DISCARD_DRAWN, PASS
from mjbot.game.table.hands import kind_of
from mjbot.game.table.legal import can_discard_kind, held_tiles
from mjbot.game.table.state import CHANKAN, REACTION, State
from mjbot.protocol.tiles import N_KINDS
from mjbot.runtime.compiler.compiled import compiled


@compiled
def default_code(state: State, seat: int) -> int:
    """Return the code of a safe legal action: tsumogiri, else the last discard, else a pass."""
    if state.phase == REACTION or state.phase == CHANKAN:
        return PASS
    if state.drawn >= 0 and can_discard_kind(state, seat, kind_of(state.drawn)):
        return DISCARD_DRAWN + state.drawn
    for tile in range(N_KINDS + 2, -1, -1):
        if held_tiles(state, seat, tile) - (tile == state.drawn) > 0 and can_discard_kind(
            state, seat, kind_of(tile)
        ):
            return DISCARD + tile
    return PASS
