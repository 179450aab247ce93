"""Each check of a server is failed by the server made for it, and by nothing else that it does."""

import asyncio
import contextlib

import numpy as np
import pytest
from msgspec.structs import replace

from mjbot.check import four_clients, servers
from mjbot.check.catalogue import SERVER_CHECKS, Verdict
from mjbot.check.report import results
from mjbot.check.servers import ServerSettings, check_server
from mjbot.referee import Referee
from mjbot.referee.wall import shuffle_wall
from mjbot.server import core, server
from mjbot.server.lobby import TableRules
from mjbot.server.seats import TcpSeat
from mjbot.server.server import TableServer
from protocol import messages as m
from protocol.sessions.lockstep_server import JoinRefusedError, LockstepSession
from protocol.transports.memory import memory_pair

GAMES = 5
PASSIVE = ("S01", "S04", "S05", "S06", "S07", "S10", "S11", "S12", "S15", "S19")
"""What one whole game shows."""


def checked(ids=(), seed=12):
    """Check our table server in memory."""

    async def check():
        rules = TableRules(seed=seed, length="tonpu")
        async with TableServer(rules) as table:
            greetings = set()

            async def connect():
                ours, theirs = memory_pair()
                task = asyncio.create_task(table.acceptor.handshake(theirs))
                greetings.add(task)
                return ours

            async def serve():
                async for _ in table.play(GAMES):
                    pass

            serving = asyncio.create_task(serve())
            async with asyncio.timeout(200):
                findings = await check_server(connect, ServerSettings(ids=frozenset(ids)))
            serving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await serving
            return findings

    found = results(SERVER_CHECKS, asyncio.run(check()), "mjbot check x")
    return {result.check.id: result for result in found}


def failed(found):
    return {id_ for id_, result in found.items() if result.verdict is Verdict.FAILED}


def test_our_server_fails_nothing():
    found = checked()
    assert not failed(found), [found[id_].text for id_ in failed(found)]
    missing = [id_ for id_, one in found.items() if one.verdict is Verdict.NOT_APPLICABLE]
    assert missing == []


# --- one fault each --------------------------------------------------------------------------

SHOW = core.masked
JOIN = LockstepSession.join
RECEIVE = LockstepSession.receive
EXCHANGE = TcpSeat.exchange
PUNISHED = core.TableCore._punished
READ = core.read_reply
HINTS = core.with_hints
FAULT = core.TableFault


def old_hello(self):
    return b'{"type":"hello","protocol":"mjai","protocol_version":3}'


def join_of_anything(self, line, *, busy=False):
    line = b'{"type":"join","name":"anybody","room":"default"}' if line == b"[]" else line
    return JOIN(self, line, busy=busy)


def no_error_when_busy(self, line, *, busy=False):
    if busy:
        refusal = JoinRefusedError("later")
        refusal.line = b'{"type":"none"}'
        raise refusal
    return JOIN(self, line)


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
    return replace(event, possible_actions=()) if isinstance(event, m.Tsumo) else event


def blame_the_next(seat, text):
    there = (seat + 1) % 4
    return FAULT(there, text.replace(f"player {seat}'s", f"player {there}'s"))


def tells_the_riichi_first(self, fault):
    punished = PUNISHED(self, fault)
    if len(self.faults) == 1:
        self._waiting.appendleft(m.Reach(actor=fault.seat))
    return punished


def deaf_to_pons(referee, seat, reply, legal):
    action = READ(referee, seat, reply, legal)
    is_pon = action is not None and action.name == "pon"
    return next(one for one in legal if one.is_pass) if is_pon else action


def five_norths(seed, length):
    def walls(round_, honba, wall):
        shuffle_wall(seed, round_, honba, wall)
        wall[np.flatnonzero(wall == 31)[0]] = 30
        wall[np.flatnonzero(wall == 31)[0]] = 30

    return Referee(seed, length, walls=walls)


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


BROKEN = {
    "S01": (LockstepSession, "hello", old_hello),
    "S02": (LockstepSession, "join", join_of_anything),
    "S03": (LockstepSession, "join", no_error_when_busy),
    "S04": (core, "masked", open_draws),
    "S05": (core, "masked", another_name_for_one),
    "S06": (core, "masked", others_discard),
    "S07": (core, "with_hints", no_offers),
    "S08": (core, "TableFault", blame_the_next),
    "S09": (core.TableCore, "_punished", tells_the_riichi_first),
    "S10": (core, "read_reply", deaf_to_pons),
    "S11": (core, "masked", lying_scores),
    "S12": (server, "Referee", five_norths),
    "S15": (LockstepSession, "receive", only_usual_json),
    "S16": (core, "TableFault", blame_the_next),
    "S18": (TcpSeat, "exchange", waits_for_who_has_left),
    "S19": (core, "masked", end_without_scores_for_one),
}
"""Check -> what of our server is put in the place of what."""


@pytest.mark.parametrize("id_", BROKEN)
def test_each_check_is_failed_by_the_server_made_for_it_and_by_no_other_fault(monkeypatch, id_):
    assert set(BROKEN) == {check.id for check in SERVER_CHECKS}
    monkeypatch.setattr(*BROKEN[id_])
    if id_ == "S18":
        monkeypatch.setattr(four_clients, "SILENCE_S", 5.0)
    monkeypatch.setattr(servers, "JOIN_S", 2.0)
    found = checked({id_, *PASSIVE})
    assert failed(found) == {id_}, {one: found[one].text for one in failed(found)}
    assert found[id_].repeat == f"mjbot check x --only {id_}" and found[id_].transcript
