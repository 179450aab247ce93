"""What ``mjbot explain`` shows: the risk lists of all four, as one of them supposes; plans.

Its own list a player knows.  The others' depend on their hands, which it does not see: it takes the
mean over hands that they may have, dealt as :mod:`strategies.evaluation.hidden_hands.sampler` does.
"""

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from mjbot.compiler.splitmix import mix
from mjbot.models.tenpai import (
    Chances,
    draw_shanten,
    greedy_table,
    tenpai_chance,
)
from mjbot.table.actions import ACTIONS
from mjbot.table.state import State, copy_state
from mjbot.table.view import View
from protocol.tiles import N_KINDS, TILE_NAMES
from strategies.evaluation.hidden_hands.hand_values import Points
from strategies.evaluation.hidden_hands.sampler import HandSampler, deal_hands, new_hand_sampler
from strategies.evaluation.playouts.risk_lists import JOINT, new_pricing_workspace, risk_list


def risk_lists_of(view: View, mode: int = JOINT, n_hands: int = 10, seed: int = 0) -> Points:
    """Return the points that each seat expects to lose by each kind: float64[4, 34].

    ``mode`` is JOINT or PAPER of :mod:`strategies.evaluation.playouts.risk_lists`.  In the latter
    seats are tenpai or not as was drawn for each of the ``n_hands`` positions.
    """
    random = np.array([mix(np.uint64(seed))], np.uint64)
    sampler, pricing, table = new_hand_sampler(), new_pricing_workspace(), greedy_table()
    lists, total = np.zeros((4, N_KINDS)), np.zeros((4, N_KINDS))
    for _ in range(n_hands):
        state = copy_state(view.state)
        tenpai = suppose_hands(state, view.seat, table, random, sampler)
        if mode == JOINT:
            tenpai = np.array([tenpai_chance(state, seat, table) for seat in range(4)])
        for seat in range(4):
            risk_list(state, seat, tenpai, mode, random, lists[seat], pricing)
        total += lists
    return total / n_hands


def suppose_hands(
    state: State, seat: int, table: Chances, random: NDArray[np.uint64], sampler: HandSampler
) -> Points:
    """Fill in what ``seat`` does not see; return 1 for each seat that all take for tenpai.

    How far ``seat`` itself seems to be is drawn as for the others, who do not see its hand.
    """
    drawn = [draw_shanten(state, other, table, random) for other in range(4)]
    shanten = np.array(drawn, np.int8)
    deal_hands(state, seat, shanten, random, sampler)
    return np.where(shanten == 0, 1.0, 0.0)


def risk_table(lists: Points, view: View) -> Table:
    """Return risk lists float64[4, 34] as a table, the kinds in the own hand marked."""
    grid = Table("tile", "held", "unseen", title="points that each seat expects to lose by a tile")
    for seat in range(4):
        name = f"seat {seat} (own)" if seat == view.seat else f"seat {seat}"
        grid.add_column(name, justify="right")
    for kind in range(N_KINDS):
        held, unseen = int(view.hand[kind]), int(view.unseen[kind])
        risks = [f"{points:.0f}" for points in lists[:, kind]]
        style = "bold" if held else None
        grid.add_row(TILE_NAMES[kind], str(held or ""), str(unseen), *risks, style=style)
    return grid


def plan_table(plans: NDArray[np.int64], worths: Points) -> Table:
    """Return plans int64[n, 2] (action, then discard or -1), best first, with their mean worth."""
    grid = Table("action", "then", "mean worth", title="what was played out")
    for place in np.argsort(-worths, kind="stable").tolist():
        action, then = (int(code) for code in plans[place])
        worth = f"{worths[place]:.0f}" if np.isfinite(worths[place]) else "given up early"
        grid.add_row(str(ACTIONS[action]), str(ACTIONS[then]) if then >= 0 else "", worth)
    return grid
