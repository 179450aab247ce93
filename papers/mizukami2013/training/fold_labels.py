"""Labels for the fold recogniser, derived from records: which discards fold.

The paper (Mizukami et al. 2013, section 7.1) had people label positions: to fold is to give up the
win to the end of the hand.  Here a player folds if, under threat (an opponent in riichi or,
without one, an opponent with two melds), it breaks a complete meld or raises its shanten with a
discard of the two safest grades against all threatening opponents, and does not return.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.shanten import shanten
from mjbot.game.table.state import State
from mjbot.learning.models.fold_features import NEARLY_SAFE, NO_SUJI, SUJI, joint_grades, threats_to
from mjbot.protocol.tiles import N_KINDS
from mjbot.runtime.compiler.compiled import compiled

PUSH: Final = 0
FOLD: Final = 1
UNCLEAR: Final = -1
"""Fold and push both fit; nothing is learned from it."""

# Columns of what is known of a decision.
_BEFORE: Final = 0  # shanten before the discard, of 3n+2 tiles
_AFTER: Final = 1
_MELDS: Final = 2
_COSTLY: Final = 3  # 1 if the discard raises the shanten or breaks a complete meld
_THREAT: Final = 4  # 1 under threat, and not in riichi oneself
_GRADE: Final = 5  # joint grade of the discard
_BEST: Final = 6  # joint grade of the safest tile in hand
_N_COLUMNS: Final = 7

States = Any
"""Records of :data:`mjbot.game.table.state.STATE`, [n]."""
SafetyMarks = NDArray[np.int8]


@compiled
def label_hand(states: States, kinds: NDArray[np.int8], seat: int, won: bool) -> NDArray[np.int8]:
    """Return FOLD, PUSH or UNCLEAR for each discard of one seat in one kyoku: int8[n].

    ``states`` (STATE[n]) are the tables before each discard, of a riichi before it is declared;
    ``kinds`` (int8[n]) the discards; ``won`` is whether the seat won the kyoku.

    UNCLEAR are a detour, from the discard that resembles folding to the player's return; and
    discards without risk (suji or better, or as safe as the hand has) that cost nothing, short of
    tenpai, after which it folded without anything else in between or the kyoku ended.
    """
    n = len(kinds)
    marks = np.empty((n, _N_COLUMNS), np.int8)
    for at in range(n):
        _mark_kind(states[at], seat, kinds[at], marks[at])
    labels = np.zeros(n, np.int8)
    at, fold = 0, n
    while at < n:
        back = at
        if marks[at, _THREAT] and marks[at, _COSTLY] and marks[at, _GRADE] <= NEARLY_SAFE:
            back = _return(marks, at)
            if back == n and not won:
                fold = at
                break
        labels[at:back] = UNCLEAR
        at = max(back, at + 1)
    labels[fold:] = FOLD
    if not won:
        _doubt_waiting(marks, labels, fold)
    return labels


@compiled
def steps_aside(state: State, seat: int, wanted: int, played: int) -> bool:
    """Return whether a threatened player preferred a safer discard to the best one for its hand.

    ``wanted`` and ``played`` are kinds.  Folding and going round (mawashi) both do that; a player
    that does neither pushes.
    """
    threats = threats_to(state, seat)
    if threats == 0 or state.riichi[seat]:
        return False
    grades = joint_grades(state, seat, threats)
    return bool(grades[played] < grades[wanted])


@compiled
def _mark_kind(state: State, seat: int, kind: int, marks: NDArray[np.int8]) -> None:
    hand = state.hand[seat].copy()
    threats = threats_to(state, seat)
    grades = joint_grades(state, seat, threats)
    marks[_MELDS] = state.n_melds[seat]
    marks[_BEFORE] = shanten(hand, state.n_melds[seat])
    marks[_BEST] = NO_SUJI
    for held in range(N_KINDS):
        if hand[held]:
            marks[_BEST] = min(marks[_BEST], grades[held])
    melds = complete_melds(hand)
    hand[kind] -= 1
    marks[_AFTER] = shanten(hand, state.n_melds[seat])
    marks[_COSTLY] = marks[_AFTER] > marks[_BEFORE] or complete_melds(hand) < melds
    marks[_THREAT] = threats != 0 and not state.riichi[seat]
    marks[_GRADE] = grades[kind]


@compiled
def _return(marks: SafetyMarks, fold: int) -> int:
    """Return the first decision after ``fold`` that shows that the player resumes the hand, else n.

    It calls, is nearer to a win than before or in tenpai again, or throws a tile of the worst
    grade though it holds one of the two safest.
    """
    for at in range(fold + 1, len(marks)):
        row = marks[at]
        if row[_MELDS] > marks[fold, _MELDS] or row[_AFTER] < max(marks[fold, _BEFORE], 1):
            return at
        if row[_THREAT] and row[_GRADE] == NO_SUJI and row[_BEST] <= NEARLY_SAFE:
            return at
    return len(marks)


@compiled
def _doubt_waiting(marks: SafetyMarks, labels: NDArray[np.int8], end: int) -> None:
    """Mark the discards that were as safe as could be just before decision ``end`` as unclear."""
    at = end - 1
    while at >= 0 and labels[at] == PUSH and marks[at, _THREAT]:
        if marks[at, _GRADE] > max(SUJI, marks[at, _BEST]) or marks[at, _AFTER] == 0:
            return
        labels[at] = UNCLEAR
        at -= 1


@compiled
def complete_melds(hand: NDArray[np.int8]) -> int:
    """Return the most melds that the concealed tiles (int8[34]) hold.

    >>> from mjbot.game.rules.kinds import hand_counts
    >>> [complete_melds(hand_counts(text)) for text in ("111234m", "112233m", "1112m222z")]
    [2, 2, 2]
    """
    total = 0
    for kind in range(27, N_KINDS):
        total += hand[kind] >= 3
    for first in range(0, 27, 9):
        total += _suit_melds(hand[first : first + 9])
    return total


@compiled
def _suit_melds(suit: NDArray[np.int8]) -> int:
    """Return the most melds of nine counts: every choice of triplets, then all runs from below."""
    triplets = 0
    for rank in range(9):
        triplets |= int(suit[rank] >= 3) << rank
    most, chosen = 0, triplets
    rest = np.empty(9, np.int8)
    while chosen >= 0:
        melds = 0
        for rank in range(9):
            taken = chosen >> rank & 1
            rest[rank] = suit[rank] - 3 * taken
            melds += taken
        for rank in range(7):
            runs = min(rest[rank], rest[rank + 1], rest[rank + 2])
            for step in range(3):
                rest[rank + step] -= runs
            melds += runs
        most = max(most, melds)
        chosen = (chosen - 1) & triplets if chosen else -1
    return most
