"""What each event does to the state: one compiled function per event, the only mutators.

They trust their caller: :mod:`mjbot.table.check` looks at events from outside first, the
referee makes only legal ones.  The few guards keep a lenient mirror inside its arrays.  A seat
whose hand is unknown keeps its size only.
"""

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.rules.waits import waits
from mjbot.table.state import (
    ACCEPTED,
    ANKAN,
    CALLED,
    CALLED_AWAY,
    CHANKAN,
    CHI,
    DAIMINKAN,
    DECLARED,
    DRAW,
    DRAWN,
    IDLE,
    KAKAN,
    MISSED_FOR_GOOD,
    MISSED_NONE,
    MISSED_UNTIL_DISCARD,
    N_LIVE,
    PON,
    REACTION,
    RIICHI,
    RIICHI_DISCARD,
    RINSHAN,
    RIVER_SIZE,
    TSUMOGIRI,
    TURN,
    WON,
    State,
)

N_KINDS = 34
UNKNOWN = 37
FIRST_WIND = 27
FIRST_DRAGON = 31
STICK_POINTS = 1000
MAX_HAND = 14
MAX_MELDS = 4
MAX_MARKERS = 5


@compiled
def kind_of(tile: int) -> int:
    """Return the kind (0..33) of a tile (0..36)."""
    if tile < N_KINDS:
        return tile
    return 4 + 9 * (tile - N_KINDS)


@compiled
def _add(state: State, seat: int, tile: int) -> None:
    if state.hand_size[seat] == MAX_HAND:
        return  # only a contradicting server, met leniently, comes here
    state.hand_size[seat] += 1
    if state.hand_known[seat] and tile != UNKNOWN:
        state.hand[seat, kind_of(tile)] += 1
        if tile >= N_KINDS:
            state.red[seat, tile - N_KINDS] = 1


@compiled
def _remove(state: State, seat: int, tile: int) -> None:
    state.hand_size[seat] -= 1
    if state.hand_known[seat] and state.hand[seat, kind_of(tile)] > 0:
        state.hand[seat, kind_of(tile)] -= 1
        if tile >= N_KINDS:
            state.red[seat, tile - N_KINDS] = 0


@compiled
def _refresh_waits(state: State, seat: int) -> None:
    if state.hand_known[seat]:
        state.waits[seat] = waits(state.hand[seat], state.n_melds[seat])


@compiled
def apply_start_game(state: State, last_round: int, start_points: int) -> None:
    """Reset everything; ``last_round`` is 3 for tonpu, 7 for hanchan."""
    state.scores[:] = start_points
    state.round = 0
    state.dealer = 0
    state.honba = 0
    state.sticks = 0
    state.last_round = last_round
    state.has_wall = 0
    state.phase = IDLE


@compiled
def apply_start_kyoku(
    state: State, round_: int, honba: int, sticks: int, dora_marker: int, hands: NDArray[np.int8]
) -> None:
    """Deal.  ``hands`` is int8[4, 13] of tiles; a row with an unknown tile is an unknown hand."""
    state.round = round_
    state.dealer = round_ & 3
    state.honba = honba
    state.sticks = sticks
    _clear_kyoku(state)
    state.dora_markers[0] = dora_marker
    state.n_dora = 1
    for seat in range(4):
        state.hand_known[seat] = 1
        for place in range(13):
            if hands[seat, place] == UNKNOWN:
                state.hand_known[seat] = 0
        for place in range(13):
            _add(state, seat, hands[seat, place])
        _refresh_waits(state, seat)


@compiled
def apply_reveal(state: State, seat: int, tiles: NDArray[np.int8]) -> None:
    """A hidden hand is shown: ``tiles`` are its concealed tiles, a drawn one included."""
    state.hand_known[seat] = 1
    state.hand[seat] = 0
    state.red[seat] = 0
    state.hand_size[seat] = 0
    drew = state.turn == seat and state.drawn >= 0
    for tile in tiles:
        _add(state, seat, tile)
    hand = state.hand[seat].copy()
    if drew:
        hand[kind_of(state.drawn)] -= 1
    state.waits[seat] = waits(hand, state.n_melds[seat])


