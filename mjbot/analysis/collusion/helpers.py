"""Who plays for whom without a channel: players who treat one opponent unlike the others.

A helper needs no hidden hand, so no test of hidden hands finds it: it deals in to one player, feeds
it, does not win off it, stops competing while it is there.  All of this is relative to how the
helper treats others (its style) and how others treat the one that is helped (its strength).  For a
count T (:data:`mjbot.analysis.collusion.conduct.COUNTS`) with chances E the ordered pair (i, j) is
expected to have

    e = E_ij m a_i b_j,   a_i = T_i. / sum_k E_ik m b_k,   b_j = T_.j / sum_k E_kj m a_k,

where m is the mean rate of all, a and b are fitted in turn, and the pair's own cell is left out of
both at the end (quasi-independence; Goodman, "The analysis of cross-classified data", Journal of
the American Statistical Association 63, 1968).  Who deals in often deals in to everybody, who wins
often wins off everybody: neither makes a helper.  Both rates are estimates from A_i and B_j events,
shrunk to m by :data:`PRIOR` events, and two styles may fit each other (:data:`INTERPLAY`).  So T is
not Poisson of e but its mixture with a gamma of the relative variance

    1 / (A_i + PRIOR) + 1 / (B_j + PRIOR) + INTERPLAY ** 2,

a negative binomial, from which p comes (:func:`above`, :func:`below`).  Pushes and ranks, whose
rates are near 1 or above, are added instead of multiplied, with a normal deviate.

The smallest p of the :data:`SIGNS` counts, times their number.  Over all ordered pairs p is
adjusted by Holm's method: if all pairs below 0.05 are named, at most one list in twenty names
anybody wrongly, whatever depends on what (the pairs of one table do).  The q-value of Benjamini and
Hochberg, which bounds the share of wrong names in a list and assumes more, only orders a list.

A player with many helpers has many small p, each of which may be unremarkable: of n partners, the
number with p below :data:`CLOSE` is compared with the binomial of that chance.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import erfc, exp, lgamma, log, log1p, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.collusion.conduct import (
    CHIS,
    COUNTS,
    DEAL_INS,
    PONS,
    PUSHES,
    RANKS,
    WINS,
    Conduct,
    Floats,
)
from mjbot.analysis.collusion.verdicts import holm

PRIOR: Final = 8.0
"""Events as expected that a player's rate is believed to rest on before anything is seen: the
rates of players spread by some 35 %."""
PRIOR_CHANCES: Final = 40.0
"""The same of counts that are added."""
INTERPLAY: Final = 0.1
"""How far the styles of two honest players move a count beyond both rates, relative to it: among
bots of four styles one fed another's calls 14 % more often than both rates explain."""
ROUNDS: Final = 12
"""Of the alternating fit of rows and columns."""
LEAST_MET: Final = 10
"""Games together below which a pair is not tested."""
LEAST_OTHERS: Final = 6
"""Players beside the other one whom both of a pair must have met: with fewer, what a pair does and
what its rivals do cannot be distinguished."""
CLOSE: Final = 0.05
LEAST_PARTNERS: Final = 5
"""Partners below which a player's helpers are not judged together."""
MOST_ROUNDS: Final = 20
SURE: Final = 0.05
TINY: Final = 1e-300
PRECISION: Final = 1e-12
PUSH_INFLATION: Final = 1.7
"""Variance of pushes over that of independent ones: those of one kyoku are alike.

This and the next one were set by hand, so that of Phoenix hanchan put together at random as many p
of each sign lie below 0.05, 0.01 and 0.001 (``python -m proof helpers``).
"""
CALL_INFLATION: Final = 1.25
"""Variance of calls over their mean: a hand that calls once calls again."""

