"""Arguments and defaults of the trainings: :mod:`mjbot.learning.training.requests`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mjbot.learning.models.hand import FEATURE_SETS, FeatureSet
from mjbot.learning.training import runs
from mjbot.learning.training.requests import check_field
from mjbot.runtime.requests import option

PAPERS_POSITIONS: Final = 5716
"""Positions of the grid in the paper on folding."""


@dataclass(frozen=True, kw_only=True)
class HandRequest(runs.TrainingRequest):
    """``python -m papers train-hand``: ``passes`` over the positions."""

    check: Path | None = check_field()
    features: FeatureSet = option("paper", "set of features", choices=FEATURE_SETS)
    passes: int = option(8, "passes over all positions", type=int)
    folder: Path | None = runs.folder_field()
    fresh: bool = runs.fresh_field()

    def __post_init__(self) -> None:
        runs.at_least_1(self, "passes", "jobs")


@dataclass(frozen=True, kw_only=True)
class FoldRequest(runs.TrainingRequest):
    """``python -m papers train-fold``: ``per_game`` positions of each game.

    ``step`` is that of the exponents of 2 in the grid, whose cells are tried with ``grid``
    positions.
    """

    per_game: int = option(6, "positions drawn from each game", type=int)
    step: int = option(
        4,
        "step of the exponents of 2 in the grid, refined around the best; 1: all 441 cells",
        type=int,
        choices=(1, 2, 4),
    )
    grid: int = option(
        PAPERS_POSITIONS,
        "positions with which the cells of the grid are tried, the default as in the paper",
        type=int,
        metavar="POSITIONS",
    )
    folder: Path | None = runs.folder_field()
    fresh: bool = runs.fresh_field()

    def __post_init__(self) -> None:
        runs.at_least_1(self, "per_game", "grid", "jobs")
