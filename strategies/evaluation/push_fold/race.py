"""How likely a hand is to win, and what for, as a race against the end of the kyoku.

All values are placement values (:mod:`mjbot.learning.models.placement`) just after an own discard,
with t own draws left, compared with folding (0).  A go-around is: the others act (they may win, or
discard what we wait for), we draw, and what does not help is discarded at a risk.  Shapes change
only by the draws that bring the hand nearer.  Of U unseen tiles n_k are of kind k; L(t) is the
chance that no other seat ends the kyoku in a go-around (``live``), R(t) the value lost by
discarding what is drawn (``risk`` in riichi, less in ``evasion``).

Tenpai, p and G summed over the kinds that win: p = n_k / U, by ron ``ron`` times that (0 in
furiten), G = p x value of the exact points.  Without riichi V(t) >= 0: one may fold::

    V(0) = value of tenpai at a draw
    V(t) = G_ron + (1 - p_ron) L(t) (G_draw + (1 - p_draw) (V(t-1) - R(t)))

One away, T_k being the best tenpai after drawing k, and p all accepted tiles over U::

    V(t) = max(0, L(t) (sum of n_k / U T_k(t-1) + (1 - p) V(t-1) - R(t)))

Further off only the chance W to win and the mean discards D until the end are carried, by shanten
s and accepted tiles a, u being the usual a of s; the value is W x gain - D x R::

    W(s, a, t) = L(t) (h W(s-1, a', t-1) + (1 - h) W(s, a, t-1))
    h = u(s) (a / u(s)) ** CHANGES / U,   a' = u(s-1) (a / u(s)) ** INHERITED

:data:`USUAL_TILES` were set by hand and revised once, when :data:`CHANGES` and :data:`INHERITED`
were compared with them; no run of theirs is kept.  No chance is taken for more than 0.9 (by hand,
not tuned).
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.game.rules.kinds import Counts
from mjbot.game.rules.shanten import shanten, shanten_regular
from mjbot.learning.models.placement import worth_of
from mjbot.learning.models.win_value import HandContext, hand_dora, win_points
from mjbot.protocol.rules import STICK_POINTS
from mjbot.runtime.compiler.compiled import compiled

Floats = NDArray[np.float64]

MAX_DRAWS: Final = 18
N_STAGES: Final = 6
N_TILES_ACCEPTED: Final = 100
USUAL_TILES: Final = (5.5, 14.0, 25.0, 45.0, 64.0, 78.0)
"""Tiles that bring a hand of 0, 1, .. shanten nearer, usually."""
CHANGES: Final = 0.75
"""Power of the tiles accepted: hands that accept few change their shape by other draws."""
INHERITED: Final = 0.4
"""Power with which the next stage inherits how many tiles this one accepts."""
STICK: Final = float(STICK_POINTS)


class Race(NamedTuple):
    """What the race depends on apart from the hand; arrays by own draws left are float64[19]."""

    unseen: Counts
    total: float  # unseen tiles
    draws: int  # own draws left after this discard
    own: int  # mask of own discards: furiten
    live: Floats  # chance that no other seat ends the kyoku before the next draw
    risk: Floats  # value lost per go-around in riichi, by discarding what is drawn
    evasion: Floats  # the same without riichi, choosing what to discard
    value: Floats  # table of rank_worth
    ron_rate: float  # discards of the others per own draw, as far as a wait is let go
    call_rate: float  # the same of one opponent, as far as a tile to call is let go
    tenpai_points: float  # value of being tenpai at a draw
    extra_points: float  # honba and sticks
    may_riichi: bool
    others: int  # opponents


class StageTable(NamedTuple):
    """Chances by stage: [shanten, tiles accepted, draws left]."""

    win: Floats  # to win
    turns: Floats  # discards until the end, in the mean


@compiled
def new_stages() -> StageTable:
    """Return tables to be filled by :func:`fill_stages`, again and again."""
    shape = (N_STAGES, N_TILES_ACCEPTED, MAX_DRAWS + 1)
    return StageTable(np.zeros(shape), np.zeros(shape))


@compiled
def fill_stages(race: Race, stages: StageTable) -> None:
    """Fill the tables for hands of usual shapes."""
    for stage in range(N_STAGES):
        for tiles in range(0, N_TILES_ACCEPTED, 2):
            _fill_stage(race, stages, stage, tiles)
            stages.win[stage, tiles + 1] = stages.win[stage, tiles]
            stages.turns[stage, tiles + 1] = stages.turns[stage, tiles]


@compiled
def _fill_stage(race: Race, stages: StageTable, stage: int, tiles: int) -> None:
    win, turns = stages.win[stage, tiles], stages.turns[stage, tiles]
    win[0] = turns[0] = 0
    relative = (tiles + 0.5) / USUAL_TILES[stage]
    tiles_now = USUAL_TILES[stage] * relative ** (1.0 if stage == 0 else CHANGES)
    hit = min(tiles_now / race.total, 0.9)
    if stage == 0:
        by_ron = min(hit * race.ron_rate, 0.9)
        for left in range(1, race.draws + 1):
            stays = (1 - by_ron) * race.live[left]
            win[left] = by_ron + stays * (hit + (1 - hit) * win[left - 1])
            turns[left] = stays * (1 - hit) * (1 + turns[left - 1])
        return
    after = int(USUAL_TILES[stage - 1] * relative**INHERITED)
    nearer = min(after, N_TILES_ACCEPTED - 1)
    next_win, next_turns = stages.win[stage - 1, nearer], stages.turns[stage - 1, nearer]
    for left in range(1, race.draws + 1):
        win[left] = race.live[left] * (hit * next_win[left - 1] + (1 - hit) * win[left - 1])
        later = hit * next_turns[left - 1] + (1 - hit) * turns[left - 1]
        turns[left] = race.live[left] * (1 + later)


@compiled
def stage_value(race: Race, stages: StageTable, stage: int, tiles: float, gain: float) -> float:
    """Return the value of a hand of the usual shape: ``gain`` is the value of a win."""
    if stage >= N_STAGES:
        return 0.0
    wanted = min(int(tiles + 0.5), N_TILES_ACCEPTED - 1)
    win, turns = stages.win[stage, wanted, race.draws], stages.turns[stage, wanted, race.draws]
    return max(0.0, float(win * gain - turns * race.evasion[race.draws]))


@compiled
def call_share(hand: Counts, kind: int, race: Race) -> float:
    """Return the chances to claim a kind in addition to drawing it, as copies drawn."""
    if hand[kind] >= 2:
        return race.others * race.call_rate
    if kind >= 27 or race.others < 3:  # three players have no chi
        return 0.0
    rank = kind % 9
    below = rank > 0 and hand[kind - 1] > 0
    above = rank < 8 and hand[kind + 1] > 0
    low = rank > 1 and below and hand[kind - 2] > 0
    high = rank < 7 and above and hand[kind + 2] > 0
    return race.call_rate if low or high or (below and above) else 0.0


@compiled
def tenpai_value(
    hand: Counts,
    waits: int,
    race: Race,
    hand_context: HandContext,
    own: int,
    riichi: bool,
    out: Floats,
) -> None:
    """Fill ``out`` float64[19] with the value of a tenpai hand by own draws left.

    ``own`` is the mask of own discards.
    """
    dora = hand_dora(hand, hand_context)
    extra = race.extra_points + (STICK if riichi else 0.0)
    drawn = drawn_gain = claimed = claimed_gain = 0.0
    furiten = waits & own
    for kind in range(34):
        if not waits >> kind & 1 or race.unseen[kind] <= 0:
            continue
        chance = race.unseen[kind] / race.total
        points = win_points(hand, kind, dora, hand_context, riichi, True)
        if points > 0:
            drawn += chance
            drawn_gain += chance * worth_of(race.value, points + extra)
        if furiten:
            continue
        points = win_points(hand, kind, dora, hand_context, riichi, False)
        if points > 0:
            claimed += chance * race.ron_rate
            claimed_gain += chance * race.ron_rate * worth_of(race.value, points + extra)
    if claimed > 0.9:
        claimed_gain *= 0.9 / claimed
        claimed = 0.9
    stick = worth_of(race.value, -STICK) if riichi else 0.0
    out[0] = race.tenpai_points
    for left in range(1, race.draws + 1):
        risk = race.risk[left] if riichi else race.evasion[left]
        later = drawn_gain + (1 - drawn) * (out[left - 1] - risk)
        value = claimed_gain + (1 - claimed) * race.live[left] * later
        out[left] = value if riichi else max(value, 0.0)  # without riichi one may fold
    for left in range(race.draws + 1):
        out[left] += stick


@compiled
def one_away_value(
    hand: Counts,
    n_melds: int,
    accepted: int,
    race: Race,
    hand_context: HandContext,
    is_open: bool,
    out: Floats,
) -> None:
    """Fill ``out`` float64[19] with the value of a hand that the kinds ``accepted`` make tenpai."""
    best, one = np.empty(MAX_DRAWS + 1), np.empty(MAX_DRAWS + 1)
    gain = np.zeros(MAX_DRAWS + 1)
    hit = 0.0
    for kind in range(34):
        if not accepted >> kind & 1 or race.unseen[kind] <= 0:
            continue
        copies = race.unseen[kind] * (1 + (call_share(hand, kind, race) if is_open else 0.0))
        chance = copies / race.total
        hand[kind] += 1
        best[:] = 0
        _best_tenpai(hand, n_melds, kind, race, hand_context, is_open, best, one)
        hand[kind] -= 1
        hit += chance
        for left in range(race.draws + 1):
            gain[left] += chance * best[left]
    scale = 1.0
    if hit > 0.9:
        scale = 0.9 / hit
        hit = 0.9
    out[0] = 0
    for left in range(1, race.draws + 1):
        later = (1 - hit) * out[left - 1] + scale * gain[left - 1] - race.evasion[left]
        out[left] = max(0.0, race.live[left] * later)


@compiled
def _best_tenpai(
    hand: Counts,
    n_melds: int,
    drawn: int,
    race: Race,
    hand_context: HandContext,
    is_open: bool,
    best: Floats,
    one: Floats,
) -> None:
    """Raise ``best`` to the value of the best tenpai that a discard leaves."""
    for kind in range(34):
        if hand[kind] == 0 or kind == drawn:
            continue
        hand[kind] -= 1
        if shanten(hand, n_melds) == 0:
            waits = shanten_and_acceptance(hand, n_melds)[1]
            riichi = race.may_riichi and not is_open
            tenpai_value(hand, waits, race, hand_context, race.own | 1 << kind, riichi, one)
            for left in range(race.draws + 1):
                best[left] = max(best[left], one[left])
        hand[kind] += 1


@compiled
def far_value(
    hand: Counts,
    n_melds: int,
    accepted: int,
    race: Race,
    stages: StageTable,
    stage: int,
    gain: float,
) -> float:
    """Return the value of a closed hand of ``stage`` >= 2 shanten, looking one draw ahead."""
    if stage >= N_STAGES:
        return 0.0
    win, turns = np.zeros(MAX_DRAWS + 1), np.zeros(MAX_DRAWS + 1)
    hit = 0.0
    for kind in range(34):
        if not accepted >> kind & 1 or race.unseen[kind] <= 0:
            continue
        chance = race.unseen[kind] / race.total
        hand[kind] += 1
        tiles = _most_accepted(hand, n_melds, kind, race, stage - 1)
        hand[kind] -= 1
        hit += chance
        for left in range(race.draws + 1):
            win[left] += chance * stages.win[stage - 1, tiles, left]
            turns[left] += chance * stages.turns[stage - 1, tiles, left]
    won = turned = 0.0
    for left in range(1, race.draws + 1):
        won = race.live[left] * (win[left - 1] + (1 - hit) * won)
        turned = race.live[left] * (1 + turns[left - 1] + (1 - hit) * turned)
    return max(0.0, float(won * gain - turned * race.evasion[race.draws]))


@compiled
def _most_accepted(hand: Counts, n_melds: int, drawn: int, race: Race, stage: int) -> int:
    """Return the most tiles that a hand of 3n+2 tiles accepts after a discard to ``stage``."""
    most = 0
    for kind in range(34):
        if hand[kind] == 0 or kind == drawn:
            continue
        hand[kind] -= 1
        if shanten_regular(hand, n_melds) == stage:
            tiles = count_tiles(shanten_and_acceptance(hand, n_melds)[1], race.unseen)
            most = max(most, tiles)
        hand[kind] += 1
    return min(most, N_TILES_ACCEPTED - 1)
