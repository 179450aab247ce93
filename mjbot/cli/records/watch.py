"""``mjbot watch GAME``: recorded games in the browser, or as one file; a running table's page."""

import argparse
import asyncio
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from msgspec import to_builtins

from mjbot.analysis.review.page_data import NoReviewError, page_data, review_of, same_game
from mjbot.cli.arguments import (
    at_option,
    file_option,
    language_option,
    no_browser_option,
    number_option,
    output_option,
    position,
    record_argument,
    record_rules_option,
    seat_option,
    strategy_option,
)
from mjbot.game.records.game import rules_text
from mjbot.game.records.other_formats import record_path
from mjbot.game.records.positions import (
    BoardAddress,
    RecordPosition,
    has_moment,
    moment_of,
    require_seat,
)
from mjbot.play.startup.precompile import prepare
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Rules
from mjbot.runtime.argument_types import port
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.files import write_text
from mjbot.runtime.interruption import run_until_signalled
from mjbot.runtime.requests import option
from mjbot.strategy.registry import Spec
from mjbot.viewer.browser import show_page
from mjbot.viewer.game import ALL_SEATS, fold_steps
from mjbot.viewer.library import Library, ReadGame
from mjbot.viewer.pages import game_page
from mjbot.viewer.thoughts import all_thoughts


def _game(text: str) -> Path | str:
    if text == "-":
        text = sys.stdin.readline().strip()
        if not text.startswith("http://"):
            raise argparse.ArgumentTypeError("-: expected an address http://... on standard input")
    return text if text.startswith("http://") else record_path(text)


def _place(text: str) -> RecordPosition | BoardAddress:
    parts = text.split("/")
    if len(parts) == 3 and all(re.fullmatch("[0-9]{1,9}", part) for part in parts):
        return BoardAddress(*map(int, parts))
    return position(text)


@dataclass(frozen=True, kw_only=True)
class BoardRequest:
    """Which game a board shows, and which hands."""

    record: int = number_option("number of the record among several")
    which: int = number_option("number of the game in a file of several", flag="--game")
    seat: int | None = seat_option("seat 0 at the bottom, with the hands of all seats")
    all_hands: bool = option(False, "show the hands of all seats with --seat, too")
    rules: Rules | None = record_rules_option()

    @property
    def hands(self) -> frozenset[int]:
        """The seats whose hands are shown."""
        return ALL_SEATS if self.seat is None or self.all_hands else frozenset([self.seat])

    def read(self, library: Library) -> ReadGame:
        """Return the game; raises what :meth:`Library.game` and ``require_seat`` do."""
        game = library.game(self.record, self.which)
        if self.seat is not None:
            require_seat(self.seat, game.steps(), f"--seat {self.seat}")
        return game


@dataclass(frozen=True, kw_only=True)
class WatchGameRequest(BoardRequest):
    """Arguments of ``mjbot watch``; ``game`` is text if it is an address."""

    game: Path | str = record_argument(
        "record of any kind that is read, a folder or zip of them, an arena's run, or the address"
        " (http://...) that a command with --watch has printed; - reads that address from standard"
        " input, where no other user can read its key",
        type=_game,
    )
    port: int = option(0, "port of the page (default: 0, any free port)", type=port)
    no_browser: bool = no_browser_option()
    by: Spec | None = strategy_option(
        None, "strategy whose evaluation is shown next to the board (default: none)"
    )
    review: Path | None = file_option(
        "review of the game to show next to the board, as mjbot review --json writes it"
    )
    at: RecordPosition | BoardAddress | None = at_option(
        "the start", "; or SEAT/KYOKU/STEP from the page's address", type=_place
    )
    language: str | None = language_option()
    out: Path | None = output_option(
        "HTML file to write with the game, instead of showing it", ".html", ".htm"
    )


