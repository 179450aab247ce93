"""``mjbot play URL --strategy NAME``: one bot at somebody's table, alone or as one of a pair."""

import argparse
import os
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from loguru import logger
from rich.console import Console

from mjbot.cli.arguments import (
    TOKEN_VARIABLE,
    add_strategy_argument,
    games,
    patience,
    reading_arguments,
    seat,
    seconds,
    strategy,
    token,
    with_options,
)
from mjbot.cli.records.watch import add_watch_arguments, table_page, tell_page
from mjbot.client.conversation import OwnResult, ServerSaysError
from mjbot.client.faults import named_file
from mjbot.client.pair_channel import FORM, SECRET_VARIABLE, End, Linked, take_secret
from mjbot.client.play import Hooks, Settings, play
from mjbot.client.player import MakeStrategy
from mjbot.errors import ArgumentError, ExitCode, MjbotError
from mjbot.interruption import ending_at_once, run_until_signalled
from mjbot.match.players import CLOCK_S, HUMAN, SEAT_KEY_VARIABLE, human_clock_s
from mjbot.pair.fair_play import (
    require_permission,
    require_team_name,
    require_team_name_in,
    require_team_table,
)
from mjbot.pair.member import PairMember
from mjbot.precompile import prepare
from mjbot.strategy.registry import Spec, built_in_names, strategy_class
from mjbot.strategy.strategy import Strategy
from mjbot.table.mirror.mirror import TableError
from mjbot.text import plural
from protocol.dialects import Dialect
from protocol.plain_text import one_line
from protocol.tenhou.login import GUEST_LOGIN, Login, guest_named
from protocol.transports.address import FORMS, Address, is_loopback, parse_address


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
        type=strategy,
        metavar="NAME,KEY=VALUE,...",
        help="the partner's strategy, to warm up with",
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


def read_linked(args: argparse.Namespace, player: Strategy) -> Linked | None:
    """Return how to play as one of a pair, ``None`` to play alone.

    Raises ``ValueError`` and :class:`~mjbot.errors.MjbotError`.
    """
    if args.pair is None:
        if args.ally or args.team_table or args.timings:
            raise ArgumentError("--ally, --team-table and --timings: only together with --pair")
        return None
    end = End.parse(args.pair)
    _require_team(args)
    require_member(args.strategy, player)
    make_ally = None if args.ally is None else args.ally.make
    if make_ally is not None:
        require_member(args.ally, make_ally())
    return Linked(end, take_secret(), make_ally, _writer(args.timings))


def prepare_seat(args: argparse.Namespace, linked: Linked | None) -> None:
    """Compile what the seat will need, before anybody waits for it; stderr tells of that."""
    pair = [] if linked is None or args.ally is None else [args.strategy, args.ally]
    prepare([] if pair else [args.strategy], Console(stderr=True), use="client", pair=pair)


def _require_team(args: argparse.Namespace) -> None:
    """Raise ``FairPlayError`` unless the table allows teams and the name there tells of one."""
    address = require_team_table(args.url, args.team_table)
    name_in_url = address.dialect.traits.name_in_url
    if name_in_url:
        require_team_name_in(args.url)
    if args.name is not None or not name_in_url:
        require_team_name(args.name or "", "--name")


def require_member(spec: Spec, player: Strategy) -> None:
    """Raise ``ArgumentError`` if a strategy's player cannot be one of a pair."""
    if not isinstance(player, PairMember):
        able = [name for name in built_in_names() if issubclass(strategy_class(name), PairMember)]
        raise ArgumentError(
            f"strategy {spec.name!r} cannot be one of a pair; these can: {', '.join(able)}"
        )


def _writer(file: Path | None) -> Callable[[float, int], None]:
    if file is None:
        return lambda seconds, waits: None
    lines = file.open("a", encoding="ascii", buffering=1)

    def write(seconds: float, waits: int) -> None:
        lines.write(f"{1000 * seconds:.3f} {waits}\n")

    return write


