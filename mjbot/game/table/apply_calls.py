"""What calls and kans do to the state, as in :mod:`mjbot.game.table.apply`."""

from typing import Final

from mjbot.game.table.hands import kind_of, red_copies, refresh_waits, remove_tile
from mjbot.game.table.legal import kuikae_kinds, may_rob
from mjbot.game.table.state import (
    ACCEPTED,
    ANKAN,
    CALLED,
    CALLED_AWAY,
    CHANKAN,
    CHI,
    DAIMINKAN,
    KAKAN,
    MISSED_FOR_GOOD,
    MISSED_NONE,
    MISSED_UNTIL_DISCARD,
    OF_ANKAN,
    OF_KAKAN,
    PON,
    REACTION,
    RINSHAN,
    State,
)
from mjbot.protocol.tiles import FIRST_DRAGON, FIRST_HONOUR, N_KINDS, NORTH
from mjbot.runtime.compiler.compiled import compiled

MAX_MELDS: Final = 4
_SECOND_RED_5P: Final = 8
"""The bit in ``meld_red``."""


@compiled
def pass_claims(state: State) -> None:
    """No seat won on the tile on offer: seats that could have are furiten, all see it passed."""
    if state.phase != REACTION and state.phase != CHANKAN:
        return
    bit = 1 << kind_of(state.last_tile)
    for seat in range(4):
        if seat == state.turn:
            continue
        if state.waits[seat] & bit and may_rob(state, seat):
            if state.riichi[seat] == ACCEPTED:
                state.missed[seat] = MISSED_FOR_GOOD
            elif state.missed[seat] == MISSED_NONE:
                state.missed[seat] = MISSED_UNTIL_DISCARD
        if state.riichi[seat] == ACCEPTED:
            state.passed[seat] |= bit


@compiled
def owe_marker(state: State) -> None:
    """A kan's dora marker is to be turned, where kans turn one."""
    state.pending_dora += state.rules.kan_dora


@compiled
def _claim(state: State) -> None:
    """Take the tile on offer out of the river: ippatsu and first turns end."""
    pass_claims(state)
    target = state.turn
    state.river_flags[target, max(state.n_river[target] - 1, 0)] |= CALLED_AWAY
    state.ippatsu[:] = 0
    state.calls_made = 1


@compiled
def _add_meld(state: State, actor: int, type_: int, kind: int, called: int, source: int) -> None:
    meld = min(state.n_melds[actor], MAX_MELDS - 1)
    state.meld_type[actor, meld] = type_
    state.meld_kind[actor, meld] = kind
    state.meld_called[actor, meld] = called
    state.meld_from[actor, meld] = source
    state.meld_red[actor, meld] = 0
    _mark_red(state, actor, meld, called)
    state.n_melds[actor] = meld + 1
    if type_ != ANKAN:
        state.is_open[actor] = 1


@compiled
def _mark_red(state: State, actor: int, meld: int, tile: int) -> None:
    if tile < N_KINDS:
        return
    bit = 1 << (tile - N_KINDS)
    if state.meld_red[actor, meld] & bit and red_copies(state.rules, tile - N_KINDS) > 1:
        bit = _SECOND_RED_5P
    state.meld_red[actor, meld] |= bit


@compiled
def _consume(state: State, actor: int, tile: int) -> None:
    remove_tile(state, actor, tile)
    _mark_red(state, actor, state.n_melds[actor] - 1, tile)


@compiled
def apply_chi(state: State, actor: int, first: int, second: int) -> None:
    """``actor`` calls the tile on offer with two tiles of its hand."""
    called = state.last_tile
    source = state.turn
    _claim(state)
    low = min(kind_of(called), kind_of(first), kind_of(second))
    _add_meld(state, actor, CHI, low, called, source)
    _consume(state, actor, first)
    _consume(state, actor, second)
    state.kuikae = kuikae_kinds(CHI, kind_of(called), low)
    state.turn = actor
    state.phase = CALLED


