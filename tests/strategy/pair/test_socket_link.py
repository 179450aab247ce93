"""The channel over real sockets: joined, cut, joined again, slow."""

import asyncio
import contextlib
import logging
import socket
import stat
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from mjbot.play.match.pair import private_channel
from mjbot.protocol.transports.tcp import TcpTransport
from mjbot.runtime.net.backoff import Backoff
from mjbot.runtime.system import HAS_UNIX_SOCKETS
from mjbot.strategy.pair import socket_link
from mjbot.strategy.pair.link import memory_links
from mjbot.strategy.pair.messages import SharedHand
from mjbot.strategy.pair.session import PairSession, Side
from mjbot.strategy.pair.socket_link import (
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    ChannelAddress,
    SocketLink,
)

SECRET = b"secret"
DEEP = b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b',"type":"proof"}'
LIMIT_S = 300.0


def holding(turn: int) -> SharedHand:
    return SharedHand(game="g", kyoku=0, honba=0, turn=turn, seat=1, hand=("1m",) * 13)


def turn_is(turn: int) -> Callable[[SharedHand], bool]:
    return lambda output: output.turn == turn


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(params=["unix", "tcp"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> ChannelAddress:
    if request.param == "unix":
        if not HAS_UNIX_SOCKETS:
            pytest.skip("no Unix domain sockets here")
        return tmp_path / "pair"
    return free_port()


@contextlib.asynccontextmanager
async def running(*links: SocketLink) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(link.run()) for link in links]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not condition():
            await asyncio.sleep(0)


async def received(link: SocketLink, turn: int) -> None:
    await until(lambda: link.newest(turn_is(turn)) is not None)


def pair(address: ChannelAddress) -> tuple[SocketLink, SocketLink]:
    return SocketLink(Side.HOST, address, SECRET), SocketLink(Side.GUEST, address, SECRET)


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def listening(serve: Serve, address: ChannelAddress) -> asyncio.Server:
    if isinstance(address, int):
        return await asyncio.start_server(serve, "127.0.0.1", address)
    return await asyncio.start_unix_server(serve, address)


async def connected(guest: SocketLink) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return a connection to the host once it listens."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            with contextlib.suppress(OSError):
                return await guest._connect()
            await asyncio.sleep(0)


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    """Return what is logged as a warning, and worse."""
    output: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: output.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("mjbot").addHandler(handler)
    yield output
    logging.getLogger("mjbot").removeHandler(handler)


def test_what_one_says_the_other_hears(address):
    async def talk() -> None:
        host, guest = pair(address)
        async with running(host, guest):
            await until(lambda: host.linked and guest.linked)
            host.send(holding(1))
            guest.send(holding(2))
            await received(guest, 1)
            await received(host, 2)
            host.send(holding(3))
            await received(guest, 3)
            assert guest.newest(turn_is(1)) is None

    asyncio.run(talk())


def test_a_word_of_the_game_before_is_never_believed(address):
    async def talk() -> None:
        host, guest = pair(address)
        async with running(host, guest):
            for game in range(2):
                host.start_game()
                assert host.newest(turn_is(1)) is None  # neither what was heard before
                guest.start_game()
                if game == 1:
                    guest.send(msgspec.structs.replace(holding(1), honba=7))
                await until(lambda: host.linked and guest._their_game == host._own_game.game)
                if game == 1:  # nor what was said before our game was known
                    await until(lambda: host._newest is not None and host._newest.honba == 7)
                    assert host.newest(turn_is(1)) is None
                guest.send(holding(1))
                await received(host, 1)

    asyncio.run(talk())


def test_a_word_said_while_the_channel_was_cut_is_heard_when_it_is_back(address):
    async def talk() -> None:
        host, guest = pair(address)
        async with running(host):
            host.start_game()
            guest.start_game()
            async with running(guest):
                await until(lambda: guest._their_game == host._own_game.game)
            guest.send(holding(3))
            async with running(guest):
                await received(host, 3)

    asyncio.run(talk())


@pytest.mark.parametrize("lost", [Side.HOST, Side.GUEST])
def test_a_partner_that_died_is_missed_and_joins_again(address, lost):
    async def talk() -> None:
        links = dict(zip((Side.HOST, Side.GUEST), pair(address), strict=True))
        stays, dies, reborn = links[lost.other], links[lost], SocketLink(lost, address, SECRET)
        async with running(stays):
            stays.start_game()
            dies.start_game()
            async with running(dies):
                await until(lambda: dies._their_game == stays._own_game.game)
                dies.send(holding(1))
                await received(stays, 1)
            await until(lambda: not stays.linked)
            assert stays.newest(turn_is(1)) is None  # what a dead partner said is forgotten
            stays.send(holding(2))
            reborn.start_game()
            async with running(reborn):
                await until(lambda: reborn._newest == msgspec.structs.replace(
                    holding(2), answers=dies._own_game.game
                ))  # fmt: skip
                assert reborn.newest(turn_is(2)) is None  # said to the one that died
                await until(lambda: stays._their_game == reborn._own_game.game)
                stays.send(holding(3))
                await received(reborn, 3)
                reborn.send(holding(4))
                await received(stays, 4)

    asyncio.run(talk())


@pytest.mark.parametrize("ends", [Side.HOST, Side.GUEST])
def test_who_ends_misses_nobody_and_is_missed(address, ends, warnings):
    async def talk() -> None:
        links = dict(zip((Side.HOST, Side.GUEST), pair(address), strict=True))
        async with running(links[ends.other]):
            async with running(links[ends]):
                await until(lambda: all(link.linked for link in links.values()))
            await until(lambda: not links[ends.other].linked)
            assert not links[ends].linked

    asyncio.run(talk())
    (warning,) = warnings
    assert "the partner is gone; playing alone" in warning


def test_another_secret_is_said_once_and_knocked_with_ever_more_rarely(address, warnings):
    asked: list[float] = []

    class Longest(Random):
        def uniform(self, a: float, b: float) -> float:
            return b

    class NoPauses(Backoff):
        def next_s(self) -> float:
            asked.append(super().next_s())
            return 0.0

    async def talk() -> None:
        host, guest = pair(address)
        pauses = NoPauses(FIRST_PAUSE_S, LONGEST_PAUSE_S, Longest())
        unknown_peer = SocketLink(Side.GUEST, address, b"guess", pauses)
        async with running(host):
            async with running(unknown_peer):
                await until(lambda: LONGEST_PAUSE_S in asked)
            assert not host.linked
            async with running(guest):
                await until(lambda: host.linked and guest.linked)

    asyncio.run(talk())
    first = asked.index(2 * FIRST_PAUSE_S) - 1
    assert asked[first : first + 6] == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2, 5.0])
    report = [text for text in warnings if "both need the same one" in text]
    assert len(report) == 2  # the host and the stranger
    assert len(warnings) <= 3  # and the guest or the host that the other has gone first


