"""Many connections to one endpoint, over real sockets: the others still get in, and return."""

import asyncio
import contextlib
import json
import logging

import aiohttp
import pytest

from mjbot.play.kept_games import KeptGames, Limits
from mjbot.play.server.accounts import Admission
from mjbot.play.server.lobby import CLOSED, TableRules
from mjbot.play.server.server import Bookkeeping, TableServer
from mjbot.play.server.tenhou_endpoint import LOBBY_S, LOGIN_S
from mjbot.protocol.tenhou import tags
from mjbot.protocol.tenhou.codec import Spelling, write
from mjbot.runtime.net.guests import (
    CROWDED,
    MOST_GUESTS,
    MOST_OF_ADDRESS,
    RESERVED,
    GuestLimits,
)
from mjbot.runtime.net.http import REQUEST_S
from mjbot.viewer.live import LiveServer
from proof.leaping_time import in_leaping_time

HOST = "127.0.0.1"
GUARD_S = 60
SOCKETS_S = 0.05
JOIN = b'{"type":"join","name":"last","room":"default"}\n'
HELO = b'<HELO name="x" sx="M" />\0'
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


async def idle(port, count, *, sent=b"", address=HOST):
    """Open connections from a loopback address that send this and then nothing."""
    ends = []
    for _ in range(count):
        ends.append(await asyncio.open_connection(HOST, port, local_addr=(address, 0)))
        ends[-1][1].write(sent)
    return ends


async def until_closed(ends, count):
    """Return once the server has closed so many of the connections; it must not close more."""
    tasks = [asyncio.create_task(read_all(reader)) for reader, _ in ends]
    open_ = set(tasks)
    while len(tasks) - len(open_) < count:
        _, open_ = await asyncio.wait(open_, return_when=asyncio.FIRST_COMPLETED)
    assert len(tasks) - len(open_) == count


async def read_all(reader):
    with contextlib.suppress(ConnectionError):
        return await reader.read()


def close(ends):
    for _, writer in ends:
        writer.transport.abort()


def at_a_table(scenario, **rules):
    async def main():
        async with asyncio.timeout(GUARD_S), TableServer(TableRules(seed=1, **rules)) as server:
            return await scenario(server)

    return asyncio.run(main())


def test_idle_tcp_connections_of_an_address_make_room_for_its_next_client():
    async def scenario(server):
        port = await server.open_tcp(HOST, 0)
        ends = await idle(port, 3 * MOST_OF_ADDRESS)
        last = await idle(port, 1, sent=JOIN)
        while not server.lobby.waiting:
            await asyncio.sleep(0)
        assert len(server.acceptor.guests) == MOST_OF_ADDRESS
        hello, refusal = (await ends[0][0].read()).splitlines()
        assert json.loads(hello)["type"] == "hello"
        assert json.loads(refusal) == {"type": "error", "message": CROWDED}
        close(ends + last)

    at_a_table(scenario)


def test_many_addresses_fill_an_endpoint_and_the_next_client_still_joins():
    async def scenario(server):
        port = await server.open_tcp(HOST, 0)
        ends = []
        for number in range(2, 8):
            ends += await idle(port, MOST_OF_ADDRESS, address=f"127.0.0.{number}")
        assert len(server.acceptor.guests) == MOST_GUESTS
        last = await idle(port, 1, sent=JOIN, address="127.0.0.9")
        while not server.lobby.waiting:
            await asyncio.sleep(0)
        assert len(server.acceptor.guests) == MOST_GUESTS
        close(ends + last)

    at_a_table(scenario)


def test_idle_tenhou_connections_make_room_and_log_ins_leave_the_reserved_places(caplog):
    async def scenario(server):
        port = await server.open_tenhou(HOST, 0)
        ends = await idle(port, MOST_GUESTS + 1)
        named = await idle(port, MOST_OF_ADDRESS, sent=HELO)
        answers = [await read_tag(reader) for reader, _ in named]
        assert [answer.startswith(b"<HELO") for answer in answers] == [
            *(MOST_OF_ADDRESS - RESERVED) * [True],
            *RESERVED * [False],
        ]
        close(ends + named)

    at_a_table(scenario)
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.getMessage().rpartition("cut off: ")[2] for record in warnings] == (
        RESERVED * [f"HELO: {CROWDED}"]
    )


