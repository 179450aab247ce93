"""The test against the real concealed hand: did a player act as if it knew the partner's tiles?

Given what a player sees, its discard does not depend on which hand another player holds, whatever
its style and strength, unless it knows that hand.  So the real hand is held against hands that
could be there instead: does the discard serve the real one more often (or less often) than those?

The redraws come from a Markov chain that swaps a tile of the hand for one that the player has not
seen either, and keeps to hands of the same shanten (and furiten or not, where they are tenpai);
every such hand is as likely.  The real hand is put at a random place of the chain, which then runs
from it in both directions (Besag and Clifford 1989, "Generalized Monte Carlo significance tests"):
under the null the real hand and the redraws can be exchanged exactly, however slowly the chain
mixes.  What it takes for granted is that hands of one shanten are equally likely: players keep
some tiles rather than others, and where that makes all players' discards fit the real hands better
or worse, it does so towards the third and fourth player as well.  So what the pair does is held
against what the two do towards those (and those towards them), in the same games.

Discards of one kyoku hang together; a kyoku is one observation.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.compiler.splitmix import next_below
from mjbot.detection.counting import call_helps
from mjbot.rules.acceptance import acceptance
from mjbot.rules.shanten import shanten
from mjbot.statistics.estimates import t_probability
from mjbot.table.hands import kind_of
from mjbot.table.mirror.wire import tile_code
from mjbot.table.observe import unseen_kinds
from mjbot.table.state import ACCEPTED, NO_RIICHI, State
from mjbot.training.positions import GameRef, GameStep, collect
from protocol import messages as m

REDRAWS: Final = 199
THIN: Final = 8
"""Swaps tried from one redraw to the next."""
SCORES: Final = ("call", "wait")
"""What a discard may do for a hand: a call of it lowers the shanten; it completes the hand."""
CALL: Final = 0
WAIT: Final = 1
LEAST_KYOKU: Final = 5

Floats = NDArray[np.float64]
Seats = tuple[int, int]


@dataclass(frozen=True)
class HiddenTest:
    """What the test says of one pair: by score, real hits, those of the redraws, and p.

    ``p`` is two-sided, for both scores together; 1 where there was too little to test.
    """

    decisions: int
    real: tuple[float, float]
    redrawn: tuple[float, float]
    z: tuple[float, float]
    p: float


def hidden_test(
    refs: Sequence[GameRef],
    seats: Mapping[int, Seats],
    redraws: int = REDRAWS,
    jobs: int = 1,
    seed: int = 0,
) -> HiddenTest:
    """Test a pair in its games; ``seats`` has by game number where the two sit."""
    extract = partial(_residuals_of_game, seats=dict(seats), redraws=redraws, seed=seed)
    found = [kyoku for game in collect(refs, extract, jobs) for kyoku in game]
    return verdict_of(found)


def verdict_of(kyoku: Sequence[Floats]) -> HiddenTest:
    """Return the verdict on kyoku; each is float64[2 (pair, others), 2 scores, 3].

    The last are decisions, real hits and hits to be expected.
    """
    whole = np.sum(kyoku, axis=0) if kyoku else np.zeros((2, 2, 3))
    z, p = [], []
    for score in (CALL, WAIT):
        others = whole[1, score]
        bias = (others[1] + 1) / (others[2] + 1)
        left = np.array([each[0, score, 1] - bias * each[0, score, 2] for each in kyoku])
        left = left[[bool(each[0, score, 0]) for each in kyoku]] if len(left) else left
        z.append(_z(left, whole[0, score, 2] * bias, others))
        freedom = max(1, len(left) - 1)
        p.append(2 * (1 - t_probability(abs(z[-1]), freedom)) if len(left) >= LEAST_KYOKU else 1.0)
    real, redrawn = whole[0, :, 1], whole[0, :, 2]
    return HiddenTest(
        decisions=int(whole[0, CALL, 0]),
        real=(float(real[0]), float(real[1])),
        redrawn=(float(redrawn[0]), float(redrawn[1])),
        z=(float(z[0]), float(z[1])),
        p=float(min(1.0, 2 * min(p))),
    )


def _z(left: Floats, mean: float, others: Floats) -> float:
    """Return the sum of residuals over its error, that of the bias included."""
    variance = float(left @ left) + mean**2 / (others[1] + 1)
    return float(left.sum()) / variance**0.5 if variance > 0 else 0.0


def _residuals_of_game(
    steps: Iterator[GameStep], seats: Mapping[int, Seats], redraws: int, seed: int
) -> list[Floats]:
    """Return for each kyoku decisions, real hits and expected ones, of the pair and of others."""
    found: list[Floats] = []
    random = np.zeros(1, np.uint64)
    hits = np.zeros(2)
    for step in steps:
        if isinstance(step.event, m.StartKyoku):
            found.append(np.zeros((2, 2, 3)))
            random[0] = (seed * 1_000_003 + step.game) * 1_009 + len(found)
        elif isinstance(step.event, m.Dahai) and found:
            pair = seats[step.game]
            for actor, other, place in _asked(step.event.actor, pair):
                tile = tile_code(step.event.pai)
                score = redraw(step.state, actor, other, tile, redraws, random, hits)
                if score >= 0:
                    found[-1][place, score] += (1, hits[0], hits[1])
    return found


def _asked(actor: int, pair: Seats) -> Iterator[tuple[int, int, int]]:
    """Yield whom a discard may serve, and whether that is (0) the pair's matter or (1) not."""
    for other in range(4):
        if other != actor and (actor in pair or other in pair):
            yield actor, other, 0 if actor in pair and other in pair else 1


