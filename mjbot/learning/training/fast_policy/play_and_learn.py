"""One game of self-play of the fast policy, and the gradients of its decisions: compiled.

Theory.  Reward of a kyoku for a seat is the expected final rank before it less that after it, by
the rank model.  A critic that sees all hands estimates at each open decision what reward is still
to come; generalised advantage estimation with :data:`LAMBDA` (Schulman et al. 2016) turns rewards
and estimates into the advantage A of each decision.  With chances p of the candidates, drawn at the
temperature T, and those p0 of the policy that training started from, the loss of a decision a is

    -A log p(a) / spread + kl sum_i p_i log(p_i / p0_i)

whose derivative by the score of candidate i is
``(A / spread (p_i - [i = a]) + kl p_i (log(p_i / p0_i) - KL)) / T``.  Decisions of which the policy
is sure (:data:`SURE`) are drawn, too, but neither valued nor learned from.  The seats of the start
draw as well: drawing costs ranks, which would otherwise count against the policy.

For two allies the reward of a kyoku is what both gain in points (:data:`PAIR_POINTS`) and in the
chance that either ends first (:data:`PAIR_FIRST`).
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee.flow import advance, deal
from mjbot.game.referee.step import StepBuffer
from mjbot.game.referee.wall import shuffle_wall
from mjbot.game.rules.ruleset import RuleSet
from mjbot.game.rules.shanten import shanten
from mjbot.game.table.actions import PASS
from mjbot.game.table.apply import apply_end_game, apply_start_game
from mjbot.game.table.observe import dora_values, visible_kinds
from mjbot.game.table.seats import seat_after, steps_between
from mjbot.game.table.settle import game_ends, next_kyoku, seats_ahead
from mjbot.game.table.state import State
from mjbot.learning.models.fast_policy.ally import NO_ALLY, known_ally
from mjbot.learning.models.fast_policy.candidates import DISCARD
from mjbot.learning.models.fast_policy.choice import (
    NO_QUESTION,
    FastPolicy,
    ask,
    code_of,
    question_order,
    settled_code,
)
from mjbot.learning.models.fast_policy.network import Layers, PolicyWeights, answer
from mjbot.learning.models.fast_policy.reading import MOST_CANDIDATES, Reading, read_table
from mjbot.learning.models.networks.rank import RankWeights, rank_chances_of
from mjbot.learning.training.fast_policy.gradients import Errors, add_gradients, new_errors
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float32s, Float64s, Int64s, UInt64s
from mjbot.runtime.compiler.splitmix import next_below

SURE: Final = 0.98
SPREAD: Final = 0.2
"""By which advantages are divided: about their standard deviation, in ranks."""
PAIR_POINTS: Final = 1 / 16000
"""Reward of a point that the pair gains."""
PAIR_FIRST: Final = 1.0
"""Reward of the certainty that one of the pair ends first: 16,000 points."""
PAIR_SPREAD: Final = 0.35
"""By which advantages of a pair are divided; set by hand (its returns deviate by 0.43)."""
MOST_TRACES: Final = 1024
"""Open questions of one kyoku that are learned from; more are left out."""
_UNIT: Final = 1 << 24
_LEAST: Final = np.float32(1e-9)

OF_SEAT: Final = 9
N_SEEN: Final = 4 * OF_SEAT + 17
UNITS: Final = 32
N_CRITIC: Final = (N_SEEN + 1) * UNITS + UNITS + 1


class Traces(NamedTuple):
    """The open questions of a kyoku: each array [MOST_TRACES, ...]."""

    readings: NDArray[np.void]
    layers: NDArray[np.void]
    chances: NDArray[np.float32]  # [n, candidates + 1] at the temperature
    before: NDArray[np.float32]  # the same of the policy at the start
    numbers: NDArray[np.int64]  # [n, 4] question, candidates, picked, seat
    seen: NDArray[np.float32]  # [n, N_SEEN] what the critic saw
    values: Float64s  # what it estimated
    counts: Int64s  # [1] traces so far


def new_traces() -> Traces:
    """Return room for one kyoku."""
    n, width = MOST_TRACES, MOST_CANDIDATES + 1
    return Traces(
        np.zeros(n, Reading.dtype),
        np.zeros(n, Layers.dtype),
        np.zeros((n, width), np.float32),
        np.zeros((n, width), np.float32),
        np.zeros((n, 4), np.int64),
        np.zeros((n, N_SEEN), np.float32),
        np.zeros(n),
        np.zeros(1, np.int64),
    )


class Learner(NamedTuple):
    """The playing policy, the critic, and the sums of gradients.

    ``settings`` are the temperature, the weight of the divergence, lambda and the entropy bonus;
    ``sums`` float64[8] add up traces, divergence, entropy, squared advantages, squared returns,
    against the start the ranks (of a pair the better one) and the points, and the entropy that the
    start has in the same decisions.
    """

    policy: FastPolicy
    start: FastPolicy
    rank: RankWeights
    critic: Float32s
    critic_gradients: Float32s
    gradients: PolicyWeights
    errors: Errors
    traces: Traces
    random: UInt64s
    settings: Float64s
    sums: Float64s


def new_learner(policy: FastPolicy, start: FastPolicy, rank: RankWeights, **arrays: Any) -> Learner:
    """Return a learner; ``arrays`` are those that the training keeps."""
    errors = new_errors(MOST_CANDIDATES)
    return Learner(
        policy, start, rank, errors=errors, traces=new_traces(), sums=np.zeros(8), **arrays
    )


@compiled
def learn_games(
    learner: Learner,
    state: State,
    buffer: StepBuffer,
    seeds: Int64s,
    masks: Int64s,
    rules: RuleSet,
) -> None:
    """Play one game for each seed and add the gradients; ``masks`` are the seats that learn.

    Two of them are a pair: each sees the other's hand, and what they gain together is rewarded.
    """
    for game in range(len(seeds)):
        apply_start_game(state, rules)
        round_, honba = 0, 0
        while True:
            shuffle_wall(seeds[game], round_, honba, state.wall, rules.players)
            deal(state, buffer, round_, honba)
            _learn_kyoku(learner, state, buffer, masks[game])
            if game_ends(state):
                break
            round_, honba = next_kyoku(state)
        apply_end_game(state)
        if masks[game] == all_seats(rules.players):
            continue
        best = 4
        for seat in range(4):
            if masks[game] >> seat & 1:
                best = min(best, 1 + seats_ahead(state.scores[: rules.players], seat))
                learner.sums[6] += state.scores[seat]
        learner.sums[5] += best


@compiled
def all_seats(players: int) -> int:
    """Return the mask of the seats of so many players."""
    return (1 << players) - 1


@compiled
def is_pair(own: int) -> bool:
    """Return whether a mask has two seats."""
    return (own & 1) + (own >> 1 & 1) + (own >> 2 & 1) + (own >> 3) == 2


@compiled
def ally_of(own: int, seat: int) -> int:
    """Return the other seat of a pair, or NO_ALLY."""
    if is_pair(own) and own >> seat & 1:
        for other in range(4):
            if other != seat and own >> other & 1:
                return other
    return NO_ALLY


@compiled
def _write_values(state: State, chances: Float64s, own: int, out: Float64s) -> None:
    """Write the value of the table to each seat: of a pair to both alike, else the rank, negative.

    ``chances`` float64[4, 4] are those of each seat to end at each rank.
    """
    for seat in range(4):
        out[seat] = 0
        ally = ally_of(own, seat)
        if ally != NO_ALLY:
            out[seat] = (state.scores[seat] + state.scores[ally]) * PAIR_POINTS
            out[seat] += (chances[seat, 0] + chances[ally, 0]) * PAIR_FIRST
            continue
        for rank in range(4):
            out[seat] -= (1 + rank) * chances[seat, rank]


@compiled
def _learn_kyoku(learner: Learner, state: State, buffer: StepBuffer, own: int) -> None:
    rewards = np.empty(4)
    keep_kyoku(learner, state, buffer, own, rewards)
    _learn_traces(learner, rewards, PAIR_SPREAD if is_pair(own) else SPREAD)


@compiled
def keep_kyoku(
    learner: Learner, state: State, buffer: StepBuffer, own: int, rewards: Float64s
) -> None:
    """Play a kyoku that was dealt, keep its open questions, write the rewards float64[4]."""
    chances, after = np.empty((4, 4)), np.zeros(4)
    learner.traces.counts[0] = 0
    rank_chances_of(learner.rank, state, chances)
    _write_values(state, chances, own, rewards)
    advance(state, buffer)
    while buffer.asked:
        for seat in range(4):
            if buffer.asked >> seat & 1:
                buffer.choices[seat] = _choice(learner, state, seat, buffer, own)
        advance(state, buffer)
    rank_chances_of(learner.rank, state, chances)
    _write_values(state, chances, own, after)
    for seat in range(4):
        rewards[seat] = after[seat] - rewards[seat]


@compiled
def _choice(learner: Learner, state: State, seat: int, buffer: StepBuffer, own: int) -> int:
    is_own = own >> seat & 1 == 1
    player = learner.policy if is_own else learner.start
    codes, n_codes = player.codes, buffer.n_codes[seat]
    for place in range(n_codes):
        codes[place] = buffer.codes[seat, place]
    settled = settled_code(codes, n_codes)
    if settled != NO_QUESTION:
        return settled
    ally = known_ally(state, ally_of(own, seat))
    context, is_valued = read_table(state, seat, player.danger, player.reading, ally), False
    for question in question_order(codes):
        n = ask(player, question, state, seat, n_codes, context)
        if n == 0:
            continue
        picked, best = _draw(learner, player, question, n)
        if is_own and best < SURE and learner.traces.counts[0] < MOST_TRACES:
            _keep(learner, state, seat, own, (question, n, picked), is_valued)
            is_valued = True
        if picked < n:
            return code_of(question, player.reading.choices[picked], codes, n_codes)
    return PASS


@compiled
def _write_chances(scores: Float32s, n: int, temperature: float, out: Float32s) -> None:
    best, total = scores[0], np.float32(0)
    for place in range(1, n):
        best = max(best, scores[place])
    for place in range(n):
        out[place] = np.exp((scores[place] - best) / np.float32(temperature))
        total += out[place]
    for place in range(n):
        out[place] /= total


@compiled
def _draw(learner: Learner, player: FastPolicy, question: int, n: int) -> tuple[int, float]:
    """Draw a player's candidate, or ``n`` for "no"; return it and the chance of the likeliest."""
    traces = learner.traces
    out = traces.chances[min(traces.counts[0], MOST_TRACES - 1)]
    size = n if question == DISCARD else n + 1
    _write_chances(player.layers.scores, size, learner.settings[0], out)
    left, picked, best = next_below(learner.random, _UNIT) / _UNIT, -1, 0.0
    for place in range(size):
        best = max(best, out[place])
        left -= out[place]
        if left < 0 and picked < 0:
            picked = place
    return (picked if picked >= 0 else size - 1), best


