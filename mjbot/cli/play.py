"""``mjbot play URL --strategy NAME``: connect a bot to a server, alone or as one of a pair."""

import os
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from mjbot.cli.arguments import (
    TOKEN_VARIABLE,
    file_option,
    output_option,
    reading_arguments,
    seat,
    seed_option,
    strategy_option,
    token,
    unannounced_length_option,
    unannounced_players_option,
)
from mjbot.cli.log import Output, log_to, logger
from mjbot.cli.table import PAGE, WatchRequest, table_page
from mjbot.game.table.mirror.mirror import TableError
from mjbot.play.client.conversation import OwnResult, ServerReportedError
from mjbot.play.client.faults import named_file
from mjbot.play.client.pair_channel import FORM, SECRET_VARIABLE, End, Linked, take_secret
from mjbot.play.client.play import Hooks, Settings, play
from mjbot.play.client.player import MakeStrategy
from mjbot.play.match.players import CLOCK_S, HUMAN, SEAT_KEY_VARIABLE, human_clock_s
from mjbot.play.service.locks import TokenLocks, secrets_of
from mjbot.play.startup.precompile import prepare
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Length
from mjbot.protocol.tenhou.login import GUEST_LOGIN, Login, guest_named
from mjbot.protocol.transports.address import FORMS, Address, is_loopback, parse_address
from mjbot.runtime.argument_types import games, patience, seconds
from mjbot.runtime.errors import ArgumentError, ExitCode, MjbotError
from mjbot.runtime.files import plural
from mjbot.runtime.interruption import ending_at_once, run_until_signalled
from mjbot.runtime.languages import translate
from mjbot.runtime.requests import GAMES, argument, group, option
from mjbot.strategy.pair.fair_play import (
    require_permission,
    require_team_name,
    require_team_name_in,
    require_team_table,
)
from mjbot.strategy.pair.member import PairMember
from mjbot.strategy.registry import Spec, built_in_names, strategy_class
from mjbot.strategy.strategy import Strategy
from mjbot.viewer.browser import show_page

ACCOUNT_VARIABLE: Final = "MJBOT_TENHOU_ACCOUNT"
LIMITS: Final = ", ".join(
    f"{dialect.traits.word} {dialect.traits.deadline_s:g}"
    for dialect in Dialect
    if dialect.traits.over != "file"
)


def team_table_option() -> Any:
    """Return the option that declares that a table allows teams."""
    help_ = "a server elsewhere whose operator allows teams (may be repeated; default: none)"
    return option((), help_, action="append", metavar="URL")


@dataclass(frozen=True, kw_only=True)
class PairRequest:
    """How the bot is one of a pair, if it is."""

    end: str | None = option(
        None,
        f"end of the channel to the partner: {FORM}; the secret in {SECRET_VARIABLE}",
        flag="--pair",
        metavar="END",
    )
    ally: Spec | None = strategy_option(None, "the partner's strategy, for the warm-up")
    team_table: tuple[str, ...] = team_table_option()
    timings: Path | None = output_option(
        "file for a line per decision: milliseconds, and 1 if it waited for the partner's message"
    )


@dataclass(frozen=True, kw_only=True)
class TenhouRequest:
    """What a Tenhou server needs."""

    permitted_by: str | None = option(
        None,
        "operator who permitted the program, and its account; required for other machines",
        metavar="WHO",
    )
    account_file: Path | None = file_option(
        f"file with the account's ID (default: the variable {ACCOUNT_VARIABLE}, else a guest)"
    )


