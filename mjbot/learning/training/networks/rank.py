"""``mjbot train rank``: the rank model, and what it is weighed against.

How ours is learned.  4,000 games end 4,000 times only, so the final ranks are noisy labels of
ten kyoku starts each.  After a first stage of :data:`WARM_UP` passes the label of each kyoku is the
prediction of the model, averaged over the steps so far, at the start of the next kyoku (temporal
differences; Sutton, Machine Learning 3, 1988), which separates the effect of the kyoku from what
followed; the last one keeps the ranks.  The loss is the cross-entropy of all four seats after the
scaling of ranks, so that the model is trained as it is used.

Weighed against: *as it stands* (the ranks of the present scores), softmax regression on the same
features, and the paper's own form (Matsuda and Ito 2021, section 5: 7 numbers as 120 bins each, 840
inputs, dense 256 and 512 with dropout, one output, squared error, Adam, batches of 256).

The number of passes was chosen with games 3200 to 3999 held out of 4,000; the games checked with
did not influence it.  Tried and rejected, by cross-entropy: labels by outcomes of other kyoku with
as many left (as good), final ranks as labels (0.002 worse), one hidden layer of 32 (0.003), dropout
of 0.2 (0.001).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.statistics.estimates import difference, ratio
from mjbot.game.table.settle import seats_ahead
from mjbot.learning.models.networks.rank import (
    N_FEATURES,
    NAME,
    SWEEPS,
    VERSION,
    RankWeights,
    rank_chances,
    write_rank_features,
)
from mjbot.learning.models.weights import Manifest, save_weights
from mjbot.learning.training.fit import Fit, Schedule
from mjbot.learning.training.networks.decisions import (
    KYOKU,
    Records,
    check_data,
    check_distinct,
    open_kyoku,
)
from mjbot.learning.training.requests import RankRequest
from mjbot.learning.training.runs import RUNS, Learned, TrainingError, torch
from mjbot.protocol.rules import Rules
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import command_of

UNITS: Final = 64
BATCH: Final = 256
WARM_UP: Final = 3
LEARNING_RATE: Final = 2e-3
DECAY: Final = 1e-4
AVERAGED: Final = 100
"""Steps of the averaged weights."""
HELD_OUT: Final = 10
"""The last game of so many decides when the paper's form and the control stop."""

Floats = NDArray[np.float32]
Predictor = Callable[[Records], NDArray[np.float64]]
"""From KYOKU[n] to the chances [n, seat, rank] or the mean ranks [n, seat]."""


Controls = Callable[[Records, int], Mapping[str, Predictor]]
"""Trains, from KYOKU[n] and a seed, what the model is compared with, by name."""


def train(
    request: RankRequest,
    controls: Controls = lambda learned, seed: {},
    program: str = "mjbot train rank",
) -> Learned:
    """Train, check and save the model; its scores have those of the ``controls``, too.

    ``program`` is what the manifest names as the command.  Raises ``OSError`` and
    :class:`~mjbot.runtime.errors.MjbotError`.
    """
    torch()
    check_distinct(request.data, players=(3, 4))
    info = check_data(request.data[0])
    kyoku = kyoku_of(request.data[0])
    stop = request.games.stop or int(kyoku["game"].max(initial=-1)) + 1
    learned = kyoku[(kyoku["game"] >= request.games.start) & (kyoku["game"] < stop)]
    if len(np.unique(learned["game"])) < HELD_OUT:
        raise ArgumentError(f"--games: {HELD_OUT} at least, to learn from and to stop by")
    scores: dict[str, float | int | str] = {"kyoku": len(learned), "nets": request.nets}
    started = time.process_time()
    with keeping(lambda: "nothing is kept before the end"):
        weights = learn(learned, request.nets, request.passes, request.seed)
        scores["processor s"] = round(time.process_time() - started)
        models: dict[str, Predictor] = {"ours": lambda rows: chances_of(weights, rows)}
        models |= controls(learned, request.seed)
        for label, rows in checks(request.data, stop).items():
            scores |= {f"{label}: {what}": report for what, report in compare(models, rows).items()}
    manifest = Manifest(
        data=f"all kyoku starts in games {request.games.start}:{stop} of {info.data}",
        command=command_of(program, request),
        seed=request.seed,
        scores=scores,
    )
    arrays = {name: array.astype(np.float16) for name, array in weights._asdict().items()}
    arrays["version"] = np.array([VERSION], np.int32)
    out = request.out or RUNS / f"train-rank-{request.seed}"
    return Learned(NAME, save_weights(NAME, arrays, manifest, out), out)


