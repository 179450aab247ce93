"""Several tables behind the same endpoints: rooms, queues, pairings, accounts, limits."""

import asyncio
import dataclasses
import hashlib
import json
import socket
import urllib.error
import urllib.request
from collections import Counter
from urllib.parse import quote

import pytest

from mjbot.game.records.replay import ReplaySummary, replay
from mjbot.game.records.sources import games_of, list_sources
from mjbot.play.client.play import Settings, connect, play
from mjbot.play.server.accounts import Accounts, Admission
from mjbot.play.server.entrance import Entrance, WaitingLimits
from mjbot.play.server.hall import NO_TABLE, WAITING_PER_TABLE, Hall
from mjbot.play.server.lobby import PLACES, BusyError, Lobby, TableRules
from mjbot.play.server.server import TableServer
from mjbot.play.server.tables import SEEDS_OF_TABLE, Tables
from mjbot.play.server.tables_page import tables_server
from mjbot.protocol.transports.address import parse_address
from mjbot.protocol.transports.base import RefusedError, UnreachableError
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.net.guests import Guest, GuestLimits
from mjbot.strategy.registry import make_strategy
from proof.leaping_time import in_leaping_time
from tests.play.server.conftest import WaitingSeat

HOST = "127.0.0.1"
GUARD_S = 240


def seated(hall):
    return {room: [lobby.names for lobby in lobbies] for room, lobbies in hall.tables.items()}


async def settled():
    for _ in range(20):
        await asyncio.sleep(0)


def join(hall, names, room="a"):
    players = [WaitingSeat(name) for name in names]
    for player in players:
        hall.take(room, player)
    return players


async def with_hall(hall, visit):
    seating = asyncio.create_task(hall.seat_players())
    try:
        return await visit()
    finally:
        seating.cancel()
        await asyncio.gather(seating, return_exceptions=True)


def test_the_queue_fills_tables_in_the_order_of_joining():
    hall = Hall({"a": 2, "b": 1})

    async def visit():
        join(hall, "1234567")
        await settled()
        assert seated(hall) == {"a": [["1", "2", "3", "4"], []], "b": [[]]}
        join(hall, "89")
        await settled()
        assert seated(hall)["a"] == [["1", "2", "3", "4"], ["5", "6", "7", "8"]]
        assert hall.queue_length("a") == 1
        join(hall, "wxyz", "b")
        await settled()
        assert seated(hall)["b"] == [["w", "x", "y", "z"]]

    asyncio.run(with_hall(hall, visit))


def test_a_place_that_is_left_is_filled_before_another_table():
    hall = Hall({"a": 2})

    async def visit():
        players = join(hall, "1234")
        await settled()
        assert hall.leave(players[1])
        join(hall, "5")
        await settled()
        assert sorted(seated(hall)["a"][0]) == ["1", "3", "4", "5"]
        queued = join(hall, "67")
        await settled()
        assert hall.leave(queued[0])
        assert [seat.name for seat in hall.waiting if seat.name in "67"] == ["7"]

    asyncio.run(with_hall(hall, visit))


def test_a_full_queue_and_a_closed_hall_refuse():
    hall = Hall({"a": 1})
    join(hall, "x" * WAITING_PER_TABLE)
    with pytest.raises(BusyError, match="busy"):
        join(hall, "y")
    assert len(hall.close()) == WAITING_PER_TABLE
    with pytest.raises(BusyError, match="closed"):
        join(hall, "y")


@pytest.mark.parametrize(("pairing", "most"), [("first-come", 21), ("rotate", 8)])
def test_rotation_lets_everybody_meet_everybody(pairing, most):
    """Eight players at two tables for 21 rounds: of 36 meetings at most, 7 would each get 9."""
    hall, met = Hall({"a": 2}, pairing, gather_s=1.0), Counter()
    hall._meetings._lots.seed(1)
    names = "12345678"

    async def visit():
        for _ in range(21):
            join(hall, names)
            await asyncio.sleep(3)
            for lobby in hall.tables["a"]:
                assert lobby.missing == 0 and len(set(lobby.names)) == 4
                met.update(frozenset((a, b)) for a in lobby.names for b in lobby.names if a < b)
                lobby.reopen()

    in_leaping_time(with_hall(hall, visit))
    counts = [met[frozenset((a, b))] for a in names for b in names if a < b]
    assert sum(counts) == 21 * 12
    if pairing == "first-come":
        assert sorted(set(counts)) == [0, most]
    else:
        assert 9 - 1 <= min(counts) <= max(counts) <= 9 + 1


