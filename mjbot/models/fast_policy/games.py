"""Whole games and kyoku in one compiled loop, in which the fast policy plays all seats.

For playouts: :func:`play_kyoku` continues a table with known hands and wall to the end of the
kyoku.  The flow is that of :class:`mjbot.referee.Referee`, walls included.
"""

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled, keep_alive
from mjbot.models.fast_policy.choice import FastPolicy, choose_among
from mjbot.referee.flow import advance, deal
from mjbot.referee.step import STEP_BUFFER, StepBuffer
from mjbot.referee.wall import shuffle_wall
from mjbot.rules.ruleset import RuleSet
from mjbot.table.apply import apply_end_game, apply_start_game
from mjbot.table.settle import game_ends, next_kyoku
from mjbot.table.state import STATE, State


@compiled
def play_games(
    policy: FastPolicy, rival: FastPolicy, own: int, seeds: NDArray[np.int64], rules: RuleSet
) -> NDArray[np.int32]:
    """Play one game for each seed int64[n]; return the final points int32[n, 4].

    ``policy`` plays the seats of the mask ``own``, ``rival`` the others.  The walls are those of a
    referee with the same seed.
    """
    scores = np.empty((len(seeds), 4), np.int32)
    states, buffers = np.zeros(1, STATE), np.zeros(1, STEP_BUFFER)
    state = states[0]
    for game in range(len(seeds)):
        apply_start_game(state, rules)
        round_, honba = 0, 0
        while True:
            shuffle_wall(seeds[game], round_, honba, state.wall)
            deal(state, buffers[0], round_, honba)
            play_kyoku(policy, rival, own, state, buffers[0])
            if game_ends(state):
                break
            round_, honba = next_kyoku(state)
        apply_end_game(state)
        for seat in range(4):
            scores[game, seat] = state.scores[seat]
    keep_alive(states)
    keep_alive(buffers)
    return scores


@compiled
def play_kyoku(
    policy: FastPolicy, rival: FastPolicy, own: int, state: State, buffer: StepBuffer
) -> None:
    """Play to the end of the kyoku (phase WON or DRAWN) from the choices in ``buffer``.

    ``buffer`` has none right after a deal or without a decision; ``own`` is the mask of the seats
    of ``policy``, ``rival`` plays the others.
    """
    advance(state, buffer)
    while buffer.asked:
        for seat in range(4):
            if buffer.asked >> seat & 1:
                player = policy if own >> seat & 1 else rival
                codes, n_codes = player.codes, buffer.n_codes[seat]
                for place in range(n_codes):
                    codes[place] = buffer.codes[seat, place]
                buffer.choices[seat] = choose_among(player, state, seat, n_codes)
        advance(state, buffer)
