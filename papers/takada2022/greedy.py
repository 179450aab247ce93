"""``python -m papers train-greedy``: what greedy players hold, counted in games of our own.

Takada and Sato 2022, section 4.1.1: P(shanten | draws, discarded 3..7 of number tiles).  Four
players each discard such that the shanten is least, and among those such that the hand accepts
most of the tiles it has not seen; there are no calls.  Not in the paper: they win when they
can (by ron only with a yaku), never declare riichi, nine terminals or kans, and of equal discards
the first in the order of tiles goes.  A hand is counted after each of its discards, and once
before the first.
"""

import time
from collections.abc import Callable
from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.referee.flow import carry_out, deal
from mjbot.game.referee.step import STEP_BUFFER, StepBuffer
from mjbot.game.referee.wall import shuffle_wall
from mjbot.game.rules.acceptance import acceptance, count_tiles
from mjbot.game.rules.ruleset import RuleSet, rule_set
from mjbot.game.rules.shanten import NEVER, shanten
from mjbot.game.statistics.estimates import Estimate, rate
from mjbot.game.table.actions import DISCARD, DISCARD_DRAWN, PASS, RON, TSUMO
from mjbot.game.table.apply import apply_end_game, apply_start_game
from mjbot.game.table.hands import kind_of
from mjbot.game.table.legal import can_ron, can_tsumo, held_tiles
from mjbot.game.table.observe import unseen_kinds
from mjbot.game.table.settle import game_ends, next_kyoku
from mjbot.game.table.state import CHANKAN, DRAW, REACTION, RINSHAN, STATE, WON, State
from mjbot.learning.models.tenpai import MAX_DRAWS, MAX_MIDDLE, is_middle
from mjbot.learning.models.weights import Manifest, save_weights
from mjbot.learning.training.runs import RUNS, Learned
from mjbot.protocol.rules import Length, Rules
from mjbot.runtime.compiler.compiled import compiled, keep_alive
from mjbot.runtime.compiler.record import Int8s, Int16s, Record
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import command_of
from papers.takada2022.requests import GreedyRequest

MAX_BLOCKS: Final = 4
N_SHANTEN: Final = 7

Hands = NDArray[np.int32]
"""Counts: int32[MAX_DRAWS + 1, MAX_MIDDLE + 1, MAX_BLOCKS + 1, N_SHANTEN].

Of all hands after so many draws and so many discarded number tiles from 3 to 7 that hold at
least so many complete blocks, how many have each shanten.
"""


class Greedy(Record):
    """What the counting of greedy hands works with."""

    unseen: Annotated[Int8s, 34]
    hand: Annotated[Int8s, 34]
    middle: Annotated[Int16s, 4]
    left: Annotated[Int8s, 9]


GREEDY: Final = Greedy.dtype


@compiled
def count_games(seeds: NDArray[np.int64], rules: RuleSet, hands: Hands) -> int:
    """Play a game for each seed int64[n], add its hands to ``hands``; return the kyoku played."""
    states, buffers, works = np.zeros(1, STATE), np.zeros(1, STEP_BUFFER), np.zeros(1, GREEDY)
    state, buffer = states[0], buffers[0]
    kyoku = 0
    for seed in seeds:
        apply_start_game(state, rules)
        round_, honba = 0, 0
        while True:
            shuffle_wall(seed, round_, honba, state.wall, 4)
            deal(state, buffer, round_, honba)
            _play_kyoku(state, buffer, works[0], hands)
            kyoku += 1
            if game_ends(state):
                apply_end_game(state)
                break
            round_, honba = next_kyoku(state)
    keep_alive(states)
    keep_alive(buffers)
    keep_alive(works)
    return kyoku


@compiled
def _play_kyoku(state: State, buffer: StepBuffer, work: Greedy, hands: Hands) -> None:
    work.middle[:] = 0
    for seat in range(4):
        _count_hand(state, seat, work, hands)
    while state.phase < WON:
        buffer.n_rows = 0
        if state.phase == REACTION or state.phase == CHANKAN:
            work.middle[state.turn] += is_middle(kind_of(state.last_tile))
            _count_hand(state, state.turn, work, hands)
            for step in range(1, 4):
                seat = (state.turn + step) & 3
                buffer.choices[seat] = RON if can_ron(state, seat) else PASS
        elif state.phase != DRAW and state.phase != RINSHAN:
            buffer.choices[state.turn] = greedy_choice(state, state.turn, work)
        carry_out(state, buffer)


@compiled
def _count_hand(state: State, seat: int, work: Greedy, hands: Hands) -> None:
    draws = min(int(state.n_river[seat]), MAX_DRAWS)
    middle = min(int(work.middle[seat]), MAX_MIDDLE)
    here = min(shanten(state.hand[seat], 0), N_SHANTEN - 1)
    for n_blocks in range(complete_blocks(state.hand[seat], work.left) + 1):
        hands[draws, middle, n_blocks, here] += 1