# --- who may wait --------------------------------------------------------------------------------


def at(address, name="x"):
    """A player of an address."""
    player = WaitingSeat(name)
    player.guest = Guest(address, address)
    return player


def test_one_address_fills_no_queue_whatever_its_names():
    hall = Hall({"a": 1})
    for number in range(PLACES):
        hall.take("a", at("10.0.0.1", f"n{number}"))
    with pytest.raises(BusyError, match="of your address"):
        hall.take("a", at("10.0.0.1", "another"))
    hall.take("a", at("10.0.0.2"))
    assert hall.queue_length("a") == PLACES + 1


def test_the_limit_of_an_address_is_the_operator_s():
    hall = Hall({"a": 2}, entrance=Entrance(WaitingLimits(of_address=1)))
    hall.take("a", at("10.0.0.1"))
    with pytest.raises(BusyError, match="of your address"):
        hall.take("a", at("10.0.0.1"))


def test_waiting_has_an_end():
    told = []

    class Waiting(WaitingSeat):
        async def dismiss(self, reason):
            told.append((self.name, asyncio.get_running_loop().time(), reason))

    async def main():
        time = asyncio.get_running_loop().time
        hall = Hall({"a": 1}, entrance=Entrance(WaitingLimits(wait_s=100.0), time))
        lobby = Lobby({"a": (0, 1, 2, 3)}, Entrance(WaitingLimits(wait_s=100.0), time))
        gathering = asyncio.create_task(lobby.gather())

        async def visit():
            for place in (hall, lobby):
                place.take("a", Waiting("first"))
            await asyncio.sleep(60)
            for place in (hall, lobby):
                place.take("a", Waiting("second"))
            await asyncio.sleep(50)
            assert [seat.name for seat in hall.waiting] == ["second"]
            assert [seat.name for seat in lobby.waiting] == ["second"]

        await with_hall(hall, visit)
        gathering.cancel()
        await asyncio.gather(gathering, return_exceptions=True)

    in_leaping_time(main())
    assert told == [("first", 100.0, "No game began within 100 s.")] * 2


def test_who_makes_games_void_waits_longer_each_time_and_nobody_else():
    now = [0.0]
    entrance = Entrance(WaitingLimits(pause_s=30.0), lambda: now[0])
    bad = at("10.0.0.1", "Bad")
    assert entrance.pause(bad) == 30.0
    assert "Retry in 30 s." in entrance.refusal(at("10.0.0.1", "bad "), (), 4)
    assert entrance.refusal(at("10.0.0.2", "Bad"), (), 4) == ""
    assert entrance.refusal(at("10.0.0.1", "good"), (), 4) == ""
    now[0] = 31.0
    assert entrance.refusal(bad, (), 4) == ""
    assert entrance.pause(bad) == 60.0
    now[0] = 1000.0
    assert entrance.pause(bad) == 30.0


def test_an_account_that_makes_a_game_void_waits_at_every_address():
    entrance = Entrance(WaitingLimits())
    first, second = at("10.0.0.1", "ann"), at("10.0.0.2", "ann")
    first.is_account = second.is_account = True
    entrance.pause(first)
    assert "Retry in" in entrance.refusal(second, (), 4)


def test_a_peer_that_is_gone_without_a_word_is_noticed_by_the_system():
    async def main():
        async with TableServer(TableRules(seed=1)) as server:
            port = await server.open_tcp(HOST, 0)
            reader, writer = await asyncio.open_connection(HOST, port)
            await reader.readline()
            writer.write(b'{"type":"join","name":"x","room":"default"}\n')
            while not server.lobby.waiting:
                await asyncio.sleep(0)
            (seat,) = server.lobby.waiting
            theirs = seat._transport._writer.get_extra_info("socket")
            assert theirs.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            writer.close()

    asyncio.run(main())


def test_players_that_wait_for_a_room_whose_tables_close_are_sent_away():
    """The fifth waits while four sit at the table that closes."""
    told = []

    class Waiting(WaitingSeat):
        async def dismiss(self, reason):
            told.append(reason)

    hall = Hall({"a": 1, "b": 1})

    async def visit():
        join(hall, "1234")
        await settled()
        hall.take("a", Waiting("5"))
        hall.tables["a"][0].shut("no room")
        await settled()
        assert told == [NO_TABLE] and hall.queue_length("a") == 0
        assert hall.is_busy("a") and not hall.is_busy("b")
        hall.tables["a"][0].open_again()
        assert not hall.is_busy("a")

    asyncio.run(with_hall(hall, visit))


