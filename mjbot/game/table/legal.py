"""What a seat may do now, derived from the state alone (docs/rules.md, sections 3 to 5)."""

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.shanten import shanten
from mjbot.game.rules.tile_sets import waits_of
from mjbot.game.table.actions import (
    ADDED_KAN,
    CALL_KAN,
    CHI_LOW,
    CHI_LOW_RED,
    CONCEALED_KAN,
    DECLARE_RIICHI,
    DISCARD,
    DISCARD_DRAWN,
    KITA,
    NINE_TERMINALS,
    PASS,
    PON_PLAIN,
    PON_RED,
    RON,
    TSUMO,
)
from mjbot.game.table.hands import UNKNOWN, kind_of
from mjbot.game.table.seats import next_seat
from mjbot.game.table.settle import has_yaku
from mjbot.game.table.state import (
    ACCEPTED,
    CALLED,
    CHANKAN,
    CHI,
    OF_ANKAN,
    PON,
    REACTION,
    RIICHI,
    TURN,
    State,
)
from mjbot.protocol.tiles import FIRST_HONOUR, N_KINDS, NORTH
from mjbot.runtime.compiler.compiled import compiled

MAX_KANS = 4
NINE = 9


@compiled
def legal_codes(state: State, seat: int, codes: NDArray[np.uint8]) -> int:
    """Write the codes of all legal actions of ``seat`` in ascending order; return how many.

    ``codes`` is uint8[157].  0 means that the seat has nothing to decide now: it is not asked,
    or could only pass.  The seat's hand must be known.
    """
    if not state.hand_known[seat]:
        return 0
    if state.phase == REACTION or state.phase == CHANKAN:
        return 0 if seat == state.turn else _claims(state, seat, codes)
    if seat != state.turn:
        return 0
    if state.phase == TURN:
        return _own_turn(state, seat, codes)
    if state.phase == CALLED or state.phase == RIICHI:
        return _discards(state, seat, codes)
    return 0


@compiled
def _own_turn(state: State, seat: int, codes: NDArray[np.uint8]) -> int:
    n = _discards(state, seat, codes)
    if can_declare_riichi(state, seat):
        codes[n] = DECLARE_RIICHI
        n += 1
    if can_tsumo(state, seat):
        codes[n] = TSUMO
        n += 1
    if can_abort(state, seat):
        codes[n] = NINE_TERMINALS
        n += 1
    n = _own_kans(state, seat, codes, n)
    if state.rules.players == 3 and can_kita(state, seat):
        codes[n] = KITA
        n += 1
    return n


@compiled
def _discards(state: State, seat: int, codes: NDArray[np.uint8]) -> int:
    n = 0
    drawn = state.drawn
    if state.riichi[seat] != ACCEPTED:
        for kind in range(N_KINDS):
            held = state.hand[seat, kind] > 0
            held = held and held_tiles(state, seat, kind) - (kind == drawn) > 0
            if held and can_discard_kind(state, seat, kind):
                codes[n] = DISCARD + kind
                n += 1
        for red in range(N_KINDS, N_KINDS + 3):
            held = state.red[seat, red - N_KINDS] and red != drawn
            if held and can_discard_kind(state, seat, kind_of(red)):
                codes[n] = DISCARD + red
                n += 1
    if drawn >= 0 and can_discard_kind(state, seat, kind_of(drawn)):
        codes[n] = DISCARD_DRAWN + drawn
        n += 1
    return n