SIGNS: Final = (
    "deals in to the other", "feeds the other's calls", "pushes against the other's riichi",
    "folds against the other's riichi", "is spared by the other's discards", "wins less",
    "the other ranks higher",
)  # fmt: skip
"""What may be conspicuous in a helper, in this order everywhere."""
N_SIGNS: Final = len(SIGNS)


class PairConduct:
    """What is counted of every ordered pair of players, game by game."""

    def __init__(self) -> None:
        self.players: Final[dict[str, int]] = {}
        self.games = 0
        self._seats = 4
        self._pairs: Final[dict[tuple[int, int], int]] = {}
        self._games: list[int] = []
        self._counts: Floats = np.zeros((0, len(COUNTS)))
        self._chances: Floats = np.zeros((0, len(COUNTS)))

    def add(self, conduct: Conduct) -> None:
        """Take in a game."""
        self.games += 1
        self._seats = len(conduct.names)
        numbers = [self.players.setdefault(name, len(self.players)) for name in conduct.names]
        for i, one in enumerate(numbers):
            for j, other in enumerate(numbers):
                if i != j:
                    place = self._place(one, other)
                    self._games[place] += 1
                    self._counts[place] += conduct.counts[i, j]
                    self._chances[place] += conduct.chances[i, j]

    def _place(self, one: int, other: int) -> int:
        place = self._pairs.setdefault((one, other), len(self._pairs))
        if place == len(self._games):
            self._games.append(0)
            if place >= len(self._counts):
                more = np.zeros((max(64, place), len(COUNTS)))
                self._counts = np.concatenate([self._counts, more])
                self._chances = np.concatenate([self._chances, more])
        return place

    def table(self) -> "Cells":
        """Return all ordered pairs as arrays."""
        n = len(self._games)
        pairs = np.array(list(self._pairs), np.int64).reshape(-1, 2)
        return Cells(
            players=tuple(self.players),
            pairs=pairs,
            games=np.array(self._games, np.int64),
            counts=self._counts[:n],
            chances=self._chances[:n],
            seats=self._seats,
        )


@dataclass(frozen=True)
class Cells:
    """All ordered pairs: ``pairs`` int64[n, 2], ``games`` int64[n], ``counts`` and ``chances``.

    ``seats`` is how many play at each table.
    """

    players: tuple[str, ...]
    pairs: NDArray[np.int64]
    games: NDArray[np.int64]
    counts: Floats
    chances: Floats
    seats: int = 4


