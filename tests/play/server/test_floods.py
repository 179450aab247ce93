"""Players that say far more than they are asked, or read nothing: the other three play on."""

import asyncio
import contextlib
import json
import socket
from dataclasses import replace

import aiohttp
import pytest

from mjbot.play.server import websocket
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.play.server.tcp import Acceptor
from mjbot.protocol.sessions.request_server import TimeLimits

GUARD_S = 300
HANDSHAKE = (
    b"GET /ws?name=flood HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
JOIN = b'{"type":"join","name":"flood","room":"default"}\n'
RULES = TableRules(
    seed=5,
    rules="tonpu",
    timeout_s=GUARD_S,
    on_fault=OnFault.DEFAULT,
    limits=TimeLimits(50, 0),
)


def beside(flood, raw_client, rules=RULES, received=None):
    """Play a game of three and ``flood(server, port, web_port)``; return result and players.

    The three join once ``received`` is set, if there is such an event.
    """

    async def main():
        async with asyncio.timeout(GUARD_S), TableServer(rules) as server:
            ports = (
                await server.open_tcp("127.0.0.1", 0),
                await server.open_websocket("127.0.0.1", 0),
            )
            flooding = asyncio.create_task(flood(server, *ports))
            if received:
                await received.wait()
            three = [raw_client(name=f"bot{n}") for n in range(3)]
            playing = [asyncio.create_task(client.play(ports[0])) for client in three]
            (result,) = [result async for result in server.play(1)]
            await asyncio.gather(*playing)
            flooding.cancel()
            await asyncio.wait({flooding})
            return result, three

    return asyncio.run(main())


def assert_three_have_played(result, three):
    assert not result.void
    for client in three:
        assert client.received[-1]["type"] == "end_game"
    culprits = {result.names[fault.seat] for fault in result.faults}
    assert culprits <= {"flood"}


async def tcp_deluge(server, port, web_port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await reader.readline()
    writer.write(JOIN)
    await reader.readline()  # start_game; from now on nothing is read
    with contextlib.suppress(ConnectionError):
        for _ in range(2000):
            writer.write(b'{"type":"none"}\n' * 50)
            await writer.drain()
    await asyncio.Event().wait()


async def web_deluge(server, port, web_port):
    url = f"http://127.0.0.1:{web_port}/ws?name=flood"
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as line:
        await line.receive()  # start_game
        with contextlib.suppress(ConnectionError):
            for _ in range(100_000):
                await line.send_str('{"type":"none","request_id":7777}')
        await asyncio.Event().wait()


async def web_statue(server, port, web_port):
    """Comes in, and then neither reads nor says anything."""
    _reader, writer = await asyncio.open_connection("127.0.0.1", web_port)
    writer.write(HANDSHAKE)
    await asyncio.Event().wait()


async def web_miser(server, port, web_port):
    """Reads nothing, over a connection that holds next to nothing."""
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        line.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(line, ("127.0.0.1", web_port))
        await loop.sock_sendall(line, HANDSHAKE)
        while not server.lobby.waiting:
            await asyncio.sleep(0)
        (seat,) = server.lobby.waiting
        theirs = seat.socket.get_extra_info("socket")
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        server.is_ready.set()
        await asyncio.Event().wait()


async def tcp_statue(server, port, web_port):
    """Reads nothing, over a line that holds next to nothing; its own limit is short."""
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
        for kind in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, kind, 1)
    ends = await asyncio.open_unix_connection(sock=ours)
    ends[1].transport.set_write_buffer_limits(high=0)
    acceptor = Acceptor(server.lobby, replace(RULES, timeout_s=0.5))
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(theirs, JOIN)
    with theirs:
        acceptor.admit(*ends)
        await asyncio.Event().wait()


@pytest.mark.parametrize("flood", [tcp_deluge, web_deluge, web_statue, tcp_statue])
def test_the_other_three_finish_their_game(flood, raw_client):
    assert_three_have_played(*beside(flood, raw_client))


def test_who_does_not_read_is_cut_off_by_what_waits_for_it(raw_client, monkeypatch, caplog):
    monkeypatch.setattr(websocket, "MOST_UNREAD", 4096)
    caplog.set_level("WARNING")
    ready = asyncio.Event()

    async def flood(server, port, web_port):
        server.is_ready = ready
        await web_miser(server, port, web_port)

    assert_three_have_played(*beside(flood, raw_client, received=ready))
    assert "flood (seat 2 in game 1) is cut off: it does not read" in caplog.text


@pytest.mark.parametrize(
    ("frame", "frames"), [("{}", websocket.MOST_FRAMES + 1), ("x" * 400_000, 3)]
)
def test_who_floods_the_lobby_is_cut_off_with_a_reason_and_frees_the_place(frame, frames):
    async def main():
        async with asyncio.timeout(GUARD_S), TableServer(RULES) as server:
            url = f"http://127.0.0.1:{await server.open_websocket('127.0.0.1', 0)}/ws"
            async with aiohttp.ClientSession() as session, session.ws_connect(url) as line:
                for _ in range(frames):
                    await line.send_str(frame)
                message = await line.receive()
                assert message.type is aiohttp.WSMsgType.CLOSE
                assert message.data == aiohttp.WSCloseCode.POLICY_VIOLATION
                assert message.extra == "more was sent than asked for"
            async with aiohttp.ClientSession() as session:  # all four places are free again
                four = [await session.ws_connect(url) for _ in range(4)]
                assert len(server.lobby.waiting) == 4
                for line in four:
                    await line.close()

    asyncio.run(main())


def test_a_few_words_too_many_are_forgiven(raw_client):
    received = asyncio.Event()

    async def chatty(server, port, web_port):
        url = f"http://127.0.0.1:{web_port}/ws?name=flood"
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(url, autoping=False) as line,
        ):
            for _ in range(websocket.MOST_FRAMES):
                await line.send_str("{}")
            await line.ping()
            assert (await line.receive()).type is aiohttp.WSMsgType.PONG
            received.set()
            async for frame in line:
                output = json.loads(frame.data)
                if output["type"] == "request_action":
                    offers = [one for one in output["possible_actions"] if one["type"] != "hora"]
                    reply = {**offers[0], "request_id": output["request_id"]}
                    await line.send_str(json.dumps(reply))

    rules = replace(RULES, limits=TimeLimits(GUARD_S * 1000, 0))
    result, three = beside(chatty, raw_client, rules, received)
    assert_three_have_played(result, three)
    assert not result.faults
