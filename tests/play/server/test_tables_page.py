"""What players can write onto the page of tables, and who may read it."""

import asyncio
import json
import re
import urllib.error
import urllib.request
from datetime import datetime
from pathlib import Path

import pytest

from mjbot.analysis.collusion import live
from mjbot.cli import serve
from mjbot.play.client.play import Settings, play
from mjbot.play.server.accounts import Admission
from mjbot.play.server.core import TableFault
from mjbot.play.server.hall import Hall
from mjbot.play.server.lobby import PLACES, TableRules
from mjbot.play.server.server import GameResult, RunningGame
from mjbot.play.server.tables import TableResult, Tables
from mjbot.play.server.tables_page import _TablesPage, server_metrics, tables_server
from mjbot.play.service.reporting import metrics_server
from mjbot.play.service.status import Status
from mjbot.protocol.messages import EndGame, EndKyoku, StartGame
from mjbot.protocol.transports.address import parse_address
from mjbot.strategy.registry import make_strategy
from mjbot.viewer.pages import game_of_page
from tests.play.server.conftest import WaitingSeat
from tests.play.server.test_standings import played

HOST = "127.0.0.1"
ROOT = Path(__file__).parents[3]
REFERENCE = (ROOT / "docs/reference/status.md").read_text(encoding="utf-8")
EVIL = "<img src=x onerror=alert(1)>\u202e"


def result(number, *, void=False):
    faults = (TableFault(2, f"Error in player 2's response: {EVIL}"),) if void else ()
    return GameResult(
        game=0, number=number, names=(EVIL,) * PLACES, places=(0, 1, 2, 3),
        scores=(25000,) * PLACES, void=void, faults=faults, log=None,
    )  # fmt: skip


def fetched(port, path, host=None, **headers):
    headers = {"Host": host or f"127.0.0.1:{port}"} | headers
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
        tables.history.add(played(1, (EVIL, "x", "y", "z")))
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
        n_names = PLACES + PLACES + 2 + 1  # at the table, in results, twice in a reason, standings
        assert page.count("&lt;img src=x") >= n_names
        assert "closed: &lt;img" in page

    visit(scenario)


def test_the_state_of_the_tables_is_there_as_json_and_as_metrics():
    def scenario(port, tables):
        state = json.loads(fetched(port, "/tables")[1])
        assert [each["state"] for each in state["tables"]] == ["waiting", "closed"]
        assert state["tables"][1]["reason"].endswith("No space left on device")
        keys = [*state, *state["tables"][0], *state["standings"][0], *state["results"][0]]
        for key in keys:
            assert f"`{key}`" in REFERENCE, key
        status, text = fetched(port, "/metrics")
        assert status == 200
        assert text.splitlines()[:-1] == server_metrics(tables).splitlines()[:-1]  # but for memory
        assert 'mjbot_tables{state="closed"} 1' in text
        assert 'mjbot_waiting{room="a"} 0' in text

    visit(scenario)


def headers_of(port, path, **headers):
    """Return the status and the headers of a response."""
    headers = {"Host": f"127.0.0.1:{port}"} | headers
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers


REQUIRED = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
]
OWN = [
    {},
    {"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:{port}"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
]


def metrics_visit(scenario):
    async def main():
        page = metrics_server(Status(lambda: 0.0))
        port = await page.open(0)
        try:
            return await asyncio.to_thread(scenario, port, None)
        finally:
            await page.close()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("visiting", "paths"),
    [(visit, ["/", "/tables", "/metrics"]), (metrics_visit, ["/metrics", "/status"])],
)
def test_every_page_has_the_headers_of_the_board_and_refuses_requests_of_other_pages(
    visiting, paths
):
    def scenario(port, tables):
        for path in [*paths, "/none"]:
            for headers in OWN:
                own = {name: value.format(port=port) for name, value in headers.items()}
                status, given = headers_of(port, path, **own)
                assert status == (404 if path == "/none" else 200)
                assert {name: given[name] for name in REQUIRED} == REQUIRED
                policy = given["Content-Security-Policy"]
                assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
                assert ("style-src" in policy) is (path == "/")
            for headers in FOREIGN:
                status, given = headers_of(port, path, **headers)
                assert status == 403
                assert {name: given[name] for name in REQUIRED} == REQUIRED

    visiting(scenario)


def test_the_page_has_dates_separators_and_standings():
    def scenario(port, tables):
        page = fetched(port, "/")[1]
        assert "<th>mean rank</th><th>1st</th>" in page
        assert "<td><bdi>x</bdi></td><td>1</td><td>2.00</td>" in page
        assert "<td>+1,050.0</td>" in page and " 25,000</td>" in page
        local = datetime.fromisoformat("2026-11-28T12:00:01+00:00").astimezone()
        assert f"<td>{local:%Y-%m-%d %H:%M}</td>" in page
        state = json.loads(fetched(port, "/tables")[1])
        standing = state["standings"][0]
        assert (standing["name"], standing["games"], standing["mean_rank"]) == (EVIL, 1, 1)
        assert standing["uma"] == 1050.0 and standing["last"] == "2026-11-28T12:00:01Z"

    async def main():
        tables = Tables(TableRules(seed=1), Hall({"a": 1, "b": 1}), Admission())
        tables.results.append(TableResult("a-1", result(1), "2026-11-28T12:00:01Z"))
        tables.history.add(played(1, (EVIL, "x", "y", "z"), (1_040_000, 30000, 20000, -990_000)))
        page = tables_server(tables)
        port = await page.open(0)
        try:
            await asyncio.to_thread(scenario, port, tables)
        finally:
            await page.close()

    asyncio.run(main())


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


