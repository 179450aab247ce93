"""``mjbot play URL --strategy NAME``: one bot at somebody's table."""

import argparse
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final

from loguru import logger

from mjbot import exit_codes
from mjbot.cli.arguments import games, option_pair, patience, seat, seconds, token
from mjbot.cli.play_pair import add_pair_arguments, prepare_seat, read_linked
from mjbot.client.address import FORMS, parse_address
from mjbot.client.conversation import GameResult, ServerSaysError
from mjbot.client.faults import named_file
from mjbot.client.play import DEADLINES_S, Settings, play
from mjbot.interruption import ending_at_once, run_until_signalled
from mjbot.pair.fair_play import FairPlayError
from mjbot.records.wording import counted
from mjbot.registry import make_strategy
from mjbot.strategy import Strategy
from mjbot.strategy_options import StrategyError
from mjbot.table.table import TableError
from protocol.errors import LocalProtocolError, ProtocolError
from protocol.plain_text import one_line
from protocol.transports.base import TransportError

TOKEN_VARIABLE: Final = "MJBOT_TOKEN"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("url", metavar="URL", help=FORMS)
    parser.add_argument(
        "own_seat", metavar="SEAT", nargs="?", type=seat, help="own seat 0..3 (stdio: only)"
    )
    parser.add_argument(
        "--strategy", default="tsumogiri", metavar="NAME", help="who plays (%(default)s)"
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=option_pair,
        metavar="KEY=VALUE",
        help="of the strategy (may be repeated)",
    )
    parser.add_argument("--seed", type=int, default=0, help="for strategies that draw lots (0)")
    parser.add_argument("--name", help="name at the table (default: the strategy's)")
    parser.add_argument("--room", help="instead of the URL's")
    parser.add_argument("--seat", type=seat, help="the same as SEAT")
    parser.add_argument(
        "--games", type=games, default=1, help="0: until the server is gone (default 1)"
    )
    limits = ", ".join([f"{dialect.value} {limit:g}" for dialect, limit in DEADLINES_S.items()])
    parser.add_argument(
        "--deadline-s", type=seconds, help=f"longest a decision may take (by server: {limits})"
    )
    parser.add_argument(
        "--silence-s",
        type=seconds,
        help="longest the server may say nothing (default 300; pipes: no limit)",
    )
    parser.add_argument(
        "--wait-s",
        type=patience,
        default=10.0,
        help="longest to wait for a server that is not up yet (default 10)",
    )
    strictness = parser.add_mutually_exclusive_group()
    strictness.add_argument(
        "--strict", action="store_true", default=True, help="stop at a contradiction (default)"
    )
    strictness.add_argument(
        "--lenient", dest="strict", action="store_false", help="log a contradiction and play on"
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="write the game as we see it")
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help=f"file with the bearer token (else the variable {TOKEN_VARIABLE})",
    )
    add_pair_arguments(parser)
    parser.add_argument("--verbose", action="store_true", help="log every detail on stderr")


@ending_at_once()
def run(args: argparse.Namespace) -> int:
    """Play, and say in one line why not if it fails."""
    _log_to_stderr(verbose=args.verbose)
    options = dict(args.option)

    def make(game: int) -> Strategy:
        return make_strategy(args.strategy, options, args.seed + game)

    try:
        settings = _settings(args)
        pipes = (0, _take_stdout()) if settings.address.is_stdio else (0, 1)
        linked = read_linked(args, make(0))  # or say at once why not
    except (ValueError, StrategyError, FairPlayError) as error:
        return _fail(str(error), exit_codes.BAD_ARGUMENTS)
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}", exit_codes.UNREACHABLE)
    prepare_seat(args, linked)
    if linked is not None:
        return _play(settings, linked.play(settings, make, pipes))
    return _play(settings, play(settings, make, pipes))


def _settings(args: argparse.Namespace) -> Settings:
    address = parse_address(args.url, args.room)
    return Settings(
        address=address,
        name=args.name or args.strategy.rpartition(":")[2],
        seat=args.own_seat if args.seat is None else args.seat,
        token=token(args.token_file, TOKEN_VARIABLE),
        games=args.games,
        deadline_s=args.deadline_s,
        silence_s=args.silence_s,
        wait_s=args.wait_s,
        strict=args.strict,
        log=args.log,
        faults=named_file(),
    )


def _play(settings: Settings, games: Coroutine[Any, Any, list[GameResult]]) -> int:
    try:
        results = run_until_signalled(games)
    except ServerSaysError as error:
        if error.before_game:
            return _fail(f"the server refuses us: {error.problem}", exit_codes.UNREACHABLE)
        return _fail(f"the server ended the game: {error.problem}", exit_codes.PROTOCOL_FAULT)
    except TransportError as error:
        return _fail(str(error), exit_codes.UNREACHABLE)
    except LocalProtocolError as error:
        return _fail(f"mjbot itself was about to break the protocol: {error}", exit_codes.FAILED)
    except ProtocolError as error:
        return _fail(f"the server broke the protocol: {error}", exit_codes.PROTOCOL_FAULT)
    except TableError as error:
        return _fail(f"the server contradicts the table: {error}", exit_codes.PROTOCOL_FAULT)
    except StrategyError as error:
        return _fail(str(error), exit_codes.BAD_ARGUMENTS)
    except OSError as error:
        return _fail(f"{error.filename or settings.log}: {error.strerror}", exit_codes.UNREACHABLE)
    if voids := [result.void for result in results if result.void]:
        if len(voids) == len(results):
            return _fail(f"the server ended the game: {voids[-1]}", exit_codes.PROTOCOL_FAULT)
        count = f"{len(voids)} of {counted(len(results), 'game')} void"
        return _fail(f"{count}, the last one since the server said: {voids[-1]}", exit_codes.FAILED)
    if any(result.validated is False for result in results):
        return _fail("the server's validation was not passed", exit_codes.FAILED)
    return exit_codes.OK


def _take_stdout() -> int:
    """Return a descriptor for the conversation, and let stray prints go to stderr instead."""
    conversation = os.dup(1)
    os.dup2(2, 1)
    return conversation


def _log_to_stderr(*, verbose: bool) -> None:
    logger.remove()
    level = "DEBUG" if verbose else "INFO"
    logger.add(sys.stderr, level=level, format="{time:HH:mm:ss} {level: <7} {message}")


def _fail(reason: str, code: int) -> int:
    print(f"mjbot play: {one_line(reason)}", file=sys.stderr)
    return code
