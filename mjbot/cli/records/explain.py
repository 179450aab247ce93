"""``mjbot explain LOG``: what a strategy thinks of a recorded game, or of one position in it."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from mjbot.analysis.review.players import SeatedPlayers, honest_view
from mjbot.cli import arguments as a
from mjbot.game.records.choices import Numbering, ReplayStep, kyoku_name, steps
from mjbot.game.records.game import HandProblem
from mjbot.game.records.positions import NoPositionError, RecordPosition, require_seat
from mjbot.game.table.actions import Action
from mjbot.game.table.mirror.mirror import quote
from mjbot.game.table.view import View
from mjbot.learning.models.opponents import estimate_opponents
from mjbot.play.startup.precompile import prepare
from mjbot.protocol.messages import Event
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import TILE_NAMES, tile_name, tile_names
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.files import plural
from mjbot.runtime.progress import progress
from mjbot.strategy import explanation as e
from mjbot.strategy.registry import Spec

SEATS: Final = range(4)
WIDE: Final = 320
"""Columns where there is no terminal: no row is broken."""
LONGEST_NAME: Final = 30

Walk = Callable[..., Iterator[ReplayStep]]
""":func:`~mjbot.game.records.choices.steps` of a log under its rules."""


@dataclass(frozen=True, kw_only=True)
class ExplainRequest:
    """Arguments of ``mjbot explain``."""

    log: Path = a.record_argument()
    at: RecordPosition | None = a.at_option(
        "list all choices, and where the strategy's differ from the recorded ones"
    )
    seat: int | None = a.seat_option("the one that has a choice, or all")
    strategy: Spec = a.strategy_option(
        a.STRONGEST,
        "strategy to explain; strongest: by shares of strong players, with points next to them;"
        " fold-recognition-plus: by points; all but tsumogiri rate what they weigh",
    )
    rules: Rules | None = a.record_rules_option()
    seed: int = a.seed_option()


def run(request: ExplainRequest) -> int:
    """Explain one position, or list where there is something to choose."""
    spec = request.strategy
    spec.check()
    walk = partial(steps, request.log, rules=request.rules)
    # what cannot be read is refused before anything is made or compiled
    next(walk(), None)
    if request.seat is not None:
        _require_hand(walk, request.seat)
    players = SeatedPlayers(spec, request.seed)
    console = Console(stderr=True)
    if request.at is None:
        prepare([spec], console, use="explain")
        return _list_choices(walk, request.seat, players)
    with progress(console, f"looking for {request.at} in {request.log.name}"):
        number, seat = _chooser_at(walk, request.at, request.seat)
    prepare([spec], console, use="explain")
    return _explain(walk, number, seat, players)


def _require_hand(walk: Walk, seat: int) -> None:
    """Raise ``NoPositionError`` where the table lacks the seat, or its hand is never shown."""
    require_seat(seat, walk(), f"--seat {seat}")
    if not any(step.table.state["hand_known"][seat] for step in walk()):
        raise NoPositionError(f"--seat {seat}: the log does not show the hand of this seat")


# --- one position ------------------------------------------------------------------------------


def _explain(walk: Walk, number: int, seat: int, players: SeatedPlayers) -> int:
    for step in walk():
        players.see(step, [seat])
        if step.number == number:
            break
    console = _console()
    lines = [
        f"event {step.number}: {quote(step.event)}",
        *_situation(honest_view(step.table, seat), step.table.names),
        f"recorded next: {quote(step.next) if step.next else 'the end of the log'}",
    ]
    _print_lines(console, lines)
    with progress(Console(stderr=True), f"asking {players.name}"):
        name, explanation = players.explain(step, seat)
    _print_lines(console, [f"{name}: {explanation.choice}"])
    if explanation.rated:
        console.print(_rating_grid(explanation))
        _print_lines(console, _legend(explanation, step.table.names))
    _print_lines(console, explanation.notes)
    for table in explanation.tables:
        console.print(_grid(table))
    return ExitCode.OK


def _print_lines(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(one_line(line), highlight=False, markup=False, soft_wrap=True)


def _rating_grid(explanation: e.Explanation) -> Grid:
    """Return what was rated, best first; the chosen one is marked.

    Opponents that nothing deals in to have no columns.
    """
    heads = [_head(term) for term in e.columns_of(explanation.rated)]
    value_head = f"value, {explanation.unit}" if explanation.unit else "value"
    rows = []
    for rated in explanation.best_first:
        parts = {_head(term): _number(term.value, term.unit) for term in rated.terms}
        number = (
            _number(rated.value, explanation.unit) if isfinite(rated.value) else "given up early"
        )
        mark = "chosen" if rated.is_chosen else ""
        rows.append([_label(rated), number, *[parts.get(head, "") for head in heads], mark])
    grid = _grid(e.DataTable("", ["choice", value_head, *heads, ""], rows))
    grid.columns[0].no_wrap = True
    for column in grid.columns[1:-1]:
        column.justify = "right"
    return grid


def _head(term: e.Term) -> str:
    """Return the head of a term's column; + before what adds up to the value."""
    name = f"+ {term.name}" if term.adds_to == e.VALUE else term.name
    about = "" if term.about is None else f"seat {term.about}"
    return "\n".join(filter(None, [name, about, term.shown_unit]))