# --- what goes together with the page ------------------------------------------------------------

TYPES = {3: 17, 4: 1}
"""Tenhou's table types of an East-only game, by how many play."""


def listeners(lines):
    return dict(re.findall(r"listening on ([a-z+]+)://127\.0\.0\.1:(\d+)/", "".join(lines)))


@pytest.mark.parametrize(
    ("how", "scheme", "tables", "players"),
    [
        ("command", "tenhou", 1, 4),
        ("command", "tenhou+ws", 2, 3),
        ("profile", "tenhou", 2, 4),
    ],
)
def test_the_page_goes_together_with_tenhou_clients_and_the_watch_for_pairs(
    beside, monkeypatch, tmp_path, how, scheme, tables, players
):
    watched = []
    monkeypatch.setattr(
        serve, "_pair_watch", lambda players: lambda table, event: watched.append((table, event))
    )
    values = {
        "port": 0, "ws_port": 0, "tenhou": 0, "tenhou_ws": 0, "tables_port": 0, "tables": tables,
        "games": 1, "length": "tonpu",
    }  # fmt: skip
    rules = f"players={players}"
    if how == "profile":
        lines = {key: f"{key} = {json.dumps(value)}" for key, value in values.items()}
        hall = [lines.pop(key) for key in ("tables_port", "tables")]
        table = [lines.pop("length"), f'rules = "{rules}"']
        parts = [*lines.values(), "watch_for_pairs = true", "[table]", *table, "[hall]", *hall]
        profile = tmp_path / "server.toml"
        profile.write_text("\n".join(parts))
        arguments = ["--profile", str(profile)]
    else:
        arguments = [f"--{key.replace('_', '-')}={value}" for key, value in values.items()]
        arguments += ["--watch-for-pairs", "--rules", rules]

    async def scenario(server):
        lines = [(await server.stdout.readline()).decode() for _ in range(6)]
        url = f"{scheme}://{HOST}:{listeners(lines)[scheme]}/0?type={TYPES[players]}"
        settings = Settings(parse_address(url))
        async with asyncio.TaskGroup() as group:
            for _ in range(players):
                group.create_task(play(settings, lambda game: make_strategy("tsumogiri")))
        output, _ = await server.communicate()
        return "".join(lines) + output.decode()

    status, output = beside(scenario, "serve", *arguments)
    assert status == 0 and "tables at http://127.0.0.1:" in output and "game 1:" in output
    kinds = [type(event).__name__ for _, event in watched]
    assert (kinds[0], kinds[-1]) == ("StartGame", "EndGame")


def test_the_watch_for_pairs_judges_the_games_of_several_tables_one_after_another(monkeypatch):
    taken = {"pairs": [], "helpers": []}
    monkeypatch.setattr(live.PairWatch, "add", lambda self, event: taken["pairs"].append(event))
    monkeypatch.setattr(live.HelperWatch, "add", lambda self, event: taken["helpers"].append(event))
    watch = serve._pair_watch(4)
    a, b = ([StartGame(id=seat), EndKyoku(), EndGame(scores=(seat,) * 4)] for seat in (0, 1))
    void = [StartGame(id=2), EndKyoku()]  # it ends without an event
    for table, event in [
        *zip("vavabab", [void[0], a[0], void[1], a[1], b[0], a[2], b[1]], strict=True),
        ("v", b[0]), ("b", b[2]),
    ]:  # fmt: skip
        watch(table, event)
    assert taken["pairs"] == taken["helpers"] == [*a, *b]


def test_the_board_of_a_running_game_shows_the_kyoku_that_have_ended(tmp_path):
    record = next(iter(sorted((ROOT / "logs").glob("*hanchan*.mjson"))))
    lines = record.read_bytes().splitlines(keepends=True)
    ends = [at for at, line in enumerate(lines, 1) if b'"end_kyoku"' in line]
    tables = Tables(TableRules(seed=1), Hall({"a": 1}), Admission(), log_dir=tmp_path)
    log = tmp_path / "a-1" / record.name
    log.parent.mkdir(parents=True)

    async def board_of(text):
        log.write_bytes(b"".join(text))
        tables.servers["a-1"].running = RunningGame(number=3, log=log)
        page = _TablesPage(tables)
        assert f'<a href="/board/a-1/{record.name}">3</a>' in (await page.index({}))[0]
        return (await page.board({"table": "a-1", "record": record.name}))[0]

    async def main():
        assert "has ended yet" in await board_of(lines[: ends[0] - 1])
        for until in (ends[1] - 3, ends[1] - 1):
            shown = game_of_page(await board_of(lines[:until]))
            assert len(shown["kyoku"]) == 1
        page = _TablesPage(tables)
        tables.servers["a-1"].running = None
        for path in (("a-1", record.name), ("a-1", "results.jsonl"), ("..", record.name)):
            assert await page.board(dict(zip(("table", "record"), path, strict=True))) is None

    asyncio.run(main())
