"""Open the way: try a dangerous tile out, so that the ally can discard it in safety.

Source: Hamabe 2017, section 2.2.  Worth it where the ally will have to discard the tile anyway
and its deal-in would cost the pair more than our own.
"""

from typing import Final

from mjbot.table.actions import Action
from mjbot.table.view import View
from protocol.tiles import tile_kind
from strategies.evaluation.techniques.danger import Points, discard_danger
from strategies.evaluation.techniques.situation import SharedView, Situation
from strategies.evaluation.yaku_choices import (
    discard_scores,
    hand_scores,
    melds_of,
    value_kinds,
)

CERTAINTY: Final = 0.6
"""How likely the ally discards a tile that its hand does not need while the danger lasts."""
LEAST_GAIN: Final = 200
"""Points below which an own discard is not changed for it."""


def open_way(situation: Situation, base: Action) -> Action | None:
    """Discard what spares the ally more danger than it adds to our own over ``base``."""
    loose = situation.holding(loose_kinds(situation.ally.view))
    if not loose or situation.ally.view.riichi(situation.ally.seat):
        return None
    spared = spared_danger(situation)

    def gain(discard: Action) -> float:
        kind = tile_kind(discard.tile)
        return CERTAINTY * float(spared[kind]) - float(situation.danger[discard.tile])

    best = max(loose, key=gain)
    worse_hand = situation.own_shanten(best) > situation.own_shanten(base)
    more = gain(best) + float(situation.danger[base.tile])
    return best if more >= LEAST_GAIN and not worse_hand else None


def loose_kinds(ally: View) -> int:
    """Return the mask of kinds of which the ally could spare one without losing score."""
    melds, values = melds_of(ally.state, ally.seat), value_kinds(ally.state, ally.seat)
    best = hand_scores(ally.hand, ally.unseen, melds, values).max()
    rest = discard_scores(ally.hand, ally.unseen, melds, values).max(axis=1)
    return sum(1 << kind for kind in (rest == best).nonzero()[0].tolist())


def spared_danger(situation: Situation) -> Points:
    """Return the points that the ally's discard of each tile (0..36) is expected to lose."""
    ally = SharedView(situation.ally.state, situation.ally.seat, situation.view.hand)
    return discard_danger(ally, situation.pair)