@compiled
def _clear_kyoku(state: State) -> None:
    state.waits[:] = 0
    state.discarded[:] = 0
    state.passed[:] = 0
    state.kuikae = 0
    state.phase = DRAW
    state.turn = state.dealer
    state.drawn = -1
    state.last_tile = -1
    state.after_kan = 0
    state.calls_made = 0
    state.chankan = 0
    state.wins = 0
    state.dealer_stays = -1
    state.aborted = 0
    state.wall_left = N_LIVE
    state.rinshan_taken = 0
    state.kans = 0
    state.pending_dora = 0
    state.dora_markers[:] = -1
    state.ura_markers[:] = -1
    state.n_ura = 0
    state.hand_size[:] = 0
    state.hand[:] = 0
    state.red[:] = 0
    state.n_melds[:] = 0
    state.is_open[:] = 0
    state.n_river[:] = 0
    state.n_discards = 0
    state.riichi[:] = 0
    state.double_riichi[:] = 0
    state.ippatsu[:] = 0
    state.missed[:] = 0
    state.pao_dragons[:] = -1
    state.pao_winds[:] = -1
    state.draws[:] = 0


@compiled
def pass_claims(state: State) -> None:
    """Nobody won on the tile on offer: those who could have are furiten, all see it passed."""
    if state.phase != REACTION and state.phase != CHANKAN:
        return
    bit = 1 << kind_of(state.last_tile)
    for seat in range(4):
        if seat == state.turn:
            continue
        if state.waits[seat] & bit:
            if state.riichi[seat] == ACCEPTED:
                state.missed[seat] = MISSED_FOR_GOOD
            elif state.missed[seat] == MISSED_NONE:
                state.missed[seat] = MISSED_UNTIL_DISCARD
        if state.riichi[seat] == ACCEPTED:
            state.passed[seat] |= bit


@compiled
def apply_draw(state: State, actor: int, tile: int) -> None:
    """``actor`` draws ``tile`` (37 if unknown), from the dead wall if a kan came before."""
    pass_claims(state)
    if state.phase == CHANKAN or state.phase == RINSHAN:
        state.after_kan = 1
        state.rinshan_taken += 1
        state.ippatsu[:] = 0  # a kakan ends ippatsu only once nobody has robbed it
        if state.phase == CHANKAN:
            state.pending_dora += 1
    else:
        state.after_kan = 0
        state.draws[actor] += 1
    state.wall_left -= 1
    state.turn = actor
    state.drawn = tile
    state.kuikae = 0
    state.chankan = 0
    _add(state, actor, tile)
    state.phase = TURN


@compiled
def apply_discard(state: State, actor: int, tile: int, tsumogiri: int) -> None:
    """``actor`` discards ``tile``; the others may claim it."""
    _remove(state, actor, tile)
    place = min(state.n_river[actor], RIVER_SIZE - 1)
    flags = TSUMOGIRI if tsumogiri else 0
    if state.riichi[actor] == DECLARED:
        flags |= RIICHI_DISCARD
    state.river[actor, place] = tile
    state.river_flags[actor, place] = flags
    state.river_turn[actor, place] = state.n_discards
    state.n_river[actor] = place + 1
    state.n_discards += 1
    state.discarded[actor] |= 1 << kind_of(tile)
    if state.missed[actor] == MISSED_UNTIL_DISCARD:
        state.missed[actor] = MISSED_NONE
    if state.riichi[actor] == ACCEPTED:
        state.ippatsu[actor] = 0
    else:
        _refresh_waits(state, actor)
    state.turn = actor
    state.drawn = -1
    state.kuikae = 0
    state.after_kan = 0
    state.last_tile = tile
    state.phase = REACTION


@compiled
def apply_riichi(state: State, actor: int) -> None:
    """``actor`` declares riichi; the discard follows."""
    state.riichi[actor] = DECLARED
    state.phase = RIICHI


@compiled
def apply_riichi_accepted(state: State, actor: int) -> None:
    """The declaring discard was not won: the stick is paid and the bet stands."""
    state.riichi[actor] = ACCEPTED
    state.ippatsu[actor] = 1
    state.double_riichi[actor] = state.n_river[actor] == 1 and not state.calls_made
    state.scores[actor] -= STICK_POINTS
    state.sticks += 1


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
    place = min(state.n_melds[actor], MAX_MELDS - 1)
    state.meld_type[actor, place] = type_
    state.meld_kind[actor, place] = kind
    state.meld_called[actor, place] = called
    state.meld_from[actor, place] = source
    state.meld_red[actor, place] = 0
    _mark_red(state, actor, place, called)
    state.n_melds[actor] = place + 1
    if type_ != ANKAN:
        state.is_open[actor] = 1


