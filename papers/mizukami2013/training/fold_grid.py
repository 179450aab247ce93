"""The grid search of the fold recogniser: cost C and gamma by cross-validation over games."""

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from mjbot.learning.models.weights import WeightsError
from mjbot.learning.training.runs import RUN_CURES
from mjbot.runtime.append_log import AppendLog
from papers.mizukami2013.training.fold_positions import f1_of

LOWEST: Final = -10
HIGHEST: Final = 10
"""Exponents of 2, of C as of gamma (Mizukami et al. 2013, section 7.3)."""
N_FOLDS: Final = 5
REQUIREMENT: Final = "scikit-learn>=1.4.2"


class Cell(msgspec.Struct, frozen=True):
    """A pair of exponents and the fold class's F1 in cross-validation."""

    cost: int
    gamma: int
    f1: float


class GridHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of the file of cells: ``examples`` is a digest of what they were tried on."""

    seed: int
    examples: str


class Examples(NamedTuple):
    """``features`` float32[n, 34], ``labels`` int8[n] (FOLD or PUSH), ``games`` int32[n]."""

    features: NDArray[np.float32]
    labels: NDArray[np.int8]
    games: NDArray[np.int32]


def support_vector_machine(cost: int, gamma: int) -> Any:
    """Return an untrained machine for exponents; :class:`WeightsError` without scikit-learn."""
    try:
        from sklearn.svm import SVC
    except ImportError:
        folder = Path("scikit-learn")
        raise WeightsError(folder, f"not installed; pip install '{REQUIREMENT}'") from None
    return SVC(C=2.0**cost, gamma=2.0**gamma, kernel="rbf", cache_size=300)


def fitted(cost: int, gamma: int, features: NDArray[np.float32], labels: NDArray[np.int8]) -> Any:
    """Return a machine that has learned, in a thread: in this one it would heed no signal."""
    machine = support_vector_machine(cost, gamma)
    with ThreadPoolExecutor(1) as pool:  # libsvm lets go of the interpreter
        pool.submit(machine.fit, features, labels).result()
    return machine


class GridSearch:
    """Tries cells, each once ever: what is known is in ``file``, one line per cell.

    Use it as a context manager.  Raises :class:`~mjbot.runtime.append_log.LogError`.
    """

    def __init__(self, examples: Examples, file: Path, seed: int, jobs: int = 1) -> None:
        self._examples: Final = examples
        self._jobs: Final = jobs
        self._seed: Final = seed
        header = GridHeader(seed=seed, examples=_digest(examples))
        self._log: Final = AppendLog(file, header, RUN_CURES, decode=_decode)
        self._known: Final = {(cell.cost, cell.gamma): cell for cell in self._log.lines}

    def __enter__(self) -> "GridSearch":
        return self

    def __exit__(self, *_: object) -> None:
        self._log.close()

    def search(self, step: int, report: Callable[[Cell, int], None]) -> Cell:
        """Return the best cell.

        With ``step`` 1 it is the best of all 441; else each ``step``-th is tried, then the
        neighbours of the best at half the step, and so on down to 1.  ``report`` gets each cell
        and how many of its round are left.
        """
        axis = range(LOWEST, HIGHEST + 1, step)
        best = self._best_of([(cost, gamma) for cost in axis for gamma in axis], report)
        while step > 1:
            step //= 2
            best = self._best_of(list(_around(best, step)), report)
        return best

    def _best_of(self, cells: list[tuple[int, int]], report: Callable[[Cell, int], None]) -> Cell:
        tried = []
        for number, (cost, gamma) in enumerate(cells):
            cell = self._known.get((cost, gamma)) or self._try(cost, gamma)
            tried.append(cell)
            report(cell, len(cells) - number - 1)
        # of equals the smoother machine: small C, small gamma
        return max(tried, key=lambda cell: (cell.f1, -cell.cost, -cell.gamma))

    def _try(self, cost: int, gamma: int) -> Cell:
        predicted = held_out_margins(self._examples, cost, gamma, self._seed, self._jobs) > 0
        cell = Cell(cost, gamma, f1_of(self._examples.labels, predicted.astype(np.int8)))
        self._known[cost, gamma] = cell
        self._log.append(cell)
        return cell


def held_out_margins(
    examples: Examples, cost: int, gamma: int, seed: int, jobs: int = 1
) -> NDArray[np.float64]:
    """Return each example's margin by a machine that saw nothing of its game: float64[n]."""
    features, labels, games = examples
    fifths = fold_numbers(games, seed)
    margins = np.zeros(len(labels))

    def judge(fifth: int) -> None:
        part = fifths == fifth
        machine = support_vector_machine(cost, gamma)
        machine.fit(features[~part], labels[~part])
        margins[part] = machine.decision_function(features[part])

    with ThreadPoolExecutor(jobs) as pool:  # as in fitted
        list(pool.map(judge, range(N_FOLDS)))
    return margins


def _decode(text: bytes) -> Cell:
    return msgspec.json.decode(text, type=Cell)


def _digest(examples: Examples) -> str:
    digest = hashlib.sha256()
    for array in examples:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]


def fold_numbers(games: NDArray[np.int32], seed: int) -> NDArray[np.int64]:
    """Return which fifth each row belongs to: int64[n], the rows of one game in one fifth."""
    names, game = np.unique(games, return_inverse=True)
    shuffled = np.random.default_rng(seed).permutation(len(names))
    fifths: NDArray[np.int64] = shuffled[game] % N_FOLDS
    return fifths


def _around(cell: Cell, step: int) -> Iterator[tuple[int, int]]:
    for cost in (cell.cost - step, cell.cost, cell.cost + step):
        for gamma in (cell.gamma - step, cell.gamma, cell.gamma + step):
            if LOWEST <= cost <= HIGHEST and LOWEST <= gamma <= HIGHEST:
                yield cost, gamma
