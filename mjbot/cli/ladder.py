"""Options of the ladder: players, opponents, and number of games."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mjbot.arena.experiments import records_option
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.requests import option
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import Spec, built_in_names
from protocol.rules import LAST_ROUND, Length

AGAINST: Final = ("fold-recognition-plus", "fast-riichi-a", "supervised")
STRONGEST: Final = 4


@dataclass(frozen=True)
class Options:
    """What was asked for.

    ``lines`` are the strategies that climb; all meet three of the first of ``against``, the
    ``strongest`` few of them three of each other one.  ``games_of`` has how many games of a line
    differ from the others'.  With ``show`` nothing is played; with ``fresh`` runs of other code are
    erased; ``records`` are games of people, ``report`` is a file for the tables.
    """

    lines: tuple[Spec, ...]
    against: tuple[Spec, ...]
    strongest: int
    games_of: Mapping[str, int]
    length: Length
    show: bool
    fresh: bool
    records: Path | None
    report: Path | None


def _names_option(help_: str) -> Any:
    return option((), help_, nargs="+", metavar="NAME,KEY=VALUE")


@dataclass(frozen=True, kw_only=True)
class StrengthOptions:
    """The experiment's own options."""

    lines: tuple[str, ...] = _names_option("strategies to measure (default: all of strategies/)")
    also: tuple[str, ...] = _names_option("further strategies, such as external:majiang")
    against: tuple[str, ...] = _names_option(
        "three of the first are everybody's opponents, three of each other one those of the"
        f" strongest few (default: {' '.join(AGAINST)})"
    )
    strongest: int | None = option(
        None, f"number of these few (default: {STRONGEST})", type=int, metavar="N"
    )
    games_of: tuple[str, ...] = option(
        (),
        "other games than --games for some lines; 0 leaves one out",
        action="extend",
        nargs="+",
        metavar="NAME,KEY=VALUE=GAMES",
    )
    length: Length | None = option(
        None, "length of a game (default: hanchan)", choices=list(LAST_ROUND)
    )
    show: bool = option(False, "play nothing, report what has been played")
    fresh: bool = option(False, "erase runs of other code, seed or length")
    records: Path | None = records_option()
    report: Path | None = option(
        None, "file for the tables, which are also printed", type=Path, metavar="FILE", writes=()
    )


def read_options(own: StrengthOptions) -> Options:
    """Return what the options ask for, with the defaults of those that are not given.

    Raises :class:`~mjbot.runtime.errors.ArgumentError` and ``StrategyError``.
    """
    lines = _unique([*(own.lines or built_in_names()), *own.also])
    strongest = STRONGEST if own.strongest is None else own.strongest
    if strongest < 0:
        raise ArgumentError(f"--strongest {strongest}: at least 0")
    return Options(
        lines=lines,
        against=_unique(own.against or AGAINST),
        strongest=strongest,
        games_of=_games_of(own.games_of, lines),
        length=own.length or "hanchan",
        show=own.show,
        fresh=own.fresh,
        records=own.records,
        report=own.report,
    )


def _unique(texts: Any) -> tuple[Spec, ...]:
    return tuple(dict.fromkeys(map(Spec.read, texts)))


def _games_of(texts: Any, lines: tuple[Spec, ...]) -> dict[str, int]:
    found = {}
    for text in texts:
        name, _, games = text.rpartition("=")
        if not name or not games.isdecimal():
            raise ArgumentError(f"--games-of {text}: expected NAME=GAMES")
        line = str(_spec_of(name))
        if line not in map(str, lines):
            raise ArgumentError(f"--games-of {text}: {line} is none of the lines")
        found[line] = int(games)
    return found


def _spec_of(name: str) -> Spec:
    try:
        return Spec.read(name)
    except StrategyError as error:
        raise ArgumentError(f"--games-of {name}: {error}") from None
