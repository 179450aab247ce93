"""Whether what decisions cost in playouts predicts placement within a room, and better than shares.

    python -m proof review-costs --games 4000:4444 --out review-costs.jsonl

Every decision of all four seats of held-out games is judged by ``supervised``; each different
choice is played on (:mod:`mjbot.analysis.review.playouts`).  Of each seat the losses are added up
in four units: *cost*, the places that all different choices cost in playouts, shown or not (the
measure that was fixed before any game was judged); *shown*, the same of shown losses only; *share*,
percent of the network given up; *points* as estimated.  With x the sum of a seat less the mean of
its room, and y its place less 2.5, the figure is the correlation of x and y over all seats::

    r = sum x y / sqrt(sum x x  sum y y)

A game is one observation: r is a function of three sums over games, and its interval follows from
each game's pull on it to first order (:func:`mjbot.game.statistics.estimates.around`); the
difference of two correlations is taken game by game.  A run resumes after the last complete game of
its file.
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.review.decisions import SEATS, judge
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.playouts import CostEstimator
from mjbot.analysis.review.summary import loss_of
from mjbot.game.records.sources import Source, games_of
from mjbot.game.statistics.estimates import Estimate, around
from mjbot.game.statistics.markdown import head, row
from mjbot.runtime.errors import MjbotError
from mjbot.strategy.registry import Spec
from proof.game_lines import HELD_OUT, Line, add_record_arguments, complete_lines, recorded_games

MEASURES: Final = ("cost", "shown", "share", "points")
BUDGET_S: Final = 8.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof review-costs``."""
    add_record_arguments(parser, "supervised", HELD_OUT)
    budget = f"s of playouts for a seat of a game (default: {BUDGET_S:g})"
    parser.add_argument("--budget", type=float, default=BUDGET_S, help=budget)
    parser.add_argument("--out", type=Path, default=Path("review-costs.jsonl"), help="the file")


def run(args: argparse.Namespace) -> int:
    """Judge the games that the file does not have yet, print the report; 1 if one failed."""
    sources = recorded_games(args, HELD_OUT)
    if sources is None:
        return 3
    work = partial(_lines_of, SeatedPlayers(Spec.read(args.by), 0), CostEstimator(args.budget))
    lines = complete_lines(args.out, sources, work)
    for text in report(lines):
        print(text)
    return 1 if any("fault" in line for line in lines) else 0


def _lines_of(
    players: SeatedPlayers, costs: CostEstimator, _name: str, source: Source
) -> Iterator[Line]:
    for game in games_of(source):
        try:
            judged = judge((entry.event for entry in game.entries), players, SEATS, ())
        except MjbotError as error:
            yield {"fault": str(error)}
            continue
        seats = []
        for seat in SEATS:
            decisions = [each for each in judged.decisions if each.seat == seat]
            shown = costs.estimate(decisions)
            total = loss_of(decisions, shown)
            verdicts = [each.verdict for each in shown.values()]
            seats.append({
                "place": judged.places[seat],
                "decisions": total.decisions,
                "differing": total.differing,
                "cost": total.ranks.value,
                "shown": total.shown_ranks.value,
                "share": sum(each.value_loss or 0.0 for each in decisions),
                "points": sum(max(0.0, each.points or 0.0) for each in decisions),
                "verdicts": {each: verdicts.count(each) for each in sorted(set(verdicts))},
            })  # fmt: skip
        yield {"seats": seats}


# --- the report --------------------------------------------------------------------------------


def report(lines: Sequence[Line]) -> Iterator[str]:
    """Yield how sums of losses go with the place within a room, and how shares differ from it."""
    rooms = [line["seats"] for line in lines if "seats" in line]
    faults = [f"{line['game']}: {line['fault']}" for line in lines if "fault" in line]
    seats = [seat for room in rooms for seat in room]
    played = sum(sum(seat["verdicts"].values()) for seat in seats)
    yield f"{len(rooms)} games, {played:,} different choices played on, {len(faults)} faults"
    for verdict in ("shown", "shown to be no loss", "not shown to differ"):
        n = sum(seat["verdicts"].get(verdict, 0) for seat in seats)
        yield f"{verdict}: {n:,} ({100 * n / max(played, 1):.1f} %)"
    yield ""
    yield from faults
    if len(rooms) < 2:
        return
    places = _within(rooms, "place")
    yield from head(["sum of a seat", "mean", "correlation with the place", "less that of share"])
    share = pulls(_within(rooms, "share"), places)
    for measure in MEASURES:
        r, pull = pulls(_within(rooms, measure), places)
        apart = around(r - share[0], pull - share[1])
        mean = f"{np.mean([seat[measure] for seat in seats]):.4g}"
        cells = ["-" if measure == "share" else spelled(apart)]
        yield row([measure, mean, spelled(around(r, pull)), *cells])


def _within(rooms: Sequence[Sequence[Line]], key: str) -> NDArray[np.float64]:
    """Return a figure of each seat less the mean of its room: float64[rooms, 4]."""
    values = np.array([[seat[key] for seat in room] for room in rooms], np.float64)
    return np.asarray(values - values.mean(axis=1, keepdims=True))


def pulls(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the correlation of two figures and each room's pull on it, times their number."""
    xy, xx, yy = (x * y).sum(1), (x * x).sum(1), (y * y).sum(1)
    scale = float(np.sqrt(xx.sum() * yy.sum()))
    if not scale:
        return 0.0, np.zeros(len(x))
    r = float(xy.sum()) / scale
    pull = xy / scale - r / 2 * (xx / xx.sum() + yy / yy.sum())
    return r, np.asarray(len(x) * pull)


def spelled(estimate: Estimate) -> str:
    """Return a correlation with its interval."""
    return f"{estimate.value:+.3f} ({estimate.low:+.3f} to {estimate.high:+.3f})"
