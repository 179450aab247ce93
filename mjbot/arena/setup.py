"""What a run is: everything that its games depend on, so that equal runs have equal games."""

import hashlib
from collections.abc import Iterable
from typing import Final, Literal

import msgspec
import numpy as np

from mjbot.arena.seating import Format, Seating, make_seating
from mjbot.compiled import source_digest
from mjbot.external.node import NodeError
from mjbot.learning.weights import shipped_digest
from mjbot.match.players import SeatError, read_players
from mjbot.referee.referee import Referee
from mjbot.registry import strategy_class
from mjbot.rules.ruleset import Length
from mjbot.splitmix import mix
from mjbot.strategy_options import StrategyError
from mjbot.strategy_spec import Spec

WALLS_PER_SEED: Final = 1 << 32
LARGEST_SEED: Final = (1 << 31) - 1

Draws = Literal["order", "pinned"]
"""Whether everybody draws from one wall in order, or each seat from its own quarter."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """One run.  ``code`` is a digest of the strategies' and the rules' source.

    A strategy that has not decided after ``deadline_s`` seconds is late.
    """

    strategies: tuple[str, ...]
    format: Format
    length: Length = "hanchan"
    seed: int = 0
    walls: Draws = "order"
    deadline_s: float = 5.0
    code: str = ""

    @property
    def seating(self) -> Seating:
        """Who sits where in the games of one wall."""
        return make_seating(self.format, len(self.strategies))

    def game_seed(self, wall: int) -> int:
        """Return the seed of all walls of the games on ``wall``: the numbers of runs differ.

        ``mjbot serve`` and ``match`` deal the same with this seed.
        """
        return self.seed * WALLS_PER_SEED + wall

    def player_seed(self, wall: int, seat: int) -> int:
        """Return the seed of a player's own dice: the same for whoever sits there."""
        return int(mix(np.uint64(4 * self.game_seed(wall) + seat)) >> np.uint64(1))

    def player(self, unit: "Unit", seat: int) -> int:
        """Return the number of the strategy that sits there."""
        return self.seating.tables[unit.seating][seat]

    @property
    def identity(self) -> str:
        """Twelve letters and digits that no other run shares."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:12]


class Unit(msgspec.Struct, frozen=True, array_like=True):
    """One game: wall number ``wall`` (from 0) in seating number ``seating``."""

    wall: int
    seating: int


def code_digest(strategies: Iterable[str]) -> str:
    """Return a digest of all source and learned weights that the games depend on.

    Raises :class:`~mjbot.strategy_options.StrategyError` if a strategy or option is unknown.
    """
    digest = hashlib.sha256(source_digest(Referee.__module__).encode())
    digest.update(shipped_digest().encode())
    for text in strategies:
        spec = Spec.read(text)
        _check(spec)
        if not spec.is_external:
            digest.update(source_digest(strategy_class(spec.name).__module__).encode())
    return digest.hexdigest()[:16]


def labels(strategies: tuple[str, ...]) -> tuple[str, ...]:
    """Return what tables call the strategies: equal ones are told apart.

    >>> labels(("fast-riichi-a", "my_bot.py:MyBot", "fast-riichi-a"))
    ('fast-riichi-a', 'MyBot', 'fast-riichi-a (2)')
    """
    names: list[str] = []
    for text in strategies:
        short = Spec.read(text).label
        same = sum(name == short or name.startswith(f"{short} (") for name in names)
        names.append(f"{short} ({same + 1})" if same else short)
    return tuple(names)


def _check(spec: Spec) -> None:
    if not spec.is_external:
        spec.check()
        return
    try:
        read_players([spec.name])[0].command("", 1)
    except (SeatError, NodeError) as error:
        raise StrategyError(str(error)) from None
