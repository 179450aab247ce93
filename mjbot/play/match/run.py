"""A match: one table, four processes, some games."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from mjbot.game.records.game import Talk
from mjbot.play.match import player_processes as p
from mjbot.play.match.players import HumanSeat, MatchPlayer
from mjbot.play.server.core import OnFault, TableFault
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.reply_faults import LONGEST_QUOTE, fault_kinds, fault_reason
from mjbot.play.server.server import GameResult, SeatRemarks, TableServer, talk_of
from mjbot.play.server.tcp import OwnEndpoint
from mjbot.protocol.messages import Dahai, EndGame, EndKyoku, Error, Event, StartGame
from mjbot.protocol.plain_text import one_line
from mjbot.runtime.files import plural

HOST: Final = "127.0.0.1"
REMIND_S: Final = 30.0
"""How often the missing players are reported."""

LAST_LOOK_S: Final = 2.0
"""How long a person's page has to receive the end of the last game."""

_EXIT_REASON_S: Final = 5.0
"""How long to wait for the end of a player whose game is void; most are ending already."""


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """``folder`` must exist; it takes the games' logs and the players' output.

    ``join_timeout_s`` is how long all four together may take to come to the table.
    """

    rules: TableRules
    games: int
    folder: Path
    evidence: bool = False
    join_timeout_s: float = 180.0


@dataclass(frozen=True)
class Watcher:
    """Callbacks of a match.

    ``on_result`` receives each game that counts, ``on_void`` the reason why one does not,
    ``on_start`` each process, ``on_note`` deaths and replaced decisions, ``on_shown`` each event
    with the players' remarks, for a page that the players cannot see.
    """

    on_event: Callable[[int, Event], None] = lambda game, event: None
    on_result: Callable[[GameResult], None] = lambda result: None
    on_start: Callable[[int, int], None] = lambda place, pid: None
    on_note: Callable[[str], None] = lambda text: None
    on_void: Callable[[str], None] = lambda text: None
    on_shown: Callable[[Event, Talk], None] = lambda event, talk: None


