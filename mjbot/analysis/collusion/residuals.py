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

A pair of three players has one rival, and no contrast is free of both terms.  In place of the
first two, each is free of one:

* W - O, with O the mean of T of the pair's discards for the rival: free of the actor's term;
* W - I, with I the mean of T of the rival's discards for the pair: free of the served player's.

A pair is accepted as far as *all three* support it.  Kyoku are independent, so the sums of T and
of the contrasts' squares over kyoku are all that a verdict needs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.collusion import hidden
from mjbot.analysis.collusion.hidden import Floats
from mjbot.game.table.hands import kind_of
from mjbot.game.table.mirror.wire import tile_code
from mjbot.game.table.state import State
from mjbot.protocol import messages as m

PAIRS: Final = {players: tuple(combinations(range(players), 2)) for players in (3, 4)}
"""Number of players -> their seats in pairs.  Of four, the rivals of the pair at place p are at
place 5 - p."""
CONTRASTS: Final = 3
SPREADS: Final = 2
SPREAD_OF: Final = (0, 1, 0)
"""The products that each contrast is judged by: the third by those of the first."""
PLACE_OF: Final = {
    3: np.array([[0, 0, 1], [0, 0, 2], [1, 2, 0]]),
    4: np.array([[0, 0, 1, 2], [0, 0, 3, 4], [1, 3, 0, 5], [2, 4, 5, 0]]),
}
"""The place of two seats among :data:`PAIRS`."""


@dataclass
class Residuals:
    """The evidence of the discards of a game, added up event by event.

    ``number`` is the game's, from which the redraws are drawn; so many ``players`` play it.
    ``kyoku`` has T of each kyoku, float64[4, 4, N_SCORES].
    """

    model: hidden.HiddenHandModel
    number: int
    players: int = 4
    tally: hidden.ModelCounts = field(default_factory=hidden.no_tally)
    sums: hidden.Sums = field(default_factory=hidden.no_sums)
    kyoku: list[Floats] = field(default_factory=list)

    discard: hidden.DiscardChoice = field(default_factory=hidden.no_discard)
    _random: hidden.Random = field(default_factory=lambda: np.zeros(1, np.uint64))
    _before: Floats = field(default_factory=lambda: np.zeros((4, 4, hidden.N_SCORES)))

    def add(self, event: m.Event, state: State) -> None:
        """Take an event with the table as it was before it."""
        if isinstance(event, m.StartKyoku):
            self.players = int(state["rules"]["players"])
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
        for other in range(self.players):
            if other != seat:
                hidden.hold_against_hand(
                    state, (seat, other), kind, self.discard, self.model, self.tally,
                    self._random, self.sums,
                )  # fmt: skip

    @property
    def seated(self) -> hidden.Sums:
        """The sums of the seats at which somebody plays."""
        n, sums = self.players, self.sums
        return sums._replace(t=sums.t[:n, :n], base=sums.base[:n, :n], level=sums.level[:n])

    def products(self) -> Floats:
        """Return the sums over kyoku of the contrasts' products, by pair.

        float64[pairs, SPREADS, N_SCORES, N_SCORES]: of the first two.
        """
        kyoku = np.array(self.kyoku).reshape(-1, 4, 4, hidden.N_SCORES)
        each = contrasts(kyoku[:, : self.players, : self.players])[:, :, :SPREADS]
        products: Floats = np.einsum("kpci,kpcj->pcij", each, each)
        return products


def contrasts(t: Floats) -> Floats:
    """Return the contrasts of T, float64[..., players, players, N_SCORES], by pair.

    float64[..., pairs, CONTRASTS, N_SCORES].
    """
    pairs = PAIRS[t.shape[-2]]
    within = np.stack([(t[..., i, j, :] + t[..., j, i, :]) / 2 for i, j in pairs], axis=-2)
    if t.shape[-2] == 3:
        out = _beside(t, pairs)
        into = _beside(t.swapaxes(-3, -2), pairs)
        return np.stack([within - out, within - into, within], axis=-2)
    rivals = within[..., ::-1, :]
    across = (within.sum(axis=-2, keepdims=True) - within - rivals) / 4
    return np.stack([within - across, within - 2 * across + rivals, within], axis=-2)


def _beside(t: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
    """Return the mean T of each pair's discards for the third: float64[..., pairs, N_SCORES]."""
    thirds = [(i, j, 3 - i - j) for i, j in pairs]
    return np.stack([(t[..., i, k, :] + t[..., j, k, :]) / 2 for i, j, k in thirds], axis=-2)


def places_of(seats: NDArray[np.int8], players: int) -> NDArray[np.intp]:
    """Return the places of two seats each among :data:`PAIRS`; ``seats`` int8[games, 2]."""
    places: NDArray[np.intp] = PLACE_OF[players][seats[:, 0], seats[:, 1]]
    return places
