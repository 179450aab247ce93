"""Haitei-okuri: call so that the last tile of the wall falls to the ally.

Source: Hamabe 2017, section 2.2: a win on the last tile is a yaku of its own.
"""

from typing import Final

from mjbot.table.actions import CALL_KAN, PON_PLAIN, Action
from mjbot.table.apply_calls import kuikae_kinds
from mjbot.table.state import CHI, PON
from mjbot.table.view import View
from protocol.tiles import tile_kind
from strategies.evaluation.techniques.situation import Situation
from strategies.evaluation.tenpai import tiles_of

LATEST: Final = 4
"""With more tiles to draw, another call would most likely shift the last one again."""
LAST_WIN_POINTS: Final = 4000


def send_last_tile(situation: Situation) -> Action | None:
    """Call if that gives the last draw to a tenpai ally and the discard after it is cheap."""
    calls = [action for action in situation.view.legal if PON_PLAIN <= action.code < CALL_KAN]
    view, ally = situation.view, situation.ally
    if not calls or not ally.shape or not 0 < view.wall_left <= LATEST or view.waits:
        return None
    if last_drawer(view.turn, view.wall_left) == ally.seat:
        return None
    if last_drawer(view.seat, view.wall_left) != ally.seat:
        return None
    unseen = ally.view.unseen
    chance = tiles_of(ally.shape, unseen) / max(1, int(unseen.sum()))
    cheapest = min(calls, key=lambda call: danger_after(situation, call))
    worth = chance * LAST_WIN_POINTS
    return cheapest if worth > danger_after(situation, cheapest) else None


def last_drawer(discarder: int, wall_left: int) -> int:
    """Return who draws the last tile if nobody calls after a discard of this seat.

    >>> last_drawer(2, 1), last_drawer(2, 4)
    (3, 2)
    """
    return (discarder + wall_left) % 4


def danger_after(situation: Situation, call: Action) -> float:
    """Return the danger of the safest discard that kuikae allows after a call."""
    view = situation.view
    claimed = tile_kind(view.claim_tile)
    hand = view.hand.copy()
    for kind in used_kinds(view, call):
        hand[kind] -= 1
    low = claimed - max(0, call.offset)
    banned = kuikae_kinds(PON if call.offset < 0 else CHI, claimed, low)
    kinds = [kind for kind in hand.nonzero()[0].tolist() if not banned >> kind & 1]
    return min((float(situation.danger[kind]) for kind in kinds), default=float("inf"))


def used_kinds(view: View, call: Action) -> list[int]:
    """Return the two kinds that a pon or chi takes out of the hand."""
    claimed = tile_kind(view.claim_tile)
    if call.offset < 0:
        return [claimed, claimed]
    low = claimed - call.offset
    return [kind for kind in range(low, low + 3) if kind != claimed]
