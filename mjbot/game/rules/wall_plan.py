"""Where the parts of a wall lie: the places in the array of its tiles, for each number of players.

The hands lie first: those of seat ``s`` are the 13 tiles from place ``13 * s`` on.  Every part is
in the order in which its tiles are drawn or turned.
"""

from typing import Final

from mjbot.runtime.compiler.record import Int16, Record

HAND_TILES: Final = 13
"""Tiles that a seat is dealt."""
MAX_MARKERS: Final = 5


class WallPlan(Record):
    """The first place of each part behind the hands, and how many tiles there are."""

    n_tiles: Int16  # of the whole wall, the hands included
    live: Int16
    n_live: Int16  # draws of a kyoku, those from the dead wall included
    dora: Int16  # five markers
    ura: Int16  # the five below them
    rinshan: Int16
    n_rinshan: Int16  # replacement draws that a kyoku can have


_PLANS: Final = {
    4: {
        "n_tiles": 136,
        "live": 52,
        "n_live": 70,
        "dora": 122,
        "ura": 127,
        "rinshan": 132,
        "n_rinshan": 4,
    }
}


def wall_plan(players: int) -> WallPlan:
    """Return the plan of the wall for so many players.

    >>> int(wall_plan(4)["live"])
    52
    """
    plan = WallPlan.new()
    for name, value in _PLANS[players].items():
        plan[name] = value
    return plan


FOUR_PLAYERS: Final = wall_plan(4)
