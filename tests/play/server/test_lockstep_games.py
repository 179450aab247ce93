"""Real sockets, four raw clients: what the original server's captures show, ours does."""

import re

import pytest

from mjbot.play.server.lobby import TableRules

SILENCE_S = 5.0
"""What the others must never take, not even on a busy machine: they answer in this process."""

FAULTS = {
    "noactor": r"Invalid actor\. Response: "
    r"\{\"type\":\"dahai\",\"pai\":\"\w+\",\"tsumogiri\":true\}",
    "noneontsumo": r"Unexpected response type 'none' for \{\"type\":\"tsumo\",\"actor\":\d,"
    r"\"pai\":\"\w+\"\}\. Response: ",
    "notsumogiri": r"tsumogiri missing\. Response: \{.*\}",
    "wrongtsumogiri": r"tsumogiri is false but the pai is not in tehais\. Response: \{.*\}",
    "badjson": r"JSON syntax error: .* Response: \{oops",
    "errortype": r"Invalid actor\. Response: \{\"type\":\"error\",\"message\":\"cannot play\"\}",
    "disconnect": r"Unexpected response type 'none' for \{\"type\":\"tsumo\".*\}\. Response: ",
}


def misbehave(kind, default_policy):
    """Return a policy that is at fault at each own draw; it is silent at the first alone."""
    silences = 0

    def policy(event, seat):
        nonlocal silences
        reply = default_policy(event, seat)
        if reply["type"] != "dahai":
            return reply
        match kind:
            case "noactor":
                del reply["actor"]
            case "noneontsumo":
                return {"type": "none"}
            case "notsumogiri":
                del reply["tsumogiri"]
            case "wrongtsumogiri":
                reply |= {"tsumogiri": False, "pai": absent_tile(event)}
            case "badjson":
                return b"{oops"
            case "errortype":
                return {"type": "error", "message": "cannot play"}
            case "disconnect":
                return "close"
            case "silent" if not silences:
                silences += 1
                return None
        return reply

    return policy


def absent_tile(event):
    """A red five that was not drawn: seed 1 deals none to the client under test."""
    return "5mr" if event["pai"] != "5mr" else "5pr"


def test_four_tsumogiri_clients_play_to_the_end(table, raw_client):
    (result,), clients = table([raw_client(name=f"bot{n}") for n in range(4)])
    assert not result.void
    assert sorted(result.names) == ["bot0", "bot1", "bot2", "bot3"]
    assert sum(result.scores) == 100000
    for client in clients:
        kinds = [event["type"] for event in client.received]
        assert kinds[:4] == ["hello", "start_game", "start_kyoku", "tsumo"]
        assert client.received[0] == {"type": "hello", "protocol": "mjsonp", "protocol_version": 3}
        assert client.received[1]["names"] == list(result.names)
        assert client.received[-1] == {"type": "end_game", "scores": list(result.scores)}
        assert "scores" not in client.received[2]


@pytest.mark.parametrize("first", [b"\xef\xbb\xbf", b"\n\r\n  \n", b"\n\xef\xbb\xbf"])
def test_a_byte_order_mark_and_blank_lines_may_come_before_the_join(table, raw_client, first):
    class Opening(raw_client):
        async def _answer(self, event, writer):
            if event["type"] == "hello":
                writer.write(first)
            await super()._answer(event, writer)

    (result,), _ = table([Opening() for _ in range(4)])
    assert not result.void


def test_each_seat_sees_only_what_it_may(table, raw_client):
    _, clients = table([raw_client() for _ in range(4)])
    for client in clients:
        for event in client.received:
            mine = event.get("actor") == client.seat
            if event["type"] == "tsumo":
                assert (event["pai"] != "?") == mine
                assert ("possible_actions" in event) == mine
            if event["type"] == "dahai":
                assert ("possible_actions" in event) != mine
            for offer in event.get("possible_actions", []):
                assert offer["actor"] == client.seat
                assert offer["type"] not in ("dahai", "none")
            if event["type"] == "start_kyoku":
                hidden = [set(hand) == {"?"} for hand in event["tehais"]]
                assert hidden == [seat != client.seat for seat in range(4)]


def test_the_same_seed_gives_the_same_game(table, raw_client):
    def stream(seed):
        _, clients = table([raw_client(name=f"b{n}") for n in range(4)], seed=seed)
        return clients[2].received

    assert stream(5) == stream(5)