def test_a_stranger_hears_nothing_and_disturbs_nobody(address):
    async def talk() -> None:
        host, guest = pair(address)
        unknown_peer = SocketLink(Side.GUEST, address, b"guess")
        async with running(host, guest):
            await until(lambda: host.linked and guest.linked)
            host.send(holding(1))
            async with running(unknown_peer):
                connection = TcpTransport(*await unknown_peer._connect())
                async with connection:
                    await connection.receive()
                    await connection.send(b"nonsense")
                    with contextlib.suppress(ConnectionError):
                        while True:
                            assert b"holding" not in await connection.receive(LIMIT_S)
            await received(guest, 1)
            assert not unknown_peer.linked
            host.send(holding(2))
            await received(guest, 2)

    asyncio.run(talk())


@pytest.mark.skipif(not HAS_UNIX_SOCKETS, reason="no Unix domain sockets here")
def test_only_this_user_may_open_the_socket(tmp_path):
    async def talk() -> None:
        host, guest = pair(tmp_path / "pair")
        async with running(host, guest):
            await until(lambda: host.linked)
            assert stat.S_IMODE((tmp_path / "pair").stat().st_mode) == 0o600

    asyncio.run(talk())
    with private_channel() as channel:
        assert isinstance(channel.address, int) or (
            stat.S_IMODE(channel.address.parent.stat().st_mode) == 0o700
        )


