"""Mortal's 46 actions, and which of our action codes each of them is.

0..36 discard that tile (34..36 the red fives), 37 declare riichi, 38, 39, 40 chi with the claimed
tile lowest, in the middle, highest, 41 pon, 42 any kan, 43 win, 44 abort by nine terminals, 45
pass.  Three players have no chi: at their tables 38 sets a north aside (kita).  After riichi the
discard is a second choice; after a kan of the own turn, where several are possible, the kind is
one, among 0..33.

An action stands for the *last* of the codes (:mod:`mjbot.game.table.actions`) that it can mean,
which is what Mortal does: a tile that is also the drawn one is discarded as drawn (tsumogiri), and
a pon or chi that can give up a red five gives it up.

Actions beyond 45 cover the rest: ``N_ACTIONS + code`` is any of our own codes.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.actions import ACTIONS, CONCEALED_KAN, Action
from mjbot.protocol.tiles import N_KINDS, TILE_NAMES
from mjbot.runtime.compiler.compiled import compiled

RIICHI: Final = 37
CHI: Final = 38
"""And the offset of the claimed tile in the run, 0..2."""
KITA: Final = CHI
"""At tables of three players, who have no chi: the number of actions is the same for both."""
PON: Final = 41
KAN: Final = 42
WIN: Final = 43
NINE_TERMINALS: Final = 44
PASS: Final = 45
N_ACTIONS: Final = 46

NAMES: Final = (
    *(f"discard {tile}" for tile in TILE_NAMES[:RIICHI]),
    *("riichi", "chi low", "chi middle", "chi high", "pon", "kan", "win", "nine terminals", "pass"),
)
"""By action; while the kind of a kan is chosen, a discard's number means that kind."""

ILLEGAL: Final = -1
SEVERAL_KANS: Final = -2


def name_of(action: int, n_seats: int) -> str:
    """Return what an action is called at a table of so many seats.

    >>> name_of(38, 4), name_of(38, 3)
    ('chi low', 'kita')
    """
    return "kita" if action == KITA and n_seats == 3 else NAMES[action]


def _action_of(action: Action) -> int:
    if action.is_discard:
        return action.tile
    if action.is_kan:
        return KAN
    if action.is_win:
        return WIN
    if action.name == "chi":
        return CHI + action.offset
    if action.is_kita:
        return KITA
    return {"riichi": RIICHI, "pon": PON, "pass": PASS}.get(action.name, NINE_TERMINALS)


ACTION_OF_CODE: Final = np.array([_action_of(action) for action in ACTIONS], np.int8)
"""The action 0..45 that a code of ours is part of: int8[157]."""


@compiled
def write_mask(codes: NDArray[np.uint8], n: int, at_kan: bool, mask: NDArray[np.uint8]) -> None:
    """Fill uint8[46] with 1 for what the first ``n`` codes allow, ``at_kan`` for kinds of kan."""
    for action in range(N_ACTIONS):
        mask[action] = 0
    for index in range(n):
        action = ACTION_OF_CODE[codes[index]]
        if not at_kan:
            mask[action] = 1
        elif action == KAN:
            mask[kan_kind(codes[index])] = 1


@compiled
def kan_kind(code: int) -> int:
    """Return the kind 0..33 of a code that is a kan of the own turn."""
    return (code - CONCEALED_KAN) % N_KINDS


@compiled
def code_of(codes: NDArray[np.uint8], n: int, at_kan: bool, action: int) -> int:
    """Return the code, of the first ``n``, that an action stands for; ILLEGAL or SEVERAL_KANS."""
    chosen, kans = ILLEGAL, 0
    for index in range(n):
        code = int(codes[index])
        meant = int(ACTION_OF_CODE[code])
        if at_kan:
            meant = kan_kind(code) if meant == KAN else ILLEGAL
        elif meant == KAN:
            kans += 1
        if meant == action or N_ACTIONS + code == action:
            chosen = code
    return SEVERAL_KANS if action == KAN and kans > 1 else chosen


@compiled
def is_one_action(codes: NDArray[np.uint8], n: int) -> bool:
    """Whether the first ``n`` codes are all the same action: one tile, from the hand or drawn."""
    for index in range(1, n):
        if ACTION_OF_CODE[codes[index]] != ACTION_OF_CODE[codes[0]]:
            return False
    return True
