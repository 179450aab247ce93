"""How a client comes to a server: its name, refusals, pauses between attempts, proxies."""

import asyncio
from itertools import accumulate
from random import Random
from types import SimpleNamespace

import pytest

from mjbot.cli import play as command
from mjbot.play.client import play
from mjbot.play.client.conversation import OwnResult, ServerReportedError
from mjbot.play.client.play import Settings, play_by_connecting
from mjbot.play.client.tenhou import TenhouGame
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.protocol.transports.address import parse_address
from mjbot.protocol.transports.base import (
    ClosedError,
    HandshakeError,
    RefusedError,
    Transport,
    UnreachableError,
    VanishedError,
)
from mjbot.protocol.transports.memory import memory_pair
from mjbot.runtime.net.backoff import Backoff
from proof.leaping_time import in_leaping_time

HOST = "127.0.0.1"
GUARD_S = 60


def at_websocket(visit, token=None):
    async def main():
        async with asyncio.timeout(GUARD_S), TableServer(TableRules(seed=1)) as server:
            port = await server.open_websocket(HOST, 0, token)
            return await visit(server, f"ws://{HOST}:{port}")

    return asyncio.run(main())


def settings_of(url, name):
    return command._settings(command.PlayRequest(url=url, name=name))


@pytest.mark.parametrize(
    ("query", "given", "name"),
    [
        ("", "wsb & co", "wsb & co"),
        ("?name=own", "other", "own"),
        ("", None, "websocket"),
    ],
)
def test_the_name_of_a_websocket_player_is_the_one_that_was_given(query, given, name):
    async def visit(server, url):
        async with await play.connect(settings_of(f"{url}/ws{query}", given)):
            return [seat.name for seat in server.lobby.waiting]

    assert at_websocket(visit) == [name]


@pytest.mark.parametrize(
    ("path", "token", "cure"),
    [
        ("/ws", "wrong", r"HTTP 401: the token is missing or wrong$"),
        ("/ws", None, r"HTTP 401: the token is missing or wrong$"),
        ("/play", "right", r"HTTP 404: .* the path of mjbot serve is /ws$"),
    ],
)
def test_a_refusal_names_the_cure(path, token, cure):
    async def visit(server, url):
        with pytest.raises(RefusedError, match=cure):
            await play.connect(Settings(parse_address(url + path), token=token))

    at_websocket(visit, "right")


def test_attempts_to_connect_come_less_and_less_often(monkeypatch):
    attempts = []

    async def absent(settings):
        attempts.append(asyncio.get_running_loop().time())
        raise UnreachableError("no server")

    monkeypatch.setattr(play, "connect", absent)
    settings = Settings(parse_address("mjsonp://localhost:1/default"), wait_s=20)
    with pytest.raises(UnreachableError):
        in_leaping_time(play_by_connecting(settings, None, Random(1)))
    pauses = Backoff(0.2, 5.0, Random(1))
    until = list(accumulate([pauses.next_s() for _ in attempts[2:]]))
    assert attempts == pytest.approx([0, *until, 20])


@pytest.mark.parametrize("rejoining", [False, True])
@pytest.mark.parametrize(
    ("error", "is_final"),
    [
        (RefusedError("HTTP 401"), True),
        (ClosedError(1008, "no"), True),
        (ClosedError(4001, "no"), True),
        (ServerReportedError("no (closed with 4001)", before_game=True, is_final=True), True),
        (UnreachableError("absent"), False),
        (ClosedError(1012, ""), False),
        (ClosedError(1013, ""), False),
    ],
)
def test_what_does_not_get_better_is_not_waited_for(monkeypatch, error, is_final, rejoining):
    attempts, ends = [], [error] * 10**6

    async def failing(settings):
        attempts.append(settings)
        if rejoining and len(attempts) == 1:
            return memory_pair()[0]
        raise ends.pop()

    async def played(transport, session):
        return OwnResult(0, (), ())

    monkeypatch.setattr(play, "connect", failing)
    settings = Settings(parse_address("ws://localhost:1/ws"), wait_s=20, games=2)
    with pytest.raises(type(error)):
        in_leaping_time(play_by_connecting(settings, played, Random(1)))
    assert (len(attempts) == 1 + rejoining) is is_final


@pytest.mark.parametrize("kind", [HandshakeError, VanishedError])
@pytest.mark.parametrize("rejoining", [False, True])
def test_a_server_that_closes_connections_is_waited_for_between_games(monkeypatch, kind, rejoining):
    attempts = []

    async def failing(settings):
        attempts.append(settings)
        if rejoining and len(attempts) == 1:
            return memory_pair()[0]
        raise kind("closed")

    async def played(transport, session):
        return OwnResult(0, (), ())

    monkeypatch.setattr(play, "connect", failing)
    settings = Settings(parse_address("ws://localhost:1/ws"), wait_s=20, games=2)
    with pytest.raises(kind):
        in_leaping_time(play_by_connecting(settings, played, Random(1)))
    assert (len(attempts) > 2) is rejoining


def test_a_server_of_this_machine_is_reached_without_the_proxy_of_the_system(monkeypatch):
    for scheme in ("http", "https", "socks", "all"):
        monkeypatch.setenv(f"{scheme}_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)

    async def visit(server, url):
        async with await play.connect(Settings(parse_address(f"{url}/ws"))):
            return len(server.lobby.waiting)

    assert at_websocket(visit) == 1


class ClosingTransport(Transport):
    """A connection that its server closes with a code."""

    def __init__(self, code):
        self.code = code

    async def receive(self, timeout_s=None):
        raise ClosedError(self.code, "a reason")

    async def send(self, line):
        pass

    async def close(self):
        pass


@pytest.mark.parametrize(
    ("codes", "refused", "attempts"),
    [
        ([1008], None, 0),
        ([4001], None, 0),
        ([1012, 4001], None, 1),
        ([1013, 1000, 1008], None, 2),
        ([1012], RefusedError("HTTP 403"), 1),
    ],
)
def test_a_game_at_tenhou_is_returned_to_unless_the_server_refuses_us(codes, refused, attempts):
    """Also a refusal on the way back is not tried for a minute."""
    session = SimpleNamespace(
        open=tuple, reconnect=tuple, seat=1, stage="a game", keep_alive=lambda: b""
    )
    tried = []

    async def reconnect():
        tried.append(1)
        if refused is not None:
            raise refused
        return ClosingTransport(codes[len(tried)])

    game = TenhouGame(reconnect, session, None, silence_s=1.0, record=lambda event: None)
    with pytest.raises(ClosedError if refused is None else RefusedError):
        in_leaping_time(game.play(ClosingTransport(codes[0])))
    assert len(tried) == attempts
