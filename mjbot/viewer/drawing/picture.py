"""A board as one SVG image, for documents: what the page draws, drawn by Python.

Where everything lies is the same as in ``mjbot/viewer/page/draw.js``; a test holds the two
together. The square has 1000 units; each seat is drawn as if it sat below and turned about the
middle.
"""

import base64
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape

from mjbot.game.table.view import View
from mjbot.protocol.tiles import TILE_NAMES
from mjbot.runtime.checked_arguments import flag, type_error
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.languages import language, marked, translate
from mjbot.viewer.drawing.board_data import SEATS, Board, board_of, board_title, kyoku_text
from mjbot.viewer.drawing.tiles import HEIGHT, WIDTH, sprite

LEFT: Final = 72
RIGHT: Final = 992
BOTTOM: Final = 994
GAP: Final = 12
RIVER_X: Final = 356
RIVER_Y: Final = 656
ROW: Final = 6
ROWS: Final = 4
ANGLES: Final = (0, -90, 180, 90)
MARKER_SCALE: Final = 0.66
MOST_LETTERS: Final = 12

STYLE: Final = """
text{font-family:system-ui,sans-serif;fill:#f5f3ea}
.face{fill:var(--face,#fdfbf3)}.index{opacity:var(--index,0)}.drawn{--face:#d9d3c0}
.called{opacity:.36}.ring{fill:none;stroke:#ffb45e;stroke-width:5}
.plate{fill:#235f4e;stroke:#ffffff24}.active{fill:#b4501e;stroke:#ffcf9f}
.wind{font-size:25px;font-weight:700}.score{font-size:25px;font-weight:650}
.name{font-size:15.5px}.round{font-size:36px;font-weight:650}.small{font-size:18.5px}
.gain{font-size:23px;font-weight:700;fill:#8fe3b0}.loss{font-size:23px;font-weight:700;fill:#ffb3a5}
"""


def picture(
    board: Board,
    names: Sequence[str],
    viewpoint: int = 0,
    opened: Collection[int] = SEATS,
    index: bool = False,
) -> str:
    """Return the SVG of a board with ``viewpoint`` below; ``index`` adds letters to the tiles."""
    pieces = [f'<g id="middle">{_middle(board)}</g>']
    for side, angle in enumerate(ANGLES):
        seat_index = (viewpoint + side) % len(ANGLES)
        if seat_index >= len(board["seats"]):  # the empty one of three players
            continue
        seat, turned = board["seats"][seat_index], f'transform="rotate({angle} 500 500)"'
        parts = {
            "hand": _hand(seat, seat_index in opened),
            "river": _river(seat["river"], board["last"] == seat_index),
            "plate": _plate(board, seat_index, names[seat_index], angle),
        }
        pieces += [
            f'<g id="{name}{side}" {turned}>{"".join(drawn)}</g>' for name, drawn in parts.items()
        ]
    drawing = "\n".join(pieces)
    used = [name for name in TILE_NAMES if f'"#t{name}"' in drawing]
    title = escape(board_title(board, names))
    style = STYLE + (":root{--index:1}" if index else "")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:lang="{language()}" viewBox="0 0 1000 1000">'
        f"<title>{title}</title><style>{style}</style>\n<defs>\n{sprite(used)}\n"
        '<radialGradient id="felt" cy=".45"><stop stop-color="#2c7560"/>'
        '<stop offset="1" stop-color="#1f5546"/></radialGradient></defs>\n'
        f'<rect width="1000" height="1000" rx="18" fill="url(#felt)"/>\n{drawing}\n</svg>\n'
    )


def view_svg(view: View, names: Sequence[str] = (), *, index: bool = False) -> str:
    """Return the board as a seat sees it, as SVG: its own hand open, the seat below.

    ``names`` are those of seats 0 to 3 (default: their numbers); ``index`` adds letters to tiles.
    """
    if not isinstance(view, View):
        raise type_error("view", "a View", view)
    flag("index", index)
    is_texts = isinstance(names, Sequence) and all(isinstance(name, str) for name in names)
    if not is_texts:
        raise type_error("names", "a sequence of texts", names)
    if names and len(names) < view.players:
        raise ArgumentError(f"names must be {view.players}, one for each seat, not {len(names)}")
    board = board_of(view.state, [view.seat])
    names = names or [translate("seat {n}", n=seat) for seat in SEATS]
    return picture(board, names, view.seat, [view.seat], index)


def view_html(view: View) -> str:
    """Return :func:`view_svg` as an HTML image, whose styles do not reach the rest of a page."""
    data = base64.b64encode(view_svg(view).encode()).decode()
    alt = translate("board")
    return f'<img width="480" alt="{alt}" src="data:image/svg+xml;base64,{data}">'


