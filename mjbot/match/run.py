"""A match: one table, four processes, some games."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mjbot.match.players import Player
from mjbot.match.team import MatchError, Party, Team, Upkeep
from mjbot.server.core import OnFault
from mjbot.server.server import GameResult, TableServer
from mjbot.server.table_rules import TableRules
from protocol.messages import EndGame, Error, Event, StartGame

HOST: Final = "127.0.0.1"
_OBITUARY_S: Final = 1.0


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """``folder`` must exist; it takes the games' logs and the players' output.

    ``join_timeout_s`` is how long all four together may take to come to the table.
    """

    rules: TableRules
    games: int
    folder: Path
    join_timeout_s: float = 180.0


@dataclass(frozen=True)
class Watcher:
    """Who wants to know how the match goes.

    ``on_start`` hears of each process, ``on_note`` of deaths that do not end the match.
    """

    on_event: Callable[[int, Event], None] = lambda game, event: None
    on_result: Callable[[GameResult], None] = lambda result: None
    on_start: Callable[[int, int], None] = lambda place, pid: None
    on_note: Callable[[str], None] = lambda text: None


async def play_match(
    settings: MatchSettings, players: Sequence[Player], watcher: Watcher
) -> list[GameResult]:
    """Play all games and return their results; every process is gone afterwards.

    Where the rules go on after a fault, a player that dies is started again for the next game.
    Raises :class:`MatchError` when a player does not come, voids a game or else dies,
    :class:`mjbot.external.node.NodeError` when the external AI cannot run, and ``OSError``.
    """
    match = _Match(settings, players, watcher)
    try:
        return await match.play()
    except BaseExceptionGroup as group:
        raise _first(group) from None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Match:
    def __init__(
        self, settings: MatchSettings, players: Sequence[Player], watcher: Watcher
    ) -> None:
        self._settings = settings
        self._players = players
        self._watcher = watcher
        self._rooms = {f"player-{place + 1}": (place,) for place in range(len(players))}
        self._playing = asyncio.Event()
        self._free = asyncio.Event()
        self._free.set()
        self._team: Team
        self._server: TableServer

    async def play(self) -> list[GameResult]:
        async with TableServer(
            self._settings.rules, self._rooms, self._settings.folder, self._note
        ) as server:
            port = await server.open_tcp(HOST, 0)
            urls = [f"mjsonp://{HOST}:{port}/{room}" for room in self._rooms]
            self._server = server
            party = Party(self._players, urls, self._settings.games)
            self._team = Team(party, self._settings.folder, self._upkeep())
            try:
                return await self._compete()
            finally:
                await self._team.stop()

    def _upkeep(self) -> Upkeep:
        goes_on = self._settings.rules.on_fault is not OnFault.ABORT
        return Upkeep(goes_on, self._watcher.on_start, self._watcher.on_note)

    async def _compete(self) -> list[GameResult]:
        async with asyncio.TaskGroup() as group:
            processes = group.create_task(self._team.run())
            arrivals = group.create_task(self._expect_players())
            results = await self._play_games()
            processes.cancel()
            arrivals.cancel()
        return results

    async def _play_games(self) -> list[GameResult]:
        results: list[GameResult] = []
        async with contextlib.aclosing(self._server.play(self._settings.games)) as games:
            async for result in games:
                if result.void:
                    raise await self._void(result)
                results.append(result)
                self._watcher.on_result(result)
        return results

    async def _void(self, result: GameResult) -> MatchError:
        """Say whose fault it was, and whether that player is dead."""
        fault = result.faults[-1]
        place = result.places[fault.seat]
        end = await self._team.obituary(place, _OBITUARY_S)
        who = self._team.describe(place) + (f": {end}" if end else "")
        return MatchError(f"{who}; game {result.game + 1} is void: {fault.text}")

    async def _expect_players(self) -> None:
        for _ in range(self._settings.games):
            await self._free.wait()
            try:
                async with asyncio.timeout(self._settings.join_timeout_s):
                    await self._playing.wait()
            except TimeoutError:
                raise MatchError(self._missing()) from None
            self._playing.clear()

    def _missing(self) -> str:
        lobby = self._server.lobby
        missing = [place for room, (place,) in self._rooms.items() if not lobby.is_busy(room)]
        who = "; ".join([self._team.describe(place) for place in missing])
        return f"not at the table after {self._settings.join_timeout_s:g} s: {who}"

    def _note(self, game: int, event: Event | Error) -> None:
        if isinstance(event, StartGame):
            self._free.clear()
            self._playing.set()
            self._team.game_begins()
        if isinstance(event, EndGame):
            self._free.set()
            self._team.game_over()
        if isinstance(event, Error):
            self._team.disband()
            return
        self._watcher.on_event(game, event)
