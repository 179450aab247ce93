"""What a seat may choose, as numbers: one row of inputs and one list of changed rows a candidate.

Five questions, numbered as the kinds of :mod:`mjbot.learning.training.networks.decisions`: which
kind is discarded; whether riichi is declared; pon; chi, of which the claimed tile may be the
lowest, middle or highest; kan, which a kita counts as.  Each writer fills ``reading.inputs``,
``reading.changes`` and ``reading.choices`` for its candidates and returns how many there are, 0
where the question does not arise.  Only the discards have no alternative; the other questions have
one more answer, "no", whose score is 0.
"""

from math import sqrt
from typing import Final

from mjbot.game.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.game.rules.shanten import shanten
from mjbot.game.table.actions import (
    ADDED_KAN,
    CALL_KAN,
    CHI_LOW,
    CHI_LOW_RED,
    CONCEALED_KAN,
    DECLARE_RIICHI,
    DISCARD_DRAWN,
    KITA,
    is_chi_code,
    is_discard_code,
    is_pon_code,
)
from mjbot.game.table.hands import kind_of
from mjbot.game.table.legal import held_tiles, kuikae_kinds
from mjbot.game.table.seats import steps_between
from mjbot.game.table.state import ANKAN, CHI, DAIMINKAN, KAKAN, PON, State
from mjbot.learning.models.fast_policy.ally import write_tile
from mjbot.learning.models.fast_policy.reading import (
    OPPONENTS,
    PLAIN_INPUTS,
    TO_ALLY,
    Reading,
)
from mjbot.learning.models.fast_policy.shape_rows import take, write_changes
from mjbot.learning.models.networks.look_ahead import (
    KAN_DRAWN,
    KAN_RISK,
    MOST_TILES,
    MOST_WAITS,
    OF_KAN,
    OF_PLANS,
    POINTS,
    HandOutlook,
    wait_of,
    write_kan,
    write_plans,
)
from mjbot.learning.models.table_features import OF_ONE, bounded
from mjbot.learning.models.win_value import HandContext, add_meld, hand_dora
from mjbot.protocol.tiles import FIRST_HONOUR, NORTH
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float32s, Int8s, UInt8s

DISCARD: Final = 0
DECLARE: Final = 1
CALL_PON: Final = 2
CALL_CHI: Final = 3
MAKE_KAN: Final = 4
N_QUESTIONS: Final = 5
SET_ASIDE: Final = ANKAN + 1
"""What a kita counts as where kans are told apart."""

# Inputs of a discard.
KEEPS: Final = 0  # shanten after it: best, one more, worse
ACCEPTS: Final = 3  # tiles accepted / 40, as a share of the best
WAIT: Final = 5  # tenpai: 1, tiles that win / 12, furiten, points silent / 8,000, tiles / 12
GIVES: Final = 10  # dora and red fives / 2, a red five, near a dora
CLASS: Final = 13  # guest honour, value honour, double wind; 1 9, 2 8, 3 to 7
COPIES: Final = 19  # 1, 2, 3 and more held; unseen / 4
DRAWN: Final = 23  # of the kind just drawn, discarded before
DANGER: Final = 25  # for each opponent the fourth root of the chance, then whether it is safe
LOSS: Final = 31  # root of the loss, of what it is beyond the least, safe from every riichi
PLAN: Final = 34  # of the longest suit, a guest wind, one of a pair, dora of the hand / 4

# Inputs of a call.
GAINS: Final = 0  # shanten gained / 2, tiles accepted / 40
AFTER: Final = 2  # shanten after: 0, 1, 2, more
CALLED: Final = 6  # dora / 4, value honour, red five used, place in the run: lowest, middle
CALL_PLANS: Final = 11  # distances to yaku after it
CALL_WAIT: Final = CALL_PLANS + OF_PLANS  # tenpai: tiles that win / 12, points / 8,000
CALL_RISK: Final = CALL_WAIT + 2  # root of the loss of the best discard, of the safest
CALL_FROM: Final = CALL_RISK + 2  # seats from the discarder: 1, 2, 3
CALL_KEEPS: Final = CALL_FROM + 3  # shanten and acceptance without the call


