"""Risk lists: what a player expects to lose by discarding each kind, as it sees the table.

Takada and Sato 2022, section 4.2.  Each opponent that is seen as tenpai is *read*: ten hands in
tenpai that fit its melds and river are sampled from the tiles that the viewer has not seen, and
what the viewer would pay for them is counted, by ron and by draw.  A list joins what was read of
the three opponents.

``PAPER``: one of the winning kinds of each sample, at random, has its points as ron risk; a kind
that nobody is expected to win on has the risk that somebody draws its tile before the wall ends.
``JOINT``: all winning kinds count, opponents are tenpai with a probability, and the chances of
what excludes each other are joint ones: where the discard is not won, the opponents draw in turn,
and whoever comes to a winning tile first wins.  Only between opponents hands are independent.

What both do where the paper is silent:

* The chance to draw a winning tile is that of the unseen copies among the unseen tiles, over the
  draws that are left to the seat, without replacement (the paper takes it from a book's table).
* A sample that has no yaku cannot be won by ron.  Open hands without any yaku are left out, as
  far as others are found among 60: nobody opens a hand that cannot win.  Where there are none,
  half or full flushes are sampled if the melds allow it; else the opponent is no danger.
* Honba and liability (pao) count, ura dora for a riichi at random, red fives by their chance.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.table.state import State
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategies.evaluation.hidden_hands.hand_values import (
    PRICING_WORKSPACE,
    Points,
    PricingWorkspace,
    new_pricing_workspace,
    read_opponent,
)
from mjbot.strategies.evaluation.hidden_hands.pricing import N_TURNS

__all__ = [
    "JOINT",
    "PAPER",
    "PRICING_WORKSPACE",
    "PricingWorkspace",
    "join_readings",
    "new_pricing_workspace",
    "risk_list",
]

PAPER: Final = 0
JOINT: Final = 1


@compiled
def risk_list(
    state: State,
    viewer: int,
    tenpai: Points,
    mode: int,
    random: NDArray[np.uint64],
    out: Points,
    pricing: PricingWorkspace,
) -> None:
    """Write the points that ``viewer`` expects to lose by discarding each kind: float64[34].

    ``tenpai`` float64[4] is how likely each seat is tenpai to the viewer (its own entry is
    ignored): in the mode PAPER 0 or 1, drawn for the position; seats with 0 are not sampled.
    Only what the viewer sees is looked at.  ``pricing.values`` keeps what was read of each seat.
    """
    for step in range(1, 4):
        other = (viewer + step) & 3
        if tenpai[other] > 0:
            read_opponent(state, viewer, other, random, pricing)
    join_readings(viewer, tenpai, mode, out, pricing)


@compiled
def join_readings(
    viewer: int, tenpai: Points, mode: int, out: Points, pricing: PricingWorkspace
) -> None:
    """Join what was read of three opponents into a risk list: float64[34]."""
    if mode == PAPER:
        _join_as_paper(viewer, tenpai, out, pricing)
        return
    for kind in range(34):
        out[kind] = 0
    for step in range(1, 4):
        other = (viewer + step) & 3
        value = pricing.values[other]
        if tenpai[other] == 0 or not value.found:
            continue
        for kind in range(34):
            out[kind] += tenpai[other] * value.ron[kind]
            for turn in range(1, N_TURNS):
                paid = value.draw_at[turn] - value.draw_at_won[kind, turn]
                if paid > 0:
                    before = _nobody_before(viewer, step, kind, turn, tenpai, pricing)
                    out[kind] += tenpai[other] * paid * before


@compiled
def _nobody_before(
    viewer: int, step: int, kind: int, turn: int, tenpai: Points, pricing: PricingWorkspace
) -> float:
    """Return the chance that neither other opponent wins before this one's ``turn``-th draw.

    Neither by ron on the kind nor by draw; the seats draw in the order of their ``step``.
    """
    chance = 1.0
    for other_step in range(1, 4):
        other = (viewer + other_step) & 3
        value = pricing.values[other]
        if other_step != step and tenpai[other] > 0 and value.found:
            draws = turn if other_step < step else turn - 1
            alive = value.alive_at[draws] - value.alive_at_won[kind, draws]
            chance *= 1 - tenpai[other] + tenpai[other] * alive
    return chance


@compiled
def _join_as_paper(viewer: int, tenpai: Points, out: Points, pricing: PricingWorkspace) -> None:
    draw = 0.0
    for kind in range(34):
        out[kind] = 0
    for step in range(1, 4):
        other = (viewer + step) & 3
        value = pricing.values[other]
        if tenpai[other] > 0 and value.found:
            draw += tenpai[other] * value.draw
            for kind in range(34):
                out[kind] += tenpai[other] * value.picked[kind]
    for kind in range(34):
        if out[kind] == 0:
            out[kind] = draw