@compiled
def _mark_red(state: State, actor: int, place: int, tile: int) -> None:
    if tile >= N_KINDS:
        state.meld_red[actor, place] |= 1 << (tile - N_KINDS)


@compiled
def _consume(state: State, actor: int, tile: int) -> None:
    _remove(state, actor, tile)
    _mark_red(state, actor, state.n_melds[actor] - 1, tile)


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
    state.pending_dora += 1
    _refresh_waits(state, actor)
    state.turn = actor
    state.phase = RINSHAN


@compiled
def apply_kakan(state: State, actor: int, tile: int) -> None:
    """``actor`` adds ``tile`` to its pon; the others may rob it.

    Its dora marker is owed only once the rinshan tile is drawn.
    """
    kind = kind_of(tile)
    _remove(state, actor, tile)
    for place in range(state.n_melds[actor]):
        if state.meld_type[actor, place] == PON and state.meld_kind[actor, place] == kind:
            state.meld_type[actor, place] = KAKAN
            _mark_red(state, actor, place, tile)
    state.kans += 1
    state.calls_made = 1
    _refresh_waits(state, actor)
    state.drawn = -1
    state.last_tile = tile
    state.chankan = 1
    state.phase = CHANKAN


@compiled
def apply_ankan(state: State, actor: int, kind: int, has_red: int) -> None:
    """``actor`` declares a concealed quad and will draw from the dead wall."""
    _add_meld(state, actor, ANKAN, kind, -1, actor)
    if has_red:
        _consume(state, actor, N_KINDS + kind // 9)
    for _ in range(3 if has_red else 4):
        _consume(state, actor, kind)
    state.kans += 1
    state.calls_made = 1
    state.ippatsu[:] = 0
    state.pending_dora += 1
    _refresh_waits(state, actor)
    state.drawn = -1
    state.phase = RINSHAN


@compiled
def _note_liability(state: State, actor: int, kind: int, source: int) -> None:
    """Pao: whoever gives the third dragon or the fourth wind is liable."""
    if kind < FIRST_WIND:
        return
    winds = 0
    dragons = 0
    for place in range(state.n_melds[actor]):
        if state.meld_kind[actor, place] >= FIRST_DRAGON:
            dragons += 1
        elif state.meld_kind[actor, place] >= FIRST_WIND:
            winds += 1
    if kind >= FIRST_DRAGON and dragons == 3:
        state.pao_dragons[actor] = source
    elif kind < FIRST_DRAGON and winds == 4:
        state.pao_winds[actor] = source


@compiled
def apply_dora(state: State, marker: int) -> None:
    """One more marker is turned, whenever the server says so."""
    if state.n_dora < MAX_MARKERS:
        state.dora_markers[state.n_dora] = marker
        state.n_dora += 1
    if state.pending_dora > 0:
        state.pending_dora -= 1


@compiled
def apply_hora(state: State, actor: int, deltas: NDArray[np.int32]) -> None:
    """``actor`` wins and ``deltas`` int32[4] (honba and sticks included) are paid."""
    for seat in range(4):
        state.scores[seat] += deltas[seat]
    state.sticks = 0
    state.wins |= 1 << actor
    state.dealer_stays = (state.wins >> state.dealer) & 1
    state.phase = WON


@compiled
def apply_ryukyoku(
    state: State, deltas: NDArray[np.int32], aborted: int, dealer_stays: int
) -> None:
    """The kyoku is drawn and ``deltas`` int32[4] are paid; sticks stay on the table.

    ``dealer_stays`` is -1 where the dealer's tenpai is not known.
    """
    for seat in range(4):
        state.scores[seat] += deltas[seat]
    state.aborted = aborted
    state.dealer_stays = dealer_stays
    state.phase = DRAWN


@compiled
def apply_end_kyoku(state: State) -> None:
    """Nothing more happens in this kyoku."""
    state.phase = IDLE
