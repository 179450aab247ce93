"""A bot's service at a real server of ours, in leaping time: days pass in seconds."""

import asyncio
import contextlib
import gc
import json
import threading
from collections import Counter
from dataclasses import fields, replace
from datetime import datetime
from itertools import pairwise, permutations
from random import Random

import pytest

from mjbot.game.records.replay import ReplaySummary, replay
from mjbot.game.records.sources import games_of, list_sources
from mjbot.game.table.mirror.mirror import TableError
from mjbot.play.client.decision_thread import DecisionThread
from mjbot.play.client.play import Settings
from mjbot.play.client.play import connect as connect_for_real
from mjbot.play.kept_games import Limits
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.play.service import bot as service_module
from mjbot.play.service.bot import (
    MOST_FAULTS,
    MOST_REFUSALS,
    BotService,
    GameOutcome,
    outcome_of,
)
from mjbot.play.service.files import FRAMES, LOG, Keeping
from mjbot.play.service.pacing import Hours
from mjbot.play.service.plan import ConnectionPlan, PlayPlan, ServicePlan
from mjbot.play.service.status import Status
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.errors import ProtocolError
from mjbot.protocol.messages import EndKyoku
from mjbot.protocol.transports.address import parse_address
from mjbot.protocol.transports.base import (
    ClosedError,
    HandshakeError,
    RefusedError,
    UnreachableError,
    VanishedError,
)
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.system import memory_bytes
from mjbot.strategy.registry import make_strategy
from mjbot.strategy.strategy import Strategy
from proof.leaping_time import in_leaping_time

HOST = "127.0.0.1"
START = datetime(2026, 11, 25, 6, 0).timestamp()
SOCKETS_S = 0.02
DAY_S = 86_400.0

pytestmark = pytest.mark.usefixtures("short_games")


def tsumogiri(game):
    return make_strategy("tsumogiri")


class Connections:
    """The real connections that the bot opens, counted: how many at once, when, and which."""

    def __init__(self, monkeypatch):
        self.open = self.most = 0
        self.moments, self.last = [], None
        monkeypatch.setattr(service_module, "connect", self.connect)

    async def connect(self, settings):
        if settings.address.dialect is not Dialect.RIICHILAB:
            return await connect_for_real(settings)  # a rival's
        self.moments.append(asyncio.get_running_loop().time())
        transport = self.last = await connect_for_real(settings)
        self.open += 1
        self.most = max(self.most, self.open)
        close = transport.close

        async def closed():
            self.open -= 1
            await close()

        transport.close = closed
        return transport


@pytest.fixture
def connections(monkeypatch):
    return Connections(monkeypatch)


@contextlib.asynccontextmanager
async def table(port=0, log_dir=None):
    """A server of requests, and three of our clients that come back for each game."""
    rules = TableRules(seed=5, rules="tonpu")
    async with TableServer(rules, log_dir=log_dir) as server:
        lines = await server.open_tcp(HOST, 0)
        frames = await server.open_websocket(HOST, port)
        address = parse_address(f"mjsonp://{HOST}:{lines}/default")
        settings = Settings(address, silence_s=1e7)
        often = ConnectionPlan(per_hour=10**6)
        plan = ServicePlan(settings=settings, make_strategy=tsumogiri, connection=often)
        rivals = [BotService(plan, Status(lambda: 0.0), random=Random(n)) for n in range(3)]
        tasks = [asyncio.create_task(rival.run()) for rival in rivals]
        tasks.append(asyncio.create_task(played(server)))
        try:
            yield f"ws://{HOST}:{frames}/ws?name=bot"
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def played(server):
    async for _ in server.play(10**6):
        pass


def service_of(url, **values):
    settings = Settings(parse_address(url), silence_s=1e6)
    loop = asyncio.get_running_loop()
    status = Status(lambda: START + loop.time())
    values = {"first_pause_s": 2.0, "longest_pause_s": 120.0, **values}
    parts = {
        name: part(
            **{each.name: values.pop(each.name) for each in fields(part) if each.name in values}
        )
        for name, part in (("play", PlayPlan), ("connection", ConnectionPlan))
    }
    plan = ServicePlan(settings=settings, **{"make_strategy": tsumogiri, **parts, **values})
    return BotService(plan, status, random=Random(1))


