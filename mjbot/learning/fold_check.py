"""How good a recogniser is: precision, recall and F1 of both classes, by games."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.learning.fold_labels import FOLD, PUSH, UNCLEAR
from mjbot.statistics import Estimate, rate

CLASSES: Final = {"fold": FOLD, "push": PUSH}

STRICT: Final = "fold F1, unclear as push"

Labels = NDArray[np.int8]
Scores = dict[str, Estimate]


def f1_of(labels: Labels, said: Labels, class_: int = FOLD) -> float:
    """Return the F1 of one class, 0 if it was neither there nor said.

    >>> f1_of(np.int8([1, 1, 0, 0]), np.int8([1, 0, 0, 1]))
    0.5
    """
    hits = int(np.sum((labels == class_) & (said == class_)))
    mentioned = int(np.sum(labels == class_) + np.sum(said == class_))
    return 2 * hits / mentioned if mentioned else 0.0


def scores_of(labels: Labels, said: Labels, games: NDArray[np.int32]) -> Scores:
    """Return ``fold precision``, ``fold recall``, ``fold F1`` and the same of push.

    All int8[n] but ``games`` int32[n]: a game is one observation of the 95 % intervals.  Rows
    labelled UNCLEAR are left out; the score :data:`STRICT` takes them in as PUSH.
    """
    clear = labels != UNCLEAR
    found: Scores = {}
    for name, class_ in CLASSES.items():
        hits, there, told = _counts(labels[clear], said[clear], games[clear], class_)
        found[f"{name} precision"] = rate(hits, told)
        found[f"{name} recall"] = rate(hits, there)
        found[f"{name} F1"] = rate(2 * hits, there + told)
    strict = np.where(clear, labels, np.int8(PUSH))
    hits, there, told = _counts(strict, said, games, FOLD)
    found[STRICT] = rate(2 * hits, there + told)
    return found


def best_threshold(labels: Labels, margins: NDArray[np.float64]) -> float:
    """Return the threshold of the margins above which to say fold, for the highest F1.

    Half way between two neighbouring margins; 0 if there is no fold to be found.
    """
    order = np.argsort(-margins, kind="stable")
    hits = np.cumsum(labels[order] == FOLD)
    n_folds = int(np.sum(labels == FOLD))
    if not n_folds:
        return 0.0
    scores = 2 * hits / (n_folds + np.arange(1, len(order) + 1))
    best = int(np.argmax(scores))
    after = order[min(best + 1, len(order) - 1)]
    return float((margins[order[best]] + margins[after]) / 2)


def _counts(
    labels: Labels, said: Labels, games: NDArray[np.int32], class_: int
) -> tuple[NDArray[np.float64], ...]:
    """Return per game how many were of the class and said so, were of it, and were said so."""
    names, game = np.unique(games, return_inverse=True)
    there, told = labels == class_, said == class_
    return tuple(
        np.bincount(game, chosen, minlength=len(names)).astype(np.float64)
        for chosen in (there & told, there, told)
    )
