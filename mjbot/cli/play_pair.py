"""The arguments of ``mjbot play`` that make it one of a pair."""

import argparse
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from mjbot.pair.channel import FORM, SECRET_VARIABLE, End, Linked, take_secret
from mjbot.pair.fair_play import (
    require_team_name,
    require_team_name_in,
    require_team_table,
)
from mjbot.pair.member import PairMember
from mjbot.preparation import prepare
from mjbot.registry import built_in_names, strategy_class
from mjbot.strategy import Strategy
from mjbot.strategy_spec import Spec
from protocol.dialects import Dialect


def add_pair_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    pair = parser.add_argument_group("one of a pair (`mjbot duo` starts both)")
    pair.add_argument(
        "--pair",
        metavar="END",
        help=f"end of the channel to the partner: {FORM}; the secret in {SECRET_VARIABLE}",
    )
    pair.add_argument(
        "--ally",
        metavar="NAME",
        help="the partner's strategy, NAME or NAME,KEY=VALUE,..., to rehearse with",
    )
    add_team_table_argument(pair)
    pair.add_argument(
        "--timings",
        type=Path,
        metavar="FILE",
        help="write of each decision the milliseconds, and 1 if it waited for the partner's word",
    )


def add_team_table_argument(parser: argparse._ActionsContainer) -> None:
    """Declare how a table is said to allow teams."""
    parser.add_argument(
        "--team-table",
        action="append",
        default=[],
        metavar="URL",
        help="a server elsewhere whose operator allows teams (may be repeated)",
    )


def read_linked(args: argparse.Namespace, strategy: Strategy) -> Linked | None:
    """Return how to play as one of a pair, ``None`` to play alone.

    Raises ``ValueError``, :class:`mjbot.pair.fair_play.FairPlayError` and
    :class:`mjbot.strategy_options.StrategyError`.
    """
    if args.pair is None:
        if args.ally or args.team_table or args.timings:
            raise ValueError("--ally, --team-table and --timings: only together with --pair")
        return None
    end = End.parse(args.pair)
    _require_team(args)
    require_member(args.strategy, strategy)
    make_ally = None if args.ally is None else Spec.read(args.ally).make
    if make_ally is not None:
        require_member(args.ally, make_ally())
    return Linked(end, take_secret(), make_ally, _writer(args.timings))


def prepare_seat(args: argparse.Namespace, linked: Linked | None) -> None:
    """Compile what the seat will need, before anybody waits for it; stderr tells of that."""
    spec = ",".join([args.strategy, *[f"{key}={value}" for key, value in args.option]])
    pair = [] if linked is None or args.ally is None else [spec, args.ally]
    prepare([] if pair else [spec], Console(stderr=True), use="client", pair=pair)


def _require_team(args: argparse.Namespace) -> None:
    """Raise ``FairPlayError`` unless the table allows teams and the name there tells of one."""
    address = require_team_table(args.url, args.team_table)
    over_websocket = address.dialect is Dialect.RIICHILAB
    if over_websocket:
        require_team_name_in(args.url)
    if args.name is not None or not over_websocket:
        require_team_name(args.name or "", "--name")


def require_member(name: str, strategy: Strategy) -> None:
    """Raise ``ValueError`` if a strategy cannot be one of a pair."""
    if not isinstance(strategy, PairMember):
        able = [name for name in built_in_names() if issubclass(strategy_class(name), PairMember)]
        raise ValueError(f"strategy {name!r} cannot be one of a pair; these can: {', '.join(able)}")


def _writer(file: Path | None) -> Callable[[float, int], None]:
    if file is None:
        return lambda seconds, waits: None
    lines = file.open("a", encoding="ascii", buffering=1)

    def write(seconds: float, waits: int) -> None:
        lines.write(f"{1000 * seconds:.3f} {waits}\n")

    return write
