"""What a seat can estimate of its opponents: how likely each is tenpai, and what it waits on.

Both read public information and the own hand only: tenpai by :mod:`mjbot.learning.models.tenpai`,
the chance that a discard deals in by :mod:`mjbot.learning.models.danger`, the two that the
strategies use as well.
"""

from dataclasses import dataclass

import numpy as np

from mjbot.game.table.seats import seat_after
from mjbot.game.table.view import View
from mjbot.learning.models.danger import danger_weights, deal_in_chances
from mjbot.learning.models.tenpai import hand_reader, tenpai_chance
from mjbot.learning.models.weights import OF_PLAYERS
from mjbot.protocol.tiles import N_KINDS


@dataclass(frozen=True)
class OpponentEstimate:
    """One opponent as a seat sees it, in percent.

    ``deal_in`` has the chance for each of the 34 kinds that a discard of it deals in to the
    opponent now; the kinds with the highest chances are its likely waits.
    """

    seat: int
    tenpai: float
    deal_in: tuple[float, ...]


def estimate_opponents(view: View) -> list[OpponentEstimate]:
    """Return the estimates of the opponents, from the right on."""
    chances, points = np.zeros((4, N_KINDS)), np.zeros((4, N_KINDS))
    state, seat, reader = view.state, view.seat, hand_reader(players=view.players)
    weights = danger_weights(OF_PLAYERS[view.players])
    deal_in_chances(state, seat, view.unseen, weights, chances, points)
    return [
        OpponentEstimate(
            opponent,
            100 * float(tenpai_chance(state, opponent, reader)),
            tuple((100 * chances[opponent]).tolist()),
        )
        for opponent in [seat_after(state, seat, step) for step in range(1, view.players)]
    ]