async def read_tag(reader):
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        return await reader.readuntil(b"\0")
    return b""


@pytest.mark.parametrize("sent", [b"", b"GET /ws HTTP/1.1\r\nHost: x\r\n"])
@pytest.mark.parametrize("endpoint", ["websocket", "tenhou_websocket"])
def test_idle_http_connections_keep_no_player_out(endpoint, sent):
    async def scenario(server):
        port = await getattr(server, f"open_{endpoint}")(HOST, 0)
        ends = await idle(port, 3 * MOST_OF_ADDRESS, sent=sent)
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"http://{HOST}:{port}/ws") as line,
        ):
            if endpoint == "tenhou_websocket":
                await line.send_str('{"tag":"HELO","name":"x","sx":"M"}')
                assert (await line.receive_json())["tag"] == "HELO"
            else:
                assert len(server.lobby.waiting) == 1
            await until_closed(ends, 2 * MOST_OF_ADDRESS + 1)
        close(ends)

    at_a_table(scenario)


def test_websockets_that_never_log_in_keep_no_tenhou_client_out():
    async def scenario(server):
        port = await server.open_tenhou_websocket(HOST, 0)
        ends = await idle(port, 2 * MOST_OF_ADDRESS, sent=UPGRADE)
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"http://{HOST}:{port}/") as line,
        ):
            await line.send_str('{"tag":"HELO","name":"x","sx":"M"}')
            assert (await line.receive_json())["tag"] == "HELO"
        close(ends)

    at_a_table(scenario)


def test_more_idle_http_connections_than_files_leave_the_other_endpoints_open(caplog):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def scenario(server):
        web_port, port = await server.open_websocket(HOST, 0), await server.open_tcp(HOST, 0)
        # The clients live in this process, too: each connection is two files until it is closed.
        resource.setrlimit(resource.RLIMIT_NOFILE, (400, before[1]))
        ends = await idle(web_port, 250)
        last = await idle(port, 1, sent=JOIN)
        assert json.loads(await last[0][0].readline())["type"] == "hello"
        close(ends + last)

    try:
        at_a_table(scenario)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert "Traceback" not in caplog.text
    assert "out of system resource" not in caplog.text


@pytest.mark.parametrize("sent", [b"", b"GET /ws HTTP/1.1\r\nHost: x\r\n"])
def test_a_connection_without_a_request_is_closed_after_its_time(sent):
    async def main():
        async with TableServer(TableRules(seed=1)) as server:
            port = await server.open_websocket(HOST, 0)
            return await seconds_open(port, sent)

    assert in_leaping_time(main(), SOCKETS_S) == pytest.approx(REQUEST_S)


def test_the_clock_of_a_connection_starts_again_after_each_request():
    """One that keeps its connection open after a response is closed like one that asked nothing."""
    request = b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n"

    async def main():
        async with TableServer(TableRules(seed=1)) as server:
            port = await server.open_websocket(HOST, 0)
            loop = asyncio.get_running_loop()
            reader, writer = await asyncio.open_connection(HOST, port)
            writer.write(request)
            assert b"404" in await reader.readline()
            await asyncio.sleep(REQUEST_S / 2)
            writer.write(request)
            began = loop.time()
            received = await reader.read()
            assert b"404" in received
            writer.close()
            return loop.time() - began

    assert in_leaping_time(main(), SOCKETS_S) == pytest.approx(REQUEST_S)


