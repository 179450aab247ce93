"""What a run is: everything that its games depend on, so that equal runs have equal games."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import numpy as np

from mjbot.game.statistics.seating import ONE_AGAINST, Seating, SeatingFormat, make_seating
from mjbot.protocol.rules import Length, Rules, announced_players
from mjbot.runtime.compiler.splitmix import mix
from mjbot.runtime.errors import ArgumentError
from mjbot.strategy.registry import Spec

WALLS_PER_SEED: Final = 1 << 32
LARGEST_SEED: Final = (1 << 31) - 1

RUNS: Final = Path("logs", "runs")
"""Where runs have their folders, seen from the current folder."""

Draws = Literal["order", "pinned"]
"""Whether everybody draws from one wall in order, or each seat from its own part."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """One run.  ``code`` has digests of what its games depend on (:mod:`mjbot.arena.code_digest`).

    ``rules`` are those that differ from the default ones, the length aside.  ``strategies`` name
    them as a command line does.  One that has not decided after ``deadline_s`` seconds is late.
    """

    strategies: tuple[str, ...]
    format: SeatingFormat
    length: Length = "hanchan"
    rules: dict[str, Any] = {}
    seed: int = 0
    walls: Draws = "order"
    deadline_s: float = 5.0
    code: str = ""

    @property
    def specs(self) -> tuple[Spec, ...]:
        """The strategies."""
        return tuple(map(Spec.read, self.strategies))

    @property
    def code_by_label(self) -> dict[str, str]:
        """The digest of each strategy's code; of all together where an older run has only that."""
        codes = self.code.split(",")
        if len(codes) != len(self.strategies):
            codes = [self.code] * len(self.strategies)
        return dict(zip(labels(self.specs), codes, strict=True))

    @property
    def game_rules(self) -> Rules:
        """The rules of all games.  Raises ``ValueError`` for a header with other ones."""
        return Rules.read({"length": self.length, **self.rules}, players=(3, 4))

    @property
    def seating(self) -> Seating:
        """The seatings of the games of one wall."""
        return make_seating(self.format, len(self.strategies), announced_players(self.rules))

    def game_seed(self, wall: int) -> int:
        """Return the seed of all walls of the games on ``wall``: the numbers of runs differ.

        ``mjbot serve`` and ``match`` deal the same with this seed.
        """
        return self.seed * WALLS_PER_SEED + wall

    def player_seed(self, wall: int, seat: int) -> int:
        """Return the seed of a player's own dice: the same for any player in that seat."""
        return int(mix(np.uint64(4 * self.game_seed(wall) + seat)) >> np.uint64(1))

    def player(self, game_id: "GameId", seat: int) -> int:
        """Return the number of the strategy that sits there."""
        return self.seating.tables[game_id.seating][seat]

    @property
    def identity(self) -> str:
        """Twelve letters and digits that no other run shares."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:12]

    @property
    def usual_folder(self) -> Path:
        """Where a run has its folder unless another is named."""
        return RUNS / f"arena-{self.identity}"


def require_seed(seed: int) -> None:
    """Raise ``ArgumentError`` for a seed that no run can have."""
    if not 0 <= seed <= LARGEST_SEED:
        raise ArgumentError(f"--seed {seed}: from 0 to {LARGEST_SEED}")


def usual_format(n: int, players: int) -> SeatingFormat:
    """Return the format of ``n`` strategies where none is named: 2v2, each, 1v3 or 1v2."""
    usual: dict[tuple[int, int], SeatingFormat] = {(2, 4): "2v2", (4, 4): "each", (3, 3): "each"}
    return usual.get((n, players), ONE_AGAINST[players])


class GameId(msgspec.Struct, frozen=True, array_like=True):
    """One game: wall number ``wall`` (from 0) in seating number ``seating``."""

    wall: int
    seating: int


def labels(specs: Iterable[Spec]) -> tuple[str, ...]:
    """Return the labels of the strategies in tables: equal ones get numbers.

    >>> labels(map(Spec.read, ("fast-riichi-a", "my_bot.py:MyBot", "fast-riichi-a")))
    ('fast-riichi-a', 'MyBot', 'fast-riichi-a (2)')
    """
    names: list[str] = []
    for spec in specs:
        short = spec.label
        same = sum(name == short or name.startswith(f"{short} (") for name in names)
        names.append(f"{short} ({same + 1})" if same else short)
    return tuple(names)
