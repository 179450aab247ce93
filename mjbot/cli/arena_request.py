"""What ``mjbot arena`` is asked for, on its command line and by the file of a protocol."""

import argparse
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from mjbot.arena.code_digest import code_digest
from mjbot.arena.run import ArenaPlan
from mjbot.arena.setup import RUNS, Draws, Setup, require_seed, usual_format
from mjbot.arena.workers.on_ray import LOCAL, PREFIX, import_ray
from mjbot.cli.arguments import (
    file_option,
    folder_option,
    jobs_option,
    json_option,
    length_option,
    rules_option,
    rules_with,
    seed_option,
    strategy,
)
from mjbot.cli.profile import ProfileError, RunProfile
from mjbot.game.statistics.figures import DEFAULT_UMA
from mjbot.game.statistics.seating import FORMATS, SeatingFormat
from mjbot.game.statistics.sequential import ErrorRates
from mjbot.protocol.rules import Length, Rules
from mjbot.runtime.argument_types import count
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.requests import argument, option
from mjbot.runtime.system import terminal_name
from mjbot.strategy.registry import Spec

SHORTEST_DEADLINE_S: Final = 0.01
LONGEST_DEADLINE_S: Final = 86400.0
STRATEGIES: Final = "NAME or NAME,KEY=VALUE,... (mjbot strategies lists them), or external:majiang"
LEAST: Final = ("strategies", "games", "seed")
"""What a protocol cannot leave to a default."""


def _deadline(text: str) -> float:
    try:
        deadline_s = float(text)
    except ValueError:
        deadline_s = -1.0
    if deadline_s and not SHORTEST_DEADLINE_S <= deadline_s <= LONGEST_DEADLINE_S:
        allowed = f"0 (none) or {SHORTEST_DEADLINE_S:g} to {LONGEST_DEADLINE_S:g} seconds"
        raise argparse.ArgumentTypeError(f"{text!r}: expected {allowed}")
    return deadline_s


def _uma(text: str) -> tuple[float, ...]:
    try:
        points = tuple([float(part) for part in text.split(",")])
    except ValueError:
        points = ()
    if len(points) not in DEFAULT_UMA:
        expected = "expected four numbers, such as 20,10,-10,-20 (of three players three)"
        raise argparse.ArgumentTypeError(f"{text!r}: {expected}")
    return points


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What the figures of a run depend on: all that a protocol fixes."""

    strategies: tuple[Spec, ...] = argument(
        STRATEGIES, nargs="*", type=strategy, metavar="STRATEGY"
    )
    format: SeatingFormat | None = option(
        None,
        "1v3: each against three of the last named; 2v2; pair: first two allied; each: all at"
        " one table (default: 2v2, 1v3 or each for two, three or four strategies); of three players"
        " 1v2 or each (default: 1v2, each for three strategies)",
        choices=FORMATS,
    )
    games: int = option(1000, "number of games, rounded up to whole walls", type=count)
    length: Length | None = length_option()
    rules: Rules | None = rules_option(players=(3, 4))
    seed: int = seed_option()
    walls: Draws = option(
        "order",
        "pinned: a call does not shift what the others draw, as in duplicate play",
        choices=["order", "pinned"],
    )
    deadline_s: float = option(5.0, "time for a decision, in seconds; 0: none", type=_deadline)
    uma: tuple[float, ...] | None = option(
        None,
        "value of the ranks, in thousands of points"
        " (default: 20,10,-10,-20; of three players 20,0,-20)",
        type=_uma,
    )
    until: str | None = option(
        None, "stop as soon as a sequential test of the first two is sure", choices=["sure"]
    )
    error: float = option(0.05, "error rate of the sequential test", type=float)
    margin: float = option(0.05, "rank difference that counts as none", type=float)


@dataclass(frozen=True, kw_only=True)
class ProtocolKeys(Measurement):
    """The keys of a protocol's file."""

    strategies: tuple[Spec, ...] = option((), STRATEGIES, type=strategy, action="append")
    question: str = option("", "what the run is to show")
    looks: tuple[int, ...] = option(
        (),
        "games after which figures may be looked at, the last aside",
        type=count,
        action="append",
    )
    most_void: int = option(0, "walls without figures that do not make a run exploratory", type=int)


