"""What a win or a draw pays in the state at hand, and which kyoku comes next."""

from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.points import (
    YAKUMAN_BASE,
    Parties,
    base_points,
    draw_deltas,
    nagashi_deltas,
    ron_points,
    tsumo_total,
    win_deltas,
)
from mjbot.game.rules.ruleset import RuleSet
from mjbot.game.rules.scoring import score_win
from mjbot.game.rules.wins import (
    CHANKAN,
    DOUBLE_RIICHI,
    FIRST_TURN,
    HAITEI,
    HOUTEI,
    IPPATSU,
    RIICHI,
    RINSHAN,
    TSUMO,
    WIN,
    Win,
)
from mjbot.game.rules.yaku_table import DAISANGEN, DAISUUSHII
from mjbot.game.table.hands import count_meld_reds, kind_of
from mjbot.game.table.observe import add_melds, dora_values, ura_values
from mjbot.game.table.seats import is_seated, steps_between
from mjbot.game.table.state import (
    ACCEPTED,
    ANKAN,
    CALLED_AWAY,
    CHI,
    FOUR_KANS,
    FOUR_RIICHI,
    FOUR_WINDS,
    PON,
    State,
)
from mjbot.protocol.rules import EXTENSION_ROUNDS
from mjbot.protocol.tiles import FIRST_DRAGON, FIRST_HONOUR, N_KINDS, NORTH
from mjbot.runtime.compiler.compiled import compiled, keep_alive
from mjbot.runtime.compiler.record import Int8, Int16, Int32, Int32s, Int64, Record


class Payment(Record):
    """What one win pays, and for what."""

    yaku_mask: Int64  # bit per Tenhou yaku id
    points: Int32  # hand value without honba and sticks
    deltas: Annotated[Int32s, 4]  # honba and sticks included
    han: Int16
    fu: Int16
    dora: Int8
    ura: Int8
    red: Int8
    yakuman: Int8
    winner: Int8
    liable: Int8  # pao, -1 none


PAYMENT: Final = Payment.dtype


@compiled
def win_flags(state: State, seat: int, by_draw: bool) -> int:
    """Return the flags of :mod:`mjbot.game.rules.scoring` for a win of ``seat`` right now."""
    flags = state.rules.scoring
    if state.riichi[seat] == ACCEPTED:
        flags |= DOUBLE_RIICHI if state.double_riichi[seat] else RIICHI
    if state.ippatsu[seat] and state.rules.ippatsu:
        flags |= IPPATSU
    if state.n_river[seat] == 0 and not state.calls_made:
        flags |= FIRST_TURN
    if by_draw:
        flags |= TSUMO
        if state.after_kan:
            flags |= RINSHAN
        elif state.wall_left == 0:
            flags |= HAITEI
    elif state.chankan:
        flags |= CHANKAN
    elif state.wall_left == 0:
        flags |= HOUTEI
    return flags


@compiled
def describe_win(state: State, seat: int, tile: int, by_draw: bool, hand: Win) -> None:
    """Fill the scoring record ``hand`` (:data:`mjbot.game.rules.wins.WIN`), dora left at 0."""
    for kind in range(N_KINDS):
        hand.hand[kind] = state.hand[seat, kind]
    if not by_draw:
        hand.hand[kind_of(tile)] += 1
    hand.n_melds = state.n_melds[seat]
    for meld in range(state.n_melds[seat]):
        hand.meld_type[meld] = state.meld_type[seat, meld]
        hand.meld_kind[meld] = state.meld_kind[seat, meld]
    hand.win_kind = kind_of(tile)
    hand.seat_wind = steps_between(state, state.dealer, seat)
    hand.round_wind = state.round >> 2
    hand.flags = win_flags(state, seat, by_draw)
    hand.dora = 0
    hand.ura = 0
    hand.red = 0


@compiled
def has_yaku(state: State, seat: int, tile: int, by_draw: bool) -> bool:
    """Return whether the complete hand of ``seat`` has the yaku for a win (dora are none)."""
    by_any = state.riichi[seat] == ACCEPTED or (by_draw and not state.is_open[seat])
    if by_any and state.rules.least_han == 1:
        return True
    hands = np.empty(1, WIN)
    describe_win(state, seat, tile, by_draw, hands[0])
    han = score_win(hands[0])[0]
    keep_alive(hands)
    return han > 0


@compiled
def _count_dora(state: State, seat: int, tile: int, hand: Win) -> None:
    held = hand.hand.copy()
    add_melds(state, seat, held)
    held[NORTH] += state.kita[seat]
    values = np.empty(N_KINDS, np.int8)
    dora_values(state, values)
    hand.dora += state.kita[seat]
    for kind in range(N_KINDS):
        hand.dora += held[kind] * values[kind]
    if state.riichi[seat] == ACCEPTED:
        ura_values(state, values)
        for kind in range(N_KINDS):
            hand.ura += held[kind] * values[kind]
    for suit in range(3):
        hand.red += state.red[seat, suit]
    for meld in range(state.n_melds[seat]):
        hand.red += count_meld_reds(state.meld_red[seat, meld])
    if tile >= N_KINDS and not hand.flags & TSUMO:
        hand.red += 1


