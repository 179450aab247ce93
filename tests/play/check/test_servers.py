"""Each check of a server is failed by the server made for it, and by nothing else that it does."""

import asyncio
import contextlib
import json
import socket
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from mjbot.game.referee import Referee
from mjbot.game.referee.wall import shuffle_wall
from mjbot.play.check import four_clients, lines, servers
from mjbot.play.check.catalogue import SERVER_CHECKS, CheckVerdict
from mjbot.play.check.four_clients import ServerEndpoint, TableClient
from mjbot.play.check.report import Transcript, results
from mjbot.play.check.servers import ServerProcess, ServerSettings, check_server
from mjbot.play.server import core, server
from mjbot.play.server.lobby import BusyError, Lobby, TableRules
from mjbot.play.server.seats import TcpSeat
from mjbot.play.server.server import TableServer
from mjbot.play.server.tcp import Acceptor
from mjbot.protocol import messages as m
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import LOCKSTEP, REQUESTS
from mjbot.protocol.sessions.lockstep_server import JoinRefusedError, LockstepSession
from mjbot.protocol.sessions.request_server import RequestSession, TimeLimits
from mjbot.protocol.transports.base import VanishedError
from mjbot.protocol.transports.memory import memory_pair
from mjbot.protocol.transports.tcp import connect_tcp
from mjbot.protocol.transports.websocket import connect_websocket
from mjbot.runtime.errors import ExitCode
from tests.play.last_kyoku import LastKyoku

TINY = Path(__file__).with_name("tiny_server.py")
PASSIVE = ("S01", "S04", "S05", "S06", "S07", "S10", "S11", "S12", "S15", "S19")
"""What one whole game shows."""

pytestmark = pytest.mark.usefixtures("short_games")


