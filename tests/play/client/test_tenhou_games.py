"""Whole games over real sockets at a table that speaks Tenhou's wire, cut off and back again."""

import asyncio
import contextlib
import logging
import random
import re

import pytest
from websockets.asyncio.server import serve

from mjbot.cli.main import main
from mjbot.game.records.mjai_log import read_mjai_log
from mjbot.game.referee import Referee
from mjbot.game.table.mirror.mirror import Mirror, TableError
from mjbot.play.client.play import Settings, play
from mjbot.play.server.core import SeatReply, TableCore
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.messages import EndGame
from mjbot.protocol.tenhou.codec import Spelling
from mjbot.protocol.tenhou.login import Login, TableType
from mjbot.protocol.tenhou.server import LogIn, RequestTable, TenhouServer
from mjbot.protocol.tenhou.table import SeatTable
from mjbot.protocol.transports.address import parse_address
from mjbot.runtime.errors import ExitCode
from mjbot.strategy.registry import make_strategy
from tests.protocol.tenhou.face_to_face import NAMES, Player, by_strategy

GUARD_S = 300


class OneSeat:
    """A table at which seat 0 comes over a socket and three play in memory.

    ``cuts`` are the numbers of things said to seat 0 before which its connection is cut;
    ``spoil`` changes what is sent to it.  The next of the words that ``loses`` names is cut off
    with the connection.
    """

    def __init__(self, spelling, cuts=(), spoil=lambda frame: frame, seed=3, loses=()):
        self.spelling, self.cuts, self.spoil, self.loses = spelling, cuts, spoil, [*loses]
        self.seat = SeatTable(0, rules=1, gpid="guest")
        self.rest = [
            Player(seat, Spelling.XML, by_strategy(seed + seat), random.Random(seat))
            for seat in (1, 2, 3)
        ]
        self.core = TableCore(Referee(seed, "tonpu"), NAMES)
        self.server, self.send, self.cut = None, None, None
        self.logins, self.report = [], 0
        self.changed, self.here = asyncio.Event(), asyncio.Event()

    async def talk(self, pieces, send, cut):
        """Serve one connection."""
        server = TenhouServer(self.spelling)
        with contextlib.suppress(ConnectionError):
            async for piece in pieces:
                received = server.receive(piece)
                if self.is_lost(received.frames):
                    return
                await send(received.frames)
                for wish in received.wishes:
                    await self.grant(server, wish, send, cut)
                self.changed.set()

    def is_lost(self, frames):
        if not self.loses or self.loses[0] not in b"".join(frames):
            return False
        self.loses.pop(0)
        self.here.clear()
        self.cut()
        self.changed.set()
        return True

    async def grant(self, server, wish, send, cut):
        if isinstance(wish, LogIn):
            self.logins.append(wish)
            if wish.gpid != "guest":
                await send(server.welcome(wish.name))
                return
            await send(server.sit_again(self.seat))
        elif isinstance(wish, RequestTable):
            assert wish.table_type == TableType(7, 1)
            server.sit(self.seat)
        else:
            return
        self.server, self.send, self.cut = server, send, cut
        self.here.set()

    async def play(self):
        while (outgoing := self.core.next()) is not None:
            remote = outgoing.seat == 0
            answer = (
                await self.exchange(outgoing)
                if remote
                else self.rest[outgoing.seat - 1].exchange(outgoing)
            )
            if not outgoing.is_final:
                self.core.answer(answer)
        return tuple(self.core.referee.state["scores"].tolist())

    async def exchange(self, outgoing):
        self.report += 1
        if self.report in self.cuts:
            self.here.clear()
            self.cut()
        await self.here.wait()
        frames = self.server.send(outgoing.message, outgoing.offers())
        if not self.is_lost(frames):
            await self.send([self.spoil(frame) for frame in frames])
        while self.seat.held or self.seat.asked:
            self.changed.clear()
            await self.changed.wait()
        return SeatReply(reply=(output := self.seat.take_answer()), excused=output is None)