# --- accounts ------------------------------------------------------------------------------------


def digest(token):
    return hashlib.sha256(token.encode()).hexdigest()


def accounts_file(tmp_path, text):
    path = tmp_path / "accounts"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no accounts; write a line NAME SHA-256 for each"),
        ("ann", "line 1: expected NAME and the SHA-256 of the token"),
        ("# x\nann secret", "line 2: expected NAME and the SHA-256 of the token"),
        (f"ann {digest('a')} x", "line 1: expected NAME and the SHA-256"),
        (f"ann {digest('a')}\nann {digest('b')}", "line 2: a name and a token stand once"),
        (f"ann {digest('a')}\nbob {digest('a')}", "line 2: a name and a token stand once"),
        (f"{'x' * 500} {digest('a')}", "line 1: expected a printable name of at most"),
    ],
)
def test_a_bad_file_of_accounts_names_the_line(tmp_path, text, problem):
    with pytest.raises(ArgumentError, match=problem) as refused:
        Accounts.read(accounts_file(tmp_path, text))
    assert "secret" not in str(refused.value)


def test_an_account_is_known_by_its_token_and_connected_once(tmp_path):
    text = f"ann {digest('alpha')}  # a comment\n\nbob {digest('beta').upper()}\n"
    accounts = Accounts.read(accounts_file(tmp_path, text))
    assert accounts.name_of("Bearer alpha") == "ann"
    assert accounts.name_of("Bearer beta") == "bob"
    for header in (
        "",
        "alpha",
        "Bearer",
        "Bearer gamma",
        f"Bearer {digest('alpha')}",
        "Basic beta",
    ):
        assert accounts.name_of(header) is None
    assert accounts.connect("ann") and not accounts.connect("ann")
    accounts.leave("ann")
    assert accounts.connect("ann")
    assert "bob" in accounts and "eve" not in accounts


def test_players_with_accounts_have_its_name_and_one_connection(tmp_path):
    accounts = Accounts({"ann": digest("alpha"), "bob": digest("beta")})
    tables = Tables(TableRules(seed=1), Hall({"a": 1, "b": 1}), Admission(accounts=accounts))

    async def main():
        async with asyncio.timeout(GUARD_S), tables.front as server:
            port = await server.open_websocket(HOST, 0)
            lines = await server.open_tcp(HOST, 0)

            def visitor(token, path="/ws", name="eve"):
                url = f"ws://{HOST}:{port}{path}?name={name}"
                return Settings(parse_address(url), token=token)

            async with await connect(visitor("alpha")):
                async with await connect(visitor("beta", "/ws/b")):
                    assert [seat.name for seat in tables.hall.waiting] == ["ann", "bob"]
                    assert (tables.hall.queue_length("a"), tables.hall.queue_length("b")) == (1, 1)
                    with pytest.raises(UnreachableError, match="HTTP 409"):
                        await connect(visitor("beta"))
                for token, path, status in (
                    ("gamma", "/ws", 401), (None, "/ws", 401), ("beta", "/ws/c", 404)
                ):  # fmt: skip
                    with pytest.raises(RefusedError, match=f"HTTP {status}"):
                        await connect(visitor(token, path))
            address = parse_address(f"mjsonp://{HOST}:{lines}/a")
            async with await connect(Settings(address)) as line:
                assert b"hello" in await line.receive(10)
                await line.send(b'{"type":"join","name":"ann","room":"a"}')
                assert b"belongs to an account" in await line.receive(10)

    asyncio.run(main())


SPELLINGS = [
    "ann",
    "ANN",
    "ann ",
    "a\u200bnn",
    "\uff41nn",
    "\u0430nn",
    "\u0391nn",
    "a\u0301nn",
    "an\u00adn",
]