def p_of_signs(cells: Cells, chosen: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return p and the excess of each sign for some ordered pairs: float64[pairs, N_SIGNS].

    The excess is how much more than expected of the count, less where the sign is less of it.
    """
    expected = _Expected(cells)
    reverse = _reversed(cells)[chosen]
    found = [
        expected.multiplied(chosen, (DEAL_INS,), more=True),
        expected.multiplied(chosen, (PONS, CHIS), more=True),
        expected.added(chosen, PUSHES, more=True),
        expected.added(chosen, PUSHES, more=False),
        expected.multiplied(reverse, (DEAL_INS,), more=False),
        expected.multiplied(chosen, (WINS,), more=False),
        expected.added(reverse, RANKS, more=False),
    ]
    return np.stack([p for p, _ in found], axis=1), np.stack([e for _, e in found], axis=1)


def _reversed(cells: Cells) -> NDArray[np.int64]:
    """Return the place of (j, i) for each (i, j)."""
    n = len(cells.players)
    keys = cells.pairs[:, 0] * n + cells.pairs[:, 1]
    order = np.argsort(keys)
    wanted = cells.pairs[:, 1] * n + cells.pairs[:, 0]
    places: NDArray[np.int64] = order[np.searchsorted(keys[order], wanted)]
    return places


class _Expected:
    """What each ordered pair is expected to have, its own cell left out."""

    def __init__(self, cells: Cells) -> None:
        self._cells: Final = cells
        self._one: Final = cells.pairs[:, 0]
        self._other: Final = cells.pairs[:, 1]
        self._n: Final = len(cells.players)

    def _sum(self, values: Floats, by: NDArray[np.int64]) -> Floats:
        sums: Floats = np.bincount(by, values, self._n).astype(np.float64)
        return sums

    def _rate(self, count: int) -> float:
        chances = float(self._cells.chances[:, count].sum())
        return float(self._cells.counts[:, count].sum()) / max(chances, 1.0)

    def multiplied(
        self, chosen: NDArray[np.int64], counts: Sequence[int], more: bool
    ) -> tuple[Floats, Floats]:
        """Return p and excess of counts whose rates multiply; several counts are added up."""
        observed = self._cells.counts[chosen][:, list(counts)].sum(axis=1)
        mean, variance = np.zeros(len(chosen)), np.zeros(len(chosen))
        for count in counts:
            expected, doubt = self._product(chosen, count)
            mean += expected
            inflation = CALL_INFLATION if count in (PONS, CHIS) else 1.0
            variance += (inflation - 1) * expected + expected**2 * doubt
        shape = mean**2 / np.maximum(variance, TINY)
        tail = above if more else below
        p = [tail(int(n), e, k) for n, e, k in zip(observed, mean, shape, strict=True)]
        return np.array(p), (observed - mean) if more else (mean - observed)

    def _product(self, chosen: NDArray[np.int64], count: int) -> tuple[Floats, Floats]:
        """Return the expected counts of pairs, and the variance of that relative to its square."""
        counts, rate = self._cells.counts[:, count], self._rate(count)
        base = rate * self._cells.chances[:, count]
        a, b = np.ones(self._n), np.ones(self._n)
        rows, columns = self._sum(counts, self._one), self._sum(counts, self._other)
        for _ in range(ROUNDS):
            a = (rows + PRIOR) / (self._sum(base * b[self._other], self._one) + PRIOR)
            b = (columns + PRIOR) / (self._sum(base * a[self._one], self._other) + PRIOR)
        one, other, own = self._one[chosen], self._other[chosen], counts[chosen]
        by_rows, by_columns = base * b[self._other], base * a[self._one]
        row, column = rows[one] - own, columns[other] - own
        row_base = self._sum(by_rows, self._one)[one] - by_rows[chosen]
        column_base = self._sum(by_columns, self._other)[other] - by_columns[chosen]
        mine = (row + PRIOR) / (row_base + PRIOR)
        its = (column + PRIOR) / (column_base + PRIOR)
        return base[chosen] * mine * its, 1 / (row + PRIOR) + 1 / (column + PRIOR) + INTERPLAY**2

    def added(self, chosen: NDArray[np.int64], count: int, more: bool) -> tuple[Floats, Floats]:
        """Return p and excess of a count whose rates add up."""
        chances = self._cells.chances[chosen, count]
        mean, doubt = self._total(chosen, count)
        is_rank, last = count == RANKS, float(self._cells.seats)
        mean = np.clip(mean, *((1.0, last) if is_rank else (0.02, 0.98)))
        # a rank: the variance of 1 to the last, each as likely
        each = (last**2 - 1) / 12 if is_rank else PUSH_INFLATION * mean * (1 - mean)
        spread = np.sqrt(each * (chances + chances**2 * doubt))
        excess = self._cells.counts[chosen, count] - mean * chances
        excess = excess if more else -excess
        z = excess / np.maximum(spread, 1e-9)
        p = np.array([erfc(value / sqrt(2)) / 2 for value in z])
        return np.where(chances > 0, p, 1.0), excess

    def _total(self, chosen: NDArray[np.int64], count: int) -> tuple[Floats, Floats]:
        """Return the expected rates of pairs, and their variance by that of one chance."""
        chances = self._cells.chances[:, count]
        off = self._cells.counts[:, count] - self._rate(count) * chances
        a, b = np.zeros(self._n), np.zeros(self._n)
        rows, columns = self._sum(chances, self._one), self._sum(chances, self._other)
        for _ in range(ROUNDS):
            left = self._sum(off - chances * b[self._other], self._one)
            a = left / (rows + PRIOR_CHANCES)
            left = self._sum(off - chances * a[self._one], self._other)
            b = left / (columns + PRIOR_CHANCES)
        one, other, own = self._one[chosen], self._other[chosen], chances[chosen]
        by_rows, by_columns = off - chances * b[self._other], off - chances * a[self._one]
        row, column = rows[one] - own + PRIOR_CHANCES, columns[other] - own + PRIOR_CHANCES
        mine = (self._sum(by_rows, self._one)[one] - by_rows[chosen]) / row
        its = (self._sum(by_columns, self._other)[other] - by_columns[chosen]) / column
        return self._rate(count) + mine + its, 1 / row + 1 / column


def above(observed: int, mean: float, shape: float) -> float:
    """Return how likely a negative binomial of that mean and shape is ``observed`` or more.

    >>> round(above(3, 1.0, 1e9), 4), above(0, 1.0, 5.0)
    (0.0803, 1.0)
    >>> above(60, 2.0, 1e9) < 1e-60
    True
    """
    if observed <= mean:
        return 1 - below(observed - 1, mean, shape) if observed > 0 else 1.0
    log_of = _log_probability(mean, shape)
    total, n = 0.0, observed
    while (term := exp(log_of(n))) > PRECISION * total:  # terms fall above the mean
        total, n = total + term, n + 1
    return max(total, TINY)


def below(observed: int, mean: float, shape: float) -> float:
    """Return how likely a negative binomial of that mean and shape is ``observed`` or less.

    >>> round(below(0, 3.0, 1e9), 4)
    0.0498
    """
    if mean <= 0:
        return 1.0
    log_of = _log_probability(mean, shape)
    return min(sum([exp(log_of(n)) for n in range(observed + 1)]), 1.0)


def _log_probability(mean: float, shape: float) -> Callable[[int], float]:
    shape, mean = min(shape, 1e9), max(mean, 1e-12)
    start = lgamma(shape) + shape * log1p(mean / shape)
    hit = log(mean) - log(mean + shape)
    return lambda n: lgamma(n + shape) - start - lgamma(n + 1) + n * hit


# --- verdicts ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class HelperVerdict:
    """What is known of one ordered pair; ``p`` is corrected for the signs, ``adjusted`` by Holm.

    ``signs`` has p of each of :data:`SIGNS`, ``excess`` how much more, or less, than expected.
    """

    helper: str
    helped: str
    games: int
    p: float
    adjusted: float
    q: float
    signs: tuple[float, ...]
    excess: tuple[float, ...]

    @property
    def sign(self) -> str:
        """The most conspicuous sign."""
        return SIGNS[int(np.argmin(self.signs))]


@dataclass(frozen=True)
class TargetVerdict:
    """How many of a player's partners help it: ``close`` of ``partners`` have a p below 0.05."""

    player: str
    partners: int
    close: int
    p: float
    adjusted: float
    helpers: tuple[str, ...]


def judge_helpers(cells: Cells, least: int = LEAST_MET) -> list[HelperVerdict]:
    """Return the verdicts on all ordered pairs that met in ``least`` games, the surest first.

    A helper's rates towards others look low beside what it does for one player, and so do those of
    others towards that player.  So the games of the surest pairs are taken out of all rates, and
    the other pairs are judged again, until no further one is sure.
    """
    chosen = np.flatnonzero((cells.games >= least) & _has_others(cells))
    if not len(chosen):
        return []
    signs, excess = p_of_signs(cells, chosen)
    named = np.zeros(len(chosen), bool)
    for _ in range(MOST_ROUNDS):
        p = np.minimum(N_SIGNS * signs.min(axis=1), 1.0)
        surest = _surest(cells.pairs[chosen], np.where(named, 1.0, holm(p)), p)
        if not surest:
            break
        pairs = {frozenset(cells.pairs[chosen[place]].tolist()) for place in surest}
        named |= np.array([frozenset(pair) in pairs for pair in cells.pairs[chosen].tolist()])
        rest = ~named
        signs[rest], excess[rest] = p_of_signs(_without(cells, chosen[named]), chosen[rest])
    p = np.minimum(N_SIGNS * signs.min(axis=1), 1.0)
    adjusted, q = holm(p), benjamini_hochberg(p)
    verdicts = [
        HelperVerdict(
            helper=cells.players[one],
            helped=cells.players[other],
            games=int(cells.games[place]),
            p=float(p[k]),
            adjusted=float(adjusted[k]),
            q=float(q[k]),
            signs=tuple(signs[k].tolist()),
            excess=tuple(excess[k].tolist()),
        )
        for k, place in enumerate(chosen.tolist())
        for one, other in [cells.pairs[place].tolist()]
    ]
    return sorted(verdicts, key=lambda verdict: (verdict.p, verdict.helper, verdict.helped))


def _has_others(cells: Cells) -> NDArray[np.bool_]:
    """Return for each pair whether both have met enough others to be compared with."""
    partners = np.bincount(cells.pairs[:, 0], minlength=len(cells.players))
    enough: NDArray[np.bool_] = np.all(partners[cells.pairs] > LEAST_OTHERS, axis=1)
    return enough


def _surest(pairs: NDArray[np.int64], adjusted: Floats, p: Floats) -> list[int]:
    """Return the places of the surest pairs that are conspicuous, each player in one of them."""
    found: list[int] = []
    players: set[int] = set()
    for place in np.flatnonzero(adjusted < SURE)[np.argsort(p[adjusted < SURE], kind="stable")]:
        pair = set(pairs[place].tolist())
        if players.isdisjoint(pair):
            found.append(int(place))
            players |= pair
    return found


def _without(cells: Cells, places: NDArray[np.int64]) -> Cells:
    """Return the cells with some of them empty."""
    counts, chances = cells.counts.copy(), cells.chances.copy()
    counts[places] = chances[places] = 0
    return replace(cells, counts=counts, chances=chances)


def judge_targets(verdicts: Iterable[HelperVerdict]) -> list[TargetVerdict]:
    """Return the verdicts on all players with enough partners, the surest first."""
    by_player: dict[str, list[HelperVerdict]] = {}
    for verdict in verdicts:
        by_player.setdefault(verdict.helped, []).append(verdict)
    tested = {name: of for name, of in by_player.items() if len(of) >= LEAST_PARTNERS}
    if not tested:
        return []
    close = {name: [v.helper for v in of if v.p < CLOSE] for name, of in tested.items()}
    p = np.array([_binomial_above(len(close[name]), len(of)) for name, of in tested.items()])
    found = [
        TargetVerdict(name, len(of), len(close[name]), float(one), float(all_), tuple(close[name]))
        for (name, of), one, all_ in zip(tested.items(), p, holm(p), strict=True)
    ]
    return sorted(found, key=lambda verdict: (verdict.p, verdict.player))


def _binomial_above(observed: int, n: int) -> float:
    """Return how likely so many or more of ``n`` are below :data:`CLOSE`."""
    if observed == 0:
        return 1.0
    logs = [
        lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(CLOSE) + (n - k) * log1p(-CLOSE)
        for k in range(observed, n + 1)
    ]
    return min(sum(map(exp, logs)), 1.0)


def benjamini_hochberg(p: Floats) -> Floats:
    """Return q-values by the step-up method of Benjamini and Hochberg (1995).

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    order = np.argsort(p)[::-1]
    factors = len(p) / np.arange(len(p), 0, -1)
    q = np.empty_like(p)
    q[order] = np.minimum(np.minimum.accumulate(p[order] * factors), 1.0)
    return q
