"""The choice of the fast policy: a compiled function from a table to an action code.

::

    policy = load_policy()
    code = choose(policy, view.state, view.seat, NO_ALLY)  # one of the legal codes

A win is always taken and nine terminals are always declared.  Kan is decided first, then riichi,
then the discard on the own turn; kan, pon, chi on the discard of another, each from its threshold
on.  A call gives up a red five, a discard the plain five, and of equal tiles the drawn one goes.
"""

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from mjbot.game.table.actions import (
    CHI_LOW,
    DECLARE_RIICHI,
    DISCARD_DRAWN,
    N_ACTIONS,
    NINE_TERMINALS,
    PASS,
    RON,
    TSUMO,
    is_chi_code,
    is_discard_code,
    is_pon_code,
)
from mjbot.game.table.hands import kind_of
from mjbot.game.table.legal import legal_codes
from mjbot.game.table.state import State
from mjbot.learning.models.danger import DangerWeights, danger_weights
from mjbot.learning.models.fast_policy.candidates import (
    CALL_CHI,
    CALL_PON,
    DECLARE,
    DISCARD,
    MAKE_KAN,
    N_QUESTIONS,
    write_candidates,
)
from mjbot.learning.models.fast_policy.network import (
    Layers,
    PolicyWeights,
    answer,
    load_network,
    reads_more,
)
from mjbot.learning.models.fast_policy.reading import Reading, read_table
from mjbot.learning.models.weights import OF_PLAYERS
from mjbot.learning.models.win_value import HandContext
from mjbot.protocol.tiles import N_KINDS
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float32s, Float64s, UInt8s

EVEN: Final = 0.5

# Of an opinion, after the discards of the kinds.
RIICHI_OPINION: Final = N_KINDS
PON_OPINION: Final = RIICHI_OPINION + 1
CHI_OPINION: Final = PON_OPINION + 1
KAN_OPINION: Final = CHI_OPINION + 3
N_OPINION: Final = KAN_OPINION + 1
NO_QUESTION: Final = -1


class FastPolicy(NamedTuple):
    """Weights and the scratch memory of one thread.

    ``thresholds`` float32[5] by question: the chance from which the answer is not "no".
    """

    weights: PolicyWeights
    danger: DangerWeights
    reading: Reading
    layers: Layers
    thresholds: Float32s
    codes: UInt8s


def load_policy(folder: Path | None = None, players: int = 4) -> FastPolicy:
    """Return the policy of a table with the weights in a folder, else with the shipped ones.

    ``WeightsError`` if they cannot be used.
    """
    return policy_of(load_network(folder or OF_PLAYERS[players]), players)


def policy_of(weights: PolicyWeights, players: int = 4) -> FastPolicy:
    """Return a policy of a table of so many players, with scratch memory of its own."""
    thresholds = np.full(N_QUESTIONS, EVEN, np.float32)
    codes = np.zeros(N_ACTIONS, np.uint8)
    reading = Reading.new()
    reading["is_wide"] = reads_more(weights)
    danger = danger_weights(OF_PLAYERS[players])
    return FastPolicy(weights, danger, reading, Layers.new(), thresholds, codes)


@compiled
def choose(policy: FastPolicy, state: State, seat: int, ally: int) -> int:
    """Return the code of the action that the seat takes; PASS where it has nothing to decide.

    ``ally`` is a seat whose hand ``state`` knows, or NO_ALLY.
    """
    return choose_among(policy, state, seat, legal_codes(state, seat, policy.codes), ally)


@compiled
def choose_among(policy: FastPolicy, state: State, seat: int, n_codes: int, ally: int) -> int:
    """Return the same where the first ``n_codes`` of ``policy.codes`` are the legal ones."""
    codes = policy.codes
    settled = settled_code(codes, n_codes)
    if settled != NO_QUESTION:
        return settled
    context = read_table(state, seat, policy.danger, policy.reading, ally)
    for question in question_order(codes):
        n = ask(policy, question, state, seat, n_codes, context)
        if n == 0:
            continue
        picked = likeliest(policy, question, n)
        if picked < n:
            return code_of(question, policy.reading.choices[picked], codes, n_codes)
    return PASS


