"""One late reply of a TCP player costs that one reply, at every cost of a fault."""

import asyncio
import json
import logging

import pytest

from mjbot.game.records.evidence import evidence_path, read_evidence
from mjbot.play.server import server as server_module
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.seats import patience_s
from mjbot.play.server.server import TableServer
from proof.leaping_time import in_leaping_time

LIMIT_S = 2.0
SOCKETS_S = 0.02
GUARD_S = 100_000


class Habit:
    """A plain client: discards what it draws; ``pause_s`` is how long before the n-th own turn."""

    def __init__(self, name, pause_s=lambda turn: 0.0):
        self.name, self.pause_s, self.turns = name, pause_s, 0
        self.received = []

    async def play(self, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        seat = None
        try:
            while line := await reader.readline():
                event = json.loads(line)
                self.received.append(event)
                if event["type"] in ("error", "end_game"):
                    break
                reply = {"type": "none"}
                if event["type"] == "hello":
                    reply = {"type": "join", "name": self.name, "room": "default"}
                elif event["type"] == "start_game":
                    seat = event["id"]
                elif event["type"] == "tsumo" and event["actor"] == seat:
                    reply = {"type": "dahai", "actor": seat, "pai": event["pai"], "tsumogiri": True}
                    self.turns += 1
                    pause_s = self.pause_s(self.turns)
                    if pause_s is None:
                        continue
                    if pause_s:
                        await asyncio.sleep(pause_s)
                writer.write(json.dumps(reply).encode() + b"\n")
        except ConnectionError:
            pass
        finally:
            writer.close()


def late_at(*turns, by_s=3.5):
    return lambda turn: by_s if turn in turns else 0.0


@pytest.fixture
def played(tmp_path, monkeypatch):
    """Play a game of East with one odd client among four, in time that only waiting moves."""

    async def warm():
        pass

    monkeypatch.setattr(server_module, "warm_up_server", warm)

    def play(odd, on_fault):
        rules = TableRules(
            seed=1, rules="tonpu", fixed_seats=True, timeout_s=LIMIT_S, on_fault=OnFault(on_fault)
        )

        async def main():
            table = TableServer(rules, log_dir=tmp_path, evidence=True)
            async with asyncio.timeout(GUARD_S), table as server:
                port = await server.open_tcp("127.0.0.1", 0)
                clients = [Habit("p0"), Habit("p1"), odd, Habit("p3")]
                tasks = []
                for client in clients:
                    tasks.append(asyncio.create_task(client.play(port)))
                    while len(server.lobby.waiting) < len(tasks) and len(tasks) < 4:
                        await asyncio.sleep(0)
                (result,) = [result async for result in server.play(1)]
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                return result

        result = in_leaping_time(main(), SOCKETS_S)
        return result, list(read_evidence(evidence_path(result.log)))

    return play


@pytest.mark.parametrize("on_fault", ["default", "chombo"])
@pytest.mark.parametrize("turns", [(3,), (3, 4), (1, 7, 16)])
def test_a_late_reply_costs_that_reply_and_the_seat_plays_on(played, caplog, on_fault, turns):
    caplog.set_level(logging.INFO)
    result, replies = played(Habit("odd", late_at(*turns)), on_fault)
    assert not result.void
    assert [(fault.seat, fault.kind) for fault in result.faults] == [(2, "late")] * len(turns)
    odd = [reply for reply in replies if reply.seat == 2]
    assert sum(reply.raw is None for reply in odd) == len(turns)
    late = [reply for reply in odd if reply.verdict == "refused" and reply.raw is not None]
    assert all("earlier event" in reply.why for reply in late)
    assert sum('"dahai"' in reply.raw for reply in late) == len(turns)
    own = [reply for reply in odd if reply.raw and '"dahai"' in reply.raw]
    assert all(reply.verdict == "accepted" for reply in own if reply not in late)
    assert len(own) > 12
    assert "lost its connection" not in caplog.text
    (line,) = [line for line in caplog.messages if " late: " in line]
    assert "odd (seat 2 in game 1) late: Timeout. No response in 2 sec." in line


def test_where_faults_void_the_game_a_late_reply_is_named_as_such(played, caplog):
    caplog.set_level(logging.INFO)
    result, _ = played(Habit("odd", late_at(3)), "abort")
    assert result.void
    assert [(fault.seat, fault.kind) for fault in result.faults] == [(2, "late")]
    assert caplog.messages[-1] == (
        "game 1 is void by odd (seat 2), late: Timeout. No response in 2 sec."
    )
    assert "lost its connection" not in caplog.text


def test_a_reply_that_never_comes_costs_that_reply(played):
    result, _ = played(Habit("odd", lambda turn: None if turn == 3 else 0.0), "default")
    assert [fault.kind for fault in result.faults] == ["late"]


def test_a_player_that_answers_nothing_more_is_sent_away_and_all_that_is_replaced_counts(
    whole_games, played, caplog
):
    caplog.set_level(logging.INFO)
    odd = Habit("odd", lambda turn: 10 * GUARD_S if turn >= 3 else 0.0)
    result, replies = played(odd, "default")
    kinds = [fault.kind for fault in result.faults if fault.seat == 2]
    n_late = round(patience_s(LIMIT_S) / LIMIT_S)
    assert kinds[:n_late] == ["late"] * n_late
    assert set(kinds[n_late:]) <= {"absent"}
    replaced = [reply for reply in replies if reply.verdict == "replaced"]
    assert len(replaced) == len(result.faults)
    assert f"odd (seat 2 in game 1) is sent away: No answer for {60:g} s." in caplog.text
