"""``mjbot explain LOG``: what a strategy thinks of a recorded game, or of one position in it."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from mjbot.analysis.review.players import SeatedPlayers, honest_view
from mjbot.cli import arguments as a
from mjbot.cli.records.rating_grid import (
    action_text,
    legend,
    rating_grids,
    short_tile,
    shown_choices,
)
from mjbot.game.records.choices import Numbering, ReplayStep, kyoku_name, steps
from mjbot.game.records.game import HandProblem, rules_text
from mjbot.game.records.positions import NoPositionError, RecordPosition, require_seat
from mjbot.game.table.actions import Action
from mjbot.game.table.mirror.mirror import quote
from mjbot.game.table.view import View
from mjbot.learning.models.opponents import estimate_opponents
from mjbot.play.startup.precompile import prepare
from mjbot.protocol import messages as m
from mjbot.protocol.messages import Event
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Rules
from mjbot.protocol.tiles import TILE_BY_NAME
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.languages import marked, translate, translate_count
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import option
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
    all: bool = option(False, "show all rated choices of a position (default: the best three)")
    rules: Rules | None = a.record_rules_option()
    seed: int = a.seed_option()
    language: str | None = a.language_option()


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
    looking = translate(
        "looking for {position} in {file}", position=request.at, file=request.log.name
    )
    with progress(console, looking):
        number, seat = _chooser_at(walk, request.at, request.seat)
    prepare([spec], console, use="explain")
    return _explain(walk, number, seat, players, all_=request.all)


def _require_hand(walk: Walk, seat: int) -> None:
    """Raise ``NoPositionError`` where the table lacks the seat, or its hand is never shown."""
    require_seat(seat, walk(), f"--seat {seat}")
    if not any(step.table.state["hand_known"][seat] for step in walk()):
        raise NoPositionError(f"--seat {seat}: the log does not show the hand of this seat")


# --- one position ------------------------------------------------------------------------------


def _explain(walk: Walk, number: int, seat: int, players: SeatedPlayers, *, all_: bool) -> int:
    for step in walk():
        players.see(step, [seat])
        if step.number == number:
            break
    console = _console()
    after = quote(step.next) if step.next else translate("the end of the log")
    lines = [
        translate("event {n}: {event}", n=step.number, event=quote(step.event)),
        *_situation(honest_view(step.table, seat), step.table.names),
        translate("recorded next: {event}", event=after),
    ]
    _print_lines(console, lines)
    with progress(Console(stderr=True), translate("asking {strategy}", strategy=players.name)):
        name, explanation = players.explain(step, seat)
    _print_lines(console, [f"{name}: {action_text(explanation.choice)}"])
    if explanation.rated:
        _print_rated(explanation, step, seat, all_=all_)
    _print_lines(console, map(translate, explanation.notes))
    for table in explanation.tables:
        console.print(_grid(table))
    return ExitCode.OK


def _print_lines(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(one_line(line), highlight=False, markup=False, soft_wrap=True)


def _print_rated(explanation: e.Explanation, step: ReplayStep, seat: int, *, all_: bool) -> None:
    """Print the choices that matter, or all, with what their marks and heads mean."""
    console = Console()  # of a terminal's width also where there is none: grids are continued
    recorded, follow = step.recorded(seat), step.discard_after(seat)
    best = explanation.best_first
    shown = best if all_ else shown_choices(best, recorded, follow)
    for grid in rating_grids(console, explanation, shown, recorded, follow):
        console.print(grid)
    terms = [term for rated in explanation.rated for term in rated.terms]
    about = sorted({term.about for term in terms if term.about is not None})
    seats = ", ".join(_seat(seat, step.table.names) for seat in about)
    _print_lines(console, filter(None, [seats, legend(explanation)]))
    if n := len(best) - len(shown):
        more = translate_count("{n} more choice: --all", "{n} more choices: --all", n)
        _print_lines(console, [more])


def _grid(table: e.DataTable) -> Grid:
    """Return a table as it is shown: columns with numbers to the right, what is marked in bold."""
    grid = Grid(title=Text(translate(table.title)) if table.title else None)
    for index, column in enumerate(table.columns):
        has_numbers = any(not isinstance(row[index], str) for row in table.rows)
        head = Text(translate(column))
        grid.add_column(head, justify="right" if has_numbers else "left", overflow="fold")
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
    yield translate(
        "{kyoku}, {tiles} tiles left, scores {scores}",
        kyoku=kyoku_name(view.state),
        tiles=view.wall_left,
        scores=", ".join(map(str, view.scores.tolist()[: view.players])),
    )
    if view.rules.differences:
        yield rules_text(str(view.rules))
    yield translate("dora markers {tiles}", tiles=_names(view.dora_markers.tolist()))
    tenpai = {opponent.seat: opponent.tenpai for opponent in estimate_opponents(view)}
    for seat in range(view.players):
        parts = [*_seat_parts(view, seat, tenpai.get(seat))]
        title = _seat(seat, names)
        if seat == view.dealer:
            title = translate("{seat} (dealer)", seat=title)
        yield f"{title}: {'; '.join(parts)}"


def _seat_parts(view: View, seat: int, tenpai: float | None) -> Iterator[str]:
    """Yield what is known of a seat; ``tenpai`` is the estimate of an opponent's, in %."""
    yield translate("river {tiles}", tiles=_names(view.river(seat).tolist()) or "-")
    if melds := ", ".join("".join(map(short_tile, meld.tiles)) for meld in view.melds(seat)):
        yield translate("melds {tiles}", tiles=melds)
    if n := view.kita(seat):
        yield translate("norths set aside {n}", n=n)
    if view.riichi(seat):
        yield translate("in riichi")
    elif tenpai is not None:
        yield translate("estimated tenpai {chance}%", chance=f"{tenpai:.2f}")
    if seat == view.seat:
        yield translate("hand {tiles}", tiles=_hand(view))


