"""``mjbot explain LOG --at N``: what a strategy thinks of a recorded position."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table as Grid

from mjbot import exit_codes
from mjbot.preparation import prepare
from mjbot.records.errors import RecordError
from mjbot.records.sources import open_games
from mjbot.registry import make_strategy
from mjbot.strategy import Strategy
from mjbot.strategy_options import StrategyError, split_options
from mjbot.table.actions import Action
from mjbot.table.observe import hide
from mjbot.table.state import copy_state
from mjbot.table.table import Table, TableError, quote
from mjbot.table.view import View
from protocol.messages import Event, StartGame, StartKyoku
from protocol.tiles import N_KINDS, TILE_NAMES, WIND_NAMES, tile_kind

SEATS: Final = range(4)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("log", type=Path, metavar="LOG", help="a record: mjai lines or an mjlog")
    parser.add_argument(
        "--at",
        type=int,
        metavar="N",
        help="the position after the N-th event of the log, start_game being the first "
        "(default: list all positions with a choice)",
    )
    parser.add_argument("--seat", type=int, choices=SEATS, help="whose choice (who has one)")
    parser.add_argument(
        "--strategy",
        default="collusion-mc",
        metavar="NAME",
        help="who thinks (collusion-mc, which tells most: its playouts and everybody's fears;"
        " fast-riichi-* and fold-recognition* rate their discards, others tell their choice only)",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="of the strategy (may be repeated)",
    )
    parser.add_argument("--seed", type=int, default=0, help="for strategies that draw lots (0)")


def run(args: argparse.Namespace) -> int:
    """Explain one position, or list where there is something to choose."""
    try:
        if args.at is None:
            return _list_choices(args.log, args.seat)
        strategy = make_strategy(args.strategy, split_options(args.option), args.seed)
        prepare([",".join([args.strategy, *args.option])], Console(stderr=True), use="explain")
        return _explain(args, strategy)
    except (StrategyError, _NoChoiceError) as error:
        return _fail(str(error), exit_codes.BAD_ARGUMENTS)
    except OSError as error:
        return _fail(f"{args.log}: {error.strerror or error}", exit_codes.UNREACHABLE)
    except (RecordError, TableError) as error:
        return _fail(str(error), exit_codes.FAILED)


def _fail(problem: str, code: int) -> int:
    print(f"mjbot explain: {problem}", file=sys.stderr)
    return code


class _NoChoiceError(Exception):
    """Nobody, or not the seat asked for, has a choice at the position."""


@dataclass(frozen=True)
class _Step:
    """An event, its number, the table after it, and what comes next (None at the end)."""

    number: int
    event: Event
    table: Table
    next: Event | None

    def choices(self, seat: int) -> tuple[Action, ...]:
        """Return what a seat whose hand is known may choose from, if there is a choice."""
        legal = self.table.legal(seat)
        return legal if len(legal) > 1 else ()


def _steps(log: Path) -> Iterator[_Step]:
    """Yield the events of all games of a log; the tables are good until the next step."""
    events = (entry.event for game in open_games(log) for entry in game.entries)
    table = Table()
    event = next(events, None)
    number = 0
    while event is not None:
        number += 1
        following = next(events, None)
        if isinstance(event, StartGame):
            table = Table()
        table.apply(event)
        yield _Step(number, event, table, following)
        event = following


# --- one position ------------------------------------------------------------------------------


def _explain(args: argparse.Namespace, strategy: Strategy) -> int:
    console = Console()
    seat, step = _position(args, strategy)
    view = _honest_view(step.table, seat)
    console.print(f"event {step.number}: {quote(step.event)}", style="dim", soft_wrap=True)
    for line in _situation(view):
        console.print(line, highlight=False)
    console.print(f"recorded next: {quote(step.next) if step.next else 'the end of the log'}")
    for part in strategy.explain(view):
        console.print(part)
    return exit_codes.OK


def _position(args: argparse.Namespace, strategy: Strategy) -> tuple[int, _Step]:
    """Return who chooses after event N; the strategy has seen the game begin and the kyoku.

    The log is read twice where the seat follows from the position.
    """
    step, seat = None, args.seat
    for step in _steps(args.log):
        if step.number == args.at:
            seat = _chooser(step, args.seat)
            break
    else:
        n = step.number if step else 0
        raise _NoChoiceError(f"--at {args.at}: the log has the events 1 to {n}")
    for step in _steps(args.log):
        if isinstance(step.event, StartGame):
            strategy.start_game(seat, step.table.names)
        if isinstance(step.event, StartKyoku):
            strategy.start_kyoku(_honest_view(step.table, seat))
        if step.number == args.at:
            break
    return seat, step


def _chooser(step: _Step, asked: int | None) -> int:
    """Return the seat that has a choice, nearest to the one whose turn it is."""
    if asked is not None and not step.table.state["hand_known"][asked]:
        raise _NoChoiceError(f"--seat {asked}: the log does not show the hand of this seat")
    turn = int(step.table.state["turn"])
    nearest = [(turn + way) % 4 for way in SEATS]
    able = [seat for seat in nearest if step.choices(seat)]
    if asked is None and able:
        return able[0]
    if asked in able:
        return asked
    told = "nobody has a choice there; without --at all choices are listed"
    if able:
        told = f"seat {asked} has no choice there; seat {able[0]} has one"
    raise _NoChoiceError(f"--at {step.number}: {told}")


def _honest_view(table: Table, seat: int) -> View:
    state = copy_state(table.state)
    hide(state, seat)
    return View(state, seat)


def _situation(view: View) -> Iterator[str]:
    scores = ", ".join(f"{score}" for score in view.scores.tolist())
    yield f"{_kyoku(view)}, {view.wall_left} tiles left, scores {scores}"
    yield f"dora markers {_names(view.dora_markers.tolist())}"
    for seat in SEATS:
        melds = [_meld(view, seat, place) for place in range(len(view.melds(seat)))]
        told = [f"river {_names(view.river(seat).tolist()) or '-'}"]
        told += [f"melds {', '.join(melds)}"] if melds else []
        told += ["in riichi"] if view.riichi(seat) else []
        told += [f"hand {_hand(view)}"] if seat == view.seat else []
        yield f"seat {seat}{' (dealer)' if seat == view.dealer else ''}: {'; '.join(told)}"


def _kyoku(view: View) -> str:
    name = f"{WIND_NAMES[view.round_wind % 4]}{view.round % 4 + 1}"
    return f"{name} honba {view.honba}" if view.honba else name


def _names(tiles: list[int]) -> str:
    return " ".join(TILE_NAMES[tile] for tile in tiles)


def _meld(view: View, seat: int, place: int) -> str:
    meld = view.melds(seat)[place]
    kinds = [meld.kind + step for step in range(3)] if meld.type == 0 else [meld.kind] * 3
    kinds += [meld.kind] if meld.type > 1 else []
    return "".join(TILE_NAMES[kind] for kind in kinds)


def _hand(view: View) -> str:
    tiles = [kind for kind in range(N_KINDS) for _ in range(int(view.hand[kind]))]
    for suit in range(3):
        if view.red[suit]:
            tiles[tiles.index(9 * suit + 4)] = N_KINDS + suit
    if view.drawn < 0:
        return _names(tiles)
    tiles.remove(view.drawn)
    tiles.sort(key=tile_kind)
    return f"{_names(tiles)} + {TILE_NAMES[view.drawn]}"


# --- the list ----------------------------------------------------------------------------------


def _list_choices(log: Path, asked: int | None) -> int:
    grid = Grid("at", "kyoku", "event", "who may choose, from how many")
    for step in _steps(log):
        able = {seat: len(step.choices(seat)) for seat in SEATS if asked in (None, seat)}
        told = ", ".join(f"seat {seat}: {n}" for seat, n in able.items() if n)
        if told:
            kyoku = _kyoku(View(step.table.state, 0))
            grid.add_row(str(step.number), kyoku, _in_short(step.event), told)
    Console().print(grid)
    return exit_codes.OK


def _in_short(event: Event) -> str:
    told = [type(event).__name__.lower()]
    told += [f"seat {event.actor}"] if hasattr(event, "actor") else []
    told += [str(event.pai)] if hasattr(event, "pai") else []
    return " ".join(told)
