"""The eight yaku scores of Hamabe 2017 by plain enumeration of all decompositions.

Nothing is shared with the compiled evaluation but the text of the paper's section 3.3.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

Counts = tuple[int, ...]
"""Numbers per kind, or per rank of one suit: nine, honours seven."""

RUN_STARTS = [kind for kind in range(27) if kind % 9 < 7]
SUITS = [range(0, 9), range(9, 18), range(18, 27), range(27, 34)]
HONOURS = SUITS[3]
EDGES = {kind for kind in range(34) if kind in HONOURS or kind % 9 in (0, 8)}


@dataclass(frozen=True)
class Case:
    """A hand of 3n+1 concealed tiles: counts and unseen copies per kind, melds as kinds."""

    hand: Counts
    unseen: Counts
    melds: tuple[tuple[int, int, int], ...]
    value_kinds: frozenset[int]


@lru_cache(maxsize=1 << 18)
def decompositions(
    count: Counts, unseen: Counts, valued: frozenset[int], runs: bool
) -> dict[tuple[int, int], int]:
    """Return (heads, further blocks) -> best points over all ways to take a suit apart."""
    low = next((rank for rank, n in enumerate(count) if n), None)
    if low is None:
        return {(0, 0): 0}
    best: dict[tuple[int, int], int] = {}
    for take, heads, blocks, points in _with_lowest(count, unseen, valued, runs, low):
        rest = tuple([n - take.count(rank) for rank, n in enumerate(count)])
        for (more_heads, more_blocks), more in decompositions(rest, unseen, valued, runs).items():
            key = heads + more_heads, blocks + more_blocks
            if key[0] < 2 and key[1] < 5:
                best[key] = max(best.get(key, 0), points + more)
    return best


def _with_lowest(
    count: Counts, unseen: Counts, valued: frozenset[int], runs: bool, low: int
) -> Iterator[tuple[tuple[int, ...], int, int, int]]:
    """Yield what may become of the lowest tile: tiles taken, heads, blocks, points."""
    yield (low,), 0, 0, 0
    if count[low] >= 2:
        yield (low, low), 1, 0, 20
        yield (low, low), 0, 1, (5 if low in valued else 2) * unseen[low]
    if count[low] >= 3:
        yield (low, low, low), 0, 1, 80 if low in valued else 20
    if not runs:
        return
    for other in (low + 1, low + 2):
        if other < 9 and count[other]:
            completing = [
                rank
                for rank in range(9)
                if {low, other, rank} in _RUNS and rank not in (low, other)
            ]
            yield (low, other), 0, 1, 2 * sum([unseen[rank] for rank in completing])
    if low < 7 and count[low + 1] and count[low + 2]:
        yield (low, low + 1, low + 2), 0, 1, 20


_RUNS = [{low, low + 1, low + 2} for low in range(7)]


def best_blocks(
    hand: Counts,
    case: Case,
    most: int,
    valued: frozenset[int] = frozenset(),
    runs: bool = True,
) -> int:
    """Return the best points of at most one head and ``most`` further blocks."""
    ways = []
    for suit in SUITS:
        count, unseen = [tuple([x[kind] for kind in suit]) for x in (hand, case.unseen)]
        ranks = frozenset(kind - suit[0] for kind in valued if kind in suit)
        ways.append(decompositions(count, unseen, ranks, runs and suit is not HONOURS))
    best = 0
    for chosen in product(*ways):
        if sum(heads for heads, _ in chosen) < 2 and sum(blocks for _, blocks in chosen) <= most:
            best = max(best, sum([way[key] for way, key in zip(ways, chosen, strict=True)]))
    return best


def _only(case: Case, kinds: set[int]) -> Counts:
    return tuple([n if kind in kinds else 0 for kind, n in enumerate(case.hand)])


def _few(case: Case, kept: Counts) -> bool:
    return sum(kept) + 3 * len(case.melds) < 2


def tanyao(case: Case) -> int:
    """3.3.1."""
    kept = _only(case, set(range(34)) - EDGES)
    if _few(case, kept) or any(EDGES & set(meld) for meld in case.melds):
        return 0
    return 20 * len(case.melds) + best_blocks(kept, case, 4 - len(case.melds))


def yakuhai(case: Case) -> int:
    """3.3.2."""
    melds = sum([80 if meld[0] in case.value_kinds else 20 for meld in case.melds])
    return melds + best_blocks(case.hand, case, 4 - len(case.melds), valued=case.value_kinds)


def chanta(case: Case) -> int:
    """3.3.3."""
    kept = _only(case, {kind for kind in range(34) if kind >= 27 or kind % 9 not in (3, 4, 5)})
    if _few(case, kept) or any(not EDGES & set(meld) for meld in case.melds):
        return 0
    return 20 * len(case.melds) + best_blocks(kept, case, 4 - len(case.melds))


def toitoi(case: Case) -> int:
    """3.3.6."""
    if any(meld[0] != meld[1] for meld in case.melds):
        return 0
    return 20 * len(case.melds) + best_blocks(case.hand, case, 4 - len(case.melds), runs=False)


def honitsu(case: Case) -> int:
    """3.3.8."""
    scores = [0]
    for suit in SUITS[:3]:
        kinds = {*suit, *HONOURS}
        kept = _only(case, kinds)
        if not _few(case, kept) and all(set(meld) <= kinds for meld in case.melds):
            scores.append(20 * len(case.melds) + best_blocks(kept, case, 4 - len(case.melds)))
    return max(scores)


def with_parts(case: Case, parts: list[tuple[int, int, int]]) -> int:
    """Return the score of a yaku made of three parts, with one block and the head in addition."""
    points, rest, others = 0, list(case.hand), list(case.melds)
    for part in parts:
        if part in others:
            others.remove(part)
            points += 20
            continue
        missing = []
        for kind in part:
            if rest[kind]:
                rest[kind] -= 1
            else:
                missing.append(kind)
        points += (20, 2 * case.unseen[missing[-1]] if missing else 0, 2, 0)[len(missing)]
    if len(others) > 1:
        return 0
    return points + 10 * len(others) + best_blocks(tuple(rest), case, 1 - len(others)) // 2


def _run(low: int) -> tuple[int, int, int]:
    return low, low + 1, low + 2


def sanshoku_doujun(case: Case) -> int:
    """3.3.4."""
    return max(with_parts(case, [_run(suit[low]) for suit in SUITS[:3]]) for low in range(7))


def ittsuu(case: Case) -> int:
    """3.3.5."""
    return max(with_parts(case, [_run(suit[low]) for low in (0, 3, 6)]) for suit in SUITS[:3])


def sanshoku_doukou(case: Case) -> int:
    """3.3.7."""
    return max(with_parts(case, [(suit[rank],) * 3 for suit in SUITS[:3]]) for rank in range(9))


SCORES: tuple[Callable[[Case], int], ...] = (
    tanyao,
    yakuhai,
    chanta,
    sanshoku_doujun,
    ittsuu,
    toitoi,
    sanshoku_doukou,
    honitsu,
)
