"""Did a player discard as if it knew another's concealed hand?  The test that accuses.

Given what player i sees, its discard does not depend on which hand j holds, whatever its style and
strength, unless it knows that hand.  Both sides of that are compared with their expectations:

    T = sum over kinds c in i's hand of (1[c was discarded] - w(c)) (s(c) - b(c) r(c))

* s(c): whether j's real hand needs c: a call of it lowers its shanten, or it completes the hand.
* r(c): the share of other hands that need it which could have been there instead.  They come from a
  Markov chain that starts at the real hand and swaps a tile for one that i has not seen either, to
  hands of the same shanten (and furiten or not, in tenpai).  The chain runs from the real hand in
  both directions, so that real hand and redraws can be exchanged if such hands are equally likely
  (Besag and Clifford 1989, "Generalized Monte Carlo significance tests").
* b(c): they are not, people keep pairs and middle tiles; so how much more often real hands need c
  than redrawn ones, by what all can see of c and j (:attr:`HiddenHandModel.needed`).
* w(c): the probability that unrelated players discard c from such a hand
  (:attr:`HiddenHandModel.chosen`).

T has mean 0 if either w or b r is right, and is off by the product of both errors if neither is
(Shah and Peters 2020, "The hardness of conditional independence testing and the generalised
covariance measure").  A player who keeps other tiles than most is corrected by its own level, how
often its hands need what they are expected to; the rest is corrected by the rivals
(:mod:`mjbot.analysis.collusion.residuals`).

:data:`OWN` tests the discarder's own hand: did i leave itself waiting for tiles that j does not
hold?  Its s is the number of each kind in j's hand, its c the kinds that i would accept.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.shanten import NEVER
from mjbot.game.rules.tile_sets import acceptance_of, holds_no_run, shanten_of
from mjbot.game.table.observe import genbutsu, unseen_kinds
from mjbot.game.table.seats import next_seat
from mjbot.game.table.state import ACCEPTED, NO_RIICHI, State
from mjbot.protocol.tiles import NORTH
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.splitmix import next_below

REDRAWS: Final = 12
THIN: Final = 8
"""Swaps tried from one redraw to the next."""
SCORES: Final = ("calls", "chi calls", "silent waits", "riichi waits", "own waits")
"""What a discard may do: serve a call of a seat that may not chi it, of the next seat, which may
(nobody of three players); complete the hand of a silent tenpai, of a riichi; leave the discarder
waiting for what the other holds."""
CALL, NEXT_CALL, WAIT, RIICHI, OWN = range(5)
N_SCORES: Final = 5

TURNS: Final = 3
EARLY: Final = 46
MIDDLE: Final = 22
"""Tiles left in the wall above which it is early, not late; of three players three quarters."""
CLASSES: Final = 4
COPIES: Final = 4
"""Copies unseen, capped at three."""
CHOSEN_CELLS: Final = 2 * CLASSES * TURNS * 3 * 3 * COPIES
NEEDED_CELLS: Final = 4 * CLASSES * COPIES * 2 * 2 * 2 * TURNS
HELD_CELLS: Final = CLASSES * 2 * 3 * 2 * 5 * TURNS
KEPT: Final = np.int64(-1)
"""In place of a mask: the discard is no candidate, it would give shanten away."""

Floats = NDArray[np.float64]
Masks = NDArray[np.int64]
Random = NDArray[np.uint64]


class HiddenHandModel(NamedTuple):
    """Expectations for unrelated players, by cells of public information.

    ``chosen`` float64[CHOSEN_CELLS] are weights of the discards of a hand, ``needed``
    float64[NEEDED_CELLS] and ``held`` float64[HELD_CELLS] how much more often real hands need
    (hold) a kind than redrawn ones.
    """

    chosen: Floats
    needed: Floats
    held: Floats


class ModelCounts(NamedTuple):
    """What a model is fitted to: of each of its cells what was, and what was to be expected."""

    chosen: Floats
    needed: Floats
    held: Floats


class Sums(NamedTuple):
    """Evidence of discards, added up by actor and by the player served.

    ``t`` float64[4, 4, N_SCORES] is T.  ``base`` float64[4, 4, N_SCORES, CLASSES] is what T would
    lose if hands needed tiles of a class twice as often as is expected, ``level``
    float64[4, N_SCORES, CLASSES, 2] how often the hands of each did, and were expected to.

    ``meaning`` float64[4, 4] gives the meaning of the last discard for each other seat: whether the
    real hand needs it, and how likely other hands would; how many of the kinds that the player then
    accepts the real hand holds, and how many other hands would.
    """

    t: Floats
    base: Floats
    level: Floats
    meaning: Floats


def no_sums() -> Sums:
    """Return sums of nothing."""
    return Sums(
        np.zeros((4, 4, N_SCORES)),
        np.zeros((4, 4, N_SCORES, CLASSES)),
        np.zeros((4, N_SCORES, CLASSES, 2)),
        np.zeros((4, 4)),
    )


def no_model() -> HiddenHandModel:
    """Return the uniform model: discards are equally likely, redraws are right."""
    return HiddenHandModel(np.ones(CHOSEN_CELLS), np.ones(NEEDED_CELLS), np.ones(HELD_CELLS))


def no_tally() -> ModelCounts:
    """Return a tally of nothing."""
    return ModelCounts(
        np.zeros((CHOSEN_CELLS, 2)), np.zeros((NEEDED_CELLS, 2)), np.zeros((HELD_CELLS, 2))
    )


class DiscardChoice(NamedTuple):
    """A player's choice of a discard: all arrays by kind.

    ``weights`` float64[34] are the chances to be chosen, ``cells`` int64[34] those of the model (-1
    where the hand does not hold the kind), ``accepts`` int64[34] the kinds that each discard leaves
    it waiting for (:data:`KEPT` if it gives shanten away), ``lost`` int64[34] the shanten that it
    gives away, ``unseen`` int64[34] the copies that the player has not seen.
    """

    weights: Floats
    cells: Masks
    accepts: Masks
    lost: Masks
    unseen: Masks


def no_discard() -> DiscardChoice:
    """Return room for a choice."""
    return DiscardChoice(np.zeros(34), *(np.zeros(34, np.int64) for _ in range(4)))


@compiled
def weigh_discards(state: State, seat: int, model: HiddenHandModel, out: DiscardChoice) -> None:
    """Fill in the possible discards of a hand, and their probability for unrelated players.

    Nothing is in ``out.cells`` but -1 where the discard is no choice, or the hand is not known.
    """
    out.cells[:] = -1
    out.weights[:] = 0.0
    if not state.hand_known[seat] or state.riichi[seat] == ACCEPTED:
        return
    hand, n_melds = state.hand[seat].copy(), int(state.n_melds[seat])
    players = int(state.rules.players)
    best = np.int64(NEVER)
    for kind in range(34):
        if hand[kind]:
            hand[kind] -= 1
            out.lost[kind], out.accepts[kind] = acceptance_of(hand, n_melds, players)
            best = min(best, out.lost[kind])
            hand[kind] += 1
    unseen = np.empty(34, np.int8)
    unseen_kinds(state, seat, unseen)
    safe, threatened = _safe_kinds(state, seat)
    turn, total = _turn(state), 0.0
    for kind in range(34):
        out.unseen[kind] = unseen[kind]
        if not hand[kind]:
            continue
        out.lost[kind] -= best
        keeps = out.lost[kind] == 0
        threat = 0 if not threatened else 2 - int((safe >> kind) & 1)
        cell = (int(keeps) * CLASSES + _class(kind, players)) * TURNS + turn
        cell = (cell * 3 + threat) * 3 + min(int(hand[kind]), 3) - 1
        cell = cell * COPIES + min(int(unseen[kind]), 3)
        out.cells[kind], out.weights[kind] = cell, model.chosen[cell]
        total += model.chosen[cell]
        if not keeps:
            out.accepts[kind] = KEPT
    for kind in range(34):
        out.weights[kind] /= total


@compiled
def tally_choice(discard: DiscardChoice, kind: int, tally: ModelCounts) -> None:
    """Add a discard from such a hand to the counts."""
    for each in range(34):
        if discard.cells[each] >= 0:
            tally.chosen[discard.cells[each], 0] += each == kind
            tally.chosen[discard.cells[each], 1] += discard.weights[each]


@compiled
def _safe_kinds(state: State, seat: int) -> tuple[np.int64, bool]:
    """Return what is safe against every riichi of others, and whether there is one."""
    safe, threatened = np.int64(-1), False
    for other in range(4):
        if other != seat and state.riichi[other] == ACCEPTED:
            threatened = True
            safe &= genbutsu(state, other)
    return safe, threatened


@compiled
def _class(kind: int, players: int) -> int:
    """Return 0 for what is in no run, 1 for terminals, 2 for twos and eights, 3 for the others."""
    if kind >= 27 or holds_no_run(kind, players):
        return 0
    return 1 + min(kind % 9, 8 - kind % 9, 2)


@compiled
def _turn(state: State) -> int:
    left = int(state.wall_left) * 4 // int(state.rules.players)
    return 0 if left > EARLY else (1 if left > MIDDLE else 2)


@compiled
def hold_against_hand(
    state: State,
    pair: tuple[int, int],
    kind: int,
    discard: DiscardChoice,
    model: HiddenHandModel,
    tally: ModelCounts,
    random: Random,
    out: Sums,
) -> None:
    """Add the evidence of a discard that ``pair[0]`` knew the hand of ``pair[1]``."""
    seat, other = pair
    out.meaning[other] = 0.0
    if discard.cells[kind] < 0 or not state.hand_known[other]:
        return
    n_melds, players = int(state.n_melds[other]), int(state.rules.players)
    here = shanten_of(state.hand[other], n_melds, players)
    asked = _query(state, seat, other, here)
    if asked < 0:
        return
    share, held = np.zeros(34), np.zeros(34)
    real = _redraw(state, pair, here, asked, discard, random, share, held)
    turn = _turn(state)
    river, called = np.int64(state.discarded[other]), int(n_melds > 0)
    for each in range(34):
        if discard.cells[each] < 0:
            continue
        place = _class(each, players)
        cell = (asked * CLASSES + place) * COPIES + min(discard.unseen[each], 3)
        cell = cell * 2 + ((river >> each) & 1)
        cell = ((cell * 2 + _is_suji(river, each)) * 2 + called) * TURNS + turn
        needs, weight = float((real >> each) & 1), discard.weights[each]
        tally.needed[cell, 0] += weight * needs
        tally.needed[cell, 1] += weight * share[each]
        expected = model.needed[cell] * share[each]
        surprise = (1.0 if each == kind else 0.0) - weight
        out.t[seat, other, asked] += surprise * (needs - expected)
        out.base[seat, other, asked, place] += surprise * expected
        out.level[other, asked, place, 0] += weight * needs
        out.level[other, asked, place, 1] += weight * expected
        if each == kind:
            out.meaning[other, 0], out.meaning[other, 1] = needs, expected
    if discard.accepts[kind] != KEPT:
        _hold_own_waits(state, pair, kind, discard, model, tally, held, out)


@compiled
def _query(state: State, seat: int, other: int, here: int) -> int:
    """Return which score applies to a hand; -1 for none: it may not call any more."""
    if state.riichi[other] != NO_RIICHI:
        return RIICHI
    if here == 0:
        return WAIT
    if state.wall_left == 0:
        return -1
    may_chi = state.rules.players == 4 and other == next_seat(state, seat)
    return NEXT_CALL if may_chi else CALL


@compiled
def _is_suji(river: np.int64, kind: int) -> int:
    """Return whether the own discards make a two-sided wait for a kind furiten."""
    if kind >= 27:
        return 0
    low = kind % 9 < 3 or (river >> (kind - 3)) & 1
    high = kind % 9 > 5 or (river >> (kind + 3)) & 1
    return int(low and high)


@compiled
def _hold_own_waits(
    state: State,
    pair: tuple[int, int],
    kind: int,
    discard: DiscardChoice,
    model: HiddenHandModel,
    tally: ModelCounts,
    held: Floats,
    out: Sums,
) -> None:
    """Add T of :data:`OWN`: does the discarder wait for kinds that the other holds?"""
    seat, other = pair
    reach, total = np.zeros(34), 0.0
    for each in range(34):
        if discard.cells[each] >= 0 and discard.accepts[each] != KEPT:
            total += discard.weights[each]
            for wanted in range(34):
                if (discard.accepts[each] >> wanted) & 1:
                    reach[wanted] += discard.weights[each]
    river, called, turn = np.int64(state.discarded[other]), state.n_melds[other] > 0, _turn(state)
    for wanted in range(34):
        share = reach[wanted] / total
        accepted = float((discard.accepts[kind] >> wanted) & 1)
        place = _class(wanted, int(state.rules.players))
        cell = (place * 2 + ((river >> wanted) & 1)) * 3 + _near(river, wanted)
        cell = ((cell * 2 + int(called)) * 5 + discard.unseen[wanted]) * TURNS + turn
        real, expected = float(state.hand[other, wanted]), model.held[cell] * held[wanted]
        out.meaning[other, 2] += accepted * real
        out.meaning[other, 3] += accepted * expected
        if 0.0 < share < 1.0:
            spread = share * (1 - share)
            tally.held[cell, 0] += spread * real
            tally.held[cell, 1] += spread * held[wanted]
            out.t[seat, other, OWN] += (accepted - share) * (real - expected)
            out.base[seat, other, OWN, place] += (accepted - share) * expected
            out.level[other, OWN, place, 0] += spread * real
            out.level[other, OWN, place, 1] += spread * expected


@compiled
def _near(river: np.int64, kind: int) -> int:
    """Return how many kinds within two of it were discarded, 2 at most."""
    if kind >= 27:
        return 0
    near = 0
    for step in (-2, -1, 1, 2):
        if 0 <= kind % 9 + step <= 8:
            near += int((river >> (kind + step)) & 1)
    return min(near, 2)


# --- redraws -------------------------------------------------------------------------------------


@compiled
def _redraw(
    state: State,
    pair: tuple[int, int],
    here: int,
    asked: int,
    discard: DiscardChoice,
    random: Random,
    share: Floats,
    held: Floats,
) -> np.int64:
    """Return which kinds the real hand needs, as a mask, of those that may be discarded.

    ``share`` float64[34] gets the share of redraws that need each, ``held`` float64[34] how many
    copies of each kind they hold on average.
    """
    seat, other = pair
    n_melds, players = int(state.n_melds[other]), int(state.rules.players)
    deck = np.empty(136, np.int8)
    n_hand, n_deck = _lay_out(state, seat, other, deck)
    hand = state.hand[other].copy()
    barred = np.int64(state.discarded[other]) if here == 0 else np.int64(0)
    is_furiten = barred != 0 and acceptance_of(hand, n_melds, players)[1] & barred != 0
    kept = np.array([n_hand, n_deck, n_melds, here, barred, int(is_furiten), players])
    real = _needs(hand, n_melds, asked, discard, players)
    back = next_below(random, REDRAWS + 1)
    real_deck = deck.copy()
    for number in range(REDRAWS):
        if number == back:  # from the real hand again, the other way
            deck[:] = real_deck
            for each in range(34):
                hand[each] = state.hand[other, each]
        for _ in range(THIN):
            _swap(hand, deck, kept, random)
        needs = _needs(hand, n_melds, asked, discard, players)
        for each in range(34):
            held[each] += hand[each] / REDRAWS
            share[each] += ((needs >> each) & 1) / REDRAWS
    return real


@compiled
def _needs(
    hand: NDArray[np.int8], n_melds: int, asked: int, discard: DiscardChoice, players: int
) -> np.int64:
    """Return the mask of kinds that complete a hand, or a call of which lowers its shanten."""
    if asked >= WAIT:
        return np.int64(acceptance_of(hand, n_melds, players)[1])
    needs = np.int64(0)
    for kind in range(34):
        may_call = discard.cells[kind] >= 0
        if may_call and call_helps(hand, n_melds, kind, asked == NEXT_CALL, players):
            needs |= np.int64(1) << kind
    return needs


@compiled
def call_helps(
    held: NDArray[np.int8], n_melds: int, kind: int, may_chi: bool, players: int
) -> bool:
    """Return whether a pon of a kind, or a chi, lowers a hand's shanten."""
    low_ends = may_chi and kind < 27
    if held[kind] < 2 and not low_ends:
        return False
    hand = held.copy()
    here = shanten_of(hand, n_melds, players)
    if hand[kind] >= 2:
        hand[kind] -= 2
        if shanten_of(hand, n_melds + 1, players) < here:
            return True
        hand[kind] += 2
    if not low_ends:
        return False
    for low in range(max(kind - kind % 9, kind - 2), min(kind, kind - kind % 9 + 6) + 1):
        one, two = low, low + 1
        if one == kind:
            one = low + 2
        elif two == kind:
            two = low + 2
        if hand[one] and hand[two]:
            hand[one] -= 1
            hand[two] -= 1
            helps = shanten_of(hand, n_melds + 1, players) < here
            hand[one] += 1
            hand[two] += 1
            if helps:
                return True
    return False


