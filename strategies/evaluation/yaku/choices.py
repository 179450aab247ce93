"""What a hand scores in the eight yaku after each discard, and after a call.

Source: Hamabe 2017, sections 3.3 and 3.3.9.
"""

from typing import Final, NamedTuple

import numpy as np

from mjbot.game.rules.kinds import Counts
from mjbot.game.rules.tile_sets import shanten_of
from mjbot.game.table.legal import kuikae_kinds
from mjbot.game.table.observe import unseen_kinds
from mjbot.game.table.seats import steps_between
from mjbot.game.table.state import CHI, PON, State
from mjbot.protocol.tiles import FIRST_HONOUR, N_KINDS
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategies.evaluation.yaku.layout import (
    N_ROWS,
    RUNS,
    SETS,
    Blocks,
    Layout,
    lay_out_suit,
    new_layout,
)
from mjbot.strategies.evaluation.yaku.scores import N_YAKU, write_scores

DRAGONS: Final = 7 << 31
N_CALLS: Final = 4
PON_CALL: Final = 3
"""The calls of the paper: chi with the tile lowest (0), in the middle (1), highest (2), pon."""


@compiled
def value_kinds(state: State, seat: int) -> int:
    """Return the mask of kinds of which three are a yaku for the seat."""
    wind = 1 << FIRST_HONOUR + steps_between(state, state.dealer, seat)
    return DRAGONS | 1 << FIRST_HONOUR + (state.round >> 2) | wind


@compiled
def melds_of(state: State, seat: int) -> Counts:
    """Return the seat's melds: int8[2, 34], runs by lowest kind and triplets or quads."""
    melds = np.zeros((2, N_KINDS), np.int8)
    for meld in range(state.n_melds[seat]):
        row = RUNS if state.meld_type[seat, meld] == CHI else SETS
        melds[row, state.meld_kind[seat, meld]] += 1
    return melds


@compiled
def hand_scores(hand: Counts, unseen: Counts, melds: Counts, values: int) -> Blocks:
    """Return the scores of a hand of 3n+1 concealed tiles in the eight yaku: int16[8].

    ``hand`` and ``unseen`` are int8[34], ``melds`` as :func:`melds_of` returns them, ``values``
    is the mask of value honours.
    """
    scores = np.empty(N_YAKU, np.int16)
    write_scores(new_layout(hand, unseen, melds, values), values, scores)
    return scores


@compiled
def discard_scores(hand: Counts, unseen: Counts, melds: Counts, values: int) -> Blocks:
    """Return :func:`hand_scores` after each discard from 3n+2 concealed tiles.

    int16[34, 8], -1 for kinds that are not in the hand.
    """
    scores = np.full((N_KINDS, N_YAKU), -1, np.int16)
    rest = hand.copy()
    layout = new_layout(rest, unseen, melds, values)
    for suit in range(4):
        for kind in range(9 * suit, min(9 * suit + 9, N_KINDS)):
            if rest[kind]:
                rest[kind] -= 1
                lay_out_suit(layout, unseen, suit, values)
                write_scores(layout, values, scores[kind])
                rest[kind] += 1
        lay_out_suit(layout, unseen, suit, values)
    return scores


class LaidOutHand(NamedTuple):
    """A hand laid out, and each of its suits once more without one tile.

    ``blocks`` is int16[34, 21, 2, 5] and ``parts`` int16[34, 21]: a kind's suit without one tile
    of it, as in :class:`~mjbot.strategies.evaluation.yaku.layout.Layout`.
    """

    layout: Layout
    blocks: Blocks
    parts: Blocks


