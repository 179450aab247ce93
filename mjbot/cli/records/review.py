"""``mjbot review GAME``: what each decision of a seat cost, and why, as one HTML page and JSON."""

import argparse
import json
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from rich.console import Console

from mjbot.cli.arguments import STRONGEST, games_above_0, position, strategy
from mjbot.errors import ArgumentError, ExitCode
from mjbot.precompile import prepare
from mjbot.progress import progress
from mjbot.records.choices import steps_of
from mjbot.records.game import Game
from mjbot.records.other_formats import record_path
from mjbot.records.positions import NoPositionError, Position
from mjbot.records.sources import games_of, list_sources
from mjbot.review.decisions import SEATS, Decision, judge
from mjbot.review.mjai_json import review_json
from mjbot.review.page import page
from mjbot.review.players import SeatedPlayers
from mjbot.review.playouts import DEALS, is_open, show
from mjbot.review.sentences import amount, done_text, sentence
from mjbot.review.summary import Review, Reviewer, loss_of
from mjbot.strategy.playouts import PlaysOut
from mjbot.strategy.registry import Spec
from mjbot.text import plural, write_text
from mjbot.watch.game import fold_steps
from mjbot.watch.pages import game_page
from protocol.messages import Event, StartKyoku
from protocol.plain_text import one_line

PLAYS_OUT: Final = "collusion-mc"
MOST_PRINTED: Final = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "game",
        type=record_path,
        metavar="GAME",
        help="record: mjai, mjlog or tenhou.net/6",
    )
    parser.add_argument(
        "--game-number",
        type=games_above_0,
        metavar="N",
        help="number of the game in a record with several, from 1 (default: the only one)",
    )
    parser.add_argument(
        "--seat",
        type=int,
        choices=SEATS,
        help="seat to review (default: the only one whose hand is shown)",
    )
    parser.add_argument(
        "--by",
        type=strategy,
        default=Spec.read(STRONGEST),
        metavar="NAME,KEY=VALUE,...",
        help=f"reviewer: any strategy that rates its choices (default: {STRONGEST})",
    )
    _add_outputs(parser)
    parser.add_argument(
        "--playouts",
        nargs="?",
        type=strategy,
        const=Spec.read(PLAYS_OUT),
        metavar="NAME,KEY=VALUE,...",
        help="play both choices to the end of the hand, to test which losses are significant, by a"
        f" strategy with playouts (default: no playouts; {PLAYS_OUT} if none is named)",
    )
    parser.add_argument(
        "--deals",
        type=games_above_0,
        default=DEALS,
        help=f"deals of the hidden hands in playouts (default: {DEALS})",
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=Path, metavar="FILE.html", help="the page (default: review-seat-N.html)"
    )
    parser.add_argument(
        "--no-board",
        action="store_true",
        help="do not write the page with the board (review-seat-N-board.html)",
    )
    parser.add_argument(
        "--at",
        type=position,
        metavar="POSITION",
        help="decision to print: E2-1:5, the fifth choice of the seat in East 2 honba 1, or the"
        " number of an event (default: the three that cost most)",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="the review as JSON (default: none)"
    )


def run(args: argparse.Namespace) -> int:
    """Review one seat of one game."""
    args.by.check()
    name, events = _events(args.game, args.game_number)
    players = SeatedPlayers(args.by, args.seed)
    plays_out = _who_plays_out(args.playouts, args.seed)
    console = Console(stderr=True)
    seats = _known(events)
    seat = _seat(args.seat, seats)
    prepare([args.by, *([args.playouts] if args.playouts else [])], console, use="explain")
    began = time.monotonic()
    with progress(console, f"asking {players.name}"):
        judged = judge(events, players, seats, [seat])
    by = Reviewer.of(args.by, str(args.playouts or ""))
    review = Review(name.removeprefix(f"{args.game.parent}/"), seat, by, judged)
    printed = [_decision_at(review, args.at)] if args.at else None
    if not any(each.told.rated for each in review.decisions):
        cure = "add a method ratings(view) to its class (docs/strategies.md)"
        raise ArgumentError(f"--by {args.by}: it rates none of its choices; {cure}")
    if plays_out is not None:
        _play_on(review, plays_out, args.deals, console)
    review.seconds = time.monotonic() - began
    out = args.out or Path(f"review-seat-{seat}.html")
    if not args.no_board:
        review.board = out.with_name(f"{out.stem}-board.html").name
        write_text(out.with_name(review.board), _board(review))
    write_text(out, page(review))
    if args.json:
        write_text(args.json, json.dumps(review_json(review)))
    _print(review, printed, out)
    return ExitCode.OK


