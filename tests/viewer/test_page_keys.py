"""Who gets a page's key, and what it takes to get past it."""

import asyncio
import stat
from pathlib import Path

import aiohttp
import pytest

from mjbot.strategy.registry import Spec
from mjbot.viewer import browser
from mjbot.viewer.browser import open_page, redirect_file
from mjbot.viewer.game import ALL_SEATS
from mjbot.viewer.library import Library, ReadGame
from mjbot.viewer.live import LiveServer
from mjbot.viewer.server import Keys, RecordServer

LOG = Path(__file__).parents[2] / "logs" / "east-extra-round.mjson"
NAVIGATION = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the browser got on its command line."""
    addresses: list[str] = []
    monkeypatch.setattr(browser.webbrowser, "open", addresses.append)
    return addresses


def test_the_browser_s_command_line_has_no_key(
    opened: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    browser.show_page("http://127.0.0.1:5/?key=sesame#0/0/0", no_browser=False)
    assert "sesame" in capsys.readouterr().out
    (address,) = opened
    assert address.startswith("file://") and "sesame" not in address
    page = Path(address.removeprefix("file://"))
    assert "key=sesame#0/0/0" in page.read_text("utf-8")


def test_only_this_user_can_read_where_the_browser_is_sent(opened: list[str]) -> None:
    page = redirect_file('http://127.0.0.1:5/?key="><script>')
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
    assert "<script>" not in page.read_text("utf-8")
    open_page("http://127.0.0.1:5/")
    assert Path(opened[0].removeprefix("file://")) != page


@pytest.mark.parametrize("cut", [1, 5, 21])
def test_a_part_of_a_key_opens_nothing(cut: int) -> None:
    keys = Keys()
    key = keys.new([2])
    assert keys.opens(key) == {2}
    assert keys.opens(key[:cut]) == keys.opens(key + "x") == keys.opens("") == frozenset()


def status_of(path: str, *, method: str = "GET", **headers: str) -> int:
    async def ask() -> int:
        async with RecordServer(Library(LOG), {"title": "game"}) as server:
            await server.open()
            url = f"http://127.0.0.1:{server.port}{path}"
            fields = {name.replace("_", "-"): value for name, value in headers.items()}
            async with (
                aiohttp.ClientSession() as session,
                session.request(method, url, headers=fields) as answer,
            ):
                return answer.status

    return asyncio.run(ask())


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_sites_and_ports_may_not_ask(site: str) -> None:
    for path in ("/", "/api/game", "/page/main.js"):
        assert status_of(path, Sec_Fetch_Site=site) == 403
    assert status_of("/api/game", Sec_Fetch_Site="same-origin") == 200


def test_a_link_may_open_the_page_itself_and_nothing_else() -> None:
    document = {name.replace("-", "_"): value for name, value in NAVIGATION.items()}
    assert status_of("/", Sec_Fetch_Site="cross-site", **document) == 200
    assert status_of("/api/game", Sec_Fetch_Site="cross-site", **document) == 403
    framed = document | {"Sec_Fetch_Dest": "iframe"}
    assert status_of("/", Sec_Fetch_Site="cross-site", **framed) == 403


def test_a_live_table_explains_open_hands_only(short_game: ReadGame) -> None:
    async def talk() -> None:
        spec = Spec.read("fast-riichi-a")
        async with asyncio.timeout(300), LiveServer({"title": "table"}, spec) as server:
            await server.open()
            for entry in short_game.entries[:20]:
                server.add(entry.event)
            every, one = server.keys.new(ALL_SEATS), server.keys.new([1])
            place = f"http://127.0.0.1:{server.port}/api/explain?n=3&seat=0"
            async with aiohttp.ClientSession() as session:
                for key, status in (("", 403), (one, 403), (every, 200)):
                    async with session.get(f"{place}&key={key}") as answer:
                        assert answer.status == status

    asyncio.run(talk())
