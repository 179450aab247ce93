"""The input of the large networks: its groups, where each begins, and a name for each number.

``PLANES.names[p]`` names ``planes[:, p]``, ``SCALARS.names[s]`` names ``scalars[s]``
(:mod:`mjbot.learning.models.networks.encoding` writes them).  A number behind a slash is the
divisor of the value.
"""

from typing import Final

from mjbot.learning.models.input_layout import SEATS, InputLayout, headed
from mjbot.learning.models.networks.look_ahead import (
    CALL_INPUTS,
    KAN_INPUTS,
    PLAN_INPUTS,
    RIICHI_INPUTS,
)
from mjbot.learning.models.table_features import OPPONENT_NAMES, OWN_NAMES, SHANTEN_NAMES, TABLE

_CALLS: Final = ("pon", "chi low", "chi middle", "chi high")
_KANS: Final = ("ankan", "kakan", "daiminkan")

OPPONENT_PLANES: Final = InputLayout(
    RIVER=("discarded", "discarded twice or more"),
    BY_HAND=("discarded from the hand",),
    RECENT=("recency of its discard",),  # 1 the last discard, 0 the 18th before it
    EARLY=("among its first six discards",),
    DECLARED=("its riichi discard",),
    SAFE=("cannot ron it",),
    MELD=("copies in melds /4",),
    TRIPLET=("pon or kan",),
    CHANCE=("deal-in rate, fourth root",),  # 0.0001 is 0.1
    LOSS=("deal-in rate x points /8000, root",),
)

PLANES: Final = InputLayout(
    HAND=(f"{n} or more in the hand" for n in range(1, 5)),
    RED=("red five in the hand",),
    DRAWN=("drawn",),
    LEGAL=("legal discard",),
    CLAIM=("on offer",),
    UNSEEN=(f"{n} or more unseen" for n in range(1, 5)),
    DORA=("dora /2",),
    VALUE=(f"han of a triplet of {whose} /2" for whose in ("the own seat", *SEATS)),
    RANK=("distance from the 5 /4",),  # honours 0
    HONOUR=("honour",),
    OWN_RIVER=("in the own river",),
    OWN_MELD=("copies in own melds /4",),
    JUST_DISCARDED=("among the last four discards",),
    ALL_LOSS=("deal-in rate x points /8000, all opponents",),
    OPPONENT=headed(SEATS, OPPONENT_PLANES.names),
    KEEPS=(f"discard keeps {w}" for w in ("the best shanten", "one worse", "two or more worse")),
    ACCEPTS=("tiles accepted after the discard /40", "tiles accepted, share of the best"),
    RATING=("rating of the discard, near", "rating of the discard, far"),
    WAIT=headed(
        ("tenpai after the discard",),
        ("tiles waited for /12", "furiten", "points silent /8000", "points in riichi /8000"),
    ),
    ACCEPTED=("accepted by the hand",),  # or after the best-rated discard
    AFTER_CALL=(f"accepted after {call}" for call in _CALLS),
)

SCALARS: Final = InputLayout(
    PHASE=headed(("phase",), ("own turn", "after a call", "riichi declared", "reaction")),
    OPTIONS=headed(("legal",), ("riichi", *_KANS, *_CALLS)),
    **TABLE.groups,
    OWN=OWN_NAMES,
    SHANTEN=SHANTEN_NAMES,  # after the best discard
    CALLS=headed(_CALLS, ("shanten gained", "tiles accepted /40", "dora /4", "value honour /2")),
    OPPONENTS=headed(SEATS, (*OPPONENT_NAMES, "double riichi")),
    DECLARE=headed(("riichi",), RIICHI_INPUTS.names),
    PLANS=headed(("plans",), PLAN_INPUTS.names),
    AFTER=headed((f"after {call}" for call in _CALLS), CALL_INPUTS.names),
    AFTER_KAN=headed(("after a kan",), KAN_INPUTS.names),
)
