"""``mjbot watch GAME``: recorded games in the browser, or as one file; a running table's page."""

import argparse
import asyncio
import re
import sys
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit, urlunsplit

from rich.console import Console

from mjbot.cli.arguments import port, position, seat, strategy
from mjbot.errors import ArgumentError, ExitCode
from mjbot.interruption import run_until_signalled
from mjbot.precompile import prepare
from mjbot.records.other_formats import record_path
from mjbot.records.positions import Place, Position, has_moment, moment_of
from mjbot.text import write_text
from mjbot.watch.browser import open_page
from mjbot.watch.game import ALL_SEATS, fold_steps
from mjbot.watch.library import Library, ReadGame
from mjbot.watch.pages import game_page
from mjbot.watch.thoughts import all_thoughts
from protocol.plain_text import one_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "game",
        type=_game,
        metavar="GAME",
        help="record, folder or zip of records, folder of an arena run, or the address (http://...)"
        " that a command with --watch printed; - reads that address from standard input, where no"
        " other user can read its key",
    )
    add_page_arguments(parser)
    parser.add_argument(
        "--seat", type=seat, help="seat at the bottom; the others' hands are not sent"
    )
    parser.add_argument("--all-hands", action="store_true", help="send all hands, also with --seat")
    parser.add_argument(
        "--by",
        type=strategy,
        metavar="STRATEGY",
        help="strategy whose terms are shown next to the board (default: none)",
    )
    parser.add_argument("--record", type=int, default=0, metavar="N",
        help="number of the record in a folder or zip, from 0 (default: 0)")  # fmt: skip
    parser.add_argument("--game", dest="which", type=int, default=0, metavar="N",
        help="number of the game in a record with several, from 0 (default: 0)")  # fmt: skip
    parser.add_argument(
        "--at",
        type=_place,
        metavar="POSITION",
        help="position to open: E2-1:5, the fifth choice of --seat in East 2 honba 1; the number of"
        " an event; or SEAT/KYOKU/STEP from the page's address (default: the start)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the game as one HTML file, then exit"
    )


def add_page_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what all commands that show a page have in common."""
    parser.add_argument(
        "--port", type=port, default=0, help="port of the page (default: 0, any free port)"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the page's address and open no browser"
    )


def _game(text: str) -> Path | str:
    if text == "-":
        text = sys.stdin.readline().strip()
        if not text.startswith("http://"):
            raise argparse.ArgumentTypeError("-: expected an address http://... on standard input")
    return text if text.startswith("http://") else record_path(text)


def _place(text: str) -> Position | Place:
    parts = text.split("/")
    if len(parts) == 3 and all(re.fullmatch("[0-9]{1,9}", part) for part in parts):
        return Place(*map(int, parts))
    return position(text)


def run(args: argparse.Namespace) -> int:
    """Show the page until interrupted, or write the file."""
    if isinstance(args.game, str):
        return run_until_signalled(_relay(args))
    library = Library(args.game)
    place = _place_in(library.game(args.record, args.which), args) if args.at else None
    if args.by is not None:
        args.by.check()
        prepare([args.by], Console(stderr=True), use="explain")
    if args.out is not None:
        return _write(args, library, place)
    if len(library.names) == 1:
        library.game(args.record, args.which)  # of one file it can be said at once why not
    return run_until_signalled(_show(args, library, place))


def _place_in(game: ReadGame, args: argparse.Namespace) -> Place:
    """Return the moment that ``--at`` names; raises ``ArgumentError`` where the game has none."""
    if isinstance(args.at, Place):
        if args.at.seat not in ALL_SEATS or not has_moment(game.steps(), args.at):
            raise ArgumentError(f"--at {args.at}: {game.name} has no such moment")
        return args.at
    number = args.at.event_in(game.steps(), args.seat)
    moment = moment_of(game.steps(), number)
    if moment is None:
        n = len(game.entries)
        raise ArgumentError(f"--at {args.at.text}: {game.name} has the events 2 to {n}")
    return Place(args.seat or 0, *moment)


def _config(args: argparse.Namespace, library: Library) -> dict[str, Any]:
    title = library.names[args.record] if args.record < len(library.names) else args.game.name
    return {"title": title, "seat": args.seat or 0, "record": args.record, "game": args.which}


def _seen(args: argparse.Namespace) -> frozenset[int]:
    return ALL_SEATS if args.seat is None or args.all_hands else frozenset([args.seat])


async def _relay(args: argparse.Namespace) -> int:
    from mjbot.watch.live import RelayServer

    if args.out is not None or args.by is not None or args.at is not None:
        raise ArgumentError("--out, --by and --at: only for recorded games")
    parts = urlsplit(args.game)
    live = urlunsplit((parts.scheme, parts.netloc, "/api/live", parts.query, ""))
    config = {"title": parts.netloc, "seat": args.seat or 0}
    async with RelayServer(live, config) as server:
        await server.open(args.port)
        tell_page(server.url(server.keys.new(ALL_SEATS)), no_browser=args.no_browser)
        await server.relay()
    return ExitCode.OK


async def _show(args: argparse.Namespace, library: Library, place: Place | None) -> int:
    from mjbot.watch.server import RecordServer

    async with RecordServer(library, _config(args, library), args.by) as server:
        await server.open(args.port)
        url = server.url(server.keys.new(_seen(args)), str(place or ""))
        tell_page(url, no_browser=args.no_browser)
        await asyncio.Event().wait()
    return ExitCode.OK


def tell_page(url: str, *, no_browser: bool, to: TextIO | None = None) -> None:
    """Say where the page is, on stdout unless ``to`` is another stream, and open it."""
    print(f"watch {url} (Ctrl-C ends it)", file=to or sys.stdout, flush=True)
    if not no_browser:
        open_page(url)


def _write(args: argparse.Namespace, library: Library, place: Place | None) -> int:
    if args.out.suffix.lower() not in (".html", ".htm"):
        raise ArgumentError(f"--out {args.out}: name a file that ends in .html")
    game = library.game(args.record, args.which)
    folded = fold_steps(game.steps(), _seen(args), [entry.talk for entry in game.entries])
    if args.by is not None:
        seats = sorted(_seen(args)) if args.seat is None else [args.seat]
        folded["thoughts"] = all_thoughts(args.by, game.steps(), seats)
    config = {**_config(args, library), "by": str(args.by or ""), "place": str(place or "")}
    write_text(args.out, game_page(folded, config))
    if game.problem:
        print(f"mjbot watch: {game.problem}", file=sys.stderr)
    size_kb = args.out.stat().st_size / 1000
    print(one_line(f"{args.out}: {game.name}, {size_kb:.0f} kB"))
    return ExitCode.FAILED if game.problem else ExitCode.OK
