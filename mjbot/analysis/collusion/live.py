"""Detects pairs while tables are played: after every game an e-value of every two who met.

Testing after every game and stopping at the first small p-value accuses too many pairs.  An e-value
may be tested at any time (:meth:`mjbot.analysis.collusion.verdicts.DetectionWeights.e_values`): it
reaches c with a probability of at most 1 / c.  The k-th pair that met is reported at k (k + 1) /
alpha, which keeps the probability of any false report below alpha however many pairs meet.

Helpers (:mod:`mjbot.analysis.collusion.helpers`) are tested after 32, 64, 128, ... games instead,
the k-th time with alpha / 2 ** k, which add up to alpha.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np

from mjbot.analysis.collusion.conduct import Observer
from mjbot.analysis.collusion.games import unique_names
from mjbot.analysis.collusion.helpers import PairConduct, judge_helpers
from mjbot.analysis.collusion.hidden import CLASSES, N_SCORES, Floats
from mjbot.analysis.collusion.report import NOT_PROOF
from mjbot.analysis.collusion.residuals import CONTRASTS, PLACE_OF, SPREADS, Residuals, contrasts
from mjbot.analysis.collusion.verdicts import DetectionWeights, made_up_for
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.protocol import messages as m
from mjbot.runtime.files import plural

ALPHA: Final = 0.01
FIRST_TEST: Final = 32
"""Games after which helpers are tested for the first time."""


@dataclass
class Meetings:
    """The evidence of two players so far; ``number`` counts pairs from 1."""

    number: int
    games: int = 0
    is_reported: bool = False
    residuals: Floats = field(default_factory=lambda: np.zeros((CONTRASTS, N_SCORES)))
    products: Floats = field(default_factory=lambda: np.zeros((SPREADS, N_SCORES, N_SCORES)))


class PairWatch:
    """Receives the events of one table and reports pairs; all hands must be in the events."""

    def __init__(
        self, weights: DetectionWeights, emit: Callable[[str], object], alpha: float = ALPHA
    ) -> None:
        self.weights: Final = weights
        self.alpha: Final = alpha
        self.met: Final[dict[tuple[str, str], Meetings]] = {}
        self._emit: Final = emit
        self._levels: Final[dict[str, Floats]] = {}
        self._games = 0
        self._start()

    def _start(self) -> None:
        self._table = Mirror(strict=False)
        self._residuals = Residuals(self.weights.model, self._games)

    def add(self, event: m.Event) -> None:
        """Take in one event."""
        if isinstance(event, m.StartGame):
            self._start()
        self._residuals.add(event, self._table.state)
        self._table.apply(event)
        if isinstance(event, m.EndGame):
            self._games += 1
            players = self._residuals.players
            self._judge(unique_names((self._table.names or ("",) * 4)[:players]))

    def _judge(self, names: tuple[str, ...]) -> None:
        sums, products = self._residuals.seated, self._residuals.products()
        places = PLACE_OF[len(names)]
        for name, level in zip(names, sums.level, strict=True):
            self._levels.setdefault(name, np.zeros((N_SCORES, CLASSES, 2)))
            self._levels[name] += level
        levels = np.array([self._levels[name] for name in names])
        left = contrasts(sums.t - made_up_for(sums.base, levels))
        for one, other in combinations(range(len(names)), 2):
            names_of = sorted((names[one], names[other]))
            pair = (names_of[0], names_of[1])
            meetings = self.met.setdefault(pair, Meetings(len(self.met) + 1))
            meetings.games += 1
            meetings.residuals += left[places[one, other]]
            meetings.products += products[places[one, other]]
            self._report_pair(pair, meetings)

    def _report_pair(self, pair: tuple[str, str], meetings: Meetings) -> None:
        e = float(self.weights.e_values(meetings.residuals, meetings.products))
        limit = meetings.number * (meetings.number + 1) / self.alpha
        if e >= limit and not meetings.is_reported:
            meetings.is_reported = True
            self._emit(
                f"{pair[0]} + {pair[1]} play as if they knew each other's hands ({NOT_PROOF}):"
                f" e-value {e:.3g} after {plural(meetings.games, 'game')}, above {limit:.3g};"
                " mjbot detect shows the positions"
            )


class HelperWatch:
    """Receives the events of one table and reports helpers; hidden hands are not read."""

    def __init__(self, emit: Callable[[str], object], alpha: float = ALPHA) -> None:
        self.alpha_now = alpha
        self.conduct: Final = PairConduct()
        self._emit: Final = emit
        self._observer = Observer()
        self._reported: set[tuple[str, str]] = set()
        self._next = FIRST_TEST

    def add(self, event: m.Event) -> None:
        """Take in one event."""
        if isinstance(event, m.StartGame):
            self._observer = Observer()
        self._observer.add(event)
        if isinstance(event, m.EndGame):
            seen = self._observer.conduct
            if seen is not None:
                self.conduct.add(seen)
            if self.conduct.games == self._next:
                self._next *= 2
                self.alpha_now /= 2
                self._judge()

    def _judge(self) -> None:
        for verdict in judge_helpers(self.conduct.table()):
            pair = verdict.helper, verdict.helped
            if verdict.adjusted >= self.alpha_now or pair in self._reported:
                continue
            self._reported.add(pair)
            self._emit(
                f"{pair[0]} plays as if it helped {pair[1]} ({NOT_PROOF}): {verdict.sign},"
                f" adjusted p {verdict.adjusted:.2g} after {plural(verdict.games, 'game')};"
                " mjbot detect --helpers shows all signs"
            )
