"""A server of several tables: one set of endpoints, a hall, and a game at each table.

Each table writes its records into a folder of its own, ``ROOM-NUMBER`` in the server's folder, and
has walls of its own: those of table ``n`` are the seeds from ``seed + (n << 32)`` on.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from mjbot.server.accounts import Accounts, Admission
from mjbot.server.hall import Hall
from mjbot.server.lobby import TableRules
from mjbot.server.server import GameResult, TableServer
from mjbot.warm_up import warm_up_server

logger = logging.getLogger(__name__)

SEEDS_OF_TABLE: Final = 1 << 32
MOST_RESULTS: Final = 200
"""How many results the page shows."""


@dataclass(frozen=True)
class TableResult:
    """A game's result: ``table`` is ``ROOM-NUMBER``, ``number`` counts all games from 1."""

    table: str
    number: int
    result: GameResult


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
    ) -> None:
        self.hall: Final = hall
        self.front: Final = TableServer(rules, admission=replace(admission, lobby=hall))
        self.accounts: Final[Accounts | None] = admission.accounts
        self.servers: Final[dict[str, TableServer]] = {}
        self.results: Final[deque[TableResult]] = deque(maxlen=MOST_RESULTS)
        self.count = 0
        for room, lobbies in hall.tables.items():
            for number, lobby in enumerate(lobbies, 1):
                name = f"{room}-{number}"
                seed = rules.seed + len(self.servers) * SEEDS_OF_TABLE
                self.servers[name] = TableServer(
                    replace(rules, seed=seed),
                    log_dir=None if log_dir is None else log_dir / name,
                    evidence=evidence,
                    admission=Admission(lobby),
                )

    async def play(
        self, games: int, on_start: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[TableResult, None]:
        """Play ``games`` games at all tables together; ends earlier after :meth:`drain`.

        ``on_start`` is called once the tables are ready.
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
            await asyncio.gather(*tasks, seating, return_exceptions=True)

    async def drain(self) -> None:
        """Begin no further game; running games are played to their end."""
        await self.front.drain()

    async def _play(self, name: str, games: int, done: "asyncio.Queue[TableResult | None]") -> None:
        try:
            async for result in self.servers[name].play(games + 1):
                self.count += 1
                kept = TableResult(name, self.count, result)
                self.results.append(kept)
                done.put_nowait(kept)
        except OSError as error:
            logger.error("table %s is closed: %s", name, error)
            raise
        finally:
            done.put_nowait(None)
