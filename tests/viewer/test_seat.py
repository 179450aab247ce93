"""A person's seat."""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from rich.console import Console

from mjbot.cli import match as matches
from mjbot.game.referee import Referee
from mjbot.game.table.view import View
from mjbot.play.client.play import Hooks, Settings, play
from mjbot.play.match.players import HumanSeat, SeatError, read_players
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import GameResult, TableServer
from mjbot.protocol.transports.address import parse_address
from mjbot.strategy.faults import AbsentError
from mjbot.viewer import seat as seat_module
from mjbot.viewer.seat import HumanPlayer, SeatServer

KEY = "the key of the seat"


def waiting_view() -> View:
    referee = Referee(1)
    referee.start()
    (seat,) = referee.asked
    return referee.view(seat)


def with_seat(conversation: Callable[[SeatServer, Any], Awaitable[None]]) -> None:
    async def talk() -> None:
        async with asyncio.timeout(60), SeatServer({"title": "seat"}, KEY) as server:
            await server.open()
            async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}") as session:
                await conversation(server, session)

    asyncio.run(talk())


async def next_question(answer: aiohttp.ClientResponse) -> dict[str, Any]:
    async for line in answer.content:
        if line.startswith(b"data: "):
            report: dict[str, Any] = json.loads(line[6:])
            if report["type"] == "ask":
                return report
    raise AssertionError


def test_only_the_page_with_the_key_chooses_and_only_what_is_asked() -> None:
    async def conversation(server: SeatServer, session: aiohttp.ClientSession) -> None:
        view = waiting_view()
        deciding = asyncio.create_task(asyncio.to_thread(server.request_action, view, 20.0))
        origin = {"Origin": f"http://127.0.0.1:{server.port}"}

        async def choose(key: str = KEY, headers: Any = origin, **output: Any) -> int:
            params = {"key": key}
            async with session.post("/api/act", params=params, json=output, headers=headers) as r:
                return r.status

        assert (await session.get("/api/live")).status == 403
        async with session.get("/api/live", params={"key": KEY}) as live:
            asked = await next_question(live)
            codes = [action["code"] for action in asked["actions"]]
            assert codes == [action.code for action in view.legal]
            right = {"id": asked["id"], "code": codes[2]}
            assert await choose(key="", **right) == 403
            assert await choose(headers={}, **right) == 400
            assert await choose(headers={"Origin": "http://evil.example"}, **right) == 403
            assert await choose(id=asked["id"], code=77) == 400
            assert await choose(id=asked["id"] + 1, code=codes[2]) == 409
            for text in (b"{", b"\xff", b"[" * 900, b"1" * 900):
                params = {"key": KEY}
                async with session.post("/api/act", params=params, data=text, headers=origin) as r:
                    assert r.status == 400
            assert await choose(**right) == 200
            assert await choose(**right) == 409
        assert (await deciding).code == codes[2]

    with_seat(conversation)


def test_a_second_answer_is_refused_before_the_first_is_taken() -> None:
    async def conversation(server: SeatServer, session: aiohttp.ClientSession) -> None:
        view = waiting_view()
        question = seat_module._Question(1, view.legal, b"{}")
        server._put(question)  # no thread waits, so none takes the first answer
        headers = {"Origin": f"http://127.0.0.1:{server.port}"}
        statuses = []
        for action in view.legal[:2]:
            output = {"id": 1, "code": action.code}
            params = {"key": KEY}
            async with session.post("/api/act", params=params, json=output, headers=headers) as r:
                statuses.append(r.status)
        assert statuses == [200, 409]
        assert question.answer == view.legal[0]

    with_seat(conversation)


def test_who_has_closed_the_page_is_absent_and_may_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(seat_module, "ABSENT_S", 0.0)

    async def conversation(server: SeatServer, session: aiohttp.ClientSession) -> None:
        view = waiting_view()
        with pytest.raises(AbsentError):
            await asyncio.to_thread(server.request_action, view, 20.0)
        async with session.get("/api/live", params={"key": KEY}) as live:
            await live.content.readline()
            deciding = asyncio.create_task(asyncio.to_thread(server.request_action, view, 20.0))
            asked = await next_question(live)
            while asked["id"] < 2:
                asked = await next_question(live)
            output = {"id": 2, "code": asked["actions"][0]["code"]}
            headers = {"Origin": f"http://localhost:{server.port}"}
            await session.post("/api/act", params={"key": KEY}, json=output, headers=headers)
        assert (await deciding).code == output["code"]

    with_seat(conversation)


def test_a_clock_that_has_run_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seat_module, "_LATE_S", 0.0)
    view = waiting_view()

    async def conversation(server: SeatServer, session: aiohttp.ClientSession) -> None:
        with pytest.raises(TimeoutError, match="run out"):
            await asyncio.to_thread(server.request_action, view, 0.05)

    with_seat(conversation)


def test_each_person_has_a_page_and_a_key_of_their_own() -> None:
    players = read_players(["human", "human,clock_s=12,hint=fast-riichi-a", "tsumogiri", "human"])
    people = [player for player in players if isinstance(player, HumanSeat)]
    assert [player.name for player in players] == ["human", "human-2", "tsumogiri", "human-3"]
    assert len({player.url for player in people}) == len({player.key for player in people}) == 3
    for player in people:
        assert player.key not in " ".join(player.command("mjsonp://127.0.0.1:1/x", 1))
        assert player.key in player.environ.values()
        assert player.key not in repr(player)


