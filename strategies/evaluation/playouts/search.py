"""Trying out discards as Takada 2022 does: hands dealt, risk lists made, walls shuffled.

The value of an action is the mean of the final value over m ways to deal the hidden hands and n
walls for each of them (Takada 2022, figure 3; m = n = 10 there).  Each action has hands and walls
of its own.  Every playout's random numbers are a function of (seed, deal, wall), spread by an odd
constant, so that the work can be cut anywhere.  Compiled code; all that it works with lies in one
record, :data:`SEARCH_WORKSPACE`, as compiled code allocates slowly.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee.flow import carry_out
from mjbot.game.referee.step import StepBuffer
from mjbot.game.table.state import WON, State
from mjbot.learning.models.placement import final_value
from mjbot.learning.models.tenpai import HandReader, draw_shanten
from mjbot.learning.playouts.sampler import HandSampler, deal_hands, deal_wall
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float64s, Int8, Int8s, Int64, Record
from mjbot.runtime.compiler.splitmix import mix
from mjbot.strategies.evaluation.hidden_hands.pricing import PricingWorkspace
from mjbot.strategies.evaluation.playouts.playouts import play_out
from mjbot.strategies.evaluation.playouts.risk_lists import PAPER, risk_list

Random = NDArray[np.uint64]
Codes = NDArray[np.int64]

_SPREAD = np.uint64(0xD1B54A32D192ED03)


class SearchWorkspace(Record):
    """One search: what is asked, what it works with, and the answer."""

    # What is asked:
    seat: Int64
    n_walls: Int64  # playouts of each deal of the hidden hands
    lists_on: Int8  # 0: in playouts the others fear nothing
    bonus: Annotated[Float64s, 4]  # points for first to fourth place
    position: State  # as the seat sees it
    # What it works with:
    filled: State
    begun: State
    playing: State
    buffer: StepBuffer
    sampler: HandSampler
    pricing: PricingWorkspace
    lists: Annotated[Float64s, 4, 34]
    shanten: Annotated[Int8s, 4]
    tenpai: Annotated[Float64s, 4]


SEARCH_WORKSPACE: Final = SearchWorkspace.dtype


def new_search_workspace() -> SearchWorkspace:
    """Return an empty record to try out actions with."""
    return SearchWorkspace.new()


@compiled
def try_actions(
    workspace: SearchWorkspace,
    reader: HandReader,
    codes: Codes,
    first: int,
    last: int,
    seed: int,
    out: NDArray[np.float64],
) -> None:
    """Add the value of each action, summed over its playouts, to ``out`` float64[actions].

    ``codes`` int64[actions] are discards of the seat.  The hidden hands are dealt in the ways
    number ``first`` to ``last - 1``; the same numbers and the same ``seed`` give the same result.
    """
    random = np.empty(1, np.uint64)
    for deal in range(first, last):
        for index in range(len(codes)):
            key = mix(mix(np.uint64(seed)) + np.uint64(deal) * _SPREAD + np.uint64(index + 1))
            out[index] += _try_action(workspace, reader, codes[index], key, random)


@compiled
def _try_action(
    workspace: SearchWorkspace,
    reader: HandReader,
    code: int,
    key: np.uint64,
    random: Random,
) -> float:
    """Return the sum of the values of ``n_walls`` playouts after an action."""
    random[0] = key
    workspace.filled = workspace.position
    fill_in(workspace, reader, random)
    workspace.begun = workspace.filled
    begin(workspace.begun, workspace.buffer, workspace.seat, code)
    if workspace.begun.phase >= WON:
        return workspace.n_walls * final_value(workspace.begun, workspace.seat, workspace.bonus)
    make_lists(workspace, random)
    total = 0.0
    for wall in range(workspace.n_walls):
        random[0] = mix(key + np.uint64(wall + 1) * _SPREAD)
        workspace.playing = workspace.begun
        deal_wall(workspace.playing, random, workspace.sampler)
        play_out(workspace.playing, workspace.buffer, workspace.lists, random)
        total += final_value(workspace.playing, workspace.seat, workspace.bonus)
    return total


@compiled
def fill_in(workspace: SearchWorkspace, reader: HandReader, random: Random) -> None:
    """Draw what shanten everybody seems to have, and deal the hidden hands and a wall."""
    for seat in range(4):
        workspace.shanten[seat] = draw_shanten(workspace.filled, seat, reader, random)
    deal_hands(workspace.filled, workspace.seat, workspace.shanten, random, workspace.sampler)
    deal_wall(workspace.filled, random, workspace.sampler)


@compiled
def begin(state: State, buffer: StepBuffer, seat: int, code: int) -> None:
    """Carry out a discard of ``seat``; all hands are known."""
    buffer.outcome.n_wins = 0
    buffer.n_rows = 0
    buffer.choices[seat] = code
    carry_out(state, buffer)


@compiled
def make_lists(workspace: SearchWorkspace, random: Random) -> None:
    """Write the risk lists of all four for the position after the action."""
    for seat in range(4):
        workspace.tenpai[seat] = workspace.shanten[seat] == 0
    for viewer in range(4):
        for kind in range(34):
            workspace.lists[viewer, kind] = 0.0
        if workspace.lists_on or viewer == workspace.seat:
            risk_list(
                workspace.begun, viewer, workspace.tenpai, PAPER, random,
                workspace.lists[viewer], workspace.pricing,
            )  # fmt: skip