def _number(value: float, unit: str) -> str:
    if unit == e.POINTS:
        return f"{value:z.0f}"
    return f"{value:z.2f}" if unit.startswith(e.PERCENT) else f"{value:z.6g}"


def _legend(explanation: e.Explanation, names: Sequence[str]) -> Iterator[str]:
    """Explain the heads: the seats that they name, and the plus."""
    terms = [term for rated in explanation.rated for term in rated.terms]
    if about := sorted({term.about for term in terms if term.about is not None}):
        yield ", ".join(_seat(seat, names) for seat in about)
    if any(term.adds_to == e.VALUE for term in terms):
        yield "the terms with + add up to the value"


def _label(rated: e.Rated) -> str:
    action = TILE_NAMES[rated.action.tile] if rated.action.is_discard else str(rated.action)
    return f"{action}, {TILE_NAMES[rated.then.tile]}" if rated.then else action


def _grid(table: e.DataTable) -> Grid:
    """Return a table as it is shown: columns with numbers to the right, what is marked in bold."""
    grid = Grid(title=Text(table.title) if table.title else None)
    for index, column in enumerate(table.columns):
        has_numbers = any(not isinstance(row[index], str) for row in table.rows)
        grid.add_column(Text(column), justify="right" if has_numbers else "left")
    for index, row in enumerate(table.rows):
        cells = [f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row]
        grid.add_row(*map(Text, cells), style="bold" if index in table.marked else None)
    return grid


def _chooser_at(walk: Walk, at: RecordPosition, asked: int | None) -> tuple[int, int]:
    """Return the number of the event, and the seat that chooses after it."""
    number = at.event_in(walk(), asked)
    step = None
    for step in walk():
        if step.number == number:
            return number, _chooser(step, asked)
    n = step.number if step else 0
    raise NoPositionError(f"--at {at.text}: the log has the events 1 to {n}")


def _chooser(step: ReplayStep, asked: int | None) -> int:
    """Return the seat that has a choice, nearest to the one whose turn it is."""
    turn = int(step.table.state["turn"])
    players = int(step.table.state["rules"]["players"])
    nearest = [(turn + way) % players for way in range(players)]
    able = [seat for seat in nearest if step.choices(seat)]
    if asked is None and able:
        return able[0]
    if asked in able:
        return asked
    problem = "no seat has a choice there; without --at all choices are listed"
    if able:
        problem = f"seat {asked} has no choice there; seat {able[0]} has one"
    raise NoPositionError(f"--at {step.number}: {problem}")


def _situation(view: View, names: Sequence[str]) -> Iterator[str]:
    scores = ", ".join(f"{score}" for score in view.scores.tolist()[: view.players])
    yield f"{kyoku_name(view.state)}, {view.wall_left} tiles left, scores {scores}"
    if view.rules.differences:
        yield f"rules {view.rules}"
    yield f"dora markers {_names(view.dora_markers.tolist())}"
    tenpai = {opponent.seat: opponent.tenpai for opponent in estimate_opponents(view)}
    for seat in range(view.players):
        melds = ["".join(tile_names(meld.tiles)) for meld in view.melds(seat)]
        parts = [f"river {_names(view.river(seat).tolist()) or '-'}"]
        parts += [f"melds {', '.join(melds)}"] if melds else []
        parts += [f"norths set aside {view.kita(seat)}"] if view.kita(seat) else []
        if view.riichi(seat):
            parts.append("in riichi")
        elif seat in tenpai:
            parts.append(f"estimated tenpai {tenpai[seat]:.2f}%")
        parts += [f"hand {_hand(view)}"] if seat == view.seat else []
        dealer = " (dealer)" if seat == view.dealer else ""
        yield f"{_seat(seat, names)}{dealer}: {'; '.join(parts)}"


