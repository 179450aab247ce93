"""A server of several tables: one set of endpoints, a hall, and a game at each table.

Each table writes its records into a folder of its own, ``ROOM-NUMBER`` in the server's folder, and
has walls of its own: those of table ``n`` are the seeds from ``seed + (n << 32)`` on.
"""

import asyncio
import contextlib
import itertools
import logging
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, get_args

from mjbot.play.kept_games import Limits
from mjbot.play.server.accounts import Accounts, Admission
from mjbot.play.server.game_log import require_room
from mjbot.play.server.hall import Hall, TableLobby, TableState
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import Bookkeeping, GameResult, SeatRemarks, TableServer
from mjbot.play.server.standings import PlayedGame, Results, uma_of
from mjbot.play.startup.warm_up import warm_up_server
from mjbot.protocol.messages import Error, Event
from mjbot.runtime.clock import utc_time
from mjbot.runtime.errors import error_report
from mjbot.runtime.interruption import to_its_end
from mjbot.strategy.faults import FaultKind

logger = logging.getLogger(__name__)

SEEDS_OF_TABLE: Final = 1 << 32
RETRY_S: Final = 30.0
"""How often a table that could not write its records tries again."""

TABLE_STATES: Final[tuple[TableState, ...]] = get_args(TableState)
EVERYTHING: Final = Limits()
MOST_RESULTS: Final = 200
"""How many results the page shows."""


OnTableEvent = Callable[[str, Event | Error, SeatRemarks], None]
"""Receives the table's name, an event of its game, and what each seat remarked on it."""


@dataclass(frozen=True)
class TableResult:
    """A game's result; ``table`` is ``ROOM-NUMBER``, ``ended`` UTC in ISO 8601."""

    table: str
    result: GameResult
    ended: str = ""

    @property
    def number(self) -> int:
        """The game's number among those of all tables, from 1."""
        return self.result.number


class Tables:
    """The tables of a hall; ``front`` has the endpoints, use it as an async context manager."""

    def __init__(
        self,
        rules: TableRules,
        hall: Hall,
        admission: Admission,
        *,
        log_dir: Path | None = None,
        evidence: bool = False,
        keep: Limits = EVERYTHING,
        on_event: OnTableEvent | None = None,
    ) -> None:
        self.hall: Final = hall
        self.front: Final = TableServer(rules, admission=replace(admission, lobby=hall))
        self.accounts: Final[Accounts | None] = admission.accounts
        self.servers: Final[dict[str, TableServer]] = {}
        self.lobbies: Final[dict[str, TableLobby]] = {}
        self.results: Final[deque[TableResult]] = deque(maxlen=MOST_RESULTS)
        self.count = 0
        """Games that were played to their end."""
        self.void_count = 0
        self.faults: Final[Counter[FaultKind]] = Counter()
        self._log_dir: Final = log_dir
        self._rules: Final = rules
        self.history: Final = Results(log_dir, rules.game.players)
        self.front.closers.callback(self.history.close)
        numbers = itertools.count(self.history.last_number + 1)
        for room, lobbies in hall.tables.items():
            for number, lobby in enumerate(lobbies, 1):
                name = f"{room}-{number}"
                seed = rules.seed + len(self.servers) * SEEDS_OF_TABLE
                self.servers[name] = TableServer(
                    replace(rules, seed=seed),
                    log_dir=None if log_dir is None else log_dir / name,
                    on_event=None if on_event is None else partial(_passed_on, on_event, name),
                    evidence=evidence,
                    admission=Admission(lobby),
                    bookkeeping=Bookkeeping(name=name, numbers=numbers, keep=keep),
                )
                self.front.closers.callback(self.servers[name].close_ledger)
                self.lobbies[name] = lobby
        self.results.extend(map(self._earlier, self.history.earlier[-MOST_RESULTS:]))

    async def play(
        self, games: int, on_start: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[TableResult, None]:
        """Play ``games`` games at all tables together; ends earlier after :meth:`drain`.

        Void ones are not among them.  A table that cannot write its records is closed, and opened
        again when it can; raises ``OSError`` once all tables are closed for that.  ``on_start`` is
        called once the tables are ready.
        """
        await warm_up_server()
        done: asyncio.Queue[TableResult | None] = asyncio.Queue()
        tasks = [asyncio.create_task(self._play(name, games, done)) for name in self.servers]
        seating = asyncio.create_task(self.hall.seat_players())
        on_start()
        open_ends = len(tasks)
        try:
            while open_ends:
                result = await done.get()
                if result is None:
                    open_ends -= 1
                else:
                    yield result
                if self.count >= games and not self.hall.is_closed:
                    await self.front.drain()
            for task in tasks:
                task.result()
        finally:
            for task in (*tasks, seating):
                task.cancel()
            await to_its_end(asyncio.gather(*tasks, seating, return_exceptions=True))

    def summary(self) -> str:
        """Return in one line what the tables do."""
        states = [lobby.state for lobby in self.lobbies.values()]
        counts = ", ".join([f"{states.count(state)} {state}" for state in TABLE_STATES])
        return f"{self.count} games, {self.void_count} void; tables: {counts}"

    async def drain(self) -> None:
        """Begin no further game; running games are played to their end."""
        await self.front.drain()

    async def _play(self, name: str, games: int, done: "asyncio.Queue[TableResult | None]") -> None:
        try:
            while not self.hall.is_closed:
                try:
                    async for result in self.servers[name].play(games + 1, counts_void=False):
                        self.count += not result.void
                        self.void_count += result.void
                        self.faults.update([fault.kind for fault in result.faults])
                        done.put_nowait(self._noted(name, result))
                except OSError as error:
                    await self._pause(name, error)
        finally:
            done.put_nowait(None)

    def _noted(self, table: str, result: GameResult) -> TableResult:
        """Return a result that has just come, with its time; it counts in the standings."""
        played = TableResult(table, result, utc_time())
        self.results.append(played)
        if not result.void:
            game = PlayedGame(
                ended=played.ended,
                game=result.number,
                table=table,
                names=result.names,
                scores=result.scores,
                uma=uma_of(result.scores, self._rules.game),
                record=result.log.name if result.log else None,
            )
            self.history.add(game)
        return played

    def _earlier(self, played: PlayedGame) -> TableResult:
        """Return a result of before the start; its record may have been removed."""
        log, record = None, played.record or ""
        if self._log_dir and played.table in self.servers and Path(record).name == record:
            log = self._log_dir / played.table / record
        result = GameResult(
            game=played.game,
            number=played.game,
            names=played.names,
            places=(),
            scores=played.scores,
            void=False,
            faults=(),
            log=log,
        )
        return TableResult(played.table, result, played.ended)

    async def _pause(self, name: str, error: OSError) -> None:
        """Close a table until its folder takes records again; raises if it was the last one."""
        lobby, text = self.lobbies[name], error_report(error)[0]
        logger.error("table %s is closed: %s", name, text)
        lobby.shut(text)
        if all(other.problem for other in self.lobbies.values()):
            await self.drain()
            raise error
        assert self._log_dir is not None
        while not await self.hall.closes_within(RETRY_S):
            with contextlib.suppress(OSError):
                require_room(self._log_dir / name)
                logger.info("table %s is open again", name)
                lobby.open_again()
                return


def _passed_on(
    on_event: OnTableEvent, table: str, game: int, event: Event | Error, logs: SeatRemarks
) -> None:
    on_event(table, event, logs)
