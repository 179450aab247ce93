"""``mjbot review GAME``: what each decision of a seat cost, and why, as one HTML page and JSON."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from rich.console import Console

from mjbot.cli import arguments as a
from mjbot.errors import ArgumentError, ExitCode
from mjbot.precompile import prepare
from mjbot.progress import progress
from mjbot.records.choices import steps_of
from mjbot.records.game import Game
from mjbot.records.positions import NoPositionError, RecordPosition
from mjbot.records.sources import games_of, list_sources
from mjbot.requests import option
from mjbot.review.decisions import ReviewedDecision, judge
from mjbot.review.mjai_json import review_json
from mjbot.review.page import page
from mjbot.review.players import SeatedPlayers
from mjbot.review.playouts import BUDGET_S, CostEstimator, is_open
from mjbot.review.sentences import amount, cost_text, done_text, sentence
from mjbot.review.summary import Review, Reviewer, known_seats, loss_of
from mjbot.strategy.registry import Spec
from mjbot.text import plural, write_text
from mjbot.watch.game import fold_steps
from mjbot.watch.pages import game_page
from protocol.messages import Event
from protocol.plain_text import one_line

PLAYED_BY: Final = "fast-policy"
"""The policy in all four seats of playouts, by the name of the strategy that plays it."""
MOST_PRINTED: Final = 3


@dataclass(frozen=True, kw_only=True)
class ReviewRequest:
    """Arguments of ``mjbot review``."""

    game: Path = a.record_argument()
    game_number: int | None = option(
        None,
        "number of the game in a record of several, the first being 1 (default: the only one)",
        type=a.count,
        metavar="N",
    )
    seat: int | None = a.seat_option("the only one whose hand the record shows")
    by: Spec = a.strategy_option(a.STRONGEST, "strategy that judges; it must rate its choices")
    out: Path | None = a.file_option("page to write (default: review-seat-N.html)")
    no_board: bool = option(
        False, "do not write the board page next to the page (review-seat-N-board.html)"
    )
    at: RecordPosition | None = a.at_option("print the three decisions that cost most")
    json: Path | None = a.file_option("file for the review as JSON (default: none)")
    playouts: float = option(
        BUDGET_S,
        "processor time in seconds for playouts, which show what each different choice cost in"
        " places and points; 0: none",
        nargs="?",
        type=a.patience,
        const=BUDGET_S,
        metavar="SECONDS",
    )
    seed: int = a.seed_option()


def run(request: ReviewRequest) -> int:
    """Review one seat of one game."""
    request.by.check()
    name, events = _events(request.game, request.game_number)
    players = SeatedPlayers(request.by, request.seed)
    console = Console(stderr=True)
    seats = known_seats(events)
    seat = _seat(request.seat, seats)
    prepare([request.by], console, use="review" if request.playouts else "explain")
    began = time.monotonic()
    with progress(console, f"asking {players.name}"):
        judged = judge(events, players, seats, [seat])
    by = Reviewer.of(request.by, PLAYED_BY if request.playouts else "")
    review = Review(name.removeprefix(f"{request.game.parent}/"), seat, by, judged)
    printed = [_decision_at(review, request.at)] if request.at else None
    if not any(each.explanation.rated for each in review.decisions):
        cure = "add a method ratings(view) to its class (docs/strategies.md)"
        raise ArgumentError(f"--by {request.by}: it rates none of its choices; {cure}")
    if request.playouts:
        _play_on(review, CostEstimator(request.playouts, request.seed), console)
    review.seconds = time.monotonic() - began
    out = request.out or Path(f"review-seat-{seat}.html")
    if not request.no_board:
        review.board = out.with_name(f"{out.stem}-board.html").name
        write_text(out.with_name(review.board), _board(review))
    write_text(out, page(review))
    if request.json:
        write_text(request.json, json.dumps(review_json(review)))
    _print(review, printed, out)
    return ExitCode.OK


def _events(path: Path, wanted: int | None) -> tuple[str, list[Event]]:
    games = (game for source in list_sources(path) for game in games_of(source))
    found: list[Game] = list(islice(games, (wanted or 2) - 1, wanted or 2)) if wanted else []
    if wanted and not found:
        raise ArgumentError(f"--game-number {wanted}: {path} holds fewer games")
    if not wanted:
        first = next(games)
        events = [entry.event for entry in first.entries]
        if next(games, None) is not None:
            raise ArgumentError(f"{path} holds several games: choose one with --game-number N")
        return first.name, events
    return found[0].name, [entry.event for entry in found[0].entries]


def _seat(asked: int | None, known: Sequence[int]) -> int:
    if asked is None and len(known) == 1:
        return known[0]
    if asked is None:
        known_hands = f"the record shows the hands of {plural(len(known), 'seat')}"
        raise ArgumentError(f"--seat: whose decisions? {known_hands}")
    if asked not in known:
        raise ArgumentError(f"--seat {asked}: the record does not show the hand of this seat")
    return asked


def _play_on(review: Review, by: CostEstimator, console: Console) -> None:
    todo = sum(map(is_open, review.decisions))
    with progress(console, "playing on", todo, unit="decisions") as step:
        review.shown.update(by.estimate(review.decisions, step))


def _decision_at(review: Review, at: RecordPosition) -> ReviewedDecision:
    """Return the seat's decision at a position; raises ``NoPositionError``."""
    number = at.event_in(steps_of(review.judged.events), review.seat)
    for decision in review.decisions:
        if decision.event == number:
            return decision
    raise NoPositionError(f"--at {at.text}: no decision of seat {review.seat} to review there")


def _board(review: Review) -> str:
    game = fold_steps(steps_of(review.judged.events))
    title = f"{review.game}, seat {review.seat}"
    return game_page(game, {"title": title, "seat": review.seat, "hands": False})


def _print(review: Review, decisions: Sequence[ReviewedDecision] | None, out: Path) -> None:
    """Print a summary and some decisions, by default those that cost most."""
    whole, unit = loss_of(review.decisions, review.shown), review.unit
    same = whole.decisions - whole.differing
    lost = f"; lost {amount(whole.loss, unit)} in all (estimate)" if review.is_summed else ""
    lines = [f"{plural(whole.decisions, 'decision')}, {same} as {review.by.name} chooses{lost}"]
    if decisions is None:
        decisions = [each for each in review.costliest if each.loss][:MOST_PRINTED]
    for decision in decisions:
        same_text = f"You {done_text(decision.view, decision.actual, decision.then)}, as"
        line = sentence(decision) or f"{same_text} {review.by.name} does."
        if decision in review.shown:
            line += f" {cost_text(decision, review.shown[decision])}"
        lines.append(f"{decision.at} {line}")
    for line in [*lines, f"the whole review: {out}"]:
        print(one_line(line))
