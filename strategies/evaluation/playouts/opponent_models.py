"""How the four players of a playout decide, as one compiled record: the price of each discard.

Seats are absolute, kinds 0..33, prices in points of the final worth (score and placement).  Where
the models are live, discarding kind k costs viewer v, over the opponents o::

    sum of P(o tenpai) (P(ron | o tenpai) x (worth lost by it - lost later)) + shanten cost

"lost later" is what v loses if nobody wins now; it sinks with the wall.  Own discards of o and
what passed its riichi cost nothing.  Else the prices are the paper's risk lists, which stay as
they are (Takada 2022, section 4.2.3).  Nothing here is tuned: the chances come from
:mod:`strategies.evaluation.playouts.sampled_hands`.
"""

from typing import Annotated

from mjbot.compiler.compiled import compiled
from mjbot.compiler.record import Float64s, Int8, Int8s, Int64, Record
from mjbot.rules.shanten import count_kinds_held
from mjbot.rules.tables import honour_row_of, join, missing, suit_row_of
from mjbot.table.observe import genbutsu
from mjbot.table.state import ACCEPTED, State
from protocol.tiles import N_KINDS


class OpponentModels(Record):
    """How each seat of a playout decides: what it fears, wants and would pay."""

    prices: Annotated[Float64s, N_KINDS]  # of the seat that discards now
    hand: Annotated[Int8s, N_KINDS]  # its hand, to take tiles out of
    lists: Annotated[Float64s, 4, N_KINDS]  # [viewer, kind] expected loss, fixed
    odds: Annotated[Float64s, 4, 4, N_KINDS]  # [viewer, opponent, kind] P(ron | tenpai)
    loss: Annotated[Float64s, 4, 4, N_KINDS]  # the same, times what the ron costs
    later_loss: Annotated[Float64s, 4]  # what the viewer loses later if nobody wins now
    tenpai: Annotated[Float64s, 4]  # P(tenpai) of a seat as all see it
    shanten_cost: Annotated[Float64s, 4, 8]  # [seat, shanten] what the hand is worth less
    wall_left: Int64  # draws left when the opponent models were made
    live: Int8  # 1: odds, loss and later make the price; 0: the lists
    keeps_tenpai: Int8  # 1: whoever is tenpai stays so at any price
    prices_shanten: Int8  # 1: falling back from tenpai has a price
    declares: Int8  # 1: riichi is declared whenever it is legal
    paired: (
        Int8  # 1: what goes of equals is settled by the wall, seat and turn, not by what was before
    )


@compiled
def clear_fear(models: OpponentModels, viewer: int) -> None:
    """Let a viewer see no danger in any discard."""
    models.later_loss[viewer] = 0.0
    for other in range(4):
        for kind in range(N_KINDS):
            models.odds[viewer, other, kind] = 0.0
            models.loss[viewer, other, kind] = 0.0


@compiled
def price_discards(state: State, seat: int, models: OpponentModels) -> None:
    """Write what each kind in the hand of ``seat`` costs to discard into ``models.prices``."""
    for kind in range(N_KINDS):
        models.hand[kind] = state.hand[seat, kind]
    if models.live:
        _price_by_odds(state, seat, models)
    else:
        for kind in range(N_KINDS):
            models.prices[kind] = models.lists[seat, kind]
    if models.prices_shanten:
        _add_shanten_cost(state, seat, models)


@compiled
def _price_by_odds(state: State, seat: int, models: OpponentModels) -> None:
    """Sum over the opponents: P(tenpai) x P(ron | tenpai) x (its cost less that of later wins).

    Own discards of an opponent and what passed its riichi are safe by now.
    """
    for kind in range(N_KINDS):
        models.prices[kind] = 0.0
    later_loss = models.later_loss[seat] * state.wall_left / max(1, models.wall_left)
    for step in range(1, 4):
        other = (seat + step) & 3
        safe = genbutsu(state, other)
        weight = 1.0 if state.riichi[other] == ACCEPTED else models.tenpai[other]
        if weight == 0.0:
            continue
        for kind in range(N_KINDS):
            if state.hand[seat, kind] and not (safe >> kind) & 1:
                odds = models.odds[seat, other, kind]
                models.prices[kind] += weight * (models.loss[seat, other, kind] - odds * later_loss)


@compiled
def _add_shanten_cost(state: State, seat: int, models: OpponentModels) -> None:
    """Add what the hand is worth less after each discard, by its shanten."""
    hand, melds = models.hand, state.n_melds[seat]
    n_kinds, n_pairs, _, _ = count_kinds_held(hand)
    rows = (suit_row_of(hand, 0), suit_row_of(hand, 9), suit_row_of(hand, 18), honour_row_of(hand))
    man_pin, sou_honours = join(rows[0], rows[1]), join(rows[2], rows[3])
    others = (
        join(rows[1], sou_honours),
        join(rows[0], sou_honours),
        join(man_pin, rows[3]),
        join(man_pin, rows[2]),
    )
    for kind in range(N_KINDS):
        if hand[kind]:
            hand[kind] -= 1
            suit = kind // 9
            row = honour_row_of(hand) if suit == 3 else suit_row_of(hand, 9 * suit)
            after = missing(join(row, others[suit]), melds) - 1
            if melds == 0:  # seven pairs
                pairs = n_pairs - (hand[kind] == 1)
                kinds = n_kinds - (hand[kind] == 0)
                after = min(after, 6 - pairs + max(0, 7 - kinds))
            models.prices[kind] += models.shanten_cost[seat, max(0, min(after, 7))]
            hand[kind] += 1