@compiled
def new_hand(hand: Counts, unseen: Counts, melds: Counts, values: int) -> LaidOutHand:
    """Lay out a hand and, of each kind in it, its suit without one."""
    layout = new_layout(hand.copy(), unseen, melds, values)
    whole = layout.blocks.copy(), layout.parts.copy()
    blocks = np.empty((N_KINDS, N_ROWS, 2, 5), np.int16)
    parts = np.empty((N_KINDS, N_ROWS), np.int16)
    for kind in range(N_KINDS):
        if hand[kind]:
            suit = kind // 9
            layout.hand[kind] -= 1
            lay_out_suit(layout, unseen, suit, values)
            blocks[kind], parts[kind] = layout.blocks[suit], layout.parts[suit]
            layout.hand[kind] += 1
            layout.blocks[suit], layout.parts[suit] = whole[0][suit], whole[1][suit]
    return LaidOutHand(layout, blocks, parts)


@compiled
def call_scores(hand: Counts, unseen: Counts, melds: Counts, values: int, kind: int) -> Blocks:
    """Return the best score after each call of a tile of ``kind``, -1 where it cannot be made.

    int16[4] (:data:`N_CALLS`), after the best discard that kuikae leaves.  Whether the tile
    comes from the left is not asked here.
    """
    best = np.full(N_CALLS, -1, np.int16)
    laid_out = new_hand(hand, unseen, melds, values)
    for call in range(N_CALLS):
        best[call] = _call_score(laid_out, unseen, values, kind, call)
    return best


@compiled
def _call_score(laid_out: LaidOutHand, unseen: Counts, values: int, kind: int, call: int) -> int:
    """Return the best score after one call, -1 if it cannot be made.

    Only the suit of the call is laid out anew, with its ``unseen``.
    """
    before = laid_out.layout
    low = kind if call == PON_CALL else kind - call
    if not _can_call(before.hand, kind, low, call):
        return -1
    banned = kuikae_kinds(PON if call == PON_CALL else CHI, kind, low)
    rest, melds = _after(before.hand, before.melds, kind, call)
    blocks, parts = before.blocks.copy(), before.parts.copy()
    layout = Layout(rest, melds, before.n_melds + 1, blocks, parts)
    scores = np.empty(N_YAKU, np.int16)
    called, best = kind // 9, -1
    lay_out_suit(layout, unseen, called, values)
    own_blocks, own_parts = blocks[called].copy(), parts[called].copy()
    for discard in range(N_KINDS):
        if not rest[discard] or banned >> discard & 1:
            continue
        suit = discard // 9
        rest[discard] -= 1
        if suit == called:
            lay_out_suit(layout, unseen, suit, values)
        else:
            blocks[suit], parts[suit] = laid_out.blocks[discard], laid_out.parts[discard]
        write_scores(layout, values, scores)
        best = max(best, int(scores.max()))
        rest[discard] += 1
        if suit == called:
            blocks[suit], parts[suit] = own_blocks, own_parts
        else:
            blocks[suit], parts[suit] = before.blocks[suit], before.parts[suit]
    return best


@compiled
def _after(hand: Counts, melds: Counts, kind: int, call: int) -> tuple[Counts, Counts]:
    """Return hand and melds after a call of a tile of ``kind``, before the discard."""
    rest, more = hand.copy(), melds.copy()
    if call == PON_CALL:
        rest[kind] -= 2
        more[SETS, kind] += 1
        return rest, more
    low = kind - call
    for used in range(low, low + 3):
        rest[used] -= used != kind
    more[RUNS, low] += 1
    return rest, more


@compiled
def _can_call(hand: Counts, kind: int, low: int, call: int) -> bool:
    if call == PON_CALL:
        return bool(hand[kind] >= 2)
    if kind >= FIRST_HONOUR or low < 0 or low // 9 != kind // 9 or low % 9 > 6:
        return False
    for used in range(low, low + 3):
        if used != kind and not hand[used]:
            return False
    return True


# --- a seat at a table -----------------------------------------------------------------------


@compiled
def seat_discard_scores(state: State, seat: int, unseen: Counts) -> Blocks:
    """Return :func:`discard_scores` of a seat whose hand is known."""
    return discard_scores(state.hand[seat], unseen, melds_of(state, seat), value_kinds(state, seat))