def _seat(seat: int, names: Sequence[str]) -> str:
    """Return the seat with its player's name, of which only what can be shown in a line."""
    name = "".join([letter for letter in "".join(names[seat : seat + 1]) if letter.isprintable()])
    return f"seat {seat} {name[:LONGEST_NAME]}".rstrip()


def _names(tiles: list[int]) -> str:
    return " ".join(tile_names(tiles))


def _hand(view: View) -> str:
    tiles = view.tiles
    if view.drawn < 0:
        return _names(tiles)
    tiles.remove(view.drawn)
    return f"{_names(tiles)} + {tile_name(view.drawn)}"


# --- the list ----------------------------------------------------------------------------------


class _Agreement:
    """How often the strategy does what was recorded, player by player."""

    def __init__(self) -> None:
        self._same: Counter[str] = Counter()
        self._all: Counter[str] = Counter()
        self.n_unknown = 0

    def add(self, player: str, recorded: Action | None, choice: Action) -> bool | None:
        """Count a choice; return whether it is the recorded one, ``None`` if it is unknown."""
        if recorded is None:
            self.n_unknown += 1
            return None
        is_same = e.same_choice(recorded, choice)
        self._all[player] += 1
        self._same[player] += is_same
        return is_same

    def lines(self, name: str) -> Iterator[str]:
        """Yield a line for each player."""
        for player, n in sorted(self._all.items()):
            yield f"{name} agrees with {player} on {self._same[player]} of {plural(n, 'choice')}"
        if self.n_unknown:
            reason = "the record does not show the choice"
            yield f"{plural(self.n_unknown, 'choice')} not counted: {reason}"


def _list_choices(walk: Walk, asked: int | None, players: SeatedPlayers) -> int:
    """List all choices, and how often the strategy agrees with the record."""
    seats = list(SEATS) if asked is None else [asked]
    head = ("event", "position", "seat", "happened", "legal", "recorded", players.name, "")
    grid, agreement = Grid(*head), _Agreement()
    problems: list[HandProblem] = []
    with progress(Console(stderr=True), f"asking {players.name}", unit="choices") as step:
        for row in _rows(walk, seats, players, agreement, problems):
            grid.add_row(*[Text(cell) for cell in row])
            step(note=row[1])
    console = _console()
    console.print(grid)
    for line in agreement.lines(players.name):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    for problem in problems:
        print(one_line(f"mjbot explain: {problem.text}"), file=sys.stderr)
    return ExitCode.FAILED if any(trouble.is_loss for trouble in problems) else ExitCode.OK


def _rows(
    walk: Walk,
    seats: list[int],
    players: SeatedPlayers,
    agreement: _Agreement,
    problems: list[HandProblem],
) -> Iterator[tuple[str, ...]]:
    numbering = Numbering()
    for step in walk(problems):
        players.see(step, seats)
        for seat, number in numbering.choosers(step).items():
            if seat not in seats:
                continue
            recorded, choice = step.recorded(seat), players.decide(step, seat)
            player = _seat(seat, step.table.names)
            is_same = agreement.add(player, recorded, choice)
            yield (
                str(step.number),
                f"{kyoku_name(step.table.state)}:{number}",
                player.removeprefix("seat "),
                _in_short(step.event),
                str(len(step.choices(seat))),
                "?" if recorded is None else str(recorded),
                str(choice),
                "differs" if is_same is False else "",
            )


def _in_short(event: Event) -> str:
    parts = [type(event).__name__.lower()]
    parts += [f"seat {event.actor}"] if hasattr(event, "actor") else []
    parts += [str(event.pai)] if hasattr(event, "pai") else []
    return " ".join(parts)


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=WIDE)
