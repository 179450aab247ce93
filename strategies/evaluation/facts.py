"""What any player may know of a discard, as terms: how far the hand is then, what it waits for."""

import numpy as np

from mjbot.game.rules.acceptance import acceptance_by_discard
from mjbot.game.table.view import View
from mjbot.strategy.explanation import ACCEPTED, SHANTEN, STEPS, TILES, Term
from protocol.tiles import N_KINDS, N_TILES, tile_kind


def hand_facts(view: View) -> list[tuple[Term, ...]]:
    """Return the facts of discarding each tile (0..36); nothing for kinds not in the hand."""
    shanten, masks = np.empty(N_KINDS, np.int8), np.empty(N_KINDS, np.int64)
    accepted = np.empty(N_KINDS, np.int16)
    acceptance_by_discard(view.hand, view.n_melds, view.unseen, shanten, masks, accepted)
    held = view.hand.tolist()
    facts: list[tuple[Term, ...]] = []
    for kind in map(tile_kind, range(N_TILES)):
        steps = Term(SHANTEN, STEPS, float(shanten[kind]), more_is_better=False)
        tiles = Term(ACCEPTED, TILES, float(accepted[kind]))
        facts.append((steps, tiles) if held[kind] else ())
    return facts
