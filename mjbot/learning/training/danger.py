"""``mjbot train danger``: the deal-in model from records.

A row is one kind in the hand of a player about to discard, against one opponent that it might
deal in to: what was seen, and what would have happened.  All hands of a record are known, so the
label is whether that opponent would win on it: the shape, a yaku, no furiten.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.table.hands import kind_of
from mjbot.game.table.legal import is_furiten
from mjbot.game.table.observe import dora_values, genbutsu, unseen_kinds
from mjbot.game.table.seats import seat_after
from mjbot.game.table.settle import has_yaku
from mjbot.game.table.state import ACCEPTED, State
from mjbot.learning.models.danger_features import (
    LOSS_ACTIVE,
    MAX_ACTIVE,
    N_FEATURES,
    N_GRADES,
    N_LOSS,
    OPPONENT_SIGNS,
    active_features,
    grade,
    loss_features,
    read_opponent,
)
from mjbot.learning.models.weights import Manifest, save_weights
from mjbot.learning.training import regression as fit
from mjbot.learning.training.hand_positions import identity_of
from mjbot.learning.training.positions import GameRef, GameStep, collect
from mjbot.learning.training.runs import RUNS, Learned, TrainingRequest
from mjbot.protocol.messages import Dahai, EndKyoku, Hora, StartKyoku
from mjbot.runtime.compiler.compiled import compiled, keep_alive
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import command_of

NAME: Final = "danger"
MODELS: Final = ("other", "riichi")
"""By the rows' column: opponents without and with riichi."""

KEEP_OPEN: Final = 4
"""One of so many kinds against an opponent with melds becomes a row."""
KEEP_CLOSED: Final = 16
"""One of so many against one without melds and riichi."""
MAX_ROWS: Final = 42
"""Rows of one discard: 14 kinds, three opponents."""
MAX_TURN: Final = 18
OUTCOMES: Final = 5  # the seat discards again, another wins, it deals in, it wins, a draw

Rows = NDArray[np.int16]
"""int16[n, 17]: label, grade, whether in riichi, then the active features, -1 for none."""
FIRST_FEATURE: Final = 3
ROW_SIZE: Final = FIRST_FEATURE + MAX_ACTIVE


class DangerSamples(NamedTuple):
    """What one game gives.

    ``tiles`` are :data:`Rows`; ``losses`` int16[n, 9] the points of each ron in hundreds and its
    features; ``pace`` int64[18, 4, 5] counts what followed a discard, by the seat's discards so
    far, the opponents in riichi, and the outcome.
    """

    tiles: Rows
    losses: Rows
    pace: NDArray[np.int64]


