"""What a strategy's explanation rates, as grids for a terminal: a choice is a column.

The terms of a choice are many (a danger and a cost for each opponent) and the choices that matter
are few, so that the terms are the rows.  Choices for which the terminal is too narrow follow in a
further grid.
"""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Final

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from mjbot.game.table.actions import Action
from mjbot.protocol.tiles import TILE_NAMES, UNKNOWN
from mjbot.runtime.languages import ENGLISH, language, marked, translate
from mjbot.strategy import explanation as e
from mjbot.viewer.drawing.tiles import tile_text

N_BEST: Final = 3
"""Choices that are shown by default, besides the chosen and the recorded one."""
UNBOUND: Final = 10_000
"""Columns that no grid has."""
CHOSEN: Final = marked("chosen")
RECORDED: Final = marked("recorded")


def shown_choices(
    rated: Sequence[e.Rated], recorded: Action | None, follow: Action | None = None
) -> list[e.Rated]:
    """Return the best of choices that are ordered, with the chosen and the recorded one.

    ``follow`` is the discard that followed a recorded riichi or call.
    """
    return [
        each
        for place, each in enumerate(rated)
        if place < N_BEST or each.is_chosen or _is_recorded(each, recorded, follow)
    ]


def rating_grids(
    console: Console,
    explanation: e.Explanation,
    shown: Sequence[e.Rated],
    recorded: Action | None,
    follow: Action | None = None,
) -> Iterator[Grid]:
    """Yield grids of the ``shown`` choices, each as wide as the console allows.

    Opponents that no rated choice deals in to have no rows.
    """

    def grid(choices: Sequence[e.Rated]) -> Grid:
        marks = [_marks(each, recorded, follow) for each in choices]
        return _grid(explanation, choices, marks)

    left = list(shown)
    while left:
        n = len(left)
        while n > 1 and not _fits(console, grid(left[:n])):
            n -= 1
        yield grid(left[:n])
        left = left[n:]


def short_tile(tile: int) -> str:
    """Return the name of a tile (0..36) for a table: in English that of the notation.

    >>> short_tile(34), short_tile(33)
    ('5mr', 'C')
    """
    is_wire = language() == ENGLISH or tile >= UNKNOWN
    return TILE_NAMES[tile] if is_wire else tile_text(tile)


def action_text(action: Action) -> str:
    """Return an action in the language of the process.

    >>> from mjbot.game.table.actions import DISCARD_DRAWN, ACTIONS
    >>> action_text(ACTIONS[DISCARD_DRAWN + 34])
    'discard 5mr (drawn)'
    """
    if language() == ENGLISH:
        return str(action)
    if action.is_discard:
        tile = short_tile(action.tile)
        return translate("{tile} (drawn)", tile=tile) if action.tsumogiri else tile
    name = str(action)
    if action.tile >= 0:
        return f"{translate(action.name)} {short_tile(action.tile)}"
    return translate(name)


def choice_label(rated: e.Rated) -> str:
    """Return a choice as the head of its column: a discard is its tile."""
    action = rated.action
    text = short_tile(action.tile) if action.is_discard else action_text(action)
    return f"{text}, {short_tile(rated.then.tile)}" if rated.then else text


def legend(explanation: e.Explanation) -> str:
    """Return what the plus in the heads of rows means; empty where there is none."""
    terms = (term for rated in explanation.rated for term in rated.terms)
    if any(term.adds_to == e.VALUE for term in terms):
        return translate("the terms with + add up to the value")
    return ""


def _fits(console: Console, grid: Grid) -> bool:
    unbound = console.options.update(max_width=UNBOUND)
    return Measurement.get(console, unbound, grid).maximum <= console.width


def _grid(explanation: e.Explanation, choices: Sequence[e.Rated], marks: Sequence[str]) -> Grid:
    grid = Grid()
    grid.add_column(translate("choice"), overflow="fold")
    for each, mark in zip(choices, marks, strict=True):
        head = "\n".join(filter(None, [choice_label(each), mark]))
        grid.add_column(Text(head), justify="right", overflow="fold")
    grid.add_row(Text(_value_head(explanation)), *[_value(each, explanation) for each in choices])
    for column in e.columns_of(explanation.rated):
        found = [each.term(column.name, column.about) for each in choices]
        numbers = ["" if term is None else _number(term.value, term.unit) for term in found]
        grid.add_row(Text(_head(column)), *map(Text, numbers))
    return grid


def _marks(rated: e.Rated, recorded: Action | None, follow: Action | None) -> str:
    marks = [translate(CHOSEN)] if rated.is_chosen else []
    marks += [translate(RECORDED)] if _is_recorded(rated, recorded, follow) else []
    return "\n".join(marks)


def _is_recorded(rated: e.Rated, recorded: Action | None, follow: Action | None) -> bool:
    if recorded is None or not e.same_choice(rated.action, recorded):
        return False
    return rated.then is None or follow is None or rated.then.tile == follow.tile


def _value_head(explanation: e.Explanation) -> str:
    parts = [translate(e.VALUE), translate(explanation.unit) if explanation.unit else ""]
    return ", ".join(filter(None, parts))


def _value(rated: e.Rated, explanation: e.Explanation) -> Text:
    if not isfinite(rated.value):
        return Text(translate("given up"))
    return Text(_number(rated.value, explanation.unit))


def _head(term: e.Term) -> str:
    """Return the head of a term's row; + before what adds up to the value."""
    name = translate(term.name)
    if term.about is not None:
        name = f"{name} ({translate('seat {n}', n=term.about)})"
    unit = translate(term.shown_unit) if term.shown_unit else ""
    sign = "+ " if term.adds_to == e.VALUE else ""
    return f"{sign}{', '.join(filter(None, [name, unit]))}"


def _number(value: float, unit: str) -> str:
    if unit == e.POINTS:
        return f"{value:z.0f}"
    return f"{value:z.2f}" if unit.startswith(e.PERCENT) else f"{value:z.6g}"
