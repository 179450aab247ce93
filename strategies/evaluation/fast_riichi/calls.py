"""The calls of fast-riichi-b and -d, and how they play an open hand in tenpai.

Source: Nakano 2021, section 3.2.2.  In tenpai nothing is called, as in the listing.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Final

from mjbot.game.rules.kinds import Counts
from mjbot.game.table.actions import ACTIONS, CALL_KAN, PON_PLAIN, Action
from mjbot.game.table.legal import kuikae_kinds
from mjbot.game.table.state import CHI, PON, Phase
from mjbot.game.table.view import View
from mjbot.protocol.tiles import (
    FIRST_DRAGON,
    FIRST_HONOUR,
    FIVE_KINDS,
    N_KINDS,
    RED_FIVES,
    tile_kind,
)
from mjbot.strategies.evaluation.fast_riichi.steps import FastRiichi, tiles_of, waits_by_discard

MIDDLE: Final = 1
FIVES: Final = list(FIVE_KINDS)


def pon_value_honour(view: View) -> Action | None:
    """Open a closed hand only by a pon of a value honour of which it holds exactly two."""
    for call in _calls(view):
        kind = tile_kind(view.claim_tile)
        is_pon = call.name == "pon" and not call.red
        if is_pon and is_value_honour(view, kind) and view.hand[kind] == 2:
            return None if view.is_open(view.seat) or view.waits else call
    return None


def is_value_honour(view: View, kind: int) -> bool:
    """Whether three tiles of the kind are a yaku: dragons, the round's and the seat's wind."""
    winds = (FIRST_HONOUR + view.round_wind, FIRST_HONOUR + view.seat_wind(view.seat))
    return kind >= FIRST_DRAGON or kind in winds


def call_that_raises_value(view: View, bot: FastRiichi) -> Action | None:
    """Take the pon or chi that, after its best discard, raises the value of an open hand most.

    Of equals as the listing: pon, then chi at the low, the high end, in the middle.  A red five
    rather goes into the meld, where it is kept for good.
    """
    calls = _calls(view)
    if not calls or not view.is_open(view.seat) or view.waits:
        return None
    points = {call: _points_after(view, bot, call) for call in calls}
    best = max(calls, key=lambda call: (points[call], call.red, call.offset != MIDDLE))
    return best if points[best] > bot.hand_points(view) else None


def keep_tenpai(view: View, bot: FastRiichi) -> Action | None:
    """In tenpai with an open hand, discard the drawn tile unless another widens the waits.

    Wider means more unseen copies; own discards do not count as waits.
    """
    if not view.is_open(view.seat) or view.phase != Phase.TURN:
        return None
    own = view.genbutsu(view.seat)
    tiles = {
        kind: tiles_of(waits & ~(own | 1 << kind), view.unseen)
        for kind, waits in waits_by_discard(view.hand, view.n_melds, view.players).items()
    }
    drawn = tile_kind(view.drawn)
    if drawn not in tiles:
        return None
    widest = max(tiles.values())
    wider = [kind for kind in tiles if tiles[kind] == widest]
    return bot.discard(view, wider if widest > tiles[drawn] else [drawn])


def useful_calls_after(
    view: View, discard: Action, call: Callable[[View], Action | None]
) -> list[int]:
    """Return the kinds that the hand left by a discard would call if they came from the left.

    ``call`` is what it answers to a tile on offer.  In tenpai nothing is called.
    """
    after = view.after_discard(view.seat, discard.tile)
    if after.waits:
        return []
    left = (view.seat - 1) % view.players
    return [kind for kind in _usable_kinds(after) if call(after.after_discard(left, kind))]


def _usable_kinds(view: View) -> Iterator[int]:
    """Yield the kinds that could be called at all: a closed hand opens for value honours only."""
    hand, unseen = view.hand.tolist(), view.unseen.tolist()
    first = 0 if view.is_open(view.seat) else FIRST_HONOUR
    for kind in range(first, N_KINDS):
        if unseen[kind] and (hand[kind] >= 2 or _completes_run(hand, kind)):
            yield kind


def _completes_run(hand: list[int], kind: int) -> bool:
    """Whether the hand has the two other tiles of some run with the kind.

    >>> hand = [1, 0, 1, 1] + [0] * 5 + [1, 1] + [0] * 23
    >>> [kind for kind in range(34) if _completes_run(hand, kind)]
    [1, 4, 11]
    """
    lows = range(max(kind - 2, kind - kind % 9), min(kind, kind - kind % 9 + 6) + 1)
    return kind < FIRST_HONOUR and any(
        all(hand[other] for other in range(low, low + 3) if other != kind) for low in lows
    )


def _calls(view: View) -> list[Action]:
    """Return the legal pons and chis, pons first."""
    if view.discard_codes:  # its own turn
        return []
    codes = view.codes
    first, end = bisect_left(codes, PON_PLAIN), bisect_left(codes, CALL_KAN)
    return [ACTIONS[code] for code in codes[first:end]]


def _points_after(view: View, bot: FastRiichi, call: Action) -> int:
    """Return the value of the hand after the call and the best discard that kuikae allows."""
    claimed = tile_kind(view.claim_tile)
    low = claimed - call.offset
    used = [claimed, claimed]
    if call.name == "chi":
        used = [kind for kind in range(low, low + 3) if kind != claimed]
    hand, red = view.hand.copy(), view.red.copy()
    for kind in used:
        hand[kind] -= 1
    if call.red:
        red[claimed // 9] -= 1
    banned = kuikae_kinds(CHI if call.name == "chi" else PON, claimed, low)
    points = bot.discard_points(view, hand)
    allowed = [points[tile] for tile in _tiles(hand, red) if not banned >> tile_kind(tile) & 1]
    kept = int(view.dora[claimed]) + (view.claim_tile in RED_FIVES)
    return int(max(allowed)) + bot.dora_points * kept


def _tiles(hand: Counts, red: Counts) -> list[int]:
    """Return the different tiles (0..36) of a hand, given with its red fives."""
    plain = hand.copy()
    plain[FIVES] -= red
    return [*plain.nonzero()[0].tolist(), *(N_KINDS + red.nonzero()[0]).tolist()]
