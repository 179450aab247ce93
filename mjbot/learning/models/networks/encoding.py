"""What a seat sees as numbers for the learned players: one encoder for records, play, training.

:func:`encode` fills two float32 arrays for a seat that has something to decide:

* ``planes[34, N_PLANES]``: what is known of each kind;
* ``scalars[N_SCALARS]``: what is known of the table and of the hand as a whole.

All values lie in about -1..1.  Opponents stand in turn order from the right (the next to play)
to the left; of three players the last one's numbers are 0, and the option of the low chi is that of
a kita.  Only what the seat may know is read: other hands and the wall are not.

In addition to these facts the input has results of the rules (shanten, acceptance, waits and
points after each discard, shanten and acceptance after each call) and outputs of two other models:
the probability and cost of dealing in to each opponent by kind
(:mod:`mjbot.learning.models.danger`), and how strong players rate each discard
(:mod:`mjbot.learning.models.hand`, feature set "plus"). In trials they added nine percentage points
of accuracy over the facts alone at equal cost (docs/results/networks.md).
Networks that learn from records get these two from models that were not fitted to the same
games (cross-fitting, :mod:`mjbot.learning.training.networks.policy`).
"""

from math import exp
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.game.rules.wins import WIN
from mjbot.game.table.actions import (
    ADDED_KAN,
    CALL_KAN,
    CHI_LOW,
    CHI_LOW_RED,
    CONCEALED_KAN,
    DECLARE_RIICHI,
    DISCARD_DRAWN,
    KITA,
    N_ACTIONS,
    is_chi_code,
    is_discard_code,
    is_pon_code,
)
from mjbot.game.table.hands import kind_of
from mjbot.game.table.legal import kuikae_kinds, legal_codes
from mjbot.game.table.observe import genbutsu
from mjbot.game.table.seats import seat_after
from mjbot.game.table.state import (
    ANKAN,
    CALLED,
    CHI,
    DAIMINKAN,
    KAKAN,
    PON,
    REACTION,
    RIICHI,
    RIICHI_DISCARD,
    TSUMOGIRI,
    State,
)
from mjbot.learning.models.danger import DangerWeights, danger_weights, deal_in_chances
from mjbot.learning.models.danger_features import honour_value, shown_han
from mjbot.learning.models.hand import HandEvaluator, HandModel, new_position, score_discards
from mjbot.learning.models.hand_position import HandPosition, observe
from mjbot.learning.models.networks.layout import OPPONENT_PLANES, PLANES, SCALARS
from mjbot.learning.models.networks.look_ahead import (
    CALL_RISK,
    CALL_WAIT,
    KAN_DRAWN,
    KAN_RISK,
    MOST_TILES,
    MOST_WAITS,
    OF_CALL,
    OF_RIICHI,
    POINTS,
    RIICHI_RISK,
    HandOutlook,
    wait_of,
    write_kan,
    write_plans,
    write_riichi,
)
from mjbot.learning.models.table_features import (
    OF_ONE,
    bounded,
    write_hand,
    write_opponent,
    write_shanten,
    write_table,
)
from mjbot.learning.models.weights import SHIPPED
from mjbot.learning.models.win_value import add_meld, hand_dora, read_holding, win_points
from mjbot.protocol.tiles import FIRST_HONOUR, UNKNOWN
from mjbot.runtime.compiler.compiled import compiled

Floats = NDArray[np.float32]
Counts = NDArray[np.int8]

