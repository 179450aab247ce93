"""``mjbot review``: what each decision of a seat cost, and why; or all games of a player."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from rich.console import Console

from mjbot.analysis.review.decisions import ReviewedDecision, judge
from mjbot.analysis.review.mjai_json import review_json
from mjbot.analysis.review.page import page
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.playouts import BUDGET_S, CostEstimator, is_open
from mjbot.analysis.review.sentences import (
    amount,
    done_text,
    interval_text,
    sentence,
    sentence_and_cost,
)
from mjbot.analysis.review.summary import Review, Reviewer, known_seats, loss_of, rating
from mjbot.cli import arguments as a
from mjbot.cli.records.player_review import (
    MANY_BUDGET_S,
    PlayerWork,
    review_player,
)
from mjbot.game.records.choices import steps_of
from mjbot.game.records.game import Game, hand_problems, rules_text
from mjbot.game.records.other_formats import record_path
from mjbot.game.records.positions import NoPositionError, RecordPosition, seats_of
from mjbot.game.records.sources import open_games
from mjbot.play.startup.precompile import prepare
from mjbot.protocol.messages import Event, StartGame
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import RANKED, Rules
from mjbot.protocol.seats import players_after
from mjbot.runtime.argument_types import count, patience
from mjbot.runtime.errors import ArgumentError, ExitCode
from mjbot.runtime.files import write_text
from mjbot.runtime.languages import marked, translate, translate_count
from mjbot.runtime.processors import worker_count
from mjbot.runtime.progress import progress
from mjbot.runtime.requests import argument, option
from mjbot.strategy.explanation import POINTS, RANKS
from mjbot.strategy.registry import Spec

PLAYED_BY: Final = "fast-policy"
"""The policy in all seats of playouts, by the name of the strategy that plays it."""
MOST_PRINTED: Final = 3


@dataclass(frozen=True, kw_only=True)
class ReviewRequest:
    """Arguments of ``mjbot review``."""

    records: tuple[Path, ...] = argument(
        "record: mjai, mjlog, tenhou.net/6 or Mahjong Soul; with --player records, folders, zips",
        nargs="+",
        type=record_path,
        metavar="RECORDS",
    )
    player: str | None = option(
        None,
        "review all games of the player with this name: one page of losses by class, costly"
        " situations, rates and luck, and a quiz (default: one seat of one game)",
        metavar="NAME",
    )
    reference: Path | None = a.file_option(
        "with --player: records of other players to compare with, or the file of reviewed games of"
        " an earlier run, *-games.jsonl (default: no comparison)",
    )
    recent: int | None = option(
        None,
        "with --player: compare the last N games with the player's earlier ones (default: report"
        " all games together)",
        type=count,
        metavar="N",
    )
    under: str | None = option(
        None,
        "with --player: rules of the games to report, as tonpu or hanchan,bust=no (default: those"
        " of most games; the others are named)",
        metavar="RULES",
    )
    file_dates: bool = option(
        False,
        "with --player: date a game by its file where neither record nor file name has a date",
    )
    jobs: int | None = a.jobs_option()
    rules: Rules | None = a.record_rules_option()
    game_number: int | None = option(
        None,
        "number of the game in a record of several, the first being 1 (default: the only one)",
        type=count,
        metavar="N",
    )
    seat: int | None = a.seat_option("the only one whose hand the record shows")
    name: str | None = option(
        None, "name of the player whose seat is reviewed (default: --seat)", metavar="NAME"
    )
    by: Spec = a.strategy_option(a.STRONGEST, "strategy that judges; it must rate its choices")
    out: Path | None = a.output_option(
        "page to write (default: review-seat-N.html, with --player review-player.html)",
        ".html",
        ".htm",
    )
    at: RecordPosition | None = a.at_option("print the three decisions that cost most")
    json: Path | None = a.output_option("file for the review as JSON (default: none)", ".json")
    playouts: float | None = option(
        None,
        "processor time in seconds for playouts of a game, which show what each different choice"
        f" cost in places and points; 0: none (default: {BUDGET_S:g}, with --player"
        f" {MANY_BUDGET_S:g})",
        type=patience,
        metavar="SECONDS",
    )
    seed: int = a.seed_option()
    language: str | None = a.language_option()


def run(request: ReviewRequest) -> int:
    """Review one seat of one game, or the games of a player."""
    request.by.check()
    if request.player is not None:
        return _review_player(request)
    if len(request.records) > 1:
        raise ArgumentError("several records: name the player to review with --player NAME")
    (path,) = request.records
    budget_s = BUDGET_S if request.playouts is None else request.playouts
    game, events = _events(path, request.game_number, request.rules)
    if game.hands.rules:
        print(one_line(f"mjbot review: {rules_text(game.hands.rules)}"), file=sys.stderr)
    problems = list(hand_problems(game))
    for problem in problems:
        print(one_line(f"mjbot review: {problem.text}"), file=sys.stderr)
    players = SeatedPlayers(request.by, request.seed)
    console = Console(stderr=True)
    seats = known_seats(events)
    seat = _seat(request, seats, _names(events))
    prepare([request.by], console, use="review" if budget_s else "explain")
    began = time.monotonic()
    with progress(console, translate("asking {strategy}", strategy=players.name)):
        judged = judge(events, players, seats, [seat])
    by = Reviewer.of(request.by, PLAYED_BY if budget_s else "", judged.players)
    review = Review(game.name.removeprefix(f"{path.parent}/"), seat, by, judged)
    printed = [_decision_at(review, request.at)] if request.at else None
    if not any(decision.explanation.rated for decision in review.decisions):
        cure = "add a method ratings(view) to its class (docs/api.md)"
        raise ArgumentError(f"--by {request.by}: it rates none of its choices; {cure}")
    if budget_s:
        _play_on(review, CostEstimator(budget_s, request.seed, judged.players), console)
    review.seconds = time.monotonic() - began
    out = request.out or Path(f"review-seat-{seat}.html")
    document = review_json(review)
    write_text(out, page(review, document))
    if request.json:
        write_text(request.json, json.dumps(document))
    _print(review, printed, out)
    return ExitCode.FAILED if any(problem.is_loss for problem in problems) else ExitCode.OK


def _review_player(request: ReviewRequest) -> int:
    alone = {
        "--seat": request.seat,
        "--name": request.name,
        "--at": request.at,
        "--game-number": request.game_number,
    }
    for flag, value in alone.items():
        if value is not None:
            raise ArgumentError(f"{flag} is for one game; --player reviews all games of a player")
    return review_player(
        PlayerWork(
            records=request.records,
            rules=request.rules,
            player=str(request.player),
            by=request.by,
            playouts_s=MANY_BUDGET_S if request.playouts is None else request.playouts,
            seed=request.seed,
            jobs=request.jobs or worker_count(),
            file_dates=request.file_dates,
            reference=request.reference,
            recent=request.recent,
            under=request.under,
            page=request.out or Path("review-player.html"),
            json=request.json,
        )
    )


def _events(path: Path, wanted: int | None, rules: Rules | None) -> tuple[Game, list[Event]]:
    games = open_games(path, rules)
    chosen: list[Game] = list(islice(games, (wanted or 2) - 1, wanted or 2)) if wanted else []
    if wanted and not chosen:
        raise ArgumentError(f"--game-number {wanted}: {path} holds fewer games")
    if not wanted:
        first = next(games)
        events = [entry.event for entry in first.entries]
        if next(games, None) is not None:
            raise ArgumentError(f"{path} holds several games: choose one with --game-number N")
        return first, events
    return chosen[0], [entry.event for entry in chosen[0].entries]


def _seat(request: ReviewRequest, known: Sequence[int], names: Sequence[str]) -> int:
    """Return the seat to review; raises ``ArgumentError`` with the seats and their names."""
    hands = ", ".join([f"{seat} {names[seat]}".rstrip() for seat in known if seat < len(names)])
    shown = f"the record shows the hands of {hands or 'no seat'}"
    asked, problem = request.seat, "--seat or --name: whose decisions?"
    if request.name is not None:
        if asked is not None:
            raise ArgumentError("--seat and --name: choose one")
        seats = [seat for seat in known if names[seat : seat + 1] == (request.name,)]
        asked = seats[0] if len(seats) == 1 else None
        n = "several seats" if seats else "no seat whose hand is shown"
        problem = f"--name {request.name}: {n} of this name;"
    elif asked is None and len(known) == 1:
        return known[0]
    elif asked is not None and asked >= len(names):
        raise ArgumentError(f"--seat {asked}: {seats_of(len(names))}; {shown}")
    elif asked is not None and asked not in known:
        raise ArgumentError(f"--seat {asked}: the hand of this seat is not shown; {shown}")
    if asked is None:
        raise ArgumentError(f"{problem} {shown}")
    return asked


def _names(events: Sequence[Event]) -> tuple[str, ...]:
    """Return a name for each seat, empty where the record has none."""
    started = next((event for event in events if isinstance(event, StartGame)), None)
    names = (started and started.names) or ()
    players = RANKED.players if started is None else players_after(started, RANKED.players)
    return (*names, *[""] * players)[:players]


def _play_on(review: Review, by: CostEstimator, console: Console) -> None:
    if not any(map(is_open, review.decisions)):
        return
    with progress(console, marked("playing on"), 100, unit="%") as step:
        review.shown.update(by.estimate(review.decisions, step))


def _decision_at(review: Review, at: RecordPosition) -> ReviewedDecision:
    """Return the seat's decision at a position; raises ``NoPositionError``."""
    number = at.event_in(steps_of(review.judged.events), review.seat)
    for decision in review.decisions:
        if decision.event == number:
            return decision
    raise NoPositionError(f"--at {at.text}: no decision of seat {review.seat} to review there")


