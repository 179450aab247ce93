"""How well a model predicts choices: figures that "always no" cannot inflate, by game.

Theory.  Most choices of a call are "no" (chi: nine of ten), so a share of agreement means little
without the *majority rate*, that of always giving the commonest answer.  Reported next to it are

* the *mean recall*: the mean over the classes of the share recognised of each, which is the
  agreement on a set where all classes are as common; always "no" has 1 / classes;
* the *balanced recall*: the same of the answer that is best on such a set, the one with the most
  chance in proportion to the prior's;
* the *log loss*: the mean of -log(probability given to what was chosen), and that of the *prior*,
  which gives each class its share among these very rows;
* the *AUC*: the chance that a "yes" (for chi: of any form) is given more than a "no".

All but the AUC use legal classes alone: the others' probabilities, the prior's too, are removed
first and the rest is normalised to 1.  One game is one observation of every interval
(:mod:`mjbot.game.statistics.estimates`); that of the AUC is DeLong's, with the games as clusters
(Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53, 1997).
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.statistics.estimates import NOTHING, Estimate, around, mean_of_ratios, rate, ratio
from mjbot.game.table.state import ANKAN, DAIMINKAN, KAKAN
from mjbot.learning.training.networks.decisions import N_CHOICES, DecisionKind, Records

Scores = dict[str, Estimate | float]
Probabilities = NDArray[Any]
"""float[n, classes], of each class that it was chosen; rows need not add up to 1."""
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

LEAST_CHANCE: Final = 1e-7
"""No choice counts as less likely: one row cannot cost more than 16 in log loss."""
TOP: Final = 3


def scores_of(kind: DecisionKind, probabilities: Probabilities, rows: Records) -> Scores:
    """Return all figures of a kind of decision; ``rows`` are DECISION[n].

    Names: ``rows``, ``accuracy``, ``majority``, ``mean recall``, ``balanced recall``,
    ``log loss``, ``prior's log loss`` and ``auc``; of discards, which have no yes and no,
    ``top 3`` in its stead; and the same of some parts (:func:`parts_of`), such as
    ``first chance: accuracy``.
    """
    if probabilities.shape != (len(rows), N_CHOICES[kind]):
        predicted = f"{probabilities.shape} probabilities for {len(rows)} {kind} rows"
        raise ValueError(f"{predicted} of {N_CHOICES[kind]} classes")
    scores = _scores(kind, probabilities, rows)
    for name, part in parts_of(kind, rows).items():
        found = _scores(kind, probabilities[part], rows[part])
        scores |= {f"{name}: {figure}": value for figure, value in found.items()}
    return scores


def parts_of(kind: DecisionKind, rows: Records) -> Mapping[str, Bools]:
    """Return which rows are reported on their own: bool[n] by name.

    Of riichi each seat's first chance in a kyoku: a silent player repeats the same "no" every turn.
    Of kan its three forms.
    """
    match kind:
        case DecisionKind.RIICHI:
            seats = (rows["game"].astype(np.int64) * 1000 + rows["kyoku"]) * 4 + rows["seat"]
            first = np.zeros(len(rows), bool)
            first[np.unique(seats, return_index=True)[1]] = True
            return {"first chance": first}
        case DecisionKind.KAN:
            forms = {"ankan": ANKAN, "kakan": KAKAN, "daiminkan": DAIMINKAN}
            return {name: rows["form"] == form for name, form in forms.items()}
        case _:
            return {}


def manifest_figures(scores: Scores) -> dict[str, float | int | str]:
    """Return figures as a manifest has them: a number, or its text with the interval."""
    return {name: _figure(value) for name, value in scores.items()}


def _figure(value: Estimate | float) -> float | int | str:
    if isinstance(value, Estimate):
        return value.text()
    return round(value, 5) if value != int(value) else int(value)


def legal_chances(probabilities: Probabilities, rows: Records) -> Floats:
    """Return the probabilities of the legal classes, 0 for the others: float64[n, classes]."""
    classes = np.arange(probabilities.shape[1])
    legal = (rows["legal"][:, None] >> classes) & 1
    chances = np.maximum(probabilities.astype(np.float64), 1e-12) * legal
    totals = chances.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(chances, totals, out=chances, where=totals > 0))


def _scores(kind: DecisionKind, probabilities: Probabilities, rows: Records) -> Scores:
    if not len(rows):
        return {"rows": 0}
    games, game = np.unique(rows["game"], return_inverse=True)
    choice = rows["choice"].astype(np.int64)
    counts = np.bincount(choice, minlength=probabilities.shape[1])

    def by_game(values: Any) -> Floats:
        return np.bincount(game, values, len(games)).astype(np.float64)

    def recall(predicted: NDArray[np.int64]) -> Estimate:
        hits = [(predicted == choice) & (choice == class_) for class_ in np.flatnonzero(counts)]
        of_class = [choice == class_ for class_ in np.flatnonzero(counts)]
        pairs = zip(map(by_game, hits), map(by_game, of_class), strict=True)
        return mean_of_ratios([*pairs])

    n = by_game(np.ones(len(rows)))
    chances = legal_chances(probabilities, rows)
    right = chances.argmax(axis=1) == choice
    prior = legal_chances(np.tile(counts / len(rows), (len(rows), 1)), rows)
    scores: Scores = {
        "rows": len(rows),
        "accuracy": rate(by_game(right), n),
        "majority": rate(by_game(prior.argmax(axis=1) == choice), n),
        "mean recall": recall(chances.argmax(axis=1)),
        "balanced recall": recall((chances / np.maximum(counts, 1)).argmax(axis=1)),
        "log loss": ratio(by_game(_losses(chances, choice)), n),
        "prior's log loss": ratio(by_game(_losses(prior, choice)), n),
    }
    if kind == DecisionKind.DISCARD:
        made = chances[np.arange(len(rows)), choice]
        scores["top 3"] = rate(by_game((chances > made[:, None]).sum(axis=1) < TOP), n)
    else:
        scores["auc"] = auc(1 - probabilities[:, 0].astype(np.float64), choice > 0, game)
    return scores


def _losses(chances: Floats, choice: NDArray[np.int64]) -> Floats:
    losses: Floats = -np.log(np.maximum(chances[np.arange(len(choice)), choice], LEAST_CHANCE))
    return losses


def auc(values: Floats, labels: Bools, game: NDArray[np.int64]) -> Estimate:
    """Return the chance that a true row has the greater value than a false one; ties count half.

    ``game`` int64[n] numbers the clusters from 0 on; nothing where all rows are alike.

    >>> game = np.arange(8)
    >>> print(auc(np.arange(8.0), np.arange(8) > 3, game))
    1 [1, 1]
    """
    true, false = np.sort(values[labels]), np.sort(values[~labels])
    if not (len(true) and len(false)):
        return NOTHING
    beaten = np.where(labels, _share_below(values, false), 1 - _share_below(values, true))
    value = float(beaten[labels].mean())
    n_games = int(game.max()) + 1
    pulls = np.where(labels, 1 / len(true), 1 / len(false)) * (beaten - value)
    return around(value, n_games * np.bincount(game, pulls, n_games).astype(np.float64))


def _share_below(values: Floats, others: Floats) -> Floats:
    """Return what share of sorted others is below each value, equal ones counted half."""
    low, high = np.searchsorted(others, values, "left"), np.searchsorted(others, values, "right")
    return np.asarray((low + high) / (2 * len(others)))