@compiled
def shares(policy: FastPolicy, state: State, seat: int, ally: int, out: Float64s) -> None:
    """Write how likely each action code is, float64[N_ACTIONS]: together 1."""
    out[:] = 0
    codes = policy.codes
    n_codes = legal_codes(state, seat, codes)
    settled = settled_code(codes, n_codes)
    if settled != NO_QUESTION:
        out[settled] = 1
        return
    context, left = read_table(state, seat, policy.danger, policy.reading, ally), 1.0
    chances = policy.layers.chances
    for question in question_order(codes):
        n = ask(policy, question, state, seat, n_codes, context)
        if n == 0:
            continue
        for candidate in range(n):
            choice = policy.reading.choices[candidate]
            out[code_of(question, choice, codes, n_codes)] += left * chances[candidate]
        left *= 0.0 if question == DISCARD else chances[n]
    out[PASS] += left


@compiled
def write_opinion(policy: FastPolicy, state: State, seat: int, ally: int, out: Float32s) -> bool:
    """Write the chances of each question by itself: float32[N_OPINION].

    ``out[kind]`` are those of the discards, together 1; then come riichi, pon, three chi (the
    claimed tile lowest, middle, highest) and kan, each against "no".  What is not offered stays 0.
    Returns whether there was anything to decide.
    """
    out[:] = 0
    codes = policy.codes
    n_codes = legal_codes(state, seat, codes)
    if settled_code(codes, n_codes) != NO_QUESTION:
        return False
    context = read_table(state, seat, policy.danger, policy.reading, ally)
    chances, choices = policy.layers.chances, policy.reading.choices
    for question in question_order(codes):
        n = ask(policy, question, state, seat, n_codes, context)
        if n == 0:
            continue
        for index in range(n):
            if question == DISCARD:
                out[choices[index]] = chances[index]
            elif question == CALL_CHI:
                out[CHI_OPINION + choices[index]] = chances[index]
            else:
                out[_place_of(question)] = chances[index]
    return True


@compiled
def _place_of(question: int) -> int:
    if question == DECLARE:
        return RIICHI_OPINION
    return PON_OPINION if question == CALL_PON else KAN_OPINION


@compiled
def ask(
    policy: FastPolicy, question: int, state: State, seat: int, n_codes: int, context: HandContext
) -> int:
    """Fill candidates and chances of a question; return how many there are, 0 if it is not asked.

    ``context`` is that of :func:`~mjbot.learning.models.fast_policy.reading.read_table`.
    """
    n = int(write_candidates(question, state, seat, policy.codes, n_codes, policy.reading, context))
    if n:
        answer(policy.weights, question, n, policy.reading, policy.layers)
    return n


@compiled
def settled_code(codes: UInt8s, n_codes: int) -> int:
    """Return the code that needs no thought: the only one, or a win; else NO_QUESTION."""
    if n_codes == 0:
        return PASS
    if n_codes == 1:
        return int(codes[0])
    for index in range(n_codes):
        code = codes[index]
        if code == TSUMO or code == RON or code == NINE_TERMINALS:
            return int(code)
    return NO_QUESTION


@compiled
def question_order(codes: UInt8s) -> tuple[int, int, int]:
    """Return the questions of an own turn or of a reaction, in the order in which they arise."""
    if is_discard_code(codes[0]):
        return MAKE_KAN, DECLARE, DISCARD
    return MAKE_KAN, CALL_PON, CALL_CHI


@compiled
def likeliest(policy: FastPolicy, question: int, n: int) -> int:
    """Return the likeliest candidate, or ``n`` for "no"."""
    chances, best = policy.layers.chances, 0
    for index in range(1, n):
        if chances[index] > chances[best]:
            best = index
    if question == DISCARD:
        return best
    return best if 1 - chances[n] >= policy.thresholds[question] else n


@compiled
def code_of(question: int, choice: int, codes: UInt8s, n_codes: int) -> int:
    """Return the code of a candidate: the last legal one that it can mean."""
    if question == MAKE_KAN:
        return choice
    if question == DECLARE:
        return DECLARE_RIICHI
    best = int(codes[0])
    for index in range(n_codes):
        code = int(codes[index])
        if _means(question, choice, code, best):
            best = code
    return best


@compiled
def _means(question: int, choice: int, code: int, best: int) -> bool:
    """Return whether a code is one of a candidate, and better than the one found so far."""
    if question == CALL_PON:
        return is_pon_code(code)
    if question == CALL_CHI:
        return is_chi_code(code) and (code - CHI_LOW) % 3 == choice
    return _preference(code, choice) > _preference(best, choice)


@compiled
def _preference(code: int, kind: int) -> int:
    if not is_discard_code(code):
        return -1
    drawn = code >= DISCARD_DRAWN
    tile = code - DISCARD_DRAWN if drawn else code
    if kind_of(tile) != kind:
        return -1
    return 2 * int(tile < N_KINDS) + int(drawn)