ACCOUNT_VARIABLE: Final = "MJBOT_TENHOU_ACCOUNT"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("url", metavar="URL", help=FORMS)
    parser.add_argument(
        "own_seat", metavar="SEAT", nargs="?", type=seat, help="own seat 0..3 (stdio: only)"
    )
    add_strategy_argument(parser, "--strategy", "--option", "tsumogiri", "who plays (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="for strategies that draw lots (0)")
    parser.add_argument(
        "--name", help="name at the table; over ws:// sent as ?name= (default: the strategy's)"
    )
    parser.add_argument("--room", help="instead of the URL's")
    parser.add_argument("--seat", type=seat, help="the same as SEAT")
    parser.add_argument(
        "--games", type=games, default=1, help="0: until the server is gone (default 1)"
    )
    talks = [dialect.traits for dialect in Dialect if dialect.traits.over != "file"]
    limits = ", ".join([f"{traits.word} {traits.deadline_s:g}" for traits in talks])
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
    _add_tenhou_arguments(parser)
    add_pair_arguments(parser)
    add_watch_arguments(parser)
    parser.add_argument("--verbose", action="store_true", help="log every detail on stderr")


def _add_tenhou_arguments(parser: argparse.ArgumentParser) -> None:
    tenhou = parser.add_argument_group("over Tenhou's wire (tenhou://, tenhou+ws://)")
    tenhou.add_argument(
        "--permitted-by",
        metavar="WHO",
        help="elsewhere than on this machine: who permitted the program, and to which account",
    )
    tenhou.add_argument(
        "--account-file",
        type=Path,
        metavar="FILE",
        help=f"file with the account's ID (else the variable {ACCOUNT_VARIABLE}, else a guest)",
    )


@ending_at_once()
def run(args: argparse.Namespace) -> int:
    """Play the games."""
    _log_to_stderr(verbose=args.verbose)
    spec = args.strategy = with_options(args.strategy, args.option, "--strategy", "--option")
    if spec.name == HUMAN:
        return _sit_down(args)

    def make(game: int) -> Strategy:
        return spec.make(args.seed + game)

    with reading_arguments():
        settings = _settings(args)
        pipes = (0, _take_stdout()) if settings.address.is_stdio else (0, 1)
        linked = read_linked(args, make(0))  # or say at once why not
    prepare_seat(args, linked)
    return _play(_shown(args, settings, make, pipes, linked))


def _sit_down(args: argparse.Namespace) -> int:
    """Let a person play in the browser."""
    spec = args.strategy
    with reading_arguments():
        clock_s = human_clock_s(spec)
        hint = Spec.read(spec.options["hint"]) if "hint" in spec.options else None
        if args.pair or args.ally or args.watch:
            raise ArgumentError("--pair, --ally and --watch: not for a person's seat")
        settings = _settings(args)
        if settings.address.is_stdio:
            raise ArgumentError(f"URL {args.url!r}: a person plays at a server")
    if hint is not None:
        hint.check()
        prepare([hint], Console(stderr=True), use="explain")
    settings = replace(settings, deadline_s=min(clock_s, args.deadline_s or clock_s))
    return _play(_play_by_hand(args, settings, hint))


async def _play_by_hand(
    args: argparse.Namespace, settings: Settings, hint: Spec | None
) -> list[OwnResult]:
    """Serve the person's page, and join the table once it is open."""
    from mjbot.watch.seat import HumanPlayer, SeatServer
    from mjbot.watch.server import new_key

    key = os.environ.pop(SEAT_KEY_VARIABLE, "") or new_key()
    clock_s = settings.deadline_s or CLOCK_S
    async with SeatServer({"title": f"{settings.name} at {args.url}"}, key, hint) as server:
        await server.open(args.watch_port)
        tell_page(server.url(key), no_browser=args.no_browser, to=sys.stderr)
        await server.arrival()
        results = await play(
            replace(settings, on_event=server.add),
            lambda game: HumanPlayer(server, clock_s),
            hooks=Hooks(warm_up=lambda: None),
        )
        await server.stay(expects_browser=False)
        return results


async def _shown(
    args: argparse.Namespace,
    settings: Settings,
    make: MakeStrategy,
    pipes: tuple[int, int],
    linked: Linked | None,
) -> list[OwnResult]:
    """Play, with a page to look on if ``--watch`` asks for one: it shows what this seat sees."""
    args.all_hands = True  # here is never more than this seat sees
    async with table_page(args, f"{settings.name} at {args.url}") as take:
        settings = replace(settings, on_kept=take)
        if linked is not None:
            return await linked.play(settings, make, pipes)
        return await play(settings, make, pipes)


def _settings(args: argparse.Namespace) -> Settings:
    address = parse_address(args.url, args.room)
    require_permission(address, args.permitted_by)
    if args.permitted_by is not None:
        logger.info("permitted by: {}", one_line(args.permitted_by))
    if args.name:
        address = address.with_name(args.name)
    return Settings(
        address=address,
        name=args.name or args.strategy.name.rpartition(":")[2],
        seat=args.own_seat if args.seat is None else args.seat,
        token=token(args.token_file, TOKEN_VARIABLE),
        games=args.games,
        deadline_s=args.deadline_s,
        silence_s=args.silence_s,
        wait_s=args.wait_s,
        strict=args.strict,
        log=args.log,
        faults=named_file(),
        login=_login(args, address),
    )


def _login(args: argparse.Namespace, address: Address) -> Login:
    """Return who logs in at a Tenhou table: an account; here also a guest with a name."""
    if not address.dialect.traits.is_tenhou:
        if args.account_file is not None:
            raise ArgumentError("--account-file: only for a tenhou:// server")
        return GUEST_LOGIN
    account = token(args.account_file, ACCOUNT_VARIABLE)
    if account is not None:
        return Login(account)
    return guest_named(args.name) if args.name and is_loopback(address.host) else GUEST_LOGIN


def _play(games: Coroutine[Any, Any, list[OwnResult]]) -> int:
    try:
        results = run_until_signalled(games)
    except TableError as error:
        text = f"the server contradicts the table: {error}"
        raise MjbotError(text, exit_code=ExitCode.PROTOCOL_FAULT) from error
    if voids := [result.void for result in results if result.void]:
        if len(voids) == len(results):
            raise ServerSaysError(voids[-1], before_game=False)
        count = f"{len(voids)} of {plural(len(results), 'game')} void"
        raise MjbotError(f"{count}, the last one since the server said: {voids[-1]}")
    if any(result.validated is False for result in results):
        raise MjbotError("the server's validation was not passed")
    return ExitCode.OK


def _take_stdout() -> int:
    """Return a descriptor for the conversation, and let stray prints go to stderr instead."""
    conversation = os.dup(1)
    os.dup2(2, 1)
    return conversation


def _log_to_stderr(*, verbose: bool) -> None:
    logger.remove()
    level = "DEBUG" if verbose else "INFO"
    logger.add(sys.stderr, level=level, format="{time:HH:mm:ss} {level: <7} {message}")
