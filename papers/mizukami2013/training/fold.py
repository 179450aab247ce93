"""``python -m papers train-fold RECORDS``: the fold recogniser, by a support vector machine."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.learning.models import fold as fold_model
from mjbot.learning.models.fold import FEATURE_SET, NAME, FoldModel, arrays_of, margin, wanted_kind
from mjbot.learning.models.fold_features import N_FEATURES, fold_features
from mjbot.learning.models.hand import HandEvaluator, weights_name
from mjbot.learning.models.weights import Manifest, load_manifest, save_weights
from mjbot.learning.training import runs
from mjbot.learning.training.positions import GameRef, file_digests
from mjbot.runtime.compiler.sources import source_digest
from mjbot.runtime.files import plural
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import Step, progress
from mjbot.runtime.requests import command_of
from papers.mizukami2013.training import fold_positions
from papers.mizukami2013.training.fold_grid import (
    Cell,
    Examples,
    GridSearch,
    fitted,
    held_out_margins,
    support_vector_machine,
)
from papers.mizukami2013.training.fold_labels import FOLD, PUSH, UNCLEAR, steps_aside
from papers.mizukami2013.training.fold_positions import (
    STRICT,
    Positions,
    Scores,
    best_threshold,
    draw_positions,
    join_positions,
    scores_of,
)
from papers.mizukami2013.training.requests import FoldRequest

CHECKED_PER_GAME: Final = 30


def train(request: FoldRequest) -> runs.Learned:
    """Train and save the weights; their scores are measured on the games held out.

    Raises ``OSError`` and :class:`~mjbot.runtime.errors.MjbotError`.
    """
    support_vector_machine(0, 0)  # that there is none shows before the games are read
    learned, held_out = request.split()
    drawn_as, tried_as = _identities(request, learned)
    folder = request.folder or runs.RUNS / f"train-fold-{tried_as}"
    if request.fresh:
        runs.erase_run(folder)
    with runs.RunFolder(folder, "fold") as run_folder:
        files = _Files(run_folder, f"positions-{drawn_as}.npz", f"cells-{tried_as}.jsonl")
        with keeping(files.kept):
            return _train(request, learned, held_out, files)


@dataclass(frozen=True)
class _Files:
    """What a run that was interrupted leaves behind."""

    folder: runs.RunFolder
    positions: str
    cells: str

    def kept(self) -> str:
        """Describe the saved progress."""
        if not self.folder.kept(self.positions):
            return "nothing is kept before all games have been read"
        tried = self.folder.kept(self.cells)
        lines = tried.read_bytes().count(b"\n") if tried else 0  # the first is the header
        cells = plural(max(0, lines - 1), "cell")
        where = self.folder.folder
        return (
            f"kept in {where}: the positions, {cells} of the grid; run the same command to resume"
        )


def _train(
    request: FoldRequest, learned: list[GameRef], held_out: list[GameRef], files: _Files
) -> runs.Learned:
    everything = _examples(_drawn(request, learned, files.folder, files.positions))
    examples = clear_examples(everything)
    if len(np.unique(examples.labels)) < 2 or len(np.unique(examples.games)) < 5:
        raise runs.TrainingError("too few games, or no player folds in them")
    best = _best_cell(request, examples, files.folder.claim(files.cells))
    with progress(Console(stderr=True), "learning from all positions"):
        margins = held_out_margins(examples, best.cost, best.gamma, request.seed, request.jobs)
        threshold = best_threshold(examples.labels, margins)
        model = trained(examples, best, threshold)
    by_check = {"cross-validation": _scores(examples, margins > threshold)}
    del by_check["cross-validation"][STRICT]  # there is nothing unclear among them
    for path, refs in _by_file(held_out):
        by_check[f"held out, {path.name}"] = checked(model, refs, request)
    scores = _described(everything.labels, best, threshold, model) | _flat(by_check)
    out = request.out or runs.claim_weights(files.folder, NAME)
    written = save_weights(NAME, arrays_of(model), _manifest(request, learned, scores), out)
    return runs.Learned(NAME, written, out)


def _best_cell(request: FoldRequest, examples: Examples, file: Path) -> Cell:
    some = _some(examples, request.grid, request.seed)
    with (
        GridSearch(some, file, request.seed, request.jobs) as grid,
        progress(Console(stderr=True), "searching the grid", unit="cells") as step,
    ):
        return grid.search(request.step, lambda cell, left: step(note=_note(cell, left)))


def trained(examples: Examples, cell: Cell, threshold: float) -> FoldModel:
    """Return the machine learned from all examples, its threshold taken into the offset."""
    machine = fitted(cell.cost, cell.gamma, examples.features, examples.labels)
    sign = 1.0 if machine.classes_[1] == FOLD else -1.0
    return FoldModel(
        np.ascontiguousarray(machine.support_vectors_.T.astype(np.float16).astype(np.float32)),
        (sign * machine.dual_coef_[0]).astype(np.float32),
        2.0**cell.gamma,
        sign * float(machine.intercept_[0]) - threshold,
    )


def checked(model: FoldModel, refs: Sequence[GameRef], request: runs.TrainingRequest) -> Scores:
    """Return the scores of a model on positions of games that it did not see."""
    with progress(Console(stderr=True), "reading games to check with", len(refs), "games") as step:
        positions = join_positions(list(_stepping(_draw(refs, CHECKED_PER_GAME, request), step)))
    examples = _examples(positions)
    margins = np.array([margin(model, row) for row in examples.features])
    return _scores(examples, margins > 0)


def _drawn(
    request: FoldRequest, refs: Sequence[GameRef], folder: runs.RunFolder, file: str
) -> Positions:
    """Return the positions to learn from, as drawn before if the file is there."""
    if kept := folder.kept(file):
        columns = runs.load_kept(kept, (*Positions._fields, "left_out"))
        request.left_out.games += int(columns.pop("left_out"))
        return Positions(**columns)
    left_out = request.left_out.games
    with progress(Console(stderr=True), "reading games", len(refs), "games") as step:
        positions = join_positions(list(_stepping(_draw(refs, request.per_game, request), step)))
    lost = np.int64(request.left_out.games - left_out)
    folder.write(file, lambda out: np.savez(out, **positions._asdict(), left_out=lost))
    return positions


def _draw(
    refs: Sequence[GameRef], per_game: int, request: runs.TrainingRequest
) -> Iterator[Positions]:
    return draw_positions(refs, per_game, request.seed, request.jobs, request.left_out)


def _stepping(parts: Iterable[Positions], step: Step) -> Iterator[Positions]:
    for part in parts:
        yield part
        step()


def _examples(positions: Positions) -> Examples:
    """Return the labels of positions, given the evaluator's choice in each.

    A push that deviates from the evaluator's choice becomes UNCLEAR.
    """
    evaluator = HandEvaluator.load(FEATURE_SET)
    features = np.empty((len(positions.labels), N_FEATURES), np.float32)
    labels = positions.labels.copy()
    with progress(Console(stderr=True), "looking at positions", len(labels), "positions") as step:
        for row, state in enumerate(positions.states):
            seat, played = int(positions.seats[row]), int(positions.kinds[row])
            wanted = wanted_kind(evaluator, state, seat)
            fold_features(state, seat, wanted, features[row])
            if labels[row] == PUSH and steps_aside(state, seat, wanted, played):
                labels[row] = UNCLEAR
            step()
    return Examples(features, labels, positions.games)


def clear_examples(examples: Examples) -> Examples:
    """Return the examples that are FOLD or PUSH."""
    clear = examples.labels != UNCLEAR
    return Examples(examples.features[clear], examples.labels[clear], examples.games[clear])


def _some(examples: Examples, n: int, seed: int) -> Examples:
    """Return ``n`` of the examples (or all), any as likely as any other."""
    order = np.sort(np.random.default_rng(seed).permutation(len(examples.labels))[:n])
    return Examples(examples.features[order], examples.labels[order], examples.games[order])


def _scores(examples: Examples, folds: NDArray[np.bool_]) -> Scores:
    predicted = np.where(folds, FOLD, PUSH).astype(np.int8)
    return scores_of(examples.labels, predicted, examples.games)


def _by_file(refs: Sequence[GameRef]) -> Iterable[tuple[Path, list[GameRef]]]:
    """Return the games of each file or folder of records that holds some."""
    files: dict[Path, list[GameRef]] = {}
    for ref in refs:
        path = ref.source.path if ref.source.member else ref.source.path.parent
        files.setdefault(path, []).append(ref)
    return files.items()


def _identities(request: FoldRequest, refs: Sequence[GameRef]) -> tuple[str, str]:
    """Return twelve letters and digits that no other draw of positions shares, and no other grid.

    Both depend on the code that makes them, the second on the hand evaluator's weights too.
    """
    digest = hashlib.sha256(source_digest(fold_positions.__name__).encode())
    digest.update(f"{request.seed} {request.per_game}\n".encode())
    files = file_digests(refs)
    for ref in refs:
        identity = f"{ref.number} {ref.source.name} {ref.place} {files[ref.source.path]}"
        digest.update(f"{identity}\n".encode())
    drawn_as = digest.hexdigest()[:12]
    digest.update(f"{request.grid} {source_digest(fold_model.__name__)}\n".encode())
    digest.update(load_manifest(weights_name(FEATURE_SET)).digest.encode())
    return drawn_as, digest.hexdigest()[:12]


def _note(cell: Cell, left: int) -> str:
    return f"C 2^{cell.cost}, gamma 2^{cell.gamma}: fold F1 {cell.f1:.3f}; {left} cells left"


def _described(
    labels: NDArray[np.int8], best: Cell, threshold: float, model: FoldModel
) -> dict[str, float | int | str]:
    names = {"fold": FOLD, "push": PUSH, "unclear (left out)": UNCLEAR}
    counts: dict[str, Any] = {
        f"positions, {name}": int(np.sum(labels == label)) for name, label in names.items()
    }
    return counts | {
        "C": f"2^{best.cost}",
        "gamma": f"2^{best.gamma}",
        "threshold": round(threshold, 3),
        "cross-validation, fold F1 at threshold 0": round(best.f1, 4),
        "support vectors": len(model.coefficients),
    }


def _flat(by_check: dict[str, Scores]) -> dict[str, float | int | str]:
    return {
        f"{where}, {name}": score.text(".3f")
        for where, scores in by_check.items()
        for name, score in scores.items()
    }


def _manifest(
    request: FoldRequest, refs: Sequence[GameRef], scores: dict[str, float | int | str]
) -> Manifest:
    files = " ".join(path.name for path in request.records)
    return Manifest(
        data=f"{len(refs)} games ({request.games} of {files}), {request.per_game} discards of each,"
        f" labelled by what the player did up to the end of the kyoku{request.left_out}",
        command=command_of("python -m papers train-fold", request),
        seed=request.seed,
        scores=scores,
    )
