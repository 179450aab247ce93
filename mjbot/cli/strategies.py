"""``mjbot strategies``: what can play, what each believes, and its options."""

import argparse

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mjbot import exit_codes
from mjbot.registry import StrategyInfo, all_strategies, strategy_info


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="only these, also your own as my_bot:MyBot; default: all in the folder strategies",
    )


def run(args: argparse.Namespace) -> int:
    """Print the strategies; fail if one of them cannot be loaded."""
    infos = tuple(map(strategy_info, args.names)) if args.names else all_strategies()
    Console().print(strategy_table(infos))
    return exit_codes.FAILED if any(info.problem for info in infos) else exit_codes.OK


def strategy_table(infos: tuple[StrategyInfo, ...]) -> Table:
    """Return the table: name, thesis, options with default and unit."""
    table = Table("strategy", "thesis", "options and defaults", show_lines=True)
    table.columns[0].no_wrap = True
    for info in infos:
        thesis = Text(info.problem, "red") if info.problem else Text(info.thesis)
        table.add_row(info.name, thesis, Text("\n".join(map(str, info.options))))
    return table