async def over_tcp(table, stack):
    async def admit(reader, writer):
        async def pieces():
            while data := await reader.read(1 << 16):
                yield data

        async def send(frames):
            writer.write(b"".join(frames))
            await writer.drain()

        try:
            await table.talk(pieces(), send, writer.transport.abort)
        finally:
            writer.close()  # from Python 3.12.1 on the server waits for that

    server = await stack.enter_async_context(await asyncio.start_server(admit, "127.0.0.1", 0))
    return f"tenhou://127.0.0.1:{server.sockets[0].getsockname()[1]}/7?type=1"


async def over_websocket(table, stack):
    async def admit(socket):
        async def pieces():
            async for frame in socket:
                yield frame.encode()

        async def send(frames):
            for frame in frames:
                await socket.send(frame.decode())

        await table.talk(pieces(), send, socket.transport.abort)

    server = await stack.enter_async_context(serve(admit, "127.0.0.1", 0))
    return f"tenhou+ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/7?type=1"


def play_at(table, open_door, **options):
    async def check():
        async with asyncio.timeout(GUARD_S), contextlib.AsyncExitStack() as stack:
            seat = table()
            url = await open_door(seat, stack)
            settings = Settings(parse_address(url), **options)
            game = asyncio.create_task(seat.play())
            try:
                (ours,) = await play(settings, lambda game: make_strategy("fast-riichi-c"))
                return seat, ours, await game
            finally:
                game.cancel()

    return asyncio.run(check())


@pytest.mark.parametrize(
    ("open_door", "spelling"), [(over_tcp, Spelling.XML), (over_websocket, Spelling.JSON)]
)
def test_our_client_plays_a_game_and_tells_its_account_to_the_server_alone(
    open_door, spelling, tmp_path, caplog
):
    log, secret = tmp_path / "game.mjson", Login("ID0A1B2C3D-6f7e8d9c")
    with caplog.at_level(logging.DEBUG):
        seat, ours, scores = play_at(lambda: OneSeat(spelling), open_door, log=log, login=secret)
    assert [login.name for login in seat.logins] == [secret.name]
    report = [
        record.getMessage() for record in caplog.records if record.name != "websockets.server"
    ]
    assert report
    assert secret.name not in "".join(report) + repr(
        Settings(parse_address("stdio:"), login=secret)
    )
    assert ours.scores == scores
    assert ours.names == NAMES
    assert seat.core.faults == []
    with log.open("rb") as stream:
        (game,) = read_mjai_log(stream, "log")
        events = [entry.event for entry in game.entries]
    mirror = Mirror(0)
    for event in events:
        mirror.apply(event)
    assert events[-1] == EndGame(scores=scores)


@pytest.mark.parametrize(
    ("open_door", "spelling"), [(over_tcp, Spelling.XML), (over_websocket, Spelling.JSON)]
)
def test_a_connection_that_is_cut_is_taken_up_again_in_the_same_hand(open_door, spelling):
    cuts = (20, 30, 61, 62, 90, 140, 222, 301)
    seat, ours, scores = play_at(lambda: OneSeat(spelling, cuts), open_door)
    assert ours.scores == scores
    assert len(seat.logins) == 1 + sum(cut <= seat.report for cut in cuts)
    assert {login.gpid for login in seat.logins[1:]} == {"guest"}


def test_a_deal_that_was_lost_with_the_connection_is_played_from_its_snapshot():
    deal = b'<INIT seed="1,'
    seat, ours, scores = play_at(lambda: OneSeat(Spelling.XML, loses=[deal]), over_tcp)
    assert ours.scores == scores
    assert len(seat.logins) == 2


def test_a_result_that_was_lost_with_the_connection_is_heard_again():
    seat, ours, scores = play_at(lambda: OneSeat(Spelling.XML, loses=[b"<PROF "]), over_tcp)
    assert ours.scores == scores
    assert len(seat.logins) == 2


