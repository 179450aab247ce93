"""What each event does to the state: one compiled function per event, the only mutators.

Calls and kans are in :mod:`mjbot.game.table.apply_calls`.  They all trust their caller:
:mod:`mjbot.game.table.mirror.check` looks at events from outside first, the referee makes only
legal ones. The few guards keep a lenient mirror inside its arrays.  A seat whose hand is unknown
keeps its size only.
"""

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.ruleset import RuleSet
from mjbot.game.rules.tile_sets import waits_of
from mjbot.game.rules.wall_plan import HAND_TILES, MAX_MARKERS
from mjbot.game.table.apply_calls import owe_marker, pass_claims
from mjbot.game.table.hands import UNKNOWN, add_tile, kind_of, refresh_waits, remove_tile
from mjbot.game.table.seats import is_seated
from mjbot.game.table.settle import top_seat
from mjbot.game.table.state import (
    ACCEPTED,
    CHANKAN,
    DECLARED,
    DRAW,
    DRAWN,
    GAME_OVER,
    IDLE,
    MISSED_NONE,
    MISSED_UNTIL_DISCARD,
    OF_KAKAN,
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
from mjbot.protocol.tiles import N_KINDS
from mjbot.runtime.compiler.compiled import compiled


@compiled
def apply_start_game(state: State, rules: RuleSet) -> None:
    """Reset everything; the game is played under ``rules``."""
    state.rules = rules
    for seat in range(4):
        state.scores[seat] = rules.start_points if is_seated(state, seat) else 0
    state.round = 0
    state.dealer = 0
    state.honba = 0
    state.sticks = 0
    state.has_wall = 0
    state.phase = IDLE


@compiled
def apply_start_kyoku(
    state: State, round_: int, honba: int, sticks: int, dora_marker: int, hands: NDArray[np.int8]
) -> None:
    """Deal.  ``hands`` is int8[4, 13] of tiles; a row with an unknown tile is an unknown hand."""
    state.round = round_
    state.dealer = round_ & 3  # each wind has four numbers, however many play
    state.honba = honba
    state.sticks = sticks
    _clear_kyoku(state)
    state.dora_markers[0] = dora_marker
    state.n_dora = 1
    for seat in range(state.rules.players):
        state.hand_known[seat] = 1
        for index in range(HAND_TILES):
            if hands[seat, index] == UNKNOWN:
                state.hand_known[seat] = 0
        for index in range(HAND_TILES):
            add_tile(state, seat, hands[seat, index])
        refresh_waits(state, seat)


@compiled
def apply_deal(state: State, round_: int, honba: int) -> None:
    """Deal from ``state.wall``, which holds all tiles; its red fives stay only if played with."""
    if not state.rules.red_fives:
        for index in range(state.rules.wall.n_tiles):
            state.wall[index] = kind_of(state.wall[index])
    if state.rules.two_red_5p:
        _mark_second_red(state)
    hands = np.empty((4, HAND_TILES), np.int8)
    for seat in range(state.rules.players):
        for index in range(HAND_TILES):
            hands[seat, index] = state.wall[HAND_TILES * seat + index]
    marker = state.wall[state.rules.wall.dora]
    apply_start_kyoku(state, round_, honba, state.sticks, marker, hands)
    state.has_wall = 1


@compiled
def _mark_second_red(state: State) -> None:
    """Turn one of the three plain 5p of the wall into a red one, by where the other reds lie.

    A wall that has two already stays as it is.
    """
    red_5p, plain_5p, places, n_reds = N_KINDS + 1, 13, 0, 0
    for index in range(state.rules.wall.n_tiles):
        if state.wall[index] == red_5p:
            n_reds += 1
        elif state.wall[index] >= N_KINDS:
            places += index
    passed = places % 3 if n_reds == 1 else state.rules.wall.n_tiles
    for index in range(state.rules.wall.n_tiles):
        if state.wall[index] == plain_5p:
            if passed == 0:
                state.wall[index] = red_5p
                return
            passed -= 1


@compiled
def apply_reveal(state: State, seat: int, tiles: NDArray[np.int8]) -> None:
    """A hidden hand is shown: ``tiles`` are its concealed tiles, a drawn one included."""
    state.hand_known[seat] = 1
    state.hand[seat] = 0
    state.red[seat] = 0
    state.hand_size[seat] = 0
    drew = state.turn == seat and state.drawn >= 0
    for tile in tiles:
        add_tile(state, seat, tile)
    hand = state.hand[seat].copy()
    if drew:
        hand[kind_of(state.drawn)] -= 1
    state.waits[seat] = waits_of(hand, state.n_melds[seat], state.rules.players)


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
    state.wall_left = state.rules.wall.n_live
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
    state.kita[:] = 0
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
def apply_draw(state: State, actor: int, tile: int) -> None:
    """``actor`` draws ``tile`` (37 if unknown), from the dead wall if a kan or kita came before."""
    pass_claims(state)
    if state.phase == CHANKAN or state.phase == RINSHAN:
        state.after_kan = 1
        state.rinshan_taken += 1
        state.ippatsu[:] = 0  # a kakan or kita ends ippatsu only once it was not robbed
        if state.chankan == OF_KAKAN and not state.rules.open_kan_dora_at_once:
            owe_marker(state)  # those of other kans are owed at once
    else:
        state.after_kan = 0
        state.draws[actor] += 1
    state.wall_left -= 1
    state.turn = actor
    state.drawn = tile
    state.kuikae = 0
    state.chankan = 0
    add_tile(state, actor, tile)
    state.phase = TURN


@compiled
def apply_discard(state: State, actor: int, tile: int, tsumogiri: int) -> None:
    """``actor`` discards ``tile``; the others may claim it."""
    remove_tile(state, actor, tile)
    index = min(state.n_river[actor], RIVER_SIZE - 1)
    flags = TSUMOGIRI if tsumogiri else 0
    if state.riichi[actor] == DECLARED:
        flags |= RIICHI_DISCARD
    state.river[actor, index] = tile
    state.river_flags[actor, index] = flags
    state.river_turn[actor, index] = state.n_discards
    state.n_river[actor] = index + 1
    state.n_discards += 1
    state.discarded[actor] |= 1 << kind_of(tile)
    if state.missed[actor] == MISSED_UNTIL_DISCARD:
        state.missed[actor] = MISSED_NONE
    if state.riichi[actor] == ACCEPTED:
        state.ippatsu[actor] = 0
    else:
        refresh_waits(state, actor)
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
    state.scores[actor] -= state.rules.stick_points
    state.sticks += 1


@compiled
def apply_dora(state: State, marker: int) -> None:
    """One more marker is turned, when the server reports it."""
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
    state.dealer_stays = (state.wins >> state.dealer) & 1 & state.rules.agari_renchan
    state.phase = WON


@compiled
def apply_ryukyoku(
    state: State, deltas: NDArray[np.int32], aborted: int, dealer_stays: int
) -> None:
    """The kyoku is drawn and ``deltas`` int32[4] are paid; sticks stay on the table.

    ``dealer_stays`` is -1 where the dealer's tenpai is not known; after a draw that is not aborted
    no dealer stays where the rules have no renchan by tenpai.
    """
    for seat in range(4):
        state.scores[seat] += deltas[seat]
    state.aborted = aborted
    state.dealer_stays = dealer_stays if aborted or state.rules.tenpai_renchan else 0
    state.phase = DRAWN


@compiled
def ura_due(state: State) -> int:
    """Return how many ura markers a win in riichi turns."""
    if not state.rules.ura_dora:
        return 0
    return int(state.n_dora) if state.rules.kan_ura else 1


@compiled
def apply_ura(state: State) -> None:
    """The ura markers are turned, in a state with a known wall."""
    state.n_ura = ura_due(state)
    for index in range(state.n_ura):
        place = state.rules.wall.ura + state.rules.wall.marker_step * index
        state.ura_markers[index] = state.wall[place]


@compiled
def apply_end_kyoku(state: State) -> None:
    """Nothing more happens in this kyoku."""
    state.phase = IDLE


@compiled
def apply_end_game(state: State) -> None:
    """The game is over: the sticks left on the table go to the first."""
    top = top_seat(state.scores[: state.rules.players])
    state.scores[top] += state.rules.stick_points * state.sticks
    state.sticks = 0
    state.phase = GAME_OVER
