"""Trying out actions by playouts: hidden hands dealt, minds made, walls shuffled, played on.

Takada 2022, figure 3: m ways to deal the hidden hands, n walls for each of them.  Compiled code.
All that it works with lies in one record, :data:`WORKSHOP`, as compiled code allocates slowly.
"""

from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.compiler.record import Float64s, Int8, Int8s, Int64, Record
from mjbot.compiler.splitmix import mix
from mjbot.models.tenpai import Chances, draw_shanten
from mjbot.referee.flow import carry_out
from mjbot.referee.step import Desk
from mjbot.table.actions import PASS, RON
from mjbot.table.legal import can_ron
from mjbot.table.state import (
    CHANKAN,
    MISSED_UNTIL_DISCARD,
    REACTION,
    WON,
    State,
)
from strategies.evaluation.hidden_hands.pricing import Reader
from strategies.evaluation.hidden_hands.sampler import Dealer, deal_hands, deal_wall
from strategies.evaluation.playouts.opponent_models import Minds, forget_fear
from strategies.evaluation.playouts.playouts import play_out
from strategies.evaluation.playouts.risk_lists import PAPER, risk_list
from strategies.evaluation.playouts.sampled_hands import (
    Reads,
    make_up_mind,
    read_chances,
    sample_hands,
)
from strategies.evaluation.playouts.worth import final_worth

Random = NDArray[np.uint64]
Codes = NDArray[np.int64]

NO_CODE: Final = -1
_SPREAD = np.uint64(0xD1B54A32D192ED03)


class Workshop(Record):
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
    desk: Desk
    dealer: Dealer
    reader: Reader
    minds: Minds
    shanten: Annotated[Int8s, 4]
    tenpai: Annotated[Float64s, 4]
    reads: Reads
    list: Annotated[Float64s, 34]


WORKSHOP: Final = Workshop.dtype


def new_workshop() -> Workshop:
    """Return an empty record to try out actions with."""
    return Workshop.new()


@compiled
def try_actions(
    shop: Workshop,
    table: Chances,
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
            own = place + 1 if shop.as_paper else 0
            key = mix(mix(np.uint64(seed)) + np.uint64(deal) * _SPREAD + np.uint64(own))
            out[place] += _try_action(shop, table, codes[place], key, random)


@compiled
def _try_action(
    shop: Workshop, table: Chances, codes: NDArray[np.int64], key: np.uint64, random: Random
) -> float:
    """Return the sum of the worth of ``n_walls`` playouts after an action."""
    random[0] = key
    shop.filled = shop.position
    fill_in(shop, table, random)
    shop.begun = shop.filled
    begin(shop.begun, shop.desk, shop.seat, codes)
    if shop.begun.phase >= WON:
        worth = final_worth(shop.begun, shop.seat, shop.bonus, not shop.as_paper)
        return shop.n_walls * worth
    make_minds(shop, table, random)
    total = 0.0
    for wall in range(shop.n_walls):
        random[0] = mix(key + np.uint64(wall + 1) * _SPREAD)
        shop.playing = shop.begun
        deal_wall(shop.playing, random, shop.dealer)
        play_out(shop.playing, shop.desk, shop.minds, random)
        total += final_worth(shop.playing, shop.seat, shop.bonus, not shop.as_paper)
    return total


@compiled
def fill_in(shop: Workshop, table: Chances, random: Random) -> None:
    """Draw what shanten everybody seems to have, and deal the hidden hands and a wall."""
    for seat in range(4):
        shop.shanten[seat] = draw_shanten(shop.filled, seat, table, random)
    deal_hands(shop.filled, shop.seat, shop.shanten, random, shop.dealer)
    deal_wall(shop.filled, random, shop.dealer)


@compiled
def begin(state: State, desk: Desk, seat: int, codes: NDArray[np.int64]) -> None:
    """Carry out an action of ``seat`` and the discard that follows; all hands are known.

    After a pass nothing happens yet, but that the seat cannot win the tile any more.
    """
    desk.outcome.n_wins = 0
    desk.n_rows = 0
    if codes[0] == PASS:
        state.missed[seat] = max(state.missed[seat], MISSED_UNTIL_DISCARD)
        return
    if state.phase == REACTION or state.phase == CHANKAN:
        for other in range(4):
            wins = other != state.turn and can_ron(state, other)
            desk.choices[other] = RON if wins else PASS
    desk.choices[seat] = codes[0]
    carry_out(state, desk)
    if codes[1] != NO_CODE and state.phase < WON:
        desk.n_rows = 0
        desk.choices[seat] = codes[1]
        carry_out(state, desk)


@compiled
def make_minds(shop: Workshop, table: Chances, random: Random) -> None:
    """Make up the four players' minds for the position after the action."""
    if shop.as_paper:
        _make_lists(shop, random)
    else:
        _make_live_minds(shop, table, random)


@compiled
def _make_lists(shop: Workshop, random: Random) -> None:
    """Write the paper's risk lists, which stay as they are through the playout."""
    minds = shop.minds
    minds.live, minds.builds, minds.declares, minds.keeps_tenpai = 0, 0, 0, 1
    for seat in range(4):
        shop.tenpai[seat] = shop.shanten[seat] == 0
    for viewer in range(4):
        for kind in range(34):
            minds.lists[viewer, kind] = 0.0
        if shop.lists_on or viewer == shop.seat:
            risk_list(shop.begun, viewer, shop.tenpai, PAPER, random, shop.list, shop.reader)
            for kind in range(34):
                minds.lists[viewer, kind] = shop.list[kind]


@compiled
def _make_live_minds(shop: Workshop, table: Chances, random: Random) -> None:
    minds, reads = shop.minds, shop.reads
    minds.live, minds.builds, minds.declares, minds.keeps_tenpai = 1, 1, 1, 0
    minds.wall_left = shop.begun.wall_left
    read_chances(shop.begun, table, reads)
    for seat in range(4):
        minds.tenpai[seat] = reads.tenpai[seat]
        sample_hands(shop.begun, seat, random, reads, shop.reader)
    for viewer in range(4):
        make_up_mind(shop.begun, viewer, minds, shop.bonus, reads)
        if not shop.lists_on and viewer != shop.seat:
            forget_fear(minds, viewer)