THINKING = Counter()
"""How many jobs the threads of strategies have."""


@pytest.fixture(autouse=True)
def _counted_threads(monkeypatch):
    think = DecisionThread.think

    async def counted(self, job, limit_s):
        THINKING["jobs"] += 1
        try:
            return await think(self, job, limit_s)
        finally:
            THINKING["jobs"] -= 1

    THINKING.clear()
    monkeypatch.setattr(DecisionThread, "think", counted)


def is_thinking():
    return THINKING["jobs"] > 0 or any(each.name == "warm-up" for each in threading.enumerate())


def playing(service):
    """Return an event that is set once a game has begun: games take no time of the loop's."""
    begun, set_lane = asyncio.Event(), service.status.set_lane

    def noted(number, state):
        set_lane(number, state)
        if state == "playing":
            begun.set()

    service.status.set_lane = noted
    return begun


def run_leaping(main):
    return in_leaping_time(main, SOCKETS_S, is_thinking)


# --- games ---------------------------------------------------------------------------------------


def test_days_of_games_in_opening_hours_leave_flat_memory(connections, tmp_path):
    """Once a day the server is away for half an hour; what compiles does so on the first."""
    hours, pause_s = Hours.read("08:00-22:00"), 4 * 3600.0
    begun, memory = [], []

    async def main():
        loop = asyncio.get_running_loop()
        keeping = Keeping(folder=tmp_path, evidence=True, limits=Limits(most_games=5))
        port = 0
        service = running = None
        for day in range(2):
            async with table(port) as url:
                if service is None:
                    port = parse_address(url).port
                    service = service_of(
                        url, hours=hours, pause_s=pause_s, keeping=keeping, per_hour=12
                    )
                    running = asyncio.create_task(service.run())
                while loop.time() < (day + 1) * DAY_S - 1800:
                    await asyncio.sleep(1800)
                    begun.append(service.status.lanes[0].since)
                gc.collect()
                memory.append(memory_bytes())
            await asyncio.sleep((day + 1) * DAY_S - loop.time())
        service.finish()
        assert await running == ExitCode.OK
        return service.status

    status = run_leaping(main())
    assert connections.most == 1
    assert status.ends["finished"] == sum(status.ranks) >= 6
    assert status.ends["fault"] == status.ends["changed"] == status.ends["void"] == 0
    for moment in connections.moments:
        local = datetime.fromtimestamp(START + moment)
        assert hours.contains(local) or local.hour == 22  # a pause that ended with the hours
    assert memory[1] - memory[0] < 3e6
    logs = sorted(path.name.removesuffix(LOG) for path in tmp_path.glob(f"*{LOG}"))
    assert len(logs) == 5
    assert {path.name.removesuffix(FRAMES) for path in tmp_path.glob(f"*{FRAMES}")} == {*logs}


@pytest.mark.parametrize(
    ("played", "reserved", "is_left"), [(1, 1, True), (1, 2, False), (3, 0, False)]
)
def test_games_under_way_count_among_those_to_play(played, reserved, is_left):
    async def main():
        service = service_of(f"ws://{HOST}:1/ws", games=3, at_once=2)
        service._played, service.reserved = played, reserved
        return service.has_game_for(1)

    assert asyncio.run(main()) is is_left


@pytest.mark.parametrize(
    ("kind", "is_game"),
    [
        ("finished", True),
        ("void", True),
        ("lost", True),
        ("unreachable", False),
        ("refused", False),
        ("changed", False),
        ("fault", False),
    ],
)
def test_attempts_that_led_to_no_game_are_none_of_the_games_to_play(kind, is_game):
    async def main():
        service = service_of(f"ws://{HOST}:1/ws", games=1, on_version_change="retry")
        service.count(GameOutcome(kind))
        return service.has_game_for(0)

    assert asyncio.run(main()) is not is_game