@pytest.mark.parametrize(
    ("spoil", "error", "problem"),
    [
        (lambda frame: frame.replace(b"<V/>", b"<V5/>"), ProtocolError, "V5: only the own draw"),
        (lambda frame: frame.replace(b"<V/>", b"<VV/>"), TableError, "may not discard now"),
    ],
)
def test_a_server_that_contradicts_the_table_is_named(spoil, error, problem):
    with pytest.raises(error) as caught:
        play_at(lambda: OneSeat(Spelling.XML, spoil=spoil), over_tcp)
    assert problem in str(caught.value)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("offer", "spoiled", "problem"),
    [
        (b' t="4"', b' t="5"', "the server offers PON|CHI, expected CHI"),
        (b' t="1"', b' t="9"', "the server offers PON|RON, expected PON"),
    ],
)
def test_an_offer_that_is_not_ours_is_logged_and_the_game_goes_on(
    offer, spoiled, problem, strict, caplog
):
    def spoil(frame):
        return frame.replace(offer, spoiled)

    with caplog.at_level(logging.WARNING):
        _, ours, scores = play_at(
            lambda: OneSeat(Spelling.XML, spoil=spoil), over_tcp, strict=strict
        )
    assert ours.scores == scores
    assert problem in caplog.text


def test_a_tag_that_comes_twice_or_is_unknown_changes_nothing():
    kinds = rb"<(?:[T-W]|[D-G]|[d-g])\d*[ /][^>]*>|<(?:N|REACH|DORA) [^>]*>"
    tag = rb"(?:" + kinds + rb")\0"

    def spoil(frame):
        return re.sub(tag, rb'\g<0><NEW a="1"/>\0\g<0>', frame)

    _, ours, scores = play_at(lambda: OneSeat(Spelling.XML, spoil=spoil), over_tcp)
    assert ours.scores == scores


# --- fair play ---------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["file", "variable"])
def test_a_permission_is_shown_once_and_an_account_never(by, tmp_path, monkeypatch, capfd):
    secret = "ID0A1B2C3D-6f7e8d9c"
    file = tmp_path / "account"
    file.write_text(f"{secret}\n")
    if by == "variable":
        monkeypatch.setenv("MJBOT_TENHOU_ACCOUNT", secret)
    account = ["--account-file", str(file)] if by == "file" else []

    async def hang_up(reader, writer):
        logins.append(await reader.readuntil(b"\0"))
        writer.write(b'<HELO uname="a" x="' + logins[0].split(b'"')[1] + b'"/>\0<INIT/>\0')
        await writer.drain()
        writer.close()

    async def check():
        async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
            url = f"tenhou://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
            words = ["--permitted-by", "the operator,\nfor a"]
            call = ["play", url, "--verbose", *words, *account]
            return call, await asyncio.to_thread(main, call)

    logins = []
    call, status = asyncio.run(check())
    assert status == ExitCode.PROTOCOL_FAULT
    assert secret.encode() in logins[0]
    report = "".join(capfd.readouterr())
    assert report.count("permitted by: the operator, for a") == 1
    assert "INIT" in report
    assert secret not in report + " ".join(call)


def test_an_account_in_a_url_is_not_repeated(capsys):
    assert main(["play", "tenhou://ID12345678@localhost:10080/0"]) == 2
    report = capsys.readouterr().err
    assert "an account has no place in a URL" in report
    assert "12345678" not in report


@pytest.mark.parametrize("command", [["duo"], ["play", "--pair", "host:4711"]])
def test_no_pair_plays_at_a_tenhou_server_elsewhere(command, capsys):
    url = "tenhou://game.example:10080/0"
    permitted = ["--permitted-by", "somebody"] if command[0] == "play" else []
    assert main([*command, url, "--team-table", url, *permitted]) == 2
    assert "live servers rate single players" in capsys.readouterr().err