@compiled
def write_discards(
    state: State, seat: int, codes: UInt8s, n_codes: int, reading: Reading, context: HandContext
) -> int:
    """Describe the kinds that may be discarded; ``choices`` are kinds."""
    legal, n = 0, 0
    for index in range(n_codes):
        code = codes[index]
        if is_discard_code(code):
            legal |= 1 << kind_of(code - DISCARD_DRAWN if code >= DISCARD_DRAWN else code)
    least = 9.0
    for kind in range(34):
        if legal >> kind & 1:
            least = min(least, reading.loss[kind])
    longest = _longest_suit(reading.shape.hand)
    dora = hand_dora(reading.shape.hand, context)
    for kind in range(34):
        if not legal >> kind & 1:
            continue
        out = reading.inputs[n]
        out[:] = 0
        reading.choices[n] = kind
        _write_distance(reading, kind, out)
        if reading.shantens[kind] == 0:
            _write_wait(state, seat, kind, dora, reading, context, out)
        _write_tile(state, seat, kind, reading, out)
        _write_danger(kind, least, reading, out)
        _write_plan(kind, longest, dora, reading, out)
        if reading.is_wide:
            _write_plans_left(state, seat, kind, dora, out, reading, context)
        write_tile(state, seat, kind, reading.ally, out[TO_ALLY:])
        _write_left(n, kind, 1, reading)
        n += 1
    return n


@compiled
def _write_plans_left(
    state: State,
    seat: int,
    kind: int,
    dora: int,
    out: Float32s,
    reading: Reading,
    context: HandContext,
) -> None:
    """Write the plans of the hand that a discard leaves."""
    hand = reading.shape.hand
    hand[kind] -= 1
    held = HandOutlook(hand, reading.shape.unseen, dora - context.dora[kind], context)
    write_plans(state, seat, held, out[PLAIN_INPUTS:])
    hand[kind] += 1


@compiled
def _write_left(n: int, kind: int, copies: int, reading: Reading) -> None:
    """Note the rows of the hand without some copies of a kind."""
    reading.changed[0] = kind
    take(reading.shape, kind, copies)
    _note_changes(n, 1, reading)
    take(reading.shape, kind, -copies)


@compiled
def _note_changes(n: int, n_changed: int, reading: Reading) -> None:
    """Note the rows of the hand as it is now, which differs in some kinds, for candidate ``n``."""
    write_changes(reading.shape, reading.changed, n_changed, reading.changes[n])


@compiled
def _write_distance(reading: Reading, kind: int, out: Float32s) -> None:
    behind = reading.shantens[kind] - reading.best[0]
    out[KEEPS + min(behind, 2)] = 1
    out[ACCEPTS] = reading.tiles[kind] / MOST_TILES
    if behind == 0:
        out[ACCEPTS + 1] = reading.tiles[kind] / max(reading.best[1], 1)


@compiled
def _write_wait(
    state: State,
    seat: int,
    kind: int,
    dora: int,
    reading: Reading,
    context: HandContext,
    out: Float32s,
) -> None:
    hand, mask = reading.shape.hand, reading.masks[kind]
    hand[kind] -= 1
    left = dora - context.dora[kind]
    held = HandOutlook(hand, reading.shape.unseen, left, context)
    silent = wait_of(held, mask, left, False)
    out[WAIT] = 1
    out[WAIT + 1] = silent.winning / MOST_WAITS
    out[WAIT + 2] = mask & (state.discarded[seat] | 1 << kind) != 0
    out[WAIT + 3] = silent.points / POINTS
    out[WAIT + 4] = silent.tiles / MOST_WAITS
    hand[kind] += 1


@compiled
def _write_tile(state: State, seat: int, kind: int, reading: Reading, out: Float32s) -> None:
    shape = reading.shape
    has_red = kind < FIRST_HONOUR and kind % 9 == 4 and held_tiles(state, seat, kind) == 0
    out[GIVES] = (shape.dora[kind] + has_red) / 2
    out[GIVES + 1] = has_red
    out[GIVES + 2] = _near_dora(shape.dora, kind)
    if kind >= FIRST_HONOUR:
        value = shape.values[kind]
        out[CLASS + (0 if value == 0 else 2 if value == 2 else 1)] = 1
    else:
        out[CLASS + 3 + min(kind % 9, 8 - kind % 9, 2)] = 1
    out[COPIES + min(reading.shape.hand[kind], 3) - 1] = 1
    out[COPIES + 3] = shape.unseen[kind] / 4
    drawn = state.drawn
    out[DRAWN] = drawn >= 0 and kind_of(drawn) == kind
    out[DRAWN + 1] = state.discarded[seat] >> kind & 1


