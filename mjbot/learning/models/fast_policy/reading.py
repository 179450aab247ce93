"""What a seat sees, read once for a decision: its hand, dangers and numbers of the table.

:func:`read_table` fills a :class:`Reading`, scratch memory that is reused from decision to
decision; :mod:`mjbot.learning.models.fast_policy.candidates` then describes what the seat may
choose.  Only what the seat may see is read: other hands and the wall are not.
"""

from collections.abc import Sequence
from math import exp, sqrt
from typing import Annotated, Any, Final

import numpy as np

from mjbot.game.rules.acceptance import count_tiles
from mjbot.game.rules.shanten import NEVER
from mjbot.game.rules.tile_sets import acceptance_of
from mjbot.game.rules.wins import Win
from mjbot.game.table.assume import EVERY_KIND
from mjbot.game.table.observe import genbutsu, unseen_kinds
from mjbot.game.table.seats import seat_after
from mjbot.game.table.state import CALLED, REACTION, RIICHI, State
from mjbot.learning.models.danger import DangerWeights
from mjbot.learning.models.danger_features import (
    MAX_ACTIVE,
    OpponentSigns,
    active_features,
    honour_value,
    loss_features,
    read_opponent,
)
from mjbot.learning.models.fast_policy.ally import (
    NO_ALLY,
    OF_ALLY,
    OF_TILE,
    AllyReading,
    read_ally,
    write_ally,
)
from mjbot.learning.models.fast_policy.shape_rows import Changes, ShapeRows, write_rows
from mjbot.learning.models.input_layout import SEATS, InputLayout, headed
from mjbot.learning.models.networks.look_ahead import (
    OF_PLANS,
    PLAN_INPUTS,
    POINTS,
    HandOutlook,
    write_plans,
)
from mjbot.learning.models.table_features import (
    OF_ONE,
    OPPONENT_NAMES,
    OWN_NAMES,
    SHANTEN_NAMES,
    TABLE,
    write_hand,
    write_opponent,
    write_shanten,
    write_table,
)
from mjbot.learning.models.win_value import HandContext, hand_dora, read_holding
from mjbot.protocol.tiles import FIRST_DRAGON, FIRST_HONOUR
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float32s, Float64s, Int8s, Int16s, Int64, Int64s, Record

CONTEXT: Final = InputLayout(
    **TABLE.groups,
    OWN=OWN_NAMES,
    SHANTEN=SHANTEN_NAMES,
    PHASE=("after a call", "riichi declared"),
    SAFETY=("safe kinds held under a riichi /4", "least danger, root", "mean danger, root"),
    OPPONENTS=headed(SEATS, (*OPPONENT_NAMES, "dealer")),
    PLANS=headed(("plans",), PLAN_INPUTS.names),
)
"""What is read without an ally; the numbers of one follow."""

OWN: Final = CONTEXT.first("OWN")
SHANTEN: Final = CONTEXT.first("SHANTEN")
PHASE: Final = CONTEXT.first("PHASE")
SAFETY: Final = CONTEXT.first("SAFETY")
OPPONENTS: Final = CONTEXT.first("OPPONENTS")
PLANS: Final = CONTEXT.first("PLANS")
PLAIN_CONTEXT: Final = CONTEXT.size
ALLY: Final = PLAIN_CONTEXT
N_CONTEXT: Final = ALLY + OF_ALLY

MOST_CANDIDATES: Final = 14
PLAIN_INPUTS: Final = 42
"""Of a candidate; each question uses the first of them."""
TO_ALLY: Final = PLAIN_INPUTS + OF_PLANS
"""Before these a discard has the plans that it leaves, where :attr:`Reading.is_wide` is set."""
N_INPUTS: Final = TO_ALLY + OF_TILE


class Reading(Record):
    """Scratch memory of one thread: what is read, and the candidates of a question.

    One record, not arrays: a compiled call with it takes an address instead of twenty arrays.
    """

    shape: ShapeRows
    ally: AllyReading
    is_wide: Int64  # whether the network reads more inputs than the plain ones
    best: Annotated[Int64s, 2]  # least shanten, most tiles accepted with it
    masks: Annotated[Int64s, 34]  # kinds accepted after discarding each kind
    safe: Annotated[Int64s, 3]  # masks of kinds, of the opponents 1, 2 and 3 seats on
    changed: Annotated[Int64s, 4]
    choices: Annotated[Int64s, MOST_CANDIDATES]  # what each candidate is
    chance: Annotated[Float64s, 3, 34]  # to deal in to each opponent, of the kinds held
    loss: Annotated[Float64s, 34]  # sum over them of chance x points / 8,000
    signs: Annotated[Sequence[OpponentSigns], 4]
    wins: Annotated[Sequence[Win], 1]
    changes: Annotated[Sequence[Changes], MOST_CANDIDATES]
    context: Annotated[Float32s, N_CONTEXT]
    inputs: Annotated[Float32s, MOST_CANDIDATES, N_INPUTS]
    tiles: Annotated[Int16s, 34]  # accepted after discarding each kind
    active: Annotated[Int16s, MAX_ACTIVE]
    shantens: Annotated[Int8s, 34]  # after discarding each kind, NEVER where it is not held


