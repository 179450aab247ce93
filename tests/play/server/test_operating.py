"""A server as its operator sees it: its log, its results, its page, and what bad players cost."""

import asyncio
import json
import logging
import re
import subprocess
import sys

import pytest

from mjbot.cli.serve import describe
from mjbot.play.client.play import Settings, play
from mjbot.play.server import tables as tables_module
from mjbot.play.server.accounts import Admission
from mjbot.play.server.core import OnFault
from mjbot.play.server.hall import NO_TABLE, Hall
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.seats import TcpSeat
from mjbot.play.server.server import ENDED, Bookkeeping, TableServer
from mjbot.play.server.tables import Tables
from mjbot.play.server.tables_page import _TablesPage, server_metrics
from mjbot.protocol.rules import Rules
from mjbot.protocol.transports.address import parse_address
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.net.guests import GuestLimits
from mjbot.strategy.registry import make_strategy

GUARD_S = 500
HOST = "127.0.0.1"
TONPU = Rules(length="tonpu")
WIDE = Admission(limits=GuestLimits(64, 64))


@pytest.fixture
def at_tables(tmp_path):
    """Play at tables: ``scenario(tables, port)`` runs beside, and its result is returned."""

    def play(
        scenario, rooms, games=1, on_fault=OnFault.ABORT, log_dir=tmp_path, rules=TONPU, **more
    ):
        table_rules = TableRules(seed=3, rules=rules, on_fault=on_fault)
        hall = Hall(rooms, places=rules.players)
        tables = Tables(table_rules, hall, WIDE, log_dir=log_dir, **more)

        async def main():
            async with asyncio.timeout(GUARD_S), tables.front as server:
                port = await server.open_tcp(HOST, 0)
                beside = asyncio.create_task(scenario(tables, port))
                results = [each async for each in tables.play(games)]
                beside.cancel()
                await asyncio.gather(beside, return_exceptions=True)
                return tables, results

        return asyncio.run(main())

    return play


def garbage(policy, turn):
    """A policy that sends something else at its n-th own turn."""
    turns = []

    def reply(event, seat):
        usual = policy(event, seat)
        if usual["type"] == "dahai":
            turns.append(event)
            if len(turns) == turn:
                return {"type": "hora", "actor": seat, "target": seat, "pai": event["pai"]}
        return usual

    return reply


def test_players_whose_game_is_ended_as_it_begins_receive_the_reason(raw_client, monkeypatch):
    begin, clients = TcpSeat.start, [raw_client() for _ in range(4)]

    async def start(self):
        asyncio.current_task().cancel()  # a signal, at the first await of the game
        await begin(self)

    async def play(server):
        with pytest.raises(asyncio.CancelledError):
            await anext(server.play(1))

    async def main():
        async with asyncio.timeout(GUARD_S), TableServer(TableRules(seed=1)) as server:
            port = await server.open_tcp(HOST, 0)
            game = asyncio.create_task(play(server))
            await asyncio.gather(game, *[client.play(port) for client in clients])

    monkeypatch.setattr(TcpSeat, "start", start)
    asyncio.run(main())
    last = {"type": "error", "message": ENDED}
    assert [client.received[-1] for client in clients] == [last] * 4


async def keep_playing(client, port):
    """Join again after every game, as a bot does."""
    while True:
        await client().play(port)
        await asyncio.sleep(0)


def test_a_bad_client_voids_one_game_and_must_wait_while_the_others_play(
    at_tables, raw_client, default_policy, caplog
):
    caplog.set_level(logging.INFO)
    bad = []

    def bad_client():
        bad.append(raw_client(garbage(default_policy, 1), "bad", "a"))
        return bad[-1]

    async def scenario(tables, port):
        good = [lambda n=n: raw_client(name=f"good{n}", room="a") for n in range(4)]
        await asyncio.gather(*[keep_playing(each, port) for each in [bad_client, *good]])

    tables, results = at_tables(scenario, {"a": 1})
    assert [each.result.void for each in results] == [True, False]
    assert (tables.count, tables.void_count) == (1, 1)
    assert [each.number for each in results] == [1, 2]
    seat = results[0].result.names.index("bad")
    reason = f"bad (seat {seat}), illegal: The hora is not allowed."
    assert f"game 1 at a-1 is void by {reason}" in "".join(caplog.messages)
    assert f"bad (seat {seat} in game 1 at a-1) may sit down again in 30 s" in caplog.text
    assert "game 2 at a-1 has ended" in caplog.messages
    assert describe(results[0].result).startswith(f"game 1: void by {reason}")
    refused = [client.received[-1]["message"] for client in bad[1:] if client.received]
    assert re.match(r"Your last game became void by your reply. Retry in \d+ s.", refused[0])

    page = asyncio.run(_TablesPage(tables).json({}))
    void, played = json.loads(page[0])["results"]
    assert (void["void"], void["ranks"], void["scores"]) == (True, None, None)
    assert void["by"].startswith(reason)
    assert (played["void"], sorted(played["ranks"]), played["by"]) == (False, [1, 2, 3, 4], None)
    assert 'mjbot_games_total{end="void"} 1' in server_metrics(tables)


