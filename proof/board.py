"""Proof that the page draws what the table's state is, at every event of recorded games.

A real browser shows each game as one file, goes through it by the keyboard to its end and back to
its start, and reports what it has drawn; that is compared with the state of a table of ours, read
here without :mod:`mjbot.viewer.drawing.board_data`.
"""

import argparse
import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mjbot.game.records.choices import ReplayStep
from mjbot.game.records.sources import list_sources
from mjbot.game.table.state import DRAWN, GAME_OVER, IDLE, REACTION, WON, MeldType
from mjbot.game.table.view import View
from mjbot.protocol.messages import StartGame, StartKyoku
from mjbot.protocol.tiles import TILE_NAMES, tile_names
from mjbot.viewer.game import fold_steps
from mjbot.viewer.library import Library, ReadGame
from mjbot.viewer.pages import game_page

ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")

WALK: Final = """(way) => {
  const key = (name) => document.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
  const described = (piece) => ({
    tiles: [...piece.querySelectorAll("use")].map((use) => use.dataset.tile),
    texts: [...piece.querySelectorAll("text")].map((text) => text.textContent),
    active: piece.querySelector(".active") !== null,
    ring: piece.querySelector(".ring") !== null,
    stick: piece.querySelector(".stick") !== null,
  });
  const drawn = () => ({
    place: document.body.dataset.place,
    text: document.getElementById("event").textContent,
    pieces: Object.fromEntries(
      [...document.querySelectorAll("#board > g")].map((piece) => [piece.id, described(piece)]),
    ),
  });
  const found = [drawn()];
  for (;;) {
    const before = document.body.dataset.place;
    key(way > 0 ? "ArrowRight" : "ArrowLeft");
    if (document.body.dataset.place === before) return found;
    found.push(drawn());
  }
}"""
"""Walks to the end (1) or the start (-1) of the game and reports what is drawn at each place."""


def browser_path() -> str | None:
    """Return the browser of this machine, if it has one of those that playwright can drive."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


@contextlib.contextmanager
def open_browser() -> Iterator[Any]:
    """Give a browser (playwright's); raises ``OSError`` where there is none."""
    from playwright.sync_api import sync_playwright

    path = browser_path()
    if path is None:
        raise OSError(f"no browser: install one of {', '.join(BROWSERS)}")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof board``."""
    parser.add_argument("path", nargs="?", type=Path, default=Path("logs"), help="records (logs)")
    parser.add_argument("--games", type=int, default=1000, help="at most so many (1000)")


def run(args: argparse.Namespace) -> int:
    """Walk through the games; exit code 1 if anything was drawn otherwise."""
    library = Library(args.path)
    moments = wrong = 0
    n_games = min(args.games, len(list_sources(args.path)))
    with open_browser() as browser:
        for record in range(n_games):
            game = library.game(record)
            seen, problems = walk(browser, game, viewpoint=record % 4)
            moments, wrong = moments + seen, wrong + len(problems)
            print(f"{game.name}: {seen} moments drawn, {len(problems)} otherwise", flush=True)
            for problem in problems[:3]:
                print(f"  {problem}")
    print(f"{n_games} games, {moments} moments drawn forwards and backwards, {wrong} otherwise")
    return 1 if wrong or not moments else 0


def walk(browser: Any, game: ReadGame, viewpoint: int = 0) -> tuple[int, list[str]]:
    """Return how many moments a game drew, and what was drawn otherwise than the table has it."""
    expected = [state for step in game.steps() if (state := expected_at(step, viewpoint))]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "game.html")
        page_text = game_page(fold_steps(game.steps()), {"title": game.name, "seat": viewpoint})
        file.write_text(page_text, encoding="utf-8")
        page = browser.new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(f"error in the page: {error}"))
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-read=all]", timeout=60_000)
        forwards = page.evaluate(WALK, 1)
        backwards = page.evaluate(WALK, -1)
        page.close()
    if len(forwards) != len(expected):
        problems.append(f"{len(forwards)} moments are shown, {len(expected)} expected")
    for way, found in (("on", forwards), ("back", backwards[::-1])):
        problems += [
            f"{way} {drawn['place']} ({drawn['text']}): {difference}"
            for drawn, state in zip(found, expected, strict=False)
            if (difference := _difference(drawn["pieces"], state))
        ]
    return len(forwards) + len(backwards), problems


def _difference(drawn: dict[str, Any], state: dict[str, Any]) -> str:
    wrong = {name: (drawn.get(name), piece) for name, piece in state.items()}
    return "; ".join(
        [
            f"{name}.{field} is {(found or {}).get(field)}, expected {value}"
            for name, (found, piece) in wrong.items()
            for field, value in piece.items()
            if found is None or _plain(name, field, found[field]) != value
        ]
    )


def _plain(name: str, field: str, found: Any) -> Any:
    """Return tiles without the marks for how they lie."""
    if field != "tiles":
        return found[:2] if name.startswith("plate") and field == "texts" else found
    if name.startswith("hand"):
        return sorted([token.strip("_+#") for token in found])
    return [token.replace("_", "").replace("-", "").replace("^", "") for token in found]


# --- the state of the table ---------------------------------------------------------------------

_ACTS_NOBODY: Final = (IDLE, WON, DRAWN, GAME_OVER)


def expected_at(step: ReplayStep, viewpoint: int) -> dict[str, Any] | None:
    """Return what is to be drawn after a step, ``None`` before the first kyoku."""
    if isinstance(step.event, StartGame):
        return None
    state = step.table.state
    view = View(state, 0)
    phase = int(state["phase"])
    marks = tile_names(view.dora_markers.tolist())
    ura = tile_names(state["ura_markers"][: int(state["n_ura"])].tolist())
    pieces: dict[str, Any] = {"middle": {"tiles": [*marks, *ura], "texts": _middle(view)}}
    for side in range(4):
        seat = (viewpoint + side) % 4
        pieces[f"hand{side}"] = {"tiles": _hand(View(state, seat), seat)}
        pieces[f"river{side}"] = {
            "tiles": list(tile_names(view.river(seat).tolist())),
            "ring": phase == REACTION and view.turn == seat,
        }
        pieces[f"plate{side}"] = {
            "texts": ["ESWN"[view.seat_wind(seat)], f"{int(view.scores[seat]):,}"],
            "active": phase not in _ACTS_NOBODY and view.turn == seat,
            "stick": int(state["riichi"][seat]) == 2 and not isinstance(step.event, StartKyoku),
        }
    return pieces


def _middle(view: View) -> list[str]:
    wind = ("East", "South", "West", "North")[view.round // 4]
    sticks = "stick" if view.sticks == 1 else "sticks"
    return [
        f"{wind} {view.round % 4 + 1}",
        f"{view.honba} honba, {view.sticks} {sticks}",
        f"{view.wall_left} tiles left",
    ]


def _hand(view: View, seat: int) -> list[str]:
    """Return a hand and its melds, sorted; two tiles of an ankan lie face down."""
    names = list(tile_names(view.tiles))
    for meld in view.melds(seat):
        names += [TILE_NAMES[tile] for tile in meld.tiles]
        assert meld.type in MeldType
    return sorted(names)
