"""``mjbot train shanten``: how far hidden hands are from tenpai, from records.

All hands of a record are known, so every discard gives labelled examples: before it, one of the
others, chosen at random, is described by what all can see, and its shanten is the label; it is left
out in riichi and with four melds, where it is tenpai at any rate.  The network
(:mod:`mjbot.learning.models.networks.hidden_shanten`) learns by the cross-entropy of the shanten
that are possible.  So the chances are those of the players in the records.

Weighed against: the greedy table; what is counted in the same games by shanten alone, and by
melds and discards.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.rules.tile_sets import shanten_of
from mjbot.game.statistics.estimates import difference, rate, ratio
from mjbot.game.table.seats import seat_after
from mjbot.game.table.state import NO_RIICHI, State
from mjbot.learning.models.networks.hidden_shanten import (
    MOST_DISCARDS,
    N_ACTIVE,
    N_FEATURES,
    N_SHANTEN,
    NAME,
    ShantenWeights,
    highest_shanten,
    predict,
    write_signs,
)
from mjbot.learning.models.tenpai import greedy_odds, greedy_table
from mjbot.learning.models.weights import Manifest, save_weights
from mjbot.learning.training.fit import Fit, Schedule
from mjbot.learning.training.hand_positions import identity_of
from mjbot.learning.training.networks.scores import auc
from mjbot.learning.training.positions import GameRef, GameStep, collect
from mjbot.learning.training.regression import deciles
from mjbot.learning.training.requests import ShantenRequest
from mjbot.learning.training.runs import RUNS, Learned, TrainingError, torch
from mjbot.protocol.messages import Dahai
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Float64s, Int8, Int16s, Int64, Record
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import command_of

UNITS: Final = 32
BATCH: Final = 256
RATE: Final = 3e-3
MELDS: Final = 4
"""0 .. 3 melds are distinguished; with four the seat is tenpai."""

Floats = NDArray[np.float64]
Reader = Mapping[str, Floats]


class ShantenRow(Record):
    """What one row holds: a seat as all see it, and what it has."""

    game: Int64
    shanten: Int8  # 6 for all from there
    highest: Int8  # that it can have
    melds: Int8
    discards: Int8
    active: Annotated[Int16s, N_ACTIVE]
    greedy: Annotated[Float64s, N_SHANTEN]  # of the greedy table


Rows = NDArray[np.void]


def train(request: ShantenRequest) -> tuple[Learned, list[str]]:
    """Fit, check and save; return the weights, and lines on how well predictions fit.

    Raises ``OSError`` and :class:`~mjbot.runtime.errors.MjbotError`.
    """
    learn, held_out = request.split()
    checks = {"held out": held_out} if held_out else {}
    if request.check:
        checks[request.check.name] = request.more(request.check)
    with keeping(lambda: "nothing is kept before the end"):
        return _train(request, learn, checks)


def _train(
    request: ShantenRequest, learn: list[GameRef], checks: Mapping[str, list[GameRef]]
) -> tuple[Learned, list[str]]:
    rows = _found(request, learn, "reading")
    if not len(rows):
        raise TrainingError("there is no discard in these games to learn from")
    weights = fit(rows, request.passes, request.seed)
    scores: dict[str, float | int | str] = {"games": len(learn), "rows": len(rows)}
    lines = []
    for label, games in checks.items():
        others = _found(request, games, "checking")
        models = predictions(weights, rows, others)
        scores |= {f"{label}: {what}": report for what, report in compare(models, others).items()}
        lines += [f"{label}: {line}" for line in calibration(models["ours"], others)]
    names = " ".join(path.name for path in request.records)
    manifest = Manifest(
        data=f"{names}: before each discard one of the others not in riichi{request.left_out}",
        command=command_of("mjbot train shanten", request),
        seed=request.seed,
        scores=scores,
    )
    arrays = {name: array.astype(np.float16) for name, array in weights._asdict().items()}
    out = request.out or RUNS / f"train-shanten-{identity_of(learn)}"
    return Learned(NAME, save_weights(NAME, arrays, manifest, out), out), lines


# --- rows --------------------------------------------------------------------------------------


def _found(request: ShantenRequest, refs: list[GameRef], what: str) -> Rows:
    parts = [np.empty(0, ShantenRow.dtype)]
    with progress(Console(stderr=True), f"{what} games", len(refs), "games") as step:
        for part in collect(refs, rows_of, request.jobs, request.left_out):
            parts.append(part)
            step()
    return np.concatenate(parts)


def rows_of(game: Iterator[GameStep]) -> Rows:
    """Collect the rows of one game."""
    parts = [np.empty(0, ShantenRow.dtype)]
    table, random = greedy_table(), np.random.default_rng(0)
    for step in game:
        if not isinstance(step.event, Dahai):
            continue
        state = step.state
        seat = seat_after(
            state, step.event.actor, int(random.integers(1, state["rules"]["players"]))
        )
        known, melds = state["hand_known"][seat], state["n_melds"][seat]
        if state["riichi"][seat] == NO_RIICHI and known and melds < MELDS:
            row = np.zeros(1, ShantenRow.dtype)
            row["game"] = step.game
            fill_row(state, seat, table, row[0])
            parts.append(row)
    return np.concatenate(parts)


@compiled
def fill_row(state: State, seat: int, table: Floats, row: ShantenRow) -> None:
    """Write all of a row but the game."""
    melds = state.n_melds[seat]
    row.highest = highest_shanten(state, seat)
    row.shanten = max(0, min(shanten_of(state.hand[seat], melds, state.rules.players), row.highest))
    row.melds = melds
    row.discards = min(state.n_river[seat], MOST_DISCARDS)
    write_signs(state, seat, row.active)
    total = greedy_odds(state, seat, table, row.greedy)
    for shanten in range(N_SHANTEN):
        row.greedy[shanten] /= total


# --- fitting -----------------------------------------------------------------------------------


def fit(rows: Rows, passes: int, seed: int) -> ShantenWeights:
    """Return the weights after so many passes over the rows, rounded as they are stored."""
    dice = np.random.default_rng(seed)
    weights = {
        name: torch().tensor(array, requires_grad=True) for name, array in _first(dice).items()
    }
    size = min(BATCH, len(rows))
    batches = len(rows) // size
    learner = Fit(weights, Schedule(rate=RATE, end=0.01), passes * batches)
    active = torch().from_numpy(rows["active"].astype(np.int64))
    possible = torch().from_numpy(np.arange(N_SHANTEN) <= rows["highest"][:, None])
    shanten = torch().from_numpy(rows["shanten"].astype(np.int64))
    with progress(Console(stderr=True), "learning", passes, "passes") as step:
        for _ in range(passes):
            lost = 0.0
            for some in dice.permutation(len(rows))[: batches * size].reshape(batches, size):
                chances = _log_chances(weights, active[some], possible[some])
                loss = torch().nn.functional.nll_loss(chances, shanten[some])
                lost += learner.learn(loss)
            step(note=f"log loss {lost / batches:.4f}")
    stored = {
        name: array.detach().numpy().astype(np.float16).astype(np.float32)
        for name, array in weights.items()
    }
    if not all(np.isfinite(array).all() for array in stored.values()):
        raise TrainingError("the network did not learn: its weights are no numbers")
    return ShantenWeights(**stored)


def _first(dice: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    """Return small random weights to start from: of the size of He et al. (2015)."""
    shapes = {"first": (N_FEATURES, UNITS), "last": (N_SHANTEN, UNITS)}
    scales = {"first": math.sqrt(2 / N_ACTIVE), "last": math.sqrt(1 / UNITS)}
    arrays = {name: scales[name] * dice.normal(size=shape) for name, shape in shapes.items()}
    arrays |= {"first_bias": np.zeros(UNITS), "last_bias": np.zeros(N_SHANTEN)}
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def _log_chances(weights: Mapping[str, Any], active: Any, possible: Any) -> Any:
    """Return the logarithms of the chances [n, 7] that the network gives."""
    sums = torch().nn.functional.embedding_bag(active, weights["first"], mode="sum")
    hidden = (sums + weights["first_bias"]).relu()
    logits = hidden @ weights["last"].T + weights["last_bias"]
    return logits.masked_fill(~possible, -torch().inf).log_softmax(1)


# --- figures -----------------------------------------------------------------------------------


def predictions(weights: ShantenWeights, learned: Rows, rows: Rows) -> dict[str, Floats]:
    """Return the output of each model for the rows: float64[rows, 7] by name, ``ours`` first.

    The last two are counted in the rows learned from, as if one more had each shanten.
    """
    ours = np.empty((len(rows), N_SHANTEN))
    _predict_all(weights, rows, ours)
    counts = np.ones((MELDS, MOST_DISCARDS + 1, N_SHANTEN))
    np.add.at(counts, (learned["melds"], learned["discards"], learned["shanten"]), 1)
    by_class = counts[rows["melds"], rows["discards"]]
    alone = np.broadcast_to(counts.sum(axis=(0, 1)), by_class.shape)
    possible = np.arange(N_SHANTEN) <= rows["highest"][:, None]
    shares = [np.where(possible, odds, 0) for odds in (by_class, alone)]
    by_class, alone = (odds / odds.sum(axis=1, keepdims=True) for odds in shares)
    greedy = rows["greedy"].astype(np.float64)
    return {"ours": ours, "greedy": greedy, "by melds and discards": by_class, "prior": alone}


@compiled
def _predict_all(weights: ShantenWeights, rows: Rows, out: Floats) -> None:
    for place in range(len(rows)):
        predict(weights, rows[place].active, rows[place].highest, out[place])


def compare(models: Reader, rows: Rows) -> dict[str, str | int]:
    """Return figures of each model: of all shanten, of tenpai or not, and by melds.

    95 % intervals by game; ``less`` is the difference of log losses, games paired.
    """
    _, game = np.unique(rows["game"], return_inverse=True)
    report: dict[str, str | int] = {"rows": len(rows)}
    tenpai = rows["shanten"] == 0
    n = _by_game(game, np.ones(len(rows)))
    losses = {}
    for name, chances in models.items():
        made = chances[np.arange(len(rows)), rows["shanten"].astype(np.int64)]
        losses[name] = _by_game(game, -np.log(np.maximum(made, 1e-9)))
        two = _by_game(game, _tenpai_losses(chances, tenpai))
        report[f"{name}: log loss"] = ratio(losses[name], n).text()
        report[f"{name}: tenpai: log loss"] = ratio(two, n).text()
        report[f"{name}: tenpai: AUC"] = auc(chances[:, 0], tenpai, game).text()
        if name != "ours":
            less = difference((losses["ours"], n), (losses[name], n))
            report[f"ours less {name}: log loss"] = less.text()
    for melds in range(MELDS):
        some = rows["melds"] == melds
        if some.any():
            report |= _of_class(f"{melds} melds", models, rows[some], some)
    return report


def _of_class(label: str, models: Reader, rows: Rows, some: NDArray[np.bool_]) -> dict[str, str]:
    _, game = np.unique(rows["game"], return_inverse=True)
    tenpai = rows["shanten"] == 0
    n = _by_game(game, np.ones(len(rows)))
    share = rate(_by_game(game, tenpai), n)
    report = {f"{label}: tenpai": f"{share.text()} of {len(rows)}"}
    for name in ("ours", "greedy"):
        chances = models[name][some]
        lost = ratio(_by_game(game, _tenpai_losses(chances, tenpai)), n)
        report[f"{label}: {name}: predicted"] = f"{chances[:, 0].mean():.4f}"
        report[f"{label}: {name}: tenpai: log loss"] = lost.text()
        report[f"{label}: {name}: tenpai: AUC"] = auc(chances[:, 0], tenpai, game).text()
    return report


def _tenpai_losses(chances: Floats, tenpai: NDArray[np.bool_]) -> Floats:
    made = np.where(tenpai, chances[:, 0], 1 - chances[:, 0])
    return np.asarray(-np.log(np.maximum(made, 1e-9)))


def _by_game(game: NDArray[np.int64], values: NDArray[np.generic]) -> Floats:
    return np.bincount(game, values).astype(np.float64)


def calibration(chances: Floats, rows: Rows) -> list[str]:
    """Return lines: tenpai predicted and found by tenths of the predictions, %."""
    classes = {"all": rows["melds"] >= 0, "closed": rows["melds"] == 0, "open": rows["melds"] > 0}
    lines = []
    for label, some in classes.items():
        lines.append(f"tenpai of {label}: predicted and found by tenths, %")
        tenpai = (rows["shanten"][some] == 0).astype(np.float64)
        for predicted, found, n in deciles(tenpai, chances[some, 0]):
            lines.append(f"  {100 * predicted:6.2f} {100 * found:6.2f}  {n:7} rows")
    return lines
