"""What players really said is kept beside the game, with what became of it."""

import asyncio

import pytest

from mjbot.cli.main import main
from mjbot.game.records.evidence import MOST_KEPT, Reply, evidence_path, make_reply, read_evidence
from mjbot.game.records.game import RecordError
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.protocol.codec import decode_line


def played(folder, clients, **rules):
    """Play a game and return its log."""

    async def play():
        table = TableRules(seed=1, rules="tonpu", fixed_seats=True, **rules)
        async with TableServer(table, log_dir=folder, evidence=True) as server:
            port = await server.open_tcp("127.0.0.1", 0)
            tasks = []
            for client in clients:
                tasks.append(asyncio.create_task(client.play(port)))
                while len(server.lobby.waiting) < len(tasks) and len(tasks) < 4:
                    await asyncio.sleep(0)
            (result,) = [result async for result in server.play(1)]
            await asyncio.gather(*tasks)
            return result.log

    return asyncio.run(play())


def cheat(default_policy):
    """A policy that passes its second draw, and sends bytes that are no text at its third."""
    turns = []

    def policy(event, seat):
        reply = default_policy(event, seat)
        if reply["type"] == "dahai":
            turns.append(event)
            return {2: {"type": "none"}, 3: b"\xff{"}.get(len(turns), reply)
        return reply

    return policy


@pytest.fixture
def cheated(tmp_path, raw_client, default_policy):
    clients = [raw_client(cheat(default_policy) if seat == 2 else default_policy, f"bot{seat}")
               for seat in range(4)]  # fmt: skip
    return played(tmp_path, clients, on_fault=OnFault.DEFAULT)


def test_every_reply_is_kept_with_the_line_it_answers_and_what_became_of_it(cheated):
    events = [decode_line(line)[0] for line in cheated.read_bytes().splitlines()]
    replies = list(read_evidence(evidence_path(cheated)))
    assert len(replies) == 4 * (len(events) - (type(events[-1]).__name__ == "EndGame"))
    assert [reply.seat for reply in replies[:4]] == [0, 1, 2, 3]
    assert all(reply.took_ms >= 0 and reply.at.startswith("20") for reply in replies)
    bad = [reply for reply in replies if reply.verdict != "accepted"]
    assert [reply.verdict for reply in bad] == ["replaced", "replaced"]
    assert [reply.raw for reply in bad] == ['{"type": "none"}', "\\xff{"]
    assert "Unexpected response type 'none'" in bad[0].why and "JSON syntax error" in bad[1].why
    for reply in bad:
        event = events[reply.line - 1]
        assert (type(event).__name__, event.actor, reply.seat) == ("Tsumo", 2, 2)


def test_replay_shows_what_was_not_accepted(cheated, capsys):
    assert main(["replay", str(cheated)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert "seat 2" in shown[0] and "replaced" in shown[0] and '{"type": "none"}' in shown[0]
    assert shown[2].startswith(str(evidence_path(cheated)))
    assert shown[2].endswith("accepted, 2 replaced")
    assert main(["replay", str(cheated), "--replies"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 400


def test_the_fault_that_ends_a_game_is_refused_and_is_the_last_one_kept(
    tmp_path, raw_client, default_policy
):
    clients = [raw_client(cheat(default_policy)), *[raw_client() for _ in range(3)]]
    log = played(tmp_path, clients)
    replies = list(read_evidence(evidence_path(log)))
    assert [reply.verdict for reply in replies[:-4]] == ["accepted"] * (len(replies) - 4)
    assert [reply.verdict for reply in replies[-4:]] == ["refused", *["accepted"] * 3]


def test_a_cut_off_last_line_is_left_out_and_other_damage_is_named(tmp_path):
    file = tmp_path / "game.evidence.jsonl"
    file.write_bytes(b'{"line":1,"seat":0,"at":"","took_ms":1.5,"raw":null,"bytes":0,'
                     b'"verdict":"replaced","why":"late"}\n{"line":2,')  # fmt: skip
    (reply,) = read_evidence(file)
    assert isinstance(reply, Reply) and reply.raw is None
    for damage in (b'{"line":1}', b'{"raw":"\xff"}', b'{"a":' * 3000):
        file.write_bytes(damage + b"\n{}\n")
        with pytest.raises(RecordError, match="line 1: no reply"):
            list(read_evidence(file))


def test_a_long_reply_is_kept_only_so_far():
    reply = make_reply(1, 0, 0.1, b"x" * 1_000_000, ("refused", "too long"))
    assert (reply.raw, reply.bytes) == ("x" * MOST_KEPT, 1_000_000)