@compiled
def read_table(
    state: State, seat: int, danger: DangerWeights, reading: Reading, ally: int
) -> HandContext:
    """Read the table as ``seat`` sees it; return what the score of its hand depends on.

    Of the seat ``ally``, unless it is :data:`~mjbot.learning.models.fast_policy.ally.NO_ALLY`, the
    hand is read, too, and it counts as one that wins on no discard of this seat.
    """
    shape = reading.shape
    unseen_kinds(state, seat, shape.unseen)
    if ally != NO_ALLY:
        for kind in range(34):
            shape.unseen[kind] -= state.hand[ally, kind]
    wins: Any = reading.wins
    holding = read_holding(state, seat, wins, shape.dora)
    for kind in range(34):
        reading.shape.hand[kind] = state.hand[seat, kind]
        if kind >= FIRST_HONOUR:
            shape.values[kind] = 3 if kind >= FIRST_DRAGON else honour_value(state, seat, kind)
    shape.own = state.discarded[seat]
    write_rows(shape)
    reading.context[:] = 0
    write_table(state, seat, reading.context)
    reading.context[PHASE] = state.phase == CALLED
    reading.context[PHASE + 1] = state.phase == RIICHI
    _read_dangers(state, seat, danger, reading, ally)
    _read_distances(state, seat, reading)
    dora = hand_dora(shape.hand, holding)
    write_hand(state, seat, shape.hand, dora, reading.context[OWN:])
    _write_safety(reading)
    held = HandOutlook(shape.hand, shape.unseen, dora, holding)
    write_plans(state, seat, held, reading.context[PLANS:])
    reading.ally.seat = ally
    if ally != NO_ALLY:
        read_ally(state, ally, shape.unseen, shape.dora, reading.ally)
        write_ally(state, seat, reading.ally, reading.context[ALLY:])
    return holding


@compiled
def _read_dangers(
    state: State, seat: int, weights: DangerWeights, reading: Reading, ally: int
) -> None:
    """Fill what each kind held risks, and what is seen of each opponent."""
    shape = reading.shape
    for kind in range(34):
        reading.loss[kind] = 0
    for step in range(3):
        if step + 2 > state.rules.players:
            reading.chance[step, :], reading.safe[step] = 0, EVERY_KIND
            continue
        other = seat_after(state, seat, step + 1)
        signs = reading.signs[other]
        read_opponent(state, other, shape.unseen, signs)
        odds = weights.riichi if state.riichi[other] else weights.other
        reading.safe[step] = EVERY_KIND if other == ally else genbutsu(state, other)
        points = np.zeros(3)
        for kind in range(34):
            reading.chance[step, kind] = 0
            if reading.shape.hand[kind] == 0 or reading.safe[step] >> kind & 1:
                continue
            total = 0.0
            n = active_features(state, other, kind, shape.unseen, shape.dora, signs, reading.active)
            for index in range(n):
                total += odds[reading.active[index]]
            extra = min(shape.dora[kind], 2)
            if points[extra] == 0:
                points[extra] = _mean_points(state, other, kind, weights, reading)
            reading.chance[step, kind] = 1 / (1 + exp(-total))
            reading.loss[kind] += reading.chance[step, kind] * points[extra]
        out = reading.context[OPPONENTS + OF_ONE * step :]
        write_opponent(state, other, signs.after_riichi, signs.just_drawn, shape.dora, out)
        out[8] = state.dealer == other


@compiled
def _mean_points(
    state: State, other: int, kind: int, weights: DangerWeights, reading: Reading
) -> float:
    """Return the points of a ron on the kind, in units of 8,000."""
    total = 0.0
    for index in range(loss_features(state, other, kind, reading.shape.dora, reading.active)):
        total += weights.loss[reading.active[index]]
    return exp(total) / POINTS


@compiled
def _read_distances(state: State, seat: int, reading: Reading) -> None:
    """Fill shanten and acceptance: of a hand to discard from after each discard, else as it is."""
    hand, n_melds, unseen = reading.shape.hand, int(state.n_melds[seat]), reading.shape.unseen
    best, players = reading.best, int(state.rules.players)
    if state.phase == REACTION or state.turn != seat:
        best[0], mask = acceptance_of(hand, n_melds, players)
        best[1] = count_tiles(mask, unseen)
    else:
        best[0], best[1] = NEVER, 0
        for kind in range(34):
            reading.shantens[kind] = NEVER
            if hand[kind]:
                hand[kind] -= 1
                away, mask = acceptance_of(hand, n_melds, players)
                hand[kind] += 1
                tiles = count_tiles(mask, unseen)
                reading.shantens[kind], reading.masks[kind] = away, mask
                reading.tiles[kind] = tiles
                if away < best[0]:
                    best[0], best[1] = away, 0
                if away == best[0]:
                    best[1] = max(best[1], tiles)
    write_shanten(best[0], best[1], reading.context[SHANTEN:])


@compiled
def _write_safety(reading: Reading) -> None:
    """Write how safe the tiles held are: whether any is against a riichi, what discarding risks."""
    safe, held = 0, 0
    least, total = 9.0, 0.0
    threatened = reading.context[OPPONENTS : OPPONENTS + 3 * OF_ONE : OF_ONE]
    for kind in range(34):
        if reading.shape.hand[kind] == 0:
            continue
        held += 1
        total += reading.loss[kind]
        least = min(least, reading.loss[kind])
        is_safe = True
        for step in range(3):
            is_safe &= threatened[step] == 0 or reading.safe[step] >> kind & 1 == 1
        safe += is_safe
    if threatened[0] + threatened[1] + threatened[2] > 0:
        reading.context[SAFETY] = min(safe, 8) / 4
    reading.context[SAFETY + 1] = sqrt(least)
    reading.context[SAFETY + 2] = sqrt(total / max(held, 1))
