"""``mjbot draw GAME --at N --out FILE``: a position of a recorded game as a picture."""

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mjbot.cli.arguments import at_option, output_option, record_argument
from mjbot.cli.records.watch import BoardRequest
from mjbot.game.records.game import rules_text
from mjbot.game.records.positions import RecordPosition
from mjbot.protocol.plain_text import one_line
from mjbot.runtime.errors import ArgumentError, ExitCode, MjbotError
from mjbot.runtime.files import whole_file, write_text
from mjbot.runtime.requests import option
from mjbot.viewer.drawing.board_data import Board, changed
from mjbot.viewer.drawing.picture import picture
from mjbot.viewer.drawing.tiles import show_all
from mjbot.viewer.game import fold_steps
from mjbot.viewer.library import Library, ReadGame

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
DRAWING_S: Final = 60.0


@dataclass(frozen=True, kw_only=True)
class DrawRequest(BoardRequest):
    """Arguments of ``mjbot draw``."""

    game: Path | None = record_argument(
        "record (default: none, a drawing of all tiles)", nargs="?", default=None
    )
    at: RecordPosition | None = at_option("the end")
    letters: bool = option(False, "draw letters on the tiles")
    size: int = option(1000, "side of a PNG in pixels", type=int)
    out: Path = output_option(
        "file to write, an .svg or a .png (by chromium)", ".svg", ".png", required=True
    )


def run(request: DrawRequest) -> int:
    """Draw it."""
    ending = request.out.suffix.lower()
    if not 16 <= request.size <= 8000:
        raise ArgumentError(f"--size {request.size}: expected 16 to 8000 pixels")
    game = None if request.game is None else request.read(Library(request.game, request.rules))
    drawing = show_all() if game is None else _draw(request, game)
    if ending == ".svg":
        write_text(request.out, drawing)
    else:
        _write_png(drawing, request.out, request.size)
    print(one_line(request.out))
    if game is not None and game.rules:
        print(f"mjbot draw: {rules_text(game.rules)}", file=sys.stderr)
    if game is not None and game.problem:
        print(f"mjbot draw: {game.problem}", file=sys.stderr)
        return ExitCode.FAILED
    return ExitCode.OK


def _draw(request: DrawRequest, game: ReadGame) -> str:
    folded = fold_steps(game.steps())
    board = _board_at(folded, request.at.event_in(game.steps(), request.seat) if request.at else 0)
    if board is None:
        raise ArgumentError(
            f"--at {request.at}: {game.name} has the events 2 to {len(game.entries)}"
        )
    return picture(board, folded["names"], request.seat or 0, request.hands, request.letters)


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
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
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
            output = one_line(done.stderr.decode("utf-8", "replace").strip()[-300:])
            raise MjbotError(f"{browser} drew nothing: {output}")
        with picture_file.open("rb") as picture, whole_file(out) as file:
            shutil.copyfileobj(picture, file)


def _page(drawing: str, size: int) -> str:
    style = f"body{{margin:0}}svg{{display:block;width:{size}px;height:{size}px}}"
    return f'<!doctype html><meta charset="utf-8"><style>{style}</style>{drawing}'
