"""The judged tables: their players and walls, and the counts of their games.

No judged wall was used in training: walls that were used in training, or examined before the test
was fixed, come first and are left out.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.analysis.collusion.games import GameCounts, Models, count_games, header_of
from mjbot.analysis.collusion.learning import known_pair
from mjbot.arena.code_digest import code_digest
from mjbot.arena.run import RunOutcome
from mjbot.arena.run_folder import record_path
from mjbot.arena.runs import Run
from mjbot.arena.setup import LARGEST_SEED, GameId, Setup, labels
from mjbot.game.statistics.seating import SeatingFormat
from mjbot.learning.training.positions import GameRef, index_games
from mjbot.runtime.progress import progress
from mjbot.strategy.registry import Spec
from papers.experiments import ExperimentContext, ExperimentError

FOLDER: Final = "detection"
USUAL_SEED: Final = 2021
SEEDS_APART: Final = 1_000_000

Places = NDArray[np.intp]


@dataclass(frozen=True)
class TableKind:
    """A kind of table: its strategies as the arena seats them in ``format``.

    Walls below ``first`` are left out.  ``share`` scales the requested number of games; ``players``
    is the number of seats.
    """

    strategies: tuple[str, ...]
    seed: int
    first: int = 0
    format: SeatingFormat = "pair"
    share: int = 1
    players: int = 4

    @property
    def pair(self) -> frozenset[str]:
        """The names of the pair, as in the counts; empty where there is no pair."""
        if self.format != "pair":
            return frozenset()
        names = labels(map(Spec.read, self.strategies))
        return frozenset((names[0], names[1] if len(names) > 2 else f"{names[0]} #2"))

    @property
    def copies(self) -> frozenset[str]:
        """The names of two copies of one strategy, if there are any."""
        names = labels(map(Spec.read, self.strategies))
        twice = [n for n, who in enumerate(self.strategies) if self.strategies.count(who) == 2]
        return frozenset(names[n] for n in twice)

    def __str__(self) -> str:
        """Return the players, as Markdown.

        >>> str(TableKind(("a", "b"), 1)), str(TableKind(("a", "b", "c"), 1))
        ('two `a`, two `b`', '`a` + `b`, two `c`')
        >>> str(TableKind(("a", "a", "b", "c"), 1, format="each"))
        'two `a`, `b`, `c`'
        >>> str(TableKind(("a", "b"), 1, players=3))
        'two `a`, `b`'
        """
        if self.format != "pair":
            seats = self.players // len(self.strategies)
            many = {who: seats * self.strategies.count(who) for who in self.strategies}
            return ", ".join(f"two `{who}`" if n > 1 else f"`{who}`" for who, n in many.items())
        *pair, rivals = self.strategies
        parts = " + ".join(f"`{who}`" for who in pair) if len(pair) > 1 else f"two `{pair[0]}`"
        return f"{parts}, {'two ' if self.players == 4 else ''}`{rivals}`"


PAIRS: Final = (
    TableKind(("combo-partner", "fast-riichi-d"), 970),
    TableKind(("yaku-evaluation", "combo-partner", "fast-riichi-d"), 980),
    TableKind(("combo-partner,base=strongest", "strongest"), 3010),
    TableKind(("combo-partner,helps=0", "fast-riichi-d"), 1000, first=10),
    TableKind(("combo-partner,helps=0.1", "fast-riichi-d"), 1010, first=12),
    TableKind(("combo-partner,helps=0.3", "fast-riichi-d"), 1030),
    TableKind(("combo-partner,helps=0.03", "fast-riichi-d"), 1003),
    TableKind(("combo-partner,helps=last", "fast-riichi-d"), 1040),
    TableKind(("combo-partner,looks=0.3", "fast-riichi-d"), 1050),
    TableKind(("combo-partner,looks=0.1", "fast-riichi-d"), 1060, share=2),
    TableKind(("combo-partner", "fast-riichi-d"), 41, first=20, players=3),
    TableKind(("combo-partner,base=strongest", "strongest"), 52301, first=40, share=5, players=3),
    TableKind(("combo-partner,helps=0", "fast-riichi-d"), 42, first=20, players=3),
)
_CALM: Final = ("tsumogiri", "yaku-evaluation", "fast-riichi-d")
HONEST: Final = (
    TableKind(("fast-riichi-b", *_CALM), 990, format="each", share=2),
    TableKind(
        ("fast-riichi-d", "fast-riichi-d", "yaku-evaluation", "tsumogiri"), 2990, format="each"
    ),
    TableKind(("strongest", *_CALM), 3990, format="each"),
    TableKind(
        ("fast-riichi-b", "fast-riichi-c", "fast-riichi-d"), 100, format="each", share=4, players=3
    ),
    TableKind(
        ("fast-riichi-d", "fast-policy", "fast-riichi-a"), 101, format="each", share=4, players=3
    ),
    TableKind(
        ("fast-riichi-d", "fast-policy", "tsumogiri"), 102, format="each", share=4, players=3
    ),
    TableKind(("fast-riichi-d", "fast-riichi-d", "tsumogiri"), 5010, format="each", players=3),
)


@dataclass(frozen=True)
class TableGames:
    """Games of the same players, and which two seats every two of them had in each.

    ``pairs`` are two names each, ``places`` int64[games, pairs] their places in each game,
    ``walls`` int64[games] the walls.
    """

    games: GameCounts
    pairs: Sequence[frozenset[str]]
    places: Places
    walls: Places

    @classmethod
    def of(cls, games: GameCounts, walls: Places) -> "TableGames":
        """Return the table of an arena's games."""
        names = list(combinations(games.players, 2))
        places = [known_pair(games, *two).places for two in names]
        return cls(games, [frozenset(two) for two in names], np.stack(places, axis=1), walls)

    def take(self, chosen: Places) -> "TableGames":
        """Return some games."""
        return TableGames(
            self.games.take(chosen), self.pairs, self.places[chosen], self.walls[chosen]
        )