ENDS = {
    ExitCode.OK: [GameOutcome("finished")],
    ExitCode.FAILED: [GameOutcome("fault")] * MOST_FAULTS,
    ExitCode.UNREACHABLE: [GameOutcome("refused", is_final=True)] * MOST_REFUSALS,
    ExitCode.PROTOCOL_FAULT: [GameOutcome("changed")],
}
"""What ends a service whose plan is to stop after anything, by its exit status."""


@pytest.mark.parametrize(("first", "second"), [*permutations(ENDS, 2)])
def test_of_several_ends_the_worst_is_the_exit_status(first, second):
    """Lanes end one after another: a game that another lane finishes makes no failure good."""

    async def main():
        service = service_of(f"ws://{HOST}:1/ws", on_game_end="stop")
        for outcome in ENDS[first] + ENDS[second]:
            service.count(outcome)
        service.plan = replace(service.plan, play=PlayPlan(at_once=0))
        return await service.run()

    assert asyncio.run(main()) == max(first, second)


def test_games_at_once_are_no_more_than_the_games_to_play(connections):
    """Two lanes and one game: the second lane connects no more while the first plays."""

    async def main():
        async with table() as url:
            service = service_of(url, games=1, at_once=2, tokens=(None, None))
            assert await service.run() == ExitCode.OK
            return service.status

    status = run_leaping(main())
    assert (sum(status.ranks), len(connections.moments)) == (1, 1)


def test_the_records_of_games_replay_and_the_frames_hold_the_conversation(tmp_path):
    async def main():
        async with table() as url:
            keeping = Keeping(folder=tmp_path, evidence=True)
            service = service_of(url, games=2, keeping=keeping)
            assert await service.run() == ExitCode.OK
            return service.status

    status = run_leaping(main())
    assert (sum(status.ranks), status.connects, status.reconnects) == (2, 2, 0)
    logs = sorted(tmp_path.glob(f"*{LOG}"))
    assert len(logs) == 2
    answers = 0
    for log in logs:
        (source,) = list_sources(log)
        (game,) = games_of(source)
        summary = ReplaySummary()
        replay(game, summary, strict=True)
        frames = log.with_name(log.name.removesuffix(LOG) + FRAMES).read_text().splitlines()
        kinds = Counter(direction for _, direction, _ in map(json.loads, frames))
        assert kinds["<"] > kinds[">"] > 0
        answers += kinds[">"]
    assert status.acks["accepted"] == answers


def test_sigterm_ends_after_the_game_and_at_once_where_none_has_begun(connections):
    async def main():
        async with table() as url:
            service = service_of(url)
            begun = playing(service)
            running = asyncio.create_task(service.run())
            await begun.wait()
            service.finish()
            assert await running == ExitCode.OK
            assert sum(service.status.ranks) == 1
        async with TableServer(TableRules(seed=1)) as server:
            port = await server.open_websocket(HOST, 0)
            service = service_of(f"ws://{HOST}:{port}/ws")
            running = asyncio.create_task(service.run())
            while not server.lobby.waiting:
                await asyncio.sleep(0.01)
            begun = asyncio.get_running_loop().time()
            service.finish()
            assert await running == ExitCode.OK
            assert asyncio.get_running_loop().time() - begun < 5
            assert service.status.state == "stopped"

    run_leaping(main())
    assert connections.open == 0


def test_a_new_profile_holds_from_the_next_game_on(connections):
    async def main():
        async with table() as url:
            service = service_of(url, pause_s=60.0)
            old = service.plan
            plans = [replace(old, play=PlayPlan(games=3), strategy="b")]
            service._reread = plans.pop
            begun = playing(service)
            running = asyncio.create_task(service.run())
            await begun.wait()
            service.reload()
            assert service._lanes[0][0].is_playing
            assert await running == ExitCode.OK
            return service.status

    status = run_leaping(main())
    assert (sum(status.ranks), status.strategy) == (3, "b")
    assert status.ends["unreachable"] == status.ends["lost"] == 0


