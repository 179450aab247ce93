"""The tiles that a game is played with, and what shanten and waits are where some are missing.

Three players have no 2m to 8m, so no run holds a 1m or 9m.  Their shanten is that of
:mod:`mjbot.game.rules.shanten` for the hand without a fourth 1m or 9m.  A fourth copy is of use in
a run only.  With three copies or fewer no run of man needs fewer tiles than triplets and pairs do:
a run with one tile needs two, as the triplet of that tile does; one without needs three, as the
triplet of any of 27 kinds that the hand lacks and the other blocks do not use.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.acceptance import shanten_and_acceptance, waits
from mjbot.game.rules.kinds import Counts
from mjbot.game.rules.shanten import shanten
from mjbot.protocol.tiles import FIRST_HONOUR, N_KINDS
from mjbot.runtime.compiler.compiled import compiled

_MISSING: Final = 0x7F << 1  # 2m to 8m
_LOW: Final = 0  # 1m
_HIGH: Final = 8  # 9m
_USEFUL: Final = 3  # copies of these that blocks can hold


@compiled
def write_tiles(players: int, tiles: NDArray[np.int8]) -> int:
    """Write the tiles (0..36) of a game in order, one red five a suit; return how many there are.

    >>> tiles = np.empty(136, np.int8)
    >>> write_tiles(3, tiles), tiles[2:10].tolist(), tiles[22:26].tolist()
    (108, [0, 0, 8, 8, 8, 8, 9, 9], [12, 12, 35, 13])
    """
    n = 0
    for kind in range(N_KINDS):
        if players == 3 and _MISSING >> kind & 1:
            continue
        for copy in range(4):
            tiles[n + copy] = kind
        if kind < FIRST_HONOUR and kind % 9 == 4:
            tiles[n] = N_KINDS + kind // 9
        n += 4
    return n


@compiled
def holds_no_run(kind: int, players: int) -> bool:
    """Return whether a number tile is in no run: 1m and 9m of three players.

    >>> [bool(holds_no_run(kind, 3)) for kind in (0, 8, 9)], bool(holds_no_run(0, 4))
    ([True, True, False], False)
    """
    return players == 3 and kind <= _HIGH


@compiled
def _useful(hand: Counts) -> Counts:
    """Return a hand of three players without what no block can hold."""
    if hand[_LOW] <= _USEFUL and hand[_HIGH] <= _USEFUL:
        return hand
    useful = hand.copy()
    useful[_LOW] = min(useful[_LOW], np.int8(_USEFUL))
    useful[_HIGH] = min(useful[_HIGH], np.int8(_USEFUL))
    return useful


@compiled
def _accepted(hand: Counts, mask: int) -> int:
    """Return the kinds of three players' acceptance that are in the game and of use."""
    for kind in (_LOW, _HIGH):
        if hand[kind] >= _USEFUL:
            mask &= ~(1 << kind)
    return mask & ~_MISSING


@compiled
def shanten_of(hand: Counts, n_melds: int, players: int) -> int:
    """Return the shanten of a hand at a table of so many players.

    >>> from mjbot.game.rules.kinds import hand_counts
    >>> hand = hand_counts("1111m9999m555p66p")
    >>> shanten_of(hand, 0, 4), shanten_of(hand, 0, 3)
    (1, 2)
    """
    if players == 4:
        return shanten(hand, n_melds)
    return _shanten_without_runs(hand, n_melds)


@compiled
def acceptance_of(hand: Counts, n_melds: int, players: int) -> tuple[int, int]:
    """Return the shanten of a hand of 3n+1 tiles and the mask of kinds that lower it."""
    if players == 4:
        return shanten_and_acceptance(hand, n_melds)
    return _acceptance_without_runs(hand, n_melds)


@compiled
def waits_of(hand: Counts, n_melds: int, players: int) -> int:
    """Return the mask of kinds completing a hand of 3n+1 tiles; 0 if it is not tenpai.

    A complete hand holds no missing tile, so three players wait on what four would without these.
    """
    mask = waits(hand, n_melds)
    return mask & ~_MISSING if players == 3 else mask


# What three players need is apart, so that the compiler puts the functions above into their
# callers: for four players they cost a comparison, where a call costs as much as the look-ups.


@compiled
def _shanten_without_runs(hand: Counts, n_melds: int) -> int:
    return shanten(_useful(hand), n_melds)


@compiled
def _acceptance_without_runs(hand: Counts, n_melds: int) -> tuple[int, int]:
    away, mask = shanten_and_acceptance(_useful(hand), n_melds)
    return away, _accepted(hand, mask)
