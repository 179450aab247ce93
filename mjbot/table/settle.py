"""What a win or a draw pays in the state at hand, and which kyoku comes next."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.rules.points import draw_deltas, nagashi_deltas, win_deltas
from mjbot.rules.scoring import (
    FLAG_CHANKAN,
    FLAG_DOUBLE_RIICHI,
    FLAG_FIRST_TURN,
    FLAG_HAITEI,
    FLAG_HOUTEI,
    FLAG_IPPATSU,
    FLAG_RIICHI,
    FLAG_RINSHAN,
    FLAG_TSUMO,
    can_win,
    score_win,
)
from mjbot.table.apply import FIRST_DRAGON, FIRST_WIND, N_KINDS, STICK_POINTS, kind_of
from mjbot.table.draws import FOUR_KANS, FOUR_RIICHI, FOUR_WINDS
from mjbot.table.observe import add_melds, dora_values, ura_values
from mjbot.table.state import ACCEPTED, ANKAN, CALLED_AWAY, CHI, PON, State

DAISANGEN_BIT = 39
DAISUUSHII_BIT = 49
TARGET_POINTS = 30000
EXTENSION_ROUNDS = 4

WIN: Final = np.dtype(
    [
        ("yaku_mask", np.int64),  # bit per Tenhou yaku id
        ("points", np.int32),  # hand value without honba and sticks
        ("deltas", np.int32, (4,)),  # honba and sticks included
        ("han", np.int16),
        ("fu", np.int16),
        ("dora", np.int8),
        ("ura", np.int8),
        ("red", np.int8),
        ("yakuman", np.int8),
        ("winner", np.int8),
        ("liable", np.int8),  # pao, -1 none
    ],
    align=True,
)
"""One win: its value and what everybody pays."""


@compiled
def win_flags(state: State, seat: int, by_draw: bool) -> int:
    """Return the flags of :mod:`mjbot.rules.scoring` for a win of ``seat`` right now."""
    flags = 0
    if state.riichi[seat] == ACCEPTED:
        flags |= FLAG_DOUBLE_RIICHI if state.double_riichi[seat] else FLAG_RIICHI
    if state.ippatsu[seat]:
        flags |= FLAG_IPPATSU
    if by_draw:
        flags |= FLAG_TSUMO
        if state.after_kan:
            flags |= FLAG_RINSHAN
        elif state.wall_left == 0:
            flags |= FLAG_HAITEI
        if state.n_river[seat] == 0 and not state.calls_made:
            flags |= FLAG_FIRST_TURN
    elif state.chankan:
        flags |= FLAG_CHANKAN
    elif state.wall_left == 0:
        flags |= FLAG_HOUTEI
    return flags


@compiled
def _winning_hand(state: State, seat: int, win_kind: int, by_draw: bool) -> NDArray[np.int8]:
    hand = state.hand[seat].copy()
    if not by_draw:
        hand[win_kind] += 1
    return hand


@compiled
def has_yaku(state: State, seat: int, win_kind: int, by_draw: bool) -> bool:
    """Return whether the complete hand of ``seat`` has a yaku (dora is none)."""
    flags = win_flags(state, seat, by_draw)
    if flags & (FLAG_RIICHI | FLAG_DOUBLE_RIICHI) or (by_draw and not state.is_open[seat]):
        return True
    return can_win(
        _winning_hand(state, seat, win_kind, by_draw),
        state.meld_type[seat],
        state.meld_kind[seat],
        state.n_melds[seat],
        win_kind,
        flags,
        (seat - state.dealer) & 3,
        state.round >> 2,
    )


@compiled
def _count_red(state: State, seat: int, tile: int, by_draw: bool) -> int:
    count = state.red[seat, 0] + state.red[seat, 1] + state.red[seat, 2]
    if not by_draw and tile >= N_KINDS:
        count += 1
    for place in range(state.n_melds[seat]):
        bits = state.meld_red[seat, place]
        count += (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1)
    return count


@compiled
def _count_dora(held: NDArray[np.int8], values: NDArray[np.int8]) -> int:
    count = 0
    for kind in range(N_KINDS):
        count += held[kind] * values[kind]
    return count


@compiled
def liable_seat(state: State, seat: int, yaku_mask: int) -> int:
    """Return who is liable for the yakuman of ``seat`` (pao), or -1."""
    if (yaku_mask >> DAISANGEN_BIT) & 1 and state.pao_dragons[seat] >= 0:
        return state.pao_dragons[seat]
    if (yaku_mask >> DAISUUSHII_BIT) & 1 and state.pao_winds[seat] >= 0:
        return state.pao_winds[seat]
    return -1


@compiled
def win_payment(state: State, seat: int, tile: int, by_draw: bool, win: np.void) -> None:
    """Fill ``win`` (:data:`WIN`) with the value and payments of a win of ``seat`` right now.

    Ura markers count if the state knows them and the seat is in riichi.  Honba and sticks go to
    the first winner only.
    """
    win.winner = seat
    _count_bonus(state, seat, tile, by_draw, win)
    win_kind = kind_of(tile)
    win.han, win.fu, win.yaku_mask, win.yakuman = score_win(
        _winning_hand(state, seat, win_kind, by_draw),
        state.meld_type[seat],
        state.meld_kind[seat],
        state.n_melds[seat],
        win_kind,
        win_flags(state, seat, by_draw),
        (seat - state.dealer) & 3,
        state.round >> 2,
        win.dora,
        win.ura,
        win.red,
    )
    win.liable = liable_seat(state, seat, win.yaku_mask)
    win.points = win_deltas(
        win.han, win.fu, win.yakuman, seat, seat if by_draw else state.turn, state.dealer,
        0 if state.wins else state.honba, state.sticks, win.liable, win.deltas,
    )  # fmt: skip


@compiled
def _count_bonus(state: State, seat: int, tile: int, by_draw: bool, win: np.void) -> None:
    held = _winning_hand(state, seat, kind_of(tile), by_draw)
    add_melds(state, seat, held)
    values = np.empty(N_KINDS, np.int8)
    dora_values(state, values)
    win.dora = _count_dora(held, values)
    win.ura = 0
    if state.riichi[seat] == ACCEPTED:
        ura_values(state, values)
        win.ura = _count_dora(held, values)
    win.red = _count_red(state, seat, tile, by_draw)


@compiled
def has_nagashi(state: State, seat: int) -> bool:
    """Return whether all own discards are terminals and honours and none was called."""
    for place in range(state.n_river[seat]):
        if state.river_flags[seat, place] & CALLED_AWAY:
            return False
        kind = kind_of(state.river[seat, place])
        if kind < 27 and 0 < kind % 9 < 8:
            return False
    return True


@compiled
def exhaustive_deltas(state: State, tenpai: NDArray[np.int8], deltas: NDArray[np.int32]) -> bool:
    """Write what an exhaustive draw pays (int32[4]); return whether it is nagashi mangan.

    ``tenpai`` is int8[4].  Nagashi of several players adds up and cancels the noten payments.
    """
    deltas[:] = 0
    nagashi = False
    for seat in range(4):
        if has_nagashi(state, seat):
            nagashi = True
            nagashi_deltas(seat, state.dealer, deltas)
    if not nagashi:
        draw_deltas(tenpai, deltas)
    return nagashi


@compiled
def abort_reason(state: State) -> int:
    """Return which abortive draw the un-ronned discard brings, or 0.

    Four riichi, four equal winds uninterrupted, four kans by two or more players.
    """
    accepted = 0
    for seat in range(4):
        accepted += state.riichi[seat] == ACCEPTED
    if accepted == 4:
        return FOUR_RIICHI
    if _four_winds(state):
        return FOUR_WINDS
    if state.kans == 4 and _most_kans(state) < 4:
        return FOUR_KANS
    return 0


@compiled
def _four_winds(state: State) -> bool:
    if state.n_discards != 4 or state.calls_made:
        return False
    kind = kind_of(state.river[0, 0])
    if kind < FIRST_WIND or kind >= FIRST_DRAGON:
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
        for place in range(state.n_melds[seat]):
            type_ = state.meld_type[seat, place]
            kans += type_ != CHI and type_ != PON and type_ <= ANKAN
        most = max(most, kans)
    return most


@compiled
def top_seat(scores: NDArray[np.int32]) -> int:
    """Return the first place; ties go to the earlier seat."""
    best = 0
    for seat in range(1, 4):
        if scores[seat] > scores[best]:
            best = seat
    return best


@compiled
def game_ends(state: State) -> bool:
    """Return whether the game is over after the kyoku just paid (tenhou.md section 8, Frame)."""
    for seat in range(4):
        if state.scores[seat] < 0:
            return True
    if state.aborted or state.round < state.last_round:
        return False
    top = top_seat(state.scores)
    if state.dealer_stays:
        return top == state.dealer and state.scores[top] >= TARGET_POINTS
    return state.scores[top] >= TARGET_POINTS or state.round >= state.last_round + EXTENSION_ROUNDS


@compiled
def next_kyoku(state: State) -> tuple[int, int]:
    """Return (round, honba) of the kyoku after the one just paid."""
    if state.dealer_stays:
        return state.round, state.honba + 1
    return state.round + 1, 0 if state.wins else state.honba + 1


@compiled
def give_leftover_sticks(state: State) -> None:
    """At the end of the game the sticks left on the table go to first place."""
    state.scores[top_seat(state.scores)] += STICK_POINTS * state.sticks
    state.sticks = 0