def test_tokens_of_the_old_profile_are_settled_when_no_lane_plays_by_it(connections):
    """That is after its game, and not while another process would be its second connection."""

    async def main():
        async with table() as url:
            service = service_of(url, pause_s=60.0)
            settled = []
            service._on_settled = lambda: settled.append(service._lanes[0][0].is_playing)
            old = service.plan
            new = replace(old, play=PlayPlan(games=2))
            service._reread = lambda: new
            begun = playing(service)
            running = asyncio.create_task(service.run())
            await begun.wait()
            settled.clear()
            service.reload()
            assert service._lanes[0][0].is_playing and not settled
            assert await running == ExitCode.OK
            assert settled and not any(settled)

    run_leaping(main())


def test_a_profile_that_cannot_be_read_leaves_the_old_one(caplog):
    async def main():
        async with table() as url:
            service = service_of(url, games=1)

            def broken():
                raise ProtocolError("bot.toml", "line 3: unknown key")

            service._reread = broken
            plan = service.plan
            running = asyncio.create_task(service.run())
            await asyncio.sleep(0)
            service.reload()
            assert service.plan is plan
            assert await running == ExitCode.OK

    run_leaping(main())
    assert "the profile is not taken over: bot.toml: line 3: unknown key" in caplog.text


# --- what goes wrong -----------------------------------------------------------------------------


def test_a_server_that_is_away_is_asked_less_and_less_and_within_the_limit(connections):
    async def main():
        service = service_of(f"ws://{HOST}:9/ws", per_hour=20, longest_pause_s=60.0)
        running = asyncio.create_task(service.run())
        await asyncio.sleep(DAY_S)
        service.finish()
        assert await running == ExitCode.OK
        return service.status

    status = run_leaping(main())
    moments = connections.moments
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert gaps[0] <= 2.0 < max(gaps)
    assert status.ends["unreachable"] == len(moments)
    for at in moments:
        assert sum(at <= other < at + 3599.9 for other in moments) <= 20
    assert len(moments) == pytest.approx(24 * 20, rel=0.1)


def test_a_lost_connection_costs_the_game_and_the_next_is_played(connections):
    async def main(on_disconnect):
        async with table() as url:
            service = service_of(url, games=2, on_disconnect=on_disconnect)
            begun = playing(service)
            running = asyncio.create_task(service.run())
            await begun.wait()
            await connections.last.reset()
            return await running, service.status

    code, status = run_leaping(main("reconnect"))
    assert (code, status.ends["lost"], status.ends["finished"]) == (ExitCode.OK, 1, 1)
    assert connections.most == 1
    code, status = run_leaping(main("stop"))
    assert (code, status.ends["lost"], status.ends["finished"]) == (ExitCode.UNREACHABLE, 1, 0)


def test_a_wrong_token_is_tried_five_times(connections, caplog):
    async def main():
        async with TableServer(TableRules(seed=1)) as server:
            port = await server.open_websocket(HOST, 0, "right")
            service = service_of(f"ws://{HOST}:{port}/ws", tokens=("wrong",))
            return await service.run(), service.status

    code, status = run_leaping(main())
    assert code == ExitCode.UNREACHABLE
    assert status.ends["refused"] == len(connections.moments) == 5
    assert "HTTP 401: the token is missing or wrong" in caplog.text
    assert "wrong" not in json.dumps(status.snapshot()).replace("missing or wrong", "")


def test_a_full_room_is_asked_again_for_as_long_as_it_takes(connections):
    async def main():
        async with TableServer(TableRules(seed=1)) as server:
            port = await server.open_websocket(HOST, 0)
            url = f"ws://{HOST}:{port}/ws"
            waiting = Settings(parse_address(url), name="bot")
            async with contextlib.AsyncExitStack() as stack:
                for _ in range(4):
                    await stack.enter_async_context(await connect_for_real(waiting))
                service = service_of(url)
                running = asyncio.create_task(service.run())
                asyncio.get_running_loop().call_later(1800, service.finish)
                return await running, service.status

    code, status = run_leaping(main())
    assert code == ExitCode.OK
    assert status.ends["refused"] == len(connections.moments) > 10
    assert "refuses us: The room is busy" in status.last_error


