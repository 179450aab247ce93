"""Playing a pair's choices on to the end of the kyoku, with both hands of the pair known.

A world is a deal of the two rivals' hands (by what shanten they seem to have, as in
:mod:`mjbot.learning.playouts.sampler`) and a wall.  Every plan is played on in the same
worlds, all four seats by the fast policy (:mod:`mjbot.learning.models.fast_policy`), which calls,
declares riichi and folds.  A plan is an action of the deciding seat and who of the pair folds from
then on: that player passes everything but a win and discards the tile of the least expected loss.

Each playout gives four numbers for the pair after the payments, by the rank model
(:mod:`mjbot.learning.models.networks.rank`).  That model gives each seat's chances alone, c(seat,
rank); both at once are taken as independent but for sharing no rank::

    P(one at i, other at j) = c(one, i) c(other, j) / sum over k != l of c(one, k) c(other, l)

The worlds are a function of a seed and of what the deciding member knows: both hands, and the tile
that it has just drawn.  The partner rates plans by the same rules, in other worlds.  Compiled code.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee.flow import advance, offer
from mjbot.game.referee.step import StepBuffer
from mjbot.game.table.actions import PASS, is_discard_code
from mjbot.game.table.hands import kind_of
from mjbot.game.table.state import State
from mjbot.learning.models.fast_policy.ally import NO_ALLY
from mjbot.learning.models.fast_policy.candidates import DISCARD
from mjbot.learning.models.fast_policy.choice import (
    NO_QUESTION,
    FastPolicy,
    choose_among,
    code_of,
    settled_code,
)
from mjbot.learning.models.fast_policy.reading import read_table
from mjbot.learning.models.networks.rank import RankWeights, rank_chances_of
from mjbot.learning.models.tenpai import HandReader, draw_shanten
from mjbot.learning.playouts.sampler import HandSampler, deal_rivals, deal_wall
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float64s, Int8s, Int64, Record
from mjbot.runtime.compiler.splitmix import mix
from protocol.tiles import N_KINDS

Plans = NDArray[np.int64]
"""int64[n, 2]: an action code, and the mask of the seats that fold."""
Values = NDArray[np.float64]

POINTS: Final = 0
BETTER_RANK: Final = 1
FIRST: Final = 2
TOP_TWO: Final = 3
N_VALUES: Final = 4
"""Sum of the pair's scores; minus the expected better rank; chance that one is first; that both
are first and second.  More is better in each."""
_SPREAD: Final = np.uint64(0xD1B54A32D192ED03)


class JointWorkspace(Record):
    """The position as both members know it, and the scratch memory of its playouts."""

    seat: Int64
    ally: Int64
    walls: Int64  # playouts of each deal of the rivals' hands
    position: State
    filled: State
    playing: State
    buffer: StepBuffer
    sampler: HandSampler
    shanten: Annotated[Int8s, 4]
    chances: Annotated[Float64s, 4, 4]


@compiled
def compare_plans(
    workspace: JointWorkspace,
    policy: FastPolicy,
    reader: HandReader,
    weights: RankWeights,
    plans: Plans,
    seed: int,
    out: Values,
) -> None:
    """Write the values of each plan in each world: float64[worlds, plans, N_VALUES]."""
    random = np.empty(1, np.uint64)
    walls = workspace.walls
    for world in range(len(out)):
        key = mix(mix(np.uint64(seed)) + np.uint64(world) * _SPREAD)
        random[0] = key
        if world % walls == 0:
            _deal(workspace, reader, random)
        deal_wall(workspace.filled, random, workspace.sampler)
        for place in range(len(plans)):
            workspace.playing = workspace.filled
            _play_plan(workspace, policy, plans[place])
            rank_chances_of(weights, workspace.playing, workspace.chances)
            _write_values(workspace, out[world, place])


@compiled
def _deal(workspace: JointWorkspace, reader: HandReader, random: NDArray[np.uint64]) -> None:
    workspace.filled = workspace.position
    for seat in range(4):
        workspace.shanten[seat] = draw_shanten(workspace.filled, seat, reader, random)
    deal_rivals(
        workspace.filled,
        workspace.seat,
        workspace.ally,
        workspace.shanten,
        random,
        workspace.sampler,
    )


@compiled
def _play_plan(workspace: JointWorkspace, policy: FastPolicy, plan: NDArray[np.int64]) -> None:
    """Play ``workspace.playing`` on from a plan to the end of the kyoku."""
    state, buffer, seat = workspace.playing, workspace.buffer, workspace.seat
    buffer.outcome.n_wins = 0
    buffer.n_rows = 0
    offer(state, buffer)
    _choose(state, buffer, policy, plan[1])
    buffer.choices[seat] = plan[0]
    advance(state, buffer)
    while buffer.asked:
        _choose(state, buffer, policy, plan[1])
        advance(state, buffer)


@compiled
def _choose(state: State, buffer: StepBuffer, policy: FastPolicy, folding: int) -> None:
    """Write the choice of each seat that is asked."""
    for seat in range(4):
        if buffer.asked >> seat & 1:
            n_codes = buffer.n_codes[seat]
            for place in range(n_codes):
                policy.codes[place] = buffer.codes[seat, place]
            if folding >> seat & 1:
                buffer.choices[seat] = _fold(state, seat, policy, n_codes)
            else:
                buffer.choices[seat] = choose_among(policy, state, seat, n_codes, NO_ALLY)


@compiled
def _fold(state: State, seat: int, policy: FastPolicy, n_codes: int) -> int:
    """Return a win, a pass, or the discard of the least expected loss."""
    codes, reading = policy.codes, policy.reading
    settled = settled_code(codes, n_codes)
    if settled != NO_QUESTION:
        return settled
    if not is_discard_code(codes[0]):
        return PASS
    read_table(state, seat, policy.danger, reading, NO_ALLY)
    best, least = -1, 0.0
    for kind in range(N_KINDS):
        found = code_of(DISCARD, kind, codes, n_codes)
        if kind_of(found % 37) == kind and (best < 0 or reading.loss[kind] < least):
            best, least = found, reading.loss[kind]
    return best


@compiled
def _write_values(workspace: JointWorkspace, out: NDArray[np.float64]) -> None:
    one, other = workspace.seat, workspace.ally
    chances, scores = workspace.chances, workspace.playing.scores
    total = better = first = top_two = 0.0
    for i in range(4):
        for j in range(4):
            if i != j:
                both = chances[one, i] * chances[other, j]
                total += both
                better += both * min(i + 1, j + 1)
                first += both * (i == 0 or j == 0)
                top_two += both * (i + j == 1)
    out[POINTS] = scores[one] + scores[other]
    out[BETTER_RANK] = -better / total
    out[FIRST] = first / total
    out[TOP_TWO] = top_two / total
