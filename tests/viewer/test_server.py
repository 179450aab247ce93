"""Who may ask the page's server what."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from mjbot.strategy.registry import Spec
from mjbot.viewer.library import Library
from mjbot.viewer.pages import game_page, index_page
from mjbot.viewer.server import RecordServer

LOG = Path(__file__).parents[2] / "logs" / "east-extra-round.mjson"
Ask = Callable[..., Awaitable[tuple[int, str, Any]]]


def asked(conversation: Callable[[RecordServer, Ask], Awaitable[None]], by: str = "") -> None:
    """Hold a conversation with a server of one record."""

    async def talk() -> None:
        spec = Spec.read(by) if by else None
        async with RecordServer(Library(LOG), {"title": "game"}, spec) as server:
            await server.open()
            async with aiohttp.ClientSession() as session:

                async def ask(path: str, **headers: str) -> tuple[int, str, Any]:
                    url = f"http://127.0.0.1:{server.port}{path}"
                    async with session.get(url, headers=headers) as answer:
                        return answer.status, await answer.text(), answer.headers

                await conversation(server, ask)

    asyncio.run(talk())


def test_only_its_own_name_and_page_are_answered() -> None:
    async def conversation(server: RecordServer, ask: Ask) -> None:
        own = f"127.0.0.1:{server.port}"
        for path in ("/", "/page/main.js", "/api/records", "/api/game"):
            status, _, headers = await ask(path)
            assert status == 200
            assert headers["Content-Security-Policy"].startswith("default-src 'self'")
            assert (await ask(path, Host="rebound.example"))[0] == 403
            assert (await ask(path, Origin="http://evil.example"))[0] == 403
            assert (await ask(path, Origin="null"))[0] == 403
            assert (await ask(path, **{"Sec-Fetch-Site": "cross-site"}))[0] == 403
            assert (await ask(path, Origin=f"http://{own}"))[0] == 200
            assert (await ask(path, Host=f"localhost:{server.port}"))[0] == 200

    asked(conversation)


def test_a_key_opens_the_hands_of_its_seats_and_no_others() -> None:
    async def conversation(server: RecordServer, ask: Ask) -> None:
        one, every = server.keys.new([2]), server.keys.new(range(4))
        opened = {"": [], "wrong": [], "\u00e9": [], one: [2], every: [0, 1, 2, 3]}
        for key, seats in opened.items():
            _, text, _ = await ask(f"/api/game?key={key}")
            deal = json.loads(text.splitlines()[1])
            hands = [seat["hand"] for seat in deal["board"]["seats"]]
            assert [seat for seat in range(4) if hands[seat]] == seats

    asked(conversation)


def test_thoughts_are_told_of_open_hands_only() -> None:
    async def conversation(server: RecordServer, ask: Ask) -> None:
        key = server.keys.new([0])
        status, text, _ = await ask(f"/api/explain?n=3&seat=0&key={key}")
        report = json.loads(text)
        assert (status, report["strategy"]) == (200, "FastRiichiA")
        worths = [rated["worth"] for rated in report["rated"]]
        assert worths == sorted(worths, reverse=True)
        assert len(worths) > 5
        assert (await ask(f"/api/explain?n=3&seat=1&key={key}"))[0] == 403
        assert (await ask("/api/explain?n=3&seat=0"))[0] == 403
        status, text, _ = await ask(f"/api/explain?n=4&seat=0&key={key}")
        assert (status, text) == (422, "seat 0 has no choice after event 4")

    asked(conversation, by="fast-riichi-a")


def test_what_is_not_there_is_told_in_a_line() -> None:
    async def conversation(server: RecordServer, ask: Ask) -> None:
        no_record = "there is no record 7, the first being 0"
        assert (await ask("/api/game?record=7"))[:2] == (422, no_record)
        status, problem, *_ = await ask("/api/game?game=1")
        assert status == 422
        assert problem.endswith(" has no game 1, the first being 0")
        assert (await ask("/api/game?record=x"))[0] == 400
        assert (await ask("/../pyproject.toml"))[0] == 404

    asked(conversation)


@pytest.mark.parametrize("title", ["</script x", "<!--<script ", "</script><img src=x>", "a&b"])
def test_no_title_ends_the_element_that_holds_it(title: str) -> None:
    """An end tag needs no ``>`` of its own: the next one on the page would do."""
    for page in (index_page({"title": title}), game_page({}, {"title": title})):
        config = page.partition(' id="config">')[2].partition("</script>")[0]
        assert not set("<>&") & set(config)
        assert json.loads(config)["title"] == title