async def busy_server(connection, request):
    """Answer with a status of an overloaded server."""
    return connection.respond(503, "later")


def test_an_overloaded_server_is_no_refusal(connections):
    from websockets.asyncio.server import serve

    async def main():
        async with serve(changed_server, HOST, 0, process_request=busy_server) as server:
            port = server.sockets[0].getsockname()[1]
            service = service_of(f"ws://{HOST}:{port}/ws")
            running = asyncio.create_task(service.run())
            asyncio.get_running_loop().call_later(1800, service.finish)
            return await running, service.status

    code, status = run_leaping(main())
    assert code == ExitCode.OK
    assert status.ends["unreachable"] == len(connections.moments) > 10
    assert status.last_error.endswith("HTTP 503")


async def changed_server(connection):
    """Speak a later version: a field of the deal has another name."""
    await connection.send('{"type":"start_game","id":0}')
    await connection.send('{"type":"start_kyoku","round_wind":"E","kyoku":1}')
    await connection.wait_closed()


@pytest.mark.parametrize(("change", "attempts"), [("stop", 1), ("retry", 25)])
def test_a_field_that_a_server_renames_costs_one_game_and_a_named_error(
    connections, caplog, change, attempts
):
    from websockets.asyncio.server import serve

    async def main():
        async with serve(changed_server, HOST, 0) as server:
            port = server.sockets[0].getsockname()[1]
            service = service_of(f"ws://{HOST}:{port}/ws", on_version_change=change)
            running = asyncio.create_task(service.run())
            asyncio.get_running_loop().call_later(DAY_S, service.finish)
            return await running, service.status

    code, status = run_leaping(main())
    assert status.ends["changed"] == len(connections.moments)
    assert len(connections.moments) == pytest.approx(attempts, abs=1)
    assert code == (ExitCode.PROTOCOL_FAULT if change == "stop" else ExitCode.OK)
    assert "changed: start_kyoku.bakaze: missing" in caplog.text


def test_a_fault_of_ours_is_logged_and_ends_the_service_at_the_third(monkeypatch, caplog):
    async def broken(settings):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(service_module, "connect", broken)

    async def main():
        service = service_of(f"ws://{HOST}:9/ws")
        return await service.run(), service.status

    code, status = run_leaping(main())
    assert (code, status.ends["fault"]) == (ExitCode.FAILED, 3)
    assert "ZeroDivisionError: a bug" in status.last_error
    assert "Traceback" in caplog.text


@pytest.mark.parametrize(
    ("error", "begun", "kind"),
    [
        (RefusedError("HTTP 401"), False, "refused"),
        (UnreachableError("no answer"), False, "unreachable"),
        (VanishedError("closed"), False, "unreachable"),
        (VanishedError("closed"), True, "lost"),
        (HandshakeError("closed"), False, "unreachable"),
        (ClosedError(1008, "no"), False, "refused"),
        (ClosedError(4001, "no"), True, "lost"),
        (ClosedError(1012, ""), False, "unreachable"),
        (ClosedError(1013, ""), True, "lost"),
        (ProtocolError("line", "not JSON"), True, "lost"),
        (ProtocolError("line", "not UTF-8"), False, "unreachable"),
        (ProtocolError("tsumo.pai", "missing"), True, "changed"),
        (TableError("a fifth tile", EndKyoku()), True, "changed"),
        (ZeroDivisionError(), True, "fault"),
    ],
)
def test_every_error_has_its_outcome(error, begun, kind):
    assert outcome_of(error, has_begun=begun, seat=0).kind == kind


def closing_server(code, greeting=None):
    """Return what handles a WebSocket by closing it with a code."""

    async def close(connection):
        if greeting is not None:
            await connection.send(greeting)
        await connection.close(code, "a reason")

    return close


REFUSAL = '{"type":"error","message":"Who are you?"}'


