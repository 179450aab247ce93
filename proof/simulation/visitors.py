"""Connections that belong to no program of ours: players that leave, and a pair's false partners.

They run in the scenario itself, not as processes; what strikes their connections is nobody's blame.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from mjbot.protocol.errors import ProtocolError
from mjbot.strategy.pair.messages import GameHello, PairHello, SharedHand, decode
from mjbot.strategy.pair.session import PairSession, Side
from proof.simulation.processes import Process
from proof.simulation.world import World

HOST: Final = "127.0.0.1"
PATIENCE_S: Final = 30.0
INTRUSION_PAUSE_S: Final = 0.3
"""Between two attempts of an intruder: a short game lasts a second or two."""
LONGEST_INTRUSION_PAUSE_S: Final = 60.0
STALE_TOKEN: Final = "0" * 16
"""Names no game that a member of the pair has begun."""

Converse = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def joins_and_leaves(world: World, name: str, port: int) -> None:
    """Join a table by mjai lines and leave it; note it once the server's end knows."""
    with contextlib.suppress(OSError):
        async with asyncio.timeout(PATIENCE_S):
            reader, writer = await asyncio.open_connection(HOST, port)
            try:
                await reader.readline()
                writer.write(b'{"type":"join","name":"%s","room":"default"}\n' % name.encode())
                await asyncio.sleep(1.0)
            finally:
                writer.close()
    await asyncio.sleep(1.0)
    ends = [pair[1] for pair in world.network.connections if name.encode() in pair[0].first_bytes]
    if ends and all(end.is_lost for end in ends):
        world.departed.add(name)


# --- at the channel of a pair --------------------------------------------------------------------


async def intrudes(world: World, serve: Process, port: int) -> None:
    """Visit a pair's host again and again as its guest, without the secret."""
    pause_s = INTRUSION_PAUSE_S
    while serve.is_running:
        with contextlib.suppress(OSError):
            async with asyncio.timeout(PATIENCE_S):
                reader, writer = await asyncio.open_connection(HOST, port)
                try:
                    await _guess(world, Side.GUEST, reader, writer)
                finally:
                    writer.close()
        await asyncio.sleep(pause_s)
        pause_s = min(1.2 * pause_s, LONGEST_INTRUSION_PAUSE_S)


def impostor(world: World, port: int) -> "contextlib.AbstractAsyncContextManager[None]":
    """Take the port of a pair's host, without the secret."""
    return _listening(port, lambda *streams: _guess(world, Side.HOST, *streams))


def repeater(port: int, host_port: int) -> "contextlib.AbstractAsyncContextManager[None]":
    """Pass on a channel's lines, but with each hand as if it were sent in an earlier game.

    Such a hand fits the table, so that only the token that it answers shows what it is.
    """

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        beyond = await asyncio.open_connection(HOST, host_port)
        try:
            pumps = [_pump(reader, beyond[1]), _pump(beyond[0], writer)]
            tasks = [asyncio.create_task(pump) for pump in pumps]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
        finally:
            beyond[1].close()

    return _listening(port, pass_on)


async def _guess(
    world: World, side: Side, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer a pair's challenge with a wrong secret; what must not come is noted."""
    session = PairSession(side, b"another secret, of the same length")
    writer.write(session.opening + b"\n")
    while line := await reader.readline():
        try:
            message = decode(line)
        except ProtocolError:
            return
        if isinstance(message, GameHello | SharedHand):
            world.problem(f"sent to a {side.name.lower()} without the secret: {message}"[:300])
            return
        if isinstance(message, PairHello) and (answer := session.receive(line)) is not None:
            writer.write(answer + b"\n")


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while line := await reader.readline():
            writer.write(
                re.sub(rb'"answers":[^,}]*', b'"answers":"%s"' % STALE_TOKEN.encode(), line)
            )


@contextlib.asynccontextmanager
async def _listening(port: int, converse: Converse) -> AsyncIterator[None]:
    """Hold a conversation over each connection to a port, until the block ends."""
    tasks = set[asyncio.Task[None] | None]()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        with contextlib.suppress(OSError, asyncio.CancelledError):
            try:
                await converse(reader, writer)
            finally:
                writer.close()

    server = await asyncio.start_server(take, HOST, port)
    try:
        yield
    finally:
        server.close()
        for task in tasks:
            assert task is not None
            task.cancel()
