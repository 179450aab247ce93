"""The table server: opens the endpoints, plays the games, keeps the records."""

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mjbot.game.records.evidence import Verdict, make_reply
from mjbot.game.records.game import Talk
from mjbot.game.referee import Referee
from mjbot.play.kept_games import KeptGames, Limits
from mjbot.play.server.accounts import OPEN, Admission
from mjbot.play.server.core import LogLine, Outgoing, SeatReply, TableCore, TableFault
from mjbot.play.server.game_log import EvidenceLog, GameLog
from mjbot.play.server.lobby import CLOSED, PLACES, Lobby, TableRules
from mjbot.play.server.names import distinct_names
from mjbot.play.server.reply_faults import fault_of_void, fault_reason
from mjbot.play.server.seats import PlayerSeat
from mjbot.play.server.tcp import Acceptor, OwnEndpoint
from mjbot.play.server.tenhou_endpoint import TenhouEndpoint
from mjbot.play.startup.warm_up import warm_up_server
from mjbot.protocol.messages import Error, Event
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.tiles import WIND_NAMES
from mjbot.runtime.interruption import to_its_end

if TYPE_CHECKING:
    from aiohttp import web

    from mjbot.runtime.net.http import HttpListener

logger = logging.getLogger(__name__)

SeatRemarks = tuple[str | None, ...]
OnEvent = Callable[[int, Event | Error, SeatRemarks], None]
NO_LOGS: Final[SeatRemarks] = (None, None, None, None)

DROPPED: Final = "it answers an earlier event or request"
NO_LOG: Final = "The table cannot write its log; the game is void."
ENDED: Final = "The server was ended; the game is void."


def one_room(players: int = PLACES, name: str = "default") -> dict[str, tuple[int, ...]]:
    """Return the rooms of an ordinary table: all places in one."""
    return {name: tuple(range(players))}


def talk_of(logs: SeatRemarks) -> Talk:
    """Return what was remarked, and by which seat.

    >>> talk_of((None, "hm", None, None))
    ((1, 'hm'),)
    """
    return tuple([(seat, remark) for seat, remark in enumerate(logs) if remark])


@dataclass(frozen=True, kw_only=True)
class Bookkeeping:
    """The ``name`` of one of several tables, which share ``numbers``; how many records stay."""

    name: str = ""
    numbers: Iterator[int] = field(default_factory=partial(itertools.count, 1))
    keep: Limits = Limits()

    def kept_games(self, folder: Path | None) -> KeptGames | None:
        """Return what removes the oldest records of a table's folder; none without a limit."""
        if folder is None or self.keep == Limits():
            return None
        return KeptGames(folder, f"serve {self.name}", self.keep)


@dataclass(frozen=True, kw_only=True)
class RunningGame:
    """The game that a table plays; ``number`` and ``log`` as :class:`GameResult` has them."""

    number: int
    log: Path | None


@dataclass(frozen=True, kw_only=True)
class GameResult:
    """How a game ended.  ``names``, ``scores`` and ``places`` are by seat.

    ``game`` counts the table's games from 0, ``number`` those of all tables of the server from 1.
    ``scores`` of a void game are those at its end.
    """

    game: int
    number: int = 0
    names: tuple[str, ...]
    places: tuple[int, ...]
    scores: tuple[int, ...]
    void: bool
    faults: tuple[TableFault, ...]
    log: Path | None