# The first number of each group.
HAND: Final = PLANES.first("HAND")
RED: Final = PLANES.first("RED")
DRAWN: Final = PLANES.first("DRAWN")
LEGAL: Final = PLANES.first("LEGAL")
CLAIM: Final = PLANES.first("CLAIM")
UNSEEN: Final = PLANES.first("UNSEEN")
DORA: Final = PLANES.first("DORA")
VALUE: Final = PLANES.first("VALUE")
RANK: Final = PLANES.first("RANK")
HONOUR: Final = PLANES.first("HONOUR")
OWN_RIVER: Final = PLANES.first("OWN_RIVER")
OWN_MELD: Final = PLANES.first("OWN_MELD")
JUST_DISCARDED: Final = PLANES.first("JUST_DISCARDED")
ALL_LOSS: Final = PLANES.first("ALL_LOSS")
OPPONENT: Final = PLANES.first("OPPONENT")
KEEPS: Final = PLANES.first("KEEPS")
ACCEPTS: Final = PLANES.first("ACCEPTS")
RATING: Final = PLANES.first("RATING")
WAIT: Final = PLANES.first("WAIT")
ACCEPTED: Final = PLANES.first("ACCEPTED")
AFTER_CALL: Final = PLANES.first("AFTER_CALL")
N_PLANES: Final = PLANES.size
# Of an opponent, from OPPONENT on:
RIVER: Final = OPPONENT_PLANES.first("RIVER")
BY_HAND: Final = OPPONENT_PLANES.first("BY_HAND")
RECENT: Final = OPPONENT_PLANES.first("RECENT")
EARLY: Final = OPPONENT_PLANES.first("EARLY")
DECLARED: Final = OPPONENT_PLANES.first("DECLARED")
SAFE: Final = OPPONENT_PLANES.first("SAFE")
MELD: Final = OPPONENT_PLANES.first("MELD")
TRIPLET: Final = OPPONENT_PLANES.first("TRIPLET")
CHANCE: Final = OPPONENT_PLANES.first("CHANCE")
LOSS: Final = OPPONENT_PLANES.first("LOSS")
OF_OPPONENT: Final = OPPONENT_PLANES.size

PHASE: Final = SCALARS.first("PHASE")
OPTIONS: Final = SCALARS.first("OPTIONS")
CLOCK: Final = SCALARS.first("CLOCK")
OWN: Final = SCALARS.first("OWN")
SHANTEN: Final = SCALARS.first("SHANTEN")
CALLS: Final = SCALARS.first("CALLS")
OPPONENTS: Final = SCALARS.first("OPPONENTS")
DECLARE: Final = SCALARS.first("DECLARE")
PLANS: Final = SCALARS.first("PLANS")
AFTER: Final = SCALARS.first("AFTER")
AFTER_KAN: Final = SCALARS.first("AFTER_KAN")
N_SCALARS: Final = SCALARS.size

EARLY_DISCARDS: Final = 6
NEAR: Final = 25.0
FAR: Final = 60.0
"""Differences of ratings that are one e-fold in the two planes; the second is that of
fold-recognition-plus."""


class Encoder(NamedTuple):
    """Weights of the two models, and scratch space: one encoder serves one thread."""

    rating: HandModel
    danger: DangerWeights
    positions: NDArray[np.void]  # HandPosition[2]: as it is, and after a call
    scores: NDArray[np.float64]  # [34]
    chance: NDArray[np.float64]  # [4, 34]
    points: NDArray[np.float64]  # [4, 34]
    codes: NDArray[np.uint8]  # legal actions
    wins: NDArray[np.void]  # Win[1]
    dora: Counts


def new_encoder(folder: Path = SHIPPED) -> Encoder:
    """Return an encoder with the weights in ``folder``; ``WeightsError`` if they cannot be used."""
    positions: Any = np.array([new_position(), new_position()])
    return Encoder(
        HandEvaluator.load("plus", folder).model,
        danger_weights(folder),
        positions,
        np.empty(34),
        np.empty((4, 34)),
        np.empty((4, 34)),
        np.empty(N_ACTIONS, np.uint8),
        np.zeros(1, WIN),
        np.empty(34, np.int8),
    )


