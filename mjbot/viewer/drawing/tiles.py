"""Our own drawings of the tiles, as SVG.

Every tile is a ``<symbol>`` of 48 x 64 units, ``id`` ``t`` and the wire name (``t5mr``, ``t?`` for
a tile lying face down).  Nothing is typed but the Latin index in the corner, which is shown where
the custom property ``--index`` is 1: characters are drawn as strokes, since a bare machine has no
font for them.  A red five has a ringed dot, so that it is recognised without colour.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from mjbot.protocol.tiles import FIRST_HONOUR, RED_FIVES, TILE_NAMES
from mjbot.runtime.languages import ENGLISH, language, marked, translate

WIDTH: Final = 48
HEIGHT: Final = 64

INK: Final = "#23262b"
RED: Final = "#c3262f"
GREEN: Final = "#17794a"
BLUE: Final = "#22509b"

_STROKES: Final = {
    "1": ("8,50 92,50",),
    "2": ("22,26 78,26", "6,78 94,78"),
    "3": ("14,16 86,16", "22,50 78,50", "6,86 94,86"),
    "4": ("12,16 88,16 88,86 12,86 12,16", "40,16 38,46 26,60", "60,16 60,56 78,56"),
    "5": ("12,12 88,12", "46,12 34,88", "20,46 74,46 66,88", "4,88 96,88"),
    "6": ("50,2 50,22", "6,34 94,34", "36,52 12,94", "62,52 90,94"),
    "7": ("6,46 94,32", "44,4 44,80 54,92 88,92 92,74"),
    "8": ("38,12 32,52 6,92", "56,8 64,50 96,92"),
    "9": ("10,34 70,34 66,80 74,92 92,88 96,72", "40,4 36,50 6,94"),
    "ten thousand": ("6,12 94,12", "44,12 38,54 10,94", "42,44 82,44 75,90 56,86"),
    "E": (
        "8,18 92,18", "50,2 50,98", "22,34 78,34 78,66 22,66 22,34", "22,50 78,50", "46,66 8,94",
        "54,66 92,94",
    ),
    "S": (
        "12,16 88,16", "50,2 50,32", "14,98 14,34 86,34 86,92 76,95", "34,44 40,54", "66,44 60,54",
        "30,60 70,60", "26,76 74,76", "50,60 50,94",
    ),
    "W": (
        "8,14 92,14", "14,36 86,36 86,94 14,94 14,36", "40,14 38,54 24,70", "60,14 60,62 80,62",
    ),
    "N": (
        "36,6 36,94", "8,32 36,32", "6,84 36,68", "62,6 62,82 70,92 90,90 95,72", "62,44 92,26",
    ),
    "F": (
        "12,12 40,12 6,48", "14,26 26,36", "58,4 66,22 96,46", "86,8 74,20", "96,22 82,32",
        "24,54 76,54", "8,72 92,72", "38,54 36,78 12,98", "62,54 62,90 70,97 92,95 94,82",
    ),
    "C": ("12,26 88,26 88,66 12,66 12,26", "50,2 50,98"),
}  # fmt: skip
"""Strokes of each character, in a square of 100 units."""

_PIPS: Final[dict[int, tuple[float, tuple[tuple[float, float, str], ...]]]] = {
    1: (15, ((24, 32, RED),)),
    2: (9.5, ((24, 18, GREEN), (24, 46, BLUE))),
    3: (8, ((12, 14, BLUE), (24, 32, RED), (36, 50, GREEN))),
    4: (8.5, ((14, 18, BLUE), (34, 18, GREEN), (14, 46, GREEN), (34, 46, BLUE))),
    5: (7.6, ((12, 15, BLUE), (36, 15, GREEN), (24, 32, RED), (12, 49, GREEN), (36, 49, BLUE))),
    6: (7.4, tuple((x, y, GREEN if y < 20 else RED) for y in (13.0, 35.0, 52.0) for x in (14, 34))),
    7: (
        6.6,
        (
            (9, 10, GREEN), (24, 16, GREEN), (39, 22, GREEN),
            (15, 38, RED), (33, 38, RED), (15, 54, RED), (33, 54, RED),
        ),
    ),
    8: (6.4, tuple((x, y, BLUE) for y in (10.5, 24.8, 39.2, 53.5) for x in (14, 34))),
    9: (
        6.4,
        tuple(
            (x, y, colour)
            for y, colour in ((12, GREEN), (32, RED), (52, BLUE))
            for x in (9.5, 24, 38.5)
        ),
    ),
}  # fmt: skip
"""Radius, and centre and colour of each pip."""

_STICKS: Final[dict[int, tuple[float, tuple[tuple[float, float, str], ...]]]] = {
    2: (20, ((24, 18, GREEN), (24, 46, GREEN))),
    3: (20, ((24, 18, GREEN), (14, 46, GREEN), (34, 46, GREEN))),
    4: (20, ((14, 18, GREEN), (34, 18, GREEN), (14, 46, GREEN), (34, 46, GREEN))),
    5: (
        18,
        ((10, 17, GREEN), (38, 17, GREEN), (24, 32, RED), (10, 47, GREEN), (38, 47, GREEN)),
    ),
    6: (20, tuple((x, y, GREEN) for y in (18.0, 46.0) for x in (11, 24, 37))),
    7: (13, ((24, 11, RED), *((x, y, GREEN) for y in (31.5, 52.0) for x in (11, 24, 37)))),
    9: (
        13,
        tuple((x, y, RED if x == 24 else GREEN) for y in (12.0, 32.0, 52.0) for x in (11, 24, 37)),
    ),
}
"""Length, and centre and colour of each stick."""

_EIGHT_STICKS: Final = (
    "M9 9V27", "M39 9V27", "M15.5 10L23 26", "M32.5 10L25 26",
    "M9 37V55", "M39 37V55", "M15.5 54L23 38", "M32.5 54L25 38",
)  # fmt: skip

_RANKS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SUITS: Final = {
    "m": marked("{rank} of characters"),
    "p": marked("{rank} of circles"),
    "s": marked("{rank} of bamboo"),
}
_HONOURS: Final = {
    "E": marked("east wind"),
    "S": marked("south wind"),
    "W": marked("west wind"),
    "N": marked("north wind"),
    "P": marked("white dragon"),
    "F": marked("green dragon"),
    "C": marked("red dragon"),
    "?": marked("hidden tile"),
}


WINDS: Final = (marked("East"), marked("South"), marked("West"), marked("North"))
HONOUR_TEXTS: Final = (
    *WINDS,
    marked("the white dragon"),
    marked("the green dragon"),
    marked("the red dragon"),
)
_SUIT_TEXTS: Final = {"m": marked("{rank}m"), "p": marked("{rank}p"), "s": marked("{rank}s")}


def tile_text(tile: int) -> str:
    """Return a tile's (0..36) name.

    >>> tile_text(4), tile_text(34), tile_text(27), tile_text(33)
    ('5m', 'red 5m', 'East', 'the red dragon')
    """
    if FIRST_HONOUR <= tile < FIRST_HONOUR + len(HONOUR_TEXTS):
        return translate(HONOUR_TEXTS[tile - FIRST_HONOUR])
    name = TILE_NAMES[tile]
    plain = translate(_SUIT_TEXTS[name[1]], rank=name[0])
    return translate("red {tile}", tile=plain) if tile in RED_FIVES else plain


def tile_label(name: str) -> str:
    """Return how a screen reader calls the tile of a wire name.

    >>> tile_label("5mr"), tile_label("1s"), tile_label("P")
    ('red five of characters', 'one of bamboo', 'white dragon')
    """
    if name in _HONOURS:
        return translate(_HONOURS[name])
    rank = _RANKS[int(name[0]) - 1] if language() == ENGLISH else name[0]
    plain = translate(_SUITS[name[1]], rank=rank)
    return translate("red {tile}", tile=plain) if name.endswith("r") else plain


def sprite(names: Iterable[str] = TILE_NAMES) -> str:
    """Return the ``<symbol>`` elements of tiles, one line each."""
    return "\n".join([_symbol(name) for name in names])


def shapes(names: Iterable[str] = TILE_NAMES) -> str:
    """Return the same as ``<g>`` elements, which keep their size: :data:`WIDTH`, :data:`HEIGHT`."""
    return "\n".join([f'<g id="t{name}">{_inside(name)}</g>' for name in names])


def _symbol(name: str) -> str:
    box = f"0 0 {WIDTH} {HEIGHT}"
    label = tile_label(name)
    return f'<symbol id="t{name}" aria-label="{label}" viewBox="{box}">{_inside(name)}</symbol>'


def _inside(name: str) -> str:
    return _back() if name == "?" else _face() + _drawing(name) + _index(name)


def _face() -> str:
    box = f'width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="5"'
    return f'<rect x=".5" y=".5" {box} class="face" fill="#fdfbf3" stroke="#8d8672"/>'


def _back() -> str:
    box = f'width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="5"'
    return (
        f'<rect x=".5" y=".5" {box} class="back" fill="#c9953d" stroke="#7a5a20"/>'
        '<path d="M24 14L38 32L24 50L10 32Z" fill="none" stroke="#fff" stroke-opacity=".5"'
        ' stroke-width="2"/>'
    )


def _drawing(name: str) -> str:
    red = name.endswith("r") and len(name) == 3
    if name in "ESWNFC":
        colour = {"F": GREEN, "C": RED}.get(name, INK)
        return _character(name, (5, 13), 0.38, colour, 11)
    if name == "P":
        return (
            f'<path d="M9 11H39V53H9Z M13.5 15.5H34.5V48.5H13.5Z" fill="none" stroke="{BLUE}"'
            ' stroke-width="2.4"/>'
        )
    rank, suit = int(name[0]), name[1]
    drawing = {"m": _man, "p": _pin, "s": _sou}[suit](rank, red)
    return drawing + (_dot(suit) if red else "")


def _dot(suit: str) -> str:
    """Return the mark of a red five, where its suit leaves room."""
    x, y = (41, 8) if suit == "m" else (24, 11)
    return (
        f'<circle cx="{x}" cy="{y}" r="3.2" fill="{RED}"/>'
        f'<circle cx="{x}" cy="{y}" r="5.2" fill="none" stroke="{RED}" stroke-width="1.3"/>'
    )


def _character(name: str, at: tuple[float, float], scale: float, colour: str, width: float) -> str:
    paths = "".join([f"M{stroke.replace(' ', 'L')}" for stroke in _STROKES[name]])
    return (
        f'<path transform="translate({at[0]} {at[1]})scale({scale})" d="{paths}" fill="none"'
        f' stroke="{colour}" stroke-width="{width}" stroke-linecap="round"'
        ' stroke-linejoin="round"/>'
    )


def _man(rank: int, red: bool) -> str:
    number = _character(str(rank), (11.5, 6), 0.25, RED if red else INK, 13)
    return number + _character("ten thousand", (11.5, 35), 0.24, RED, 13)


def _pin(rank: int, red: bool) -> str:
    radius, pips = _PIPS[rank]
    drawn = [_pip(x, y, radius, RED if red else colour) for x, y, colour in pips]
    return "".join(drawn)


def _pip(x: float, y: float, radius: float, colour: str) -> str:
    ring = f'<circle cx="{x:g}" cy="{y:g}" r="{radius - 1.1:.3g}" fill="none" stroke="{colour}"'
    parts = [f'{ring} stroke-width="2.2"/>']
    if radius > 12:
        spokes = "".join([f"M{x} {y}m{dx} {dy}h.01" for dx, dy in _around(radius * 0.62)])
        parts.append(
            f'<path d="{spokes}" stroke="{BLUE if colour == RED else colour}" stroke-width="4.5"'
            ' stroke-linecap="round"/>'
        )
    parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius * 0.42:.3g}" fill="{colour}"/>')
    return "".join(parts)


def _around(radius: float) -> Sequence[tuple[float, float]]:
    """Return eight points of a circle about 0."""
    side = radius * 0.7071
    straight = [(0, radius), (0, -radius), (radius, 0), (-radius, 0)]
    return [
        (round(x, 1), round(y, 1))
        for x, y in [*straight, (side, side), (side, -side), (-side, side), (-side, -side)]
    ]


def _sou(rank: int, red: bool) -> str:
    if rank == 1:
        return _bird()
    if rank == 8:
        return _bamboo("".join(_EIGHT_STICKS), GREEN)
    length, sticks = _STICKS[rank]
    paths: dict[str, str] = {}
    for x, y, colour in sticks:
        chosen = RED if red else colour
        paths[chosen] = paths.get(chosen, "") + f"M{x:g} {y - length / 2 + 2:g}v{length - 4:g}"
    return "".join([_bamboo(path, colour) for colour, path in paths.items()])


def _bamboo(path: str, colour: str) -> str:
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="6.4"'
        ' stroke-linecap="round"/>'
        f'<path d="{path}" fill="none" stroke="#fff" stroke-opacity=".65" stroke-width="1.5"'
        ' stroke-linecap="round" stroke-dasharray="3.4 3.2"/>'
    )


def _bird() -> str:
    return (
        f'<path d="M30 20C38 26 38 40 28 45C20 49 12 45 12 38C12 30 20 30 24 24Z" fill="{GREEN}"/>'
        f'<path d="M17 43L8 57M21 46L15 59M26 46L23 59" stroke="{BLUE}" stroke-width="3.4"'
        ' stroke-linecap="round"/>'
        f'<circle cx="25" cy="16" r="8" fill="{GREEN}"/>'
        f'<path d="M18 14L9 17L18 20Z M24 8L27 1L31 9Z" fill="{RED}"/>'
        '<circle cx="23" cy="14.5" r="2" fill="#fff"/>'
        f'<path d="M20 36C26 40 31 37 33 31" fill="none" stroke="{RED}" stroke-width="2.6"/>'
    )


def _index(name: str) -> str:
    text = name[0]
    return (
        '<g class="index"><rect x="1.5" y="1.5" width="16" height="18" rx="4" fill="#fffdf2"/>'
        f'<text x="9.5" y="16" font-family="sans-serif" font-size="16" font-weight="700"'
        f' text-anchor="middle" fill="{INK}">{text}</text></g>'
    )


def show_all(columns: int = 10) -> str:
    """Return one SVG image of all tiles: what ``docs/watch.md`` shows."""
    rows = -(-len(TILE_NAMES) // columns)
    uses = [
        f'<use href="#t{name}" x="{index % columns * 52 + 4}" y="{index // columns * 68 + 4}"'
        f' width="{WIDTH}" height="{HEIGHT}"/>'
        for index, name in enumerate(TILE_NAMES)
    ]
    size = f"{columns * 52 + 4} {rows * 68 + 4}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}">'
        f"<style>.index{{opacity:var(--index,0)}}</style>\n<defs>{sprite()}</defs>\n"
        f"{''.join(uses)}</svg>\n"
    )