class TableServer:
    """One table with endpoints for mjai and for Tenhou's wire; use it as an async context manager.

    ``on_event(game, event, logs)`` receives every event once all seats have, with what each of them
    remarked on it, and an ``Error`` when a game becomes void, both before any player receives the
    end; ``on_fault(game, fault)`` every fault as it happens, but for the one that makes a game
    void.  With ``evidence`` every raw reply is kept next to the game's log in ``log_dir``.
    """

    def __init__(
        self,
        rules: TableRules,
        rooms: Mapping[str, tuple[int, ...]] | None = None,
        log_dir: Path | None = None,
        on_event: OnEvent | None = None,
        on_fault: Callable[[int, TableFault], None] | None = None,
        *,
        evidence: bool = False,
        admission: Admission = OPEN,
        bookkeeping: "Bookkeeping | None" = None,
    ) -> None:
        self.rules: Final = rules
        self._bookkeeping: Final = bookkeeping or Bookkeeping()
        self._kept: Final = self._bookkeeping.kept_games(log_dir)
        self._begun = 0
        self.running: RunningGame | None = None
        self.lobby: Final = admission.lobby or Lobby(
            rooms or one_room(rules.game.players), admission.entrance
        )
        self._admission: Final = admission
        self.acceptor: Final = Acceptor(self.lobby, rules, admission=admission)
        self.tenhou: Final = TenhouEndpoint(self.lobby, rules, admission)
        self._log_dir = log_dir
        self._on_event = on_event
        self._on_fault = on_fault
        self._keeps_evidence = evidence
        self.closers: Final = contextlib.AsyncExitStack()
        self.closers.callback(self.close_ledger)
        self._draining: asyncio.Task[None] | None = None
        self._acceptors: Final = [self.acceptor]
        self._stop_listening: Final[list[Callable[[], None]]] = []

    async def __aenter__(self) -> "TableServer":
        return self

    async def __aexit__(self, *_: object) -> None:
        await to_its_end(self._close())

    async def _close(self) -> None:
        await self.drain()
        await self.closers.aclose()

    def close_ledger(self) -> None:
        """No further game begins: give the ledger of records to the next server."""
        if self._kept is not None:
            self._kept.close()

    async def drain(self) -> None:
        """Begin no further game and admit no new client; a running game is played to its end.

        Players that wait for a game are sent away with the reason.  Only the endpoints for Tenhou
        clients stay open during that game, for players that lost their connection.  Who waits for
        this may be cancelled: it continues, and the end of the server waits for it.
        """
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain())
        await asyncio.shield(self._draining)

    async def _drain(self) -> None:
        waiting = self.lobby.close()
        for stop_listening in self._stop_listening:
            stop_listening()
        self.tenhou.close_lobby()
        await asyncio.gather(*[seat.dismiss(CLOSED) for seat in waiting])
        await asyncio.gather(*[acceptor.close() for acceptor in self._acceptors])

    async def open_tcp(self, host: str, port: int, own: OwnEndpoint | None = None) -> int:
        """Listen for lines; return the port (chosen by the system if 0).  Raises ``OSError``."""
        acceptor = self.acceptor if own is None else Acceptor(self.lobby, self.rules, own)
        if acceptor is not self.acceptor:
            self._acceptors.append(acceptor)
        server = await asyncio.start_server(acceptor.admit, host, port)
        self._stop_listening.append(server.close)
        self.closers.push_async_callback(acceptor.close)
        self.closers.callback(server.close)
        return int(server.sockets[0].getsockname()[1])

    async def open_websocket(self, host: str, port: int, token: str | None = None) -> int:
        """Listen for WebSockets, as :meth:`open_tcp`; see :mod:`mjbot.play.server.websocket`."""
        from mjbot.play.server.websocket import make_app

        app = make_app(self.lobby, self.rules.limits, token, self._admission.accounts)
        listener = self._web(app, "ws")
        self._stop_listening.append(listener.refuse_more)
        return await listener.open(host, port)

    def _web(self, app: "web.Application", endpoint: str) -> "HttpListener":
        from mjbot.runtime.net.http import HttpListener

        listener = HttpListener(app, endpoint, limits=self._admission.limits)
        self.closers.push_async_callback(listener.close)
        return listener

    async def open_tenhou(self, host: str, port: int) -> int:
        """Listen for Tenhou's XML by a :class:`TenhouEndpoint`, as :meth:`open_tcp` does."""
        server = await asyncio.start_server(self.tenhou.admit, host, port)
        self.closers.push_async_callback(self.tenhou.close)
        self.closers.callback(server.close)
        return int(server.sockets[0].getsockname()[1])

    async def open_tenhou_websocket(self, host: str, port: int) -> int:
        """Listen for Tenhou's JSON, as :meth:`open_tcp`."""
        from mjbot.play.server.websocket import make_tenhou_app

        listener = self._web(make_tenhou_app(self.tenhou.begin), "tenhou+ws")
        opened = await listener.open(host, port)
        self.closers.push_async_callback(self.tenhou.close)
        self.closers.callback(listener.refuse_more)
        return opened

    async def play(
        self, games: int, *, counts_void: bool = True
    ) -> AsyncGenerator[GameResult, None]:
        """Play ``games`` games one after another, each as soon as its players have joined.

        Void ones are among them only if ``counts_void``.  Ends earlier after :meth:`drain`.  May
        be called again after an ``OSError``: the table continues with its next game.
        """
        await warm_up_server()
        left = games
        while left > 0:
            players = await self.lobby.gather()
            if not players:
                return
            game, self._begun = self._begun, self._begun + 1
            places = self.rules.seating(game)
            seats = [players[place] for place in places]
            left_after = (left - 1, left - counts_void)
            result = await self._play_game(game, tuple(places), seats, left_after)
            left = left_after[result.void]
            yield result

    async def _play_game(
        self,
        game: int,
        places: tuple[int, ...],
        seats: list[PlayerSeat],
        left_after: tuple[int, int],
    ) -> GameResult:
        """Play a game; ``left_after`` are the games left after it, and after it if it is void."""
        referee = Referee(self.rules.seed + game, self.rules.game)
        names = distinct_names([seat.name for seat in seats])
        core = TableCore(referee, names, self.rules.on_fault)
        number, table = next(self._bookkeeping.numbers), self._bookkeeping.name
        label = f"game {number}" + (f" at {table}" if table else "")
        _log_start(label, seats, names)
        for seat in seats:
            seat.meet(seats, label)
        final_messages: list[Outgoing] = []
        try:
            for seat in seats:
                await seat.start()
            with contextlib.ExitStack() as stack:
                files = self._open_files(stack)
                log = files.game.path if files.game else None
                self.running = RunningGame(number=number, log=log)
                final_messages = await self._converse(core, seats, game, files)
            if core.void:
                self._pause(seats[core.faults[-1].seat])
            if left_after[core.void]:
                self.lobby.reopen()
        except (OSError, asyncio.CancelledError) as error:
            text = NO_LOG if isinstance(error, OSError) else ENDED
            message = Error(message=text)
            final_messages = [Outgoing(seat, message, (), referee) for seat in range(len(seats))]
            logger.warning("%s is void: %s", label, text)
            raise
        finally:
            self.running = None
            try:
                await to_its_end(_part(seats, final_messages))
            finally:
                for seat in seats:
                    seat.part()
        logger.info("%s %s", label, _end(core))
        return GameResult(
            game=game,
            number=number,
            names=core.names,
            places=places,
            scores=tuple(referee.state["scores"].tolist()[: len(seats)]),
            void=core.void,
            faults=tuple(core.faults),
            log=files.game.path if files.game else None,
        )

    def _open_files(self, stack: contextlib.ExitStack) -> "_GameFiles":
        """Open the files of a game until the stack ends; raises ``OSError``."""
        if self._log_dir is None:
            return _GameFiles(None, None)
        kept, game = self._kept, self._kept.begin() if self._kept else None
        if kept and game:
            stack.callback(kept.finish, game)
        log = stack.enter_context(GameLog.create(self._log_dir))
        evidence = stack.enter_context(EvidenceLog(log.path)) if self._keeps_evidence else None
        if kept and game:
            kept.add(game, log.path, is_record=True)
            if evidence:
                kept.add(game, evidence.path)
        return _GameFiles(log, evidence)

    def _pause(self, culprit: PlayerSeat) -> None:
        """Let the player that made a game void wait before it may sit down again."""
        if pause_s := self.lobby.entrance.pause(culprit):
            culprit.log(f"may sit down again in {pause_s:g} s")

    async def _converse(
        self, core: TableCore, seats: list[PlayerSeat], game: int, logs: "_GameFiles"
    ) -> list[Outgoing]:
        """Play to the end; return the last messages, which are still to be sent."""
        final_messages: list[Outgoing] = []
        faults = _NewFaults(core, seats)
        while (outgoing := core.next()) is not None:
            if outgoing.is_final:
                final_messages.append(outgoing)
            else:
                sent_at = time.perf_counter()
                answer = await seats[outgoing.seat].exchange(outgoing)
                took_s = time.perf_counter() - sent_at
                line = core.line
                logs.keep(line, outgoing, answer, took_s, core.answer(answer))
            for fault in faults.take():
                if self._on_fault:
                    self._on_fault(game, fault)
            if lines := core.drain_log():
                self._note(game, lines, logs.game)
        if self._on_event and core.void:
            self._on_event(game, Error(message=core.faults[-1].text), NO_LOGS)
        return final_messages

    def _note(self, game: int, lines: list[LogLine], log: GameLog | None) -> None:
        if log:
            log.write(lines)
        if self._on_event:
            for line in lines:
                self._on_event(game, line.event, line.logs)