def test_the_log_names_table_game_and_player_by_the_numbers_of_the_results(
    at_tables, raw_client, default_policy, caplog
):
    """A player that leaves is absent, not one that answered wrongly."""
    caplog.set_level(logging.INFO)

    def leaves(event, seat):
        reply = default_policy(event, seat)
        return "close" if reply["type"] == "dahai" else reply

    async def scenario(tables, port):
        clients = [raw_client(name=f"p{n}", room=room) for n in range(4) for room in "ab"]
        clients[-1].policy, clients[-1].name = leaves, "leaver"
        await asyncio.gather(*[client.play(port) for client in clients])

    tables, results = at_tables(scenario, {"a": 1, "b": 1}, games=2, on_fault=OnFault.DEFAULT)
    numbers = {each.table: each.number for each in results}
    for table, number in numbers.items():
        assert f"game {number} at {table} has ended" in caplog.messages
        assert any(
            text.startswith(f"game {number} at {table} begins: E ") for text in caplog.messages
        )
    (result,) = [each.result for each in results if each.table == "b-1"]
    seat = result.names.index("leaver")
    place = f"leaver (seat {seat} in game {numbers['b-1']} at b-1)"
    assert f"{place} lost its connection" in caplog.text
    assert f"{place} absent: not connected (all are counted at the end)" in caplog.text
    assert "Unexpected response type" not in caplog.text
    n = len(result.faults)
    assert n > 10 and {fault.kind for fault in result.faults} == {"absent"}
    text = f"(leaver (seat {seat}): {n} faults ({n} absent), first: not connected)"
    assert describe(result).endswith(text)
    assert f'mjbot_faults_total{{kind="absent"}} {n}' in server_metrics(tables)


def test_a_player_that_leaves_where_that_voids_the_game_is_said_to_have_left(
    raw_client, default_policy, caplog, table
):
    caplog.set_level(logging.INFO)

    def leaves(event, seat):
        reply = default_policy(event, seat)
        return "close" if reply["type"] == "dahai" else reply

    (result,), _ = table([raw_client(leaves, "leaver"), *[raw_client() for _ in range(3)]])
    seat = result.names.index("leaver")
    assert caplog.messages[-1] == f"game 1 is void by leaver (seat {seat}), absent: not connected"


def test_players_of_one_name_are_told_apart_in_results_and_record(raw_client, tmp_path):
    async def main():
        rules = TableRules(seed=1, rules="tonpu")
        async with asyncio.timeout(GUARD_S), TableServer(rules, log_dir=tmp_path) as server:
            port = await server.open_tcp(HOST, 0)
            clients = [raw_client(name="twin") for _ in range(4)]
            playing = [asyncio.create_task(client.play(port)) for client in clients]
            (result,) = [each async for each in server.play(1)]
            await asyncio.gather(*playing)
            return result

    result = asyncio.run(main())
    assert result.names == ("twin", "twin-2", "twin-3", "twin-4")
    first = json.loads(result.log.read_text().splitlines()[0])
    assert first["names"] == list(result.names)


# --- a folder that takes no records ----------------------------------------------------------


def test_a_table_that_cannot_write_is_closed_visibly_and_opens_again(
    at_tables, raw_client, tmp_path, monkeypatch, caplog
):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(tables_module, "RETRY_S", 0.05)
    blocked = tmp_path / "a-1"
    blocked.write_text("no folder")
    seen = {}

    async def scenario(tables, port):
        four = [raw_client(name=f"p{n}", room="a") for n in range(4)]
        await asyncio.gather(*[client.play(port) for client in four])
        seen["ends"] = [client.received[-1]["message"] for client in four]
        while not tables.lobbies["a-1"].problem:  # its players are told first
            await asyncio.sleep(0)
        page = _TablesPage(tables)
        state = json.loads((await page.json({}))[0])["tables"]
        seen["tables"] = state
        seen["page"] = (await page.index({}))[0]
        refused = await raw_client(name="fifth", room="a").play(port)
        seen["refused"] = refused.received[-1]["message"]
        blocked.unlink()
        while tables.lobbies["a-1"].problem:
            await asyncio.sleep(0.01)
        await asyncio.gather(*[raw_client(name=f"q{n}", room="a").play(port) for n in range(4)])

    _, (result,) = at_tables(scenario, {"a": 1, "b": 1})
    assert set(seen["ends"]) == {"The table cannot write its log; the game is void."}
    closed, other = seen["tables"]
    assert (closed["table"], closed["state"], closed["players"]) == ("a-1", "closed", [])
    assert str(blocked) in closed["reason"]
    assert (other["state"], other["reason"]) == ("waiting", None)
    assert f"closed: {blocked}" in seen["page"]
    assert seen["refused"] == NO_TABLE
    assert "table a-1 is open again" in caplog.messages
    assert not result.result.void and result.result.log.parent == blocked


