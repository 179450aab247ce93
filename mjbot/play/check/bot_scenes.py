"""The scenes in which bots are checked, one for each situation of a check."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from mjbot.game.referee import Position
from mjbot.play.check.bot_table import Scene
from mjbot.play.check.made_games import (
    JUNK,
    Deal,
    aborted_by,
    closed_by,
    ruined_by,
)

PLAIN: Final = Scene(
    name="plain",
    ids=("B01", "B02", "B03", "B04", "B05", "B06", "B07", "B08", "B09", "B10", "B28", "B29"),
    bot=2,
    deals=[None],
)
AGAIN: Final = Scene(name="again", ids=("B30",), bot=2, deals=[None])
CROWD: Final = Scene(name="crowd", ids=("B31",), bot=2, deals=[closed_by(0, 3)], survival="B31")

_KANCHAN: Final = "13m456p789p678s33z"
"""Tenpai on 2m without a yaku."""
_PINFU: Final = "78m123456p456s22s"
"""Tenpai on 6m and 9m with pinfu."""

CALLS: Final = Scene(
    name="calls",
    ids=("B08", "B11", "B15", "B17"),
    bot=1,
    deals=[
        closed_by(
            3,
            4,
            {1: "40567m55z666z258s", 0: "4m5z6z", 2: "5z"},
            draws={1: "1s4s8s"},
            wishes={0: ("discard 4m", "discard F"), 2: ("discard P",)},
            filler="7z",
        ),
        closed_by(
            2,
            4,
            {1: "0789p44p147m99m23z", 0: "6p6p", 3: "9m"},
            draws={1: "1z3z"},
            wishes={0: ("discard 6p", "discard 6p"), 3: ("discard 9m",)},
        ),
    ],
)
REDS: Final = Scene(
    name="red fives",
    ids=("B08", "B09"),
    bot=3,
    deals=[closed_by(0, 5, {3: JUNK}, draws={3: "0m0p0s"})],
)
KANS: Final = Scene(
    name="own kans",
    ids=("B17",),
    bot=0,
    deals=[
        closed_by(
            2,
            5,
            {0: "1111z55z258p147s2z", 1: "5z"},
            draws={0: "9m5z"},
            wishes={1: ("discard P",)},
            rinshan="8s",
        ),
        closed_by(2, 4, {0: "777z258p147s369m2z", 1: "7z"}, wishes={1: ("discard C",)}),
    ],
)
RIICHI: Final = Scene(
    name="riichi",
    ids=("B12", "B14"),
    bot=0,
    deals=[
        closed_by(2, 6, {0: "111z456p789p22s56s"}, draws={0: "8m1z3z4z"}, rinshan="3z", dora="6z")
    ],
)
POVERTY: Final = Scene(
    name="900 points, then below zero",
    ids=("B13", "B24"),
    bot=0,
    deals=[
        aborted_by(1),
        ruined_by(1),
        ruined_by(2),
        closed_by(2, 4, {0: "234567m23455p56s"}, draws={0: "9m1z"}, dora="6z"),
        ruined_by(1),
    ],
)
ROBBED: Final = Scene(
    name="a robbed kan",
    ids=("B18", "B16"),
    bot=0,
    survival="B18",
    deals=[
        Deal(
            {0: "33m258p147s1247z5m", 1: "22m9p", 2: _KANCHAN, 3: "2m"},
            {1: "9s2m", 0: "8s"},
            {3: ("discard 2m",), 1: ("pon", "discard 9p", "kakan 2m"), 2: ("ron",)},
        )
    ],
)
TWO_KANS: Final = Scene(
    name="two kans in a row",
    ids=("B18", "B16"),
    bot=0,
    survival="B18",
    deals=[
        Deal(
            {0: "369m258p147s1234z", 1: "1111m2222m456p78s"},
            {1: "3z"},
            {1: ("ankan 1m", "ankan 2m", "tsumo")},
            rinshan="9s3z",
        ),
        closed_by(
            2,
            5,
            {3: "8m4p", 1: "88m44p7z9p"},
            draws={1: "9s8m", 3: "9s8s"},
            wishes={
                3: ("discard 8m", "discard 4p"),
                1: ("pon", "discard 9p", "pon", "discard C", "kakan 8m", "kakan 4p"),
            },
            rinshan="4p8s",
        ),
    ],
)
_OPEN_KAN: Final = closed_by(
    2, 4, {0: JUNK, 3: "7z", 1: "777z"}, wishes={3: ("discard C",), 1: ("daiminkan",)}, rinshan="8s"
)
LATE_DORA: Final = Scene(
    name="a dora after the discard",
    ids=("B19",),
    bot=0,
    deals=[_OPEN_KAN],
    survival="B19",
    habit="late dora",
)
EARLY_DORA: Final = Scene(
    name="a dora before the discard", ids=("B19",), bot=0, deals=[_OPEN_KAN], survival="B19"
)
WINS: Final = Scene(
    name="wins",
    ids=("B20",),
    bot=1,
    deals=[
        closed_by(
            3,
            4,
            {1: _KANCHAN, 0: "2m2m"},
            draws={1: "8m"},
            wishes={0: ("discard 2m", "discard 2m")},
        ),
        closed_by(
            3,
            5,
            {1: _PINFU, 0: "6m", 2: "9m9m"},
            draws={1: "1z"},
            wishes={0: ("discard 6m",), 2: ("discard 9m", "discard 9m")},
        ),
        closed_by(3, 4, {1: _PINFU, 0: JUNK}, draws={1: "1z6m", 0: "8s"}),
    ],
)
NINE: Final = Scene(
    name="nine terminals",
    ids=("B21",),
    bot=0,
    survival="B21",
    deals=[
        closed_by(2, 3, {0: "19m19p19s1234z258m"}, draws={0: "6z"}),
        aborted_by(1),
        closed_by(3, 3, {0: JUNK}),
    ],
)
ABORTED: Final = Scene(
    name="abortive draws",
    ids=("B22",),
    bot=3,
    survival="B22",
    deals=[
        Deal(
            {1: "1111m2222m", 2: "33m4444m666s9p", 0: "3m", 3: "258p147s1357z8m9s"},
            {2: "3z3z3m7p"},
            {
                1: ("ankan 1m", "ankan 2m"),
                0: ("discard 3m",),
                2: ("pon", "ankan 4m", "discard 9p", "kakan 3m"),
            },
            rinshan="1s2s6z3s",
        ),
        Deal(
            {0: "2z", 1: "123456789m123s2z", 2: "2z", 3: "2345667m234p78p2z"},
            {1: "9s6z9s", 3: "9p"},
            {0: ("discard S",), 1: ("discard S", "tsumo"), 2: ("discard S",)},
        ),
        Deal(
            {
                0: "123456789m1199p",
                1: "123456789s2244z",
                2: "345678m345678p2s",
                3: "456m456p456s6677z",
            },
            {0: "1z6s1p", 1: "3z", 2: "1z", 3: "3z"},
            {
                0: ("riichi", "discard E", "tsumo"),
                1: ("riichi", "discard W"),
                2: ("riichi", "discard E"),
            },
        ),
    ],
)
RONS: Final = Scene(
    name="two and three wins of one tile",
    ids=("B23",),
    bot=0,
    survival="B23",
    deals=[
        Deal(
            {0: JUNK, 1: "9s", 2: "234567m234p22s78s", 3: "345678p345s88m78s"},
            {0: "5m"},
            {1: ("discard 9s",), 2: ("ron",), 3: ("ron",)},
        ),
        Deal(
            {0: "345678m345p77p78s", 3: "9s", 1: "234567m234p22s78s", 2: "345678p345s88m78s"},
            {0: "4z"},
            {3: ("discard 9s",), 1: ("ron",), 2: ("ron",)},
            dora="3z",
        ),
    ],
)
LONG: Final = Scene(
    name="eleven honba, into West",
    ids=("B24",),
    bot=0,
    survival="B24",
    deals=[
        *[aborted_by(1)] * 11,
        *[closed_by(seat, 2) for seat in (1, 2, 3, 1, 2, 3, 1, 2)],
        ruined_by(3),
    ],
)
STRANGE: Final = Scene(
    name="unknown fields",
    ids=("B25",),
    bot=1,
    deals=[closed_by(3, 5)],
    survival="B25",
    habit="strange",
)
SPARSE: Final = Scene(
    name="fields left out",
    ids=("B26",),
    bot=1,
    deals=[closed_by(3, 4, wishes={3: ("riichi", "discard F", "tsumo")}), closed_by(0, 3)],
    survival="B26",
    habit="sparse",
)
RESUMED: Final = Scene(
    name="a start in mid-game",
    ids=("B27",),
    bot=3,
    families="BC",
    deals=[closed_by(1, 4)],
    position=Position(round=5, honba=3, sticks=2, scores=(31000, 12000, 18200, 36800)),
    survival="B27",
)
STOPPED: Final = Scene(
    name="a stop in mid-game", ids=("B28",), bot=0, deals=[closed_by(2, 4)], habit="stops"
)
CUT: Final = Scene(
    name="broken off", ids=("B29",), bot=0, deals=[closed_by(2, 6)], survival="B29", habit="cut"
)
TONPU: Final = Scene(
    name="a tonpu",
    ids=("B32",),
    bot=1,
    length="tonpu",
    deals=[closed_by(2, 2), closed_by(3, 2), closed_by(0, 2), ruined_by(2)],
    survival="B32",
)
HANCHAN: Final = Scene(
    name="a hanchan after it",
    ids=("B32",),
    bot=1,
    deals=[closed_by(2, 2), closed_by(3, 2), closed_by(0, 2), ruined_by(2), *[ruined_by(3)] * 5],
    survival="B32",
)
LASTING: Final = Scene(
    name="a long game",
    ids=("B33",),
    bot=0,
    deals=[Deal({0: JUNK})] * 16,  # drawn, most of them: into West, as no score reaches the target
    survival="B33",
    includes=("B24", "B32"),
)

SCENES: Final = (
    REDS, CALLS, KANS, RIICHI, POVERTY, ROBBED, TWO_KANS, EARLY_DORA, LATE_DORA, WINS, NINE,
    ABORTED, RONS, LONG, STRANGE, SPARSE, RESUMED, STOPPED, CUT, TONPU, HANCHAN, LASTING,
)  # fmt: skip
"""In the order in which they are played, after :data:`PLAIN`."""

# --- three players -----------------------------------------------------------------------------

_CLOSING: Final = "111m456789p123s9s"
"""A hand of three players that wins cheaply on ``9s``."""
_SCATTERED: Final = "19m124578p369s12z"
"""No discard can be called with it until a tile that fits is drawn."""
_NORTH_WAIT: Final = "111p222333z555z4z"
"""Tenpai on a north."""


def _closed(seat: int, turn: int, others: Mapping[int, str] = {}, **how: Any) -> Deal:
    """Return :func:`closed_by` of three players."""
    return closed_by(seat, turn, {**others, seat: _CLOSING}, **how)


_LATE_MARKER: Final = _closed(
    2, 4, {0: _SCATTERED, 1: "777z"}, draws={2: "7z6z6z9s"}, wishes={1: ("daiminkan",)},
    rinshan="8s",
)  # fmt: skip

KITA: Final = Scene(
    name="kita",
    ids=("B34",),
    bot=0,
    survival="B34",
    deals=[
        _closed(
            2, 5, {0: "19m12457p369s124z", 1: "4z"}, draws={0: "9s4z"}, wishes={1: ("kita",)},
            rinshan="8s7s",
        ),
        Deal(
            {0: _SCATTERED, 1: _NORTH_WAIT, 2: "4z"},
            wishes={2: ("kita",), 1: ("ron",)},
            dora="6z",
        ),
        _closed(2, 4, {0: _NORTH_WAIT, 1: "4z"}, wishes={1: ("kita",)}, dora="6z"),
    ],
)  # fmt: skip
_OTHERS: Final = (
    replace(REDS, bot=2, deals=[_closed(0, 5, {2: _SCATTERED}, draws={2: "0p0s"})]),
    replace(
        CALLS,
        deals=[
            _closed(
                2, 4, {1: "40567p55z666z258s", 0: "5z6z"}, draws={1: "1s4s8s"},
                wishes={0: ("discard P", "discard F")}, filler="7z",
            )
        ],
    ),
    replace(
        KANS,
        deals=[
            _closed(
                2, 5, {0: "1111z55z258p147s2z", 1: "5z"}, draws={0: "9m5z"},
                wishes={1: ("discard P",)}, rinshan="8s",
            )
        ],
    ),
    replace(
        RIICHI,
        deals=[
            _closed(
                2, 6, {0: "111z456p789p22s56s"}, draws={0: "9m1z3z2z"}, rinshan="3z", dora="6z"
            )
        ],
    ),
    KITA,
    replace(EARLY_DORA, deals=[_LATE_MARKER]),
    replace(LATE_DORA, deals=[_LATE_MARKER]),
    replace(
        NINE,
        deals=[
            _closed(2, 3, {0: "19m19p19s1234z258p"}, draws={0: "6z"}),
            aborted_by(1, "258p"),
            _closed(2, 3, {0: _SCATTERED}),
        ],
    ),
    replace(STRANGE, deals=[_closed(2, 5)]),
    replace(
        SPARSE,
        deals=[_closed(2, 4, wishes={2: ("riichi", "discard F", "tsumo")}), _closed(0, 3)],
    ),
    replace(
        RESUMED,
        bot=2,
        deals=[_closed(1, 4)],
        position=Position(round=5, honba=3, sticks=2, scores=(31000, 21200, 50800, 0)),
    ),
    replace(STOPPED, deals=[_closed(2, 4)]),
    replace(CUT, deals=[_closed(2, 6)]),
    replace(TONPU, deals=[_closed(2, 2), _closed(0, 2), ruined_by(0, "5p")]),
    replace(
        HANCHAN,
        deals=[*[_closed(seat, 2) for seat in (2, 0, 0, 2, 0)], ruined_by(0, "5p")],
    ),
)  # fmt: skip


class SceneSet(NamedTuple):
    """All scenes at tables of so many players, the plain one first, then those of one game each."""

    plain: Scene
    scenes: tuple[Scene, ...]
    again: Scene
    crowd: Scene

    @property
    def ids(self) -> frozenset[str]:
        """The checks whose situations come up there."""
        return frozenset(id_ for scene in (self.plain, *self.scenes) for id_ in scene.ids)


SCENES_OF: Final = {
    3: SceneSet(
        replace(PLAIN, bot=1, players=3),
        tuple([replace(scene, players=3) for scene in _OTHERS]),
        replace(AGAIN, bot=1, players=3),
        replace(CROWD, bot=1, players=3, deals=[_closed(0, 3)]),
    ),
    4: SceneSet(PLAIN, SCENES, AGAIN, CROWD),
}
"""The scenes by the number of players."""
