"""How safe a discard is against one opponent: the four grades of Mizukami et al. 2013.

Section 7.2 of the paper, safest first: genbutsu; an honour of which one or more are on the table,
suji of the terminals, or behind a wall; other honours and other suji; no suji.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.table.observe import unseen_kinds
from mjbot.table.state import State
from protocol.tiles import N_KINDS

GENBUTSU: Final = 0
NEARLY_SAFE: Final = 1
SUJI: Final = 2
NO_SUJI: Final = 3
N_GRADES: Final = 4

THREATENING_MELDS: Final = 2
FIRST_HONOUR: Final = 27

# What a two-sided wait on one side of a number tile is.
_POSSIBLE: Final = 0
_NO_SUCH: Final = 1  # there are no three ranks on that side
_FURITEN: Final = 2  # its other tile is genbutsu
_WALLED: Final = 3  # all copies of a tile it needs are in sight


@compiled
def safety_grade(state: State, unseen: NDArray[np.int8], viewer: int, seat: int, kind: int) -> int:
    """Return the grade of a kind against ``seat`` as ``viewer`` sees it.

    ``unseen`` is int8[34], the copies that the viewer does not see.  Genbutsu are the seat's own
    discards and what it let pass since its riichi.  An honour counts as shown by rivers, melds
    and dora markers, not by the viewer's own hand; a wall is made of all that the viewer sees.
    A tile is behind a wall if no two-sided wait on it is left and a wall is why on one side.
    """
    genbutsu = state.discarded[seat] | state.passed[seat]
    if genbutsu >> kind & 1:
        return GENBUTSU
    if kind >= FIRST_HONOUR:
        shown = 4 - unseen[kind] - state.hand[viewer, kind]
        return NEARLY_SAFE if shown > 0 else SUJI
    low, high = _side(genbutsu, unseen, kind, -1), _side(genbutsu, unseen, kind, 1)
    if low == _POSSIBLE or high == _POSSIBLE:
        return NO_SUJI
    terminal = kind % 9 == 0 or kind % 9 == 8
    return NEARLY_SAFE if terminal or low == _WALLED or high == _WALLED else SUJI


@compiled
def safety_grades(state: State, viewer: int, seat: int) -> NDArray[np.int8]:
    """Return the grade of every kind against ``seat`` as ``viewer`` sees it: int8[34]."""
    unseen = np.empty(N_KINDS, np.int8)
    unseen_kinds(state, viewer, unseen)
    grades = np.empty(N_KINDS, np.int8)
    for kind in range(N_KINDS):
        grades[kind] = safety_grade(state, unseen, viewer, seat, kind)
    return grades


@compiled
def threats_to(state: State, viewer: int) -> int:
    """Return a mask of the seats that threaten ``viewer``.

    The opponents in riichi; if there are none, those with two melds or more.
    """
    riichi, called = 0, 0
    for step in range(1, 4):
        seat = (viewer + step) & 3
        if state.riichi[seat]:
            riichi |= 1 << seat
        elif state.n_melds[seat] >= THREATENING_MELDS:
            called |= 1 << seat
    return riichi if riichi else called


@compiled
def joint_grades(state: State, viewer: int, seats: int) -> NDArray[np.int8]:
    """Return each kind's worst grade against the seats in a mask, 0 for no seat: int8[34]."""
    worst = np.zeros(N_KINDS, np.int8)
    for seat in range(4):
        if seats >> seat & 1:
            grades = safety_grades(state, viewer, seat)
            for kind in range(N_KINDS):
                worst[kind] = max(worst[kind], grades[kind])
    return worst


@compiled
def _side(genbutsu: int, unseen: NDArray[np.int8], kind: int, step: int) -> int:
    """Return what the two-sided wait on ``kind`` is that the two tiles below (-1) or above make."""
    rank = kind % 9 + 3 * step
    if rank < 0 or rank > 8:
        return _NO_SUCH
    if genbutsu >> (kind + 3 * step) & 1:
        return _FURITEN
    if unseen[kind + step] == 0 or unseen[kind + 2 * step] == 0:
        return _WALLED
    return _POSSIBLE
