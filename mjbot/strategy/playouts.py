"""What a strategy offers that can play a position on: two choices on the same hands and walls.

``mjbot`` imports no strategy, and strategies model the hidden hands and play the playouts.  So the
value of a choice comes from a strategy that is a :class:`PlaysOut`, found by its name.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mjbot.table.actions import Action
from mjbot.table.view import View


class Plan(NamedTuple):
    """An action and, after a riichi or a call, the discard that follows it, if it is known."""

    action: Action
    then: Action | None = None


class Outcomes(NamedTuple):
    """How the kyoku ended for the view's seat after each plan: float64[deals, plans].

    A row is the mean over some walls of one way to deal the hidden hands, the same for all plans.
    ``points`` are won or lost in the kyoku, ``ranks`` the final rank (1 to 4) to be expected then.
    """

    points: NDArray[np.float64]
    ranks: NDArray[np.float64]


@runtime_checkable
class PlaysOut(Protocol):
    """A strategy that plays positions on."""

    def play_out(self, view: View, plans: Sequence[Plan], deals: int) -> Outcomes:
        """Play all plans on in so many ways to deal what the seat does not see."""
        ...
