"""What a sampled hand of an opponent would cost the viewer, by ron and by draw, in points.

The table's own scoring, with melds, dora and honba shown, and liability (pao); ura dora of a
riichi under markers drawn from the unseen tiles, red fives by their share among the unseen fives.
By draw it is the mean over the unseen copies that win.  Ippatsu, the last tile and robbing a kan
do not count.  No constants, nothing tuned.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.points import base_points, ron_points, tsumo_points
from mjbot.game.rules.scoring import score_win
from mjbot.game.rules.wins import DOUBLE_RIICHI, RIICHI, TSUMO, Win
from mjbot.game.table.apply import ura_due
from mjbot.game.table.hands import count_meld_reds
from mjbot.game.table.observe import add_melds, dora_kind, dora_values, unseen_kinds
from mjbot.game.table.settle import liable_base, liable_seat
from mjbot.game.table.state import NO_RIICHI, State
from mjbot.learning.playouts.sampler import barred_waits, unseen_reds
from mjbot.learning.playouts.tenpai_parts import Tenpai, prepare
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float64, Float64s, Int8, Int8s, Int64, Record
from mjbot.runtime.compiler.splitmix import next_below

Points = NDArray[np.float64]

N_TURNS: Final = 19
"""One more than a seat can draw in a kyoku without calls."""


class HandValues(Record):
    """The possible value of an opponent's hand, from what is visible."""

    found: Int8  # 1 if any hand in tenpai fits
    # Points are those that the viewer pays, means over the samples:
    ron: Annotated[Float64s, 34]  # if the kind is discarded
    picked: Annotated[Float64s, 34]  # the same of one winning kind per sample
    win_chance: Annotated[Float64s, 34]  # chance that the kind is won by ron
    draw: Float64  # by draw, before the wall ends
    draw_at: Annotated[Float64s, N_TURNS]  # the same at the opponent's n-th draw, n from 1
    alive_at: Annotated[Float64s, N_TURNS]  # chance that it has not won after so many draws
    # The part of those samples that win on the kind by ron:
    draw_at_won: Annotated[Float64s, 34, N_TURNS]
    alive_at_won: Annotated[Float64s, 34, N_TURNS]


class PricingWorkspace(Record):
    """What pricing works with."""

    values: Annotated[Sequence[HandValues], 4]
    tenpai: Tenpai
    win: Win
    unseen: Annotated[Int8s, 34]
    red: Annotated[Int8s, 3]
    dora: Annotated[Int8s, 34]
    held: Annotated[Int8s, 34]
    # Of the sample at hand:
    ron_points: Annotated[Float64s, 34]
    draw_points: Float64  # mean over the copies that win by draw
    draw_copies: Int64
    has_yaku: Int8
    alive: Annotated[Float64s, N_TURNS]  # chance that it has not won after so many draws


PRICING_WORKSPACE: Final = PricingWorkspace.dtype


def new_pricing_workspace() -> PricingWorkspace:
    """Return an empty record to read opponents with."""
    return PricingWorkspace.new()


@compiled
def prepare_pricing(state: State, viewer: int, other: int, pricing: PricingWorkspace) -> None:
    """Set up the sampling, and all of the win that does not change from sample to sample."""
    unseen_kinds(state, viewer, pricing.unseen)
    unseen_reds(state, viewer, pricing.red)
    dora_values(state, pricing.dora)
    tenpai, win = pricing.tenpai, pricing.win
    for kind in range(34):
        tenpai.unseen[kind] = pricing.unseen[kind]
        pricing.held[kind] = 0
    tenpai.barred = barred_waits(state, other)
    tenpai.n_melds = state.n_melds[other]
    prepare(tenpai)
    add_melds(state, other, pricing.held)
    win.n_melds = state.n_melds[other]
    for meld in range(state.n_melds[other]):
        win.meld_type[meld] = state.meld_type[other, meld]
        win.meld_kind[meld] = state.meld_kind[other, meld]
    win.seat_wind = (other - state.dealer) & 3
    win.round_wind = state.round >> 2
    win.flags = state.rules.scoring
    if state.riichi[other] != NO_RIICHI:
        win.flags |= DOUBLE_RIICHI if state.double_riichi[other] else RIICHI


