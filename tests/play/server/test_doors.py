"""How players come in, and who is turned away."""

import asyncio
import contextlib
import json

import pytest

from mjbot.play.server import tenhou_endpoint, tenhou_seat
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.protocol.tenhou.codec import Spelling
from mjbot.protocol.transports.base import VanishedError
from mjbot.protocol.transports.memory import MemoryTransport, memory_pair

GUARD_S = 300
HELLO = {"type": "hello", "protocol": "mjsonp", "protocol_version": 3}


async def first_words(port, *lines, close=False):
    """Say the lines after hello; return everything that comes back until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    assert json.loads(await reader.readline()) == HELLO
    writer.write(b"".join(lines))
    if close:
        writer.write_eof()
    received = await reader.read()
    writer.close()
    return [json.loads(line) for line in received.splitlines()]


def at_a_table(scenario, **rules):
    async def main():
        async with (
            asyncio.timeout(GUARD_S),
            TableServer(TableRules(**{"seed": 1, **rules})) as server,
        ):
            port = await server.open_tcp("127.0.0.1", 0)
            return await scenario(server, port)

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"type":"join","name":"x","room":"nope"}\n', "No such room. Available room: default"),
        (b'{"type":"join","name":"x"}\n', "Expected e.g. "),
        (b'{"type":"join","name":"","room":"default"}\n', "Expected e.g. "),
        (b'{"type":"none"}\n', "Expected e.g. "),
        (b"[]\n", "Expected e.g. "),
        (b"{oops\n", "JSON syntax error: "),
        (b"\xff\xfe\n", "JSON syntax error: "),
        (b"[" * 5000 + b"\n", "JSON syntax error: "),
    ],
)
def test_a_bad_join_gets_one_error_and_the_door(line, words):
    async def scenario(server, port):
        (refusal,) = await first_words(port, line)
        assert refusal["type"] == "error"
        assert refusal["message"].startswith(words)
        # The table is none the worse: the next one is greeted.
        assert (await first_words(port, b"[]\n"))[0]["type"] == "error"

    at_a_table(scenario)


@pytest.mark.parametrize(("letters", "joins"), [(64, True), (65, False), (1_000_000, False)])
def test_a_name_has_a_length(letters, joins):
    async def scenario(server, port):
        name = "x" * letters
        join = json.dumps({"type": "join", "name": name, "room": "default"}).encode() + b"\n"
        speaks = b'{"type":"none"}\n' if joins else b""  # so that a seated one is sent away, too
        (refusal,) = await first_words(port, join, speaks)
        report = "Nothing may be sent" if joins else "The name is longer than 64 characters."
        assert refusal["message"].startswith(report)

    at_a_table(scenario)


def test_an_endless_line_is_cut_off():
    async def scenario(server, port):
        # Closing on unread data resets the connection, so the error line may be lost.
        with contextlib.suppress(ConnectionError):
            (refusal,) = await first_words(port, b"y" * (3 << 20))
            assert refusal["message"].startswith("line: longer than the limit")
        assert (await first_words(port, b"[]\n"))[0]["type"] == "error"

    at_a_table(scenario)


def test_a_join_cut_off_is_no_join():
    async def scenario(server, port):
        await first_words(port, b'{"type":"join","na', close=True)
        assert server.lobby.waiting == []

    at_a_table(scenario)


def test_who_never_joins_is_sent_away():
    async def scenario(server, port):
        (refusal,) = await first_words(port)
        assert refusal["message"] == "No join within 0.05 sec."

    at_a_table(scenario, join_timeout_s=0.05)


def test_speaking_before_the_game_is_a_fault():
    async def scenario(server, port):
        join = b'{"type":"join","name":"x","room":"default"}\n'
        (refusal,) = await first_words(port, join, b'{"type":"none"}\n')
        assert refusal["message"] == "Nothing may be sent before start_game."
        assert server.lobby.waiting == []

    at_a_table(scenario)


def test_who_leaves_before_the_game_frees_the_place():
    async def scenario(server, port):
        join = b'{"type":"join","name":"x","room":"default"}\n'
        for _ in range(6):
            await first_words(port, join, close=True)
        assert not server.lobby.is_busy("default")

    at_a_table(scenario)


def test_a_fifth_player_finds_the_room_busy(raw_client, default_policy):
    refusals = []
    hold = asyncio.Event()

    async def scenario(server, port):
        async def fifth():
            await hold.wait()
            join = b'{"type":"join","name":"x5","room":"default"}\n'
            refusals.extend(await first_words(port, join))

        def policy(event, seat):
            if event["type"] == "start_game":
                hold.set()
            return default_policy(event, seat)

        late = asyncio.create_task(fifth())
        players = [asyncio.create_task(raw_client(policy).play(port)) for _ in range(4)]
        results = [result async for result in server.play(1)]
        await asyncio.gather(late, *players)
        assert not results[0].void

    at_a_table(scenario, rules="tonpu")
    assert [refusal["message"] for refusal in refusals] == [
        "The room is busy. Retry after a while."
    ]


def test_a_match_gives_every_player_a_room_of_its_own(raw_client):
    rooms = {f"player-{n}": (n,) for n in range(4)}

    async def main():
        rules = TableRules(seed=3, rules="tonpu", fixed_seats=True)
        async with asyncio.timeout(GUARD_S), TableServer(rules, rooms) as server:
            port = await server.open_tcp("127.0.0.1", 0)
            clients = [raw_client(name=f"bot{n}", room=f"player-{n}") for n in (2, 0, 3, 1)]
            tasks = [asyncio.create_task(client.play(port)) for client in clients]
            results = [result async for result in server.play(1)]
            await asyncio.gather(*tasks)
            return results[0]

    assert asyncio.run(main()).names == ("bot0", "bot1", "bot2", "bot3")


@pytest.mark.parametrize("words", ["is not read", "no HELO within 0 s"])
def test_a_tenhou_client_that_neither_reads_nor_speaks_is_cut_off(monkeypatch, caplog, words):
    class Stuck(MemoryTransport):
        async def send(self, line):
            await asyncio.Event().wait()

    if "HELO" in words:
        monkeypatch.setattr(tenhou_endpoint, "LOGIN_S", 0.0)
    monkeypatch.setattr(tenhou_seat, "FINAL_MESSAGE_TIMEOUT_S", 0.0)

    async def main():
        async with asyncio.timeout(GUARD_S), TableServer(TableRules(seed=1)) as server:
            line = Stuck(asyncio.Queue(), asyncio.Queue())
            if "read" in words:
                connection = tenhou_seat.TenhouConnection(line, Spelling.XML)
                connection.send((b"<Z/>\0",) * tenhou_seat.MOST_FRAMES)
                assert not caplog.messages
                connection.send((b"<Z/>\0",) * 2)
                await connection.close()
            else:
                await asyncio.wait({server.tenhou.begin(line, Spelling.XML)})

    asyncio.run(main())
    (message,) = caplog.messages
    assert message.endswith(words)


def test_a_tenhou_client_that_comes_as_the_server_closes_is_disconnected():
    async def main():
        line, far = memory_pair()
        async with asyncio.timeout(GUARD_S), TableServer(TableRules(seed=1)) as server:
            server.tenhou.begin(far, Spelling.XML)
            await server.tenhou.close()
            with pytest.raises(VanishedError):
                await line.receive()

    asyncio.run(main())
