"""``mjbot draw GAME --at N --out FILE``: a position of a recorded game as a picture."""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

from mjbot.cli.arguments import position, seat
from mjbot.errors import ArgumentError, ExitCode, MjbotError
from mjbot.records.other_formats import record_path
from mjbot.text import write_text
from mjbot.watch.board import Board, changed
from mjbot.watch.game import ALL_SEATS, fold_steps
from mjbot.watch.library import Library
from mjbot.watch.picture import picture
from mjbot.watch.tiles import show_all
from protocol.plain_text import one_line

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
SIZE: Final = 1000
"""Pixels of a side of a PNG unless --size says otherwise."""
DRAWING_S: Final = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "game", type=record_path, nargs="?", metavar="GAME", help="record (default: all tiles)"
    )
    parser.add_argument(
        "--at",
        type=position,
        metavar="POSITION",
        help="position to draw: E2-1:5, the fifth choice of --seat in East 2 honba 1, or the number"
        " of an event, start_game being 1 (default: the end)",
    )
    parser.add_argument(
        "--seat", type=seat, help="seat at the bottom; the others' hands are hidden"
    )
    parser.add_argument("--all-hands", action="store_true", help="show all hands, also with --seat")
    parser.add_argument("--letters", action="store_true", help="letters on the tiles")
    parser.add_argument("--record", type=int, default=0, metavar="N",
        help="number of the record in a folder or zip, from 0 (default: 0)")  # fmt: skip
    parser.add_argument("--game", dest="which", type=int, default=0, metavar="N",
        help="number of the game in a record with several, from 0 (default: 0)")  # fmt: skip
    parser.add_argument(
        "--size", type=int, default=SIZE, help="side of a PNG, in pixels (default: %(default)s)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="the picture: .svg, or .png (needs chromium)",
    )


def run(args: argparse.Namespace) -> int:
    """Draw it."""
    ending = args.out.suffix.lower()
    if ending not in (".svg", ".png"):
        raise ArgumentError(f"--out {args.out}: name a file that ends in .svg or .png")
    if not 16 <= args.size <= 8000:
        raise ArgumentError(f"--size {args.size}: expected 16 to 8000 pixels")
    drawing = show_all() if args.game is None else _draw(args)
    if ending == ".svg":
        write_text(args.out, drawing)
    else:
        _write_png(drawing, args.out, args.size)
    print(one_line(args.out))
    return ExitCode.OK


def _draw(args: argparse.Namespace) -> str:
    game = Library(args.game).game(args.record, args.which)
    folded = fold_steps(game.steps())
    board = _board_at(folded, args.at.event_in(game.steps(), args.seat) if args.at else 0)
    if board is None:
        raise ArgumentError(
            f"--at {args.at.text}: {game.name} has the events 2 to {len(game.entries)}"
        )
    opened = ALL_SEATS if args.seat is None or args.all_hands else frozenset([args.seat])
    return picture(board, folded["names"], args.seat or 0, opened, args.letters)


def _board_at(folded: dict[str, Any], n: int) -> Board | None:
    """Return the board after the ``n``-th event, or the last one for 0."""
    board: Board | None = None
    for kyoku in folded["kyoku"]:
        board = kyoku["board"]
        if n and kyoku["n"] == n:
            return board
        for step in kyoku["steps"]:
            board = changed(board, step["change"])
            if n and step["n"] == n:
                return board
    return None if n else board


def _write_png(drawing: str, out: Path, size: int) -> None:
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        text = "a .png is drawn by chromium, which is not here: install it, or write an .svg"
        raise MjbotError(text, exit_code=ExitCode.UNREACHABLE)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "drawing.html")
        page.write_text(_page(drawing, size), encoding="utf-8")
        picture_file = Path(folder, "drawing.png")
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={folder}/profile", f"--window-size={size},{size}",
            "--default-background-color=00000000", f"--screenshot={picture_file}", page.as_uri(),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, timeout=DRAWING_S, check=False)
        if not picture_file.is_file():
            told = one_line(done.stderr.decode("utf-8", "replace").strip()[-300:])
            raise MjbotError(f"{browser} drew nothing: {told}")
        shutil.copyfile(picture_file, out)


def _page(drawing: str, size: int) -> str:
    style = f"body{{margin:0}}svg{{display:block;width:{size}px;height:{size}px}}"
    return f'<!doctype html><meta charset="utf-8"><style>{style}</style>{drawing}'
