"""Clients with the habits of the recorded ones, at the Tenhou endpoint, without waiting.

The recorded client (658 games of 2018) answered each ron twice, the second time with a pass or
another call, read ``GO``, ``UN`` and ``TAIKYOKU`` in one read, and took its time.  Here four
clients of ours play over lines that do so, each habit by itself or all together:

``twice``
    Every answer is sent twice within 0.5 s, the last one of a hand once more before the next deal;
    after a ron a pass is sent as well.
``slow``
    An answer takes up to 2 s, a result is shown for 3 to 5 s, the last one as well.
``large-reads``
    The client reads only every 1.5 s at the most, and then all that has arrived in one piece.

The lines are in memory and the time of the loop leaps, so that no second is waited for.
"""

import asyncio
import contextlib
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from mjbot.play.client.conversation import OwnResult
from mjbot.play.client.decision_thread import DecisionThread
from mjbot.play.client.player import ClientPlayer
from mjbot.play.client.tenhou import TenhouGame
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import GameResult, TableServer
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.tenhou.client import TenhouClient
from mjbot.protocol.tenhou.codec import Spelling
from mjbot.protocol.tenhou.game_type import game_type
from mjbot.protocol.tenhou.login import TableType, guest_named
from mjbot.protocol.transports.base import SilenceError, Transport, VanishedError
from mjbot.protocol.transports.memory import memory_pair
from mjbot.strategy.registry import make_strategy
from proof.leaping_time import in_leaping_time

HABITS: Final = ("twice", "slow", "large-reads")
ANSWER_S: Final = 2.0
AGAIN_S: Final = 0.5
"""Seconds from the first to the second answer: the table may be at its next question."""

SHOWN_S: Final = (3.0, 5.0)
READ_PAUSE_S: Final = 1.5

_ANSWER: Final = re.compile(rb"<(N|D|REACH)\b")
_RON: Final = re.compile(rb'<N type="6"')
_READY: Final = b"<NEXTREADY />\0"


class HabitualLine(Transport):
    """One client's connection; ``counted`` counts what it did."""

    def __init__(
        self, line: Transport, habits: Sequence[str], rng: random.Random, counted: Counter[str]
    ) -> None:
        self._line: Final = line
        self._habits: Final = frozenset(habits)
        self._rng: Final = rng
        self._counted: Final = counted
        self._last_answer = b""

    async def receive(self, timeout_s: float | None = None) -> bytes:
        """Return what has come; see :class:`Transport`."""
        data = await self._line.receive(timeout_s)
        self._count_start(data)
        if "large-reads" not in self._habits:
            return data
        await asyncio.sleep(self._rng.uniform(0, READ_PAUSE_S))
        with contextlib.suppress(SilenceError, VanishedError):
            while True:
                more = await self._line.receive(0)
                self._count_start(more)
                self._counted["reads of several pieces"] += 1
                data += more
        return data

    async def send(self, line: bytes) -> None:
        """Send tags as the recorded client does; see :class:`Transport`."""
        for part in line.split(b"\0")[:-1]:
            tag = part + b"\0"
            if tag.startswith(b"<BYE"):
                await self._count_end()
            elif tag == _READY:
                await self._show_result()
                if "twice" in self._habits and self._last_answer:
                    await self._repeat(self._last_answer)
            is_answer = bool(_ANSWER.match(tag))
            if is_answer and "slow" in self._habits:
                await asyncio.sleep(self._rng.uniform(0, ANSWER_S))
            await self._line.send(tag)
            if is_answer:
                self._last_answer = tag
                await self._answer_again(tag)

    async def close(self) -> None:
        """Close the connection."""
        await self._line.close()

    async def _show_result(self) -> None:
        if "slow" in self._habits:
            await asyncio.sleep(self._rng.uniform(*SHOWN_S))

    async def _answer_again(self, tag: bytes) -> None:
        if "twice" not in self._habits:
            return
        await self._repeat(tag)
        if _RON.match(tag):
            self._counted["of these a pass after a ron"] += 1
            await self._repeat(b"<N />\0")

    async def _repeat(self, tag: bytes) -> None:
        await asyncio.sleep(self._rng.uniform(0, AGAIN_S))
        self._counted["answers repeated"] += 1
        await self._line.send(tag)

    async def _count_end(self) -> None:
        """Count whether the connection is open until the client has shown the last result."""
        try:
            while True:  # what was sent to it meanwhile
                await self._line.receive(0)
        except SilenceError:
            self._counted["last results shown to the end"] += 1
        except VanishedError:
            pass

    def _count_start(self, data: bytes) -> None:
        if b"<GO " in data:
            self._counted["starts"] += 1
            whole = all(tag in data for tag in (b"<UN ", b"<TAIKYOKU "))
            self._counted["of these in one piece"] += whole


class _InLoop(DecisionThread):
    """Decides immediately, in the loop's own thread: a simulated clock waits for no thread."""

    async def think(self, job: Callable[[], Any], limit_s: float | None) -> Any:
        """Return what the job returns."""
        return job()


class PlayerInLoop(ClientPlayer):
    """A client's player whose strategy decides in no time."""

    def __init__(self, strategy: str) -> None:
        super().__init__(
            lambda _: make_strategy(strategy), Dialect.TENHOU, strict=True, deadline_s=None
        )
        self._thread.close()
        self._thread = _InLoop()  # type: ignore[misc]


def play_habitually(
    rules: TableRules,
    habits: Sequence[str],
    bots: Sequence[str],
    folder: Path,
    counted: Counter[str],
) -> tuple[GameResult, list[OwnResult]]:
    """Play a game of such clients; return how it ended for the table and for each client."""
    return in_leaping_time(_play(rules, habits, bots, folder, counted))


async def _play(
    rules: TableRules,
    habits: Sequence[str],
    bots: Sequence[str],
    folder: Path,
    counted: Counter[str],
) -> tuple[GameResult, list[OwnResult]]:
    async with TableServer(rules, log_dir=folder) as server:
        tasks = []
        for client, bot in enumerate(bots):
            rng = random.Random(f"habits {rules.seed} {client}")
            ours, theirs = memory_pair()
            server.tenhou.begin(theirs, Spelling.XML)
            line = HabitualLine(ours, habits, rng, counted)
            tasks.append(asyncio.create_task(_client(line, client, bot, rules)))
            while len(server.lobby.waiting) <= client:
                await asyncio.sleep(0.01)
                if tasks[-1].done():
                    tasks[-1].result()
        results = [result async for result in server.play(1)]
        return results[0], list(await asyncio.gather(*tasks))


async def _client(line: Transport, client: int, bot: str, rules: TableRules) -> OwnResult:
    async def never() -> Transport:
        raise AssertionError("the connection was lost")

    wanted = TableType(0, int(game_type(rules.game)))
    session = TenhouClient(guest_named(f"bot{client}"), wanted, Spelling.XML)
    player = PlayerInLoop(bot)
    silence_s = Dialect.TENHOU.traits.silence_s or 300.0
    game = TenhouGame(never, session, player, silence_s=silence_s, record=lambda event: None)
    return await game.play(line)