@compiled
def price_sample(
    state: State, viewer: int, other: int, random: NDArray[np.uint64], pricing: PricingWorkspace
) -> None:
    """Note what the viewer pays for the sampled hand: by ron on each kind, and by draw.

    By draw it is the mean over the unseen copies that win.
    """
    win, tenpai = pricing.win, pricing.tenpai
    dora = sampled_dora(state, other, random, pricing)
    win.ura = sampled_ura(state, random, pricing) if win.flags & (RIICHI | DOUBLE_RIICHI) else 0
    flags = win.flags
    for kind in range(34):
        pricing.ron_points[kind] = 0
        win.hand[kind] = tenpai.hand[kind]
    pricing.has_yaku = 0
    copies, drawn = 0, 0.0
    for kind in range(34):
        if not (tenpai.waits >> kind) & 1:
            continue
        left = pricing.unseen[kind] - tenpai.hand[kind]
        win.hand[kind] += 1
        win.win_kind = kind
        win.dora = dora + pricing.dora[kind]
        pricing.ron_points[kind] = max(0.0, _payment(state, viewer, other, pricing))
        win.flags = flags | TSUMO
        points = _payment(state, viewer, other, pricing)
        win.flags = flags
        if points >= 0 and left > 0:
            drawn += left * points
            copies += left
        win.hand[kind] -= 1
    pricing.draw_copies = copies
    pricing.draw_points = drawn / copies if copies else 0.0


@compiled
def sampled_dora(
    state: State, other: int, random: NDArray[np.uint64], pricing: PricingWorkspace
) -> int:
    """Return the dora of the sampled hand with its melds; write its red fives into the win."""
    tenpai, win = pricing.tenpai, pricing.win
    dora = 0
    for kind in range(34):
        if pricing.dora[kind]:
            dora += pricing.dora[kind] * (tenpai.hand[kind] + pricing.held[kind])
    win.red = 0
    for meld in range(state.n_melds[other]):
        win.red += count_meld_reds(state.meld_red[other, meld])
    for suit in range(3):
        five = 9 * suit + 4
        fives, held = pricing.unseen[five], tenpai.hand[five]
        for gone in range(pricing.red[suit]):
            if held > 0 and next_below(random, int(fives) - gone) < held:
                win.red += 1
                held -= 1
    return dora


@compiled
def sampled_ura(state: State, random: NDArray[np.uint64], pricing: PricingWorkspace) -> int:
    """Return the ura dora of the sampled hand under markers drawn from the unseen tiles."""
    total = 0
    for kind in range(34):
        total += pricing.unseen[kind]
    ura = 0
    for _ in range(ura_due(state)):
        at = next_below(random, total)
        marker = 0
        while at >= pricing.unseen[marker]:
            at -= pricing.unseen[marker]
            marker += 1
        kind = dora_kind(marker, state.rules.players)
        ura += pricing.tenpai.hand[kind] + pricing.held[kind]
    return ura


@compiled
def _payment(state: State, viewer: int, other: int, pricing: PricingWorkspace) -> float:
    """Return what the viewer pays for ``pricing.win``, honba and liability included.

    It is -1 without a yaku; with one that is noted.
    """
    han, fu, mask, yakuman = score_win(pricing.win)
    if han == 0:
        return -1.0
    pricing.has_yaku = 1
    by_draw = pricing.win.flags & TSUMO
    base = base_points(han, fu, yakuman, int(state.rules.scoring))
    honba = state.rules.honba_points * state.honba
    liable = liable_seat(state, other, mask)
    is_dealer = other == state.dealer
    own_share = is_dealer or viewer == state.dealer
    if by_draw and liable < 0:
        return float(tsumo_points(base, own_share) + honba)
    answered = liable_base(state.rules, base, mask) if liable >= 0 else base
    whole = ron_points(answered, is_dealer)
    rest = base - answered  # of yakuman for which no seat is liable
    if by_draw:
        points = tsumo_points(rest, own_share)
        return float(points + whole + 3 * honba) if liable == viewer else float(points)
    points = ron_points(rest, is_dealer)
    if liable < 0 or liable == viewer:
        return float(points + whole + 3 * honba)
    return float(points + whole // 2)