@compiled
def encode(state: State, seat: int, encoder: Encoder, planes: Floats, scalars: Floats) -> int:
    """Fill ``planes`` float32[34, N_PLANES] and ``scalars`` float32[N_SCALARS].

    Returns how many legal actions there are (``encoder.codes``); with none nothing is filled.
    """
    n_codes = legal_codes(state, seat, encoder.codes)
    if n_codes == 0:
        return 0
    planes[:] = 0
    scalars[:] = 0
    position = encoder.positions[0]
    observe(state, seat, position)
    _write_options(state, encoder.codes, n_codes, planes, scalars)
    _write_kinds(state, seat, position, planes)
    write_table(state, seat, scalars[CLOCK:])
    deal_in_chances(state, seat, position.unseen, encoder.danger, encoder.chance, encoder.points)
    for step in range(1, state.rules.players):
        _write_opponent(state, seat, step, encoder, planes, scalars)
    _write_hand(state, seat, position, scalars)
    if state.phase == REACTION:
        _write_calls(state, seat, encoder, planes, scalars)
    elif state.turn == seat:
        _write_discards(state, seat, encoder, planes, scalars)
        if scalars[OPTIONS]:
            _write_riichi(state, seat, encoder, planes, scalars)
    if scalars[OPTIONS + 1] or scalars[OPTIONS + 2] or scalars[OPTIONS + 3]:
        _write_kan(state, seat, encoder, n_codes, planes, scalars)
    return n_codes


@compiled
def _write_options(
    state: State, codes: NDArray[np.uint8], n_codes: int, planes: Floats, scalars: Floats
) -> None:
    phase = 0
    if state.phase == CALLED:
        phase = 1
    elif state.phase == RIICHI:
        phase = 2
    elif state.phase == REACTION:
        phase = 3
        planes[kind_of(state.last_tile), CLAIM] = 1
    scalars[PHASE + phase] = 1
    for index in range(n_codes):
        code = codes[index]
        if is_discard_code(code):
            tile = code - DISCARD_DRAWN if code >= DISCARD_DRAWN else code
            planes[kind_of(tile), LEGAL] = 1
        elif code == DECLARE_RIICHI:
            scalars[OPTIONS] = 1
        elif code == KITA:  # of three players, who have no chi
            scalars[OPTIONS + 5] = 1
        elif code >= CONCEALED_KAN:
            scalars[OPTIONS + (1 if code < ADDED_KAN else 2)] = 1
        elif code == CALL_KAN:
            scalars[OPTIONS + 3] = 1
        elif is_pon_code(code):
            scalars[OPTIONS + 4] = 1
        elif is_chi_code(code):
            scalars[OPTIONS + 5 + (code - CHI_LOW) % (CHI_LOW_RED - CHI_LOW)] = 1


@compiled
def _write_kinds(state: State, seat: int, position: HandPosition, planes: Floats) -> None:
    """What does not depend on a single opponent's play."""
    for kind in range(34):
        for copy in range(4):
            planes[kind, HAND + copy] = position.hand[kind] > copy
            planes[kind, UNSEEN + copy] = position.unseen[kind] > copy
        planes[kind, DORA] = 0.5 * position.dora[kind]
        planes[kind, OWN_RIVER] = position.own >> kind & 1
        if kind >= FIRST_HONOUR:
            planes[kind, HONOUR] = 1
            for step in range(state.rules.players):
                player = seat_after(state, seat, step)
                planes[kind, VALUE + step] = 0.5 * honour_value(state, player, kind)
        else:
            planes[kind, RANK] = 0.25 * abs(kind % 9 - 4)
    for suit in range(3):
        planes[9 * suit + 4, RED] = position.red[suit]
    if state.turn == seat and state.drawn >= 0 and state.drawn != UNKNOWN:
        planes[kind_of(state.drawn), DRAWN] = 1
    _write_melds(state, seat, planes, OWN_MELD, -1)
    for other in range(4):
        for index in range(state.n_river[other]):
            if state.n_discards - state.river_turn[other, index] <= 4:
                planes[kind_of(state.river[other, index]), JUST_DISCARDED] = 1


