"""Arguments and defaults of each kind of training.

Parsers (``mjbot train WHAT``) and the commands in manifests are made from these classes
(:mod:`mjbot.runtime.requests`).  Each is declared apart from its training, so that the help needs
no torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from mjbot.learning.models.weights import SHIPPED
from mjbot.learning.training import runs
from mjbot.learning.training.positions import LeftOut
from mjbot.protocol.rules import LAST_ROUND, Length
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.requests import argument, option


def check_field() -> Any:
    """Return the option ``--check``: further records that are only checked with."""
    return option(
        None, "further records to check with, not learned from", type=Path, metavar="RECORDS"
    )


def length_field() -> Any:
    """Return the option ``--length``."""
    return option("hanchan", "length of a game", choices=list(LAST_ROUND))


def players_field() -> Any:
    """Return the option ``--players``."""
    return option(4, "players of the games", type=int, choices=[3, 4])


def shares_field(*shares: float) -> Any:
    """Return the option ``--shares``: what each of the five decisions has of a batch."""
    default = " ".join(f"{share:g}" for share in shares)
    help_ = f"shares of discard, riichi, pon, chi and kan in each batch (default: {default})"
    return option(shares, help_, type=float, nargs=5, metavar="SHARE")


def check_shares(shares: Sequence[float]) -> None:
    """Raise :class:`~mjbot.runtime.errors.ArgumentError` for shares that leave no discards."""
    if min(shares) < 0 or not shares[0] > 0:
        raise ArgumentError("--shares: none below 0, and some discards")


# --- from records ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DangerRequest(runs.TrainingRequest):
    """``mjbot train danger``."""

    players: int = players_field()

    def __post_init__(self) -> None:
        runs.at_least_1(self, "jobs")


@dataclass(frozen=True, kw_only=True)
class ShantenRequest(runs.TrainingRequest):
    """``mjbot train shanten``: ``passes`` over the rows."""

    players: int = players_field()
    check: Path | None = check_field()
    passes: int = option(10, "passes over all rows", type=int)

    def __post_init__(self) -> None:
        runs.at_least_1(self, "passes", "jobs")


@dataclass(frozen=True, kw_only=True)
class DataRequest:
    """``mjbot train data``: the columns that the classes below learn from."""

    records: Sequence[Path] = runs.records_field()
    folder: Path = option(None, "new folder for the columns", type=Path, required=True, shown=False)
    players: int = players_field()
    jobs: int = option(1, "number of processes", type=int, shown=False)
    left_out: LeftOut = field(default_factory=LeftOut)

    def __post_init__(self) -> None:
        runs.at_least_1(self, "jobs")


# --- from columns ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ColumnsRequest:
    """What is learned from columns: from ``games`` of the first folder of ``data``.

    The games of it that come after them are the first check, all those of each further folder
    another.
    """

    data: Sequence[Path] = argument(
        "folders of columns (mjbot train data): learn from the first, check with its remaining"
        " games and with each further one",
        nargs="+",
        type=Path,
        metavar="FOLDER",
    )
    games: runs.GameRange = runs.games_field(
        "games of the first folder to learn from (default: all)"
    )
    seed: int = runs.seed_field()
    out: Path | None = runs.out_field()


@dataclass(frozen=True, kw_only=True)
class RankRequest(ColumnsRequest):
    """``mjbot train rank``: ``passes`` over the kyoku by each of ``nets``."""

    nets: int = option(2, "number of networks to average", type=int)
    passes: int = option(20, "passes of each network over all kyoku", type=int)

    def __post_init__(self) -> None:
        runs.at_least_1(self, "nets", "passes")


@dataclass(frozen=True, kw_only=True)
class PolicyPlan:
    """How the policy is learned; ``rows`` in all, several passes if that is more than there are.

    ``shares`` of discard, riichi, pon, chi, kan in each batch; in the records they are 0.76, 0.03,
    0.075, 0.13, 0.01, so that a kan would be one row of a hundred.
    """

    channels: int = option(64, "channels of each cell", type=int)
    blocks: int = option(6, "number of blocks of two convolutions", type=int)
    rows: int = option(10_000_000, "rows to learn from, in several passes if needed", type=int)
    batch: int = option(512, "rows of a step", type=int)
    rate: float = option(2e-3, "highest learning rate", type=float)
    decay: float = option(1e-2, "weight decay", type=float)
    shares: tuple[float, ...] = shares_field(0.47, 0.10, 0.16, 0.19, 0.08)
    seed: int = runs.seed_field()

    @property
    def steps(self) -> int:
        """How many batches that is."""
        return self.rows // self.batch

    def __post_init__(self) -> None:
        runs.at_least_1(self, "channels", "rows", "batch")
        if self.blocks < 2:
            raise ArgumentError("--blocks: at least 2")
        check_shares(self.shares)


@dataclass(frozen=True, kw_only=True)
class PolicyRequest(ColumnsRequest, PolicyPlan):
    """``mjbot train policy``.

    ``crossed``: a game's number, and two folders of weights (hand evaluator and danger) that were
    fitted to the games before it and from it on: each row is shown those that do not know it.
    ``held_out`` of the games, the last, only measure the progress.  ``start``: a folder of weights
    to continue from, of this form or with fewer inputs.
    """

    held_out: int = option(25, "last games that only measure the progress", type=int)
    crossed: tuple[str, ...] = option(
        (),
        "show rows of games before GAME the hand and danger weights in folder FROM, fitted to the"
        " others, and the others those in folder BEFORE (default: the shipped ones for all)",
        nargs=3,
        metavar=("GAME", "BEFORE", "FROM"),
    )
    start: Path | None = option(
        None, "folder with weights to continue from", type=Path, metavar="FOLDER"
    )
    folder: Path | None = runs.folder_field()
    fresh: bool = runs.fresh_field()

    @property
    def plan(self) -> PolicyPlan:
        """How it is learned."""
        return PolicyPlan(**{each.name: getattr(self, each.name) for each in fields(PolicyPlan)})

    def __post_init__(self) -> None:
        super().__post_init__()
        runs.at_least_1(self, "held_out")
        if self.crossed and not self.crossed[0].isdecimal():
            raise ArgumentError(f"--crossed {self.crossed[0]!r}: expected the number of a game")


# --- from games of our own ---------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SelfPlayRequest:
    """``mjbot train self-play``; ``start`` is the folder of the policy's first weights."""

    iterations: int = option(21, "iterations: games, and learning from them", type=int)
    tables: int = option(2048, "hanchan of an iteration, played at once", type=int)
    jobs: int = option(1, "processes that play; the games follow from their number", type=int)
    device: str = option("cpu", "where the networks learn, as torch names it: cpu, cuda")
    length: Length = length_field()
    warm_up: int = option(1, "iterations in which the critic learns alone", type=int)
    passes: int = option(2, "passes over each iteration's decisions", type=int)
    rate: float = option(8e-5, "learning rate of the policy in its first iteration", type=float)
    kl: float = option(
        0.002,
        "cost of a nat of divergence from the start, in spreads of advantage",
        type=float,
    )
    target_kl: float = option(
        1e-3,
        "divergence in nats from the policy that played to which the rate adapts an iteration",
        type=float,
    )
    seed: int = runs.seed_field()
    start: Path = option(
        SHIPPED,
        "folder of the policy's first weights (default: the shipped ones)",
        type=Path,
        metavar="FOLDER",
        shown=False,
    )
    compiled: bool = option(
        False, "learn with networks compiled by torch: half the time; needs a C++ compiler"
    )
    mean_of: Sequence[Path] = runs.mean_of_field()
    folder: Path | None = runs.folder_field()
    fresh: bool = runs.fresh_field()
    out: Path | None = option(
        None, "folder of the weights (default: the run's)", type=Path, shown=False
    )

    def __post_init__(self) -> None:
        if min(self.iterations, self.tables) < 1 or self.warm_up < 0:
            raise ArgumentError("--iterations and --tables: at least 1; --warm-up: at least 0")
        runs.at_least_1(self, "passes", "jobs")
        if self.jobs > self.tables:
            raise ArgumentError(f"--jobs {self.jobs}: at most one for each of {self.tables} tables")
        if min(self.rate, self.target_kl) <= 0:
            raise ArgumentError("--rate and --target-kl: above 0")