@dataclass(frozen=True, kw_only=True)
class PlayRequest:
    """What ``mjbot play`` is asked for."""

    url: str = argument(FORMS, metavar="URL")
    own_seat: int | None = argument(
        "own seat 0..3 (stdio: only)", metavar="SEAT", nargs="?", type=seat, default=None
    )
    strategy: Spec = strategy_option("tsumogiri", "strategy that plays")
    seed: int = seed_option()
    name: str | None = option(
        None,
        "name at the table (default: the strategy's); to a ws:// server it is sent as ?name= of the"
        " URL, and only if this option names it",
    )
    room: str | None = option(None, "room at the server (default: the URL's)")
    seat: int | None = option(None, "the same as SEAT", type=seat)
    games: int = option(1, "number of games; 0: until the server is gone", type=games)
    length: Length | None = unannounced_length_option()
    players: int | None = unannounced_players_option()
    deadline_s: float | None = option(
        None, f"time for a decision, in seconds (default by server: {LIMITS})", type=seconds
    )
    silence_s: float | None = option(
        None, "time without a message, in seconds (default: 300; pipes: no limit)", type=seconds
    )
    wait_s: float = option(
        10.0, "time to wait for a server that is not up yet, in seconds", type=patience
    )
    strict: bool = option(False, "stop at a contradiction (default)")
    lenient: bool = option(False, "log a contradiction and play on")
    log: Path | None = file_option(
        "file for the game as this seat sees it (default: none)", writes=GAMES
    )
    token_file: Path | None = file_option(
        f"file with the bearer token (default: the variable {TOKEN_VARIABLE})"
    )
    verbose: bool = option(False, "log every detail on stderr")
    tenhou: TenhouRequest = group(TenhouRequest, "on a Tenhou server (tenhou://, tenhou+ws://)")
    pair: PairRequest = group(PairRequest, "one of a pair (`mjbot duo` starts both)")
    page: WatchRequest = group(WatchRequest, PAGE)

    def __post_init__(self) -> None:
        if self.strict and self.lenient:
            raise ArgumentError("--strict and --lenient: only one of them")


def read_linked(request: PlayRequest, player: Strategy) -> Linked | None:
    """Return how to play as one of a pair, ``None`` to play alone.

    Raises ``ValueError`` and :class:`~mjbot.runtime.errors.MjbotError`.
    """
    pair = request.pair
    if pair.end is None:
        if pair.ally or pair.team_table or pair.timings:
            raise ArgumentError("--ally, --team-table and --timings: only together with --pair")
        return None
    end = End.parse(pair.end)
    _require_team(request)
    require_member(request.strategy, player)
    if pair.ally is not None:
        require_member(pair.ally, pair.ally.make())
    make_ally = None if pair.ally is None else pair.ally.make
    return Linked(end, take_secret(), make_ally, _writer(pair.timings))


def prepare_seat(request: PlayRequest, linked: Linked | None) -> None:
    """Compile what the seat will need, before a table waits for it; progress goes to stderr."""
    ally, own = request.pair.ally, request.strategy
    pair = [] if linked is None or ally is None else [own, ally]
    prepare([] if pair else [own], use="client", pair=pair)


def _require_team(request: PlayRequest) -> None:
    """Raise ``FairPlayError`` unless the table allows teams and the name there shows one."""
    address = require_team_table(request.url, request.pair.team_table)
    name_in_url = address.dialect.traits.name_in_url
    if name_in_url:
        require_team_name_in(request.url)
    if request.name is not None or not name_in_url:
        require_team_name(request.name or "", "--name")


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


@ending_at_once()
def run(request: PlayRequest) -> int:
    """Play the games."""
    log_to(Output(sys.stderr, "DEBUG" if request.verbose else "INFO"))
    if request.strategy.name == HUMAN:
        return _sit_down(request)

    def make(game: int) -> Strategy:
        return request.strategy.make(request.seed + game)

    with reading_arguments():
        settings = _settings(request)
        pipes = (0, _take_stdout()) if settings.address.is_stdio else (0, 1)
        linked = read_linked(request, make(0))  # or fail at once
    prepare_seat(request, linked)
    return _play(settings, _shown(request, settings, make, pipes, linked))


def _sit_down(request: PlayRequest) -> int:
    spec = request.strategy
    with reading_arguments():
        clock_s = human_clock_s(spec)
        hint = Spec.read(spec.options["hint"]) if "hint" in spec.options else None
        if request.pair.end or request.pair.ally or request.page.watch:
            raise ArgumentError("--pair, --ally and --watch: not for a person's seat")
        settings = _settings(request)
        if settings.address.is_stdio:
            raise ArgumentError(f"URL {request.url!r}: a person plays at a server")
    if hint is not None:
        hint.check()
        prepare([hint], use="explain")
    settings = replace(settings, deadline_s=min(clock_s, request.deadline_s or clock_s))
    return _play(settings, _play_by_hand(request, settings, hint))


