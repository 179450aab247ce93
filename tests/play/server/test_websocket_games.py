"""RiichiLab's dialect at our own door, spoken by a raw aiohttp client."""

import asyncio
import gc
import json

import aiohttp
import aiohttp.web
import pytest

from mjbot.play.server import websocket
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.seats import PlayerSeat
from mjbot.play.server.server import TableServer
from mjbot.protocol.sessions.request_server import TimeLimits

GUARD_S = 300


def first_offer(request):
    """Echo an offer, as is safest: a discard where there is one."""
    offers = request["possible_actions"]
    discards = [offer for offer in offers if offer["type"] == "dahai"]
    passes = [offer for offer in offers if offer["type"] == "none"]
    return {**(discards or passes or offers)[0], "request_id": request["request_id"]}


PATIENT = {"seed": 2, "rules": "tonpu", "limits": TimeLimits(1000 * GUARD_S, 0)}


class WebClient:
    def __init__(self, answer=first_offer):
        self.answer = answer
        self.received = []

    async def play(self, port, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        url = f"http://127.0.0.1:{port}/ws?name=web"
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(url, headers=headers) as socket,
        ):
            async for frame in socket:
                event = json.loads(frame.data)
                self.received.append(event)
                if event["type"] == "request_action":
                    await self._reply(socket, event)
        return self

    async def _reply(self, socket, request):
        reply = self.answer(request)
        if reply == "close":
            await socket.close()
        for part in reply if isinstance(reply, list) else [reply]:
            if part is not None and part != "close":
                await socket.send_str(part if isinstance(part, str) else json.dumps(part))


def play(web_clients, tcp_clients=(), token=None, **rules):
    async def main():
        table = TableRules(**{**PATIENT, **rules})
        async with asyncio.timeout(GUARD_S), TableServer(table) as server:
            port = await server.open_tcp("127.0.0.1", 0)
            web_port = await server.open_websocket("127.0.0.1", 0, token)
            tasks = [asyncio.create_task(client.play(web_port, token)) for client in web_clients]
            tasks += [asyncio.create_task(client.play(port)) for client in tcp_clients]
            results = [result async for result in server.play(1)]
            await asyncio.gather(*tasks)
            return results[0]

    return asyncio.run(main())


def test_four_websocket_players_play_to_the_end():
    clients = [WebClient() for _ in range(4)]
    result = play(clients)
    assert not result.void
    assert result.names == ("web", "web-2", "web-3", "web-4")
    for client in clients:
        kinds = {event["type"] for event in client.received}
        assert kinds >= {"start_game", "start_kyoku", "tsumo", "dahai", "end_kyoku", "end_game"}
        acks = [event["status"] for event in client.received if event["type"] == "action_ack"]
        requests = [event for event in client.received if event["type"] == "request_action"]
        assert acks == ["accepted"] * len(requests)
        assert [event["request_id"] for event in requests] == list(range(1, len(requests) + 1))
        assert client.received[0].keys() == {"type", "id", "mjbot_rules"}


def test_both_doors_lead_to_one_table(raw_client):
    tcp = [raw_client(name="tcp") for _ in range(2)]
    result = play([WebClient(), WebClient()], tcp)
    assert sorted(result.names) == ["tcp", "tcp-2", "web", "web-2"]
    assert not result.void
    assert tcp[0].received[-1]["type"] == "end_game"


