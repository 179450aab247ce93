"""What players can write onto the page of tables, and who may read it."""

import asyncio
import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from mjbot.play.server.accounts import Admission
from mjbot.play.server.core import TableFault
from mjbot.play.server.hall import Hall
from mjbot.play.server.lobby import PLACES, TableRules
from mjbot.play.server.server import GameResult
from mjbot.play.server.tables import TableResult, Tables
from mjbot.play.server.tables_page import server_metrics, tables_server
from mjbot.play.service.status import Status
from tests.play.server.conftest import WaitingSeat

REFERENCE = (Path(__file__).parents[3] / "docs/reference/status.md").read_text(encoding="utf-8")
EVIL = "<img src=x onerror=alert(1)>\u202e"


def result(number, *, void=False):
    faults = (TableFault(2, f"Error in player 2's response: {EVIL}"),) if void else ()
    return GameResult(
        game=0, number=number, names=(EVIL,) * PLACES, places=(0, 1, 2, 3),
        scores=(25000,) * PLACES, void=void, faults=faults, log=None,
    )  # fmt: skip


def fetched(port, path, host=None):
    headers = {"Host": host or f"127.0.0.1:{port}"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


def visit(scenario):
    """Serve the page of two tables whose players have evil names, at work and in results."""

    async def main():
        tables = Tables(TableRules(seed=1), Hall({"a": 1, "b": 1}), Admission())
        for number in range(PLACES):
            tables.lobbies["a-1"].take("table", WaitingSeat(f"{EVIL}{number}"))
        tables.lobbies["b-1"].shut(f"{EVIL}: No space left on device")
        tables.results.append(TableResult("a-1", result(1)))
        tables.results.append(TableResult("a-1", result(2, void=True)))
        page = tables_server(tables)
        port = await page.open(0)
        try:
            return await asyncio.to_thread(scenario, port, tables)
        finally:
            await page.close()

    return asyncio.run(main())


def test_no_name_or_reason_is_html_on_the_page():
    def scenario(port, tables):
        status, page = fetched(port, "/")
        assert status == 200
        assert "<img" not in page and "\u202e" not in page
        n_names = PLACES + PLACES + 2  # at the table, in the result, twice in the void one's reason
        assert page.count("&lt;img src=x") >= n_names
        assert "closed: &lt;img" in page

    visit(scenario)


def test_the_state_of_the_tables_is_there_as_json_and_as_metrics():
    def scenario(port, tables):
        state = json.loads(fetched(port, "/tables")[1])
        assert [each["state"] for each in state["tables"]] == ["waiting", "closed"]
        assert state["tables"][1]["reason"].endswith("No space left on device")
        for key in {*state, *state["tables"][0], *state["results"][0]}:
            assert f"`{key}`" in REFERENCE, key
        status, text = fetched(port, "/metrics")
        assert status == 200
        assert text.splitlines()[:-1] == server_metrics(tables).splitlines()[:-1]  # but for memory
        assert 'mjbot_tables{state="closed"} 1' in text
        assert 'mjbot_waiting{room="a"} 0' in text

    visit(scenario)


HOSTS = [
    "127.0.0.1.evil.example", "localhost.evil.example", "evil.example", "127.0.0.1", "localhost",
    "127.0.0.1:1", "127.0.0.1:{port}.evil.example", "127.0.0.1:{port}0", "x127.0.0.1:{port}",
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_a_request_must_name_this_host_and_nothing_that_begins_like_it(host):
    def scenario(port, tables):
        paths = ["/", "/tables", "/metrics", "/board/a-1/x"]
        assert [fetched(port, path, host.format(port=port))[0] for path in paths] == [403] * 4
        assert fetched(port, "/", f"localhost:{port}")[0] == 200

    visit(scenario)


@pytest.mark.parametrize("text", ["a\nmjbot_games_total 7", 'a"} 1\nx{y="', "a\\\nb", "\\n"])
def test_no_text_forges_a_line_of_metrics(text):
    status = Status(lambda: 0.0)
    status.strategy = text
    lines = status.metrics().split("\n")
    plain = Status(lambda: 0.0).metrics().split("\n")
    assert len(lines) == len(plain)
    (line,) = [line for line in lines if line.startswith("mjbot_info{")]
    value = line.partition('strategy="')[2].removesuffix('"} 1')
    assert decoded(value) == text


def decoded(value):
    """Read a label's value as Prometheus does."""
    letters, meant = iter(value), {"n": "\n", '"': '"', "\\": "\\"}
    return "".join([meant[next(letters)] if each == "\\" else each for each in letters])
