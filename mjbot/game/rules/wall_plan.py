"""Where the parts of a wall lie: the places in the array of its tiles, for each number of players.

The hands lie first: those of seat ``s`` are the 13 tiles from place ``13 * s`` on.  Every part is
in the order in which its tiles are drawn or turned; markers lie ``marker_step`` places apart.

With three players parts overlap, as they do on Tenhou: 55 draws are due, those from the dead wall
included, and each of these leaves one tile of the live wall undrawn.  So the last four places of
the live wall hold the fourth and fifth markers, which only turn after three and four kans.
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
    marker_step: Int16
    rinshan: Int16  # to the end


_PLANS: Final = {
    3: {
        "n_tiles": 108,
        "live": 39,
        "n_live": 55,
        "dora": 98,
        "ura": 99,
        "marker_step": -2,
        "rinshan": 100,
    },
    4: {
        "n_tiles": 136,
        "live": 52,
        "n_live": 70,
        "dora": 122,
        "ura": 127,
        "marker_step": 1,
        "rinshan": 132,
    },
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
