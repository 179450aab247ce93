"""A run of the perceptron: a folder from which it can be taken up after a kill.

The folder has the positions found in the records and, after every pass over them, what is known
so far.  A run that was killed goes on from there and ends with the very same weights.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.compiler.compiled import source_digest
from mjbot.models.hand import FEATURE_SETS, N_FEATURES, FeatureSet, new_choices
from mjbot.progress import progress
from mjbot.training import hand_positions, perceptron
from mjbot.training.hand_positions import Positions, before_first_riichi, of_closed_hands
from mjbot.training.perceptron import Lesson
from mjbot.training.positions import GameRef, LeftOut, collect, file_digests
from mjbot.training.runs import RunFolder, load_kept

SLICE: Final = 10_000
"""Positions learned from in one compiled call: no signal is heeded in it."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """What is learned: from which games, in which order, with which features."""

    features: FeatureSet
    seed: int
    games: Sequence[GameRef]

    @property
    def identity(self) -> str:
        """Twelve letters and digits that no other course shares, source code included."""
        source = source_digest(perceptron.__name__)
        return _digest(f"{source} {self.features} {self.seed} {identity_of(self.games)}")


def identity_of(games: Sequence[GameRef]) -> str:
    """Return the same for the positions in these games, which the features do not change."""
    files = file_digests(games)
    said = [
        f"{game.number} {game.place} {game.source.name} {files[game.source.path]}" for game in games
    ]
    return _digest("\n".join([source_digest(hand_positions.__name__), *said]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class TrainingRun:
    """One course in its folder."""

    def __init__(
        self,
        course: Course,
        folder: RunFolder,
        jobs: int = 1,
        left_out: LeftOut | None = None,
    ) -> None:
        self._course: Final = course
        self._folder: Final = folder
        self._console: Final = Console(stderr=True)
        self._jobs: Final = jobs
        self._left_out: Final = LeftOut() if left_out is None else left_out
        self._set: Final = FEATURE_SETS.index(course.features)
        self._checkpoint: Final = f"passes-{course.identity}.npz"
        self._saved: Final[dict[str, str]] = {}

    @property
    def n_games(self) -> int:
        """How many games are learned from."""
        return len(self._course.games)

    def kept(self) -> str:
        """Say what is in the folder by now."""
        if not self._saved:
            return "nothing is kept before all games have been read"
        saved = ", ".join(self._saved.values())
        return f"kept in {self._folder.folder}: {saved}; the same command goes on"

    def positions(self) -> Positions:
        """Return the positions to learn from."""
        return self._kept("learned", self._course.games, before_first_riichi)

    def checks(self, games: Sequence[GameRef]) -> Positions:
        """Return positions to check with: all of closed hands."""
        return self._kept("checks", games, of_closed_hands)

    def _kept(self, name: str, games: Sequence[GameRef], extract: Any) -> Positions:
        file = f"{name}-{identity_of(games)}.npz"
        if path := self._folder.kept(file):
            saved = load_kept(path, ("positions", "left_out"))
            found: Positions = saved["positions"]
            self._left_out.games += int(saved["left_out"])
        else:
            left_out, parts = self._left_out.games, [extract(iter(()))]
            with progress(self._console, f"reading games ({name})", len(games), "games") as step:
                for part in collect(games, extract, self._jobs, self._left_out):
                    parts.append(part)
                    step()
            found = np.concatenate(parts)
            lost = np.int64(self._left_out.games - left_out)
            self._folder.write(file, lambda out: np.savez(out, positions=found, left_out=lost))
        self._saved[name] = f"{len(found)} positions ({name})"
        return found

    def learn(self, positions: Positions, passes: int) -> NDArray[np.float32]:
        """Return the weights after ``passes`` over the positions, rounded as they are stored."""
        lesson, done = self._resumed(passes)
        choices = new_choices()
        total = passes * len(positions)
        with progress(self._console, "learning", total, "positions") as step:
            step(done * len(positions))
            for number in range(done, passes):
                dice = np.random.default_rng([self._course.seed, number])
                order = dice.permutation(len(positions))
                for start in range(0, len(order), SLICE):
                    some = order[start : start + SLICE]
                    perceptron.learn(self._set, positions, some, choices, lesson)
                    step(len(some), note=f"pass {number + 1} of {passes}")
                self._save(lesson, number + 1)
        return perceptron.averaged(lesson).astype(np.float16).astype(np.float32)

    def ranks(self, positions: Positions, weights: NDArray[np.float32]) -> NDArray[np.int8]:
        """Return which rank the discard made has in each position."""
        ranks, choices = np.zeros(len(positions), np.int8), new_choices()
        with progress(self._console, "checking", len(positions), "positions") as step:
            for start in range(0, len(positions), SLICE):
                some = slice(start, start + SLICE)
                perceptron.ranks_of_made(self._set, positions[some], choices, weights, ranks[some])
                step(len(positions[some]))
        return ranks

    def _resumed(self, passes: int) -> tuple[Lesson, int]:
        if path := self._folder.kept(self._checkpoint):
            saved = load_kept(path, ("passes", *Lesson._fields))
            done = int(saved["passes"])
            if done <= passes:
                self._saved["passes"] = f"{done} of the passes"
                return Lesson(saved["weights"], saved["sums"], saved["steps"]), done
        return perceptron.new_lesson(N_FEATURES[self._course.features]), 0

    def _save(self, lesson: Lesson, passes: int) -> None:
        arrays: dict[str, Any] = {"passes": np.int64(passes), **lesson._asdict()}
        self._folder.write(self._checkpoint, lambda stream: np.savez(stream, **arrays))
        self._saved["passes"] = f"{passes} of the passes"
