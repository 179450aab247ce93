"""The page in a real browser: its size, its times and its memory.

The best other viewer that was measured needs 695 kB a game, 1.24 s to load and 33 ms a step.

Needs chromium and playwright.  Times in the page are its own clock's; a step is the key, the
drawing and the layout.  The lag of a live table is from the event at the server to its board in
the page.
"""

import asyncio
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mjbot.game.referee import Referee
from mjbot.protocol.messages import Event
from mjbot.viewer.game import fold_steps
from mjbot.viewer.library import Library
from mjbot.viewer.live import LiveServer
from mjbot.viewer.pages import game_page
from mjbot.viewer.server import PageServer, RecordServer
from proof.board import open_browser

LOGS = Path(__file__).parent.parent / "logs"
LONGEST = LOGS / "hanchan-thirteen-kyoku.mjson"
RECORDS = 1000
OPENED = 60
"""Records that are opened one after the other, to see whether memory grows."""
EVENTS_PER_S = 20
LIVE_S = 10

STEPS = """() => {
  const took = [];
  const step = (key) => {
    const before = performance.now();
    document.dispatchEvent(new KeyboardEvent("keydown", { key }));
    document.body.getBoundingClientRect();
    took.push(performance.now() - before);
  };
  for (let count = 0; count < 400; count++) step("ArrowRight");
  for (let count = 0; count < 400; count++) step("ArrowLeft");
  return took;
}"""

SEEN = """() => {
  window.seen = {};
  new MutationObserver(() => {
    window.seen[document.body.dataset.place] = performance.timeOrigin + performance.now();
  }).observe(document.body, { attributes: true, attributeFilter: ["data-place"] });
}"""


def report(rounds: int) -> dict[str, Any]:
    """Measure everything; ``rounds`` loads of the page."""
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        results = [
            *_one_file(browser, Path(folder), rounds),
            *_live(browser),
            *_records(browser, Path(folder, "records")),
        ]
    return {"results": results}


def print_report(report: dict[str, Any]) -> None:
    """Print it for people."""
    for result in report["results"]:
        verdict = "" if result["reached"] else "  MISSED"
        value, most = f"{result['value']:.4g} {result['unit']}", f"{result['most']:g}"
        print(f"{result['name']:52} {value:>12} (at most {most}){verdict}")


def _result(name: str, value: float, unit: str, most: float) -> dict[str, Any]:
    return {"name": name, "value": value, "unit": unit, "most": most, "reached": value <= most}


def _one_file(browser: Any, folder: Path, rounds: int) -> Iterator[dict[str, Any]]:
    game = Library(LONGEST).game(0)
    file = folder / "game.html"
    file.write_text(game_page(fold_steps(game.steps()), {"title": "game"}), encoding="utf-8")
    name = f"a hanchan of {len(game.entries)} events"
    yield _result(f"{name}: one file", file.stat().st_size / 1000, "kB", 150)
    loads, steps = [], []
    for _ in range(rounds):
        page = browser.new_page()
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-place]")
        loads.append(page.evaluate("performance.getEntriesByName('board')[0].startTime"))
        page.wait_for_selector("body[data-read=all]")
        steps += page.evaluate(STEPS)
        page.close()
    yield _result(f"{name}: on the board, median", statistics.median(loads), "ms", 400)
    yield _result("a step, median", statistics.median(steps), "ms", 8)
    # a new kyoku draws everything anew
    yield _result("a step, 99 of 100", statistics.quantiles(steps, n=100)[98], "ms", 50)


def _live(browser: Any) -> Iterator[dict[str, Any]]:
    events = _events(EVENTS_PER_S * LIVE_S)
    with _serving(lambda: LiveServer({"title": "live"})) as (server, run):
        page = browser.new_page()
        page.goto(server.url(server.keys.new(range(4))))
        page.wait_for_selector("body[data-connected=true]")
        page.evaluate(SEEN)
        output = run(_play(server, events))
        page.wait_for_selector(f"body[data-place='0/{len(events) - 2}']", timeout=5000)
        seen = page.evaluate("window.seen")
        page.close()
    lags = [
        1000 * (seen[position] / 1000 - at) for position, at in output.items() if position in seen
    ]
    name = f"four tsumogiri, {EVENTS_PER_S} events/s"
    yield _result(f"{name}: boards left out", len(output) - len(lags), "boards", len(output) / 10)
    yield _result(f"{name}: lag, median", statistics.median(lags), "ms", 50)
    yield _result(f"{name}: lag, largest", max(lags), "ms", 250)


def _events(count: int) -> list[Event]:
    """Return the first events of a game of four tsumogiri: of its first kyoku, all of them."""
    referee = Referee(1)
    events = list(referee.start())
    while len(events) < count and referee.asked:
        events += referee.step({seat: referee.view(seat).default_action for seat in referee.asked})
    kyoku = [
        position for position, event in enumerate(events) if type(event).__name__ == "EndKyoku"
    ]
    return events[: min([count, *kyoku])]


async def _play(server: LiveServer, events: list[Event]) -> dict[str, float]:
    output = {}
    for position, event in enumerate(events):
        output[f"0/{position - 1}"] = time.time()
        server.add(event)
        await asyncio.sleep(1 / EVENTS_PER_S)
    return {position: at for position, at in output.items() if position not in ("0/-1", "0/0")}


def _records(browser: Any, folder: Path) -> Iterator[dict[str, Any]]:
    folder.mkdir()
    logs = sorted(LOGS.glob("*.mjson"))
    for number in range(RECORDS):
        os.link(_linkable(folder, logs[number % len(logs)]), folder / f"{number:04}.mjson")
    begun = time.perf_counter()
    library = Library(folder)
    with _serving(lambda: RecordServer(library, {"title": "records"})) as (server, _):
        page = browser.new_page()
        url = server.url(server.keys.new(range(4)))
        page.goto(url)
        page.wait_for_selector("body[data-place]")
        took = time.perf_counter() - begun
        yield _result(f"a folder of {RECORDS} records, on the board", took, "s", 2)
        page.wait_for_selector("body[data-read=all]")
        sizes = [_open(page, url, number) for number in range(OPENED)]
        page.close()
    growth = statistics.mean(sizes[-5:]) - statistics.mean(sizes[5:10])
    yield _result(f"memory of {OPENED - 10} more games, growth", growth, "MB", 10)


def _open(page: Any, url: str, number: int) -> float:
    script = """async (path) => (await (await fetch(path)).text()).length"""
    page.evaluate(script, url.replace("/?", f"/api/game?record={number}&"))
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _linkable(folder: Path, log: Path) -> Path:
    """Return a copy on the folder's own disk: links do not lead from one to another."""
    copy = folder.parent / log.name
    if not copy.exists():
        copy.write_bytes(log.read_bytes())
    return copy


@contextmanager
def _serving(make: Callable[[], Any]) -> Iterator[tuple[Any, Callable[..., Any]]]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def run(coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(120)

    async def begin() -> PageServer:
        server: PageServer = make()
        await server.open()
        return server

    server = run(begin())
    try:
        yield server, run
    finally:
        run(server.__aexit__())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