def test_seats_are_shuffled_by_the_seed_unless_fixed():
    shuffled = [tuple(TableRules(seed=seed).seating(0)) for seed in range(200)]
    assert len(set(shuffled)) == 24
    assert TableRules(seed=7).seating(3) == TableRules(seed=10).seating(0)
    assert TableRules(seed=7, fixed_seats=True).seating(3) == [0, 1, 2, 3]


def test_the_first_to_join_is_east_at_a_table_with_fixed_seats(table, raw_client):
    (result,), clients = table([raw_client() for _ in range(4)], fixed_seats=True)
    assert result.places == (0, 1, 2, 3)
    assert sorted(client.seat for client in clients) == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_voids_the_game_and_everyone_is_told(table, raw_client, default_policy, kind):
    culprit = raw_client(misbehave(kind, default_policy), "bad")
    (result,), clients = table([culprit, raw_client(), raw_client(), raw_client()])
    assert result.void
    (fault,) = result.faults
    text = fault.text
    assert fault.seat == culprit.seat
    assert re.fullmatch(rf"Error in player {culprit.seat}'s response: {FAULTS[kind]}", text)
    for client in clients:
        if kind != "disconnect" or client is not culprit:
            assert client.received[-1] == {"type": "error", "message": text}


def test_silence_voids_the_game_after_the_time_limit(table, raw_client, default_policy):
    culprit = raw_client(misbehave("silent", default_policy))
    others = [raw_client() for _ in range(3)]
    (result,), clients = table([culprit, *others], timeout_s=SILENCE_S)
    assert result.void
    assert result.faults[0].text.startswith(
        f"Error in player {culprit.seat}'s response: Timeout. No response in 5 sec. Response: "
    )
    for client in clients:
        assert client.received[-1]["type"] == "error"
        assert client.received[-2]["type"] == "tsumo"  # the seats after it still heard the event


def test_unknown_fields_and_remarks_are_harmless(table, raw_client, default_policy):
    def chatty(event, seat):
        return default_policy(event, seat) | {"meta": {"x": 1}, "log": "hm", "pao": None}

    (result,), _ = table([raw_client(chatty)] + [raw_client() for _ in range(3)])
    assert not result.void


@pytest.mark.parametrize("extra", [{"target": 7}, {"consumed": "1m"}, {"log": 3}, {"actor": 1.0}])
def test_a_known_field_of_a_wrong_type_voids_the_game(table, raw_client, default_policy, extra):
    def policy(event, seat):
        return default_policy(event, seat) | extra

    (result,), _ = table([raw_client(policy)] + [raw_client() for _ in range(3)])
    assert result.void
    assert f"`$.{next(iter(extra))}`" in result.faults[0].text


def test_a_megabyte_on_one_line_voids_the_game(table, raw_client, default_policy):
    def policy(event, seat):
        reply = default_policy(event, seat)
        return reply if reply["type"] == "none" else b"x" * (2 << 20)

    (result,), clients = table([raw_client(policy)] + [raw_client() for _ in range(3)])
    assert result.void
    assert "longer than the limit" in result.faults[0].text
    assert all(client.received[-1]["type"] == "error" for client in clients[1:])


@pytest.mark.parametrize("fault", [*FAULTS, "silent"])
@pytest.mark.parametrize("on_fault", ["chombo", "default"])
def test_other_tables_play_on_after_a_fault(table, raw_client, default_policy, fault, on_fault):
    culprit = raw_client(misbehave(fault, default_policy))
    clients = [culprit, *[raw_client() for _ in range(3)]]
    patience_s = SILENCE_S if fault == "silent" else 300.0
    (result,), clients = table(clients, on_fault=on_fault, timeout_s=patience_s)
    assert not result.void
    assert clients[1].received[-1]["type"] == "end_game"
    chombos = [event for event in clients[1].received if event.get("reason") == "error"]
    penalized = [fault for fault in result.faults if fault.kind != "absent"]
    assert len(chombos) == (len(penalized) if on_fault == "chombo" else 0)
    assert all(event["deltas"][culprit.seat] < 0 for event in chombos)
    kinds = {"disconnect": "absent", "silent": "late"}
    assert {one.kind for one in result.faults} == {kinds.get(fault, "illegal")}
    assert {one.seat for one in result.faults} == {culprit.seat}


def test_several_games_with_players_who_come_back(table, raw_client):
    class Regular(raw_client):
        async def play(self, port):
            await super().play(port)
            return await super().play(port)

    results, _ = table([Regular(name=f"b{n}") for n in range(4)], games=2)
    assert [result.game for result in results] == [0, 1]
    assert not any(result.void for result in results)
