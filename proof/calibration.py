"""Proof on records: how often hands win of which a chance to win is reported.

Every decision of all four seats is explained (:mod:`mjbot.review.decisions`) by a strategy that
reports chances to win.  The chance of what the player did is compared with whether the player won
the kyoku.  Decisions are grouped by situation
(:data:`strategies.evaluation.push_fold.win_chance.SITUATIONS`) and, within one, by tenths of the
reported chance.  A game is one observation (:mod:`mjbot.statistics.estimates`).

``--fit`` fits the calibration instead, on games outside those that the table is made of: within
each situation the least monotone function of the estimated chance that fits the wins
(pool-adjacent-violators on :data:`BINS` bins of equal size), printed as the table to be copied into
``win_chance.py``.
"""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.progress import progress
from mjbot.records.sources import Source, games_of
from mjbot.review.decisions import SEATS, Decision, Judged, judge
from mjbot.review.players import SeatedPlayers
from mjbot.statistics.estimates import Estimate, ratio
from mjbot.strategy.explanation import CHANCE_TO_WIN, SHANTEN
from mjbot.strategy.registry import Spec
from mjbot.table.state import Phase
from proof.records import named_sources, shared_folder
from protocol.messages import Hora
from strategies.evaluation.push_fold.win_chance import SITUATIONS, situation_after, situation_of

ARCHIVE: Final = "hanchan-2024.zip"
HELD_OUT: Final = "4000:4444"
FITTED_ON: Final = "0:4000"
EVERY: Final = 5
"""One in so many of the games is used to fit."""
BY: Final = "fold-recognition-plus"
ESTIMATED: Final = "fold-recognition-plus,calibrated=no"
BATCH: Final = 5
BINS: Final = 24
LEAST: Final = 200
"""Decisions in a bin, at least."""
TENTHS: Final = 10

Floats = NDArray[np.float64]