def test_a_page_is_named_and_opened_when_it_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(matches, "open_page", opened.append)
    monkeypatch.setattr(matches, "_POLL_S", 0)
    players = read_players(["tsumogiri", "human"])
    person, output = players[1], io.StringIO()
    assert isinstance(person, HumanSeat)

    async def conversation() -> None:
        console = Console(file=output, width=40)
        async with matches.showing_seats(players, console, no_browser=False):
            refused = asyncio.get_running_loop().create_future()
            real = asyncio.open_connection

            async def connect(host: str, port: int) -> Any:
                try:
                    return await real(host, port)
                except OSError:
                    if not refused.done():
                        refused.set_result(None)
                    raise

            monkeypatch.setattr(asyncio, "open_connection", connect)
            await refused
            assert not opened and not output.getvalue()
            async with await asyncio.start_server(lambda *_: None, "127.0.0.1", person.port):
                async with asyncio.timeout(20):
                    while not opened:
                        await asyncio.sleep(0)

    asyncio.run(conversation())
    assert opened == [person.url]
    assert output.getvalue() == f"player 2, human: sit down at {person.url}\n"


@pytest.mark.parametrize("seat", ["human,clock_s=0", "human,hint=nobody", "human,speed=3"])
def test_a_person_with_odd_options_is_refused(seat: str) -> None:
    with pytest.raises(SeatError, match="human"):
        read_players([seat])


class Person:
    """Somebody at a page of their own who passes, else discards what is offered last."""

    def __init__(self, key: str) -> None:
        self.server = SeatServer({"title": key}, key)
        self.report: list[dict[str, Any]] = []
        self._key = {"key": key}

    async def play(self, session: aiohttp.ClientSession) -> None:
        home = f"http://127.0.0.1:{self.server.port}"
        async with session.get(f"{home}/api/live", params=self._key) as live:
            async for line in live.content:
                if not line.startswith(b"data: "):
                    continue
                self.report.append(report := json.loads(line[6:]))
                if report["type"] == "ask":
                    output = {"id": report["id"], "code": report["actions"][-1]["code"]}
                    act = session.post(
                        f"{home}/api/act", params=self._key, json=output, headers={"Origin": home}
                    )
                    assert (await act).status == 200


def test_two_people_at_one_table_see_a_hand_each(sit_raw: Any, short_games: None) -> None:
    async def game(people: list[Person], session: aiohttp.ClientSession) -> GameResult:
        rooms = {"first": (0,), "second": (1,), "default": (2, 3)}
        async with TableServer(TableRules(seed=7, rules="tonpu"), rooms) as table:
            port = await table.open_tcp("127.0.0.1", 0)
            pages = [asyncio.create_task(person.play(session)) for person in people]
            players = [
                play(
                    Settings(
                        parse_address(f"mjsonp://127.0.0.1:{port}/{room}"),
                        name=room,
                        deadline_s=20.0,
                        on_event=person.server.add,
                    ),
                    lambda game, person=person: HumanPlayer(person.server, 20.0),
                    hooks=Hooks(warm_up=lambda: None),
                )
                for room, person in zip(rooms, people, strict=False)
            ]
            playing = asyncio.gather(*players, *[sit_raw(port, f"other-{n}", []) for n in "12"])
            (result,) = [result async for result in table.play(1)]
            await playing
            for page in pages:
                page.cancel()
        return result

    async def talk() -> tuple[GameResult, list[Person]]:
        people = [Person("first key"), Person("second key")]
        one, other = [person.server for person in people]
        async with asyncio.timeout(60), one, other, aiohttp.ClientSession() as session:
            await asyncio.gather(one.open(), other.open())
            for place, wrong in ((one, "second key"), (other, "first key")):
                home = f"http://127.0.0.1:{place.port}/api/live"
                assert (await session.get(home, params={"key": wrong})).status == 403
            return await game(people, session), people

    result, people = asyncio.run(talk())
    assert not result.void
    assert not result.faults
    seats = [
        {report["seat"] for report in person.report if report["type"] == "ask"} for person in people
    ]
    assert all(len(seat) == 1 for seat in seats)
    assert seats[0] != seats[1]
    for person, (own,) in zip(people, seats, strict=True):
        assert sum(report["type"] == "ask" for report in person.report) > 10
        shown = {other for report in person.report for other in hands_shown(report)}
        assert shown == {own}


def hands_shown(report: dict[str, Any]) -> list[int]:
    """Return whose concealed tiles a page is told before a kyoku's end lays hands open."""
    if report["type"] == "kyoku":
        seats = dict(enumerate(report["board"]["seats"]))
    elif report["type"] == "step" and report["kind"] not in ("hora", "ryukyoku", "end_kyoku"):
        seats = {int(seat): of for seat, of in report["change"].get("seats", {}).items()}
    else:
        return []
    return [
        s for s, of in seats.items() if of.get("hand") or of.get("drawn") not in (None, "", "?")
    ]
