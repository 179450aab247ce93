"""A name for each number of a network's input (:mod:`mjbot.learning.models.networks.encoding`).

``PLANE_NAMES[p]`` names ``planes[:, p]``, ``SCALAR_NAMES[s]`` names ``scalars[s]``.  Opponents
are ``right``, ``across`` and ``left`` of the seat.  A number behind a slash is the divisor of the
value.
"""

from typing import Final

_SEATS: Final = ("right", "across", "left")
_CALLS: Final = ("pon", "chi low", "chi middle", "chi high")
_KANS: Final = ("ankan", "kakan", "daiminkan")


def _each(heads: tuple[str, ...], parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{head}: {part}" for head in heads for part in parts)


_OF_OPPONENT: Final = (
    "discarded", "discarded twice or more", "discarded from the hand", "recency of its discard",
    "among its first six discards", "its riichi discard", "cannot ron it", "copies in melds /4",
    "pon or kan", "deal-in rate, fourth root", "deal-in rate x points /8000, root",
)  # fmt: skip

PLANE_NAMES: Final = (
    *(f"{n} or more in the hand" for n in range(1, 5)),
    "red five in the hand", "drawn", "legal discard", "on offer",
    *(f"{n} or more unseen" for n in range(1, 5)),
    "dora /2",
    *(f"han of a triplet of {whose} /2" for whose in ("the own seat", *_SEATS)),
    "distance from the 5 /4", "honour", "in the own river", "copies in own melds /4",
    "among the last four discards", "deal-in rate x points /8000, all opponents",
    *_each(_SEATS, _OF_OPPONENT),
    *(f"discard keeps {what}" for what in ("the best shanten", "one worse", "two or more worse")),
    "tiles accepted after the discard /40", "tiles accepted, share of the best",
    "rating of the discard, near", "rating of the discard, far",
    *(f"tenpai after the discard: {what}" for what in (
        "tiles waited for /12", "furiten", "points silent /8000", "points in riichi /8000")),
    "accepted by the hand",
    *(f"accepted after {call}" for call in _CALLS),
)  # fmt: skip
"""Names of the planes: str[N_PLANES]."""

_OF_SCALAR_OPPONENT: Final = (
    "riichi", "ippatsu", "discards since riichi /10", "melds /4", "open", "discards /18",
    "run of tsumogiri /4", "visible han /3", "double riichi",
)  # fmt: skip
_PLANS: Final = (
    "to all simples /4", "to a value honour /4", "to one suit /4", "to all triplets /4",
    "to three colours /4", "to a straight /4", "beyond the plain shanten /4", "dora /4",
)  # fmt: skip
_RIICHI: Final = (
    "tiles waited for /12", "kinds waited for /4", "points silent /8000", "points in riichi /8000",
    "share without a yaku", "points of the dearest tile /8000", "furiten",
    "share of draws that widen the wait", "mean gain in tiles /3", "mean gain in points /2000",
    "share that own discards make look safe", "danger of the discard",
)  # fmt: skip
_AFTER_CALL: Final = (
    *_PLANS, "winning tiles /12", "mean points /8000", "danger of the best discard",
    "danger of the safest discard",
)  # fmt: skip
_AFTER_KAN: Final = (
    "shanten lost", "tiles accepted before /40", "tiles accepted after /40",
    "winning tiles before /12", "mean points before /8000", "winning tiles after /12",
    "mean points after /8000", "honour", "value honour", "terminal or honour", "dora",
    "of the drawn tile", "danger of robbing", "kans of the table /4", "own kans /4",
)  # fmt: skip

SCALAR_NAMES: Final = (
    *(f"phase: {what}" for what in ("own turn", "after a call", "riichi declared", "reaction")),
    *(f"legal: {what}" for what in ("riichi", *_KANS, *_CALLS)),
    "wall left /70", "own discards /18", "kyoku left /8", "last round", "honba /4",
    "riichi sticks /4", "own score, (points - 25000) /25000",
    *(f"lead on {whom} /16000" for whom in _SEATS),
    *(f"rank {rank}" for rank in range(1, 5)),
    *(f"round: {wind}" for wind in ("East", "South", "West or North")),
    *(f"dealer: {whose}" for whose in ("the own seat", *_SEATS)),
    *(f"own {what}" for what in (
        "melds /4", "hand is open", "riichi", "furiten", "dora /4", "pairs /4",
        "terminals and honours /8", "largest suit with honours /14", "value pairs /2",
        "triplets /2")),
    *(f"shanten {n}" for n in range(7)), "tiles accepted /40",
    *_each(_CALLS, ("shanten gained", "tiles accepted /40", "dora /4", "value honour /2")),
    *_each(_SEATS, _OF_SCALAR_OPPONENT),
    *_each(("riichi",), _RIICHI),
    *_each(("plans",), _PLANS),
    *_each(tuple(f"after {call}" for call in _CALLS), _AFTER_CALL),
    *_each(("after a kan",), _AFTER_KAN),
)  # fmt: skip
"""Names of the scalars: str[N_SCALARS]."""
