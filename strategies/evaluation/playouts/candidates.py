"""What is worth trying out: plans of an action and the discard that follows it.

Far fewer than what is legal, so that each can be played out more often: a discard that sets the
hand back is tried only where somebody may be tenpai, a call only if it brings the hand nearer.
The limits were set by hand and not tuned.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.acceptance import acceptance_by_discard
from mjbot.game.rules.shanten import shanten
from mjbot.game.table.actions import ACTIONS, DISCARD, Action
from mjbot.game.table.legal import kuikae_kinds
from mjbot.game.table.state import CHI, PON
from mjbot.game.table.view import View
from mjbot.learning.models.tenpai import HandReader, tenpai_chance
from mjbot.protocol.tiles import N_KINDS, tile_kind

Plans = list[tuple[Action, ...]]
Counts = NDArray[np.int8]

MOST_QUIET_DISCARDS: Final = 6
DISCARDS_AFTER_CALL: Final = 2
THREAT: Final = 0.35
"""From this chance on that some opponent is tenpai every discard is tried."""


def all_discards(view: View) -> Plans:
    """Return the plans of the paper: every discard."""
    return [(action,) for action in _distinct(view.discards)]


def all_plans(view: View, reader: HandReader) -> Plans:
    """Return what is worth trying out: never empty."""
    return list(_plans(view, reader))


def _plans(view: View, reader: HandReader) -> Iterator[tuple[Action, ...]]:
    discards = _distinct(view.discards)
    for action in _promising(view, discards, reader):
        yield (action,)
    for action in view.legal:
        if action.is_riichi:
            for discard in discards:
                if _waits_after(view, tile_kind(discard.tile)):
                    yield action, discard
        elif action.is_call and not action.is_kan:
            for discard in _after_call(view, action):
                yield action, discard
        elif not action.is_discard and _is_worth_a_try(view, action):
            yield (action,)


def _distinct(discards: Sequence[Action]) -> list[Action]:
    """Leave out copies in hand of the tile that was just drawn."""
    drawn = {action.tile for action in discards if action.tsumogiri}
    return [action for action in discards if action.tsumogiri or action.tile not in drawn]


def is_threatened(view: View, reader: HandReader) -> bool:
    """Return whether some opponent may well be tenpai."""
    return any(
        tenpai_chance(view.state, seat, reader) >= THREAT for seat in range(4) if seat != view.seat
    )


def _promising(view: View, discards: list[Action], reader: HandReader) -> list[Action]:
    """Return the discards that keep the hand going, dora first seen to; all under threat."""
    if len(discards) < 2 or is_threatened(view, reader):
        return discards
    left, _, tiles = _acceptance(view.hand, view.n_melds, view.unseen)
    best = min(int(left[tile_kind(action.tile)]) for action in discards)
    good = [action for action in discards if left[tile_kind(action.tile)] == best]
    good.sort(key=lambda action: -int(tiles[tile_kind(action.tile)]))
    showy = [action for action in good if view.dora[tile_kind(action.tile)]]
    kept = {action.code for action in good[:MOST_QUIET_DISCARDS] + showy}
    return [action for action in discards if action.code in kept]


def _acceptance(
    hand: Counts, n_melds: int, unseen: Counts
) -> tuple[Counts, NDArray[np.int64], NDArray[np.int16]]:
    """Return shanten, kinds accepted and their tiles after each discard: [34] each."""
    left, masks = np.empty(N_KINDS, np.int8), np.empty(N_KINDS, np.int64)
    tiles = np.empty(N_KINDS, np.int16)
    acceptance_by_discard(hand, n_melds, unseen, left, masks, tiles)
    return left, masks, tiles


def _waits_after(view: View, kind: int) -> bool:
    left, masks, _ = _acceptance(view.hand, view.n_melds, view.unseen)
    return bool(left[kind] == 0 and masks[kind])


def _after_call(view: View, call: Action) -> Iterator[Action]:
    """Yield the best discards after a call that brings the hand nearer."""
    hand = view.hand.copy()
    kind = tile_kind(view.claim_tile)
    low = kind - call.offset if call.name == "chi" else kind
    used = [low, low + 1, low + 2] if call.name == "chi" else [kind] * 3
    used.remove(kind)
    for other in used:
        hand[other] -= 1
    barred = kuikae_kinds(CHI if call.name == "chi" else PON, kind, low)
    left, _, tiles = _acceptance(hand, view.n_melds + 1, view.unseen)
    kinds = [k for k in range(N_KINDS) if hand[k] and not barred >> k & 1]
    if not kinds:
        return
    best = min(int(left[k]) for k in kinds)
    if best >= shanten(view.hand, view.n_melds):
        return
    good = sorted((k for k in kinds if left[k] == best), key=lambda k: -int(tiles[k]))
    showy = [k for k in good[DISCARDS_AFTER_CALL:] if view.dora[k]]
    for k in good[:DISCARDS_AFTER_CALL] + showy[:1]:
        yield ACTIONS[DISCARD + _plain_tile(view, call, hand, k)]


def _plain_tile(view: View, call: Action, hand: Counts, kind: int) -> int:
    """Return the tile of a kind to discard: the red five only if there is no other."""
    if kind < 27 and kind % 9 == 4:
        red = int(view.red[kind // 9]) - (call.red and kind // 9 == tile_kind(view.claim_tile) // 9)
        if red > 0 and hand[kind] == red:
            return N_KINDS + kind // 9
    return kind


def _is_worth_a_try(view: View, action: Action) -> bool:
    """Leave out open kans, and others that set the hand back."""
    return not action.is_kan or (not action.is_call and _keeps_shanten(view, action))


def _keeps_shanten(view: View, kan: Action) -> bool:
    """Return whether a kan on the own turn leaves the hand as near as it was."""
    hand = view.hand.copy()
    concealed = kan.name == "ankan"
    hand[kan.tile] -= 4 if concealed else 1
    melds = view.n_melds + concealed
    return bool(shanten(hand, melds) <= shanten(view.hand, view.n_melds))