@compiled
def _write_melds(state: State, seat: int, planes: Floats, copies: int, triplet: int) -> None:
    for meld in range(state.n_melds[seat]):
        kind, type_ = state.meld_kind[seat, meld], state.meld_type[seat, meld]
        if type_ == CHI:
            for step in range(3):
                planes[kind + step, copies] += 0.25
        else:
            planes[kind, copies] += 0.75 if type_ < 2 else 1.0
            if triplet >= 0:
                planes[kind, triplet] = 1


@compiled
def _write_opponent(
    state: State, seat: int, step: int, encoder: Encoder, planes: Floats, scalars: Floats
) -> None:
    other = seat_after(state, seat, step)
    first = OPPONENT + OF_OPPONENT * (step - 1)
    at = OPPONENTS + OF_ONE * (step - 1)
    n_river = state.n_river[other]
    declared, run = -1, 0
    for index in range(n_river):
        kind = kind_of(state.river[other, index])
        flags = state.river_flags[other, index]
        again = planes[kind, first + RIVER] > 0
        planes[kind, first + RIVER + again] = 1
        planes[kind, first + RECENT] = max(0.0, 1 - (n_river - 1 - index) / 18)
        if index < EARLY_DISCARDS:
            planes[kind, first + EARLY] = 1
        run = run + 1 if flags & TSUMOGIRI else 0
        if not flags & TSUMOGIRI:
            planes[kind, first + BY_HAND] = 1
        if flags & RIICHI_DISCARD:
            planes[kind, first + DECLARED] = 1
            declared = index
    _write_melds(state, other, planes, first + MELD, first + TRIPLET)
    safe = genbutsu(state, other)
    for kind in range(34):
        planes[kind, first + SAFE] = safe >> kind & 1
        chance = encoder.chance[other, kind]
        loss = chance * encoder.points[other, kind] / POINTS
        planes[kind, first + CHANCE] = chance**0.25
        planes[kind, first + LOSS] = loss**0.5
        planes[kind, ALL_LOSS] += loss
    after_riichi = n_river - 1 - declared if declared >= 0 else 0
    dora = encoder.positions[0].dora
    write_opponent(state, other, after_riichi, run, dora, scalars[at:])
    scalars[at + 8] = state.double_riichi[other]


@compiled
def _write_hand(state: State, seat: int, position: HandPosition, scalars: Floats) -> None:
    dora = shown_han(state, seat, position.dora)
    for kind in range(34):
        dora += position.hand[kind] * position.dora[kind]
    dora += position.red[0] + position.red[1] + position.red[2]
    write_hand(state, seat, position.hand, dora, scalars[OWN:])


@compiled
def _write_discards(
    state: State, seat: int, encoder: Encoder, planes: Floats, scalars: Floats
) -> None:
    """What each discard leaves."""
    position, near, scores = encoder.positions[0], encoder.rating.choices.nearness, encoder.scores
    score_discards(encoder.rating, position, scores)
    write_shanten(near.best[0], near.best[1], scalars[SHANTEN:])
    best = -1
    for kind in range(34):
        if position.hand[kind] and (best < 0 or scores[kind] > scores[best]):
            best = kind
    if best < 0:
        return
    tenpai = False
    for kind in range(34):
        if position.hand[kind] == 0:
            continue
        behind = near.shantens[kind] - near.best[0]
        planes[kind, KEEPS + min(behind, 2)] = 1
        planes[kind, ACCEPTS] = near.tiles[kind] / MOST_TILES
        if behind == 0:
            planes[kind, ACCEPTS + 1] = near.tiles[kind] / max(near.best[1], 1)
        planes[kind, RATING] = exp((scores[kind] - scores[best]) / NEAR)
        planes[kind, RATING + 1] = exp((scores[kind] - scores[best]) / FAR)
        tenpai |= near.shantens[kind] == 0
    for kind in range(34):
        planes[kind, ACCEPTED] = near.masks[best] >> kind & 1
    if tenpai:
        _write_waits(state, seat, encoder, planes)