@compiled
def call_gains(state: State, seat: int, kind: int, unseen: Counts) -> Blocks:
    """Return by how much each call of ``kind`` raises the best score of a seat: int16[4].

    0 or less where the call cannot be made or would not be: it must raise the score.
    """
    melds, values = melds_of(state, seat), value_kinds(state, seat)
    gains = call_scores(state.hand[seat], unseen, melds, values, kind)
    if gains.max() < 0:
        return gains
    standing = hand_scores(state.hand[seat], unseen, melds, values).max()
    for call in range(N_CALLS):
        if gains[call] >= 0:
            gains[call] -= standing
    return gains


@compiled
def after_call(state: State, seat: int, kind: int, call: int) -> tuple[Counts, Counts]:
    """Return a seat's hand (int8[34]) and melds (int8[2, 34]) after a call it can make."""
    return _after(state.hand[seat], melds_of(state, seat), kind, call)


@compiled
def call_if_fed(state: State, seat: int, kind: int, from_left: bool) -> tuple[int, int]:
    """Return the best call by ``seat`` if a tile of ``kind`` came on offer now, and its gain.

    The tile is one that the seat has not seen yet.  ``from_left``: a chi is allowed.  It would
    be called if the gain is above 0.
    """
    unseen = np.empty(N_KINDS, np.int8)
    unseen_kinds(state, seat, unseen)
    unseen[kind] -= 1
    gains = call_gains(state, seat, kind, unseen)
    best = PON_CALL
    if from_left:
        for call in range(PON_CALL):
            if gains[call] > gains[best]:
                best = call
    return best, int(gains[best])


@compiled
def nearest_call(state: State, seat: int, kind: int, from_left: bool) -> tuple[int, int]:
    """Return the call of ``kind`` that leaves the least shanten, and by how much it lowers it.

    0 or less where no call brings the seat forward or none can be made.
    """
    hand, n_melds = state.hand[seat], state.n_melds[seat]
    players = state.rules.players
    standing = shanten_of(hand, n_melds, players)
    best, gain = PON_CALL, -1
    for call in range(PON_CALL, -1 if from_left else PON_CALL - 1, -1):
        if _can_call(hand, kind, kind if call == PON_CALL else kind - call, call):
            rest, _ = after_call(state, seat, kind, call)
            nearer = standing - shanten_of(rest, n_melds + 1, players)
            if nearer > gain:
                best, gain = call, nearer
    return best, gain


@compiled
def helpful_kinds(state: State, seat: int) -> int:
    """Return the mask of kinds that the seat, not tenpai, would call if they came from the left.

    Each is a tile that the seat has not seen yet.
    """
    unseen = np.empty(N_KINDS, np.int8)
    unseen_kinds(state, seat, unseen)
    hand, values = state.hand[seat], value_kinds(state, seat)
    laid_out = new_hand(hand, unseen, melds_of(state, seat), values)
    kinds = 0
    for kind in range(N_KINDS):
        if unseen[kind] > 0:
            unseen[kind] -= 1
            kinds |= _helps(laid_out, unseen, values, kind) << kind
            unseen[kind] += 1
    return kinds


@compiled
def _helps(laid_out: LaidOutHand, unseen: Counts, values: int, kind: int) -> int:
    """Return 1 if a call of ``kind``, one copy of which is no longer unseen, raises the score."""
    best = -1
    for call in range(N_CALLS):
        best = max(best, _call_score(laid_out, unseen, values, kind, call))
    if best < 0:
        return 0
    layout, suit = laid_out.layout, kind // 9
    blocks, parts = layout.blocks[suit].copy(), layout.parts[suit].copy()
    scores = np.empty(N_YAKU, np.int16)
    lay_out_suit(layout, unseen, suit, values)
    write_scores(layout, values, scores)
    layout.blocks[suit], layout.parts[suit] = blocks, parts
    return int(best > scores.max())
