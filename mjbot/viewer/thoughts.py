"""What a strategy thinks of a moment of a game, as JSON for the page."""

from collections.abc import Collection, Iterable, Sequence
from math import isfinite
from typing import Any, Final

from mjbot.game.records.choices import ReplayStep
from mjbot.game.table.view import Sealed, View
from mjbot.learning.models.opponents import estimate_opponents
from mjbot.protocol.messages import StartGame, StartKyoku
from mjbot.protocol.tiles import TILE_NAMES, WIND_NAMES
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.languages import marked, translate
from mjbot.strategy.explanation import (
    PERCENT,
    POINTS,
    DataTable,
    Explanation,
    Rated,
    Term,
    columns_of,
    shares_of,
)
from mjbot.strategy.faults import error_summary
from mjbot.strategy.registry import Spec, require_players
from mjbot.strategy.strategy import Strategy

NAMES_OF_STRATEGIES: Final = (
    marked("% of strong players"),
    marked("rating points"),
    marked("mean of what was played out"),
    marked("safety"),
    marked("grade"),
    marked("gain in playouts"),
)
"""Terms and units of the strategies that come with mjbot, besides those of their explanation."""
CHOICES: Final = (
    marked("discard"),
    marked("pass"),
    marked("riichi"),
    marked("tsumo"),
    marked("ron"),
    marked("nine terminals"),
    marked("pon"),
    marked("pon with red"),
    marked("chi"),
    marked("chi low"),
    marked("chi middle"),
    marked("chi high"),
    marked("chi low with red"),
    marked("chi middle with red"),
    marked("chi high with red"),
    marked("kan"),
    marked("daiminkan"),
    marked("ankan"),
    marked("kakan"),
    marked("kita"),
)
"""Actions as their texts name them (``Action.__str__``), without a tile."""


class NoThoughtError(MjbotError):
    """There is nothing to choose there, or the strategy fails."""


def thoughts_at(spec: Spec, steps: Iterable[ReplayStep], n: int, seat: int) -> dict[str, Any]:
    """Return what the strategy, playing ``seat``, thinks after the ``n``-th event of a game.

    Raises :class:`NoThoughtError`.
    """
    strategy = spec.make()
    try:
        for step in steps:
            answer = _explain(strategy, step, seat, step.number == n)
            if answer is not None:
                return answer
    except MjbotError:
        raise
    except Exception as problem:
        raise NoThoughtError(f"{spec} fails: {error_summary(problem, strategy)}") from problem
    raise NoThoughtError(f"seat {seat} has no choice after event {n}")


def all_thoughts(spec: Spec, steps: Iterable[ReplayStep], seats: Iterable[int]) -> dict[str, Any]:
    """Return ``{"N:SEAT": thoughts}`` of every choice of the seats in a game."""
    strategies = {seat: spec.make() for seat in seats}
    thoughts = {}
    for step in steps:
        for seat, strategy in strategies.items():
            try:
                answer = _explain(strategy, step, seat, bool(step.choices(seat)))
            except MjbotError:
                raise
            except Exception as problem:
                notes = [error_summary(problem, strategy)]
                answer = {**_NOTHING, "strategy": str(spec), "notes": notes}
            if answer is not None:
                thoughts[f"{step.number}:{seat}"] = answer
    return thoughts


_NOTHING = {"choice": "", "unit": "", "rated": [], "notes": [], "tables": [], "opponents": []}


def _explain(
    strategy: Strategy, step: ReplayStep, seat: int, is_due: bool
) -> dict[str, Any] | None:
    state = step.table.state
    if isinstance(step.event, StartGame):
        require_players(type(strategy), View(state, seat).players)
        strategy.start_game(seat, step.table.names)
    elif isinstance(step.event, StartKyoku) and state["hand_known"][seat]:
        strategy.start_kyoku(Sealed().view(View(state, seat)))
    if not is_due or not step.choices(seat):
        return None
    view = Sealed().view(View(state, seat))
    return explained(type(strategy).__name__, strategy.explain(view), view)


def explained(name: str, answer: Explanation, view: View) -> dict[str, Any]:
    """Return an explanation and the estimates of the opponents as JSON for the page."""
    winds = [view.seat_wind(seat) for seat in range(view.players)]
    return {**thought(name, answer, winds), "opponents": opponents_json(view)}


def thought(name: str, answer: Explanation, winds: Sequence[int]) -> dict[str, Any]:
    """Return an explanation as JSON, rated actions best first; an infinite value is ``null``.

    ``winds`` are the seats' winds, 0 being East.
    """
    rated = answer.best_first
    columns = {(term.name, term.about) for term in columns_of(rated)}
    shares = shares_of([option.value for option in rated], answer.unit)
    return {
        "strategy": name,
        "choice": str(answer.choice),
        "unit": answer.unit,
        "rated": [
            {**_rated(one, winds, columns), "share": round(share, 4)}
            for one, share in zip(rated, shares, strict=True)
        ],
        "notes": list(answer.notes),
        "tables": [_table(table) for table in answer.tables],
    }


def opponents_json(view: View) -> list[dict[str, Any]]:
    """Return the estimates of the opponents: tenpai, and of each kind the chance to deal in, %."""
    return [
        {
            "seat": opponent.seat,
            "tenpai": round(opponent.tenpai, 2),
            "deal_in": [float(f"{chance:.3g}") for chance in opponent.deal_in],
        }
        for opponent in estimate_opponents(view)
    ]


def _rated(
    one: Rated, winds: Sequence[int], columns: Collection[tuple[str, int | None]]
) -> dict[str, Any]:
    tile = one.then.tile if one.then else one.action.tile
    return {
        "name": one.action.name,
        "text": str(one.action),
        "tile": TILE_NAMES[tile] if tile >= 0 else "",
        "worth": _number(one.value),
        "chosen": one.is_chosen,
        "terms": {
            _label(term, winds): rounded(term.value, term.unit)
            for term in one.terms
            if (term.name, term.about) in columns
        },
    }


def _label(term: Term, winds: Sequence[int]) -> str:
    """Return a term's name, opponent and unit: :meth:`Term.label_about` in the page's language."""
    name = translate(term.name)
    if term.about is not None:
        wind = translate(WIND_NAMES[winds[term.about]])
        name = translate("{term} ({wind})", term=name, wind=wind)
    if not term.shown_unit:
        return name
    return translate("{name}, {unit}", name=name, unit=translate(term.shown_unit))


def rounded(value: float | None, unit: str) -> float | None:
    """Return a value to the digits that are shown: whole points, hundredths of a percent."""
    if value is None or not isfinite(value):
        return None
    if unit == POINTS:
        return round(value)
    return round(value, 2) if unit.startswith(PERCENT) else _number(value)


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if isfinite(value) else None


def _table(table: DataTable) -> dict[str, Any]:
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    marked = sorted(table.marked)
    return {"title": table.title, "columns": list(table.columns), "rows": rows, "marked": marked}


def _cell(cell: str | int | float) -> str | int | float | None:
    if isinstance(cell, str):
        return cell
    return _number(float(cell)) if isinstance(cell, float) else int(cell)