@compiled
def _lay_out(state: State, seat: int, other: int, deck: NDArray[np.int8]) -> tuple[int, int]:
    """Lay out the other's hand and then all else that the seat has not seen; return both sizes.

    Norths of three players are left where they are: hands keep few of them, and not by chance.
    """
    unseen = np.empty(34, np.int8)
    unseen_kinds(state, seat, unseen)
    n, fixed = 0, NORTH if state.rules.players == 3 else -1
    for kind in range(34):
        for _ in range(state.hand[other, kind] if kind != fixed else 0):
            deck[n] = kind
            n += 1
        unseen[kind] -= state.hand[other, kind]
    n_hand = n
    for kind in range(34):
        for _ in range(unseen[kind] if kind != fixed else 0):
            deck[n] = kind
            n += 1
    return n_hand, n


@compiled
def _swap(
    hand: NDArray[np.int8], deck: NDArray[np.int8], kept: NDArray[np.int64], random: Random
) -> None:
    """Swap a tile of the hand if that leaves shanten and furiten as they are.

    ``kept`` has the sizes of hand and deck, the melds, the shanten, the own discards, whether the
    hand is furiten by those, and the number of players.
    """
    n_hand, n_deck, n_melds, players = kept[0], kept[1], kept[2], kept[6]
    if n_hand == 0:  # but norths
        return
    place = next_below(random, n_hand)
    other = n_hand + next_below(random, n_deck - n_hand)
    old, new = deck[place], deck[other]
    if old == new:
        return
    hand[old] -= 1
    hand[new] += 1
    stays = shanten_of(hand, n_melds, players) == kept[3]
    if stays and kept[4]:
        stays = (acceptance_of(hand, n_melds, players)[1] & kept[4] != 0) == (kept[5] != 0)
    if stays:
        deck[place], deck[other] = new, old
        return
    hand[old] += 1
    hand[new] -= 1