def _who_plays_out(spec: Spec | None, seed: int) -> PlaysOut | None:
    if spec is None:
        return None
    found = spec.make(seed)
    if not isinstance(found, PlaysOut):
        raise ArgumentError(f"--playouts {spec}: it plays no positions on; {PLAYS_OUT} does")
    return found


def _events(path: Path, wanted: int | None) -> tuple[str, list[Event]]:
    """Return the name and events of the game that is asked for."""
    games = (game for source in list_sources(path) for game in games_of(source))
    found: list[Game] = list(islice(games, (wanted or 2) - 1, wanted or 2)) if wanted else []
    if wanted and not found:
        raise ArgumentError(f"--game-number {wanted}: {path} holds fewer games")
    if not wanted:
        first = next(games)
        events = [entry.event for entry in first.entries]
        if next(games, None) is not None:
            raise ArgumentError(f"{path} holds several games: say which, --game-number N")
        return first.name, events
    return found[0].name, [entry.event for entry in found[0].entries]


def _known(events: Sequence[Event]) -> list[int]:
    """Return the seats whose hands the record shows."""
    dealt = [event for event in events if isinstance(event, StartKyoku)]
    return [seat for seat in SEATS if dealt and all("?" not in each.tehais[seat] for each in dealt)]


def _seat(asked: int | None, known: Sequence[int]) -> int:
    if asked is None and len(known) == 1:
        return known[0]
    if asked is None:
        told = f"the record shows the hands of {plural(len(known), 'seat')}"
        raise ArgumentError(f"--seat: whose decisions? {told}")
    if asked not in known:
        raise ArgumentError(f"--seat {asked}: the record does not show the hand of this seat")
    return asked


def _play_on(review: Review, by: PlaysOut, deals: int, console: Console) -> None:
    """Play on all that was done otherwise."""
    todo = [each for each in review.decisions if is_open(each)]
    with progress(console, "playing on", len(todo), unit="decisions") as tell:
        for decision in todo:
            review.shown[decision] = show(decision, by, deals)
            tell()


def _decision_at(review: Review, at: Position) -> Decision:
    """Return the seat's decision at a position; raises ``NoPositionError``."""
    number = at.event_in(steps_of(review.judged.events), review.seat)
    for decision in review.decisions:
        if decision.event == number:
            return decision
    raise NoPositionError(f"--at {at.text}: no decision of seat {review.seat} to review there")


def _board(review: Review) -> str:
    """Return the game's board as one page, with the hand of the reviewed seat open."""
    game = fold_steps(steps_of(review.judged.events))
    title = f"{review.game}, seat {review.seat}"
    return game_page(game, {"title": title, "seat": review.seat, "hands": False})


def _print(review: Review, decisions: Sequence[Decision] | None, out: Path) -> None:
    """Print a summary and some decisions, by default those that cost most."""
    whole, unit = loss_of(review.decisions, review.shown), review.unit
    same = whole.decisions - whole.differing
    lost = f"; lost {amount(whole.loss, unit)} in all (estimate)" if review.is_summed else ""
    lines = [f"{plural(whole.decisions, 'decision')}, {same} as {review.by.name} chooses{lost}"]
    if decisions is None:
        decisions = [each for each in review.costliest if each.loss][:MOST_PRINTED]
    for decision in decisions:
        same_text = f"You {done_text(decision.view, decision.actual, decision.then)}, as"
        said = sentence(decision) or f"{same_text} {review.by.name} does."
        lines.append(f"{decision.at} {said}")
    for line in [*lines, f"the whole review: {out}"]:
        print(one_line(line))
