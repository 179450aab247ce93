"""What the user may say of the ladder: who climbs it, against whom, over how many games."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from mjbot.errors import ArgumentError
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import Spec, built_in_names
from protocol.rules import Length

AGAINST: Final = ("fold-recognition-plus", "fast-riichi-a", "supervised")
STRONGEST: Final = 4
OPTIONS: Final = (
    "lines", "also", "against", "strongest", "games_of", "length", "show", "fresh", "records",
    "report",
)  # fmt: skip


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


def add_arguments(group: Any) -> None:
    """Declare all but ``--records``; a default of ``None`` says that nothing was said."""
    names = {"nargs": "+", "metavar": "NAME,KEY=VALUE"}
    group.add_argument(
        "--lines", **names, help="strategies that play (default: all of strategies/)"
    )
    group.add_argument("--also", **names, help="further players, such as external:majiang")
    group.add_argument(
        "--against",
        **names,
        help="three of the first are everybody's opponents, three of each other one those of the"
        f" strongest few ({' '.join(AGAINST)})",
    )
    group.add_argument(
        "--strongest",
        type=int,
        metavar="N",
        help=f"number of the strongest few (default: {STRONGEST})",
    )
    group.add_argument(
        "--games-of",
        action="extend",
        nargs="+",
        metavar="NAME,KEY=VALUE=GAMES",
        help="number of games of single lines; 0 omits a line",
    )
    group.add_argument(
        "--length", choices=["tonpu", "hanchan"], help="length of a game (default: hanchan)"
    )
    yes = {"action": "store_const", "const": True}
    group.add_argument("--show", **yes, help="play nothing, print the finished lines")
    group.add_argument("--fresh", **yes, help="erase runs of other code, seed or length")
    group.add_argument("--report", type=Path, metavar="FILE", help="file for the tables")


def read_options(own: Mapping[str, Any]) -> Options:
    """Return the options given by name; what is missing or ``None`` has its default.

    Raises :class:`~mjbot.errors.ArgumentError` and ``StrategyError``.
    """
    lines = _unique([*(own.get("lines") or built_in_names()), *(own.get("also") or ())])
    given = own.get("strongest")
    strongest = STRONGEST if given is None else given
    if strongest < 0:
        raise ArgumentError(f"--strongest {strongest}: at least 0")
    return Options(
        lines=lines,
        against=_unique(own.get("against") or AGAINST),
        strongest=strongest,
        games_of=_games_of(own.get("games_of") or (), lines),
        length=cast(Length, own.get("length") or "hanchan"),
        show=bool(own.get("show")),
        fresh=bool(own.get("fresh")),
        records=own.get("records"),
        report=own.get("report"),
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