@compiled
def _near_dora(dora: Int8s, kind: int) -> float:
    if kind >= FIRST_HONOUR:
        return 0.0
    for far in range(1, 3):
        for other in (kind - far, kind + far):
            if 0 <= other < FIRST_HONOUR and other // 9 == kind // 9 and dora[other]:
                return 1.0 / far
    return 0.0


@compiled
def _write_danger(kind: int, least: float, reading: Reading, out: Float32s) -> None:
    is_safe = True
    for step in range(3):
        safe = reading.safe[step] >> kind & 1 == 1
        out[DANGER + step] = sqrt(sqrt(reading.chance[step, kind]))
        out[DANGER + 3 + step] = safe
        is_safe &= safe or reading.context[OPPONENTS + OF_ONE * step] == 0
    out[LOSS] = sqrt(reading.loss[kind])
    out[LOSS + 1] = sqrt(max(reading.loss[kind] - least, 0.0))
    out[LOSS + 2] = is_safe


@compiled
def _longest_suit(hand: Int8s) -> int:
    longest, most = 0, -1
    for suit in range(3):
        tiles = 0
        for kind in range(9 * suit, 9 * suit + 9):
            tiles += hand[kind]
        if tiles > most:
            longest, most = suit, tiles
    return longest


@compiled
def _write_plan(kind: int, longest: int, dora: int, reading: Reading, out: Float32s) -> None:
    out[PLAN] = kind // 9 == longest
    out[PLAN + 1] = kind >= FIRST_HONOUR and reading.shape.values[kind] == 0
    out[PLAN + 2] = reading.shape.hand[kind] == 2
    out[PLAN + 3] = dora / 4


# --- riichi ------------------------------------------------------------------------------------


@compiled
def write_riichi(
    state: State, seat: int, codes: UInt8s, n_codes: int, reading: Reading, context: HandContext
) -> int:
    """Describe a declaration with the discard that leaves the widest wait."""
    if not is_offered(codes, n_codes, DECLARE_RIICHI):
        return 0
    hand, unseen, own = reading.shape.hand, reading.shape.unseen, state.discarded[seat]
    best = -1
    for kind in range(34):
        wider = best < 0 or reading.tiles[kind] > reading.tiles[best]
        if hand[kind] and reading.shantens[kind] == 0 and wider:
            best = kind
    out, mask = reading.inputs[0], reading.masks[best]
    out[:] = 0
    dora = hand_dora(hand, context)
    left = dora - context.dora[best]
    hand[best] -= 1
    held = HandOutlook(hand, unseen, left, context)
    silent, loud = wait_of(held, mask, left, False), wait_of(held, mask, left, True)
    hand[best] += 1
    kinds, near = 0, 0
    for kind in range(34):
        if mask >> kind & 1 and unseen[kind] > 0:
            kinds += 1
            near += unseen[kind] * _looks_safe(own, kind)
    tiles = max(silent.tiles, 1)
    out[0] = silent.tiles / MOST_WAITS
    out[1] = kinds / 4
    out[2] = silent.points * silent.winning / tiles / POINTS
    out[3] = loud.points / POINTS
    out[4] = (silent.tiles - silent.winning) / tiles
    out[5] = min(silent.top / POINTS, 2.0)
    out[6] = mask & (own | 1 << best) != 0
    out[7] = near / tiles
    out[8] = sqrt(reading.loss[best])
    out[9] = silent.tiles <= 2
    out[10] = silent.tiles <= 4
    out[11] = kinds == 1 and _is_middle(mask)
    out[12] = left / 4
    write_tile(state, seat, best, reading.ally, out[TO_ALLY:])
    reading.choices[0] = best
    _write_left(0, best, 1, reading)
    return 1


@compiled
def _looks_safe(own: int, kind: int) -> bool:
    """Return whether the own discards seem to rule out a two-sided wait for the kind (suji)."""
    if kind >= FIRST_HONOUR:
        return False
    rank = kind % 9
    return bool(
        (rank < 3 or own >> (kind - 3) & 1 == 1) and (rank > 5 or own >> (kind + 3) & 1 == 1)
    )


@compiled
def _is_middle(mask: int) -> bool:
    for kind in range(FIRST_HONOUR):
        if mask >> kind & 1:
            return 2 <= kind % 9 <= 6
    return False


# --- calls -------------------------------------------------------------------------------------