@compiled
def liable_seat(state: State, seat: int, yaku_mask: int) -> int:
    """Return the seat that is liable for the yakuman of ``seat`` (pao), or -1."""
    if (yaku_mask >> DAISANGEN) & 1 and state.pao_dragons[seat] >= 0:
        return int(state.pao_dragons[seat])
    if (yaku_mask >> DAISUUSHII) & 1 and state.pao_winds[seat] >= 0:
        return int(state.pao_winds[seat])
    return -1


@compiled
def liable_base(rules: RuleSet, base: int, yaku_mask: int) -> int:
    """Return for how many of a win's base points its liable seat answers."""
    if not rules.pao_part:
        return base
    is_double = (yaku_mask >> DAISUUSHII) & 1 and rules.double_yakuman
    return min(base, YAKUMAN_BASE * (2 if is_double else 1))


@compiled
def payments(
    base: int, yaku_mask: int, parties: Parties, honba: int, sticks: int, rules: RuleSet
) -> NDArray[np.int32]:
    """Return the change of each seat's score for one win, pao as the rules have it.

    Honba and sticks as in :func:`mjbot.game.rules.points.win_deltas`.
    """
    answered = liable_base(rules, base, yaku_mask) if parties.liable >= 0 else base
    deltas = win_deltas(answered, parties, honba, sticks, rules)
    if answered < base:
        payers = Parties(parties.winner, parties.loser, parties.dealer, -1)
        others = win_deltas(base - answered, payers, 0, 0, rules)
        for seat in range(4):
            deltas[seat] += others[seat]
    return deltas


@compiled
def win_payment(state: State, seat: int, tile: int, by_draw: bool, win: Payment) -> None:
    """Fill ``win`` (:data:`PAYMENT`) with the value and payments of a win of ``seat`` right now.

    Ura markers count if they are known and the seat is in riichi.  Honba and sticks go to
    the first winner only.
    """
    hands = np.empty(1, WIN)
    hand = hands[0]
    describe_win(state, seat, tile, by_draw, hand)
    _count_dora(state, seat, tile, hand)
    han, fu, yaku_mask, yakuman = score_win(hand)
    win.winner = seat
    win.han = han
    win.fu = fu
    win.yaku_mask = yaku_mask
    win.yakuman = yakuman
    win.dora = hand.dora
    win.ura = hand.ura
    win.red = hand.red
    keep_alive(hands)
    win.liable = liable_seat(state, seat, yaku_mask)
    base = base_points(han, fu, yakuman, int(state.rules.scoring))
    is_dealer = seat == state.dealer
    if by_draw:
        win.points = tsumo_total(base, is_dealer, state.rules)
    else:
        win.points = ron_points(base, is_dealer)
    loser = seat if by_draw else state.turn
    parties = Parties(seat, loser, int(state.dealer), int(win.liable))
    honba, sticks = (0, 0) if state.wins else (state.honba, state.sticks)
    _write(payments(base, yaku_mask, parties, honba, sticks, state.rules), win.deltas)


@compiled
def _write(deltas: NDArray[np.int32], out: NDArray[np.int32]) -> None:
    # numba takes a second to compile each `out[:] = deltas`
    for seat in range(4):
        out[seat] = deltas[seat]


@compiled
def has_nagashi(state: State, seat: int) -> bool:
    """Return whether all own discards are terminals and honours and none was called.

    No seat has it where the rules have no nagashi mangan.
    """
    if not is_seated(state, seat) or not state.rules.nagashi:
        return False
    for index in range(state.n_river[seat]):
        if state.river_flags[seat, index] & CALLED_AWAY:
            return False
        kind = kind_of(state.river[seat, index])
        if kind < 27 and 0 < kind % 9 < 8:
            return False
    return True


@compiled
def exhaustive_deltas(state: State, tenpai: NDArray[np.int8], deltas: NDArray[np.int32]) -> bool:
    """Write what an exhaustive draw pays (int32[4]); return whether it is nagashi mangan.

    ``tenpai`` is int8[4].  Nagashi of several players adds up and cancels the noten payments.
    """
    nagashi = np.zeros(4, np.int8)
    is_nagashi = False
    for seat in range(4):
        nagashi[seat] = has_nagashi(state, seat)
        is_nagashi = is_nagashi or nagashi[seat] != 0
    if is_nagashi:
        _write(nagashi_deltas(nagashi, state.dealer, state.rules), deltas)
    else:
        _write(draw_deltas(tenpai, state.rules), deltas)
    return is_nagashi