class Tables:
    """Our own tables in memory, four clients after four."""

    def __init__(self, opened):
        self.opened = opened
        self.came = 0

    async def connect(self):
        table = self.opened[self.came // 4 % len(self.opened)]
        self.came += 1
        ours, theirs = memory_pair()
        task = asyncio.create_task(table.acceptor.handshake(theirs))
        GREETINGS.add(task)
        return ours


GREETINGS = set()


async def _play(table):
    async for _ in table.play(12):
        pass


def checked(ids=(), seed=12, timeout_s=60.0, tables=1, **settings):
    """Check our table server in memory."""

    async def check():
        rules = TableRules(seed=seed, rules="tonpu", timeout_s=timeout_s)
        async with contextlib.AsyncExitStack() as stack:
            opened = [await stack.enter_async_context(TableServer(rules)) for _ in range(tables)]
            serving = [asyncio.create_task(_play(table)) for table in opened]
            async with asyncio.timeout(200):
                included = ServerSettings(ids=frozenset(ids), **settings)
                findings = await check_server(ServerEndpoint(Tables(opened).connect), included)
            for task in serving:
                task.cancel()
            await asyncio.wait(serving)
            return findings

    return verdicts(asyncio.run(check()))


def checked_over_websocket(ids=(), limits=None):
    """Check it on loopback."""

    async def check():
        rules = TableRules(seed=12, rules="tonpu", limits=limits or TimeLimits())
        async with TableServer(rules) as table:
            port = await table.open_websocket("127.0.0.1", 0)
            serving = asyncio.create_task(_play(table))
            door = ServerEndpoint(lambda: connect_websocket(f"ws://127.0.0.1:{port}/ws"), REQUESTS)
            async with asyncio.timeout(200):
                findings = await check_server(door, ServerSettings(ids=frozenset(ids)))
            serving.cancel()
            await asyncio.wait({serving})
            return findings

    return verdicts(asyncio.run(check()))


def verdicts(findings):
    found = results(SERVER_CHECKS, findings, "mjbot check x")
    return {result.check.id: result for result in found}


def failed(found):
    return {id_ for id_, result in found.items() if result.verdict is CheckVerdict.FAILED}


def idle(found):
    return {id_ for id_, one in found.items() if one.verdict is CheckVerdict.NOT_APPLICABLE}


def test_our_server_fails_nothing(monkeypatch):
    monkeypatch.setattr(server, "Referee", Referee)
    begun = []
    found = checked(timeout_s=1.0, on_scene=begun.append)
    assert len(begun) == ServerSettings().scene_count(LOCKSTEP)
    assert not failed(found), [found[id_].text for id_ in failed(found)]
    assert idle(found) == {"S17", "S20", "S22"}  # another dialect; nothing claimed; no process
    assert "Timeout. No response in 1 sec." in found["S13"].text


def test_two_tables_of_ours_play_at_once():
    found = checked({"S20"}, tables=2, at_once=2)
    assert found["S20"].verdict is CheckVerdict.OK, found["S20"].text


def test_our_websocket_door_fails_nothing():
    included = {*PASSIVE, "S08", "S09", "S13", "S17"}
    found = checked_over_websocket(included, limits=TimeLimits(1000, 1000))
    assert not failed(found), [found[id_].text for id_ in failed(found)]
    assert idle(found) & included == {"S01"}
    assert "the game continues" in found["S13"].text


# --- one fault each --------------------------------------------------------------------------

SHOW = core.masked
JOIN = LockstepSession.join
TAKE = Lobby.take
RECEIVE = LockstepSession.receive
EXCHANGE = TcpSeat.exchange
PUNISHED = core.TableCore._punished
READ = core.read_reply
HINTS = core.with_hints
HANDSHAKE = Acceptor._handshake
REQUESTED = RequestSession.receive
FAULT = core.TableFault


def old_hello(self):
    return b'{"type":"hello","protocol":"mjai","protocol_version":3}'


def join_of_anything(self, line):
    line = b'{"type":"join","name":"anybody","room":"default"}' if line == b"[]" else line
    return JOIN(self, line)


def no_error_when_busy(self, room, seat):
    try:
        return TAKE(self, room, seat)
    except BusyError:
        refusal = JoinRefusedError("later")
        refusal.line = b'{"type":"none"}'
        raise refusal from None


def open_draws(event, seat):
    return event if isinstance(event, m.Tsumo) else SHOW(event, seat)


def another_name_for_one(event, seat):
    event = SHOW(event, seat)
    if isinstance(event, m.StartGame) and seat == 2:
        return replace(event, names=("somebody", *event.names[1:]))
    return event


def others_discard(event, seat):
    event = SHOW(event, seat)
    if isinstance(event, m.Dahai):
        return replace(event, actor=(event.actor + 1) % 4, possible_actions=())
    return event


def no_offers(event, referee, asked):
    event = HINTS(event, referee, asked)
    return replace(event, possible_actions=()) if isinstance(event, m.Tsumo | m.Dahai) else event


def blame_the_next(seat, text, kind="illegal"):
    there = (seat + 1) % 4
    return FAULT(there, text.replace(f"player {seat}'s", f"player {there}'s"), kind)


def tells_the_riichi_first(self, found):
    punished = PUNISHED(self, found)
    if len(self.faults) == 1:
        self._waiting.appendleft(m.Reach(actor=found[0].seat))
    return punished


def deaf_to_pons(referee, seat, reply, legal):
    action = READ(referee, seat, reply, legal)
    is_pon = action is not None and action.name == "pon"
    return next(one for one in legal if one.is_pass) if is_pon else action


def five_norths(seed, length):
    def walls(round_, honba, wall):
        shuffle_wall(seed, round_, honba, wall, 4)
        wall[np.flatnonzero(wall == 31)[0]] = 30
        wall[np.flatnonzero(wall == 31)[0]] = 30

    return LastKyoku(seed, length, walls=walls)


async def waits_for_who_has_left(self, say):
    answer = await EXCHANGE(self, say)
    if self._gone:
        await asyncio.Event().wait()
    return answer


def lying_scores(event, seat):
    event = SHOW(event, seat)
    if isinstance(event, m.Hora | m.Ryukyoku) and event.scores:
        a, b, c, d = event.scores
        return replace(event, scores=(a + 100, b - 100, c, d))
    return event


def only_usual_json(self, line):
    return RECEIVE(self, b"{" if line.startswith(b" ") else line)


def end_without_scores_for_one(event, seat):
    event = SHOW(event, seat)
    if isinstance(event, m.EndGame) and seat == 3:
        return replace(event, scores=None)
    return event


async def greets_one_at_a_time(self, transport, guest):
    async with self.__dict__.setdefault("lock", asyncio.Lock()):
        return await HANDSHAKE(self, transport, guest)


async def waits_for_ever(self, say):
    self._timeout_s = 1000.0
    return await EXCHANGE(self, say)


def same_walls(seed, length):
    return LastKyoku(12, length)


def matches_by_arrival(self, frame, elapsed_ms):
    output = json.loads(frame)
    output.pop("request_id", None)
    return REQUESTED(self, json.dumps(output).encode(), elapsed_ms)


BROKEN = {
    "S01": (LockstepSession, "hello", old_hello),
    "S02": (LockstepSession, "join", join_of_anything),
    "S03": (Lobby, "take", no_error_when_busy),
    "S04": (core, "masked", open_draws),
    "S05": (core, "masked", another_name_for_one),
    "S06": (core, "masked", others_discard),
    "S07": (core, "with_hints", no_offers),
    "S08": (core, "TableFault", blame_the_next),
    "S09": (core.TableCore, "_punished", tells_the_riichi_first),
    "S10": (core, "read_reply", deaf_to_pons),
    "S11": (core, "masked", lying_scores),
    "S12": (server, "Referee", five_norths),
    "S13": (TcpSeat, "exchange", waits_for_ever),
    "S14": (Acceptor, "_handshake", greets_one_at_a_time),
    "S15": (LockstepSession, "receive", only_usual_json),
    "S16": (core, "TableFault", blame_the_next),
    "S18": (TcpSeat, "exchange", waits_for_who_has_left),
    "S19": (core, "masked", end_without_scores_for_one),
    "S21": (server, "Referee", same_walls),
}
"""Check -> what of our server is put in the place of what."""

OTHERWISE = ("S17", "S20", "S22")
"""Checks whose broken server is not a lock-step table in memory."""


def test_each_check_has_its_broken_server():
    assert {*BROKEN, *OTHERWISE} == {check.id for check in SERVER_CHECKS}


@pytest.mark.parametrize("id_", BROKEN)
def test_each_check_is_failed_by_the_server_made_for_it_and_by_no_other_fault(monkeypatch, id_):
    monkeypatch.setattr(*BROKEN[id_])
    if id_ in ("S13", "S14", "S18"):
        monkeypatch.setattr(four_clients, "SILENCE_S", 4.0)
    monkeypatch.setattr(servers, "JOIN_S", 2.0)
    assert_alone(id_, checked({id_, *PASSIVE}))


def test_replies_matched_by_their_arrival_fail_s17_alone(monkeypatch):
    monkeypatch.setattr(RequestSession, "receive", matches_by_arrival)
    assert_alone("S17", checked_over_websocket({"S17", *PASSIVE}))


def test_one_table_that_claims_to_be_two_fails_s20_alone():
    assert_alone("S20", checked({"S20", *PASSIVE}, at_once=2))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@pytest.mark.parametrize("kind", ["clean", "forks", "careless"])
def test_a_port_that_stays_taken_fails_s22_alone(kind):
    port = free_port()
    command = [sys.executable, "-S", "-E", str(TINY), str(port), kind]

    async def check():
        process = ServerProcess(command, lambda: connect_tcp("127.0.0.1", port))
        async with process, await connect_tcp("127.0.0.1", port) as line:
            await line.receive()
            problem = await process.restart()
            if not problem:  # the new process answers, not what is left of the old one
                async with await connect_tcp("127.0.0.1", port) as again:
                    assert b"hello" in await again.receive(5.0)
            return problem

    problem = asyncio.run(check())
    assert ("Address already in use" in problem) == (kind == "careless"), problem

    async def restart():
        return problem

    found = checked({"S22", *PASSIVE}, restart=restart)
    if kind == "careless":
        return assert_alone("S22", found)
    assert not failed(found) and found["S22"].verdict is CheckVerdict.OK


def test_our_server_that_drains_a_running_game_is_restarted(monkeypatch):
    monkeypatch.setattr(servers, "LEAVE_S", 0.5)
    port = free_port()
    serve = [sys.executable, "-m", "mjbot", "serve", "--port", str(port), "--no-ws"]

    async def join(line):
        await line.receive()
        await line.send(encode(m.Join(name="idle", room="default"), LOCKSTEP))
        return await line.receive()

    async def check():
        process = ServerProcess(serve, lambda: connect_tcp("127.0.0.1", port))
        async with process, contextlib.AsyncExitStack() as stack:
            four = [await connect_tcp("127.0.0.1", port) for _ in range(4)]
            joining = [asyncio.create_task(join(line)) for line in four]
            for line in four:
                await stack.enter_async_context(line)
            # The server waits for the reply to what the first of them receives.
            await asyncio.wait(joining, return_when=asyncio.FIRST_COMPLETED)
            first = process._running
            problem = await process.restart()
            return problem, first.process.returncode, await asyncio.gather(*joining)

    problem, status, received = asyncio.run(check())
    assert not problem
    assert status == ExitCode.INTERRUPTED
    assert sum(b"the game is void" in line for line in received) == 3


def test_a_server_that_ignores_sigterm_is_reported(monkeypatch):
    monkeypatch.setattr(lines, "LEAVE_S", 0.3)
    monkeypatch.setattr(servers, "LEAVE_S", 0.3)
    port = free_port()
    command = [sys.executable, "-S", "-E", str(TINY), str(port), "stays"]

    async def check():
        process = ServerProcess(command, lambda: connect_tcp("127.0.0.1", port))
        async with process:
            return await process.restart()

    assert asyncio.run(check()) == "it did not end within 0.3 s of a second SIGTERM"


def assert_alone(id_, found):
    assert failed(found) == {id_}, {one: found[one].text for one in failed(found)}
    assert found[id_].repeat == f"mjbot check x --only {id_}"
    assert found[id_].transcript or id_ == "S21"


# --- a server of the original's habits, which fails nothing but what it does ---------------------


def test_a_server_that_ends_at_what_is_no_message_fails_that_alone_and_once(monkeypatch):
    ended = []
    connect = Tables.connect

    def ends_at_an_array(self, line):
        if line == b"[]":
            ended.append(line)
        return JOIN(self, line)

    async def connect_to_the_living(self):
        if ended:
            raise VanishedError("connection refused")
        return await connect(self)

    monkeypatch.setattr(LockstepSession, "join", ends_at_an_array)
    monkeypatch.setattr(Tables, "connect", connect_to_the_living)
    found = checked({"S02", "S03", "S08", *PASSIVE})
    assert_alone("S02", found)
    assert "[]: the server ended after this line" in found["S02"].text
    assert found["S08"].verdict is CheckVerdict.OK


def test_a_server_that_is_busy_for_a_while_after_a_game_is_asked_again(monkeypatch):
    refused = []
    reopen, is_busy = Lobby.reopen, Lobby.is_busy

    def rests(self):
        reopen(self)
        self.rests = True

    def busy_once(self, room):
        if self.__dict__.pop("rests", False):
            refused.append(room)
            return True
        return is_busy(self, room)

    monkeypatch.setattr(servers, "_BUSY_S", 0.0)
    monkeypatch.setattr(Lobby, "reopen", rests)
    monkeypatch.setattr(Lobby, "is_busy", busy_once)
    found = checked({"S08", "S09", *PASSIVE})
    assert not failed(found), [found[id_].text for id_ in failed(found)]
    assert found["S09"].verdict is CheckVerdict.OK
    assert refused


def test_a_fifth_comes_only_when_four_have_their_seats(monkeypatch):
    joined = []

    async def greets_the_last_first(self, transport, guest):
        """Let who has connected fourth join last, as servers do that seat by order of joining."""
        line = len(joined)
        joined.append(line)
        if line == 3:
            for _ in range(1000):
                await asyncio.sleep(0)
        return await HANDSHAKE(self, transport, guest)

    monkeypatch.setattr(Acceptor, "_handshake", greets_the_last_first)
    found = checked({"S03", *PASSIVE})
    assert not failed(found), [found[id_].text for id_ in failed(found)]
    assert found["S03"].verdict is CheckVerdict.OK


class Script:
    """A server that sends its lines whatever is replied."""

    def __init__(self, *output):
        self.output = output

    async def connect(self):
        ours, theirs = memory_pair()
        for event in self.output:
            await theirs.send(json.dumps(event).encode())
        return ours


def test_a_client_compares_no_offers_after_a_contradiction():
    hands = [["1m"] * 4 + ["E"] * 4 + ["S"] * 4 + ["W"], *[["?"] * 13 for _ in range(3)]]
    offers = [{"type": "hora", "actor": 0, "target": 0, "pai": "1m"}]
    server = Script(
        {"type": "start_game", "id": 0, "names": ["a", "b", "c", "d"]},
        {"type": "start_kyoku", "bakaze": "E", "kyoku": 1, "honba": 0, "kyotaku": 0, "oya": 0,
         "scores": [25000] * 4, "dora_marker": "N", "tehais": hands},
        {"type": "tsumo", "actor": 0, "pai": "1m", "possible_actions": offers},
    )  # fmt: skip

    async def check():
        client = TableClient("default", 0, Transcript("a script"), asyncio.Event())
        return await client.play(server.connect)

    seen = asyncio.run(check())
    assert [id_ for id_, _ in seen.problems] == ["S12"], seen.problems