@pytest.mark.parametrize("name", SPELLINGS)
def test_an_account_s_name_is_nobody_else_s_at_any_endpoint_in_any_spelling(name):
    accounts = Accounts({"ann": digest("alpha")})

    async def main():
        rules = TableRules(seed=1)
        async with (
            asyncio.timeout(GUARD_S),
            TableServer(rules, admission=Admission(accounts=accounts)) as server,
        ):
            lines = await server.open_tcp(HOST, 0)
            tags = await server.open_tenhou(HOST, 0)
            port = await server.open_websocket(HOST, 0, "shared")
            reader, writer = await asyncio.open_connection(HOST, lines)
            await reader.readline()
            join = {"type": "join", "name": name, "room": "default"}
            writer.write(json.dumps(join).encode() + b"\n")
            assert b"belongs to an account" in await reader.readline()
            writer.close()
            reader, writer = await asyncio.open_connection(HOST, tags)
            writer.write(f'<HELO name="{quote(name)}" sx="M" />\0'.encode())
            assert await reader.read() == b""
            writer.close()
            url = f"ws://{HOST}:{port}/ws?name={quote(name)}"
            with pytest.raises(RefusedError, match="HTTP 403"):
                await connect(Settings(parse_address(url), token="shared"))
            async with await connect(Settings(parse_address(url), token="alpha")):
                assert [seat.name for seat in server.lobby.waiting] == ["ann"]

    asyncio.run(main())


def test_two_accounts_that_look_alike_are_refused(tmp_path):
    text = f"ann {digest('a')}\nAnn {digest('b')}"
    with pytest.raises(ArgumentError, match="line 2: a name and a token stand once"):
        Accounts.read(accounts_file(tmp_path, text))


# --- games ---------------------------------------------------------------------------------------


def test_games_at_several_tables_have_records_and_walls_of_their_own(tmp_path):
    rules = TableRules(seed=3, rules="tonpu")
    admission = Admission(limits=GuestLimits(64, 64))
    tables = Tables(rules, Hall({"a": 2, "b": 1}), admission, log_dir=tmp_path)
    assert [server.rules.seed for server in tables.servers.values()] == [
        3, 3 + SEEDS_OF_TABLE, 3 + 2 * SEEDS_OF_TABLE
    ]  # fmt: skip

    async def main():
        async with asyncio.timeout(GUARD_S), tables.front as server:
            port = await server.open_websocket(HOST, 0)
            page = tables_server(tables)
            page_port = await page.open(0)
            bots = [
                asyncio.create_task(bot(f"ws://{HOST}:{port}/ws/{room}?name=bot{number}"))
                for number, room in enumerate("aaaaaaaabbbb")
            ]
            results = []
            async for each in tables.play(6):
                results.append(each)
            for task in bots:
                task.cancel()
            await asyncio.gather(*bots, return_exceptions=True)
            await looked_at(page_port, results)
            await page.close()
            return results

    results = asyncio.run(main())
    assert len(results) >= 6 and not any(each.result.void for each in results)
    assert {each.number for each in results} == {*range(1, len(results) + 1)}
    assert {each.table for each in results} >= {"a-1", "b-1"}
    deals = set()
    for each in results:
        assert each.result.log.parent == tmp_path / each.table
        (source,) = list_sources(each.result.log)
        (game,) = games_of(source)
        entries = [*game.entries]
        replay(dataclasses.replace(game, entries=entries), ReplaySummary(), strict=True)
        deals.add(str(entries[1].event.tehais))
    assert len(deals) == len(results)


async def bot(url):
    settings = Settings(parse_address(url), games=0, silence_s=GUARD_S, wait_s=5)
    await play(settings, lambda game: make_strategy("tsumogiri"))


async def looked_at(port, results):
    """The page lists the results and shows boards of finished games, and of nothing else."""

    def fetched(path, host=f"127.0.0.1:{port}"):
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Host": host})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""

    def get(*words):
        return asyncio.to_thread(fetched, *words)

    _, text = await get("/tables")
    state = json.loads(text)
    assert (state["games"], state["closed"]) == (len(results), True)
    assert [each["table"] for each in state["tables"]] == ["a-1", "a-2", "b-1"]
    assert [each["scores"] for each in state["results"]] == [
        list(each.result.scores) for each in results
    ]
    _, page = await get("/")
    last = results[-1]
    link = f"/board/{last.table}/{last.result.log.name}"
    assert f'<a href="{link}">board</a>' in page
    status, board = await get(link)
    assert status == 200 and "<script" in board and last.table in board
    for path in ("/board/a-1/none.mjson", "/board/..%2f..%2fetc/passwd", "/none"):
        assert (await get(path))[0] == 404
    assert (await get("/", "game.example"))[0] == 403