def test_the_tenhou_endpoint_has_the_operators_limits():
    async def main():
        admission = Admission(limits=GuestLimits(most=7, of_address=2))
        async with TableServer(TableRules(seed=1), admission=admission) as server:
            port = await server.open_tenhou(HOST, 0)
            ends = [await asyncio.open_connection(HOST, port) for _ in range(3)]
            assert await ends[0][0].read() == b""  # closed to make room
            assert len(server.tenhou.guests) == 2
            for _, writer in ends:
                writer.close()

    asyncio.run(main())


async def seconds_open(port, sent):
    loop = asyncio.get_running_loop()
    began = loop.time()
    ends = await idle(port, 1, sent=sent)
    await read_all(ends[0][0])
    close(ends)
    return loop.time() - began


def test_a_page_closes_idle_connections_and_keeps_one_that_is_being_answered():
    async def main():
        async with LiveServer({"title": "table"}) as server:
            port = await server.open()
            url = f"http://{HOST}:{port}/api/live"
            async with aiohttp.ClientSession() as session, session.get(url) as answer:
                assert await seconds_open(port, b"") == pytest.approx(REQUEST_S)
                assert await seconds_open(port, b"GET / HTTP/1.1\r\n") == pytest.approx(REQUEST_S)
                while await answer.content.readline() != b": still there\n":
                    pass
                return server.spectators

    assert in_leaping_time(main(), SOCKETS_S) == 1


def test_spectators_leave_the_reserved_places_of_a_page():
    get = b"GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"

    async def main():
        async with asyncio.timeout(GUARD_S), LiveServer({"title": "table"}) as server:
            port = await server.open()
            ends = await idle(port, MOST_GUESTS, sent=get % port)
            answers = [await reader.readline() for reader, _ in ends]
            async with aiohttp.ClientSession() as session, session.get(server.url()) as page:
                assert page.status == 200
            close(ends)
            return [int(answer.split()[1]) for answer in answers]

    assert asyncio.run(main()) == [*(MOST_GUESTS - RESERVED) * [200], *RESERVED * [503]]


def test_a_tenhou_connection_has_a_time_for_its_log_in_and_for_its_wish():
    """Whatever else it sends: keep-alives do not count."""

    async def main():
        async with TableServer(TableRules(seed=1)) as server:
            port = await server.open_tenhou(HOST, 0)
            return [await alive(port, b""), await alive(port, HELO)]

    async def alive(port, sent):
        loop = asyncio.get_running_loop()
        ((reader, writer),) = await idle(port, 1, sent=sent)
        began = loop.time()
        task = asyncio.create_task(read_all(reader))
        while not task.done() and loop.time() < began + 2 * LOBBY_S:
            writer.write(write(tags.KeepAlive(), Spelling.XML))
            await asyncio.wait({task}, timeout=3)
        writer.transport.abort()
        return loop.time() - began

    login_s, lobby_s = in_leaping_time(main(), SOCKETS_S)
    assert login_s == pytest.approx(LOGIN_S, abs=0.1)
    assert lobby_s == pytest.approx(LOBBY_S, abs=0.1)


def test_who_never_joins_is_sent_away_and_bytes_win_no_time():
    async def main():
        async with TableServer(TableRules(seed=1)) as server:
            port = await server.open_tcp(HOST, 0)
            loop = asyncio.get_running_loop()
            ((reader, writer),) = await idle(port, 1)
            task = asyncio.create_task(read_all(reader))
            while not task.done() and loop.time() < 400:
                writer.write(b"x")
                await asyncio.wait({task}, timeout=7)
            writer.transport.abort()
            return task.result(), loop.time()

    words, took_s = in_leaping_time(main(), SOCKETS_S)
    assert json.loads(words.splitlines()[-1])["message"] == "No join within 60 sec."
    assert took_s == pytest.approx(60, abs=0.1)


