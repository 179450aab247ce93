"""Real pipes and sockets on this machine; the same talk over each of them."""

import ast
import asyncio
import contextlib
import os
import socket
from pathlib import Path

import pytest
from websockets.asyncio.server import serve

from mjbot.play.chaos import Chaos, ChaosProxy
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.framing import MAX_LINE_BYTES
from mjbot.protocol.transports.base import SilenceError, UnreachableError, VanishedError
from mjbot.protocol.transports.memory import memory_pair
from mjbot.protocol.transports.stdio import MOST_LINES, StdioTransport
from mjbot.protocol.transports.tcp import TcpTransport, connect_tcp
from mjbot.protocol.transports.websocket import WebSocketTransport, connect_websocket

GUARD_S = 300
LINES = [b'{"type":"none"}', '{"type":"join","name":"é東","room":"r"}'.encode(), b"[]"]
TOO_LONG = b"x" * (MAX_LINE_BYTES + 1)


class RawTcp:
    """The other end of a TCP connection, as bytes."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def say(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def hear(self):
        return (await self.reader.readline()).removesuffix(b"\n")

    async def close(self):
        self.writer.close()


@contextlib.asynccontextmanager
async def tcp():
    accepted = asyncio.Queue()
    server = await asyncio.start_server(lambda *ends: accepted.put_nowait(ends), "127.0.0.1", 0)
    async with server:
        transport = await connect_tcp("127.0.0.1", server.sockets[0].getsockname()[1])
        other = RawTcp(*await accepted.get())
        async with transport:
            yield transport, other
        await other.close()


class RawPipes:
    def __init__(self, fd_in, fd_out):
        self.fd_in, self.fd_out = fd_in, fd_out

    async def say(self, data):
        await asyncio.to_thread(self._write_all, data)

    def _write_all(self, data):
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self.fd_out, data) :]

    async def hear(self):
        return (await asyncio.to_thread(os.read, self.fd_in, 1 << 16)).removesuffix(b"\n")

    async def close(self):
        if self.fd_out >= 0:
            os.close(self.fd_out)
            os.close(self.fd_in)
            self.fd_out = -1


@contextlib.asynccontextmanager
async def stdio():
    to_us, from_us = os.pipe(), os.pipe()
    other = RawPipes(from_us[0], to_us[1])
    transport = StdioTransport(to_us[0], from_us[1])
    try:
        yield transport, other
    finally:
        await other.close()
        with contextlib.suppress(VanishedError, ProtocolError):
            while True:
                await transport.receive()
        os.close(to_us[0])
        os.close(from_us[1])


class RawMemory:
    def __init__(self, end):
        self.end = end

    async def say(self, data):
        for line in data.splitlines():
            await self.end.send(line)

    async def hear(self):
        return await self.end.receive()

    async def close(self):
        await self.end.close()


@contextlib.asynccontextmanager
async def memory():
    ours, theirs = memory_pair()
    async with ours:
        yield ours, RawMemory(theirs)


class RawWebSocket:
    def __init__(self, connection):
        self.connection = connection

    async def say(self, data):
        for line in data.splitlines():
            await self.connection.send(line.decode())

    async def hear(self):
        return (await self.connection.recv()).encode()

    async def close(self):
        await self.connection.close()


@contextlib.asynccontextmanager
async def websocket(token=None):
    accepted = asyncio.Queue()

    async def handle(connection):
        accepted.put_nowait(connection)
        await connection.wait_closed()

    async with serve(handle, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        transport = await connect_websocket(f"ws://127.0.0.1:{port}/ws", token, use_proxy=False)
        async with transport:
            yield transport, RawWebSocket(await accepted.get())


KINDS = pytest.mark.parametrize("kind", [tcp, stdio, memory, websocket])
STREAMS = pytest.mark.parametrize("kind", [tcp, stdio])


def talk(coroutine):
    async def guarded():
        async with asyncio.timeout(GUARD_S):
            await coroutine

    asyncio.run(guarded())


@KINDS
def test_lines_travel_both_ways(kind):
    async def check():
        async with kind() as (transport, other):
            await other.say(b"\n".join(LINES) + b"\n")
            assert [await transport.receive(GUARD_S) for _ in LINES] == LINES
            for line in LINES:
                await transport.send(line)
                assert await other.hear() == line

    talk(check())


@KINDS
def test_the_end_is_told_and_told_again(kind):
    async def check():
        async with kind() as (transport, other):
            await other.say(LINES[0] + b"\n")
            await other.close()
            assert await transport.receive(GUARD_S) == LINES[0]
            for _ in range(2):
                with pytest.raises(VanishedError, match="closed"):
                    await transport.receive(GUARD_S)

    talk(check())


@KINDS
def test_silence_is_told_and_nothing_is_lost_by_it(kind):
    async def check():
        async with kind() as (transport, other):
            with pytest.raises(SilenceError, match=r"0\.01 s"):
                await transport.receive(0.01)
            await other.say(LINES[0] + b"\n")
            assert await transport.receive(GUARD_S) == LINES[0]

    talk(check())


@KINDS
def test_an_endless_line_is_refused(kind):
    async def check():
        async with kind() as (transport, other):
            saying = asyncio.create_task(other.say(TOO_LONG + b"\n"))
            with pytest.raises(ProtocolError, match="line: longer than the limit"):
                await transport.receive(GUARD_S)
            saying.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await saying

    talk(check())


# --- being told to stop ----------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
ARRIVALS = {
    tcp: lambda transport, line: transport._reader.feed_data(line + b"\n"),
    stdio: lambda transport, line: transport._queue.put_nowait(line),
    memory: lambda transport, line: transport._inbox.put_nowait(line),
}


@pytest.mark.parametrize("kind", ARRIVALS)
def test_a_line_that_comes_at_the_same_time_hides_no_cancellation(kind):
    """A player's line and Ctrl-C in the same turn of the loop: 3.11's ``wait_for`` forgets one."""

    async def check():
        async with kind() as (transport, _):
            for turns in range(1, 6):
                receiving = asyncio.create_task(transport.receive(60))
                for _ in range(turns):
                    await asyncio.sleep(0)
                ARRIVALS[kind](transport, LINES[0])
                receiving.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await receiving
                assert await transport.receive(GUARD_S) == LINES[0]  # and the line is not lost

    talk(check())


def test_a_connection_made_at_the_same_time_hides_no_cancellation():
    """Cancelled after one turn of the loop, after two, until the connection is there before."""

    async def check():
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        for turns in [*range(60)] * 3:
            connecting = asyncio.create_task(connect_tcp("127.0.0.1", port))
            for _ in range(turns):
                await asyncio.sleep(0)
            if not connecting.done():
                connecting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await connecting
            else:
                await connecting.result().close()
        server.close()

    talk(check())


@pytest.mark.parametrize("room", ["protocol", "mjbot", "strategies", "proof", "bench"])
def test_nothing_waits_in_a_way_that_may_lose_a_cancellation(room):
    for file in (ROOT / room).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = getattr(node, "attr", None) or getattr(node, "name", None)
            assert name != "wait_for", f"{file}: use asyncio.timeout"


@STREAMS
def test_a_stream_may_be_cut_anywhere(kind):
    async def check():
        async with kind() as (transport, other):
            stream = b"\n".join(LINES) + b"\r\n"
            for piece in stream:
                await other.say(bytes([piece]))
            assert [await transport.receive(GUARD_S) for _ in LINES] == LINES

    talk(check())


@STREAMS
def test_a_stream_that_ends_within_a_line_is_named(kind):
    async def check():
        async with kind() as (transport, other):
            await other.say(LINES[0] + b'\n{"type":"da')
            await other.close()
            assert await transport.receive(GUARD_S) == LINES[0]
            with pytest.raises(ProtocolError, match="cut off"):
                await transport.receive(GUARD_S)

    talk(check())


@pytest.mark.parametrize("kind", [tcp, memory, websocket])
def test_nothing_can_be_sent_once_closed(kind):
    async def check():
        async with kind() as (transport, _):
            await transport.close()
            await transport.close()
            with pytest.raises(VanishedError):
                for _ in range(3):
                    await transport.send(LINES[0])

    talk(check())


def test_output_that_nobody_reads_any_more_is_told():
    async def check():
        to_us, from_us = os.pipe(), os.pipe()
        transport = StdioTransport(to_us[0], from_us[1])
        os.close(from_us[0])
        with pytest.raises(VanishedError, match="standard output is closed"):
            await transport.send(LINES[0])
        os.close(to_us[1])
        with pytest.raises(VanishedError):
            await transport.receive(GUARD_S)

    talk(check())


def test_standard_input_is_read_only_as_far_as_lines_are_received(tmp_path):
    """A whole record piped in does not end up in memory."""
    recorded = tmp_path / "lines"
    recorded.write_bytes(b"[]\n" * 50_000)

    async def check():
        with recorded.open("rb") as lines:
            transport = StdioTransport(lines.fileno(), 1)
            for _ in range(50_000):
                assert await transport.receive(GUARD_S) == b"[]"
                assert transport._queue.qsize() <= MOST_LINES

    talk(check())


def test_standard_input_may_be_a_plain_file(tmp_path):
    recorded = tmp_path / "lines"
    recorded.write_bytes(b"\n".join(LINES) + b"\n")

    async def check():
        with recorded.open("rb") as lines, (tmp_path / "out").open("wb") as out:
            transport = StdioTransport(lines.fileno(), out.fileno())
            assert [await transport.receive(GUARD_S) for _ in LINES] == LINES
            with pytest.raises(VanishedError):
                await transport.receive(GUARD_S)

    talk(check())


# --- nobody there ----------------------------------------------------------------------------


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_refused_tcp_connection_names_the_address():
    port = free_port()
    with pytest.raises(UnreachableError, match=rf"^127\.0\.0\.1:{port}: .*[Rr]efused"):
        asyncio.run(connect_tcp("127.0.0.1", port))


def test_a_refused_websocket_names_the_address():
    url = f"ws://127.0.0.1:{free_port()}/ws"
    with pytest.raises(UnreachableError, match=f"^{url}: "):
        asyncio.run(connect_websocket(url, use_proxy=False))


@pytest.mark.parametrize("host", ["a..b", "x" * 70])
def test_a_host_that_does_not_exist_is_named(host):
    with pytest.raises(UnreachableError, match=f"^{host}:1: "):
        asyncio.run(connect_tcp(host, 1))


def test_a_tcp_server_that_speaks_no_websocket_is_named():
    async def check():
        async def rude(reader, writer):
            await reader.readline()
            writer.write(b"what?\n")
            writer.close()

        async with await asyncio.start_server(rude, "127.0.0.1", 0) as server:
            url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            with pytest.raises(UnreachableError, match=f"^{url}: "):
                await connect_websocket(url, use_proxy=False)

    talk(check())


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_websocket_server_that_sends_us_elsewhere_is_not_obeyed(status):
    async def check():
        visits = []

        async def elsewhere(connection):
            visits.append(connection.request.path)

        def redirect(connection, _request):
            response = connection.respond(status, "")
            response.headers["Location"] = there
            return response

        async with serve(elsewhere, "127.0.0.1", 0) as end:
            there = f"ws://localhost:{end.sockets[0].getsockname()[1]}/ranked"
            async with serve(elsewhere, "127.0.0.1", 0, process_request=redirect) as start:
                url = f"ws://127.0.0.1:{start.sockets[0].getsockname()[1]}/ws"
                with pytest.raises(UnreachableError, match=f"^{url}: .*'{there}'.*not follow"):
                    await connect_websocket(url, "token", use_proxy=False)
        assert visits == []

    talk(check())


def test_the_bearer_token_is_sent():
    async def check():
        async with websocket("secret") as (_, other):
            assert other.connection.request.headers["Authorization"] == "Bearer secret"
        async with websocket() as (_, other):
            assert "Authorization" not in other.connection.request.headers

    talk(check())


def test_binary_frames_are_passed_over():
    async def check():
        async with websocket() as (transport, other):
            await other.connection.send(b"\x00\x01")
            await other.say(LINES[0])
            assert isinstance(transport, WebSocketTransport)
            assert await transport.receive(GUARD_S) == LINES[0]

    talk(check())


def test_an_accepted_connection_is_a_transport_too():
    async def check():
        served = asyncio.Queue()

        async def serve_one(reader, writer):
            async with TcpTransport(reader, writer) as there:
                served.put_nowait(await there.receive(GUARD_S))

        async with await asyncio.start_server(serve_one, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with await connect_tcp("127.0.0.1", port) as here:
                await here.send(LINES[1])
                assert await served.get() == LINES[1]

    talk(check())


@pytest.fixture
def no_localhost(monkeypatch):
    """Replace the resolver by one that fails, as a hosts file may map ``localhost`` elsewhere."""

    def resolve(host, *_, **__):
        raise socket.gaierror(f"{host} was looked up")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def test_localhost_is_this_machine_whatever_a_resolver_answers_over_tcp(no_localhost):
    async def talk():
        accepted = asyncio.Queue()
        server = await asyncio.start_server(lambda *ends: accepted.put_nowait(ends), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            for connect in (connect_tcp, through_chaos):
                async with await connect("localhost", port) as transport:
                    other = RawTcp(*await accepted.get())
                    await other.say(b"hello\n")
                    assert await transport.receive(GUARD_S) == b"hello"
                    await other.close()

    async def through_chaos(host, port):
        proxy = await closers.enter_async_context(ChaosProxy(Chaos(seed=0, faults=()), host, port))
        return await connect_tcp("127.0.0.1", await proxy.open())

    async def main():
        async with closers:
            await talk()

    closers = contextlib.AsyncExitStack()
    asyncio.run(main())


def test_localhost_is_this_machine_whatever_a_resolver_answers_over_websockets(no_localhost):
    async def talk():
        async def greet(connection):
            await connection.send(connection.request.headers["Host"])

        async with serve(greet, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            url = f"ws://localhost:{port}/ws"
            async with await connect_websocket(url, use_proxy=False) as transport:
                assert await transport.receive(GUARD_S) == f"localhost:{port}".encode()

    asyncio.run(talk())