@compiled
def redraw(
    state: State,
    seat: int,
    other: int,
    tile: int,
    redraws: int,
    random: NDArray[np.uint64],
    hits: Floats,
) -> int:
    """Hold a discard against the real hand and redraws of it; return which score was asked.

    ``hits`` float64[2] gets 1 if the discard serves the real hand, and the share of all hands that
    it serves, the real one among them.  :data:`WAIT` is asked of hands in tenpai, :data:`CALL` of
    others; -1 where nothing is: a hand that is not known, a riichi, no call any more.
    """
    if not (state.hand_known[seat] and state.hand_known[other]):
        return -1
    if state.riichi[seat] == ACCEPTED or state.riichi[other] != NO_RIICHI or state.wall_left == 0:
        return -1
    kind, is_next = kind_of(tile), other == (seat + 1) & 3
    n_melds = int(state.n_melds[other])
    here = shanten(state.hand[other], n_melds)
    score = WAIT if here == 0 else CALL
    deck = np.empty(136, np.int8)
    n_hand, n_deck = _lay_out(state, seat, other, deck)
    hand = state.hand[other].copy()
    barred = int(state.discarded[other]) if here == 0 else 0
    is_furiten = barred != 0 and acceptance(hand, n_melds) & barred != 0
    kept = np.array([n_hand, n_deck, n_melds, here, barred, int(is_furiten)])
    real = _serves(hand, n_melds, kind, is_next, score)
    served = int(real)
    back = next_below(random, redraws + 1)
    real_deck = deck.copy()
    for number in range(redraws):
        if number == back:  # from the real hand again, the other way
            deck[:] = real_deck
            for each in range(34):
                hand[each] = state.hand[other, each]
        for _ in range(THIN):
            _swap(hand, deck, kept, random)
        served += _serves(hand, n_melds, kind, is_next, score)
    hits[0] = real
    hits[1] = served / (redraws + 1)
    return score


@compiled
def _lay_out(state: State, seat: int, other: int, deck: NDArray[np.int8]) -> tuple[int, int]:
    """Lay out the other's hand and then all else that the seat has not seen; return both sizes."""
    unseen = np.empty(34, np.int8)
    unseen_kinds(state, seat, unseen)
    n = 0
    for kind in range(34):
        for _ in range(state.hand[other, kind]):
            deck[n] = kind
            n += 1
        unseen[kind] -= state.hand[other, kind]
    n_hand = n
    for kind in range(34):
        for _ in range(unseen[kind]):
            deck[n] = kind
            n += 1
    return n_hand, n


@compiled
def _serves(hand: NDArray[np.int8], n_melds: int, kind: int, is_next: bool, score: int) -> bool:
    if score == WAIT:
        return (acceptance(hand, n_melds) >> kind) & 1 == 1
    return call_helps(hand, n_melds, kind, is_next)


@compiled
def _swap(
    hand: NDArray[np.int8],
    deck: NDArray[np.int8],
    kept: NDArray[np.int64],
    random: NDArray[np.uint64],
) -> None:
    """Swap a tile of the hand if that leaves shanten and furiten as they are.

    ``kept`` has the sizes of hand and deck, the melds, the shanten, the own discards and whether
    the hand is furiten by those.
    """
    n_hand, n_deck, n_melds = kept[0], kept[1], kept[2]
    place = next_below(random, n_hand)
    other = n_hand + next_below(random, n_deck - n_hand)
    old, new = deck[place], deck[other]
    if old == new:
        return
    hand[old] -= 1
    hand[new] += 1
    stays = shanten(hand, n_melds) == kept[3]
    if stays and kept[4]:
        stays = (acceptance(hand, n_melds) & kept[4] != 0) == (kept[5] != 0)
    if stays:
        deck[place], deck[other] = new, old
        return
    hand[old] += 1
    hand[new] -= 1
