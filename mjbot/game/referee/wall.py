"""Walls from seeds, and which of its tiles the next draw brings.

The same (seed, round, honba) always gives the same tiles.  Usually they come in order:
each call shifts what all seats draw from then on.

With *pinned* draws (``state.pinned``), as in duplicate play, each seat has its own part: those
tiles of the live wall that it would draw without calls.  Its n-th draw is the n-th tile of its
part, whatever was called before.  So a kyoku without chi, pon and open kan is the same with and
without pinning.  What is not pinned:

* Tiles of the dead wall come in the order of the kans and kita, whichever seat declares them.
* A kan or kita takes the last undrawn tile of the live wall away, as always.
* Calls give some seats more draws than their part holds, and others fewer.  A seat whose
  part is used up draws the last undrawn tile of all parts: what others come to last.
* The last four tiles of three players' live wall belong to no seat, as they hold the fourth and
  fifth markers.  They are drawn in order once the parts, of 17 tiles each, are used up.  So they
  are drawn at the very end, when as many kans as turn a marker there are not possible any more.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.tile_sets import write_tiles
from mjbot.game.rules.wall_plan import MAX_MARKERS
from mjbot.game.table.assume import assume_pinned_wall
from mjbot.game.table.seats import seat_after, steps_between
from mjbot.game.table.state import State
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.splitmix import GOLDEN, mix

N_WALL: Final = 136


@compiled
def shuffle_wall(seed: int, round_: int, honba: int, wall: NDArray[np.int8], players: int) -> None:
    """Fill int8[136], of three players 108 of it, with a fair shuffle; one red five per suit."""
    n_tiles = write_tiles(players, wall)
    key = mix(np.uint64(seed) + GOLDEN)
    key = mix(key ^ (np.uint64(round_) << np.uint64(32)) ^ np.uint64(honba))
    for index in range(n_tiles - 1, 0, -1):
        key += GOLDEN
        # 32 random bits scaled to 0..index: the bias is below 136 / 2**32
        other = np.int64(((mix(key) >> np.uint64(32)) * np.uint64(index + 1)) >> np.uint64(32))
        kept = wall[index]
        wall[index] = wall[other]
        wall[other] = kept


@compiled
def next_live_tile(state: State, seat: int) -> int:
    """Return the tile (0..36) that ``seat`` gets if it draws from the live wall now."""
    index = _pinned_index(state, seat) if state.pinned else _drawn_in_order(state)
    return int(state.wall[state.rules.wall.live + index])


@compiled
def _drawn_in_order(state: State) -> int:
    """Return how many tiles of the live wall are drawn; those that kans took are at its end."""
    return int(state.rules.wall.n_live - state.wall_left - state.rinshan_taken)


@compiled
def _pinned_index(state: State, seat: int) -> int:
    """Return which tile of the live wall is next for the seat.

    Tiles leave from the end by kans and by draws beyond a part, all others in the order of their
    part.  So the counts of draws alone show which are left.
    """
    drawn, n_parts = _drawn_in_order(state), _n_parts(state)
    if drawn >= n_parts:
        return drawn
    gone = _gone_from_the_end(state)
    last = n_parts - 1
    while last > 0 and (_drawn_in_turn(state, last) or gone > 0):
        gone -= not _drawn_in_turn(state, last)
        last -= 1
    own = state.rules.players * state.draws[seat] + steps_between(state, state.dealer, seat)
    return int(min(own, last))


@compiled
def _gone_from_the_end(state: State) -> int:
    """Return how many tiles kans and draws beyond a part have taken from the end of all parts."""
    gone = max(0, int(state.rinshan_taken) - state.rules.wall.n_live + _n_parts(state))
    for other in range(state.rules.players):
        gone += max(0, state.draws[other] - _part(state, other))
    return gone


@compiled
def pin_wall(state: State) -> None:
    """Pin the draws from here on, also where they were not pinned before.

    The tiles that are left in the live wall, in its order so far, go to the places of the parts
    that are still to be drawn from.  Nothing changes at a table at which the seats' draws do not
    add up, as in a position that was set up by hand.
    """
    first, n_parts = state.rules.wall.live, _n_parts(state)
    drawn, gone = _drawn_in_order(state), _gone_from_the_end(state)
    left = -gone
    for index in range(n_parts):
        left += not _drawn_in_turn(state, index)
    if left != min(state.wall_left, n_parts - drawn):
        return
    live = state.wall[first : first + state.rules.wall.n_live].copy()
    following = first + drawn
    for index in range(n_parts - 1, -1, -1):
        if _drawn_in_turn(state, index):
            continue
        if gone > 0:
            gone -= 1
        else:
            live[index] = state.wall[following]
            following += 1
    assume_pinned_wall(state, live)


@compiled
def _n_parts(state: State) -> int:
    """Return how many tiles of the live wall are in the seats' parts: those before all markers."""
    plan = state.rules.wall
    markers = plan.dora + (MAX_MARKERS - 1) * min(0, plan.marker_step)
    return int(min(plan.n_live, markers - plan.live))


@compiled
def _part(state: State, seat: int) -> int:
    """Return how many tiles the seat's part of the live wall holds: 18 or 17."""
    rest = _n_parts(state) - steps_between(state, state.dealer, seat)
    return int((rest + state.rules.players - 1) // state.rules.players)


@compiled
def _drawn_in_turn(state: State, index: int) -> bool:
    """Return whether the owner of that tile of the live wall has come to it."""
    turn = index // state.rules.players
    owner = seat_after(state, state.dealer, index - turn * state.rules.players)
    return bool(turn < state.draws[owner])
