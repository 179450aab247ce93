"""``python -m papers train-hand RECORDS``: the hand evaluator's weights, by averaged perceptron.

How good they are is reported as how often the evaluator's first, second or third choice is the
discard that was made.

A run's folder has the positions found in the records and, after every pass over them, what was
learned so far.  A run that was killed resumes there and ends with the very same weights.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.statistics.estimates import Estimate, rate
from mjbot.learning.models.hand import (
    FEATURE_SETS,
    N_FEATURES,
    FeatureSet,
    new_choices,
    weights_name,
)
from mjbot.learning.models.weights import Manifest, save_weights
from mjbot.learning.training import runs
from mjbot.learning.training.hand_positions import (
    Positions,
    before_first_riichi,
    identity_of,
    of_closed_hands,
    short_digest,
)
from mjbot.learning.training.positions import GameRef, LeftOut, collect
from mjbot.runtime.compiler.sources import source_digest
from mjbot.runtime.interruption import keeping
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import command_of
from papers.mizukami2013.training import perceptron
from papers.mizukami2013.training.perceptron import PerceptronState
from papers.mizukami2013.training.requests import HandRequest

SLICE: Final = 10_000
"""Positions learned from in one compiled call: no signal is heeded in it."""


@dataclass(frozen=True, kw_only=True)
class TrainingSet:
    """What is learned: from which games, in which order, with which features."""

    features: FeatureSet
    seed: int
    games: Sequence[GameRef]

    @property
    def identity(self) -> str:
        """Twelve letters and digits, unique to the training set and the source code."""
        source = source_digest(perceptron.__name__)
        return short_digest(f"{source} {self.features} {self.seed} {identity_of(self.games)}")


class TrainingRun:
    """The training on one set in its folder."""

    def __init__(
        self,
        training_set: TrainingSet,
        folder: runs.RunFolder,
        jobs: int = 1,
        left_out: LeftOut | None = None,
    ) -> None:
        self._training_set: Final = training_set
        self._folder: Final = folder
        self._console: Final = Console(stderr=True)
        self._jobs: Final = jobs
        self._left_out: Final = LeftOut() if left_out is None else left_out
        self._set: Final = FEATURE_SETS.index(training_set.features)
        self._checkpoint: Final = f"passes-{training_set.identity}.npz"
        self._saved: Final[dict[str, str]] = {}

    @property
    def n_games(self) -> int:
        """How many games are learned from."""
        return len(self._training_set.games)

    def kept(self) -> str:
        """Describe the saved progress."""
        if not self._saved:
            return "nothing is kept before all games have been read"
        saved = ", ".join(self._saved.values())
        return f"kept in {self._folder.folder}: {saved}; run the same command to resume"

    def positions(self) -> Positions:
        """Return the positions to learn from."""
        return self._kept("learned", self._training_set.games, before_first_riichi)

    def checks(self, games: Sequence[GameRef]) -> Positions:
        """Return positions to check with: all of closed hands."""
        return self._kept("checks", games, of_closed_hands)

    def _kept(self, name: str, games: Sequence[GameRef], extract: Any) -> Positions:
        file = f"{name}-{identity_of(games)}.npz"
        if path := self._folder.kept(file):
            saved = runs.load_kept(path, ("positions", "left_out"))
            kept: Positions = saved["positions"]
            self._left_out.games += int(saved["left_out"])
        else:
            left_out, parts = self._left_out.games, [extract(iter(()))]
            with progress(self._console, f"reading games ({name})", len(games), "games") as step:
                for part in collect(games, extract, self._jobs, self._left_out):
                    parts.append(part)
                    step()
            kept = np.concatenate(parts)
            lost = np.int64(self._left_out.games - left_out)
            self._folder.write(file, lambda out: np.savez(out, positions=kept, left_out=lost))
        self._saved[name] = f"{len(kept)} positions ({name})"
        return kept

    def learn(self, positions: Positions, passes: int) -> NDArray[np.float32]:
        """Return the weights after ``passes`` over the positions, rounded as they are stored."""
        state, done = self._resumed(passes)
        choices = new_choices()
        total = passes * len(positions)
        with progress(self._console, "learning", total, "positions") as step:
            step(done * len(positions))
            for number in range(done, passes):
                dice = np.random.default_rng([self._training_set.seed, number])
                order = dice.permutation(len(positions))
                for start in range(0, len(order), SLICE):
                    some = order[start : start + SLICE]
                    perceptron.learn(self._set, positions, some, choices, state)
                    step(len(some), note=f"pass {number + 1} of {passes}")
                self._save(state, number + 1)
        return perceptron.averaged(state).astype(np.float16).astype(np.float32)

    def ranks(self, positions: Positions, weights: NDArray[np.float32]) -> NDArray[np.int8]:
        """Return which rank the discard made has in each position."""
        ranks, choices = np.zeros(len(positions), np.int8), new_choices()
        with progress(self._console, "checking", len(positions), "positions") as step:
            for start in range(0, len(positions), SLICE):
                some = slice(start, start + SLICE)
                perceptron.ranks_of_made(self._set, positions[some], choices, weights, ranks[some])
                step(len(positions[some]))
        return ranks

    def _resumed(self, passes: int) -> tuple[PerceptronState, int]:
        if path := self._folder.kept(self._checkpoint):
            saved = runs.load_kept(path, ("passes", *PerceptronState._fields))
            done = int(saved["passes"])
            if done <= passes:
                self._saved["passes"] = f"{done} of the passes"
                return PerceptronState(saved["weights"], saved["sums"], saved["steps"]), done
        return perceptron.initial_state(N_FEATURES[self._training_set.features]), 0

    def _save(self, state: PerceptronState, passes: int) -> None:
        arrays: dict[str, Any] = {"passes": np.int64(passes), **state._asdict()}
        self._folder.write(self._checkpoint, lambda stream: np.savez(stream, **arrays))
        self._saved["passes"] = f"{passes} of the passes"


RANKS = (1, 2, 3)


def agreement(ranks: NDArray[np.int8], games: NDArray[np.int32]) -> dict[str, Estimate]:
    """Return the shares of positions where the discard made ranked 1, 1..2 and 1..3.

    ``ranks`` int8[n] as :func:`papers.mizukami2013.training.perceptron.ranks_of_made` writes them;
    ``games`` int32[n] are the positions' games: one game is one observation of the 95 % intervals.

    >>> shares = agreement(np.int8([1, 1, 3, 2]), np.int32([0, 1, 2, 3]))
    >>> [share.value for share in shares.values()]
    [0.5, 0.75, 1.0]
    >>> print(shares["rank 3"])
    1 [0.3976, 1]
    """
    _, game = np.unique(games, return_inverse=True)
    chances = np.bincount(game).astype(np.float64)
    return {
        f"rank {rank}": rate(np.bincount(game, ranks <= rank).astype(np.float64), chances)
        for rank in RANKS
    }


Shares = dict[str, dict[str, Estimate]]
"""Kind of position -> rank -> share."""


def train(request: HandRequest) -> runs.Learned:
    """Train and save the weights.

    Raises ``OSError`` and :class:`~mjbot.runtime.errors.MjbotError`.
    """
    games, held_out = request.split()
    checked = {"held out": held_out}
    if request.check:
        checked[request.check.name] = request.more(request.check)
    folder = request.folder or runs.RUNS / f"train-hand-{identity_of(games)}"
    if request.fresh:
        runs.erase_run(folder)
    training_set = TrainingSet(features=request.features, seed=request.seed, games=games)
    with runs.RunFolder(folder, "hand") as run_folder:
        training = TrainingRun(training_set, run_folder, request.jobs, request.left_out)
        return _train(request, training, checked, run_folder)


def _train(
    request: HandRequest,
    training: TrainingRun,
    checked: Mapping[str, Sequence[GameRef]],
    run_folder: runs.RunFolder,
) -> runs.Learned:
    name = weights_name(request.features)
    with keeping(training.kept):
        positions = training.positions()
        if not len(positions):
            raise runs.TrainingError("there is no riichi in these games to learn from")
        weights = training.learn(positions, request.passes)
        shares = _check(training, weights, checked)
        out = request.out or runs.claim_weights(run_folder, name)
    manifest = _manifest(request, positions, training.n_games, shares)
    arrays = {"weights": weights.astype(np.float16)}
    return runs.Learned(name, save_weights(name, arrays, manifest, out), out)


def _check(
    training: TrainingRun, weights: NDArray[np.float32], checked: Mapping[str, Sequence[GameRef]]
) -> Shares:
    """Return the agreement on each set of games, by the set's name and kind of position."""
    shares: Shares = {}
    for label, games in checked.items():
        positions = training.checks(games)
        shares_of = _shares(positions, training.ranks(positions, weights))
        shares |= {f"{label}, {kind}": share for kind, share in shares_of.items()}
    return shares


def _shares(checks: Positions, ranks: NDArray[np.int8]) -> Shares:
    """Return the agreement on the positions learned from, and on wider circles of them."""
    if not len(checks):
        return {}
    kinds = {
        "up to the first riichi": checks["before_riichi"] == 1,
        "closed hands, nobody in riichi": checks["riichis"] == 0,
        "closed hands": checks["riichis"] >= 0,
    }
    return {
        kind: agreement(ranks[chosen], checks["game"][chosen]) for kind, chosen in kinds.items()
    }


def _manifest(request: HandRequest, positions: Positions, n_games: int, shares: Shares) -> Manifest:
    files = ", ".join(path.name for path in request.records)
    scores: dict[str, float | int | str] = {
        "positions": len(positions),
        "features": N_FEATURES[request.features],
        "passes": request.passes,
    }
    for kind, found in shares.items():
        scores |= {f"{kind}, {rank}": str(share) for rank, share in found.items()}
    return Manifest(
        data=f"{n_games} games ({request.games} of {files}), every discard of the first to declare"
        f" riichi in each kyoku, up to the riichi{request.left_out}",
        command=command_of("python -m papers train-hand", request),
        seed=request.seed,
        scores=scores,
    )
