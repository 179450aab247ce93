"""Shapes that servers send and no document promises, as recorded conversations.

``riichilab-wild.txt`` is a recorded kyoku in the form that live servers of requests use: keys in
alphabetical order, ``start_game`` without names, ``end_game`` without scores, an ``observation``
and a ``time`` in each request, an offer for each physical tile, verdicts with ``bank_consumed_ms``
and more, a message of an unknown type.
"""

import asyncio
import json

import pytest

from mjbot.play.client.conversation import Conversation, Meters
from mjbot.play.client.player import ClientPlayer
from mjbot.protocol.codec import decode_line
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.messages import ACK_STATUSES
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.transports.memory import memory_pair

WILD = "riichilab-wild.txt"
GRACE_MS, FULL_MS = 3000, 15000


def played(turns, echo, acked=lambda status: None):
    """Play a transcript through the whole client; return its result, session and answers."""

    async def main():
        own, server = memory_pair()
        session = ClientSession(Dialect.RIICHILAB)
        player = ClientPlayer(lambda game: echo, Dialect.RIICHILAB, strict=True, deadline_s=30)
        meters = Meters(acked=acked)
        conversation = Conversation(
            own, session, player, silence_s=5.0, record=lambda event: None, meters=meters
        )
        task = asyncio.create_task(conversation.play_game())
        answers = []
        for place, turn in enumerate(turns):
            if turn.by == "server":
                follows = [later.line for later in turns[place + 1 :] if later.by == "client"]
                echo.line = follows[0] if follows else b'{"type":"none"}'
                await server.send(turn.line)
            else:
                answers.append(await server.receive(30.0))
        result = await task
        assert player.faults.count.total() == 0
        player.close()
        return result, session, answers

    return asyncio.run(main())


def test_a_game_without_names_and_scores_is_played_to_its_end(own_turns, echo):
    turns, statuses = own_turns(WILD), []
    result, session, answers = played(turns, echo, statuses.append)
    assert answers and [decode_line(line) for line in answers] == [
        decode_line(turn.line) for turn in turns if turn.by == "client"
    ]
    assert [json.loads(line)["request_id"] for line in answers] == [
        json.loads(turn.line)["request_id"] for turn in turns if b"request_action" in turn.line
    ]
    assert statuses == ["accepted"] * len(answers)
    assert (session.names, result.names) == ((), ())
    assert sum(result.scores) == 100_000  # from the deltas of the win
    assert result.final_rank in (1, 2, 3, 4)


def test_the_time_bank_is_kept_as_the_server_keeps_it(own_turns):
    """What is left is known before each request, from the verdicts alone."""
    session, requests, spent = ClientSession(Dialect.RIICHILAB), 0, set()
    for turn in own_turns(WILD):
        message = json.loads(turn.line)
        if turn.by == "server":
            if message["type"] == "request_action" and session.bank is not None:
                requests += 1
                assert session.bank.left_ms == message["time"]["bank_ms"]
                assert session.bank.grace_ms == GRACE_MS
                spent.add(session.bank.left_ms)
            session.receive(turn.line)
        else:
            session.reply(decode_line(turn.line)[0])
    assert requests > 10
    assert spent == {15000, 14600, 12600}


def in_game(session, request=None):
    """Bring a session to its first decision; return what its request calls for."""
    hidden = '["?","?","?","?","?","?","?","?","?","?","?","?","?"]'
    hand = '["1m","2m","3m","4m","5m","6m","7m","8m","9m","1p","2p","3p","E"]'
    session.receive('{"type":"start_game","id":0}')
    session.receive(
        '{"type":"start_kyoku","bakaze":"E","kyoku":1,"honba":0,"kyotaku":0,"oya":0,'
        f'"dora_marker":"N","scores":[25000,25000,25000,25000],"tehais":[{hand},{hidden},{hidden},'
        f"{hidden}]}}"
    )
    session.receive('{"type":"tsumo","actor":0,"pai":"W"}')
    return session.receive(json.dumps(request or asked(1, 3000, 15000)))


def asked(number, grace_ms=None, bank_ms=None):
    request = {"type": "request_action", "request_id": number}
    if grace_ms is not None:
        request["time"] = {"grace_ms": grace_ms, "bank_ms": bank_ms}
    return request | {"possible_actions": [{"type": "dahai", "pai": "W"}]}


@pytest.mark.parametrize(
    ("ack", "left_ms"),
    [
        ({"bank_ms": 9000}, 9000),
        ({"bank_consumed_ms": 2500}, 12500),
        ({"elapsed_ms": 4000}, 14000),
        ({"elapsed_ms": 2900}, 15000),
        ({"elapsed_ms": 30000}, 0),
        ({"status": "defaulted"}, 0),
        ({"status": "stale", "elapsed_ms": 9000}, 15000),
        ({"bank_ms": "much"}, 15000),
        ({}, 15000),
    ],
)
def test_a_request_without_times_may_take_what_the_bank_has(ack, left_ms):
    session = ClientSession(Dialect.RIICHILAB)
    assert in_game(session).deadline_ms == 18000
    session.reply(decode_line('{"type":"dahai","actor":0,"pai":"W","tsumogiri":true}')[0])
    verdict = {"type": "action_ack", "request_id": 1, "status": "accepted"} | ack
    session.receive(json.dumps(verdict))
    assert session.receive(json.dumps(asked(2))).deadline_ms == GRACE_MS + left_ms


