"""Bluff: a river that feigns a hand of one suit, so that rivals fold.

Source: Hamabe 2017, section 2.2.
"""

from collections import Counter
from typing import Final

from mjbot.table.actions import Action
from mjbot.table.view import View
from protocol.tiles import tile_kind
from strategies.evaluation.techniques.situation import Situation

FAR: Final = 3
"""From this shanten on the own hand is given up for the show."""
FIRST_TURN: Final = 6
"""Own discards after which a hand that is still so far will hardly win."""
MOST_DANGER: Final = 100
"""Points by which the show may be more dangerous than the base discard."""
SIMPLES: Final = range(1, 8)


def feign_one_suit(situation: Situation, base: Action) -> Action | None:
    """With a hopeless hand discard simples of two suits and nothing of the third.

    Only what is hardly more dangerous than ``base``, and only while the river still shows
    nothing of the third suit.
    """
    view = situation.view
    suit = feigned_suit(view)
    early = len(view.river(view.seat)) < FIRST_TURN
    if suit is None or early or situation.own_shanten(base) < FAR:
        return None
    limit = float(situation.danger[base.tile]) + MOST_DANGER
    show = [
        discard
        for discard in situation.discards
        if tile_kind(discard.tile) // 9 not in (suit, 3)
        and tile_kind(discard.tile) % 9 in SIMPLES
        and situation.danger[discard.tile] <= limit
    ]
    return min(show, key=lambda discard: float(situation.danger[discard.tile]), default=None)


def feigned_suit(view: View) -> int | None:
    """Return the suit (0..2) that the own river lacks and the hand has most of, if there is one."""
    shown = {tile_kind(tile) // 9 for tile in view.river(view.seat).tolist()}
    held = Counter(kind // 9 for kind in view.hand.nonzero()[0].tolist())
    lacking = [suit for suit in range(3) if suit not in shown]
    return max(lacking, key=lambda suit: held[suit]) if lacking else None
