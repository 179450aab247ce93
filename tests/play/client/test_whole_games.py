"""Whole games over real sockets and pipes, with the real server or a feeder on the other side."""

import asyncio
import contextlib
import os

import pytest

from mjbot.game.records.mjai_log import read_mjai_log
from mjbot.game.referee import Referee
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.play.client.play import Settings, play
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.protocol.codec import decode_line, encode
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.masking import masked
from mjbot.protocol.messages import EndGame, EndKyoku, Hora, Ryukyoku, StartGame
from mjbot.protocol.transports.address import parse_address
from mjbot.protocol.transports.stdio import StdioTransport
from mjbot.strategy.registry import make_strategy

GUARD_S = 300
NAMES = ("a", "b", "c", "d")


def fast_riichi(kind):
    return lambda game: make_strategy(f"fast-riichi-{kind}", seed=game)


def settings(url, **more):
    return Settings(address=parse_address(url), **more)


def test_four_of_us_at_the_real_table_two_games_in_a_row(tmp_path):
    """Three over TCP and one over WebSocket, all strict: not one offer is seen differently."""
    log = tmp_path / "seen" / "game.mjson"

    async def check():
        async with (
            asyncio.timeout(GUARD_S),
            TableServer(TableRules(seed=5, rules="tonpu")) as table,
        ):
            port = await table.open_tcp("127.0.0.1", 0)
            ws_port = await table.open_websocket("127.0.0.1", 0)
            urls = [f"mjsonp://127.0.0.1:{port}/default"] * 3 + [f"ws://127.0.0.1:{ws_port}/ws"]
            players = [
                asyncio.create_task(
                    play(settings(url, games=2, name=kind, log=log if kind == "a" else None),
                         fast_riichi(kind))
                )
                for kind, url in zip(NAMES, urls, strict=True)
            ]  # fmt: skip
            results = [result async for result in table.play(2)]
            return results, await asyncio.gather(*players)

    results, seen = asyncio.run(check())
    assert [result.faults for result in results] == [(), ()]
    for ours in seen:
        assert [game.scores for game in ours] == [result.scores for result in results]
    assert {game.seat for game in (ours[0] for ours in seen)} == {0, 1, 2, 3}
    assert sorted(ours[1].final_rank for ours in seen) == [1, 2, 3, 4]
    replays_as_seen(log, seen[0])


def replays_as_seen(log, ours):
    with log.open("rb") as stream:
        games = [[entry.event for entry in game.entries] for game in read_mjai_log(stream, "log")]
    assert len(games) == len(ours) == 2
    for events, result in zip(games, ours, strict=True):
        table = Mirror(result.seat)
        for event in events:
            table.apply(event)
        assert events[-1] == EndGame(scores=result.scores)


# --- feeders ---------------------------------------------------------------------------------


class Feeder:
    """Plays a game of the referee with one seat on the other end of a pair of pipes."""

    def __init__(self, transport, dialect, seat):
        self.transport, self.dialect, self.seat = transport, dialect, seat
        self.referee = Referee(seed=3, rules="tonpu")
        self.others = make_strategy("fast-riichi-b")
        self.batch = []
        self.replies = 0

    async def play(self):
        events = self.referee.start()
        while True:
            for event in events:
                await self.tell(event)
            if self.referee.over:
                return
            events = self.referee.step(
                {seat: await self.choice(seat) for seat in self.referee.asked}
            )

    async def tell(self, event):
        if isinstance(event, StartGame):
            event = StartGame(names=NAMES)
        shown = masked(event, self.seat)
        if self.dialect is Dialect.STDIO_LINES:
            await self.transport.send(encode(shown, self.dialect))
        elif isinstance(event, StartGame | EndKyoku | EndGame):
            self.batch = [shown]
            assert (await self.ask()) == b'{"type":"none"}'
        elif not isinstance(event, Hora | Ryukyoku):
            self.batch.append(shown)

    async def choice(self, seat):
        view = self.referee.view(seat)
        if seat != self.seat:
            return self.others.decide(view) if len(view.legal) > 1 else view.legal[0]
        line = await self.ask()
        output = decode_line(line)
        self.replies += 1
        fitting = [action for action in view.legal if decode_line(
            encode(self.referee.message(seat, action), self.dialect)) == output]  # fmt: skip
        assert len(fitting) == 1, (line, view.legal)
        return fitting[0]

    async def ask(self):
        if self.dialect is Dialect.STDIO_ARRAYS:
            line = b"[" + b",".join(encode(event, self.dialect) for event in self.batch) + b"]"
            self.batch = []
            await self.transport.send(line)
        return await self.transport.receive(GUARD_S)


@contextlib.contextmanager
def pipes():
    """Yield (client's descriptors, feeder's descriptors)."""
    (client_in, feeder_out), (feeder_in, client_out) = os.pipe(), os.pipe()
    yield (client_in, client_out), (feeder_in, feeder_out)
    for descriptor in (client_out, feeder_out):
        with contextlib.suppress(OSError):
            os.close(descriptor)


@pytest.mark.parametrize(
    ("url", "dialect"),
    [("stdio:", Dialect.STDIO_LINES), ("stdio-arrays:", Dialect.STDIO_ARRAYS)],
)
def test_a_game_through_pipes(url, dialect):
    """Mortal's feeder hears a line exactly when it expects one, mjai.app's one per array."""

    async def check():
        async with asyncio.timeout(GUARD_S):
            with pipes() as (ours, theirs):
                feeder = Feeder(StdioTransport(*theirs), dialect, seat=2)
                feeding = asyncio.create_task(feeder.play())
                result = await play(settings(url, seat=2), fast_riichi("d"), ours)
                await feeding
                return result[0], feeder

    result, feeder = asyncio.run(check())
    assert result.seat == 2 and feeder.replies > 30
    if dialect is Dialect.STDIO_LINES:
        assert result.scores == tuple(feeder.referee.state["scores"].tolist())


def test_a_pipe_that_ends_between_two_games_ends_the_evening(own_turns):
    lines = [turn.line for turn in own_turns("lines.txt") if turn.by == "server"]

    async def check():
        async with asyncio.timeout(GUARD_S):
            with pipes() as (ours, theirs):
                os.write(theirs[1], b"\n".join(lines * 2) + b"\n")
                os.close(theirs[1])
                return await play(settings("stdio:", seat=2, games=0), fast_riichi("b"), ours)

    assert [result.scores for result in asyncio.run(check())] == [(25000, 19800, 30200, 25000)] * 2