def run_of(table_kind: TableKind, request: ExperimentContext) -> Run:
    """Return the games of a kind; those of other code or another seed lie in another folder."""
    setup = Setup(
        strategies=table_kind.strategies,
        format=table_kind.format,
        seed=moved(table_kind.seed, request.seed),
        rules={} if table_kind.players == 4 else {"players": table_kind.players},
        deadline_s=0.0,
        code=code_digest(map(Spec.read, table_kind.strategies)),
    )
    n_walls = table_kind.first - (-table_kind.share * request.games // len(setup.seating.tables))
    folder = f"{FOLDER}/{'+'.join(table_kind.strategies)}-{setup.identity}"
    return Run(str(table_kind).replace("`", ""), setup, n_walls, folder, recording=True)


def moved(seed: int, asked: int) -> int:
    """Return the seed of a kind's walls; none of them was used in training, for any request.

    >>> moved(970, USUAL_SEED), moved(970, USUAL_SEED + 1)
    (970, 1000970)
    """
    return (seed + SEEDS_APART * (asked - USUAL_SEED)) % (LARGEST_SEED + 1)


def count_table(
    table_kind: TableKind, outcome: RunOutcome, models: Models, request: ExperimentContext
) -> TableGames:
    """Return what is counted of the games of a kind that are judged."""
    plan = outcome.plan
    walls = {
        record_path(plan.folder, GameId(wall, seating)): wall
        for wall in range(table_kind.first, plan.n_walls)
        for seating in range(len(plan.setup.seating.tables))
        if wall not in outcome.void
    }
    if not walls:
        raise ExperimentError(f"{table_kind}: no wall could be played to the end")
    refs = index_games(walls, players=(table_kind.players,))
    wall_of = np.array([walls[ref.source.path] for ref in refs], np.intp)
    games = counted(refs, f"counting {table_kind}".replace("`", ""), models, request)
    return TableGames.of(games, wall_of[games.numbers])


def count_unrelated(path: Path, models: Models, request: ExperimentContext) -> GameCounts:
    """Return what is counted of people's games."""
    with progress(Console(stderr=True), f"looking through {path.name}"):
        refs = index_games([path], players=tuple(models))
    return counted(refs, f"counting {path.name}", models, request)


def counted(
    refs: Sequence[GameRef], label: str, models: Models, request: ExperimentContext
) -> GameCounts:
    """Count games, or load the counts of the same games by the same code."""
    header = msgspec.json.encode(header_of(models))
    folder = request.folder / FOLDER / f"counts-{hashlib.sha256(header).hexdigest()[:12]}"
    with progress(Console(stderr=True), label, len(refs), "games") as step:
        return count_games(refs, models, request.jobs, folder, step=step)