def train(request: TrainingRequest) -> tuple[Learned, list[str]]:
    """Fit, check and save; return the weights, and lines on what the check found.

    Raises ``OSError`` and :class:`~mjbot.runtime.errors.MjbotError`.
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


def _found(request: TrainingRequest, refs: list[GameRef], what: str) -> DangerSamples:
    parts = []
    with progress(Console(stderr=True), f"{what} games", len(refs), "games") as step:
        for part in collect(refs, rows_of, request.jobs, request.left_out):
            parts.append(part)
            step()
    return DangerSamples(
        np.concatenate([part.tiles for part in parts]),
        np.concatenate([part.losses for part in parts]),
        np.asarray(np.sum([part.pace for part in parts], axis=0)),
    )


def fit_danger(found: DangerSamples) -> dict[str, NDArray[Any]]:
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
        for place in range(N_GRADES):
            of_grade = labels[rows[:, 1] == place]
            grades[model, place] = (of_grade.sum() + 1) / (len(of_grade) + 2)
    points = 100 * found.losses[:, 0].astype(np.float64)
    loss = fit.fit_poisson(found.losses[:, 1:], points, N_LOSS)
    return arrays | {"loss": loss.astype(np.float32), "pace": found.pace, "grades": grades}


def check_danger(
    arrays: dict[str, NDArray[Any]], found: DangerSamples
) -> dict[str, float | int | str]:
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


def _calibration(arrays: dict[str, NDArray[Any]], found: DangerSamples) -> list[str]:
    lines = []
    for model, name in enumerate(MODELS):
        _, labels, chance = _predicted(arrays, found.tiles, model)
        lines.append(f"{name}: predicted and observed by tenths of the predictions, percent")
        for predicted, observed, rows in fit.deciles(labels, chance):
            lines.append(f"  {100 * predicted:6.2f} {100 * observed:6.2f}  {rows:7} rows")
    return lines


# --- rows of records ---------------------------------------------------------------------------


def rows_of(game: Iterator[GameStep]) -> DangerSamples:
    """Collect the rows of one game."""
    tiles: list[Rows] = []
    losses: list[Rows] = []
    pace = _Pace()
    random = np.ones(1, np.uint64)
    rows = np.empty((MAX_ROWS, ROW_SIZE), np.int16)
    for step in game:
        match step.event:
            case StartKyoku() | EndKyoku():
                pace.end_kyoku()
            case Dahai(actor=actor):
                random[0] += np.uint64(step.game)
                n = discard_rows(step.state, actor, random, rows)
                tiles.append(rows[:n].copy())
                pace.discard(step.state, actor)
            case Hora(actor=actor, target=target):
                pace.win(actor, target)
                if actor != target and step.event.hora_points:
                    losses.append(_loss_row(step.state, actor, step.event.hora_points))
            case _:
                pass
    return DangerSamples(_joined(tiles, ROW_SIZE), _joined(losses, 1 + LOSS_ACTIVE), pace.counts)


def _joined(parts: list[Rows], width: int) -> Rows:
    return np.concatenate([np.empty((0, width), np.int16), *parts])


def _loss_row(state: State, winner: int, points: int) -> Rows:
    row = np.empty((1, 1 + LOSS_ACTIVE), np.int16)
    dora = np.empty(34, np.int8)
    dora_values(state, dora)
    row[0, 0] = points // 100
    loss_features(state, winner, kind_of(int(state["last_tile"])), dora, row[0, 1:])
    return row


class _Pace:
    """Counts what happens between two discards of a seat."""

    def __init__(self) -> None:
        self.counts = np.zeros((MAX_TURN, 4, OUTCOMES), np.int64)
        self._waiting: dict[int, tuple[int, int]] = {}

    def discard(self, state: State, actor: int) -> None:
        self._settle(actor, 0)
        threats = sum(int(state["riichi"][seat] > 0) for seat in range(4) if seat != actor)
        self._waiting[actor] = (min(int(state["n_river"][actor]), MAX_TURN - 1), threats)

    def win(self, actor: int, target: int) -> None:
        self._settle(actor, 3)
        if target != actor:
            self._settle(target, 2)
        for seat in list(self._waiting):
            self._settle(seat, 1)

    def end_kyoku(self) -> None:
        for seat in list(self._waiting):
            self._settle(seat, 4)

    def _settle(self, seat: int, outcome: int) -> None:
        if seat in self._waiting:
            turn, threats = self._waiting.pop(seat)
            self.counts[turn, threats, outcome] += 1


@compiled
def would_win(state: State, seat: int, kind: int) -> bool:
    """Return whether ``seat``, whose hand is known, would win on a discard of the kind."""
    if state.waits[seat] >> kind & 1 == 0 or is_furiten(state, seat):
        return False
    return bool(state.riichi[seat] > 0 or has_yaku(state, seat, kind, False))


@compiled
def discard_rows(state: State, seat: int, random: NDArray[np.uint64], out: Rows) -> int:
    """Write the rows of what ``seat`` may discard now; return how many."""
    if state.riichi[seat] == ACCEPTED:
        return 0
    unseen, dora = np.empty(34, np.int8), np.empty(34, np.int8)
    unseen_kinds(state, seat, unseen)
    dora_values(state, dora)
    all_signs = np.empty(1, OPPONENT_SIGNS)
    signs = all_signs[0]
    n = 0
    for step in range(1, state.rules.players):
        opponent = seat_after(state, seat, step)
        keep = 1
        if not state.riichi[opponent]:
            keep = KEEP_OPEN if state.is_open[opponent] else KEEP_CLOSED
        read_opponent(state, opponent, unseen, signs)
        safe = genbutsu(state, opponent)
        for kind in range(34):
            if state.hand[seat, kind] == 0 or safe >> kind & 1:
                continue
            random[0] = random[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            if (random[0] >> np.uint64(33)) % np.uint64(keep):
                continue
            out[n, :] = -1
            out[n, 0] = would_win(state, opponent, kind)
            out[n, 1] = grade(kind, safe, unseen)
            out[n, 2] = state.riichi[opponent] > 0
            active_features(state, opponent, kind, unseen, dora, signs, out[n, FIRST_FEATURE:])
            n += 1
    keep_alive(all_signs)
    return n
