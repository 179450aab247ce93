"""``mjbot strategies``: what can play, what each believes, and the options of those named."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from mjbot.runtime.errors import ExitCode
from mjbot.runtime.requests import argument
from mjbot.strategy.registry import StrategyInfo, all_strategies, strategy_info


@dataclass(frozen=True, kw_only=True)
class StrategiesRequest:
    """Arguments of ``mjbot strategies``."""

    names: tuple[str, ...] = argument(
        "strategies to list with their options, also your own as my_bot:MyBot (default: all"
        " in the folder strategies and of installed distributions, without options)",
        nargs="*",
        metavar="NAME",
    )


def run(request: StrategiesRequest) -> int:
    """Print the strategies; fail if one of them cannot be loaded."""
    console = Console()
    if request.names:
        return _describe(console, request.names)
    infos = all_strategies()
    for home, group in groupby(sorted(infos, key=lambda info: bool(info.problem)), _home):
        console.print(f"{home}:", highlight=False, markup=False, soft_wrap=True)
        console.print(strategy_table(group))
    console.print("options and their defaults: mjbot strategies NAME ...", highlight=False)
    return ExitCode.FAILED if any(info.problem for info in infos) else ExitCode.OK


def _describe(console: Console, names: Iterable[str]) -> int:
    status = ExitCode.OK
    for name in names:
        info = strategy_info(name)
        if info.problem:
            print(f"mjbot strategies: {info.problem}", file=sys.stderr)
            status = ExitCode.BAD_ARGUMENTS
        else:
            console.print(described(info), soft_wrap=True)
    return status


def _home(info: StrategyInfo) -> str:
    """Name the folder or distribution that it comes from."""
    if info.problem:
        return "cannot be loaded"
    file = Path(info.origin)
    return f"from {file.parent if file.is_file() else info.origin}"


def strategy_table(infos: Iterable[StrategyInfo]) -> Table:
    """Return the table of names, numbers of players and theses."""
    table = Table("strategy", "players", "thesis")
    table.columns[0].no_wrap = True
    for info in infos:
        table.add_row(info.name, _players(info), _thesis(info))
    return table


def described(info: StrategyInfo) -> Group:
    """Return name, origin, thesis, players and options with default and unit, one line each."""
    options = [Text(f"  {option}") for option in info.options]
    none = [] if options else [Text("  no options")]
    origin = Text(f"  from {info.origin}")
    thesis = Text.assemble("  ", _thesis(info))
    players = Text(f"  at tables of {_players(info)} players")
    return Group(Text(info.name, "bold"), thesis, origin, players, *options, *none)


def _players(info: StrategyInfo) -> str:
    return ", ".join(map(str, info.players))


def _thesis(info: StrategyInfo) -> Text:
    return Text(info.problem, "red") if info.problem else Text(info.thesis)