@compiled
def greedy_choice(state: State, seat: int, work: Greedy) -> int:
    """Return what a greedy player does on its own turn: win, or the discard described above."""
    if can_tsumo(state, seat):
        return TSUMO
    unseen_kinds(state, seat, work.unseen)
    hand = work.hand
    for kind in range(34):
        hand[kind] = state.hand[seat, kind]
    best, fewest, most = -1, NEVER, -1
    for kind in range(34):
        if hand[kind] == 0:
            continue
        hand[kind] -= 1
        here = shanten(hand, 0)
        if here <= fewest:
            accepted = count_tiles(acceptance(hand, 0), work.unseen)
            if here < fewest or accepted > most:
                best, fewest, most = kind, here, accepted
        hand[kind] += 1
    return _discard_of(state, seat, best)


@compiled
def _discard_of(state: State, seat: int, kind: int) -> int:
    """Return the code that discards a kind: a plain five before a red one, if held drawn."""
    tile = kind
    if kind_of(state.drawn) == kind:
        return DISCARD_DRAWN + state.drawn
    if held_tiles(state, seat, kind) == 0:
        tile = 34 + kind // 9
    return DISCARD + tile


@compiled
def complete_blocks(hand: NDArray[np.int8], left: NDArray[np.int8]) -> int:
    """Return how many runs and triplets the hand holds at most at once.

    ``left`` is int8[9] of scratch space.

    >>> from mjbot.game.rules.kinds import hand_counts
    >>> complete_blocks(hand_counts("11123m234p55s777z"), np.empty(9, np.int8))
    3
    """
    n = 0
    for kind in range(27, 34):
        n += hand[kind] >= 3
    for suit in range(3):
        threes = 0
        for rank in range(9):
            left[rank] = hand[9 * suit + rank]
            threes |= int(left[rank] >= 3) << rank
        most, chosen = 0, threes
        while chosen >= 0:
            most = max(most, _blocks_with_triplets(left, chosen))
            chosen = (chosen - 1) & threes if chosen else -1
        n += most
    return min(n, MAX_BLOCKS)


@compiled
def _blocks_with_triplets(suit: NDArray[np.int8], triplets: int) -> int:
    """Return the blocks of a suit with triplets of just these ranks, and as many runs as fit."""
    n = 0
    for rank in range(9):
        n += (triplets >> rank) & 1
    one, two = 0, 0  # copies of the last rank and the one before that no run has taken
    for rank in range(9):
        here = suit[rank] - 3 * ((triplets >> rank) & 1)
        runs = min(one, two, here)
        n += runs
        two, one = one - runs, here - runs
    return n


PAPER_DRAWS: Final = 6
PAPER_MIDDLE: Final = 1
PAPER_PERCENT: Final = {2: 27, 1: 61, 0: 8}
"""Takada and Sato 2022, section 4.1.1: shanten -> percent of hands."""

Counts = NDArray[np.int64]


class Counted(NamedTuple):
    """What was counted: all hands, of the paper's row the counts per game int64[games, 7]."""

    hands: Hands
    row: Counts
    kyoku: int
    seconds: float


def train(request: GreedyRequest) -> tuple[Learned, Counted]:
    """Play, count and save.  Raises ``OSError``."""
    games, seed, length = request.games, request.seed, request.length
    started = time.monotonic()
    with (
        keeping(lambda: "nothing is kept before the last game"),
        progress(Console(stderr=True), "playing", games, "games") as step,
    ):
        hands, row, kyoku = count_hands(games, seed, length, step)
    manifest = Manifest(
        data=f"{games} games ({length}, {kyoku} kyoku) of four greedy players",
        command=command_of("python -m papers train-greedy", request),
        seed=seed,
        scores={
            f"percent_{n}_shanten_after_6_draws_1_middle": percent.text(".2f")
            for n, percent in enumerate(percents_of(row))
        },
    )
    out = request.out or RUNS / f"train-greedy-{games}-{seed}-{length}"
    written = save_weights("greedy", {"hands": hands}, manifest, out)
    counted = Counted(hands, row, kyoku, time.monotonic() - started)
    return Learned("greedy", written, out), counted


def count_hands(
    games: int, seed: int, length: Length, step: Callable[[], object] = lambda: None
) -> tuple[NDArray[np.int32], Counts, int]:
    """Play games with the seeds from ``seed`` on; ``step`` is called after each.

    Returns the table (:data:`papers.takada2022.greedy.Hands`), of the paper's row the counts
    per game int64[games, 7], and the number of kyoku.
    """
    hands = np.zeros((MAX_DRAWS + 1, MAX_MIDDLE + 1, MAX_BLOCKS + 1, N_SHANTEN), np.int32)
    row = np.zeros((games, N_SHANTEN), np.int64)
    kyoku, rules = 0, rule_set(Rules(length=length))
    for game in range(games):
        before = hands[PAPER_DRAWS, PAPER_MIDDLE, 0].copy()
        kyoku += count_games(np.array([seed + game]), rules, hands)
        row[game] = hands[PAPER_DRAWS, PAPER_MIDDLE, 0] - before
        step()
    return hands, row, kyoku


def percent_of(row: Counts, shanten: int) -> Estimate:
    """Return the percentage of a shanten in ``row`` int64[games, 7]; a game is one observation."""
    share = rate(row[:, shanten].astype(np.float64), row.sum(axis=1).astype(np.float64))
    return share.times(100)


def percents_of(row: Counts) -> list[Estimate]:
    """Return the percentage of each shanten from 0 on."""
    return [percent_of(row, shanten) for shanten in range(N_SHANTEN)]
