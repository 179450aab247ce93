"""Whole games and kyoku in one compiled loop, in which the fast policy plays all seats.

For playouts: :func:`play_plan` plays a table whose hands and wall are known on to the end of the
kyoku, from any decision, with the first choices of a seat given.  The flow is that of
:class:`mjbot.game.referee.Referee`, walls included.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee.flow import advance, deal, offer
from mjbot.game.referee.step import STEP_BUFFER, StepBuffer
from mjbot.game.referee.wall import shuffle_wall
from mjbot.game.rules.ruleset import RuleSet
from mjbot.game.table.apply import apply_end_game, apply_start_game
from mjbot.game.table.settle import game_ends, next_kyoku
from mjbot.game.table.state import STATE, State
from mjbot.learning.models.fast_policy.ally import NO_ALLY
from mjbot.learning.models.fast_policy.candidates import is_offered
from mjbot.learning.models.fast_policy.choice import FastPolicy, choose_among
from mjbot.runtime.compiler.compiled import compiled, keep_alive
from mjbot.runtime.compiler.record import Int16s

NO_CODE: Final = -1
MOST_GIVEN: Final = 2
"""Choices that a plan can hold: a call or riichi, and its discard."""


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
        shuffle_wall(seeds[game], 0, 0, state.wall, rules.players)
        deal(state, buffers[0], 0, 0)
        play_kyoku(policy, rival, own, state, buffers[0])
        finish_game(policy, rival, own, state, buffers[0], seeds[game])
        for seat in range(4):
            scores[game, seat] = state.scores[seat]
    keep_alive(states)
    keep_alive(buffers)
    return scores


@compiled
def finish_game(
    policy: FastPolicy, rival: FastPolicy, own: int, state: State, buffer: StepBuffer, seed: int
) -> None:
    """Play the kyoku that follow the one just paid, to the end of the game."""
    while not game_ends(state):
        round_, honba = next_kyoku(state)
        shuffle_wall(seed, round_, honba, state.wall, state.rules.players)
        deal(state, buffer, round_, honba)
        play_kyoku(policy, rival, own, state, buffer)
    apply_end_game(state)


@compiled
def play_kyoku(
    policy: FastPolicy, rival: FastPolicy, own: int, state: State, buffer: StepBuffer
) -> None:
    """Play on to the end of the kyoku (phase WON or DRAWN) from the choices in ``buffer``.

    Right after a deal or with nothing asked there are none; ``own`` is the mask of the seats of
    ``policy``, ``rival`` plays the others.
    """
    advance(state, buffer)
    while buffer.asked:
        for seat in range(4):
            if buffer.asked >> seat & 1:
                player = policy if own >> seat & 1 else rival
                buffer.choices[seat] = choose_offered(player, state, seat, buffer)
        advance(state, buffer)


@compiled
def play_plan(
    policy: FastPolicy, state: State, buffer: StepBuffer, seat: int, plan: Int16s
) -> None:
    """Play on to the end of the kyoku (phase WON or DRAWN) from the decision that the table is at.

    ``state`` must know all hands and the wall (``has_wall``).  ``plan`` int16[MOST_GIVEN] has the
    first choices of ``seat`` as action codes, :data:`NO_CODE` after the last.  Where one is not
    legal when its turn comes, the rest of the plan is dropped.
    """
    start_plan(state, buffer)
    given = 0
    while buffer.asked:
        for other in range(4):
            if not buffer.asked >> other & 1:
                continue
            code = NO_CODE
            if other == seat:
                code = given_choice(buffer, seat, plan, given)
                given = given + 1 if code != NO_CODE else MOST_GIVEN
            if code == NO_CODE:
                code = choose_offered(policy, state, other, buffer)
            buffer.choices[other] = code
        advance(state, buffer)


@compiled
def start_plan(state: State, buffer: StepBuffer) -> None:
    """Note which seats have a choice now; draw first where none has."""
    buffer.outcome.n_wins = 0
    offer(state, buffer)
    if not buffer.asked:
        advance(state, buffer)


@compiled
def given_choice(buffer: StepBuffer, seat: int, plan: Int16s, given: int) -> int:
    """Return choice number ``given`` of a plan; NO_CODE after its last or if it is not legal."""
    if given >= MOST_GIVEN:
        return NO_CODE
    code = int(plan[given])
    return code if is_offered(buffer.codes[seat], buffer.n_codes[seat], code) else NO_CODE


@compiled
def choose_offered(policy: FastPolicy, state: State, seat: int, buffer: StepBuffer) -> int:
    """Return what the policy chooses of what a seat is offered."""
    n_codes = int(buffer.n_codes[seat])
    for index in range(n_codes):
        policy.codes[index] = buffer.codes[seat, index]
    return choose_among(policy, state, seat, n_codes, NO_ALLY)