@dataclass(frozen=True)
class _GameFiles:
    """What is written of one game."""

    game: GameLog | None
    evidence: EvidenceLog | None

    def keep(
        self,
        line: int,
        outgoing: Outgoing,
        answer: SeatReply,
        took_s: float,
        judged: tuple[Verdict, str],
    ) -> None:
        """Keep what a seat answered; a line before the last was only put aside."""
        if self.evidence is None:
            return
        replies = [
            make_reply(line, outgoing.seat, took_s, raw, ("refused", DROPPED))
            for raw in answer.dropped
        ]
        if answer.line is not None or judged[1]:
            replies.append(make_reply(line, outgoing.seat, took_s, answer.line, judged))
        if replies:
            self.evidence.write(replies)


class _NewFaults:
    """The faults of a game as they happen; the first of each seat and kind is logged."""

    def __init__(self, core: TableCore, seats: list[PlayerSeat]) -> None:
        self._core: Final = core
        self._seats: Final = seats
        self._count = 0
        self._logged: Final[set[tuple[int, str]]] = set()

    def take(self) -> list[TableFault]:
        """Return the faults since the last call, none of a void game."""
        if self._core.void:
            return []
        new = self._core.faults[self._count :]
        self._count += len(new)
        for fault in new:
            if (fault.seat, fault.kind) not in self._logged:
                self._logged.add((fault.seat, fault.kind))
                text = f"{fault.kind}: {fault_reason(fault)} (all are counted at the end)"
                self._seats[fault.seat].log(text, logging.WARNING)
        return new


def _log_start(label: str, seats: list[PlayerSeat], names: Sequence[str]) -> None:
    players = [
        f"{wind} {one_line(name)} ({seat.guest})"
        for wind, name, seat in zip(WIND_NAMES, names, seats, strict=False)
    ]
    logger.info("%s begins: %s", label, ", ".join(players))


def _end(core: TableCore) -> str:
    """Return how a game has ended, for the log."""
    return f"is void by {fault_of_void(core.names, core.faults)}" if core.void else "has ended"


async def _part(seats: list[PlayerSeat], final_messages: list[Outgoing]) -> None:
    """Send the last messages all at once: the original waits up to 60 s for each seat."""
    last = {outgoing.seat: outgoing for outgoing in final_messages}
    await asyncio.gather(
        *[seat.final_message(last.get(number)) for number, seat in enumerate(seats)]
    )
