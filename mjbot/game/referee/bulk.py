"""Whole games and playouts inside compiled code, for policies that are compiled themselves.

The same flow as :class:`mjbot.game.referee.Referee`, without events and offers.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee.flow import carry_out, deal
from mjbot.game.referee.step import STEP_BUFFER, StepBuffer
from mjbot.game.referee.wall import shuffle_wall
from mjbot.game.rules.ruleset import RuleSet
from mjbot.game.table.actions import N_ACTIONS, PASS
from mjbot.game.table.apply import apply_end_game, apply_start_game
from mjbot.game.table.default_action import default_code
from mjbot.game.table.legal import legal_codes
from mjbot.game.table.seats import seat_after
from mjbot.game.table.settle import game_ends, next_kyoku
from mjbot.game.table.state import CHANKAN, DRAW, REACTION, RINSHAN, STATE, WON, State
from mjbot.runtime.compiler.compiled import compiled, keep_alive
from mjbot.runtime.compiler.splitmix import mix, next_below

TSUMOGIRI: Final = 0
"""Discards what it drew, lets everything else pass."""
RANDOM: Final = 1
"""Any legal action, all equally likely."""


@compiled
def play_games(
    policies: NDArray[np.int8], seeds: NDArray[np.int64], rules: RuleSet
) -> NDArray[np.int32]:
    """Play one game for each seed int64[n]; return the final points int32[n, 4].

    ``policies`` int8[4] is the player of each seat: TSUMOGIRI or RANDOM.  The walls are
    those of a referee with the same seed.
    """
    scores = np.empty((len(seeds), 4), np.int32)
    states, buffers = np.zeros(1, STATE), np.zeros(1, STEP_BUFFER)
    random = np.empty(1, np.uint64)
    for game in range(len(seeds)):
        random[0] = mix(np.uint64(seeds[game]))
        play_game(states[0], buffers[0], policies, seeds[game], rules, random)
        for seat in range(4):
            scores[game, seat] = states[0].scores[seat]
    keep_alive(states)
    keep_alive(buffers)
    return scores


@compiled
def play_game(
    state: State,
    buffer: StepBuffer,
    policies: NDArray[np.int8],
    seed: int,
    rules: RuleSet,
    random: NDArray[np.uint64],
) -> None:
    """Play a game to its end; ``random`` uint64[1] is the policies' randomness."""
    apply_start_game(state, rules)
    round_, honba = 0, 0
    while True:
        shuffle_wall(seed, round_, honba, state.wall, rules.players)
        deal(state, buffer, round_, honba)
        play_kyoku(state, buffer, policies, random)
        if game_ends(state):
            apply_end_game(state)
            return
        round_, honba = next_kyoku(state)


@compiled
def playouts(state: State, policies: NDArray[np.int8], n: int, seed: int) -> NDArray[np.int32]:
    """Play the kyoku at hand to its end ``n`` times; return the points after it: int32[n, 4].

    ``state`` must know all hands and the wall (``has_wall``); it stays as it is.
    """
    scores = np.empty((n, 4), np.int32)
    copies, buffers = np.empty(1, STATE), np.zeros(1, STEP_BUFFER)
    random = np.empty(1, np.uint64)
    random[0] = mix(np.uint64(seed))
    for number in range(n):
        copies[0] = state
        play_kyoku(copies[0], buffers[0], policies, random)
        for seat in range(4):
            scores[number, seat] = copies[0].scores[seat]
    keep_alive(copies)
    keep_alive(buffers)
    return scores


@compiled
def play_kyoku(
    state: State, buffer: StepBuffer, policies: NDArray[np.int8], random: NDArray[np.uint64]
) -> None:
    """Play on to the end of the kyoku (phase WON or DRAWN)."""
    buffer.outcome.n_wins = 0
    codes = np.empty(N_ACTIONS, np.uint8)
    while state.phase < WON:
        buffer.n_rows = 0
        if state.phase == REACTION or state.phase == CHANKAN:
            for steps in range(state.rules.players):
                seat = seat_after(state, state.turn, steps)
                buffer.choices[seat] = choose(policies[seat], state, seat, codes, random)
        elif state.phase != DRAW and state.phase != RINSHAN:
            seat = state.turn
            buffer.choices[seat] = choose(policies[seat], state, seat, codes, random)
        carry_out(state, buffer)


@compiled
def choose(
    policy: int, state: State, seat: int, codes: NDArray[np.uint8], random: NDArray[np.uint64]
) -> int:
    """Return the action code that a policy chooses; PASS where it has nothing to decide."""
    if policy == TSUMOGIRI:
        return default_code(state, seat)
    n = legal_codes(state, seat, codes)
    return int(codes[next_below(random, n)]) if n else PASS
