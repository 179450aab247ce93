"""The proxy that breaks conversations: what it does to bytes, and what our programs make of it."""

import asyncio

import pytest

from mjbot.play.chaos import BREAKING, HARMLESS, Chaos, ChaosProxy
from mjbot.play.client.play import Settings, play
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.protocol.sessions.request_server import TimeLimits
from mjbot.protocol.transports.address import parse_address
from mjbot.strategy.registry import make_strategy

GUARD_S = 300
SAID = bytes(range(256)) * 40


def echoed(chaos, output=SAID):
    """Say something to a server that sends it back; return what comes, and the faults."""

    async def echo(reader, writer):
        while data := await reader.read(1 << 16):
            writer.write(data)
        writer.close()

    async def talk():
        async with asyncio.timeout(GUARD_S):
            echoing = await asyncio.start_server(echo, "127.0.0.1", 0)
            async with ChaosProxy(chaos, *echoing.sockets[0].getsockname()) as proxy:
                reader, writer = await asyncio.open_connection("127.0.0.1", await proxy.open())
                writer.write(output)
                writer.write_eof()
                try:
                    received = await reader.read()
                except ConnectionError:
                    received = None
                writer.close()
            echoing.close()
            return received, proxy.faults

    return asyncio.run(talk())


def test_what_is_harmless_loses_nothing():
    received, faults = echoed(Chaos(faults=HARMLESS, every=500.0, longest_delay_s=0.001))
    assert received == SAID
    assert {fault.kind for fault in faults} == set(HARMLESS)


@pytest.mark.parametrize(
    ("kind", "holds"),
    [
        ("stall", lambda received: received == SAID),
        ("corrupt", lambda received: len(received) == len(SAID) and received != SAID),
        ("duplicate", lambda received: len(received) > len(SAID)),
        ("half-close", lambda received: received is not None and len(received) < len(SAID)),
        ("cut", lambda received: received is None or len(received) < len(SAID)),
    ],
)
def test_each_fault_does_what_it_is_called(kind, holds):
    received, faults = echoed(Chaos(faults=(kind,), break_every=3_000.0, stall_s=0.01))
    assert {fault.kind for fault in faults} == {kind} and holds(received)


def test_faults_come_by_the_seed_and_only_after_the_calm():
    def drawn(seed):
        _, faults = echoed(Chaos(seed=seed, calm=4_000, break_every=2_000.0, stall_s=0.0))
        return sorted(str(fault) for fault in faults), faults

    report, faults = drawn(5)
    assert report == drawn(5)[0] != drawn(6)[0]
    assert all(fault.bytes >= 4_000 for fault in faults if fault.kind in BREAKING)


def played(chaos, timeout_s, doors="twtw"):
    """Play a game in which every client is behind a proxy."""

    async def game():
        rules = TableRules(
            seed=3,
            rules="tonpu",
            timeout_s=timeout_s,
            limits=TimeLimits(int(1000 * timeout_s), 0),
            on_fault=OnFault.DEFAULT,
        )
        async with asyncio.timeout(GUARD_S), TableServer(rules) as table:
            urls = {
                "t": ("mjsonp", await table.open_tcp("127.0.0.1", 0), "default"),
                "w": ("ws", await table.open_websocket("127.0.0.1", 0), "ws"),
            }
            proxies, tasks = [], []
            for place, door in enumerate(doors):
                scheme, port, path = urls[door]
                own = Chaos(**chaos, seed=place)
                proxy = ChaosProxy(own, "127.0.0.1", port)
                proxies.append(proxy)
                address = parse_address(f"{scheme}://127.0.0.1:{await proxy.open()}/{path}")
                settings = Settings(address, name=f"bot{place}", silence_s=30.0)
                tasks.append(
                    asyncio.create_task(play(settings, lambda _: make_strategy("tsumogiri")))
                )
            (result,) = [result async for result in table.play(1)]
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            for proxy in proxies:
                await proxy.__aexit__()
            return result, ends

    return asyncio.run(game())


def test_what_is_harmless_costs_nobody_a_fault(short_games):
    result, ends = played({"faults": HARMLESS, "every": 3_000.0, "longest_delay_s": 0.002}, GUARD_S)
    assert not result.void and not result.faults
    assert [end.scores for (end,) in ends] == [result.scores] * 4


def test_whatever_breaks_the_game_is_played_to_its_end_and_names_its_faults(short_games):
    result, ends = played({"break_every": 5_000.0, "calm": 1_000, "stall_s": 0.1}, 1.0)
    assert not result.void and sum(result.scores) == 100_000
    assert any(isinstance(end, Exception) for end in ends)
