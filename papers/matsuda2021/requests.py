"""Arguments of the training of this paper's networks: :mod:`mjbot.learning.training.requests`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mjbot.learning.training.networks.decisions import DecisionKind
from mjbot.learning.training.requests import ColumnsRequest
from mjbot.learning.training.runs import folder_field, fresh_field, seed_field
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.requests import option
from papers.matsuda2021.networks import CLASSES, WEIGHTS


@dataclass(frozen=True, kw_only=True)
class PaperRequest(ColumnsRequest):
    """``python -m papers train-networks``: ``rows`` for each network (0: a number by kind).

    At most ``check_rows`` are drawn from each check.
    """

    kinds: Sequence[DecisionKind] = option(
        tuple(map(DecisionKind, CLASSES)),
        "networks to train (default: all five)",
        nargs="+",
        type=DecisionKind,
        choices=tuple(map(DecisionKind, CLASSES)),
        metavar="KIND",
    )
    rows: int = option(0, "rows for each network (default: by kind)", type=int)
    check_rows: int = option(60_000, "most rows drawn from each check", type=int)
    folder: Path | None = folder_field()
    fresh: bool = fresh_field()

    def __post_init__(self) -> None:
        if self.rows < 0 or self.check_rows < 1:
            raise ArgumentError("--rows: not below 0; --check-rows: at least 1")


@dataclass(frozen=True, kw_only=True)
class ReinforceRequest:
    """``python -m papers train-reinforce``; ``weights`` is the folder of the supervised networks.

    ``look_games`` are played greedily every ``look_every`` episodes, four on each wall.
    """

    episodes: int = option(150_000, "kyoku of the learning seat, as in the paper", type=int)
    epsilon_from: float = option(
        1.0, "first chance of a random choice; it falls to 0.01 in 90,000 episodes", type=float
    )
    tables: int = option(128, "tables at once, a multiple of 4", type=int)
    look_every: int = option(5000, "episodes between two evaluations and checkpoints", type=int)
    look_games: int = option(128, "hanchan of greedy play in an evaluation, four a wall", type=int)
    weights: Path = option(
        WEIGHTS,
        "folder of the networks to begin with and to play against (default: the shipped ones)",
        type=Path,
        metavar="FOLDER",
    )
    seed: int = seed_field()
    folder: Path | None = folder_field()
    fresh: bool = fresh_field()
    out: Path | None = option(
        None, "folder of the networks (default: the run's)", type=Path, shown=False
    )
