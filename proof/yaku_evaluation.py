"""Proof of the eight yaku scores: random hands, compiled against enumerated."""

import argparse
from collections.abc import Iterator

import numpy as np

from mjbot.strategies.evaluation.yaku.choices import hand_scores
from mjbot.strategies.evaluation.yaku.scores import YAKU_NAMES
from proof import yaku_enumeration as enumerated
from proof.yaku_enumeration import RUN_STARTS, Case

VALUE_KINDS = ({27, 31, 32, 33}, {27, 30, 31, 32, 33}, {28, 31, 32, 33})
POOLS = (
    range(34),
    range(27),
    [*range(9), *range(27, 34)],
    [*range(18, 27), *range(27, 34)],
    [kind for kind in range(27) if kind % 9 < 4],
    [kind for kind in range(34) if kind >= 27 or kind % 9 in (0, 1, 2, 6, 7, 8)],
    range(9, 18),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof yaku-evaluation``."""
    parser.add_argument("--hands", type=int, default=10_000, help="random hands (10000)")
    parser.add_argument("--seed", type=int, default=2017)


def run(args: argparse.Namespace) -> int:
    """Compare, print how many hands were equal, return 1 if one differs."""
    differences = [text for case in random_cases(args.hands, args.seed) for text in differing(case)]
    for text in differences[:20]:
        print(text)
    equal = "all equal" if not differences else f"{len(differences)} scores differ"
    print(f"{args.hands} random hands, {len(YAKU_NAMES)} yaku each: {equal}")
    return 1 if differences else 0


def differing(case: Case) -> list[str]:
    """Return a line for each yaku whose two scores differ."""
    scores = compiled_scores(case)
    return [
        f"{name}: compiled {score}, enumerated {score_of(case)}: {case}"
        for name, score, score_of in zip(YAKU_NAMES, scores, enumerated.SCORES, strict=True)
        if score != score_of(case)
    ]


def compiled_scores(case: Case) -> list[int]:
    """Return the eight scores by the code that plays."""
    melds = np.zeros((2, 34), np.int8)
    for meld in case.melds:
        melds[int(meld[0] == meld[1]), meld[0]] += 1
    values = sum(1 << kind for kind in case.value_kinds)
    hand, unseen = np.array(case.hand, np.int8), np.array(case.unseen, np.int8)
    scores: list[int] = hand_scores(hand, unseen, melds, values).tolist()
    return scores


def random_cases(n: int, seed: int) -> Iterator[Case]:
    """Yield random hands with 0 to 4 melds, often from few kinds, part of the rest in sight."""
    random = np.random.default_rng(seed)
    for number in range(n):
        yield _random_case(random, POOLS[number % len(POOLS)])


def _random_case(random: np.random.Generator, pool: range | list[int]) -> Case:
    left = np.zeros(34, np.int64)
    left[list(pool)] = 4
    melds: list[tuple[int, int, int]] = []
    for _ in range(random.choice([0, 0, 1, 2, 3, 4])):
        meld = _random_meld(random, left)
        if meld is not None:
            left -= np.bincount(meld, minlength=34)
            melds.append(meld)
    tiles = random.permutation(np.repeat(np.arange(34), left))[: 13 - 3 * len(melds)]
    hand = np.bincount(tiles, minlength=34)
    taken = 4 - left + hand
    taken[[kind for kind in range(34) if kind not in pool]] = 0
    unseen = random.binomial(4 - taken, random.choice([1.0, 0.8, 0.4]))
    values = frozenset(VALUE_KINDS[random.integers(len(VALUE_KINDS))])
    return Case(tuple(hand.tolist()), tuple(unseen.tolist()), tuple(melds), values)


def _random_meld(random: np.random.Generator, left: np.ndarray) -> tuple[int, int, int] | None:
    melds = [(kind, kind, kind) for kind in range(34) if left[kind] >= 3]
    runs = [(low, low + 1, low + 2) for low in RUN_STARTS if left[low : low + 3].all()]
    choice = runs if runs and random.random() < 0.5 else melds
    return choice[random.integers(len(choice))] if choice else None
