"""What both networks read of a table, of the own hand and of each opponent: names and numbers.

A layout (:mod:`mjbot.learning.models.input_layout`) takes the names as its groups; the functions
write their numbers, in that order.  All values lie in about -2..2.
"""

from typing import Final

import numpy as np

from mjbot.game.rules.shanten import is_edge
from mjbot.game.table.legal import is_furiten
from mjbot.game.table.seats import seat_after, steps_between
from mjbot.game.table.settle import seats_ahead
from mjbot.game.table.state import State
from mjbot.learning.models.danger_features import honour_value, shown_han
from mjbot.learning.models.input_layout import SEATS, InputLayout
from mjbot.learning.models.networks.look_ahead import MOST_TILES
from mjbot.protocol.tiles import FIRST_HONOUR
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float32s, Int8s

TABLE: Final = InputLayout(
    CLOCK=(
        "wall left /70", "own discards /18", "kyoku left /8", "last round", "honba /4",
        "riichi sticks /4",
    ),
    SCORES=(
        "own score, (points - 25000) /25000",
        *(f"lead on {whom} /16000" for whom in SEATS),
        *(f"rank {rank}" for rank in range(1, 5)),
    ),
    WINDS=(
        *(f"round: {wind}" for wind in ("East", "South", "West or North")),
        *(f"dealer: {whose}" for whose in ("the own seat", *SEATS)),
    ),
)  # fmt: skip
OWN_NAMES: Final = tuple(f"own {what}" for what in (
    "melds /4", "hand is open", "riichi", "furiten", "dora /4", "pairs /4",
    "terminals and honours /8", "largest suit with honours /14", "value pairs /2", "triplets /2",
))  # fmt: skip
SHANTEN_NAMES: Final = (*(f"shanten {n}" for n in range(7)), "tiles accepted /40")
OPPONENT_NAMES: Final = (
    "riichi", "ippatsu", "discards since riichi /10", "melds /4", "open", "discards /18",
    "run of tsumogiri /4", "visible han /3",
)  # fmt: skip
"""Each network adds one number of its own."""
OF_ONE: Final = len(OPPONENT_NAMES) + 1
"""Numbers of one opponent."""

_SCORES: Final = TABLE.first("SCORES")
_WINDS: Final = TABLE.first("WINDS")


@compiled
def bounded(value: float) -> float:
    """Return a value within -2..2."""
    return min(max(value, -2.0), 2.0)


@compiled
def write_table(state: State, seat: int, out: Float32s) -> None:
    """Write the numbers of :data:`TABLE`; ``out`` is zero before."""
    left = max(1, state.rules.last_round - state.round + 1)
    out[0] = state.wall_left / 70
    out[1] = state.n_river[seat] / 18
    out[2] = left / 8
    out[3] = left <= 1
    out[4] = min(state.honba, 8) / 4
    out[5] = min(state.sticks, 8) / 4
    own = state.scores[seat]
    out[_SCORES] = bounded((own - 25000) / 25000)
    for steps in range(1, state.rules.players):
        lead = own - state.scores[seat_after(state, seat, steps)]
        out[_SCORES + steps] = bounded(lead / 16000)
    out[_SCORES + 4 + seats_ahead(state.scores[: state.rules.players], seat)] = 1
    out[_WINDS + min(state.round >> 2, 2)] = 1
    out[_WINDS + 3 + steps_between(state, seat, state.dealer)] = 1


@compiled
def write_hand(state: State, seat: int, hand: Int8s, dora: int, out: Float32s) -> None:
    """Write the numbers of :data:`OWN_NAMES`; ``dora`` are those of ``hand`` and melds."""
    pairs, edges, value_pairs, triplets = 0, 0, 0, 0
    suits = np.zeros(4, np.int64)
    for kind in range(34):
        copies = hand[kind]
        if copies == 0:
            continue
        pairs += copies >= 2
        triplets += copies >= 3
        suits[kind // 9] += copies
        edges += copies * is_edge(kind)
        if copies >= 2 and kind >= FIRST_HONOUR:
            value_pairs += honour_value(state, seat, kind) > 0
    out[0] = state.n_melds[seat] / 4
    out[1] = state.is_open[seat]
    out[2] = state.riichi[seat] > 0
    out[3] = is_furiten(state, seat)
    out[4] = min(dora, 8) / 4
    out[5] = pairs / 4
    out[6] = edges / 8
    longest = max(suits[0], suits[1], suits[2])
    out[7] = (longest + suits[3] + 3 * state.n_melds[seat]) / 14
    out[8] = value_pairs / 2
    out[9] = triplets / 2


@compiled
def write_shanten(shanten: int, tiles: int, out: Float32s) -> None:
    """Write the numbers of :data:`SHANTEN_NAMES`; ``out`` is zero before."""
    out[min(max(shanten, 0), 6)] = 1
    out[7] = tiles / MOST_TILES


@compiled
def write_opponent(
    state: State, other: int, after_riichi: int, just_drawn: int, dora: Int8s, out: Float32s
) -> None:
    """Write the numbers of :data:`OPPONENT_NAMES`.

    ``after_riichi`` are its discards since its riichi, ``just_drawn`` the last ones in a row that
    it had just drawn, ``dora`` int8[34] how many dora each kind is.
    """
    out[0] = state.riichi[other] > 0
    out[1] = state.ippatsu[other]
    out[2] = after_riichi / 10
    out[3] = state.n_melds[other] / 4
    out[4] = state.is_open[other]
    out[5] = state.n_river[other] / 18
    out[6] = min(just_drawn, 8) / 4
    out[7] = min(shown_han(state, other, dora), 6) / 3
