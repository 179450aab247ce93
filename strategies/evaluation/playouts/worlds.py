"""Plans compared in the same worlds: hidden hands, wall, and the fast policy in all four seats.

A world is one way to fill in what is not known: a shanten of each other seat by what all see of it
(:mod:`mjbot.models.tenpai`), hands of that shanten, the rest as the wall
(:mod:`strategies.evaluation.hidden_hands.sampler`).  A plan is the first choices of one seat or of
several; from there on all four play as strong players do (:mod:`mjbot.models.fast_policy`): they
call, declare riichi, fold and win.  The value of a plan in a world is the rank that each seat may
expect after the kyoku (:mod:`mjbot.models.networks.rank`), and the points that it won or lost.

All plans meet the same worlds, so what hands and wall do to two of them cancels in the difference
(common random numbers).  Each seat draws from its own quarter of the wall
(:mod:`mjbot.referee.wall`): a call does not change what the others draw, which takes 15 % off the
variance of a difference (80 positions, 300 worlds each).  The fast policy draws no lots, so that
the numbers of a world are a function of position, seed and number of the world, and the work can
be cut anywhere.

::

    playouts = Playouts()
    ranks = playouts.compare(view.state, view.seat, [plan_of(view.seat, action)], 100).ranks

Compiled code; all that it works with lies in one record, as compiled code allocates slowly.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.compiler.record import Float64s, Int8s, Int16s, Int64, Record, UInt64s
from mjbot.compiler.splitmix import mix
from mjbot.models.fast_policy.choice import FastPolicy, load_policy
from mjbot.models.fast_policy.games import MOST_GIVEN, NO_CODE, play_plan
from mjbot.models.networks.rank import RankWeights, rank_chances_of, rank_model
from mjbot.models.tenpai import HandReader, Reading, draw_shanten, hand_reader
from mjbot.referee.step import StepBuffer
from mjbot.referee.wall import pin_wall
from mjbot.table.actions import Action
from mjbot.table.state import State
from strategies.evaluation.hidden_hands.sampler import (
    HandSampler,
    deal_unknown_hands,
    deal_wall,
)

_SPREAD: Final = np.uint64(0xD1B54A32D192ED03)


class PlayoutWorkspace(Record):
    """What a comparison works with; ``position`` holds the hands that are known, and no others."""

    position: State
    seat: Int64  # of which the hand is known
    world: State
    playing: State
    buffer: StepBuffer
    sampler: HandSampler
    shanten: Annotated[Int8s, 4]
    chances: Annotated[Float64s, 4, 4]


class Values(NamedTuple):
    """What each plan brings each seat in each world: float64[worlds, plans, 4].

    ``points`` are won or lost in the kyoku; ``ranks`` are the final ranks (1 to 4) expected then.
    """

    points: NDArray[np.float64]
    ranks: NDArray[np.float64]


@compiled
def compare_plans(
    workspace: PlayoutWorkspace,
    policy: FastPolicy,
    reader: HandReader,
    weights: RankWeights,
    plans: NDArray[np.int16],
    worlds: tuple[int, int],
    seed: int,
    values: Values,
) -> None:
    """Fill the values of plans int16[plans, 4, MOST_GIVEN] in worlds number first to last - 1.

    The first row of ``values`` is that of the first world.
    """
    random = np.empty(1, np.uint64)
    for number in range(worlds[0], worlds[1]):
        random[0] = mix(mix(np.uint64(seed)) + np.uint64(number) * _SPREAD)
        deal_world(workspace, reader, random)
        for place in range(len(plans)):
            workspace.playing = workspace.world
            play_plan(policy, workspace.playing, workspace.buffer, plans[place])
            row = number - worlds[0]
            write_values(workspace, weights, values.points[row, place], values.ranks[row, place])


@compiled
def deal_world(workspace: PlayoutWorkspace, reader: HandReader, random: UInt64s) -> None:
    """Fill in the hands that are not known, and the wall; ``random`` uint64[1] is advanced."""
    workspace.world = workspace.position
    for seat in range(4):
        if not workspace.world.hand_known[seat]:
            workspace.shanten[seat] = draw_shanten(workspace.world, seat, reader, random)
    deal_unknown_hands(
        workspace.world, workspace.seat, workspace.shanten, random, workspace.sampler
    )
    deal_wall(workspace.world, random, workspace.sampler)
    pin_wall(workspace.world)


@compiled
def write_values(
    workspace: PlayoutWorkspace, weights: RankWeights, points: Float64s, ranks: Float64s
) -> None:
    """Write what the kyoku that was played brought each seat: float64[4] each."""
    rank_chances_of(weights, workspace.playing, workspace.chances)
    for seat in range(4):
        points[seat] = workspace.playing.scores[seat] - workspace.position.scores[seat]
        ranks[seat] = 0.0
        for place in range(4):
            ranks[seat] += (place + 1) * workspace.chances[seat, place]


def plan_of(seat: int, *actions: Action) -> Int16s:
    """Return the plan in which a seat begins with these actions: int16[4, MOST_GIVEN]."""
    return joint_plan({seat: actions})


def joint_plan(actions: Mapping[int, Sequence[Action]]) -> Int16s:
    """Return the plan in which each of these seats begins with its actions."""
    plan = np.full((4, MOST_GIVEN), NO_CODE, np.int16)
    for seat, given in actions.items():
        plan[seat, : len(given)] = [action.code for action in given]
    return plan


class Playouts:
    """Compares plans; holds the models and the memory that one thread needs."""

    def __init__(self, reading: Reading = "learned") -> None:
        self.policy: Final = load_policy()
        self._reader: Final = hand_reader(reading)
        self._weights: Final = rank_model().weights
        self._workspace: Final = PlayoutWorkspace.new()

    def compare(
        self,
        state: State,
        seat: int,
        plans: Sequence[Int16s],
        n_worlds: int,
        *,
        seed: int = 0,
        first: int = 0,
    ) -> Values:
        """Play each plan on in so many worlds from what ``seat`` sees, from number ``first`` on.

        ``state`` holds no hand but those that the players who plan know, and no wall
        (``view.state`` as it is; an ally's hand may be filled in).
        """
        self._workspace["position"] = state
        self._workspace["seat"] = seat
        shape = n_worlds, len(plans), 4
        values = Values(np.empty(shape), np.empty(shape))
        compare_plans(
            self._workspace, self.policy, self._reader, self._weights,
            np.array(plans, np.int16), (first, first + n_worlds), seed, values,
        )  # fmt: skip
        return values
