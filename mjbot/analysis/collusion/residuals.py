"""Evidence of a game's discards on every two seats, relative to their rivals.

A kyoku has a T for each ordered pair of seats (:mod:`mjbot.analysis.collusion.hidden`).  For the
pair {i, j} and its rivals {k, l}, with W, X and R the mean of T within the pair, across, and within
the rivals, three *contrasts* are tested:

* W - X: mean 0 for players that do not know the other's hand, even where T is biased for all alike
  (people avoid waits better than the model of their choices);
* W - 2 X + R: mean 0 also where T is biased by a term of the actor plus a term of the player
  served.  By itself it cannot separate a pair from its rivals: it is the same for both;
* W: mean 0 also for the rivals of a pair, against whom a pair that avoids each other's tiles plays
  differently from unrelated players.  Its variance is below that of W - X, which is used for it.

A pair is accepted as far as *all three* support it.  Kyoku are independent, so the sums of T and
of the contrasts' squares over kyoku are all that a verdict needs.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.collusion import hidden
from mjbot.analysis.collusion.hidden import Floats
from mjbot.game.table.hands import kind_of
from mjbot.game.table.mirror.wire import tile_code
from mjbot.game.table.state import State
from protocol import messages as m

PAIRS: Final = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
"""Of the pair at place p the rivals are at place 5 - p."""
N_PAIRS: Final = 6
CONTRASTS: Final = 3
SPREADS: Final = 2
SPREAD_OF: Final = (0, 1, 0)
"""The products that each contrast is judged by: the third by those of the first."""
PLACE_OF: Final = np.array([[0, 0, 1, 2], [0, 0, 3, 4], [1, 3, 0, 5], [2, 4, 5, 0]])
"""The place of two seats among :data:`PAIRS`."""


@dataclass
class Residuals:
    """The evidence of the discards of a game, added up event by event.

    ``number`` is the game's, from which the redraws are drawn.  ``kyoku`` has T of each kyoku,
    float64[4, 4, N_SCORES].
    """

    model: hidden.HiddenHandModel
    number: int
    tally: hidden.ModelCounts = field(default_factory=hidden.no_tally)
    sums: hidden.Sums = field(default_factory=hidden.no_sums)
    kyoku: list[Floats] = field(default_factory=list)

    discard: hidden.DiscardChoice = field(default_factory=hidden.no_discard)
    _random: hidden.Random = field(default_factory=lambda: np.zeros(1, np.uint64))
    _before: Floats = field(default_factory=lambda: np.zeros((4, 4, hidden.N_SCORES)))

    def add(self, event: m.Event, state: State) -> None:
        """Take an event with the table as it was before it."""
        if isinstance(event, m.StartKyoku):
            self.kyoku.append(np.zeros((4, 4, hidden.N_SCORES)))
            self._random[0] = self.number * 1_009 + len(self.kyoku)
        elif isinstance(event, m.Dahai) and self.kyoku:
            self._before[...] = self.sums.t
            self._discarded(event.actor, kind_of(tile_code(event.pai)), state)
            self.kyoku[-1] += self.last

    @property
    def last(self) -> Floats:
        """What the last discard has added to T."""
        added: Floats = self.sums.t - self._before
        return added

    def _discarded(self, seat: int, kind: int, state: State) -> None:
        hidden.weigh_discards(state, seat, self.model, self.discard)
        hidden.tally_choice(self.discard, kind, self.tally)
        for other in range(4):
            if other != seat:
                hidden.hold_against_hand(
                    state, (seat, other), kind, self.discard, self.model, self.tally,
                    self._random, self.sums,
                )  # fmt: skip

    def products(self) -> Floats:
        """Return the sums over kyoku of the contrasts' products, by pair.

        float64[N_PAIRS, SPREADS, N_SCORES, N_SCORES]: of the first two.
        """
        each = contrasts(np.array(self.kyoku).reshape(-1, 4, 4, hidden.N_SCORES))[:, :, :SPREADS]
        products: Floats = np.einsum("kpci,kpcj->pcij", each, each)
        return products


def contrasts(t: Floats) -> Floats:
    """Return the contrasts of T, float64[..., 4, 4, N_SCORES], by pair.

    float64[..., N_PAIRS, CONTRASTS, N_SCORES].
    """
    within = np.stack([(t[..., i, j, :] + t[..., j, i, :]) / 2 for i, j in PAIRS], axis=-2)
    rivals = within[..., ::-1, :]
    across = (within.sum(axis=-2, keepdims=True) - within - rivals) / 4
    return np.stack([within - across, within - 2 * across + rivals, within], axis=-2)


def places_of(seats: NDArray[np.int8]) -> NDArray[np.intp]:
    """Return the places of two seats each among :data:`PAIRS`; ``seats`` int8[games, 2]."""
    places: NDArray[np.intp] = PLACE_OF[seats[:, 0], seats[:, 1]]
    return places
