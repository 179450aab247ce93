"""Arguments and defaults of the trainings of the fast policy."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from mjbot.learning.training import runs
from mjbot.learning.training.requests import (
    ColumnsRequest,
    check_shares,
    length_field,
    players_field,
    shares_field,
)
from mjbot.protocol.rules import Length
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.processors import worker_count
from mjbot.runtime.requests import argument, option


@dataclass(frozen=True, kw_only=True)
class ImitationPlan:
    """What is learned how; ``rows`` in all, several times over if that is more than there are.

    ``shares`` are those of discard, riichi, pon, chi and kan in each batch.
    """

    rows: int = option(8_000_000, "rows to learn from, in several passes if needed", type=int)
    first: int = option(48, "units of the first layer, a multiple of 16", type=int)
    second: int = option(32, "units of the second layer, a multiple of 16", type=int)
    plans: bool = option(False, "read the distances to the yaku after each discard, too")
    batch: int = option(256, "rows of a step", type=int)
    rate: float = option(1.5e-3, "highest learning rate", type=float)
    shares: tuple[float, ...] = shares_field(0.58, 0.08, 0.12, 0.16, 0.06)
    seed: int = runs.seed_field()

    @property
    def steps(self) -> int:
        """How many batches that is."""
        return self.rows // self.batch

    def __post_init__(self) -> None:
        runs.at_least_1(self, "batch")
        if self.rows < self.batch:
            raise ArgumentError("--rows: at least one batch")
        check_shares(self.shares)


@dataclass(frozen=True, kw_only=True)
class ImitationRequest(ColumnsRequest, ImitationPlan):
    """``mjbot train fast-policy``.

    ``held_out`` of the games, the last, only measure the progress.
    """

    held_out: int = option(25, "last games that only measure the progress", type=int)
    start: Path | None = option(
        None, "folder with weights to continue from", type=Path, metavar="FOLDER"
    )
    folder: Path | None = runs.folder_field()
    fresh: bool = runs.fresh_field()

    @property
    def plan(self) -> ImitationPlan:
        """How it is learned."""
        return ImitationPlan(
            **{each.name: getattr(self, each.name) for each in fields(ImitationPlan)}
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        runs.at_least_1(self, "held_out")


@dataclass(frozen=True, kw_only=True)
class PlayPlan:
    """What is played and learned; ``kl`` is the cost of a nat of divergence from the start."""

    batches: int = option(800, "batches of games, each followed by one step", type=int)
    tables: int = option(32, "games of a batch", type=int)
    shard: int = option(
        64, "games of a batch that one process plays, with a critic of its own", type=int
    )
    warm_up: int = option(15, "batches in which the critic learns alone", type=int)
    apart: float = option(
        0.3, "share of the tables where one seat plays against three of the start", type=float
    )
    pair: bool = option(False, "two seats that see each other's hands learn, against two others")
    rate: float = option(4e-4, "learning rate", type=float)
    target_kl: float = option(
        0.0, "divergence in nats that a step makes, to which the rate adapts (0: off)", type=float
    )
    kl: float = option(0.03, "cost of a nat of divergence from the start", type=float)
    entropy: float = option(
        0.0, "entropy bonus for each nat of entropy lost since the start (0: none)", type=float
    )
    gae: float = option(
        0.9,
        "lambda of the advantage: 1 rewards alone, 0 the critic's next estimate",
        type=float,
    )
    temperature: float = option(0.5, "temperature at which choices are drawn", type=float)
    length: Length = length_field()
    players: int = players_field()
    seed: int = runs.seed_field()

    def __post_init__(self) -> None:
        runs.at_least_1(self, "batches", "tables", "shard")
        if self.warm_up < 0 or not 0 <= self.apart <= 1:
            raise ArgumentError("--warm-up: at least 0; --apart: 0 to 1")
        if self.entropy < 0 or not 0 <= self.gae <= 1:
            raise ArgumentError("--entropy: at least 0; --gae: 0 to 1")
        if not (self.temperature > 0 and self.rate > 0 and min(self.kl, self.target_kl) >= 0):
            raise ArgumentError("--temperature, --rate: above 0; --kl, --target-kl: at least 0")
        if self.pair and self.players == 3:
            raise ArgumentError("--pair: two against two, at tables of four")


@dataclass(frozen=True, kw_only=True)
class FastSelfPlayRequest(PlayPlan):
    """``mjbot train fast-policy-play``: a plan, the weights to start from, and folders.

    With ``mean_of`` nothing is played: the result is the mean of the weights in those folders, of
    runs with the same start.  ``data`` are columns, whose games from ``check_from`` on score the
    result, if any.
    """

    data: Sequence[Path] = argument(
        "folders of columns (mjbot train data) whose games score the result",
        nargs="*",
        type=Path,
        metavar="FOLDER",
    )
    check_from: int = option(4000, "first game of the first folder to score on", type=int)
    start: Path | None = option(
        None,
        "folder of the first weights (default: the shipped ones)",
        type=Path,
        metavar="FOLDER",
        shown=False,
    )
    pair_start: Path | None = option(
        None,
        "with --pair: folder of weights that a pair has learned, to continue from",
        type=Path,
        metavar="FOLDER",
        shown=False,
    )
    mean_of: Sequence[Path] = runs.mean_of_field()
    jobs: int = option(worker_count(), "number of processes", type=int, shown=False)
    folder: Path | None = runs.folder_field()
    fresh: bool = runs.fresh_field()
    out: Path | None = runs.out_field()

    @property
    def plan(self) -> PlayPlan:
        """What is played and learned."""
        return PlayPlan(**{each.name: getattr(self, each.name) for each in fields(PlayPlan)})

    def __post_init__(self) -> None:
        super().__post_init__()
        runs.at_least_1(self, "jobs")
        if self.pair_start and not self.pair:
            raise ArgumentError("--pair-start: continues a pair; add --pair")