async def play_match(
    settings: MatchSettings, players: Sequence[MatchPlayer], watcher: Watcher
) -> list[GameResult]:
    """Play all games and return their results, void ones too; every process is gone afterwards.

    A player that dies is started again for the next game.  Raises :class:`MatchError` when one
    does not come or dies without having played,
    :class:`mjbot.play.match.node.NodeError` when the external AI cannot run, and ``OSError``.
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
        self, settings: MatchSettings, players: Sequence[MatchPlayer], watcher: Watcher
    ) -> None:
        self._settings = settings
        self._players = players
        self._watcher = watcher
        self._faults = p.RunningFaults(settings.folder, players, watcher.on_note)
        self._rooms = {f"player-{place + 1}": (place,) for place in range(len(players))}
        self._playing = asyncio.Event()
        self._free = asyncio.Event()
        self._free.set()
        self._processes: p.PlayerProcesses
        self._server: TableServer

    async def play(self) -> list[GameResult]:
        rules, folder = self._settings.rules, self._settings.folder
        server = TableServer(
            rules, self._rooms, folder, self._note, self._fault, evidence=self._settings.evidence
        )
        async with server:
            self._server = server
            port = await server.open_tcp(HOST, 0)
            urls = [await self._url(room, place, port) for room, (place,) in self._rooms.items()]
            lineup = p.Lineup(self._players, urls, self._settings.games, rules.timeout_s)
            self._processes = p.PlayerProcesses(
                lineup, self._settings.folder, self._restart_policy()
            )
            try:
                return await self._compete()
            finally:
                await self._processes.stop()

    async def _url(self, room: str, place: int, port: int) -> str:
        """Return the URL for a player; one that insists on a room has an endpoint of its own."""
        if self._players[place].is_foreign:
            refused = partial(self._refused, place)
            port = await self._server.open_tcp(HOST, 0, OwnEndpoint(room, refused))
        return f"mjsonp://{HOST}:{port}/{room}"

    def _refused(self, place: int, reason: str) -> None:
        player = self._processes.name(place)
        self._watcher.on_note(f"{player}: the table refuses it: {one_line(reason, LONGEST_QUOTE)}")

    def _restart_policy(self) -> p.RestartPolicy:
        goes_on = self._settings.rules.on_fault is not OnFault.ABORT
        return p.RestartPolicy(goes_on, self._watcher.on_start, self._watcher.on_note)

    async def _compete(self) -> list[GameResult]:
        async with asyncio.TaskGroup() as group:
            processes = group.create_task(self._processes.run())
            arrivals = group.create_task(self._expect_players())
            results = await self._play_games()
            if any(isinstance(player, HumanSeat) for player in self._players):
                await asyncio.sleep(LAST_LOOK_S)
            processes.cancel()
            arrivals.cancel()
        return results

    async def _play_games(self) -> list[GameResult]:
        results: list[GameResult] = []
        async with contextlib.aclosing(self._server.play(self._settings.games)) as games:
            async for result in games:
                results.append(result)
                if result.void:
                    self._watcher.on_void(await self._void(result))
                else:
                    self._watcher.on_result(result)
        return results

    async def _void(self, result: GameResult) -> str:
        """Report the player at fault, and whether it has ended."""
        fault = result.faults[-1]
        place = result.places[fault.seat]
        end = await self._processes.exit_reason(place, _EXIT_REASON_S)
        player = self._processes.describe(place, result.game) + (f", {end}" if end else "")
        return f"game {result.game + 1} is void by {player}: {fault_reason(fault)}"

    def _fault(self, game: int, fault: TableFault) -> None:
        """Report a decision that the table replaced or penalized; a process's end is reported."""
        if fault.kind == "absent":
            return
        place = self._settings.rules.seating(game)[fault.seat]
        self._faults.report(place, f"{self._processes.name(place, game)}: {fault_reason(fault)}")

    async def _expect_players(self) -> None:
        for _ in range(self._settings.games):
            await self._free.wait()
            waited_s = 0.0
            while not self._playing.is_set():
                missing = self._missing() if waited_s else ""
                if missing:  # else all are there, and the table gets ready
                    missing_text = f"not at the table after {waited_s:g} s: {missing}"
                    if waited_s >= self._settings.join_timeout_s:
                        raise p.MatchError(missing_text)
                    self._watcher.on_note(missing_text)
                left_s = self._settings.join_timeout_s - waited_s
                pause_s = min(REMIND_S, left_s) if left_s > 0 else REMIND_S
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause_s):
                        await self._playing.wait()
                waited_s += pause_s
            self._playing.clear()

    def _missing(self) -> str:
        lobby = self._server.lobby
        missing = [place for room, (place,) in self._rooms.items() if not lobby.is_busy(room)]
        return "; ".join([self._processes.describe(place) for place in missing])

    def _note(self, game: int, event: Event | Error, logs: SeatRemarks) -> None:
        if isinstance(event, StartGame):
            self._free.clear()
            self._playing.set()
            self._processes.game_begins(self._settings.rules.seating(game))
        if isinstance(event, EndGame | Error):
            self._free.set()
            self._processes.game_over(void=isinstance(event, Error))
        if isinstance(event, Dahai | EndKyoku):
            for place, problem in self._faults.news():
                self._faults.report(place, f"{self._processes.name(place, game)}: {problem}")
        if not isinstance(event, Error):
            self._watcher.on_event(game, event)
            self._watcher.on_shown(event, talk_of(logs))


def table_fault_lines(players: Sequence[MatchPlayer], results: Sequence[GameResult]) -> list[str]:
    """Return a line for each player with replies that the table replaced or made pay for."""
    lines = []
    for place, player in enumerate(players):
        faults = [
            (result.game, fault)
            for result in results
            for fault in result.faults
            if result.places[fault.seat] == place
        ]
        if faults:
            game, fault = faults[0]
            first = f"first in game {game + 1}, seat {fault.seat}: {fault_reason(fault)}"
            count = plural(len(faults), "bad or missing answer")
            count += fault_kinds([fault for _, fault in faults])
            lines.append(f"player {place + 1}, {player.spec}: {count}, {first}")
    return lines