@compiled
def write_pon(
    state: State, seat: int, codes: UInt8s, n_codes: int, reading: Reading, context: HandContext
) -> int:
    """Describe a pon with its best discard; with a red five if one can be given up."""
    can_pon = False
    for index in range(n_codes):
        can_pon |= is_pon_code(codes[index])
    if not can_pon:
        return 0
    _write_call(state, seat, 3, 0, reading, context)
    return 1


@compiled
def write_chi(
    state: State, seat: int, codes: UInt8s, n_codes: int, reading: Reading, context: HandContext
) -> int:
    """Describe each chi with its best discard; ``choices`` are the places of the claimed tile."""
    places, n = 0, 0
    for at in range(n_codes):
        if is_chi_code(codes[at]):
            places |= 1 << (codes[at] - CHI_LOW) % (CHI_LOW_RED - CHI_LOW)
    for index in range(3):
        if places >> index & 1:
            _write_call(state, seat, index, n, reading, context)
            n += 1
    return n


@compiled
def _write_call(
    state: State, seat: int, position: int, n: int, reading: Reading, context: HandContext
) -> None:
    """Describe candidate ``n``: a chi with the claimed tile at ``place``, or 3, a pon."""
    claimed, hand, out = kind_of(state.last_tile), reading.shape.hand, reading.inputs[n]
    changed, is_pon = reading.changed, position == 3
    out[:] = 0
    reading.choices[n] = position
    low = claimed if is_pon else claimed - position
    reds = state.last_tile != claimed
    n_changed = 0
    dora = hand_dora(hand, context) + context.dora[claimed] + reds
    for step in range(3):
        kind = claimed if is_pon else low + step
        out[CALLED] += 0.25 * context.dora[kind]
        if step == 2 if is_pon else kind == claimed:
            continue
        take(reading.shape, kind, 1)
        changed[n_changed] = kind
        n_changed += 1
        out[CALLED + 2] = max(out[CALLED + 2], _has_red(state, seat, kind))
    if is_pon:
        n_changed = 1
    out[CALLED + 1] = reading.shape.values[claimed] > 0
    out[CALLED + 3] = position == 0
    out[CALLED + 4] = position == 1
    out[CALL_FROM + steps_between(state, seat, int(state.turn)) - 1] = 1
    out[CALL_KEEPS] = reading.best[0] / 4
    out[CALL_KEEPS + 1] = reading.best[1] / MOST_TILES
    write_tile(state, int(state.turn), claimed, reading.ally, out[TO_ALLY:])
    add_meld(context, PON if is_pon else CHI, low)
    called = HandOutlook(hand, reading.shape.unseen, dora, context)
    write_plans(state, seat, called, out[CALL_PLANS:])
    banned = kuikae_kinds(PON if is_pon else CHI, claimed, low)
    discard = _write_after(called, banned, reading, out)
    context.win[0].n_melds -= 1
    if discard >= 0:
        take(reading.shape, discard, 1)
        changed[n_changed] = discard
        n_changed += 1
    _note_changes(n, n_changed, reading)
    if discard >= 0:
        take(reading.shape, discard, -1)
    for step in range(3):
        kind = claimed if is_pon else low + step
        if not (step == 2 if is_pon else kind == claimed):
            take(reading.shape, kind, -1)