@compiled
def held_tiles(state: State, seat: int, tile: int) -> int:
    """Return how many concealed copies of exactly this tile (0..36) the seat holds."""
    if tile >= N_KINDS:
        return int(state.red[seat, tile - N_KINDS])
    held = int(state.hand[seat, tile])
    if tile < FIRST_HONOUR and tile % 9 == 4:
        held -= state.red[seat, tile // 9]
    return held


@compiled
def kuikae_kinds(type_: int, called: int, low: int) -> int:
    """Return the kinds that may not be discarded after a call: the same, and a chi's other end.

    ``called`` is the claimed kind, ``low`` the lowest kind of a chi.
    """
    bits = 1 << called
    if type_ == CHI:
        if called == low and low % 9 < 6:
            bits |= 1 << (low + 3)
        elif called == low + 2 and low % 9 > 0:
            bits |= 1 << (low - 1)
    return bits


@compiled
def can_discard_kind(state: State, seat: int, kind: int) -> bool:
    """Return whether kuikae or a declared riichi leaves this kind to discard."""
    if (state.kuikae >> kind) & 1:
        return False
    if state.phase != RIICHI:
        return True
    return _stays_tenpai(state, seat, kind)


@compiled
def _stays_tenpai(state: State, seat: int, kind: int) -> bool:
    hand = state.hand[seat].copy()
    hand[kind] -= 1
    return waits_of(hand, state.n_melds[seat], state.rules.players) != 0


@compiled
def can_declare_riichi(state: State, seat: int) -> bool:
    """Closed, not yet declared, a stick to pay, a tile to draw for each, tenpai after a discard."""
    if state.is_open[seat] or state.riichi[seat] or state.wall_left < state.rules.players:
        return False
    if state.scores[seat] < state.rules.stick_points:
        return False
    if shanten(state.hand[seat], state.n_melds[seat]) > 0:  # that of three players is never lower
        return False
    for kind in range(N_KINDS):
        if state.hand[seat, kind] and _stays_tenpai(state, seat, kind):
            return True
    return False


@compiled
def can_tsumo(state: State, seat: int) -> bool:
    """The drawn tile completes the hand and there is a yaku."""
    if state.drawn < 0 or state.drawn == UNKNOWN:
        return False
    kind = kind_of(state.drawn)
    return (state.waits[seat] >> kind) & 1 == 1 and has_yaku(state, seat, state.drawn, True)


@compiled
def can_abort(state: State, seat: int) -> bool:
    """Nine kinds of terminals and honours on the first, uninterrupted turn."""
    if state.n_river[seat] or state.calls_made:
        return False
    kinds = 0
    for kind in range(N_KINDS):
        terminal = kind >= FIRST_HONOUR or kind % 9 == 0 or kind % 9 == 8
        if terminal and state.hand[seat, kind]:
            kinds += 1
    return kinds >= NINE and state.rules.nine_terminals_draw != 0


@compiled
def _own_kans(state: State, seat: int, codes: NDArray[np.uint8], n: int) -> int:
    if state.wall_left < 1 or state.kans >= MAX_KANS:
        return n
    for kind in range(N_KINDS):
        if state.hand[seat, kind] == 4 and _may_close_kan(state, seat, kind):
            codes[n] = CONCEALED_KAN + kind
            n += 1
    pons = 0
    for meld in range(state.n_melds[seat]):
        if state.meld_type[seat, meld] == PON:
            pons |= 1 << state.meld_kind[seat, meld]
    if pons:
        for kind in range(N_KINDS):
            if state.hand[seat, kind] and (pons >> kind) & 1:
                codes[n] = ADDED_KAN + kind
                n += 1
    return n


@compiled
def _may_close_kan(state: State, seat: int, kind: int) -> bool:
    """In riichi only with the drawn tile, and only if the set of waits stays the same."""
    if not state.riichi[seat]:
        return True
    if kind_of(state.drawn) != kind:
        return False
    hand = state.hand[seat].copy()
    hand[kind] = 0
    after = waits_of(hand, state.n_melds[seat] + 1, state.rules.players)
    return bool(after == state.waits[seat])


@compiled
def can_kita(state: State, seat: int) -> bool:
    """Of three players: a north, a tile left to draw for it; in riichi only the one just drawn."""
    if state.wall_left < 1 or state.hand[seat, NORTH] == 0:
        return False
    return bool(state.riichi[seat] != ACCEPTED or state.drawn == NORTH)


@compiled
def is_furiten(state: State, seat: int) -> bool:
    """Own discards, a win missed since the last own discard, or one missed in riichi."""
    return bool(state.waits[seat] & state.discarded[seat]) or bool(state.missed[seat])


@compiled
def can_ron(state: State, seat: int) -> bool:
    """The tile on offer completes the hand, no furiten, and there is a yaku."""
    kind = kind_of(state.last_tile)
    if (state.waits[seat] >> kind) & 1 == 0 or is_furiten(state, seat):
        return False
    return may_rob(state, seat) and has_yaku(state, seat, state.last_tile, False)


@compiled
def may_rob(state: State, seat: int) -> bool:
    """Return whether the tile on offer may be won: that of a concealed kan by thirteen orphans.

    The seat waits on it.  A tile of which another seat has all four completes thirteen orphans or
    a run, and a hand that waits for a run holds the kind next to a terminal.
    """
    if state.chankan != OF_ANKAN:
        return True
    kind = state.last_tile
    if kind >= FIRST_HONOUR:
        return True
    if kind % 9 == 0:
        return bool(state.hand[seat, kind + 1] == 0)
    return bool(kind % 9 == 8 and state.hand[seat, kind - 1] == 0)


@compiled
def _claims(state: State, seat: int, codes: NDArray[np.uint8]) -> int:
    n = 0
    if can_ron(state, seat):
        codes[n] = RON
        n += 1
    calls = 0
    may_call = state.phase == REACTION and not state.riichi[seat]
    if may_call and (state.wall_left > 0 or state.rules.last_discard_calls):
        calls = _calls(state, seat, codes, n + 1)
    if n + calls == 0:
        return 0
    codes[n] = PASS
    return n + 1 + calls


@compiled
def _calls(state: State, seat: int, codes: NDArray[np.uint8], first: int) -> int:
    """Write pon, chi and open kan from index ``first`` on; return how many."""
    n = first
    kind = kind_of(state.last_tile)
    if kind == NORTH and state.rules.players == 3 and not state.rules.north_calls:
        return 0
    held = state.hand[seat, kind]
    if held >= 2:
        n = _pons(state, seat, codes, n, kind)
    may_chi = kind < FIRST_HONOUR and seat == next_seat(state, state.turn)
    if may_chi and state.rules.players == 4:
        for offset in range(3):
            if _can_chi(state, seat, kind, offset, 0):
                codes[n] = CHI_LOW + offset
                n += 1
        for offset in range(3 if state.red[seat, kind // 9] else 0):
            if _can_chi(state, seat, kind, offset, 1):
                codes[n] = CHI_LOW_RED + offset
                n += 1
    if held == 3 and state.kans < MAX_KANS and state.wall_left > 0:
        codes[n] = CALL_KAN
        n += 1
    return n - first


@compiled
def _pons(state: State, seat: int, codes: NDArray[np.uint8], n: int, kind: int) -> int:
    plain = held_tiles(state, seat, kind)
    if plain >= 2:
        codes[n] = PON_PLAIN
        n += 1
    if plain < state.hand[seat, kind]:
        codes[n] = PON_RED
        n += 1
    return n


@compiled
def _can_chi(state: State, seat: int, kind: int, offset: int, with_red: int) -> bool:
    """Whether the run with the claimed kind at ``offset`` can be made and leaves a discard."""
    low = kind - offset
    if low < 0 or low // 9 != kind // 9 or low % 9 > 6:
        return False
    five = 9 * (kind // 9) + 4
    uses_red = False
    for other in range(low, low + 3):
        if other == kind:
            continue
        if state.hand[seat, other] == 0:
            return False
        if with_red and other == five:
            uses_red = True
        elif held_tiles(state, seat, other) == 0:
            return False
    if with_red and not uses_red:
        return False
    return _leaves_discard(state, seat, kind, low)


@compiled
def _leaves_discard(state: State, seat: int, called: int, low: int) -> bool:
    """Kuikae may leave nothing to discard; then the call is not allowed."""
    banned = kuikae_kinds(CHI, called, low)
    for kind in range(N_KINDS):
        used = low <= kind <= low + 2 and kind != called
        if state.hand[seat, kind] - used > 0 and not (banned >> kind) & 1:
            return True
    return False
