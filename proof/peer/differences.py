"""Where RiichiEnv 0.4.11 is known to differ, each difference matched as narrowly as it goes."""

from typing import Final

from mjbot.game.table.actions import ACTIONS
from mjbot.game.table.settle import abort_reason
from mjbot.game.table.state import FOUR_KANS, REACTION, State
from proof.peer.env import Plain

ASKED_BEFORE_ABORT: Final = (
    "the discard that ends in four kans: we still offer pon and chi, as gimite's server does"
)
ROBBED_SECOND_KAN: Final = (
    "a kakan or kita right after an open kan, robbed: they turn the kan's marker before the ron"
)
ROBBED_SECOND_KAN_VALUE: Final = "the same, and the marker makes the win dearer"

_ROBBED: Final = tuple(
    (kan, "tsumo", robbed, "dora", "hora")
    for kan in ("kakan", "daiminkan")
    for robbed in ("kakan", "kita")
)
_CALLS: Final = {action.code for action in ACTIONS if action.name in ("chi", "pon", "daiminkan")}


def ends_in_four_kans(state: State) -> bool:
    """Return whether the discard on offer brings the draw by four kans unless it is ronned."""
    return int(state["phase"]) == REACTION and abort_reason(state) == FOUR_KANS


def only_calls_missing(ours: set[int], theirs: set[int]) -> bool:
    """Return whether ``theirs`` is what is left of our legal actions without calls."""
    left = ours - _CALLS
    return theirs == (left if len(left) > 1 else set())


def without_early_marker(ours: list[Plain], theirs: list[Plain]) -> list[Plain]:
    """Return their kyoku without the marker that they turn before a second kan or a kita is robbed.

    Tenhou and gimite's server turn it between the second kan and its draw, Tenhou between a kita
    and its draw; what is robbed has no draw, and no record holds such a win.
    """
    for index in range(2, len(theirs) - 2):
        names = tuple(event[0] for event in theirs[index - 2 : index + 3])
        same_so_far = ours[: index + 1] == theirs[: index + 1]
        if names in _ROBBED and same_so_far and ours[index + 1][0] == "hora":
            return [*theirs[: index + 1], *map(_without_last_ura, theirs[index + 2 :])]
    return theirs


def _without_last_ura(event: Plain) -> Plain:
    """Return an event; a win without the ura marker below the one that was turned too early."""
    if event[0] != "hora" or not event[3]:
        return event
    return (*event[:3], event[3][:-1], *event[4:])


def same_but_points(ours: list[Plain], theirs: list[Plain]) -> bool:
    """Return whether two kyoku differ in nothing but what their wins pay."""
    return [_unpaid(event) for event in ours] == [_unpaid(event) for event in theirs]


def _unpaid(event: Plain) -> Plain:
    return event[:-1] if event[0] == "hora" else event
