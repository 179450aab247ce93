"""What any player may know of a discard, as terms: how far the hand is then, what it waits for."""

from mjbot.game.rules.acceptance import count_tiles
from mjbot.game.rules.tile_sets import acceptance_of
from mjbot.game.table.view import View
from mjbot.protocol.tiles import N_TILES, tile_kind
from mjbot.strategy.explanation import ACCEPTED, SHANTEN, STEPS, TILES, Term


def hand_facts(view: View) -> list[tuple[Term, ...]]:
    """Return the facts of discarding each tile (0..36); nothing for kinds not in the hand."""
    by_kind = [_facts(view, kind) if held else () for kind, held in enumerate(view.hand)]
    return [by_kind[tile_kind(tile)] for tile in range(N_TILES)]


def _facts(view: View, kind: int) -> tuple[Term, ...]:
    rest = view.hand.copy()
    rest[kind] -= 1
    away, mask = acceptance_of(rest, view.n_melds, view.players)
    steps = Term(SHANTEN, STEPS, float(away), more_is_better=False)
    return steps, Term(ACCEPTED, TILES, float(count_tiles(mask, view.unseen)))