@compiled
def _write_waits(state: State, seat: int, encoder: Encoder, planes: Floats) -> None:
    position, near = encoder.positions[0], encoder.rating.choices.nearness
    holding = read_holding(state, seat, encoder.wins, encoder.dora)
    hand = position.hand.copy()
    dora = hand_dora(hand, holding)
    for kind in range(34):
        if hand[kind] == 0 or near.shantens[kind] != 0:
            continue
        hand[kind] -= 1
        left = dora - holding.dora[kind]
        mask, tiles = near.masks[kind], 0
        silent, loud = 0.0, 0.0
        for wait in range(34):
            if mask >> wait & 1 and position.unseen[wait] > 0:
                tiles += position.unseen[wait]
                points = win_points(hand, wait, left, holding, False, False)
                silent += position.unseen[wait] * points
                if not state.is_open[seat]:
                    points = win_points(hand, wait, left, holding, True, False)
                loud += position.unseen[wait] * points
        hand[kind] += 1
        planes[kind, WAIT] = tiles / 12
        planes[kind, WAIT + 1] = mask & (position.own | 1 << kind) != 0
        if tiles:
            planes[kind, WAIT + 2] = silent / tiles / POINTS
            planes[kind, WAIT + 3] = loud / tiles / POINTS


@compiled
def _holding(state: State, seat: int, encoder: Encoder) -> HandOutlook:
    """Return the hand as it is, in arrays of its own."""
    position = encoder.positions[0]
    context = read_holding(state, seat, encoder.wins, encoder.dora)
    hand = position.hand.copy()
    return HandOutlook(hand, position.unseen.copy(), hand_dora(hand, context), context)


@compiled
def _write_riichi(
    state: State, seat: int, encoder: Encoder, planes: Floats, scalars: Floats
) -> None:
    near, position, best = encoder.rating.choices.nearness, encoder.positions[0], -1
    for kind in range(34):
        better = best < 0 or encoder.scores[kind] > encoder.scores[best]
        if position.hand[kind] and near.shantens[kind] == 0 and better:
            best = kind
    out = scalars[DECLARE : DECLARE + OF_RIICHI]
    out[RIICHI_RISK] = planes[best, ALL_LOSS] ** 0.5
    write_riichi(_holding(state, seat, encoder), best, position.own, out)


@compiled
def _write_kan(
    state: State, seat: int, encoder: Encoder, n_codes: int, planes: Floats, scalars: Floats
) -> None:
    """What the first kan on offer leaves; before it the best-rated discard goes."""
    holding = _holding(state, seat, encoder)
    hand, context, dora = holding.hand, holding.context, holding.dora
    melds, out = state.n_melds[seat], scalars[AFTER_KAN:]
    kind, type_ = -1, ANKAN
    for index in range(n_codes):
        code = encoder.codes[index]
        if ADDED_KAN <= code < KITA:
            kind, type_ = code - ADDED_KAN, KAKAN
        elif CONCEALED_KAN <= code < ADDED_KAN:
            kind, type_ = code - CONCEALED_KAN, ANKAN
        elif code == CALL_KAN:
            kind, type_ = kind_of(state.last_tile), DAIMINKAN
    after = hand.copy()
    if type_ == DAIMINKAN:
        after[kind] = 0
        dora_after = dora + context.dora[kind] + (state.last_tile != kind)
    else:
        out[KAN_DRAWN] = kind_of(state.drawn) == kind
        out[KAN_RISK] = planes[kind, ALL_LOSS] ** 0.5 if type_ == KAKAN else 0.0
        after[kind] -= 1 if type_ == KAKAN else 4
        dora_after = dora
        discard = _best_discard(state, seat, encoder)
        hand[discard] -= 1
        dora -= context.dora[discard]
    if type_ != KAKAN:
        add_meld(context, type_, kind)
    before = HandOutlook(hand, holding.unseen, dora, context)
    left = HandOutlook(after, holding.unseen, dora_after, context)
    write_kan(state, seat, before, left, (kind, melds, melds + (type_ != KAKAN)), out)


