"""A bot at a server for one game or many: connect, play, come back."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Final

from mjbot.game.records.game import Talk
from mjbot.game.records.mjai_log import EventLog
from mjbot.play.client import conversation as c
from mjbot.play.client.fallback_strategy import Fallback
from mjbot.play.client.faults import Faults
from mjbot.play.client.player import ClientPlayer, MakeStrategy
from mjbot.play.client.tenhou import TenhouGame
from mjbot.play.startup.warm_up import WarmUp
from mjbot.protocol.dialects import LOCKSTEP
from mjbot.protocol.messages import Event
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Length
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.sessions.stages import Stage
from mjbot.protocol.tenhou.client import TenhouClient
from mjbot.protocol.tenhou.codec import Spelling
from mjbot.protocol.tenhou.login import GUEST_LOGIN, Login
from mjbot.protocol.transports import base as base_
from mjbot.protocol.transports.address import Address, is_loopback
from mjbot.protocol.transports.stdio import StdioTransport
from mjbot.protocol.transports.tcp import TcpPieces, TcpTransport, connect_tcp
from mjbot.runtime.net.backoff import Backoff

logger = logging.getLogger(__name__)

REJOIN_S: Final = 15.0
"""How long a server may need between two games before we call it gone."""

_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 5.0
"""Between two attempts to connect."""

_VERDICT_S: Final = 5.0


def _ignore(_: object) -> None:
    """Record nothing."""


@dataclass(frozen=True)
class Settings:
    """The settings of ``mjbot play``.

    ``games`` 0 means until the server is gone; ``deadline_s`` is per decision, ``silence_s``
    how long the server may be silent (``None``: the default of its dialect), ``wait_s`` how
    long it may not be there at first; ``log`` is the file of the events, ``on_event`` receives each
    as it comes, ``on_kept`` once it is answered, with the strategy's remark, as in the log;
    ``faults`` takes the strategy's faults.  ``length`` is that of games whose server does not
    announce it (``None``: a hanchan), ``players`` how many play at a table that does not show it
    (``None``: four).  ``login`` is the account at a Tenhou table.
    """

    address: Address
    name: str = "mjbot"
    seat: int | None = None
    token: str | None = field(default=None, repr=False)
    games: int = 1
    deadline_s: float | None = None
    silence_s: float | None = None
    wait_s: float = 0.0
    strict: bool = True
    log: Path | None = None
    faults: Path | None = None
    on_event: c.RecordEvent = _ignore
    on_kept: c.Keep = lambda event, talk: None
    login: Login = GUEST_LOGIN
    length: Length | None = None
    players: int | None = None

    def session(self) -> ClientSession:
        """Return the session of a new connection."""
        return ClientSession(
            self.address.dialect,
            name=self.name,
            room=self.address.room,
            seat=self.seat,
            players=self.players,
        )


PlayGame = Callable[[base_.Transport, ClientSession], Awaitable[c.OwnResult]]
"""Plays one game over a connection that was just made."""


@dataclass(frozen=True)
class Hooks:
    """What a caller adds: another warm-up, what receives figures, and a second strategy."""

    warm_up: WarmUp | None = None
    meters: c.Meters = c.Meters()
    fallback: Fallback | None = None
    faults: Faults | None = None


async def play(
    settings: Settings,
    make_strategy: MakeStrategy,
    pipes: tuple[int, int] = (0, 1),
    hooks: Hooks = Hooks(),
) -> list[c.OwnResult]:
    """Play the games and return how each ended; one that is void for another's fault counts.

    ``pipes`` are the file descriptors that stdio addresses read and write.  Raises what
    :meth:`Conversation.play_game` raises, and :class:`UnreachableError`.
    """
    with EventLog(settings.log) if settings.log else nullcontext() as log:
        settings = replace(settings, on_kept=_both(settings.on_kept, log))
        with closing(Bot(settings, make_strategy, hooks)) as bot:
            if settings.address.is_stdio:
                return await _play_on_pipes(bot, StdioTransport(*pipes))
            if settings.address.dialect.traits.connecting_is_ready:
                await bot.player.warm_up()
            return await play_by_connecting(settings, bot.play_game)


class Bot:
    """A player at a server, the same from game to game, each over a connection of its own."""

    def __init__(
        self, settings: Settings, make_strategy: MakeStrategy, hooks: Hooks = Hooks()
    ) -> None:
        self.settings: Final = settings
        self.hooks: Final = hooks
        self.player: Final = ClientPlayer(
            make_strategy,
            settings.address.dialect,
            strict=settings.strict,
            deadline_s=settings.deadline_s or settings.address.dialect.traits.deadline_s,
            warm_up=hooks.warm_up,
            faults=hooks.faults or Faults(settings.faults),
            fallback=hooks.fallback,
            length=settings.length,
        )

    def close(self) -> None:
        """Let its threads end."""
        self.player.close()

    async def play_game(self, transport: base_.Transport, session: ClientSession) -> c.OwnResult:
        """Play one game over a new connection.

        Raises what :meth:`c.Conversation.play_game` raises.
        """
        if self.settings.address.dialect.traits.is_tenhou:
            return await self._play_at_tenhou(transport)
        return await self._play_connected(transport, session)

    def converse(self, transport: base_.Transport, session: ClientSession) -> c.Conversation:
        """Return the conversation of a new connection."""
        return c.Conversation(
            transport,
            session,
            self.player,
            silence_s=self.settings.silence_s,
            record=self.settings.on_event,
            keep=self.settings.on_kept,
            meters=self.hooks.meters,
            sends_remarks=_keeps_remarks(self.settings.address),
        )

    async def _play_connected(
        self, transport: base_.Transport, session: ClientSession
    ) -> c.OwnResult:
        await self.player.warm_up()
        conversation = self.converse(transport, session)
        result = await conversation.play_game()
        if session.dialect.traits.ends_with_verdict:
            result = replace(result, validated=await conversation.drain(_VERDICT_S))
        return result

    async def _play_at_tenhou(self, transport: base_.Transport) -> c.OwnResult:
        address = self.settings.address
        game = TenhouGame(
            lambda: connect(self.settings),
            TenhouClient(
                self.settings.login,
                address.table_type,
                Spelling.XML if address.dialect.traits.over == "tcp" else Spelling.JSON,
                lenient=True,  # what is new on the wire ends no game
            ),
            self.player,
            silence_s=self.settings.silence_s or address.dialect.traits.silence_s or math.inf,
            record=self._record,
            timed=self.hooks.meters.timed,
        )
        return await game.play(transport)

    def _record(self, event: Event) -> None:
        self.settings.on_event(event)
        self.settings.on_kept(event, ())


def _keeps_remarks(address: Address) -> bool:
    """Whether the server logs remarks, and is this machine's: they show the hand."""
    return address.dialect is LOCKSTEP and is_loopback(address.host)