@compiled
def _keep(
    learner: Learner,
    state: State,
    seat: int,
    own: int,
    asked: tuple[int, int, int],
    is_valued: bool,
) -> None:
    """Keep an open question, with the chances that the start gives and the critic's estimate."""
    question, n, picked = asked
    policy, start, traces = learner.policy, learner.start, learner.traces
    at = traces.counts[0]
    traces.readings[at] = policy.reading
    traces.layers[at] = policy.layers
    answer(start.weights, question, n, policy.reading, start.layers)
    size = n if question == DISCARD else n + 1
    _write_chances(start.layers.scores, size, learner.settings[0], traces.before[at])
    numbers = traces.numbers[at]
    numbers[0], numbers[1], numbers[2], numbers[3] = question, n, picked, seat
    if is_valued:
        traces.seen[at] = traces.seen[at - 1]
        traces.values[at] = traces.values[at - 1]
    else:
        write_seen(state, seat, ally_of(own, seat), traces.seen[at])
        traces.values[at] = estimate(learner.critic, traces.seen[at])
    traces.counts[0] += 1


@compiled
def _learn_traces(learner: Learner, rewards: Float64s, spread: float) -> None:
    """Add the gradients of the kept questions, from the last to the first."""
    traces, gains = learner.traces, np.empty(MOST_TRACES)
    write_gains(traces, rewards, learner.settings[2], gains)
    for at in range(traces.counts[0] - 1, -1, -1):
        gain = gains[at]
        add_critic_gradients(learner, traces.seen[at], gain)
        add_policy_gradients(learner, at, gain / spread)
        learner.sums[3] += gain * gain
        learner.sums[4] += (gain + traces.values[at]) ** 2