@compiled
def _best_discard(state: State, seat: int, encoder: Encoder) -> int:
    best = kind_of(state.drawn)
    if state.riichi[seat]:
        return best
    for kind in range(34):
        if encoder.scores[kind] > encoder.scores[best]:
            best = kind
    return best


@compiled
def _write_calls(
    state: State, seat: int, encoder: Encoder, planes: Floats, scalars: Floats
) -> None:
    """What the hand accepts now, and after each call with the discard that leaves most."""
    position = encoder.positions[0]
    shanten, mask = shanten_and_acceptance(position.hand, position.n_melds)
    write_shanten(shanten, count_tiles(mask, position.unseen), scalars[SHANTEN:])
    for kind in range(34):
        planes[kind, ACCEPTED] = mask >> kind & 1
    claimed = kind_of(state.last_tile)
    holding = _holding(state, seat, encoder)
    write_plans(state, seat, holding, scalars[PLANS:AFTER])
    dora = holding.dora + position.dora[claimed] + (state.last_tile != claimed)
    for option in range(4):
        if not scalars[OPTIONS + 4 + option]:
            continue
        hand = position.hand.copy()
        low = claimed - max(option - 1, 0)
        at = CALLS + 4 * option
        for step in range(3):
            kind = claimed if option == 0 else low + step
            hand[kind] -= 1
            scalars[at + 2] += 0.25 * position.dora[kind]
        hand[claimed] += 1
        scalars[at + 3] = honour_value(state, seat, claimed) / 2 if claimed >= FIRST_HONOUR else 0.0
        add_meld(holding.context, CHI if option else PON, low)
        called = HandOutlook(hand, holding.unseen, dora, holding.context)
        write_plans(state, seat, called, scalars[AFTER + OF_CALL * option :])
        banned = kuikae_kinds(CHI if option else PON, claimed, low)
        _write_call(shanten, called, banned, option, planes, scalars)
        holding.context.win[0].n_melds -= 1


@compiled
def _write_call(
    shanten: int, called: HandOutlook, banned: int, option: int, planes: Floats, scalars: Floats
) -> None:
    """What is left after the discard that accepts most; ``called`` has 3n+2 tiles."""
    hand, n_melds = called.hand, called.context.win[0].n_melds
    best, tiles, accepted, discard = 99, -1, 0, -1
    safest = np.float32(9)
    for kind in range(34):
        if hand[kind] == 0 or banned >> kind & 1:
            continue
        safest = min(safest, planes[kind, ALL_LOSS])
        hand[kind] -= 1
        after, mask = shanten_and_acceptance(hand, n_melds)
        hand[kind] += 1
        if after > best:
            continue
        count = count_tiles(mask, called.unseen)
        if after < best or count > tiles:
            best, tiles, accepted, discard = after, count, mask, kind
    at = CALLS + 4 * option
    scalars[at] = bounded(float(shanten - best))
    scalars[at + 1] = tiles / MOST_TILES
    for kind in range(34):
        planes[kind, AFTER_CALL + option] = accepted >> kind & 1
    out = scalars[AFTER + OF_CALL * option :]
    out[CALL_RISK] = planes[discard, ALL_LOSS] ** 0.5
    out[CALL_RISK + 1] = safest**0.5
    if best == 0:
        hand[discard] -= 1
        wait = wait_of(called, accepted, called.dora - called.context.dora[discard], False)
        hand[discard] += 1
        out[CALL_WAIT] = wait.winning / MOST_WAITS
        out[CALL_WAIT + 1] = wait.points / POINTS