@compiled
def three_rons_draw(rules: RuleSet) -> bool:
    """Return whether three rons abort the kyoku: neither all nor the nearest alone is paid."""
    return rules.players == 4 and not rules.triple_ron_paid and not rules.head_bump


@compiled
def abort_reason(state: State) -> int:
    """Return which abortive draw the un-ronned discard brings, or 0.

    Four riichi, four equal winds uninterrupted, four kans by two or more players.
    """
    rules = state.rules
    accepted = 0
    for seat in range(4):
        accepted += state.riichi[seat] == ACCEPTED
    if accepted == 4 and rules.four_riichi_draw:
        return FOUR_RIICHI
    if _four_winds(state) and rules.four_winds_draw:
        return FOUR_WINDS
    if state.kans == 4 and _most_kans(state) < 4 and rules.four_kans_draw:
        return FOUR_KANS
    return 0


@compiled
def _four_winds(state: State) -> bool:
    if state.n_discards != 4 or state.calls_made or state.rules.players != 4:
        return False
    kind = kind_of(state.river[0, 0])
    if kind < FIRST_HONOUR or kind >= FIRST_DRAGON:
        return False
    for seat in range(1, 4):
        if kind_of(state.river[seat, 0]) != kind:
            return False
    return True


@compiled
def _most_kans(state: State) -> int:
    most = 0
    for seat in range(4):
        kans = 0
        for meld in range(state.n_melds[seat]):
            type_ = state.meld_type[seat, meld]
            kans += type_ != CHI and type_ != PON and type_ <= ANKAN
        most = max(most, kans)
    return most


@compiled
def seats_ahead(scores: Int32s, seat: int) -> int:
    """Return how many seats rank above one, 0..3; of equal scores the earlier seat's is better.

    ``scores`` are those of the players: three or four.
    """
    own, ahead = scores[seat], 0
    for other in range(len(scores)):
        ahead += scores[other] > own or (scores[other] == own and other < seat)
    return ahead


@compiled
def top_seat(scores: Int32s) -> int:
    """Return the seat in first place."""
    seat = 0
    while seats_ahead(scores, seat) > 0:
        seat += 1
    return seat


def ranks_of(scores: Sequence[int]) -> list[int]:
    """Return the rank 1..4 of each seat.

    >>> ranks_of([25000, 40000, 25000, 10000])
    [2, 1, 3, 4]
    """
    points = np.array(scores, np.int32)
    return [1 + seats_ahead(points, seat) for seat in range(len(points))]


def seats_by_rank(scores: Sequence[int]) -> list[int]:
    """Return the seats from first to last.

    >>> seats_by_rank([25000, 40000, 25000, 10000])
    [1, 0, 2, 3]
    """
    return sorted(range(len(scores)), key=ranks_of(scores).__getitem__)


OVER: Final = 0
"""As a number of kyoku left: the game is over, ranks are what they are."""


@compiled
def game_ends(state: State) -> bool:
    """Return whether the game is over after the kyoku just paid."""
    return _is_over(state, state.scores, state.dealer_stays, state.wins != 0)


@compiled
def _is_over(state: State, scores: Int32s, dealer_stays: int, by_win: bool) -> bool:
    """Return whether the game is over with these scores (docs/rules.md, section 1)."""
    rules = state.rules
    for seat in range(rules.players):
        if rules.bust and scores[seat] < 0:
            return True
    if state.aborted or state.round < rules.last_round:
        return False
    top = top_seat(scores[: rules.players])
    if dealer_stays:
        may_end = rules.agari_yame if by_win else rules.tenpai_yame
        return may_end != 0 and top == state.dealer and scores[top] >= rules.target_points
    extension = EXTENSION_ROUNDS if rules.extension else 0
    return scores[top] >= rules.target_points or state.round >= rules.last_round + extension


@compiled
def next_kyoku(state: State) -> tuple[int, int]:
    """Return (round, honba) of the kyoku after the one just paid."""
    if state.dealer_stays:
        return state.round, state.honba + 1
    following = state.round + 1
    if following & 3 == state.rules.players:  # the fourth number of a wind with three dealers
        following += 1
    return following, 0 if state.wins else state.honba + 1


@compiled
def kyoku_left(state: State) -> int:
    """Return how many kyoku follow at least after the one just paid, or OVER."""
    return kyoku_after(state, state.scores, state.dealer_stays, state.wins != 0)


@compiled
def kyoku_after(state: State, scores: Int32s, dealer_stays: int, by_win: bool) -> int:
    """Return how many kyoku follow at least if this one ends with these scores, or OVER.

    ``by_win``: it ends with a win, not with a draw.

    Past the last scheduled one there is one more until a seat has the points to end the game.
    """
    if _is_over(state, scores, dealer_stays, by_win):
        return OVER
    rules = state.rules
    skipped = (4 - rules.players) * ((rules.last_round >> 2) - (state.round >> 2))
    return max(1, rules.last_round - state.round - skipped + (dealer_stays != 0))