@compiled
def write_gains(traces: Traces, rewards: Float64s, keeps: float, out: Float64s) -> None:
    """Write the advantage of each kept question; ``keeps`` is lambda."""
    following, gains = np.zeros(4), np.zeros(4)
    has_next = np.zeros(4, np.int64)
    for at in range(traces.counts[0] - 1, -1, -1):
        seat, value = traces.numbers[at, 3], traces.values[at]
        if has_next[seat]:
            gain = following[seat] - value + keeps * gains[seat]
        else:
            gain = rewards[seat] - value
        has_next[seat], following[seat], gains[seat] = 1, value, gain
        out[at] = gain


@compiled
def add_policy_gradients(learner: Learner, at: int, advantage: float) -> None:
    """Add those of a kept question, whose advantage is in units of its usual spread."""
    traces, errors = learner.traces, learner.errors
    question, n, picked = traces.numbers[at, 0], traces.numbers[at, 1], traces.numbers[at, 2]
    chances, before = traces.chances[at], traces.before[at]
    size, divergence, entropy = (n if question == DISCARD else n + 1), 0.0, 0.0
    for place in range(size):
        chance, at_start = max(chances[place], _LEAST), max(before[place], _LEAST)
        divergence += chance * np.log(chance / at_start)
        entropy -= chance * np.log(chance)
        learner.sums[7] -= at_start * np.log(at_start)
    weight = min(max(advantage, -4.0), 4.0)
    temperature, kl, _, bonus = learner.settings
    for place in range(size):
        chance = max(chances[place], _LEAST)
        error = weight * (chance - (place == picked))
        apart = np.log(chance / max(before[place], _LEAST)) - divergence
        error += kl * chance * apart + bonus * chance * (np.log(chance) + entropy)
        errors.scores[place] = error / temperature
    reading, layers = traces.readings[at], traces.layers[at]
    weights = learner.policy.weights
    add_gradients(weights, reading, layers, question, n, errors, learner.gradients)
    learner.sums[0] += 1
    learner.sums[1] += divergence
    learner.sums[2] += entropy


