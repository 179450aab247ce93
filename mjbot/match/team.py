"""The four players' processes: started, started anew for the next game, never left behind."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mjbot.match.players import Player
from mjbot.match.processes import Child, describe_exit


class MatchError(Exception):
    """The match cannot go on; the text is one line that says who and why."""


class Team:
    """Who plays at which place, each in a process of its own.

    ``urls`` are the places' addresses, ``folder`` takes the players' output.
    """

    def __init__(
        self, players: Sequence[Player], urls: Sequence[str], games: int, folder: Path
    ) -> None:
        self._players: Final = tuple(players)
        self._urls: Final = tuple(urls)
        self._games: Final = games
        self._folder: Final = folder
        self._children: dict[int, Child] = {}
        self._games_over = 0

    def game_over(self) -> None:
        """Take note that a game has ended: who played it may leave."""
        self._games_over += 1

    def disband(self) -> None:
        """Take note that no more games will be played: everyone may leave."""
        self._games_over = self._games

    async def run(self) -> None:
        """Keep all players going until the last game; raises :class:`MatchError` when one dies."""
        async with asyncio.TaskGroup() as group:
            for place in range(len(self._players)):
                group.create_task(self._keep_going(place))

    async def stop(self) -> None:
        """End every process and whatever it started."""
        await asyncio.gather(*[child.stop() for child in self._children.values()])

    def describe(self, place: int) -> str:
        """Name a player and where to read what it said."""
        player = self._players[place]
        said = self._said(place)
        return f"player {place + 1}, {player.spec}{said}"

    async def obituary(self, place: int, patience_s: float) -> str:
        """Return how the player ended, or nothing if it is still there after a while."""
        child = self._children[place]
        try:
            async with asyncio.timeout(patience_s):
                return describe_exit(await child.wait())
        except TimeoutError:
            return ""

    async def _keep_going(self, place: int) -> None:
        player = self._players[place]
        while self._games_over < self._games:
            games_before = self._games_over
            child = await self._start(place)
            status = await child.wait()
            played = self._games_over > games_before
            finished = self._games_over >= self._games
            if not (finished or (played and not player.plays_on)):
                raise MatchError(f"{self.describe(place)}: {describe_exit(status)}")

    async def _start(self, place: int) -> Child:
        player = self._players[place]
        command = player.command(self._urls[place], self._games)
        try:
            child = await Child.start(command, self._folder / f"player-{place + 1}.txt")
        except OSError as error:
            raise MatchError(f"player {place + 1}, {player.spec}: cannot run: {error}") from None
        self._children[place] = child
        return child

    def _said(self, place: int) -> str:
        child = self._children.get(place)
        words = child.last_words() if child else ""
        return f' (its last words: "{words}")' if words else ""