async def _play_by_hand(
    request: PlayRequest, settings: Settings, hint: Spec | None
) -> list[OwnResult]:
    """Serve the person's page, and join the table once it is open."""
    from mjbot.viewer.seat import HumanPlayer, SeatServer
    from mjbot.viewer.server import new_key

    given = os.environ.pop(SEAT_KEY_VARIABLE, "")
    key = given or new_key()
    clock_s = settings.deadline_s or CLOCK_S
    async with SeatServer({"title": _title(settings)}, key, hint) as server:
        await server.open(request.page.watch_port)
        if not given:  # else it was printed where it was made; our stderr is a log of the match
            show_page(server.url(key), no_browser=request.page.no_browser, to=sys.stderr)
        await server.arrival()
        results = await play(
            replace(settings, on_event=server.add),
            lambda game: HumanPlayer(server, clock_s),
            hooks=Hooks(warm_up=lambda: None),
        )
        await server.stay(expects_browser=False)
        return results


async def _shown(
    request: PlayRequest,
    settings: Settings,
    make: MakeStrategy,
    pipes: tuple[int, int],
    linked: Linked | None,
) -> list[OwnResult]:
    """Play, with a page to look on if ``--watch`` asks for one: it shows what this seat sees."""
    page = replace(request.page, all_hands=True)  # here is never more than this seat sees
    async with table_page(page, _title(settings)) as take:
        settings = replace(settings, on_kept=take)
        if linked is not None:
            return await linked.play(settings, make, pipes)
        return await play(settings, make, pipes)


def _title(settings: Settings) -> str:
    return translate("The seat of {name}", name=one_line(settings.name))


def _settings(request: PlayRequest) -> Settings:
    address = parse_address(request.url, request.room)
    require_permission(address, request.tenhou.permitted_by)
    if request.tenhou.permitted_by is not None:
        logger.info("permitted by: {}", one_line(request.tenhou.permitted_by))
    if request.name:
        address = address.with_name(request.name)
    return Settings(
        address=address,
        name=request.name or request.strategy.name.rpartition(":")[2],
        seat=request.own_seat if request.seat is None else request.seat,
        token=token(request.token_file, TOKEN_VARIABLE),
        games=request.games,
        deadline_s=request.deadline_s,
        silence_s=request.silence_s,
        wait_s=request.wait_s,
        strict=not request.lenient,
        log=request.log,
        faults=named_file(),
        login=_login(request, address),
        length=request.length,
        players=request.players,
    )


def _login(request: PlayRequest, address: Address) -> Login:
    """Return the login for a Tenhou table: an account; here also a guest with a name."""
    if not address.dialect.traits.is_tenhou:
        if request.tenhou.account_file is not None:
            raise ArgumentError("--account-file: only for a tenhou:// server")
        return GUEST_LOGIN
    account = token(request.tenhou.account_file, ACCOUNT_VARIABLE)
    if account is not None:
        return Login(account)
    return guest_named(request.name) if request.name and is_loopback(address.host) else GUEST_LOGIN


def _play(settings: Settings, games: Coroutine[Any, Any, list[OwnResult]]) -> int:
    locks = TokenLocks()
    try:
        locks.hold(_locked(settings))
        results = run_until_signalled(games)
    except TableError as error:
        text = f"the server contradicts the table: {error}"
        raise MjbotError(text, exit_code=ExitCode.PROTOCOL_FAULT) from error
    finally:
        games.close()
        locks.keep_only(())
    if voids := [result.void for result in results if result.void]:
        if len(voids) == len(results):
            raise ServerReportedError(voids[-1], before_game=False)
        count = f"{len(voids)} of {plural(len(results), 'game')} void"
        raise MjbotError(f"{count}, the last one by the server's error: {voids[-1]}")
    if any(result.validated is False for result in results):
        raise MjbotError("the server's validation was not passed")
    return ExitCode.OK


def _locked(settings: Settings) -> list[str]:
    """Return what no other process may use at the same time.

    A table of this machine may have one token for all players, and sees to its accounts itself.
    """
    address = settings.address
    has_own = address.dialect.traits.over == "websocket" and not is_loopback(address.host)
    tokens = (settings.token,) if has_own else ()
    return secrets_of(tokens, settings.login)


def _take_stdout() -> int:
    """Return a descriptor for the conversation, and let stray prints go to stderr instead."""
    conversation = os.dup(1)
    os.dup2(2, 1)
    return conversation