def test_events_are_there_before_the_next_answer():
    """Who is asked answers once all others have received what came before the last event.

    That one goes to the seats in turn: those behind it receive it after its answer.
    """

    async def main():
        received = [[] for _ in range(4)]
        changed = asyncio.Condition()

        def all_but_the_last_are_there(place):
            return lambda: min(map(len, received)) >= len(received[place]) - 1

        async def player(place, url):
            async with aiohttp.ClientSession() as session, session.ws_connect(url) as line:
                async for frame in line:
                    event = json.loads(frame.data)
                    if event["type"] == "request_action":
                        async with changed:
                            await changed.wait_for(all_but_the_last_are_there(place))
                        await line.send_str(json.dumps(first_offer(event)))
                    elif event["type"] != "action_ack":
                        async with changed:
                            received[place].append(event["type"])
                            changed.notify_all()

        async with asyncio.timeout(GUARD_S / 5), TableServer(TableRules(**PATIENT)) as server:
            url = f"http://127.0.0.1:{await server.open_websocket('127.0.0.1', 0)}/ws"
            playing = [asyncio.create_task(player(place, url)) for place in range(4)]
            (result,) = [result async for result in server.play(1)]
            await asyncio.gather(*playing)
            assert not result.void
            assert received[0] == received[1] == received[2] == received[3]

    asyncio.run(main())


def once(bad):
    """Answer the first own draw with ``bad(request)``, all else properly."""
    used = []

    def answer(request):
        draws = any(offer["type"] == "dahai" for offer in request["possible_actions"])
        if draws and not used:
            used.append(True)
            return bad(request)
        return first_offer(request)

    return answer


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        (lambda request: "{oops", "unparseable"),
        (lambda request: {"type": "none", "request_id": request["request_id"]}, "rejected"),
        (lambda request: {**first_offer(request), "request_id": 999}, "unparseable"),
        (lambda request: {**first_offer(request), "pai": "?"}, "rejected"),
    ],
)
@pytest.mark.parametrize("on_fault", list(OnFault))
def test_a_refused_reply_is_acknowledged_and_costs_what_the_table_says(
    raw_client, bad, status, on_fault
):
    web = WebClient(once(bad))
    tcp = [raw_client() for _ in range(3)]
    result = play([web], tcp, on_fault=on_fault)
    acks = [event["status"] for event in web.received if event["type"] == "action_ack"]
    assert status in acks
    assert result.void == (on_fault is OnFault.ABORT)
    assert len(result.faults) == 1
    chombos = [event for event in tcp[0].received if event.get("reason") == "error"]
    assert len(chombos) == (on_fault is OnFault.CHOMBO)
    if on_fault is OnFault.CHOMBO:
        shown = [event for event in web.received if event.get("reason", "").startswith("err")]
        assert len(shown) == 1


def test_a_late_reply_is_defaulted_without_penalty_and_then_stale(raw_client):
    late = []

    def answer(request):
        if late:  # the old one first, then the one that is due
            return [late.pop(), first_offer(request)]
        if request["request_id"] == 1:
            late.append(first_offer(request))
            return None
        return first_offer(request)

    web = WebClient(answer)
    result = play([web], [raw_client() for _ in range(3)], limits=TimeLimits(2000, 0))
    assert not result.void
    assert [fault.kind for fault in result.faults] == ["late"]
    acks = [event["status"] for event in web.received if event["type"] == "action_ack"]
    assert acks[0] == "defaulted"
    assert acks[1] == "stale"
    assert acks[2] == "accepted"


def test_who_disconnects_is_played_for_to_the_end(raw_client):
    tcp = [raw_client() for _ in range(3)]
    result = play([WebClient(once(lambda request: "close"))], tcp)
    assert not result.void
    assert tcp[0].received[-1]["type"] == "end_game"


def test_a_wrong_token_stays_outside(raw_client):
    async def main():
        rules = TableRules(seed=1)
        async with asyncio.timeout(GUARD_S), TableServer(rules) as server:
            url = f"http://127.0.0.1:{await server.open_websocket('127.0.0.1', 0, 'secret')}/ws"
            async with aiohttp.ClientSession() as session:
                for guess in ("", "guess", "s", "secre", "secret2", "SECRET"):
                    headers = {"Authorization": f"Bearer {guess}"}
                    with pytest.raises(aiohttp.WSServerHandshakeError, match="401"):
                        await session.ws_connect(url, headers=headers)
                with pytest.raises(aiohttp.WSServerHandshakeError, match="401"):
                    await session.ws_connect(url)
            assert server.lobby.waiting == []

    asyncio.run(main())