def _both(on_kept: c.Keep, log: EventLog | None) -> c.Keep:
    def keep(event: Event, talk: Talk) -> None:
        if log is not None:
            log.write(event, talk)
        on_kept(event, talk)

    return keep


async def _play_on_pipes(bot: Bot, transport: base_.Transport) -> list[c.OwnResult]:
    """All games come down the same pipe; its end between two games is no fault."""
    settings = bot.settings
    await bot.player.warm_up()
    session = settings.session()
    conversation = bot.converse(transport, session)
    results: list[c.OwnResult] = []
    while not settings.games or len(results) < settings.games:
        try:
            results.append(await conversation.play_game())
        except base_.VanishedError:
            if session.stage not in (Stage.JOINED, Stage.OVER):
                raise
            break
    return results


async def play_by_connecting(
    settings: Settings, play_game: PlayGame, random: Random | None = None
) -> list[c.OwnResult]:
    """Play every game over a connection of its own, as the original server and RiichiLab require.

    ``play_game`` plays one; ``random`` draws the pauses between attempts to connect.  Raises what
    ``play_game`` raises, and :class:`UnreachableError`.
    """
    random = random or Random()
    results: list[c.OwnResult] = []
    while not settings.games or len(results) < settings.games:
        try:
            pauses = Backoff(_FIRST_PAUSE_S, _LONGEST_PAUSE_S, random)
            results.append(await _play_one(settings, play_game, pauses, rejoining=bool(results)))
        except base_.UnreachableError:
            if settings.games or not results:
                raise
            break
    return results


async def _play_one(
    settings: Settings, play_game: PlayGame, pauses: Backoff, *, rejoining: bool
) -> c.OwnResult:
    """Connect and play; between two games give the server a while to be ready again."""
    clock = asyncio.get_running_loop()
    patience_s = REJOIN_S if rejoining else settings.wait_s
    give_up_at = clock.time() + patience_s
    waits = False
    while True:
        session = settings.session()
        try:
            async with await connect(settings) as transport:
                logger.info("connected to %s", settings.address.url)
                return await play_game(transport, session)
        except (base_.TransportError, c.ServerReportedError) as error:
            if isinstance(error, c.ServerReportedError) and not error.before_game:
                return void_result(session, error)
            may_come = not _is_final(error) and (rejoining or _is_absent(error))
            if session.names or not may_come or clock.time() >= give_up_at:
                raise
            if not rejoining and not waits:
                waits = True
                logger.info("waiting for %s, at most %g s", one_line(error), patience_s)
        await asyncio.sleep(max(0.0, min(pauses.next_s(), give_up_at - clock.time())))


def _is_final(error: Exception) -> bool:
    """Whether another attempt is likely to end in the same way, also between two games."""
    match error:
        case base_.ClosedError():
            return error.is_refusal
        case c.ServerReportedError():
            return error.is_final
    return isinstance(error, base_.RefusedError)


def _is_absent(error: Exception) -> bool:
    """Whether no server is there yet, rather than one that refuses us or is of another kind."""
    if isinstance(error, base_.ClosedError):
        return error.invites_return
    return isinstance(error, base_.UnreachableError) and not isinstance(error, base_.HandshakeError)


def void_result(session: ClientSession, error: c.ServerReportedError) -> c.OwnResult:
    """Return a game that ended for another's fault; raises the error if it was ours."""
    if error.is_fault_of(session.seat):
        raise error
    logger.warning("the game is void: %s", error.problem)
    return c.OwnResult(session.seat or 0, session.names, (), void=error.problem)


async def connect(settings: Settings) -> base_.Transport:
    """Return a new connection to the server; raises :class:`UnreachableError`."""
    address = settings.address
    traits = address.dialect.traits
    if traits.over == "tcp":
        kind = TcpPieces if traits.is_tenhou else TcpTransport
        return await connect_tcp(address.host, address.port, kind=kind)
    from mjbot.protocol.transports.websocket import connect_websocket  # only where it is used

    return await connect_websocket(
        address.socket_url,
        settings.token,
        use_proxy=not is_loopback(address.host),
        origin=address.origin,
    )