@pytest.mark.parametrize("side", [Side.HOST, Side.GUEST])
def test_what_is_nested_too_deeply_ends_neither_side(address, side):
    async def talk() -> None:
        greeted, broken = asyncio.Event(), []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: broken.append(context))

        async def nest(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(DEEP + b"\n")
            while await reader.read(1 << 16):
                pass
            writer.close()
            greeted.set()

        links = dict(zip((Side.HOST, Side.GUEST), pair(address), strict=True))
        async with running(links[side]):
            if side is Side.HOST:
                await nest(*await connected(links[Side.GUEST]))
                await until(lambda: not links[side]._conversations)
            else:
                unknown_peer = await listening(nest, address)
                await asyncio.wait_for(greeted.wait(), LIMIT_S)
                unknown_peer.close()
                if isinstance(address, Path):
                    address.unlink(missing_ok=True)
            async with running(links[side.other]):
                await until(lambda: all(link.linked for link in links.values()))
        assert broken == []

    asyncio.run(talk())


def test_a_partner_that_comes_twice_is_heard_on_its_new_connection(address):
    async def talk() -> None:
        host = SocketLink(Side.HOST, address, SECRET)
        old = SocketLink(Side.GUEST, address, SECRET)
        async with running(host):
            await until(lambda: isinstance(address, int) or address.exists())
            async with running(old):
                await until(lambda: host.linked and old.linked)
                session = PairSession(Side.GUEST, SECRET)
                async with TcpTransport(*await old._connect()) as connection:
                    await connection.send(session.opening)
                    while not session.linked:
                        answer = session.receive(await connection.receive(LIMIT_S))
                        if answer is not None:
                            await connection.send(answer)
                    await connection.send(session.send(holding(7)))
                    await received(host, 7)

    asyncio.run(talk())


def test_a_silent_partner_is_waited_for_once():
    link = SocketLink(Side.HOST, 1, SECRET)
    link._linked = True
    waits: list[float] = []
    wait = link._changed.wait

    def plural(timeout: float) -> bool:
        waits.append(timeout)
        return wait(timeout)

    link._changed.wait = plural
    for _ in range(5):
        assert link.newest(turn_is(1)) is None
    assert link.waits == 1
    assert len(waits) <= 1  # none where the time is over before it is waited for
    assert all(wait_s <= 0.008 for wait_s in waits)


def test_a_word_that_comes_while_one_waits_is_heard(monkeypatch):
    monkeypatch.setattr(socket_link, "PATIENCE_MS", 1000 * LIMIT_S)
    link = SocketLink(Side.HOST, 1, SECRET)
    link._linked = True
    wait = link._changed.wait

    def spoken_to(timeout: float) -> bool:
        threading.Thread(target=link._receive, args=(holding(4),)).start()
        return wait(LIMIT_S)

    link._changed.wait = spoken_to
    assert link.newest(turn_is(4)) == holding(4)


def test_without_a_partner_nothing_is_waited_for():
    link = SocketLink(Side.GUEST, 1, SECRET)
    link._changed.wait = pytest.fail
    assert link.newest(turn_is(1)) is None
    link.send(holding(1))


def test_in_memory_the_same_words_pass():
    one, other = memory_links()
    one.send(holding(1))
    assert other.newest(turn_is(1)) == holding(1)
    assert other.newest(turn_is(2)) is None
    assert one.newest(turn_is(1)) is None
    one.cut()
    assert other.newest(turn_is(1)) is None
    one.send(holding(2))
    assert other.newest(turn_is(2)) is None
    one.connect(other)
    other.send(holding(3))
    assert one.newest(turn_is(3)) == holding(3)


def test_a_peer_that_never_shows_who_it_is_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float | None] = []
    receive = TcpTransport.receive

    async def noted(self: TcpTransport, timeout_s: float | None = None) -> bytes:
        waited.append(timeout_s)
        return await receive(self, None if timeout_s is None else 0.0)

    monkeypatch.setattr(TcpTransport, "receive", noted)

    async def main() -> None:
        port = free_port()
        async with running(SocketLink(Side.HOST, port, SECRET)):
            while True:
                try:
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                    break
                except OSError:
                    await asyncio.sleep(0)
            async with asyncio.timeout(LIMIT_S):
                while not waited:
                    await asyncio.sleep(0)
                assert waited == [socket_link.HANDSHAKE_S]
                await reader.read()  # to the end, which comes without a word of ours
            writer.close()

    asyncio.run(main())
    assert waited == [socket_link.HANDSHAKE_S]
