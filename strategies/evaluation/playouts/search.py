"""Trying out actions by playouts: hands dealt, opponents modelled, walls shuffled, played on.

The worth of an action is the mean of the final worth over m ways to deal the hidden hands and n
walls for each of them (Takada 2022, figure 3; m = n = 10 there).  All actions meet the same hands
and walls (common random numbers: what is common to two actions cancels in their difference); in
the paper's way each has its own.  Every playout's random numbers are a function of (seed, deal,
wall), spread by an odd constant, so that the work can be cut anywhere.  Compiled code; all that
it works with lies in one record, :data:`SEARCH_WORKSPACE`, as compiled code allocates slowly.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.compiler.record import Float64s, Int8, Int8s, Int64, Record
from mjbot.compiler.splitmix import mix
from mjbot.models.placement import final_worth
from mjbot.models.tenpai import HandReader, draw_shanten
from mjbot.referee.flow import carry_out
from mjbot.referee.step import StepBuffer
from mjbot.table.actions import PASS, RON
from mjbot.table.assume import assume_missed
from mjbot.table.legal import can_ron
from mjbot.table.state import (
    CHANKAN,
    REACTION,
    WON,
    State,
)
from strategies.evaluation.hidden_hands.pricing import PricingWorkspace
from strategies.evaluation.hidden_hands.sampler import HandSampler, deal_hands, deal_wall
from strategies.evaluation.playouts.opponent_models import OpponentModels, clear_fear
from strategies.evaluation.playouts.playouts import play_out
from strategies.evaluation.playouts.risk_lists import PAPER, risk_list
from strategies.evaluation.playouts.sampled_hands import (
    SampledHands,
    build_opponent_model,
    sample_hands,
    write_chances,
)

Random = NDArray[np.uint64]
Codes = NDArray[np.int64]

NO_CODE: Final = -1
_SPREAD = np.uint64(0xD1B54A32D192ED03)


class SearchWorkspace(Record):
    """One search: what is asked, what it works with, and the answer."""

    # What is asked:
    seat: Int64
    n_walls: Int64  # playouts of each deal of the hidden hands
    as_paper: Int8
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
    models: OpponentModels
    shanten: Annotated[Int8s, 4]
    tenpai: Annotated[Float64s, 4]
    samples: SampledHands
    list: Annotated[Float64s, 34]


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
    """Add the worth of each action, summed over its playouts, to ``out`` float64[actions].

    ``codes`` int64[actions, 2] are an action of the seat and the discard that follows it, or -1.
    The hidden hands are dealt in the ways number ``first`` to ``last - 1``; the same numbers and
    the same ``seed`` give the same result.  In the paper's way each action has hands and walls of
    its own; otherwise all actions meet the same.
    """
    random = np.empty(1, np.uint64)
    for deal in range(first, last):
        for place in range(len(codes)):
            own = place + 1 if workspace.as_paper else 0
            key = mix(mix(np.uint64(seed)) + np.uint64(deal) * _SPREAD + np.uint64(own))
            out[place] += _try_action(workspace, reader, codes[place], key, random)


@compiled
def _try_action(
    workspace: SearchWorkspace,
    reader: HandReader,
    codes: NDArray[np.int64],
    key: np.uint64,
    random: Random,
) -> float:
    """Return the sum of the worth of ``n_walls`` playouts after an action."""
    random[0] = key
    workspace.filled = workspace.position
    fill_in(workspace, reader, random)
    workspace.begun = workspace.filled
    begin(workspace.begun, workspace.buffer, workspace.seat, codes)
    if workspace.begun.phase >= WON:
        worth = final_worth(
            workspace.begun, workspace.seat, workspace.bonus, not workspace.as_paper
        )
        return workspace.n_walls * worth
    make_opponent_models(workspace, reader, random)
    total = 0.0
    for wall in range(workspace.n_walls):
        random[0] = mix(key + np.uint64(wall + 1) * _SPREAD)
        workspace.playing = workspace.begun
        deal_wall(workspace.playing, random, workspace.sampler)
        play_out(workspace.playing, workspace.buffer, workspace.models, random)
        total += final_worth(
            workspace.playing, workspace.seat, workspace.bonus, not workspace.as_paper
        )
    return total


@compiled
def fill_in(workspace: SearchWorkspace, reader: HandReader, random: Random) -> None:
    """Draw what shanten everybody seems to have, and deal the hidden hands and a wall."""
    for seat in range(4):
        workspace.shanten[seat] = draw_shanten(workspace.filled, seat, reader, random)
    deal_hands(workspace.filled, workspace.seat, workspace.shanten, random, workspace.sampler)
    deal_wall(workspace.filled, random, workspace.sampler)


@compiled
def begin(state: State, buffer: StepBuffer, seat: int, codes: NDArray[np.int64]) -> None:
    """Carry out an action of ``seat`` and the discard that follows; all hands are known.

    After a pass nothing happens yet, but that the seat cannot win the tile any more.
    """
    buffer.outcome.n_wins = 0
    buffer.n_rows = 0
    if codes[0] == PASS:
        assume_missed(state, seat)
        return
    if state.phase == REACTION or state.phase == CHANKAN:
        for other in range(4):
            wins = other != state.turn and can_ron(state, other)
            buffer.choices[other] = RON if wins else PASS
    buffer.choices[seat] = codes[0]
    carry_out(state, buffer)
    if codes[1] != NO_CODE and state.phase < WON:
        buffer.n_rows = 0
        buffer.choices[seat] = codes[1]
        carry_out(state, buffer)


@compiled
def make_opponent_models(workspace: SearchWorkspace, reader: HandReader, random: Random) -> None:
    """Make up the four players' opponent models for the position after the action."""
    if workspace.as_paper:
        _make_lists(workspace, random)
    else:
        _make_live_models(workspace, reader, random)


@compiled
def _make_lists(workspace: SearchWorkspace, random: Random) -> None:
    """Write the paper's risk lists, which stay as they are through the playout."""
    models = workspace.models
    models.live, models.prices_shanten, models.declares, models.keeps_tenpai = 0, 0, 0, 1
    for seat in range(4):
        workspace.tenpai[seat] = workspace.shanten[seat] == 0
    for viewer in range(4):
        for kind in range(34):
            models.lists[viewer, kind] = 0.0
        if workspace.lists_on or viewer == workspace.seat:
            risk_list(
                workspace.begun,
                viewer,
                workspace.tenpai,
                PAPER,
                random,
                workspace.list,
                workspace.pricing,
            )
            for kind in range(34):
                models.lists[viewer, kind] = workspace.list[kind]


@compiled
def _make_live_models(workspace: SearchWorkspace, reader: HandReader, random: Random) -> None:
    models, samples = workspace.models, workspace.samples
    models.live, models.prices_shanten, models.declares, models.keeps_tenpai = 1, 1, 1, 0
    models.wall_left = workspace.begun.wall_left
    write_chances(workspace.begun, reader, samples)
    for seat in range(4):
        models.tenpai[seat] = samples.tenpai[seat]
        sample_hands(workspace.begun, seat, random, samples, workspace.pricing)
    for viewer in range(4):
        build_opponent_model(workspace.begun, viewer, models, workspace.bonus, samples)
        if not workspace.lists_on and viewer != workspace.seat:
            clear_fear(models, viewer)
