"""Proof on records: a reviewer's findings in games that it never saw, by place or by player.

Every decision of all four seats is judged (:mod:`mjbot.analysis.review.decisions`).  If losses
measure strength, players with better places, or better players, lose less by each decision.  One
game is one observation: a place's mean loss is the ratio of two sums over the games, and fourth
less first is taken game by game (:mod:`mjbot.game.statistics.estimates`).

What playouts show of the same decisions: :mod:`proof.review_costs`.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from mjbot.analysis.review.decisions import SEATS, Judged, judge
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.reasons import KINDS, kind_of_loss
from mjbot.game.records.sources import Source, games_of
from mjbot.game.statistics.estimates import Estimate, difference, ratio
from mjbot.game.statistics.markdown import head, row
from mjbot.runtime.errors import MjbotError
from mjbot.strategy.registry import Spec
from proof.game_lines import HELD_OUT, add_record_arguments, recorded_games

BATCH: Final = 6
MOST_SHOWN: Final = 10
MEASURES: Final = ("loss", "points")


class SeatLine(NamedTuple):
    """The loss of a seat of a game: in the reviewer's unit, and as estimated in points."""

    game: str
    seat: int
    name: str
    place: int
    score: int
    decisions: int
    rated: int
    same: int
    loss: float
    points: float
    kinds: dict[str, float]


class ReviewedGames(NamedTuple):
    """The results of some games: a line for each seat, and the faults."""

    lines: list[SeatLine]
    faults: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof review``."""
    add_record_arguments(parser, "supervised", HELD_OUT)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--players", action="store_true", help="by the names of the players")
    parser.add_argument("--out", type=Path, default=None, help="write a line of JSON for each seat")


def run(args: argparse.Namespace) -> int:
    """Judge the games and print the table; 1 if a game could not be reviewed."""
    found = recorded_games(args, HELD_OUT)
    if found is None:
        return 3
    sources = list(found.values())
    start = time.monotonic()
    lines, faults = [], []
    for outcome in review_all(sources, args.by, args.jobs):
        lines += outcome.lines
        faults += outcome.faults
        done = len(lines) // 4
        print(f"{done} of {len(sources)} games, {time.monotonic() - start:.0f} s", file=sys.stderr)
    if args.out:
        text = "".join([json.dumps(line._asdict()) + "\n" for line in lines])
        args.out.write_text(text, encoding="utf-8")
    unit = Spec.read(args.by).make().value_unit
    for line in (*report_lines(lines, unit, args.players), *faults[:MOST_SHOWN]):
        print(line)
    print(f"{time.monotonic() - start:.0f} seconds, {len(faults)} faults")
    return 1 if faults else 0


def review_all(sources: list[Source], by: str, jobs: int) -> Iterator[ReviewedGames]:
    """Yield the results of all sources, some at a time."""
    batches = [(sources[start : start + BATCH], by) for start in range(0, len(sources), BATCH)]
    if jobs == 1:
        yield from map(review_batch, batches)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(review_batch, batches)


def review_batch(batch: tuple[Sequence[Source], str]) -> ReviewedGames:
    """Judge all seats of some games."""
    sources, by = batch
    players = SeatedPlayers(Spec.read(by), 0)
    outcome = ReviewedGames([], [])
    for source in sources:
        for game in games_of(source):
            try:
                judged = judge((entry.event for entry in game.entries), players, SEATS, ())
                outcome.lines.extend(lines_of(game.name, judged))
            except MjbotError as error:
                outcome.faults.append(f"{game.name}: {error}")
    return outcome


def lines_of(game: str, judged: Judged) -> Iterator[SeatLine]:
    """Yield what each seat lost."""
    for seat in SEATS:
        decisions = [each for each in judged.decisions if each.seat == seat]
        kinds = dict.fromkeys(KINDS, 0.0)
        for each in decisions:
            if not each.is_equal:
                kinds[kind_of_loss(each)] += each.value_loss or 0.0
        yield SeatLine(
            game,
            seat,
            judged.names[seat] if seat < len(judged.names) else "",
            judged.places[seat],
            judged.scores[seat],
            len(decisions),
            sum(each.value_loss is not None for each in decisions),
            sum(each.is_equal for each in decisions),
            sum(each.value_loss or 0.0 for each in decisions),
            sum(each.points or 0.0 for each in decisions),
            {str(kind): loss for kind, loss in kinds.items()},
        )


# --- the table ---------------------------------------------------------------------------------


def report_lines(lines: Sequence[SeatLine], unit: str, players: bool = False) -> Iterator[str]:
    """Yield the table: mean loss by place or player, and how far the last and first are apart."""
    labels = [str(place + 1) for place in SEATS]
    by_place = [[line for line in lines if line.place == place + 1] for place in SEATS]
    if players:
        labels = sorted({line.name for line in lines})
        by_place = [[line for line in lines if line.name == label] for label in labels]
    by_place = [sorted(found, key=lambda line: (line.game, line.seat)) for found in by_place]
    n = [np.array([line.rated for line in found], float) for found in by_place]
    games = len({line.game for line in lines})
    yield f"{games} games; mean loss of a decision in {unit}, 95 % intervals"
    heads = ["", "seats", "decisions", "as the reviewer, %", "loss", "points, estimated"]
    yield from head([*heads, *KINDS])
    for place, found in enumerate(by_place):
        same = np.array([100.0 * line.same for line in found])
        of = np.array([line.decisions for line in found], float)
        figures = [ratio(same, of), *[ratio(sums, n[place]) for sums in _sums(found)]]
        cells = [labels[place], f"{len(found)}", f"{of.sum():,.0f}", *map(shown, figures)]
        yield row(cells)
    if players:
        return
    first, last = _sums(by_place[0]), _sums(by_place[3])
    apart = [difference((last[k], n[3]), (first[k], n[0])) for k in range(len(first))]
    yield row(["4 less 1", "", "", "", *map(shown, apart)])
    for label, estimate in zip(MEASURES, apart, strict=False):
        separates = estimate.leaves_out_zero and estimate.low > 0
        verdict = "separates" if separates else "does not separate"
        yield f"{label}: {verdict} fourth from first, {shown(estimate)}"
    yield from _in_games(lines)


def _sums(found: Sequence[SeatLine]) -> list[np.ndarray]:
    kinds = [np.array([line.kinds[kind] for line in found]) for kind in KINDS]
    losses = np.array([line.loss for line in found])
    return [losses, np.array([line.points for line in found]), *kinds]


def _in_games(lines: Sequence[SeatLine]) -> Iterator[str]:
    """Return the average place of the players with the least loss by decision, and the games."""
    games: dict[str, list[SeatLine]] = {}
    for line in lines:
        games.setdefault(line.game, []).append(line)
    for label in MEASURES:
        places = [
            min(found, key=lambda line: getattr(line, label) / max(line.rated, 1)).place
            for found in games.values()
        ]
        ones = np.ones(len(places))
        mean = ratio(np.array(places, float), ones)
        yield f"{label}: the least loss ended at place {shown(mean)} (2.5 by chance)"


def shown(estimate: Estimate) -> str:
    """Return a figure with its interval."""
    return f"{estimate.value:.3f} ± {estimate.half_width:.3f}"
