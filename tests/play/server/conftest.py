"""A raw lock-step client that knows nothing of our client code, and tables to seat it at."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.seats import PlayerSeat, SeatReply
from mjbot.play.server.server import GameResult, TableServer

Event = dict[str, Any]
Policy = Callable[[Event, int], Any]
LIMIT = 1 << 22
GUARD_S = 300


def tsumogiri(event: Event, seat: int) -> Any:
    """What to answer: an object to be sent as JSON, bytes as they are, None: nothing."""
    if event["type"] == "tsumo" and event["actor"] == seat:
        return {"type": "dahai", "actor": seat, "pai": event["pai"], "tsumogiri": True}
    return {"type": "none"}


class RawClient:
    """One player: joins, answers every line by its policy, keeps what it receives."""

    def __init__(self, policy: Policy = tsumogiri, name: str = "raw", room: str = "default"):
        self.policy = policy
        self.name = name
        self.room = room
        self.received: list[Event] = []
        self.seat = -1
        self._writer: asyncio.StreamWriter | None = None

    async def play(self, port: int) -> "RawClient":
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=LIMIT)
        self._writer = writer
        try:
            while line := await reader.readline():
                event = json.loads(line)
                self.received.append(event)
                if event["type"] in ("error", "end_game"):
                    break
                await self._answer(event, writer)
            assert await reader.read() == b""  # the server closes
        except ConnectionError:
            pass
        finally:
            writer.close()
        return self

    async def send(self, message: Event) -> None:
        """Send an answer that its policy did not give at once."""
        assert self._writer is not None
        self._writer.write(json.dumps(message).encode() + b"\n")
        await self._writer.drain()

    async def _answer(self, event: Event, writer: asyncio.StreamWriter) -> None:
        if event["type"] == "hello":
            reply: Any = {"type": "join", "name": self.name, "room": self.room}
        else:
            if event["type"] == "start_game":
                self.seat = event["id"]
            reply = self.policy(event, self.seat)
        if reply == "close":
            writer.close()
        elif reply is not None:
            line = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            writer.write(line + b"\n")
            await writer.drain()


class WaitingSeat(PlayerSeat):
    """A player of whom nothing is requested."""

    async def start(self) -> None:
        pass

    async def exchange(self, outgoing: Any) -> SeatReply:
        raise AssertionError

    async def final_message(self, outgoing: Any) -> None:
        pass


async def play_table(
    clients: list[RawClient], games: int = 1, **rules: Any
) -> tuple[list[GameResult], list[RawClient]]:
    """Seat the clients at a fresh table on a free port and play."""
    rules = {"seed": 1, "rules": "tonpu", "timeout_s": float(GUARD_S), **rules}
    async with asyncio.timeout(GUARD_S), TableServer(TableRules(**rules)) as server:
        port = await server.open_tcp("127.0.0.1", 0)
        tasks = [asyncio.create_task(client.play(port)) for client in clients]
        results = [result async for result in server.play(games)]
        return results, list(await asyncio.gather(*tasks))


@pytest.fixture(autouse=True)
def _short_games(short_games: None) -> None:
    """Let a game be a kyoku."""


@pytest.fixture
def raw_client() -> type[RawClient]:
    return RawClient


@pytest.fixture
def default_policy() -> Policy:
    return tsumogiri


@pytest.fixture
def table() -> Callable[..., tuple[list[GameResult], list[RawClient]]]:
    def play(clients: list[RawClient], **rules: Any) -> tuple[list[GameResult], list[RawClient]]:
        if "on_fault" in rules:
            rules["on_fault"] = OnFault(rules["on_fault"])
        return asyncio.run(play_table(clients, **rules))

    return play