@pytest.mark.parametrize(
    ("origin", "comes_in"),
    [
        ("https://evil.example", False),
        ("null", False),
        ("http://notlocalhost", False),
        ("http://evil.localhost.example", False),
        ("http://127.0.0.1:8000", True),
        ("http://localhost:8000", True),
    ],
)
def test_a_web_page_of_elsewhere_may_not_play(origin, comes_in):
    async def main():
        async with asyncio.timeout(GUARD_S), TableServer(TableRules(seed=1)) as server:
            url = f"http://127.0.0.1:{await server.open_websocket('127.0.0.1', 0)}/ws"
            async with aiohttp.ClientSession(headers={"Origin": origin}) as session:
                if comes_in:
                    async with session.ws_connect(url):
                        assert len(server.lobby.waiting) == 1
                else:
                    with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                        await session.ws_connect(url)
                    assert server.lobby.waiting == []

    asyncio.run(main())


@pytest.mark.parametrize(("letters", "comes_in"), [(64, True), (65, False)])
def test_a_name_has_a_length(letters, comes_in):
    async def main():
        async with asyncio.timeout(GUARD_S), TableServer(TableRules(seed=1)) as server:
            port = await server.open_websocket("127.0.0.1", 0)
            url = f"http://127.0.0.1:{port}/ws?name={'x' * letters}"
            async with aiohttp.ClientSession() as session, session.get(url) as answer:
                report = "The name is longer than 64 characters."
                assert (report in await answer.text()) != comes_in

    asyncio.run(main())


def test_the_right_token_comes_in():
    assert not play([WebClient() for _ in range(4)], token="secret").void


def alive(kind):
    """Count objects by their type: isinstance asks what others' dead proxies stand for."""
    return sum(issubclass(type(thing), kind) for thing in gc.get_objects())


def test_seats_are_gone_with_their_game_though_no_cycles_are_collected(raw_client):
    """A WebSocket's compressor alone takes a quarter of a megabyte."""

    async def main():
        rules = TableRules(**PATIENT)
        async with asyncio.timeout(GUARD_S), TableServer(rules) as server:
            port = await server.open_tcp("127.0.0.1", 0)
            web_port = await server.open_websocket("127.0.0.1", 0)
            kept = []
            games = server.play(2)
            for _ in range(2):
                four = [WebClient().play(web_port), WebClient().play(web_port)]
                four += [raw_client(name="tcp").play(port) for _ in range(2)]
                await asyncio.gather(anext(games), *four)
                kept.append(alive(PlayerSeat))
            await games.aclose()
            return kept

    gc.collect()
    before = alive(PlayerSeat)
    gc.disable()
    try:
        after_one, after_two = asyncio.run(main())
    finally:
        gc.enable()
    assert after_one - before <= 4
    assert after_two - before <= 4  # the server itself knows the last four


def test_nothing_is_kept_of_who_is_sent_away(monkeypatch):
    """aiohttp's heartbeat would keep it for as long as until it beats."""
    monkeypatch.setattr(websocket, "HEARTBEAT_S", 10.0 * GUARD_S)

    def sockets():
        gc.collect()
        return alive(aiohttp.web.WebSocketResponse)

    async def main():
        async with asyncio.timeout(GUARD_S), TableServer(TableRules(seed=2)) as server:
            url = f"http://127.0.0.1:{await server.open_websocket('127.0.0.1', 0)}/ws"
            async with aiohttp.ClientSession() as session:
                players = [await session.ws_connect(url) for _ in range(4)]
                while not server.lobby.is_busy("default"):
                    await asyncio.sleep(0)
                there = sockets()
                async with session.ws_connect(url) as sent_away:
                    assert (await sent_away.receive_json())["type"] == "error"
                    await sent_away.receive()
                while sockets() > there:
                    await asyncio.sleep(0)
                for player in players:
                    await player.close()

    asyncio.run(main())