def kyoku_of(folder: Path) -> Records:
    """Return all starts of kyoku in a folder, with as many seats as its games have players."""
    players = check_data(folder).players
    kyoku = np.array(open_kyoku(folder))
    if players == 4:
        return kyoku
    names = KYOKU.names or ()
    fewer = np.empty(
        len(kyoku),
        [(name, KYOKU[name].base, (players,) * len(KYOKU[name].shape)) for name in names],
    )
    for name in names:
        fewer[name] = kyoku[name][:, :players] if kyoku[name].ndim == 2 else kyoku[name]
    return fewer


def _seats(rows: Records) -> int:
    return int(rows["scores"].shape[1])


def _last_round(rows: Records) -> int:
    return int(Rules(players=_seats(rows)).last_round)


def checks(data: Sequence[Path], stop: int) -> dict[str, Records]:
    """Return the kyoku of the first folder's games from ``stop`` on, and all of the others'."""
    found = {}
    for place, folder in enumerate(data):
        kyoku = kyoku_of(folder)
        rows = kyoku[kyoku["game"] >= stop] if place == 0 else kyoku
        if len(rows):
            found[folder.name] = rows
    return found


# --- figures -----------------------------------------------------------------------------------


def compare(models: Mapping[str, Predictor], rows: Records) -> dict[str, float | int | str]:
    """Return the figures of each model on KYOKU[n]; ``ours`` is paired with each that has chances.

    A squared error is of the mean rank; its share is of that of the scores as they stand.
    """
    _, game = np.unique(rows["game"], return_inverse=True)
    ranks = rows["ranks"].astype(np.int64)

    def by_game(values: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        sums = np.bincount(game, values.mean(axis=1)).astype(np.float64)
        return sums, np.bincount(game).astype(np.float64)

    stands = by_game((as_it_stands(rows) - ranks) ** 2.0)
    report: dict[str, float | int | str] = {
        "rows": len(rows),
        "as it stands: squared error": ratio(*stands).text(),
    }
    ours = None
    for name, model in models.items():
        found = model(rows)
        mean = found @ np.arange(1.0, 1 + found.shape[2]) if found.ndim == 3 else found
        errors = by_game((mean - ranks) ** 2)
        report[f"{name}: squared error"] = ratio(*errors).text()
        report[f"{name}: share of as it stands"] = ratio(errors[0], stands[0]).text()
        if found.ndim == 3:
            made = np.take_along_axis(found, ranks[:, :, None] - 1, axis=2)[:, :, 0]
            losses = by_game(-np.log(np.maximum(made, 1e-6)))
            report[f"{name}: cross-entropy"] = ratio(*losses).text()
            ours = ours or losses
            if ours is not losses:
                report[f"ours less {name}: cross-entropy"] = difference(ours, losses).text()
    return report


def as_it_stands(rows: Records) -> NDArray[np.int64]:
    """Return the ranks of the present scores: int64[n, 4], 1 to 4."""
    ranks = np.empty(rows["scores"].shape, np.int64)
    for row, scores in enumerate(rows["scores"]):
        for seat in range(len(scores)):
            ranks[row, seat] = 1 + seats_ahead(scores, seat)
    return ranks


def chances_of(weights: RankWeights, rows: Records) -> NDArray[np.float64]:
    """Return the model's output for KYOKU[n] of hanchan: float64[n, seats, ranks]."""
    found, seats = np.empty((len(rows), 4, 4)), _seats(rows)
    _fill_chances(weights, rows, _last_round(rows), found)
    return found[:, :seats, :seats]


@compiled
def _fill_chances(
    weights: RankWeights, rows: Records, last_round: int, out: NDArray[np.float64]
) -> None:
    for number in range(len(rows)):
        row = rows[number]
        rank_chances(
            weights, row.scores, row.round, last_round, row.honba, row.sticks, row.dealer,
            out[number],
        )  # fmt: skip


# --- ours --------------------------------------------------------------------------------------


def features_of(rows: Records) -> Floats:
    """Return the networks' input for each seat: float32[n, seats, 37]."""
    found = np.empty((len(rows), _seats(rows), N_FEATURES), np.float32)
    _fill_features(rows, _last_round(rows), found)
    return found


@compiled
def _fill_features(rows: Records, last_round: int, out: Floats) -> None:
    for number in range(len(rows)):
        row = rows[number]
        for seat in range(len(row.scores)):
            write_rank_features(
                row.scores, seat, row.round, last_round, row.honba, row.sticks, row.dealer,
                out[number, seat],
            )  # fmt: skip


def learn(rows: Records, nets: int, passes: int, seed: int) -> RankWeights:
    """Return some networks that each learned from KYOKU[n], as they are stored: rounded."""
    learned = []
    with progress(Console(stderr=True), "learning", nets * passes, "passes") as step:
        for net in range(nets):
            learned.append(_learn(rows, passes, np.random.default_rng([seed, net]), step))
    parts = [np.stack([one[name] for one in learned]) for name in RankWeights._fields]
    return RankWeights(*[part.astype(np.float16).astype(np.float32) for part in parts])


def _learn(rows: Records, passes: int, dice: np.random.Generator, step: Any) -> dict[str, Floats]:
    descent = _RankFit(dice, passes * max(1, len(rows) // BATCH))
    features, ranks = features_of(rows), _final(rows)
    follows = np.append(rows["game"][1:] == rows["game"][:-1], False)
    loss = 0.0
    for number in range(passes):
        labels = ranks.copy()
        if number >= WARM_UP:
            labels[follows] = descent.averaged(features)[1:][follows[:-1]]
        loss = descent.learn(features, labels)
        step(note=f"loss {loss:.4f}")
    if not np.isfinite(loss):
        raise TrainingError("the rank model did not learn: its loss is no number")
    return descent.average


def _final(rows: Records) -> Floats:
    ranks: Floats = np.eye(_seats(rows), dtype=np.float32)[rows["ranks"].astype(np.int64) - 1]
    return ranks


class _RankFit:
    """One network on its way, and the running average of its weights."""

    def __init__(self, dice: np.random.Generator, steps: int) -> None:
        shapes = {
            "first": (N_FEATURES, UNITS),
            "first_bias": (UNITS,),
            "second": (UNITS, UNITS),
            "second_bias": (UNITS,),
            "last": (UNITS, 4),
            "skip": (N_FEATURES, 4),
            "last_bias": (4,),
        }
        self._dice: Final = dice
        self._weights: Final = {
            name: torch().tensor(
                dice.uniform(-1, 1, shape).astype(np.float32)
                * np.sqrt(1 / shape[0] if len(shape) > 1 else 0),
                dtype=torch().float32,
                requires_grad=True,
            )
            for name, shape in shapes.items()
        }
        schedule = Schedule(rate=LEARNING_RATE, end=0.02)
        self._fit: Final = Fit(self._weights, schedule, steps, decay=DECAY, averaged=AVERAGED)

    @property
    def average(self) -> dict[str, Floats]:
        return {name: weight.numpy().copy() for name, weight in self._fit.average.items()}

    def averaged(self, features: Floats) -> Floats:
        """Return the averaged network's chances [n, seats, ranks] for features [n, seats, 37]."""
        with torch().no_grad():
            found = _log_chances(self._fit.average, torch().from_numpy(features)).exp()
        chances: Floats = found.numpy()
        return chances

    def learn(self, features: Floats, labels: Floats) -> float:
        """Go over all rows once; return the mean loss."""
        order = self._dice.permutation(len(features))
        inputs, wanted = torch().from_numpy(features), torch().from_numpy(labels)
        losses, size = [], min(BATCH, len(order))
        for start in range(0, len(order) - size + 1, size):
            some = torch().from_numpy(order[start : start + size])
            loss = -(wanted[some] * _log_chances(self._weights, inputs[some])).sum(2).mean()
            losses.append(self._fit.learn(loss))
        return float(np.mean(losses))


def _log_chances(weights: Mapping[str, Any], features: Any) -> Any:
    """Return the logarithms of chances [n, seats, ranks], each rank given once."""
    silu = torch().nn.functional.silu
    hidden = silu(features @ weights["first"] + weights["first_bias"])
    hidden = silu(hidden @ weights["second"] + weights["second_bias"])
    logits = hidden @ weights["last"] + features @ weights["skip"] + weights["last_bias"]
    logits = logits[..., : logits.shape[1]]
    for _ in range(SWEEPS):
        logits = logits - logits.logsumexp(2, keepdim=True)
        logits = logits - logits.logsumexp(1, keepdim=True)
    return logits - logits.logsumexp(2, keepdim=True)
