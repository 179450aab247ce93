"""Fitting the deal-in model: logistic and Poisson regression on few active features, in numpy."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.runtime.compiler.compiled import compiled

Floats = NDArray[np.float64]
Active = NDArray[np.int16]
"""int16[n, m]: the active features of each row, -1 for none."""

RIDGE: Final = 1.0
"""Strength of the ridge on each weight, in rows."""
MAX_STEPS: Final = 25
ENOUGH: Final = 1e-6
MAX_LOG: Final = 30.0
SLICE: Final = 100_000
"""Rows handled in one compiled call, during which signals are not handled."""


def fit_logistic(active: Active, labels: Floats, size: int) -> Floats:
    """Return the weights float64[size] of log-odds that make the labels (0 or 1) most likely."""
    return _newton(active, labels, size, logistic=True)


def fit_poisson(active: Active, values: Floats, size: int) -> Floats:
    """Return weights of the logarithm of the mean of non-negative values."""
    return _newton(active, values, size, logistic=False)


def linear(active: Active, weights: Floats) -> Floats:
    """Return the sum of the active weights of each row."""
    return _linear(active, weights)


def chances(active: Active, weights: Floats) -> Floats:
    """Return the probability of each row."""
    return np.asarray(1 / (1 + np.exp(-_linear(active, weights))))


def log_loss(labels: Floats, chance: Floats) -> float:
    """Return the mean negative logarithm of the probability given to what happened."""
    return float(-np.mean(np.log(np.where(labels > 0, chance, 1 - chance))))


def deciles(labels: Floats, chance: Floats) -> list[tuple[float, float, int]]:
    """Return (mean predicted, mean observed, rows) of ten equal parts ordered by prediction."""
    order = np.argsort(chance, kind="stable")
    return [
        (float(chance[part].mean()), float(labels[part].mean()), len(part))
        for part in np.array_split(order, 10)
        if len(part)
    ]


def _newton(active: Active, values: Floats, size: int, logistic: bool) -> Floats:
    weights = np.zeros(size)
    if not logistic:  # all groups have one active feature: share the mean's logarithm
        weights += np.log(max(float(values.mean()), ENOUGH)) / active.shape[1]
    for _ in range(MAX_STEPS):
        gradient, curvature = np.zeros(size), np.zeros((size, size))
        for start in range(0, len(active), SLICE):
            some = slice(start, start + SLICE)
            _add_derivatives(active[some], values[some], weights, logistic, gradient, curvature)
        curvature[np.diag_indices(size)] += RIDGE
        pull = RIDGE * weights if logistic else 0
        step = np.linalg.solve(curvature, gradient - pull)
        weights += step
        if float(np.abs(step).max()) < ENOUGH:
            break
    return weights


@compiled
def _linear(active: Active, weights: Floats) -> Floats:
    sums = np.zeros(len(active))
    for row in range(len(active)):
        for place in range(active.shape[1]):
            if active[row, place] >= 0:
                sums[row] += weights[active[row, place]]
    return sums


@compiled
def _add_derivatives(
    active: Active,
    values: Floats,
    weights: Floats,
    logistic: bool,
    gradient: Floats,
    curvature: Floats,
) -> None:
    """Add the gradient and the negative second derivatives of the log likelihood of some rows."""
    sums = _linear(active, weights)
    for row in range(len(active)):
        if logistic:
            mean = 1 / (1 + np.exp(-sums[row]))
            spread = mean * (1 - mean)
        else:
            mean = np.exp(min(sums[row], MAX_LOG))
            spread = mean
        for i in range(active.shape[1]):
            one = active[row, i]
            if one < 0:
                continue
            gradient[one] += values[row] - mean
            for j in range(active.shape[1]):
                if active[row, j] >= 0:
                    curvature[one, active[row, j]] += spread