@compiled
def _has_red(state: State, seat: int, kind: int) -> float:
    has_red = kind < FIRST_HONOUR and kind % 9 == 4 and state.red[seat, kind // 9] > 0
    return 1.0 if has_red else 0.0


@compiled
def _write_after(called: HandOutlook, banned: int, reading: Reading, out: Float32s) -> int:
    """Write what the best discard after a call leaves, and return it; the hand has 3n+2 tiles."""
    hand, n_melds = called.hand, called.context.win[0].n_melds
    best, tiles, accepted, discard, safest = 99, -1, 0, -1, 9.0
    least = shanten(hand, n_melds)
    for kind in range(34):
        if hand[kind] == 0 or banned >> kind & 1:
            continue
        safest = min(safest, reading.loss[kind])
        hand[kind] -= 1
        after = shanten(hand, n_melds)
        if after <= min(best, max(least, 0)) or discard < 0:
            away, mask = shanten_and_acceptance(hand, n_melds)
            count = count_tiles(mask, called.unseen)
            if away < best or count > tiles:
                best, tiles, accepted, discard = away, count, mask, kind
        hand[kind] += 1
    out[GAINS] = bounded((reading.best[0] - best) / 2)
    out[GAINS + 1] = tiles / MOST_TILES
    out[AFTER + min(max(best, 0), 3)] = 1
    if discard >= 0:
        out[CALL_RISK] = sqrt(reading.loss[discard])
        out[CALL_RISK + 1] = sqrt(safest)
    if best == 0:
        hand[discard] -= 1
        wait = wait_of(called, accepted, called.dora - called.context.dora[discard], False)
        hand[discard] += 1
        out[CALL_WAIT] = wait.winning / MOST_WAITS
        out[CALL_WAIT + 1] = wait.points / POINTS
    return discard


# --- kans --------------------------------------------------------------------------------------


@compiled
def write_kan_offer(
    state: State, seat: int, codes: UInt8s, n_codes: int, reading: Reading, context: HandContext
) -> int:
    """Describe the last kan on offer, or a kita; ``choices`` has its code.

    On the own turn the hand before it is that after the discard that accepts most.
    """
    code = -1
    for index in range(n_codes):
        if codes[index] >= CALL_KAN:
            code = int(codes[index])
    if code < 0:
        return 0
    kind, type_ = kind_of(state.last_tile), DAIMINKAN
    if code == KITA:
        kind, type_ = NORTH, SET_ASIDE
    elif code >= ADDED_KAN:
        kind, type_ = code - ADDED_KAN, KAKAN
    elif code >= CONCEALED_KAN:
        kind, type_ = code - CONCEALED_KAN, ANKAN
    reading.choices[0] = code
    hand, out, melds = reading.shape.hand, reading.inputs[0], int(state.n_melds[seat])
    out[:] = 0
    out[OF_KAN + type_ - DAIMINKAN] = 1
    write_tile(state, seat, kind, reading.ally, out[TO_ALLY:])
    dora = hand_dora(hand, context)
    copies = 1 if type_ in (KAKAN, SET_ASIDE) else int(hand[kind])
    _write_left(0, kind, copies, reading)
    after = hand.copy()
    after[kind] -= copies
    dora_after, before = dora, hand.copy()
    if type_ == DAIMINKAN:
        dora_after += context.dora[kind] + (state.last_tile != kind)
    else:
        out[KAN_DRAWN] = state.drawn >= 0 and kind_of(state.drawn) == kind
        out[KAN_RISK] = sqrt(reading.loss[kind]) if type_ in (KAKAN, SET_ASIDE) else 0.0
        discard = _widest_discard(state, seat, reading)
        before[discard] -= 1
        dora -= context.dora[discard]
    if type_ == SET_ASIDE:
        dora_after += 1
    is_meld = type_ in (ANKAN, DAIMINKAN)
    if is_meld:
        add_meld(context, type_, kind)
    unseen = reading.shape.unseen
    left = HandOutlook(after, unseen, dora_after, context)
    numbers = kind, melds, melds + is_meld
    write_kan(state, seat, HandOutlook(before, unseen, dora, context), left, numbers, out)
    context.win[0].n_melds = melds
    return 1


@compiled
def _widest_discard(state: State, seat: int, reading: Reading) -> int:
    best = kind_of(state.drawn) if state.drawn >= 0 else -1
    if state.riichi[seat]:
        return best
    for kind in range(34):
        if reading.shape.hand[kind] == 0:
            continue
        nearer = best < 0 or reading.shantens[kind] < reading.shantens[best]
        wider = best >= 0 and reading.tiles[kind] > reading.tiles[best]
        if nearer or (reading.shantens[kind] == reading.shantens[best] and wider):
            best = kind
    return best


@compiled
def is_offered(codes: UInt8s, n_codes: int, code: int) -> bool:
    """Return whether a code is one of the first ``n_codes``."""
    for index in range(n_codes):
        if codes[index] == code:
            return True
    return False


@compiled
def write_candidates(
    question: int,
    state: State,
    seat: int,
    codes: UInt8s,
    n_codes: int,
    reading: Reading,
    context: HandContext,
) -> int:
    """Describe the candidates of a question; return how many there are."""
    if question == DISCARD:
        return write_discards(state, seat, codes, n_codes, reading, context)
    if question == DECLARE:
        return write_riichi(state, seat, codes, n_codes, reading, context)
    if question == CALL_PON:
        return write_pon(state, seat, codes, n_codes, reading, context)
    if question == CALL_CHI:
        return write_chi(state, seat, codes, n_codes, reading, context)
    return write_kan_offer(state, seat, codes, n_codes, reading, context)