def _tile(token: str, x: float, y: float, scale: float) -> str:
    name = token.rstrip("_-^+#")
    marks = token[len(name) :]
    shown = "?" if "#" in marks else name
    classes = [style for mark, style in (("-", "drawn"), ("^", "called")) if mark in marks]
    style = f' class="{" ".join(classes)}"' if classes else ""
    transform = f"translate({_n(x)} {_n(y)})"
    if "_" in marks or "+" in marks:
        transform = f"translate({_n(x)} {_n(y + WIDTH * scale)})rotate(-90)"
    size = f'width="{_n(WIDTH * scale)}" height="{_n(HEIGHT * scale)}"'
    return f'<use href="#t{shown}" {size}{style} transform="{transform}"/>'


def _n(number: float) -> str:
    return f"{round(number, 2):g}"


def _width(token: str) -> int:
    return 0 if "+" in token else HEIGHT if "_" in token else WIDTH


def _hand(seat: dict[str, Any], is_open: bool) -> Iterator[str]:
    known = is_open and seat["hand"] is not None
    tokens = seat["hand"].split() if known else ["?"] * seat["size"]
    drawn = seat["drawn"] if known else "?" if seat["drawn"] else ""
    melds = [meld.split() for meld in seat["melds"]]
    need: float = len(tokens) * WIDTH + (GAP + WIDTH if drawn else 0) + (GAP if melds else 0)
    need += sum([sum(map(_width, meld)) + GAP / 2 for meld in melds])
    scale = min(1.0, (RIGHT - LEFT) / need)
    x, y = float(LEFT), BOTTOM - HEIGHT * scale
    for token in tokens:
        yield _tile(token, x, y, scale)
        x += WIDTH * scale
    if drawn:
        yield _tile(drawn, x + GAP * scale, y, scale)
    yield from _melds(melds, scale)


def _melds(melds: Sequence[Sequence[str]], scale: float) -> Iterator[str]:
    right = float(RIGHT)
    for meld in melds:
        x = right - sum(map(_width, meld)) * scale
        right = x - GAP / 2 * scale
        upon = x
        for token in meld:
            height = WIDTH if "_" in token else 2 * WIDTH if "+" in token else HEIGHT
            yield _tile(token, upon if "+" in token else x, BOTTOM - height * scale, scale)
            upon = x
            x += _width(token) * scale


def _river(river: Sequence[str], is_last: bool) -> Iterator[str]:
    x = float(RIVER_X)
    for index, token in enumerate(river):
        row = min(index // ROW, ROWS - 1)
        if index % ROW == 0 and index < ROW * ROWS:
            x = RIVER_X
        turned = "_" in token
        y = RIVER_Y + row * HEIGHT + ((HEIGHT - WIDTH) / 2 if turned else 0)
        yield _tile(token, x, y, 1)
        if is_last and index == len(river) - 1:
            width, height = (HEIGHT, WIDTH) if turned else (WIDTH, HEIGHT)
            size = f'width="{width}" height="{height}"'
            yield f'<rect class="ring" x="{_n(x)}" y="{_n(y)}" {size} rx="6"/>'
        x += _width(token)


def _plate(board: Board, seat_index: int, name: str, angle: int) -> Iterator[str]:
    seat = board["seats"][seat_index]
    upright = ' transform="rotate(180 478 626)"' if angle == 180 else ""
    active = " active" if board["turn"] == seat_index else ""
    delta = board["result"]["deltas"][seat_index] if board["result"] else 0
    text = f"{delta:+,}" if delta else _short(name)
    css_class = "name" if not delta else "gain" if delta > 0 else "loss"
    yield f'<g{upright}><rect x="353" y="606" width="250" height="40" rx="8"'
    yield f' class="plate{active}"/>'
    yield '<text x="372" y="635" class="wind" text-anchor="middle">'
    yield f"{translate(seat['wind'])}</text>"
    score = f"{board['scores'][seat_index]:,}"
    yield f'<text x="482" y="635" class="score" text-anchor="end">{score}</text>'
    yield f'<text x="596" y="633" class="{css_class}" text-anchor="end">{escape(text)}</text></g>'
    if seat["riichi"] == 2:
        yield '<rect x="440" y="591" width="120" height="10" rx="4" fill="#f6f3e6"/>'
        yield '<circle cx="500" cy="596" r="3.4" fill="#c3262f"/>'


def _short(name: str) -> str:
    """Return a name that fits, with its end, where names of one family differ."""
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 6]}…{name[-5:]}"


def _middle(board: Board) -> str:
    sticks = marked("{honba} honba, {sticks} sticks")
    if board["sticks"] == 1:
        sticks = marked("{honba} honba, 1 stick")
    lines = (
        (440, "round", kyoku_text(board)),
        (464, "small", translate(sticks, honba=board["honba"], sticks=board["sticks"])),
        (486, "small", translate("{tiles} tiles left", tiles=board["wall"])),
    )
    drawn = [
        f'<text x="500" y="{y}" class="{css_class}" text-anchor="middle">{escape(line)}</text>'
        for y, css_class, line in lines
    ]
    for row, markers in enumerate((board["dora"].split(), board["ura"].split())):
        step = WIDTH * MARKER_SCALE
        start = 500 - len(markers) * step / 2
        drawn += [
            _tile(token, start + index * step, 496 + row * 45, MARKER_SCALE)
            for index, token in enumerate(markers)
        ]
    return "".join(drawn)
