"""Which yaku a hand that is not near tenpai can aim at, how far it is, and what it would pay.

A plan keeps only the tiles that fit it: simples for all simples, one suit and honours for a
half flush, all tiles if a value triplet secures the yaku.  Its shanten is that of the kept tiles,
its han are those of the yaku and of the dora kept, and its value is that of a hand of so many
shanten and accepted tiles (:func:`~mjbot.strategies.evaluation.push_fold.race.stage_value`).

A closed hand has the mean han of riichi and what it may add, plus for each yaku in sight the
rules' han where all of it is there, and less where one or two tiles are missing.  These shares
(:data:`RIICHI_HAN`, :data:`SIMPLES_HAN`, 1.2 and 0.5 of three colours' 2 han, 1.6 and 0.6 of a
half flush's 3, 0.3 of a value pair) were set by hand with the first version and not tuned; so was
the 0.5 with which other tiles count while a plan waits for the third of a value pair.
"""

from typing import Final

from mjbot.game.rules.acceptance import shanten_and_acceptance
from mjbot.game.rules.kinds import Counts
from mjbot.game.rules.shanten import count_kinds_held, shanten_regular
from mjbot.game.table.state import CHI
from mjbot.learning.models.placement import worth_of
from mjbot.learning.models.win_value import HandContext, hand_dora, typical_points
from mjbot.protocol.tiles import FIRST_DRAGON, FIRST_HONOUR
from mjbot.runtime.compiler.compiled import compiled
from mjbot.strategies.evaluation.push_fold.race import Race, StageTable, call_share, stage_value

HONOURS: Final = 0x7F << FIRST_HONOUR
SUIT: Final = 0x1FF
SIMPLES: Final = 0b011111110 * (1 + (1 << 9) + (1 << 18))
RIICHI_HAN: Final = 2.0
"""Han of riichi, of the draw, pinfu, ippatsu and ura dora that come with it, in the mean."""
SIMPLES_HAN: Final = (0.9, 0.6, 0.35, 0.15)
"""Han of all simples by the number of other tiles in a closed hand."""


@compiled
def honour_han(hand_context: HandContext, kind: int) -> int:
    """Return the han of a triplet of an honour: 0, 1 or 2."""
    if kind >= FIRST_DRAGON:
        return 1
    record, wind = hand_context.win[0], kind - FIRST_HONOUR
    return int(wind == record.seat_wind) + int(wind == record.round_wind)


@compiled
def meld_kinds(hand_context: HandContext) -> int:
    """Return the mask of kinds in the melds."""
    record = hand_context.win[0]
    mask = 0
    for place in range(record.n_melds):
        bit = 1 << int(record.meld_kind[place])
        mask |= 7 * bit if record.meld_type[place] == CHI else bit
    return mask


@compiled
def meld_honours(hand_context: HandContext) -> int:
    """Return the han of the value triplets among the melds."""
    record = hand_context.win[0]
    han = 0
    for place in range(record.n_melds):
        if record.meld_kind[place] >= FIRST_HONOUR:
            han += honour_han(hand_context, int(record.meld_kind[place]))
    return han


@compiled
def closed_han(hand: Counts, hand_context: HandContext) -> float:
    """Return the han that a closed hand may expect when it wins after riichi."""
    han = RIICHI_HAN + hand_dora(hand, hand_context)
    edges = 0
    for kind in range(34):
        if hand[kind] and not SIMPLES >> kind & 1:
            edges += hand[kind]
        if kind >= FIRST_HONOUR and hand[kind] >= 2:
            han += honour_han(hand_context, kind) * (1.0 if hand[kind] >= 3 else 0.3)
    if edges < len(SIMPLES_HAN):
        han += SIMPLES_HAN[edges]
    return han + _three_suits(hand) + _straight(hand) + _one_suit(hand)


@compiled
def _three_suits(hand: Counts) -> float:
    """Return the han of the same run in three suits, by how much of it is there."""
    most = 0
    for low in range(7):
        held = 0
        for suit in range(3):
            for rank in range(low, low + 3):
                held += hand[9 * suit + rank] > 0
        most = max(most, held)
    return 2.0 if most == 9 else 1.2 if most == 8 else 0.5 if most == 7 else 0.0


@compiled
def _straight(hand: Counts) -> float:
    """Return the same for a full straight."""
    most = 0
    for suit in range(3):
        held = 0
        for rank in range(9):
            held += hand[9 * suit + rank] > 0
        most = max(most, held)
    return 2.0 if most == 9 else 1.2 if most == 8 else 0.4 if most == 7 else 0.0


