"""``mjbot review GAME``: what each decision of a seat cost, and why, as one HTML page and JSON."""

import argparse
import json
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from rich.console import Console

from mjbot.cli.arguments import STRONGEST, games_above_0, strategy
from mjbot.errors import ArgumentError, ExitCode
from mjbot.precompile import prepare
from mjbot.progress import progress
from mjbot.records.game import Game
from mjbot.records.other_formats import record_path
from mjbot.records.sources import games_of, list_sources
from mjbot.review.decisions import SEATS, judge
from mjbot.review.mjai_json import review_json
from mjbot.review.page import page
from mjbot.review.players import SeatedPlayers
from mjbot.review.playouts import DEALS, is_open, show
from mjbot.review.reasons import number, sentence
from mjbot.review.summary import Review, Reviewer, loss_of
from mjbot.strategy.playouts import PlaysOut
from mjbot.strategy.registry import Spec
from mjbot.text import plural, write_text
from protocol.messages import Event, StartKyoku
from protocol.plain_text import one_line

PLAYS_OUT: Final = "collusion-mc"
MOST_TOLD: Final = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "game",
        type=record_path,
        metavar="GAME",
        help="a record: mjai, mjlog or tenhou.net/6",
    )
    parser.add_argument(
        "--game-number",
        type=games_above_0,
        metavar="N",
        help="which game of a record that holds several, the first being 1 (the only one)",
    )
    parser.add_argument(
        "--seat",
        type=int,
        choices=SEATS,
        help="whose decisions (the only one whose hand is shown)",
    )
    parser.add_argument(
        "--by",
        type=strategy,
        default=Spec.read(STRONGEST),
        metavar="NAME,KEY=VALUE,...",
        help=f"who judges: any strategy that rates its choices ({STRONGEST}, the strongest)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.html", help="where the page goes (review-seat-N.html)"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write it as JSON, too (not written)"
    )
    parser.add_argument(
        "--playouts",
        nargs="?",
        type=strategy,
        const=Spec.read(PLAYS_OUT),
        metavar="NAME,KEY=VALUE,...",
        help="play on what was done otherwise, to see which losses can be shown; by a strategy"
        f" that plays positions on (no playouts; {PLAYS_OUT} where none is named)",
    )
    parser.add_argument(
        "--deals",
        type=games_above_0,
        default=DEALS,
        help=f"ways to deal the hidden hands in playouts ({DEALS})",
    )
    parser.add_argument("--seed", type=int, default=0, help="for strategies that draw lots (0)")


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
    if not any(each.told.rated for each in review.decisions):
        cure = "add a method ratings(view) to its class (docs/strategies.md)"
        raise ArgumentError(f"--by {args.by}: it rates none of its choices; {cure}")
    if plays_out is not None:
        _play_on(review, plays_out, args.deals, console)
    review.seconds = time.monotonic() - began
    out = args.out or Path(f"review-seat-{seat}.html")
    write_text(out, page(review))
    if args.json:
        write_text(args.json, json.dumps(review_json(review)))
    _tell(review, out)
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


def _tell(review: Review, out: Path) -> None:
    """Say in a few lines what the page says."""
    whole, unit = loss_of(review.decisions, review.shown), review.by.unit
    same = whole.decisions - whole.differing
    lines = [
        f"{plural(whole.decisions, 'decision')}, {same} as {review.by.name} would have made them;"
        f" lost {number(whole.loss, unit)} {unit} together",
    ]
    for decision in [each for each in review.costliest if each.loss][:MOST_TOLD]:
        lost = f"{number(decision.loss or 0.0, unit)} {unit}"
        done, better = decision.actual, decision.expected
        lines.append(f"{decision.name}:{decision.place} {done}, rather {better}: {lost}")
        lines += [f"  {said}" for said in [sentence(decision)] if said]
    for line in [*lines, f"the whole review: {out}"]:
        print(one_line(line))