@compiled
def apply_pon(state: State, actor: int, first: int, second: int) -> None:
    """``actor`` calls the tile on offer with two tiles of its hand."""
    called = state.last_tile
    source = state.turn
    _claim(state)
    _add_meld(state, actor, PON, kind_of(called), called, source)
    _consume(state, actor, first)
    _consume(state, actor, second)
    _note_liability(state, actor, kind_of(called), source)
    state.kuikae = kuikae_kinds(PON, kind_of(called), -1)
    state.turn = actor
    state.phase = CALLED


@compiled
def apply_daiminkan(state: State, actor: int, first: int, second: int, third: int) -> None:
    """``actor`` calls the tile on offer into a quad and will draw from the dead wall."""
    called = state.last_tile
    source = state.turn
    _claim(state)
    _add_meld(state, actor, DAIMINKAN, kind_of(called), called, source)
    _consume(state, actor, first)
    _consume(state, actor, second)
    _consume(state, actor, third)
    _note_liability(state, actor, kind_of(called), source)
    state.kans += 1
    owe_marker(state)
    refresh_waits(state, actor)
    state.turn = actor
    state.phase = RINSHAN


@compiled
def apply_kakan(state: State, actor: int, tile: int) -> None:
    """``actor`` adds ``tile`` to its pon; the others may rob it.

    Its dora marker is owed only once the rinshan tile is drawn, unless those of open kans are
    turned at once.
    """
    kind = kind_of(tile)
    remove_tile(state, actor, tile)
    for meld in range(state.n_melds[actor]):
        if state.meld_type[actor, meld] == PON and state.meld_kind[actor, meld] == kind:
            state.meld_type[actor, meld] = KAKAN
            _mark_red(state, actor, meld, tile)
    state.kans += 1
    state.calls_made = 1
    if state.rules.open_kan_dora_at_once:
        owe_marker(state)
    refresh_waits(state, actor)
    state.drawn = -1
    state.last_tile = tile
    state.chankan = OF_KAKAN
    state.phase = CHANKAN


@compiled
def apply_kita(state: State, actor: int) -> None:
    """``actor`` sets a north aside; the others may rob it, else it draws from the dead wall."""
    remove_tile(state, actor, NORTH)
    state.kita[actor] += 1
    state.calls_made = 1
    refresh_waits(state, actor)
    state.drawn = -1
    state.last_tile = NORTH
    state.phase = CHANKAN


@compiled
def apply_ankan(state: State, actor: int, kind: int, n_reds: int) -> None:
    """``actor`` declares a concealed quad with so many red fives.

    It draws from the dead wall unless thirteen orphans rob.
    """
    _add_meld(state, actor, ANKAN, kind, -1, actor)
    for _ in range(n_reds):
        _consume(state, actor, N_KINDS + kind // 9)
    for _ in range(4 - n_reds):
        _consume(state, actor, kind)
    state.kans += 1
    state.calls_made = 1
    state.ippatsu[:] = 0
    owe_marker(state)
    refresh_waits(state, actor)
    state.drawn = -1
    state.phase = RINSHAN
    if state.rules.kokushi_ankan:
        state.last_tile = kind
        state.chankan = OF_ANKAN
        state.phase = CHANKAN


@compiled
def _note_liability(state: State, actor: int, kind: int, source: int) -> None:
    """Pao: the seat that gives the third dragon or the fourth wind is liable."""
    if kind < FIRST_HONOUR:
        return
    winds = 0
    dragons = 0
    for meld in range(state.n_melds[actor]):
        if state.meld_kind[actor, meld] >= FIRST_DRAGON:
            dragons += 1
        elif state.meld_kind[actor, meld] >= FIRST_HONOUR:
            winds += 1
    if kind >= FIRST_DRAGON and dragons == 3:
        state.pao_dragons[actor] = source
    elif kind < FIRST_DRAGON and winds == 4:
        state.pao_winds[actor] = source