def test_a_server_that_closes_when_a_signal_comes_closes_everything(tmp_path):
    async def main():
        bookkeeping = Bookkeeping(keep=Limits(most_games=1))
        async with TableServer(TableRules(seed=1), log_dir=tmp_path, bookkeeping=bookkeeping) as it:
            ends.extend(await idle(await it.open_tcp(HOST, 0), 1))
            await ends[0][0].readline()
            asyncio.get_running_loop().call_soon(asyncio.current_task().cancel)

    async def closed():
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(main())
        async with asyncio.timeout(GUARD_S):
            output = await ends[0][0].read()
        close(ends)
        return json.loads(output)["message"]

    ends = []
    assert asyncio.run(closed()) == CLOSED
    KeptGames(tmp_path, "serve ").close()  # of two ledgers the first would still be taken
    assert len(list(tmp_path.iterdir())) == 1


def test_a_client_that_comes_in_the_turn_in_which_the_server_closes_is_closed(monkeypatch):
    async def scenario(server):
        admit, closing = server.acceptor.admit, []

        def admit_before_it_closes(*streams):
            closing.append(asyncio.create_task(server.acceptor.close()))
            admit(*streams)

        monkeypatch.setattr(server.acceptor, "admit", admit_before_it_closes)
        ends = await idle(await server.open_tcp(HOST, 0), 1)
        output = await read_all(ends[0][0])
        close(ends)
        return output

    assert not at_a_table(scenario)


def test_a_closed_table_sends_each_player_away_with_the_reason():
    async def scenario(server):
        port, web_port = await server.open_tcp(HOST, 0), await server.open_websocket(HOST, 0)
        tenhou_port = await server.open_tenhou(HOST, 0)
        ((reader, _),) = joined = await idle(port, 1, sent=JOIN)
        greeted = await idle(port, 1)
        ((tenhou, _),) = guests = await idle(tenhou_port, 1, sent=HELO + b'<JOIN t="0,9" />\0')
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"http://{HOST}:{web_port}/ws") as line,
        ):
            while len(server.lobby.waiting) < 3:
                await asyncio.sleep(0)
            async with asyncio.TaskGroup() as group:
                group.create_task(server.drain())
                lines = [await end.read() for end in (reader, greeted[0][0])]
                assert await line.receive_json() == {"type": "error", "message": CLOSED}
                assert (await line.receive()).data == aiohttp.WSCloseCode.GOING_AWAY
                assert (await tenhou.read()).endswith(b"/>\0")
        for output in lines:
            assert json.loads(output.splitlines()[-1]) == {"type": "error", "message": CLOSED}
        for closed in (port, web_port):
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(HOST, closed)
        late = await idle(tenhou_port, 1, sent=HELO)  # only players who return may come
        assert await late[0][0].read() == b""
        close(joined + greeted + guests + late)
        return [result async for result in server.play(1)]

    assert at_a_table(scenario) == []


def test_a_player_returns_to_its_seat_though_its_address_is_full(raw_client):
    async def scenario(server):
        port, mjai_port = await server.open_tenhou(HOST, 0), await server.open_tcp(HOST, 0)
        games = server.play(1)
        playing = [asyncio.create_task(raw_client().play(mjai_port)) for _ in range(3)]
        playing.append(asyncio.create_task(anext(games)))
        ((reader, _),) = player = await idle(port, 1, sent=HELO + b'<JOIN t="0,1" />\0')
        gpid = b""
        while not gpid:
            _, _, gpid = (await reader.readuntil(b"\0")).partition(b' gpid="')
        named = await idle(port, 2 * MOST_OF_ADDRESS, sent=HELO)
        answers = [await read_tag(end) for end, _ in named]
        assert len([answer for answer in answers if answer]) == MOST_OF_ADDRESS - RESERVED - 1
        close(player)
        helo = b'<HELO name="x" gpid="%s" sx="M" />\0' % gpid.partition(b'"')[0]
        ((reader, _),) = again = await idle(port, 1, sent=helo)
        report = [await read_tag(reader) for _ in range(3)]
        assert [tag[:4] for tag in report] == [b"<GO ", b"<UN ", b"<SAI"]
        close(named + again)
        for task in playing:
            task.cancel()
        await asyncio.wait(playing)

    at_a_table(scenario, rules="tonpu")