# --- the critic --------------------------------------------------------------------------------


def initial_critic(seed: int) -> Float32s:
    """Return random weights of a critic, float32[N_CRITIC]."""
    random, critic = np.random.default_rng([seed, 1]), np.zeros(N_CRITIC, np.float32)
    critic[: N_SEEN * UNITS] = random.normal(0, 0.2, N_SEEN * UNITS)
    critic[(N_SEEN + 1) * UNITS : -1] = random.normal(0, 0.1, UNITS)
    return critic


@compiled
def write_seen(state: State, seat: int, ally: int, out: Float32s) -> None:
    """Write what the critic sees for a seat, all hands included: float32[N_SEEN]."""
    out[:] = 0
    dora, left = np.empty(34, np.int8), np.empty(34, np.int8)
    dora_values(state, dora)
    visible_kinds(state, left)
    for kind in range(34):
        left[kind] = 4 - left[kind]
        for other in range(4):
            left[kind] -= state.hand[other, kind]
    for step in range(state.rules.players):
        other = seat_after(state, seat, step)
        part = out[step * OF_SEAT :]
        away = shanten(state.hand[other], state.n_melds[other])
        part[min(max(away, 0), 3)] = 1
        part[4] = state.riichi[other] > 0
        part[5] = state.is_open[other]
        held = state.red[other, 0] + state.red[other, 1] + state.red[other, 2]
        waiting = 0
        for kind in range(34):
            held += state.hand[other, kind] * dora[kind]
            if state.waits[other] >> kind & 1:
                waiting += left[kind]
        part[6] = min(held, 6) / 3
        part[7] = min(waiting, 8) / 4
        part[8] = state.n_melds[other] / 4
    at = 4 * OF_SEAT
    out[at] = state.wall_left / 70
    out[at + 1] = max(1, state.rules.last_round - state.round + 1) / 8
    out[at + 2] = state.rules.last_round <= state.round
    out[at + 3] = min(state.sticks, 4) / 2
    out[at + 4] = state.turn == seat
    out[at + 5 + steps_between(state, seat, int(state.dealer))] = 1
    out[at + 9 + seats_ahead(state.scores[: state.rules.players], seat)] = 1
    if ally != NO_ALLY:
        out[at + 12 + ((ally - seat) & 3)] = 1
        out[at + 16] = seats_ahead(state.scores, ally) / 3


@compiled
def estimate(critic: Float32s, seen: Float32s) -> float:
    """Return the reward that is still to come, in ranks: one layer of relu."""
    last = (N_SEEN + 1) * UNITS
    total = float(critic[last + UNITS])
    for unit in range(UNITS):
        value = critic[N_SEEN * UNITS + unit]
        for number in range(N_SEEN):
            value += seen[number] * critic[number * UNITS + unit]
        total += max(value, np.float32(0)) * critic[last + unit]
    return total


@compiled
def add_critic_gradients(learner: Learner, seen: Float32s, gain: float) -> None:
    """Add those of half the squared difference to the return, which is ``gain`` above."""
    critic, out, last = learner.critic, learner.critic_gradients, (N_SEEN + 1) * UNITS
    error = np.float32(-gain)
    out[last + UNITS] += error
    for unit in range(UNITS):
        value = critic[N_SEEN * UNITS + unit]
        for number in range(N_SEEN):
            value += seen[number] * critic[number * UNITS + unit]
        if value <= 0:
            continue
        out[last + unit] += error * value
        back = error * critic[last + unit]
        out[N_SEEN * UNITS + unit] += back
        for number in range(N_SEEN):
            out[number * UNITS + unit] += back * seen[number]