def run(request: WatchGameRequest) -> int:
    """Show the page until interrupted, or write the file."""
    if isinstance(request.game, str):
        return run_until_signalled(_relay(request, request.game))
    library = Library(request.game, request.rules)
    address = _place_in(request.read(library), request.at, request.seat) if request.at else None
    review = None if request.review is None else _review_of(request, library, request.review)
    if request.by is not None:
        request.by.check()
        prepare([request.by], use="explain")
    if request.out is not None:
        return _write(request, library, address, review)
    if len(library.names) == 1:
        game = request.read(library)  # a problem with a single file is reported at once
        if game.rules:
            print(f"mjbot watch: {rules_text(game.rules)}", file=sys.stderr)
    return run_until_signalled(_show(request, library, address, review))


def _review_of(request: WatchGameRequest, library: Library, path: Path) -> dict[str, Any]:
    """Return the review for the page; raises :class:`NoReviewError` where it is of another game."""
    events = [to_builtins(entry.event) for entry in request.read(library).entries]
    with review_of(path) as review:
        seat = review["player_id"]
        if seat not in request.hands:
            raise ArgumentError(f"--seat {request.seat}: the review is of seat {seat}")
        if not same_game(review, events):
            raise NoReviewError(f"--review {path}: a review of another game")
        return page_data(review)


def _place_in(game: ReadGame, at: RecordPosition | BoardAddress, seat: int | None) -> BoardAddress:
    """Return the moment that ``--at`` names; raises ``ArgumentError`` where the game has none."""
    if isinstance(at, BoardAddress):
        require_seat(at.seat, game.steps(), f"--at {at}")
        if not has_moment(game.steps(), at):
            raise ArgumentError(f"--at {at}: {game.name} has no such moment")
        return at
    moment = moment_of(game.steps(), at.event_in(game.steps(), seat))
    if moment is None:
        n = len(game.entries)
        raise ArgumentError(f"--at {at.text}: {game.name} has the events 2 to {n}")
    return BoardAddress(seat or 0, *moment)


def _config(request: WatchGameRequest) -> dict[str, Any]:
    return {"seat": request.seat or 0, "record": request.record, "game": request.which}


async def _relay(request: WatchGameRequest, address: str) -> int:
    from mjbot.viewer.live import RelayServer

    only = (request.out, request.by, request.at, request.review)
    if any(option is not None for option in only):
        raise ArgumentError("--out, --by, --at and --review: only for recorded games")
    parts = urlsplit(address)
    live = urlunsplit((parts.scheme, parts.netloc, "/api/live", parts.query, ""))
    config = {"title": parts.netloc, "seat": request.seat or 0}
    async with RelayServer(live, config) as server:
        await server.open(request.port)
        show_page(server.url(server.keys.new(ALL_SEATS)), no_browser=request.no_browser)
        await server.relay()
    return ExitCode.OK


async def _show(
    request: WatchGameRequest,
    library: Library,
    address: BoardAddress | None,
    review: dict[str, Any] | None,
) -> int:
    from mjbot.viewer.server import RecordServer

    config = _config(request)
    if review is not None:
        config = {**config, "seat": review["seat"], "hands": False}
    async with RecordServer(library, config, request.by, review) as server:
        await server.open(request.port)
        url = server.url(server.keys.new(request.hands), str(address or ""))
        show_page(url, no_browser=request.no_browser)
        await asyncio.Event().wait()
    return ExitCode.OK


def _write(
    request: WatchGameRequest,
    library: Library,
    address: BoardAddress | None,
    review: dict[str, Any] | None,
) -> int:
    out = request.out or Path()
    game = request.read(library)
    folded = fold_steps(game.steps(), request.hands, [entry.talk for entry in game.entries])
    if request.by is not None:
        seats = sorted(request.hands) if request.seat is None else [request.seat]
        folded["thoughts"] = all_thoughts(request.by, game.steps(), seats)
    config = {**_config(request), "by": str(request.by or ""), "place": str(address or "")}
    if review is not None:
        folded["review"] = review
        config |= {"seat": review["seat"], "hands": False}
    write_text(out, game_page(folded, config))
    if game.problem:
        print(f"mjbot watch: {game.problem}", file=sys.stderr)
    size_kb = out.stat().st_size / 1000
    print(one_line(f"{out}: {game.name}, {size_kb:.0f} kB"))
    return ExitCode.FAILED if game.problem else ExitCode.OK