def _print(review: Review, decisions: Sequence[ReviewedDecision] | None, out: Path) -> None:
    """Print a summary and some decisions, by default those that cost most."""
    by, lines = review.by.name, [*_summary(review)]
    for decision in review.worst(MOST_PRINTED) if decisions is None else decisions:
        done = done_text(decision.view, decision.actual, decision.then)
        same_text = translate("You {done}, as {name} does.", done=done, name=by)
        line = sentence(decision) or same_text
        line = sentence_and_cost(line, decision, review.shown.get(decision))
        lines.append(f"{decision.at} {line}")
    for line in [*lines, translate("the whole review: {file}", file=out)]:
        print(one_line(line))


def _summary(review: Review) -> Iterator[str]:
    """Yield what playouts show, then the grade."""
    whole = loss_of(review.decisions, review.shown)
    if not review.shown and whole.differing:
        yield translate(
            "what the {n} different choices cost is not known without playouts: {option}",
            n=whole.differing,
            option="--playouts SECONDS",
        )
    if whole.shown:
        yield translate(
            "losses shown by playouts: {n} of {all} different choices, {places}, {points}",
            n=whole.shown,
            all=len(review.shown),
            places=interval_text(whole.shown_ranks, RANKS),
            points=amount(whole.shown_points.value, POINTS),
        )
    elif review.shown:
        text = marked("playouts show no loss in {all} different choices")
        yield translate(text, all=len(review.shown))
    if review.shown:
        places = interval_text(whole.ranks, RANKS)
        yield translate("all of them together, shown or not: {places} lost", places=places)
    grade, same = rating(review.decisions), whole.decisions - whole.differing
    count = translate_count("{n} decision", "{n} decisions", whole.decisions)
    text = marked("{decisions}, {same} as {name} chooses")
    agreed = translate(text, decisions=count, same=same, name=review.by.name)
    if grade.value == grade.value:
        agreed = translate(
            "grade {grade} of 100: {agreed}", grade=f"{100 * grade.value:.0f}", agreed=agreed
        )
    yield agreed
