"""Pages are never wider than a phone: in any language, with real fonts, with words twice as wide.

The width must not depend on the fonts of a machine: one test needs real Japanese and Chinese fonts
and is skipped by name without them; the other doubles every text instead.
"""

import asyncio
import contextlib
import itertools
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mjbot.analysis.player.figures import PlayerReport
from mjbot.analysis.player.page import page as player_page
from mjbot.cli.main import main
from mjbot.game.referee import Referee
from mjbot.game.statistics.origin import origin_of
from mjbot.play.server.accounts import Admission
from mjbot.play.server.core import TableFault
from mjbot.play.server.hall import Hall
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import GameResult, RunningGame
from mjbot.play.server.tables import TableResult, Tables
from mjbot.play.server.tables_page import _TablesPage
from mjbot.protocol.messages import EndKyoku, StartGame
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.languages import LANGUAGES, using_language
from mjbot.viewer.library import Library
from mjbot.viewer.live import LiveServer
from mjbot.viewer.seat import SeatServer
from tests.analysis.player.test_figures import game, mistake
from tests.play.server.conftest import WaitingSeat
from tests.play.server.test_standings import played

LOGS = Path(__file__).parents[2] / "logs"
LOG = str(LOGS / "east-four-winds.mjson")
PHONE = (360, 780)
NAMES = ("a long name " * 3, "W" * 40, "\u9ebb\u96c0" * 20, "a-long-name-of-a-player")
KEY = "the key of the seat"
DOUBLE = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walk.nextNode()) nodes.push(walk.currentNode);
  for (const node of nodes) {
    if (!node.parentElement.closest("script, style, svg") && node.textContent.trim())
      node.textContent += node.textContent;
  }
  document.body.style.letterSpacing = "0.3em";
}"""
"""Makes every text more than twice as wide."""
WIDE = """(width) => [...document.querySelectorAll("body *")].filter((it) => {
  if (it.getBoundingClientRect().right <= width + 1) return false;
  for (let up = it.parentElement; up; up = up.parentElement)
    if (getComputedStyle(up).overflowX !== "visible") return false;
  return true;
}).map((it) => `${it.tagName} ${it.className} ${it.textContent.slice(0, 60)}`)"""
"""What reaches beyond the screen, and not inside something that scrolls by itself."""


def _player(folder):
    games = [
        game(number, [mistake("calls", 0.1), mistake("riichi", 0.3)], player="a long name " * 3)
        for number in range(40)
    ]
    report = PlayerReport("a long name " * 3, games[20:], games[:20], "reference-games.jsonl")
    return player_page(report, {}, "player-quiz.html", origin_of(["mjbot review", "--player"]))


def _command(folder, *words):
    out = folder / "page.html"
    assert main([*map(str, words), str(out)]) == ExitCode.OK
    return out.read_text(encoding="utf-8")


def _review(folder):
    by = ["--by", "fast-riichi-d", "--playouts", 0]
    return _command(folder, "review", LOG, "--seat", 0, *by, *_language(), "--out")


def _stats(folder):
    compared = ["--compare", "majiang", "majiang-2", "--jobs", 1]
    return _command(folder, "stats", LOG, *compared, *_language(), "--html")


def _watch(folder):
    return _command(folder, "watch", LOG, "--by", "fast-riichi-b", *_language(), "--out")


def _arena(folder):
    words = ["tsumogiri", "fast-riichi-b", "--games", 8, "--length", "tonpu", "--jobs", 1]
    assert main(["arena", *map(str, words), "--out", str(folder / "run")]) == ExitCode.OK
    return (folder / "run" / "report.html").read_text(encoding="utf-8")


def _tables(folder):
    """Return the page of a server with a game that is played, a closed table, and results."""
    tables = Tables(TableRules(seed=1), Hall({"a-room" * 5: 1, "b": 1}), Admission())
    (room, other), record = tables.lobbies, folder / "record.mjson"
    record.write_bytes(Path(LOG).read_bytes())
    for name in NAMES:
        tables.lobbies[room].take("table", WaitingSeat(name))
    tables.servers[room].running = RunningGame(number=1_234_567, log=record)
    tables.lobbies[other].shut("/a-folder-with-a-long-name" * 6 + ": No space left on device")
    tables.results += [_result(1, record), _result(2, record, is_void=True)]
    tables.history.add(played(1, NAMES))
    with ThreadPoolExecutor(1) as pool:  # the browser's loop runs in this thread
        return pool.submit(asyncio.run, _TablesPage(tables).index({})).result()[0]


def _result(number, record, *, is_void=False):
    faults = (TableFault(2, "Error in player 2's response: " + "x" * 150),) if is_void else ()
    result = GameResult(
        game=0, number=number, names=NAMES, places=(0, 1, 2, 3), scores=(25000,) * 4,
        void=is_void, faults=faults, log=record,
    )  # fmt: skip
    return TableResult("a-room-1", result, "2026-11-28T12:00:00Z")


def _live(stack, serve):
    """Open the page of a running table at the end of its first kyoku, and return its address."""
    server = serve(lambda: LiveServer({"title": "match, seed 7 " * 9}))
    events = [entry.event for entry in Library(Path(LOG)).game(0).entries]
    end = next(at for at, event in enumerate(events) if isinstance(event, EndKyoku))
    _add(serve, server, [StartGame(names=NAMES), *events[1:end]])
    return server.url(server.keys.new(range(4))), "#result"


def _seat(stack, serve):
    """Open the page of a person who is asked, and return its address."""
    server = serve(lambda: SeatServer({"title": "seat " * 30, "pace": 0}, KEY))
    referee = Referee(5, "tonpu")
    begun = referee.start()
    _add(serve, server, [StartGame(names=NAMES), *begun[1:]])
    pool = stack.enter_context(ThreadPoolExecutor(1))
    answer = pool.submit(server.request_action, referee.view(0), 60.0)
    stack.callback(_answer, server, answer)
    return server.url(KEY), "#ask"


def _add(serve, server, events):
    async def add():
        for event in events:
            server.add(event)

    serve.run(add())


def _answer(server, answer):
    """End the question of a seat, so that its thread does not wait for the clock."""
    server._question.answer = server._question.legal[0]
    server._question.answered.set()
    assert answer.result(30)


def _language():
    from mjbot.runtime.languages import language

    return ["--language", language()]


TRANSLATED = {"player": _player, "review": _review, "stats": _stats, "watch": _watch}
SERVED = {"seat": _seat, "live": _live}
ENGLISH = {"arena": _arena, "tables": _tables}
PAGES = [(name, language) for name in TRANSLATED for language in LANGUAGES]
PAGES += [(name, "en") for name in ENGLISH]


@pytest.fixture(scope="module", params=PAGES, ids="-".join)
def phone(request, browser, tmp_path_factory):
    """Return a page as a phone shows it."""
    name, language = request.param
    folder = tmp_path_factory.mktemp(name)
    with using_language(language):
        text = {**TRANSLATED, **ENGLISH}[name](folder)
    file = folder / "shown.html"
    file.write_text(text, encoding="utf-8")
    shown = browser.new_page(viewport=dict(zip(("width", "height"), PHONE, strict=True)))
    shown.goto(file.as_uri())
    shown.evaluate("for (const it of document.querySelectorAll('details')) it.open = true")
    yield shown, language
    shown.close()


@pytest.fixture(params=itertools.product(SERVED, LANGUAGES), ids="-".join)
def served(request, browser, serve):
    """Return a page of a server as a phone shows it."""
    name, language = request.param
    with using_language(language), contextlib.ExitStack() as stack:
        shown = browser.new_page(viewport=dict(zip(("width", "height"), PHONE, strict=True)))
        stack.callback(shown.close)
        address, part = SERVED[name](stack, serve)
        shown.goto(address)
        shown.wait_for_selector(f"{part}:not([hidden])")
        yield shown, language


def test_a_served_page_is_as_wide_as_a_phone(served):
    shown, language = served
    assert shown.get_attribute("html", "lang") == language
    if language == "en" or _has_font(language):
        assert beyond(shown) == []
    shown.evaluate(DOUBLE)
    assert beyond(shown) == []


def beyond(shown):
    width = shown.evaluate("document.documentElement.scrollWidth")
    return shown.evaluate(WIDE, PHONE[0]) if width > PHONE[0] else []


def test_a_page_is_as_wide_as_a_phone_with_real_fonts(phone):
    shown, language = phone
    if language != "en" and not _has_font(language):
        pytest.skip(f"no font for {language}: install fonts-noto-cjk")
    assert beyond(shown) == []


def test_a_page_is_as_wide_as_a_phone_with_words_twice_as_wide(phone):
    shown, _ = phone
    shown.evaluate(DOUBLE)
    assert beyond(shown) == []


def _has_font(language):
    tag = {"ja": "ja", "zh-Hans": "zh-cn", "zh-Hant": "zh-tw"}[language]
    if shutil.which("fc-list") is None:
        return False
    command = ["fc-list", f":lang={tag}", "family"]
    return bool(subprocess.run(command, capture_output=True, check=True).stdout.strip())
