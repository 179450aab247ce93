"""How far all four seem to be, and their risk lists, as one supposes, for ``mjbot explain``.

Its own list a player knows.  The others' depend on their hands, which it does not see: it takes the
mean over hands that they may have, dealt as :mod:`mjbot.learning.playouts.sampler` does.
"""

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.state import State, copy_state
from mjbot.game.table.view import View
from mjbot.learning.models.networks.hidden_shanten import N_SHANTEN
from mjbot.learning.models.tenpai import HandReader, draw_shanten, shanten_chances, tenpai_chance
from mjbot.learning.playouts.sampler import HandSampler, deal_hands, new_hand_sampler
from mjbot.protocol.tiles import N_KINDS, TILE_NAMES
from mjbot.runtime.compiler.splitmix import mix
from mjbot.runtime.languages import marked
from mjbot.strategies.evaluation.hidden_hands.hand_values import Points
from mjbot.strategies.evaluation.playouts.risk_lists import JOINT, new_pricing_workspace, risk_list
from mjbot.strategy.explanation import DataTable


def shanten_table(view: View, reader: HandReader) -> DataTable:
    """Return how likely each shanten of each seat is to those who do not see its hand."""
    rows: list[list[str | float]] = []
    chances = np.empty(N_SHANTEN)
    for seat in range(4):
        shanten_chances(view.state, seat, reader, chances)
        who = f"seat {seat}" + (" (own, to the others)" if seat == view.seat else "")
        rows.append([who, *(round(100 * float(chance), 1) for chance in chances)])
    columns = ["", "tenpai", *map(str, range(1, N_SHANTEN - 1)), f"{N_SHANTEN - 1}+"]
    return DataTable(marked("% how far each seat seems to be, in shanten"), columns, rows)


def risk_lists_of(
    view: View, reader: HandReader, mode: int = JOINT, n_hands: int = 10, seed: int = 0
) -> Points:
    """Return the points that each seat expects to lose by each kind: float64[4, 34].

    ``mode`` is JOINT or PAPER of :mod:`mjbot.strategies.evaluation.playouts.risk_lists`.  In the
    latter seats are tenpai or not as was drawn for each of the ``n_hands`` positions.
    """
    random = np.array([mix(np.uint64(seed))], np.uint64)
    sampler, pricing = new_hand_sampler(), new_pricing_workspace()
    lists, total = np.zeros((4, N_KINDS)), np.zeros((4, N_KINDS))
    for _ in range(n_hands):
        state = copy_state(view.state)
        tenpai = suppose_hands(state, view.seat, reader, random, sampler)
        if mode == JOINT:
            tenpai = np.array([tenpai_chance(state, seat, reader) for seat in range(4)])
        for seat in range(4):
            risk_list(state, seat, tenpai, mode, random, lists[seat], pricing)
        total += lists
    return total / n_hands


def suppose_hands(
    state: State, seat: int, reader: HandReader, random: NDArray[np.uint64], sampler: HandSampler
) -> Points:
    """Fill in what ``seat`` does not see; return 1 for each seat that all take for tenpai.

    How far ``seat`` itself seems to be is drawn as for the others, who do not see its hand.
    """
    drawn = [draw_shanten(state, other, reader, random) for other in range(4)]
    shanten = np.array(drawn, np.int8)
    deal_hands(state, seat, shanten, random, sampler)
    return np.where(shanten == 0, 1.0, 0.0)


def risk_table(lists: Points, view: View) -> DataTable:
    """Return risk lists float64[4, 34] as a table, the kinds in the own hand marked."""
    seats = [f"seat {seat}" + " (own)" * (seat == view.seat) for seat in range(4)]
    held, unseen = view.hand.tolist(), view.unseen.tolist()
    return DataTable(
        marked("points that each seat expects to lose by a tile"),
        [marked("tile"), marked("held"), marked("unseen"), *seats],
        [
            [TILE_NAMES[kind], held[kind] or "", unseen[kind], *map(round, lists[:, kind].tolist())]
            for kind in range(N_KINDS)
        ],
        frozenset(kind for kind in range(N_KINDS) if held[kind]),
    )