@dataclass(frozen=True, kw_only=True)
class ArenaRequest(Measurement):
    """What ``mjbot arena`` is asked for."""

    file_keys: ClassVar[type] = ProtocolKeys
    """The keys of the file that ``--protocol`` names."""

    protocol: Path | None = file_option(
        "TOML file that fixes players, walls, looks and exclusions before the first game"
    )
    repro: Path | None = file_option("repeat the decision that a fault's file records, and stop")
    jobs: int | None = jobs_option()
    on: str | None = option(
        None, "Ray cluster: ray or ray://HOST:PORT (default: this machine)", metavar="PLACE"
    )
    out: Path | None = folder_option(f"folder of the run (default: one of its own in {RUNS})")
    record: bool = option(False, "keep every game as mjai lines in the run's folder")
    fresh: bool = option(False, "erase the run in that folder")
    json: bool = json_option()

    def plan(self) -> ArenaPlan:
        """Return the run.  Raises a one-line error if it cannot be played."""
        if len(self.strategies) < 2:
            raise ArgumentError("name two strategies or more (mjbot strategies lists them)")
        require_seed(self.seed)
        for name, share in (("error", self.error), ("margin", self.margin)):
            if not 0 < share < 1:
                raise ArgumentError(f"--{name} {share:g}: between 0 and 1")
        if self.on and self.on != LOCAL and not self.on.startswith(PREFIX):
            raise ArgumentError(f"--on {self.on}: expected ray or ray://HOST:PORT")
        if self.on:
            import_ray()
        rules = rules_with(self.rules, self.length)
        setup = Setup(
            strategies=tuple(map(str, self.strategies)),
            format=self.format or usual_format(len(self.strategies), rules.players),
            length=rules.length,
            rules=rules.differences,
            seed=self.seed,
            walls=self.walls,
            deadline_s=self.deadline_s,
            code=code_digest(self.strategies, rules.players),
        )
        if self.uma and len(self.uma) != rules.players:
            given = ",".join([f"{points:g}" for points in self.uma])
            raise ArgumentError(f"--uma {given}: there are {rules.players} ranks")
        return ArenaPlan(
            setup=setup,
            n_walls=-(-self.games // len(setup.seating.tables)),
            folder=self.out or setup.usual_folder,
            rates=ErrorRates(self.error, self.margin),
            until_sure=self.until == "sure",
            uma=self.uma,
            recording=self.record,
        )

    def terminal(self) -> str:
        """Return the device in which a strategy may be debugged, empty if none.

        ``breakpoint()`` needs one process alone, and decisions that may take any time.
        """
        if self.jobs == 1 and not self.deadline_s and not self.on:
            return terminal_name(0)
        return ""


class GivenProtocol(NamedTuple):
    """A protocol's file: its text and its keys."""

    text: str
    keys: ProtocolKeys


def read_protocol(path: Path) -> GivenProtocol:
    """Return the protocol in a file.

    Raises ``OSError`` and :class:`~mjbot.cli.profile.ProfileError`.
    """
    profile = RunProfile(path)
    values = profile.values(ProtocolKeys)
    for name in LEAST:
        if name not in values:
            missing = "missing; a protocol fixes players, number of games and seed"
            raise ProfileError(f"{path}: {name}: {missing}")
    named: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
    }
    return GivenProtocol(profile.text, ProtocolKeys(**named))


def overridden(request: ArenaRequest, protocol: ProtocolKeys) -> list[str]:
    """Return where a command line asks for something else than the protocol.

    A number of games at which the protocol plans a look is none.
    """
    deviations = []
    for field in fields(Measurement):
        asked, fixed = getattr(request, field.name), getattr(protocol, field.name)
        if asked == fixed or (field.name == "games" and asked in protocol.looks):
            continue
        deviations.append(f"{field.name} {_spelled(asked)} (fixed: {_spelled(fixed)})")
    return deviations


def _spelled(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
