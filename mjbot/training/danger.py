"""``mjbot train danger``: the deal-in model from records."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.interruption import keeping
from mjbot.models.danger_features import N_FEATURES, N_GRADES, N_LOSS
from mjbot.models.weights import Manifest, save_weights
from mjbot.progress import progress
from mjbot.requests import command_of
from mjbot.training import regression as fit
from mjbot.training.danger_rows import FIRST_FEATURE, Found, Rows, rows_of
from mjbot.training.hand_run import identity_of
from mjbot.training.positions import GameRef, collect
from mjbot.training.runs import RUNS, Learned, TrainingRequest

NAME: Final = "danger"
MODELS: Final = ("other", "riichi")
"""By the rows' column: opponents without and with riichi."""


def train(request: TrainingRequest) -> tuple[Learned, list[str]]:
    """Fit, check and save; return the weights, and lines on what the check found.

    Raises ``OSError`` and :class:`~mjbot.errors.MjbotError`.
    """
    learn, check = request.split()
    with keeping(lambda: "nothing is kept before the end"):
        return _train(request, learn, check)


def _train(
    request: TrainingRequest, learn: list[GameRef], check: list[GameRef]
) -> tuple[Learned, list[str]]:
    found = _found(request, learn, "reading")
    with progress(Console(stderr=True), "fitting"):
        arrays = fit_danger(found)
    scores: dict[str, float | int | str] = {"games": len(learn), "games held out": len(check)}
    lines = []
    if check:
        held_out = _found(request, check, "checking")
        scores |= check_danger(arrays, held_out)
        lines = _calibration(arrays, held_out)
    names = ", ".join(path.name for path in request.records)
    manifest = Manifest(
        data=f"{names}: every discard of who is not in riichi, and every ron{request.left_out}",
        command=command_of("mjbot train danger", request),
        seed=request.seed,
        scores=scores,
    )
    out = request.out or RUNS / f"train-danger-{identity_of(learn)}"
    return Learned(NAME, save_weights(NAME, arrays, manifest, out), out), lines


def _found(request: TrainingRequest, refs: list[GameRef], what: str) -> Found:
    parts = []
    with progress(Console(stderr=True), f"{what} games", len(refs), "games") as step:
        for part in collect(refs, rows_of, request.jobs, request.left_out):
            parts.append(part)
            step()
    return Found(
        np.concatenate([part.tiles for part in parts]),
        np.concatenate([part.losses for part in parts]),
        np.asarray(np.sum([part.pace for part in parts], axis=0)),
    )


def fit_danger(found: Found) -> dict[str, NDArray[Any]]:
    """Return the arrays of the model.

    ``riichi`` and ``other`` float32[N_FEATURES] are weights of log-odds, ``loss``
    float32[N_LOSS] of the logarithm of points; ``pace`` int64[18, 4, 5] are counts, and
    ``grades`` float32[2, 3] how often the paper's grades deal in, the yardstick.
    """
    arrays: dict[str, NDArray[Any]] = {}
    grades = np.zeros((2, N_GRADES), np.float32)
    for model, name in enumerate(MODELS):
        rows = found.tiles[found.tiles[:, 2] == model]
        labels = rows[:, 0].astype(np.float64)
        weights = fit.fit_logistic(rows[:, FIRST_FEATURE:], labels, N_FEATURES)
        arrays[name] = weights.astype(np.float32)
        for grade in range(N_GRADES):
            of_grade = labels[rows[:, 1] == grade]
            grades[model, grade] = (of_grade.sum() + 1) / (len(of_grade) + 2)
    points = 100 * found.losses[:, 0].astype(np.float64)
    loss = fit.fit_poisson(found.losses[:, 1:], points, N_LOSS)
    return arrays | {"loss": loss.astype(np.float32), "pace": found.pace, "grades": grades}


def check_danger(arrays: dict[str, NDArray[Any]], found: Found) -> dict[str, float | int | str]:
    """Return how good the model is on games that it was not fitted to."""
    scores: dict[str, float | int | str] = {}
    for model, name in enumerate(MODELS):
        rows, labels, chance = _predicted(arrays, found.tiles, model)
        by_grade = arrays["grades"][model][rows[:, 1]].astype(np.float64)
        base = np.full(len(labels), labels.mean())
        scores |= {
            f"{name}: rows": len(rows),
            f"{name}: log loss": round(fit.log_loss(labels, chance), 5),
            f"{name}: log loss of the paper's grades": round(fit.log_loss(labels, by_grade), 5),
            f"{name}: log loss of the mean": round(fit.log_loss(labels, base), 5),
        }
    points = 100 * found.losses[:, 0].astype(np.float64)
    expected = np.exp(fit.linear(found.losses[:, 1:], arrays["loss"].astype(np.float64)))
    spread = np.mean((points - points.mean()) ** 2)
    scores["loss: rons"] = len(points)
    scores["loss: variance explained"] = round(
        float(1 - np.mean((points - expected) ** 2) / spread), 4
    )
    return scores


def _predicted(
    arrays: dict[str, NDArray[Any]], tiles: Rows, model: int
) -> tuple[Rows, fit.Floats, fit.Floats]:
    rows = tiles[tiles[:, 2] == model]
    weights = arrays[MODELS[model]].astype(np.float64)
    return rows, rows[:, 0].astype(np.float64), fit.chances(rows[:, FIRST_FEATURE:], weights)


def _calibration(arrays: dict[str, NDArray[Any]], found: Found) -> list[str]:
    lines = []
    for model, name in enumerate(MODELS):
        _, labels, chance = _predicted(arrays, found.tiles, model)
        lines.append(f"{name}: predicted and observed by tenths of the predictions, percent")
        for predicted, observed, rows in fit.deciles(labels, chance):
            lines.append(f"  {100 * predicted:6.2f} {100 * observed:6.2f}  {rows:7} rows")
    return lines