def _seat(seat: int, names: Sequence[str]) -> str:
    """Return the seat with its player's name, of which only what can be shown in a line."""
    name = "".join([letter for letter in "".join(names[seat : seat + 1]) if letter.isprintable()])
    return f"{translate('seat {n}', n=seat)} {name[:LONGEST_NAME]}".rstrip()


def _names(tiles: list[int]) -> str:
    return " ".join(map(short_tile, tiles))


def _hand(view: View) -> str:
    tiles = view.tiles
    if view.drawn < 0:
        return _names(tiles)
    tiles.remove(view.drawn)
    return f"{_names(tiles)} + {short_tile(view.drawn)}"


# --- the list ----------------------------------------------------------------------------------

LISTED: Final = (
    marked("event"),
    marked("position"),
    marked("seat"),
    marked("happened"),
    marked("legal"),
    marked("recorded"),
)
"""The heads of the list; the strategy's name and the difference follow."""
_EVENTS: Final[dict[type, str]] = {
    m.Tsumo: marked("draw"),
    m.Dahai: marked("discard"),
    m.Pon: marked("pon"),
    m.Chi: marked("chi"),
    m.Daiminkan: marked("kan"),
    m.Ankan: marked("kan"),
    m.Kakan: marked("added kan"),
    m.Reach: marked("riichi"),
    m.ReachAccepted: marked("riichi"),
    m.Dora: marked("dora"),
    m.Kita: marked("kita"),
}


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
            yield translate(
                "{strategy} agrees with {player} on {same} of {choices}",
                strategy=name,
                player=player,
                same=self._same[player],
                choices=translate_count("{n} choice", "{n} choices", n),
            )
        if n := self.n_unknown:
            yield translate_count(
                "{n} choice not counted: the record does not show the choice",
                "{n} choices not counted: the record does not show the choice",
                n,
            )


def _list_choices(walk: Walk, asked: int | None, players: SeatedPlayers) -> int:
    """List all choices, and how often the strategy agrees with the record."""
    seats = list(SEATS) if asked is None else [asked]
    heads = (
        *(translate(head) for head in LISTED),
        players.name,
        "",
    )
    grid, agreement = Grid(*[Column(head, overflow="fold") for head in heads]), _Agreement()
    problems: list[HandProblem] = []
    doing = translate("asking {strategy}", strategy=players.name)
    with progress(Console(stderr=True), doing, unit=translate("choices")) as step:
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
            is_same = agreement.add(_seat(seat, step.table.names), recorded, choice)
            yield (
                str(step.number),
                f"{kyoku_name(step.table.state)}:{number}",
                str(seat),
                _in_short(step.event, seat),
                str(len(step.choices(seat))),
                "?" if recorded is None else _listed(recorded),
                _listed(choice),
                translate("differs") if is_same is False else "",
            )


def _listed(action: Action) -> str:
    """Return an action for the list, a discard without the word."""
    return action_text(action).removeprefix("discard ")


def _in_short(event: Event, seat: int) -> str:
    """Return an event in short, with the seat that acted unless it is the one that chooses."""
    actor = getattr(event, "actor", seat)
    parts = [translate(_EVENTS.get(type(event), "")) or type(event).__name__.lower()]
    parts += [translate("seat {n}", n=actor)] if actor != seat else []
    pai = getattr(event, "pai", None)
    parts += [short_tile(TILE_BY_NAME[pai])] if isinstance(pai, str) else []
    return " ".join(parts)


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=WIDE)
