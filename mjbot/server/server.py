"""The table server: opens the endpoints, plays the games, keeps the records."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mjbot.records.evidence import Verdict, make_reply
from mjbot.records.game import Talk
from mjbot.referee import Referee
from mjbot.server.accounts import OPEN, Admission
from mjbot.server.core import LogLine, Outgoing, SeatReply, TableCore, TableFault
from mjbot.server.game_log import EvidenceLog, GameLog
from mjbot.server.lobby import CLOSED, Lobby, TableRules
from mjbot.server.seats import PlayerSeat
from mjbot.server.tcp import Acceptor, OwnEndpoint
from mjbot.server.tenhou import TenhouEndpoint
from mjbot.warm_up import warm_up_server
from protocol.messages import Error, Event
from protocol.plain_text import one_line
from protocol.tiles import WIND_NAMES

if TYPE_CHECKING:
    from aiohttp import web

    from mjbot.listeners.http import HttpListener

logger = logging.getLogger(__name__)

SeatRemarks = tuple[str | None, ...]
OnEvent = Callable[[int, Event | Error, SeatRemarks], None]
NO_LOGS: Final[SeatRemarks] = (None, None, None, None)

NO_LOG: Final = "The table cannot write its log; the game is void."
ENDED: Final = "The server was ended; the game is void."

ONE_ROOM: Final[Mapping[str, tuple[int, ...]]] = {"default": (0, 1, 2, 3)}


def talk_of(logs: SeatRemarks) -> Talk:
    """Return what was remarked, and by which seat.

    >>> talk_of((None, "hm", None, None))
    ((1, 'hm'),)
    """
    return tuple([(seat, remark) for seat, remark in enumerate(logs) if remark])


@dataclass(frozen=True, kw_only=True)
class GameResult:
    """How a game ended.  ``names``, ``scores`` and ``places`` are by seat.

    ``scores`` of a void game are those at its end.
    """

    game: int
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
        rooms: Mapping[str, tuple[int, ...]] = ONE_ROOM,
        log_dir: Path | None = None,
        on_event: OnEvent | None = None,
        on_fault: Callable[[int, TableFault], None] | None = None,
        *,
        evidence: bool = False,
        admission: Admission = OPEN,
    ) -> None:
        self.rules: Final = rules
        self.lobby: Final = admission.lobby or Lobby(rooms)
        self._admission: Final = admission
        self.acceptor: Final = Acceptor(self.lobby, rules, admission=admission)
        self.tenhou: Final = TenhouEndpoint(self.lobby, rules)
        self._log_dir = log_dir
        self._on_event = on_event
        self._on_fault = on_fault
        self._keeps_evidence = evidence
        self._closers = contextlib.AsyncExitStack()
        self._acceptors: Final = [self.acceptor]
        self._stop_listening: Final[list[Callable[[], None]]] = []

    async def __aenter__(self) -> "TableServer":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.drain()
        await self._closers.aclose()

    async def drain(self) -> None:
        """Begin no further game and admit no new client; a running game is played to its end.

        Players that wait for a game are sent away with the reason.  Only the endpoints for Tenhou
        clients stay open during that game, for players that lost their connection.
        """
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
        self._closers.push_async_callback(acceptor.close)
        self._closers.callback(server.close)
        return int(server.sockets[0].getsockname()[1])

    async def open_websocket(self, host: str, port: int, token: str | None = None) -> int:
        """Listen for WebSockets, as :meth:`open_tcp`; see :mod:`mjbot.server.websocket`."""
        from mjbot.server.websocket import make_app

        app = make_app(self.lobby, self.rules.limits, token, self._admission.accounts)
        listener = self._web(app, "ws")
        self._stop_listening.append(listener.refuse_more)
        return await listener.open(host, port)

    def _web(self, app: "web.Application", endpoint: str) -> "HttpListener":
        from mjbot.listeners.http import HttpListener

        listener = HttpListener(app, endpoint, limits=self._admission.limits)
        self._closers.push_async_callback(listener.close)
        return listener

    async def open_tenhou(self, host: str, port: int) -> int:
        """Listen for Tenhou's XML, as :meth:`open_tcp`; see :mod:`mjbot.server.tenhou`."""
        server = await asyncio.start_server(self.tenhou.admit, host, port)
        self._closers.push_async_callback(self.tenhou.close)
        self._closers.callback(server.close)
        return int(server.sockets[0].getsockname()[1])

    async def open_tenhou_websocket(self, host: str, port: int) -> int:
        """Listen for Tenhou's JSON, as :meth:`open_tcp`."""
        from mjbot.server.websocket import make_tenhou_app

        listener = self._web(make_tenhou_app(self.tenhou.begin), "tenhou+ws")
        opened = await listener.open(host, port)
        self._closers.push_async_callback(self.tenhou.close)
        return opened

    async def play(self, games: int) -> AsyncGenerator[GameResult, None]:
        """Play ``games`` games one after another, each as soon as four players have joined.

        Ends earlier after :meth:`drain`.
        """
        await warm_up_server()
        for game in range(games):
            players = await self.lobby.gather()
            if not players:
                return
            places = self.rules.seating(game)
            seats = [players[place] for place in places]
            yield await self._play_game(game, tuple(places), seats, last=game == games - 1)

    async def _play_game(
        self, game: int, places: tuple[int, ...], seats: list[PlayerSeat], *, last: bool
    ) -> GameResult:
        referee = Referee(self.rules.seed + game, self.rules.game)
        core = TableCore(referee, tuple([seat.name for seat in seats]), self.rules.on_fault)
        _log_start(game, seats)
        for seat in seats:
            seat.meet(seats)
        for seat in seats:
            await seat.start()
        final_messages: list[Outgoing] = []
        try:
            with contextlib.ExitStack() as stack:
                log, evidence = None, None
                if self._log_dir is not None:
                    log = stack.enter_context(GameLog.create(self._log_dir))
                    if self._keeps_evidence:
                        evidence = stack.enter_context(EvidenceLog(log.path))
                final_messages = await self._converse(core, seats, game, _GameFiles(log, evidence))
            if not last:
                self.lobby.reopen()
        except (OSError, asyncio.CancelledError) as error:
            text = NO_LOG if isinstance(error, OSError) else ENDED
            message = Error(message=text)
            final_messages = [Outgoing(seat, message, (), referee) for seat in range(len(seats))]
            logger.warning("game %d is void: %s", game + 1, text)
            raise
        finally:
            await _part(seats, final_messages)
            for seat in seats:
                seat.part()
        end = f"is void: {one_line(core.faults[-1].text)}" if core.void else "has ended"
        logger.info("game %d %s", game + 1, end)
        return GameResult(
            game=game,
            names=core.names,
            places=places,
            scores=tuple(referee.state["scores"].tolist()),
            void=core.void,
            faults=tuple(core.faults),
            log=log.path if log else None,
        )

    async def _converse(
        self, core: TableCore, seats: list[PlayerSeat], game: int, logs: "_GameFiles"
    ) -> list[Outgoing]:
        """Play to the end; return the last messages, which are still to be sent."""
        final_messages: list[Outgoing] = []
        n_faults = 0
        while (outgoing := core.next()) is not None:
            if outgoing.is_final:
                final_messages.append(outgoing)
            else:
                sent_at = time.perf_counter()
                answer = await seats[outgoing.seat].exchange(outgoing)
                took_s = time.perf_counter() - sent_at
                line = core.line
                logs.keep(line, outgoing, answer, took_s, core.answer(answer))
            if self._on_fault and len(core.faults) > n_faults and not core.void:
                n_faults = len(core.faults)
                self._on_fault(game, core.faults[-1])
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
        if self.evidence is None or not (answer.lines or judged[1]):
            return
        raws: list[bytes | None] = list(answer.lines) or [None]
        verdicts: list[tuple[Verdict, str]] = [("refused", "an old request_id")] * len(raws)
        verdicts[-1] = judged
        self.evidence.write(
            [
                make_reply(line, outgoing.seat, took_s, raw, verdict)
                for raw, verdict in zip(raws, verdicts, strict=True)
            ]
        )


def _log_start(game: int, seats: list[PlayerSeat]) -> None:
    players = [
        f"{wind} {one_line(seat.name)} ({seat.guest})"
        for wind, seat in zip(WIND_NAMES, seats, strict=True)
    ]
    logger.info("game %d begins: %s", game + 1, ", ".join(players))


async def _part(seats: list[PlayerSeat], final_messages: list[Outgoing]) -> None:
    """Send the last messages all at once: the original waits up to 60 s for each seat."""
    last = {outgoing.seat: outgoing for outgoing in final_messages}
    await asyncio.gather(
        *[seat.final_message(last.get(number)) for number, seat in enumerate(seats)]
    )
