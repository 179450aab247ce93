"""Plans played out on the same hidden hands and walls, and how each ended: points and rank.

What :func:`strategies.evaluation.playouts.search.try_actions` sums up, kept apart by deal, so that
the difference of two plans has an interval; the rank is that of
:mod:`mjbot.models.networks.rank` after the kyoku.  Two plans differ by nothing but what they bring
about: all four think of the discards as they did before the plan, and what goes of equally good
discards is the same after each.  (Made anew for each plan, what opponents fear scattered so that
two playouts of one wall had next to nothing in common.)  Compiled code.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.compiler.splitmix import mix
from mjbot.models.networks.rank import RankWeights, rank_chances_of
from mjbot.models.tenpai import HandReader
from mjbot.table.state import WON, State
from strategies.evaluation.hidden_hands.sampler import deal_wall
from strategies.evaluation.playouts.playouts import play_out
from strategies.evaluation.playouts.search import (
    SearchWorkspace,
    begin,
    fill_in,
    make_opponent_models,
)

Floats = NDArray[np.float64]

_SPREAD: Final = np.uint64(0xD1B54A32D192ED03)


@compiled
def compare_plans(
    workspace: SearchWorkspace,
    reader: HandReader,
    weights: RankWeights,
    codes: NDArray[np.int64],
    seed: int,
    points: Floats,
    ranks: Floats,
) -> None:
    """Fill what each plan int64[plans, 2] ends with in each deal: float64[deals, plans]."""
    random = np.empty(1, np.uint64)
    chances = np.empty((4, 4))
    workspace.models.paired = 1
    for deal in range(len(points)):
        key = mix(mix(np.uint64(seed)) + np.uint64(deal) * _SPREAD)
        random[0] = key
        workspace.filled = workspace.position
        fill_in(workspace, reader, random)
        workspace.begun = workspace.filled
        make_opponent_models(workspace, reader, random)
        for place in range(len(codes)):
            workspace.begun = workspace.filled
            begin(workspace.begun, workspace.buffer, workspace.seat, codes[place])
            total_points = total_ranks = 0.0
            for wall in range(workspace.n_walls):
                random[0] = mix(key + np.uint64(wall + 1) * _SPREAD)
                workspace.playing = workspace.begun
                if workspace.begun.phase < WON:
                    deal_wall(workspace.playing, random, workspace.sampler)
                    play_out(workspace.playing, workspace.buffer, workspace.models, random)
                before = workspace.position.scores[workspace.seat]
                total_points += workspace.playing.scores[workspace.seat] - before
                total_ranks += _rank_of(workspace.playing, workspace.seat, weights, chances)
            points[deal, place] = total_points / workspace.n_walls
            ranks[deal, place] = total_ranks / workspace.n_walls
    workspace.models.paired = 0


@compiled
def _rank_of(state: State, seat: int, weights: RankWeights, chances: Floats) -> float:
    """Return the final rank that a seat may expect after a paid kyoku."""
    rank_chances_of(weights, state, chances)
    expected = 0.0
    for place in range(4):
        expected += (place + 1) * chances[seat, place]
    return expected
