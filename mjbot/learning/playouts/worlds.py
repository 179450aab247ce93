"""Plans compared in the same worlds: hidden hands, wall, and the fast policy in all seats.

A world is one way to fill in what is not known: a shanten of each other seat by what all see of it
(:mod:`mjbot.learning.models.tenpai`), hands of that shanten, the rest as the wall
(:mod:`mjbot.learning.playouts.sampler`).  A plan is what the seat does first: an
action, and after a riichi or a call the discard, too.  Then all play as strong players do
(:mod:`mjbot.learning.models.fast_policy`): they call, declare riichi, fold and win.  The value of a
plan in a world is the points that each seat won or lost and the rank that it may expect after the
kyoku (:mod:`mjbot.learning.models.networks.rank`).

All plans meet the same worlds, so what hands and wall do to two of them cancels in the difference
(common random numbers).  Each seat draws from its own part of the wall
(:mod:`mjbot.game.referee.wall`): a call does not change what the others draw, which takes 13 to 17
% off the variance of a difference (80 positions, 300 worlds each).  The fast policy draws no lots,
so that the numbers of a world are a function of position, seed and number of the world, and the
work can be cut anywhere.

::

    plans = [plan_of(action) for action in view.discards]
    ranks = Playouts().compare(view.state, view.seat, plans, 100).ranks[:, :, view.seat]

Compiled code; all that it works with lies in one record, as compiled code allocates slowly.
"""

from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee.step import StepBuffer
from mjbot.game.referee.wall import pin_wall
from mjbot.game.table.actions import Action
from mjbot.game.table.state import State
from mjbot.game.table.view import View
from mjbot.learning.models.fast_policy.choice import FastPolicy, load_policy
from mjbot.learning.models.fast_policy.games import MOST_GIVEN, NO_CODE, play_plan
from mjbot.learning.models.networks.rank import RankWeights, rank_chances_of, rank_model
from mjbot.learning.models.tenpai import HandReader, Reading, draw_shanten, hand_reader
from mjbot.learning.playouts.sampler import HandSampler, deal_hands, deal_wall
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float64s, Int8s, Int16s, Int64, Record, UInt64s
from mjbot.runtime.compiler.splitmix import mix

_SPREAD: Final = np.uint64(0xD1B54A32D192ED03)


class PlayoutWorkspace(Record):
    """What a comparison works with."""

    position: State
    seat: Int64  # whose plans they are, and of whom alone the hand is known
    world: State
    playing: State
    buffer: StepBuffer
    sampler: HandSampler
    shanten: Annotated[Int8s, 4]


class Values(NamedTuple):
    """What each plan brings each seat in each world.

    ``points`` float64[worlds, plans, 4] are won or lost in the kyoku; ``chances`` float64[worlds,
    plans, 4, 4] are those of each seat to end at each rank (1 to 4) then.
    """

    points: NDArray[np.float64]
    chances: NDArray[np.float64]

    @classmethod
    def empty(cls, n_worlds: int, n_plans: int) -> "Values":
        """Return values to be filled."""
        return cls(np.empty((n_worlds, n_plans, 4)), np.empty((n_worlds, n_plans, 4, 4)))

    @property
    def ranks(self) -> NDArray[np.float64]:
        """The final ranks expected, float64[worlds, plans, 4]."""
        return np.asarray(self.chances @ np.arange(1.0, 5.0))


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
    """Fill the values of plans int16[plans, MOST_GIVEN] in worlds number first to last - 1.

    The first row of ``values`` is that of the first world.
    """
    random = np.empty(1, np.uint64)
    for number in range(worlds[0], worlds[1]):
        random[0] = world_random(seed, number)
        deal_world(workspace, reader, random)
        for index in range(len(plans)):
            workspace.playing = workspace.world
            play_plan(policy, workspace.playing, workspace.buffer, workspace.seat, plans[index])
            row = number - worlds[0]
            write_values(workspace, weights, values.points[row, index], values.chances[row, index])


@compiled
def world_random(seed: int, number: int) -> np.uint64:
    """Return where the random numbers of a world begin."""
    return mix(mix(np.uint64(seed)) + np.uint64(number) * _SPREAD)


@compiled
def deal_world(workspace: PlayoutWorkspace, reader: HandReader, random: UInt64s) -> None:
    """Fill in what the seat does not see; ``random`` uint64[1] is advanced."""
    workspace.world = workspace.position
    for seat in range(workspace.world.rules.players):
        workspace.shanten[seat] = draw_shanten(workspace.world, seat, reader, random)
    deal_hands(workspace.world, workspace.seat, workspace.shanten, random, workspace.sampler)
    deal_wall(workspace.world, random, workspace.sampler)
    pin_wall(workspace.world)


@compiled
def write_values(
    workspace: PlayoutWorkspace, weights: RankWeights, points: Float64s, chances: Float64s
) -> None:
    """Write what the kyoku that was played brought: float64[4] and float64[4, 4]."""
    rank_chances_of(weights, workspace.playing, chances)
    for seat in range(4):
        points[seat] = workspace.playing.scores[seat] - workspace.position.scores[seat]


def plan_of(*actions: Action) -> Int16s:
    """Return the plan that begins with an action or two: int16[MOST_GIVEN]."""
    codes = [action.code for action in actions]
    return np.array(codes + [NO_CODE] * (MOST_GIVEN - len(codes)), np.int16)


def seed_of(view: View, seed: int = 0) -> int:
    """Return a seed for the moment, so that a choice does not depend on those before it."""
    state = view.state
    parts = (int(state["n_discards"]), int(state["honba"]), view.round, view.phase, view.seat)
    for part in parts:
        seed = (seed * 1_000_003 + part + 1) % (1 << 62)
    return seed


class Playouts:
    """Compares plans at a table of so many players; holds the models and memory of one thread."""

    def __init__(self, reading: Reading = "learned", players: int = 4) -> None:
        self.policy: Final = load_policy(players=players)
        self._reader: Final = hand_reader(reading, players)
        self._weights: Final = rank_model(players).weights
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

        Other hands and the wall are not looked at, even if ``state`` has them.
        """
        self._workspace["position"] = state
        self._workspace["seat"] = seat
        values = Values.empty(n_worlds, len(plans))
        worlds = (first, first + n_worlds)
        self._play_all(np.array(plans, np.int16), worlds, seed, values)
        return values

    def _play_all(self, plans: Int16s, worlds: tuple[int, int], seed: int, values: Values) -> None:
        """Fill ``values`` with what the plans bring in the worlds of these numbers."""
        compare_plans(
            self._workspace, self.policy, self._reader, self._weights, plans, worlds, seed, values
        )

    def time_of_one(self, state: State) -> float:
        """Return how long a playout of a position takes, as a multiple of the usual time."""
        return 1.0