@pytest.mark.parametrize("what", ["no folder", "full disk"])
def test_a_server_whose_tables_are_all_closed_ends_with_status_3(raw_client, tmp_path, what):
    """As on a full disk: the files of the process may not grow beyond 16 kB."""
    resource = pytest.importorskip("resource")
    limit = (1 << 14, 1 << 14)
    for number in (1, 2):
        if what == "no folder":
            (tmp_path / f"default-{number}").write_text("")
    options = ["--port", "0", "--no-ws", "--tables", "2", "--log-dir", str(tmp_path)]

    async def main():
        async with asyncio.timeout(GUARD_S):
            server = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "mjbot", "serve", *options,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
            )  # fmt: skip
            line = (await server.stdout.readline()).decode()
            port = int(re.search(r"127\.0\.0\.1:(\d+)/", line)[1])
            for _ in range(2):
                await asyncio.gather(*[raw_client().play(port) for _ in range(4)])
            _, errors = await server.communicate()
            return server.returncode, errors.decode()

    status, errors = asyncio.run(main())
    assert status == ExitCode.UNREACHABLE
    assert "table default-1 is closed: " in errors and "table default-2 is closed: " in errors
    assert re.search(rf"mjbot serve: {tmp_path}/default-\d[:/]", errors.splitlines()[-1])


def test_records_beyond_the_limit_are_removed_and_no_other_file(at_tables, raw_client, tmp_path):
    folder = tmp_path / "a-1"
    folder.mkdir()
    others = [folder / "2024-01-01-000000.mjson", folder / "notes.txt"]
    for each in others:
        each.write_text("mine")

    async def scenario(tables, port):
        await asyncio.gather(
            *[keep_playing(lambda n=n: raw_client(name=f"p{n}", room="a"), port) for n in range(4)]
        )

    keep = tables_module.Limits(most_games=1)
    _, results = at_tables(scenario, {"a": 1}, games=3, keep=keep, evidence=True)
    left = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    last = results[-1].result.log
    evidence = last.name.replace(".mjson", ".evidence.jsonl")
    assert left == {*[each.name for each in others], last.name, evidence}


def own_record(path):
    return {path, path.with_name(path.name.replace(".mjson", ".evidence.jsonl"))}


@pytest.mark.parametrize("players", [3, 4])
def test_each_restart_of_the_tables_keeps_the_newest_records(
    at_tables, raw_client, tmp_path, players
):
    """A client plays at each table, in turn: three starts, a game at each of two tables."""
    rules, records = Rules(players=players, length="tonpu"), {"a-1": [], "b-1": []}

    async def scenario(tables, port):
        await asyncio.gather(
            *[raw_client(room=room).play(port) for room in "ab" for _ in range(players)]
        )

    for start in range(1, 4):
        keep = tables_module.Limits(most_games=2)
        rooms = {"a": 1, "b": 1}
        tables, results = at_tables(scenario, rooms, 2, rules=rules, keep=keep, evidence=True)
        assert [each.number for each in tables.results] == [*range(1, 2 * start + 1)]
        assert sum(each.games for each in tables.history.standings()) == 2 * players * start
        for played in results:
            records[played.table].append(played.result.log)
        for table, logs in records.items():
            assert len(logs) == start
            left = {path for path in (tmp_path / table).iterdir() if path.suffix != ".ledger"}
            assert left == set().union(*[own_record(log) for log in logs[-2:]])


@pytest.mark.parametrize(("scheme", "players"), [("tenhou", 3), ("tenhou+ws", 4), ("ws", 4)])
def test_each_restart_of_a_table_keeps_the_newest_records(scheme, players, tmp_path):
    rules = TableRules(seed=3, rules=Rules(players=players, length="tonpu"))
    path = "ws" if scheme == "ws" else f"0?type={17 if players == 3 else 1}"
    bookkeeping = Bookkeeping(keep=tables_module.Limits(most_games=2))

    async def main():
        async with (
            asyncio.timeout(GUARD_S),
            TableServer(rules, log_dir=tmp_path, bookkeeping=bookkeeping) as server,
        ):
            opens = {
                "tenhou": server.open_tenhou,
                "tenhou+ws": server.open_tenhou_websocket,
                "ws": server.open_websocket,
            }
            port = await opens[scheme](HOST, 0)
            settings = Settings(parse_address(f"{scheme}://{HOST}:{port}/{path}"))
            async with asyncio.TaskGroup() as group:
                for _ in range(players):
                    group.create_task(play(settings, lambda game: make_strategy("tsumogiri")))
                return [result.log async for result in server.play(1)]

    logs = [log for _ in range(3) for log in asyncio.run(main())]
    assert [log.exists() for log in logs] == [False, True, True]