@compiled
def _one_suit(hand: Counts) -> float:
    """Return the same for a half flush."""
    total, honours = 0, 0
    best = 0
    for kind in range(34):
        total += hand[kind]
        if kind >= FIRST_HONOUR:
            honours += hand[kind]
    for suit in range(3):
        held = 0
        for rank in range(9):
            held += hand[9 * suit + rank]
        best = max(best, held)
    outside = total - honours - best
    return 3.0 if outside == 0 else 1.6 if outside == 1 else 0.6 if outside == 2 else 0.0


@compiled
def open_value(
    hand: Counts, n_melds: int, race: Race, stages: StageTable, hand_context: HandContext
) -> float:
    """Return the value of the best plan with calls, of 3n+1 tiles and ``n_melds`` melds."""
    melds = meld_kinds(hand_context)
    dora = hand_dora(hand, hand_context)
    secured = meld_honours(hand_context)
    pair = -1
    for kind in range(FIRST_HONOUR, 34):
        value = honour_han(hand_context, kind)
        if value and hand[kind] >= 3:
            secured += value
        elif value and hand[kind] == 2 and race.unseen[kind] > 0:
            pair = kind
    flush = _flush_suit(melds)
    best = 0.0
    if secured:
        best = _plan(hand, n_melds, race, stages, hand_context, (-1, dora + secured))
    elif pair >= 0:
        best = _honour_plan(hand, n_melds, race, stages, hand_context, pair, dora)
    if not melds & ~SIMPLES:
        plan = (SIMPLES, dora + 1.0)
        best = max(best, _plan(hand, n_melds, race, stages, hand_context, plan))
    for suit in range(3):
        if flush in (-1, suit):
            kept = SUIT << 9 * suit | HONOURS
            plan = (kept, dora + secured + 2.0)
            best = max(best, _plan(hand, n_melds, race, stages, hand_context, plan))
    return best


@compiled
def _flush_suit(melds: int) -> int:
    """Return the only suit of the melds, -1 if they leave all open, 3 if none."""
    found = -1
    for suit in range(3):
        if melds >> 9 * suit & SUIT:
            if found >= 0:
                return 3
            found = suit
    return found


@compiled
def _plan(
    hand: Counts,
    n_melds: int,
    race: Race,
    stages: StageTable,
    hand_context: HandContext,
    plan: tuple[int, float],
) -> float:
    """Return the value of a plan: the mask of kinds kept, and the han."""
    mask, han = plan
    kept = hand.copy()
    dropped = 0
    for kind in range(34):
        if not mask >> kind & 1:
            dropped += kept[kind] * hand_context.dora[kind]
            kept[kind] = 0
    stage, accepted = regular_acceptance(kept, n_melds)
    tiles = 0.0
    for kind in range(34):
        if accepted >> kind & 1 & mask >> kind:
            tiles += race.unseen[kind] * (1 + call_share(hand, kind, race))
    gain = worth_of(
        race.value, typical_points(han - dropped, hand_context.is_dealer) + race.extra_points
    )
    return stage_value(race, stages, stage, tiles, gain)


@compiled
def regular_acceptance(hand: Counts, n_melds: int) -> tuple[int, int]:
    """Return shanten and acceptance for four blocks and a pair, no other form."""
    here, mask = shanten_regular(hand, n_melds), 0
    if n_melds == 0:
        n_kinds, n_pairs, n_edges, edge_pair = count_kinds_held(hand)
        pairs, orphans = 6 - n_pairs + max(0, 7 - n_kinds), 13 - n_edges - edge_pair
    if n_melds or min(pairs, orphans) > here:
        return shanten_and_acceptance(hand, n_melds)
    for kind in range(34):
        if hand[kind] < 4:
            hand[kind] += 1
            mask |= int(shanten_regular(hand, 0) < here) << kind
            hand[kind] -= 1
    return here, mask


@compiled
def _honour_plan(
    hand: Counts,
    n_melds: int,
    race: Race,
    stages: StageTable,
    hand_context: HandContext,
    pair: int,
    dora: float,
) -> float:
    """Return the value of waiting for the third tile of a value pair."""
    rest = hand.copy()
    rest[pair] = 0
    stage, accepted = shanten_and_acceptance(rest, n_melds + 1)
    tiles = race.unseen[pair] * (1 + race.others * race.call_rate)
    for kind in range(34):
        if accepted >> kind & 1:
            tiles += race.unseen[kind] * 0.5 * (1 + call_share(rest, kind, race))
    points = typical_points(dora + honour_han(hand_context, pair), hand_context.is_dealer)
    gain = worth_of(race.value, points + race.extra_points)
    return stage_value(race, stages, stage + 1, tiles, gain)