class Row(NamedTuple):
    """One decision: its game, the place of its situation, the chance (0..1), and the outcome."""

    game: int
    situation: int
    chance: float
    won: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof calibration``."""
    parser.add_argument("records", nargs="?", type=Path, help="a record, folder or zip (Phoenix)")
    parser.add_argument("--games", help=f"which, FIRST:LAST ({HELD_OUT}; to fit {FITTED_ON})")
    parser.add_argument("--every", type=int, help=f"one in so many of them (1; to fit {EVERY})")
    parser.add_argument("--by", help=f"strategy that reports the chances ({BY}; to fit {ESTIMATED})")
    parser.add_argument("--fit", action="store_true", help="fit the calibration")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--out", type=Path, help="write the decisions as .npy, float64[n, 4]")


def run(args: argparse.Namespace) -> int:
    """Print the table, or the fitted calibration."""
    path = args.records or shared_folder() / "data" / "phoenix" / ARCHIVE
    whole = ":" if args.records else FITTED_ON if args.fit else HELD_OUT
    sources = named_sources(path, args.games or whole)
    if sources is None:
        return 3
    sources = sources[:: args.every or (EVERY if args.fit else 1)]
    start = time.monotonic()
    rows = np.array(
        list(rows_of_all(sources, args.by or (ESTIMATED if args.fit else BY), args.jobs)), float
    )
    if args.out:
        np.save(args.out, rows)
    for line in fitted(rows) if args.fit else table(rows):
        print(line)
    games = len(np.unique(rows[:, 0]))
    print(f"{len(rows):,} decisions of {games} games, {time.monotonic() - start:.0f} seconds")
    return 0


def rows_of_all(sources: Sequence[Source], by: str, jobs: int) -> Iterator[Row]:
    """Yield the decisions of all sources."""
    batches = [(first, sources[first : first + BATCH], by) for first in range(0, len(sources), BATCH)]
    with (
        ProcessPoolExecutor(jobs) as pool,
        progress(Console(stderr=True), "explaining", len(sources), "games") as step,
    ):
        for batch in pool.map(rows_of_batch, batches):
            yield from batch
            step(BATCH)


def rows_of_batch(batch: tuple[int, Sequence[Source], str]) -> list[Row]:
    """Return the decisions of some sources, the first of which has the given number."""
    first, sources, by = batch
    players, rows = SeatedPlayers(Spec.read(by), 0), []
    for number, source in enumerate(sources, first):
        for game in games_of(source):
            judged = judge((entry.event for entry in game.entries), players, SEATS)
            rows.extend(rows_of(judged, number))
    return rows


def rows_of(judged: Judged, game: int) -> Iterator[Row]:
    """Yield the decisions of a game whose chance to win is reported."""
    winners = [
        {each.actor for each in kyoku.results if isinstance(each, Hora)} for kyoku in judged.kyoku
    ]
    for decision in judged.decisions:
        done = decision.done
        term = done.term(CHANCE_TO_WIN) if done else None
        if term is None:
            continue
        won = decision.seat in winners[decision.kyoku]
        yield Row(game, situation(decision), term.value / 100, won)


def situation(decision: Decision) -> int:
    """Return the place in SITUATIONS of what the decision led to."""
    view, action, done = decision.view, decision.actual, decision.done
    if not (action.is_discard or action.is_riichi):
        return SITUATIONS.index(situation_after(view, action))
    in_riichi = action.is_riichi or view.phase == Phase.RIICHI
    term = done.term(SHANTEN) if done else None
    left = int(term.value) if term else 0
    return SITUATIONS.index(situation_of(in_riichi, view.is_open(view.seat), left))


# --- the table ---------------------------------------------------------------------------------


def table(rows: Floats) -> Iterator[str]:
    """Yield the reported and the observed share of wins, by situation and tenths."""
    yield "| situation | reported, % | decisions | mean reported, % | won, % |"
    yield "|---|---|---|---|---|"
    for place, name in enumerate(SITUATIONS):
        of = rows[rows[:, 1] == place]
        groups = np.array_split(of[np.argsort(of[:, 2], kind="stable")], TENTHS)
        for group in [*groups, of]:
            if len(group):
                label = "all" if group is of else f"{_percent(group[0, 2])} to {_percent(group[-1, 2])}"
                cells = [f"{len(group):,}", _percent(group[:, 2].mean()), _shown(won(group))]
                yield f"| {name} | {label} | " + " | ".join(cells) + " |"


def won(rows: Floats) -> Estimate:
    """Return the share of decisions whose player won the kyoku, in percent; a game is a cluster."""
    games = rows[:, 0].astype(int)
    n = np.bincount(games).astype(float)
    return ratio(100 * np.bincount(games, rows[:, 3])[n > 0], n[n > 0])


def _percent(chance: float) -> str:
    return f"{100 * chance:.1f}"


def _shown(estimate: Estimate) -> str:
    return f"{estimate.value:.1f} ± {estimate.half_width:.1f}"


# --- the fit -----------------------------------------------------------------------------------


def fitted(rows: Floats) -> Iterator[str]:
    """Yield the lines of the calibration: (estimated, observed) chances by situation."""
    for place, name in enumerate(SITUATIONS):
        knots = monotone(rows[rows[:, 1] == place])
        points = ", ".join(f"({chance:.3f}, {share:.3f})" for chance, share in knots)
        yield f'    "{name}": ({points}),'


def monotone(rows: Floats) -> list[tuple[float, float]]:
    """Return the mean estimate and the share of wins of bins, merged until both increase."""
    ordered = rows[np.argsort(rows[:, 2], kind="stable")]
    bins = max(1, min(BINS, len(rows) // LEAST))
    blocks: list[tuple[float, float, int]] = []
    for group in np.array_split(ordered, bins):
        block = (float(group[:, 2].mean()), float(group[:, 3].mean()), len(group))
        while blocks and block[1] <= blocks[-1][1]:
            block = _merged(blocks.pop(), block)
        blocks.append(block)
    return [(chance, share) for chance, share, _ in blocks]


def _merged(
    one: tuple[float, float, int], other: tuple[float, float, int]
) -> tuple[float, float, int]:
    n = one[2] + other[2]
    chance, share = ((one[k] * one[2] + other[k] * other[2]) / n for k in range(2))
    return cast(float, chance), cast(float, share), n