@pytest.mark.parametrize(
    ("code", "greeting", "text"),
    [
        (1008, None, "the server refuses us: 1008 (policy violation), a reason"),
        (4001, None, "the server refuses us: 4001, a reason"),
        (4999, REFUSAL, "the server refuses us: Who are you? (closed with 4999, a reason)"),
    ],
)
def test_a_server_that_closes_with_a_refusal_is_tried_five_times(
    connections, caplog, code, greeting, text
):
    from websockets.asyncio.server import serve

    async def main():
        async with serve(closing_server(code, greeting), HOST, 0) as server:
            service = service_of(f"ws://{HOST}:{server.sockets[0].getsockname()[1]}/ws")
            return await service.run(), service.status

    code, status = run_leaping(main())
    assert code == ExitCode.UNREACHABLE
    assert status.ends["refused"] == len(connections.moments) == MOST_REFUSALS
    assert text in caplog.text and status.last_error.endswith(text)


@pytest.mark.parametrize("code", [1000, 1011, 1012, 1013])
def test_a_server_that_closes_for_a_while_is_asked_again_after_pauses(connections, code):
    from websockets.asyncio.server import serve

    async def main():
        async with serve(closing_server(code), HOST, 0) as server:
            service = service_of(f"ws://{HOST}:{server.sockets[0].getsockname()[1]}/ws")
            running = asyncio.create_task(service.run())
            asyncio.get_running_loop().call_later(1800, service.finish)
            return await running, service.status

    ended, status = run_leaping(main())
    assert ended == ExitCode.OK
    assert status.ends["unreachable"] == len(connections.moments) > 10
    assert all(later - earlier >= 1 for earlier, later in pairwise(connections.moments))
    assert "a reason" in status.last_error


async def no_tls(reader, writer):
    await reader.read(1)
    writer.close()


async def greets(reader, writer):
    writer.write(b'{"type":"hello"}\n')
    await reader.read(1)
    writer.close()


@pytest.mark.parametrize("server", [no_tls, greets])
def test_a_port_without_tls_is_tried_five_times(connections, server):
    async def main():
        async with await asyncio.start_server(server, HOST, 0) as listener:
            service = service_of(f"wss://{HOST}:{listener.sockets[0].getsockname()[1]}/ws")
            return await service.run(), service.status

    code, status = run_leaping(main())
    assert code == ExitCode.UNREACHABLE
    assert status.ends["refused"] == len(connections.moments) == MOST_REFUSALS
    assert "use ws:// instead of wss://" in status.last_error


def test_a_server_that_was_there_before_may_close_connections_while_it_starts(connections):
    async def main():
        async with await asyncio.start_server(no_tls, HOST, 0) as listener:
            service = service_of(f"wss://{HOST}:{listener.sockets[0].getsockname()[1]}/ws")
            service.status.connects = 1
            running = asyncio.create_task(service.run())
            asyncio.get_running_loop().call_later(1800, service.finish)
            return await running, service.status

    code, status = run_leaping(main())
    assert code == ExitCode.OK
    assert status.ends["unreachable"] == len(connections.moments) > MOST_REFUSALS


# --- the fallback strategy -----------------------------------------------------------------------


class Broken(Strategy):
    """Fails at every decision."""

    def decide(self, view):
        raise ValueError("no idea")


def test_a_second_strategy_decides_where_the_first_fails():
    seen = []

    class Second(Strategy):
        def start_game(self, seat, names):
            seen.append("game")

        def start_kyoku(self, view):
            seen.append("kyoku")

        def decide(self, view):
            seen.append(view.legal[-1])
            return view.legal[-1]

    async def main():
        async with table() as url:
            service = service_of(
                url,
                games=1,
                make_strategy=lambda game: Broken(),
                make_fallback=lambda game: Second(),
            )
            assert await service.run() == ExitCode.OK
            return service.status

    status = run_leaping(main())
    choices = [each for each in seen if not isinstance(each, str)]
    assert seen.count("game") == 1
    assert status.faults["crash"] == status.fallback_decisions == len(choices) > 0
    assert status.acks["accepted"] >= len(choices)
    assert sum(status.ranks) == 1
