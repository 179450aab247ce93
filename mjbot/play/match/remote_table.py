"""A pair at a table that is not ours: started, followed through its own logs."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from mjbot.game.records.game import RecordError, Talk
from mjbot.game.records.mjai_log import talk_in
from mjbot.play.match.player_processes import start_player
from mjbot.play.match.players import MatchPlayer
from mjbot.protocol.codec import decode_line
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.messages import Event, Message, StartGame
from mjbot.protocol.reading import shows_three
from mjbot.protocol.rules import RANKED
from mjbot.protocol.seats import players_after
from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.processes import ChildProcess, describe_exit, stop_all

LOOK_S: Final = 0.2
"""How often the log of the one that we follow is read."""

OnRemoteEvent = Callable[[int, Event, Talk], None]
"""Receives the number of the game, an event, and the remarks on it."""

OnNote = Callable[[str], None]


class LogTailer:
    """Reads a log of mjai lines that another process is writing, game after game.

    ``players`` is how many play where the log does not show three.
    """

    def __init__(self, log: Path, on_event: OnRemoteEvent, players: int) -> None:
        self._log: Final = log
        self._on_event: Final = on_event
        self._given_players: Final = players
        self._players = players
        self._read_bytes = 0
        self._read_lines = 0
        self._game = -1

    def look(self) -> None:
        """Pass on every event of which the whole line is there by now.

        Raises :class:`RecordError` at a line that is damaged.
        """
        with contextlib.suppress(FileNotFoundError), self._log.open("rb") as log:
            log.seek(self._read_bytes)
            for line in log:
                if not line.endswith(b"\n"):
                    break
                self._read_bytes += len(line)
                self._read_lines += 1
                try:
                    messages, talk = self._decoded(line), talk_in(line)
                except ProtocolError as error:
                    place = f"line {self._read_lines}"
                    raise RecordError(str(self._log), place, str(error)) from None
                self._pass_on(messages, talk)

    def _decoded(self, line: bytes) -> list[Message]:
        if b'"start_game"' in line:
            self._players = self._given_players
        if b'"start_' in line and shows_three(line):
            self._players = 3
        return list(decode_line(line, self._players))

    def _pass_on(self, messages: Sequence[Message], talk: Talk) -> None:
        for message in messages:
            if isinstance(message, Event):
                # By its start: a void game has no end.
                self._game += isinstance(message, StartGame)
                self._on_event(self._game, message, talk)


class MergedLogs:
    """Adds the names of the two where the server does not: each has its own seat.

    ``one`` and ``other`` take what each of the two sees; ``on_event`` receives the events of the
    first from the moment on when the other's seat is known, too.
    """

    def __init__(self, names: Sequence[str], on_event: OnRemoteEvent) -> None:
        self._names: Final = tuple(names)
        self._on_event: Final = on_event
        self._seats: Final[dict[int, int | None]] = {}
        self._waiting: deque[tuple[int, Event, Talk]] = deque()

    def other(self, game: int, event: Event, talk: Talk = ()) -> None:
        """Take in what the second sees."""
        if isinstance(event, StartGame):
            self._seats[game] = event.id
            self._go_on()

    def one(self, game: int, event: Event, talk: Talk = ()) -> None:
        """Take in what the first sees, and its remarks."""
        self._waiting.append((game, event, talk))
        self._go_on()

    def finish(self) -> None:
        """Pass on what is left, though the second never sat down."""
        while self._waiting:
            self._on_event(*self._waiting.popleft())

    def _go_on(self) -> None:
        while self._waiting and self._is_named(*self._waiting[0][:2]):
            game, event, talk = self._waiting.popleft()
            if isinstance(event, StartGame) and not event.names:
                event = self._named(event, self._seats[game])
            self._on_event(game, event, talk)

    def _is_named(self, game: int, event: Event) -> bool:
        return not isinstance(event, StartGame) or bool(event.names) or game in self._seats

    def _named(self, start: StartGame, other: int | None) -> StartGame:
        if start.id is None or other is None or start.id == other:
            return start
        names = [f"seat {seat}" for seat in range(players_after(start, RANKED.players))]
        names[start.id], names[other] = self._names
        return replace(start, names=tuple(names))


class RemoteTableError(MjbotError):
    """No player could play; the exit code is that of the first failure."""


class RemoteTable:
    """``players`` at the table ``url``; ``folder`` takes their output."""

    def __init__(self, players: Sequence[MatchPlayer], url: str, games: int, folder: Path) -> None:
        self._players: Final = tuple(players)
        self._places: Final = range(len(self._players))
        self._url: Final = url
        self._games: Final = games
        self._folder: Final = folder
        self._children: list[ChildProcess] = []
        self._failed: list[int] = []

    async def play(self, tailers: Sequence[LogTailer], on_note: OnNote) -> None:
        """Return when all players have left; raises :class:`RemoteTableError` if none played."""
        async with self._running():
            ends = asyncio.gather(*[self._wait(place, on_note) for place in self._places])
            while not ends.done():
                await asyncio.wait({ends}, timeout=LOOK_S)
                for watching in tailers:
                    watching.look()
        statuses = ends.result()
        if all(statuses):
            first = self._failed[0]
            code = max(statuses[first], ExitCode.FAILED)
            raise RemoteTableError(self._describe_end(first, statuses[first]), exit_code=code)

    @contextlib.asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        try:
            for place, player in enumerate(self._players):
                command = player.command(self._url, self._games)
                child = await start_player(command, player, place, self._folder)
                self._children.append(child)
            yield
        finally:
            await stop_all(self._children)

    async def _wait(self, place: int, on_note: OnNote) -> int:
        status = await self._children[place].wait()
        if status:
            self._failed.append(place)
            on_note(self._describe_end(place, status))
        return status

    def _describe_end(self, place: int, status: int) -> str:
        output = self._children[place].last_output()
        quoted = f' (its last output: "{output}")' if output else ""
        end = describe_exit(status)
        return f"player {place + 1}, {self._players[place].spec}{quoted}: {end}"