def test_where_nothing_is_known_of_times_no_deadline_is_made_up():
    received = in_game(ClientSession(Dialect.RIICHILAB), asked(1))
    assert (received.request_id, received.deadline_ms) == (1, None)


def test_a_new_kyoku_fills_the_bank(own_turns):
    session = ClientSession(Dialect.RIICHILAB)
    in_game(session, asked(1, 2000, 8000))
    session.receive('{"type":"action_ack","request_id":1,"status":"accepted","bank_ms":10}')
    assert session.bank.deadline_ms == 2010
    session.receive('{"type":"dahai","actor":0,"pai":"W","tsumogiri":true}')
    session.receive('{"type":"ryukyoku","reason":"exhaustive_draw","deltas":[0,0,0,0]}')
    session.receive('{"type":"end_kyoku"}')
    in_game_again = '{"type":"start_kyoku","bakaze":"E","kyoku":1,"honba":1,"kyotaku":0,"oya":0,'
    hidden = ",".join(['["?","?","?","?","?","?","?","?","?","?","?","?","?"]'] * 4)
    session.receive(f'{in_game_again}"dora_marker":"N","tehais":[{hidden}]}}')
    assert session.bank.deadline_ms == 10000


# --- verdicts ------------------------------------------------------------------------------------


def with_statuses(turns):
    """Give the verdicts of a transcript all statuses in turn, and one that no document has."""
    statuses, used = [*ACK_STATUSES, "postponed"], []
    for turn in turns:
        if b"action_ack" not in turn.line:
            yield turn
            continue
        status = statuses[len(used) % len(statuses)]
        used.append(status)
        ack = json.loads(turn.line) | {"status": status}
        if status != "accepted":
            ack |= {"reason": "not among possible_actions", "legal_types": ["dahai", "reach"]}
        yield type(turn)(turn.by, json.dumps(ack).encode())


def test_all_verdicts_are_counted_and_logged_with_what_was_believed_legal(own_turns, echo, caplog):
    counted = []
    turns = [*with_statuses(own_turns(WILD))]
    _, _, answers = played(turns, echo, counted.append)
    expected = [json.loads(turn.line)["status"] for turn in turns if b"action_ack" in turn.line]
    assert counted == ["unknown" if status == "postponed" else status for status in expected]
    assert len(answers) == len(expected)
    texts = [
        each.getMessage() for each in caplog.records if "reply to request" in each.getMessage()
    ]
    assert len(texts) == len(expected) - expected.count("accepted")
    rejected = next(text for text in texts if " rejected: " in text)
    reason, sent, legal, offered = rejected.split("; ")
    assert reason.startswith("reply to request ")
    assert reason.endswith(" rejected: not among possible_actions, expected dahai or reach")
    number = int(reason.split()[3])
    answer = next(line for line in answers if json.loads(line)["request_id"] == number)
    assert sent == f"sent {answer.decode()}"
    request = next(
        json.loads(turn.line)
        for turn in turns
        if b"request_action" in turn.line and json.loads(turn.line)["request_id"] == number
    )
    listed = [
        " ".join([each["type"], *filter(None, [each.get("pai")]), *each.get("consumed", [])])
        for each in request["possible_actions"]
    ]
    assert offered == f"offered by the server: {', '.join(dict.fromkeys(listed))}"
    assert {*legal.removeprefix("legal by our rules: ").split(", ")} == {*listed}
    for status in ("stale", "defaulted"):
        assert all("sent" not in text for text in texts if f" {status}: " in text)


# --- arrays on standard input --------------------------------------------------------------------


def test_arrays_with_more_fields_are_answered_line_by_line(own_turns, echo):
    """``num_players``, flags and the like are passed over; the last batch has its answer."""
    session = ClientSession(Dialect.STDIO_ARRAYS)
    player = ClientPlayer(lambda game: echo, Dialect.STDIO_ARRAYS, strict=True, deadline_s=30)
    turns = own_turns("arrays-wild.txt")
    assert b'"num_players":4' in turns[0].line
    assert b"end_game" in turns[-2].line and turns[-1].by == "client"

    async def main():
        answers = []
        for place, turn in enumerate(turns):
            if turn.by == "client":
                continue
            echo.line = turns[place + 1].line
            received = session.receive(turn.line)
            for event in received.events:
                await player.take(event, session.seat)
            answers.append(session.reply(await player.answer(received)))
        return answers

    answers = asyncio.run(main())
    expected = [decode_line(turn.line) for turn in turns if turn.by == "client"]
    assert [decode_line(line) for line in answers] == expected
    assert player.faults.count.total() == 0
    player.close()
