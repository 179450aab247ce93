"""Proof on records: how often hands win of which a chance to win is reported.

Of each discard, riichi, pon, chi and passed call of all four seats the chance to win is estimated
as :mod:`mjbot.strategies.fold_recognition_plus` does, calibrated as it reports it
(:mod:`mjbot.strategies.evaluation.push_fold.win_chance`), and compared with whether the player won
the kyoku.  Decisions are grouped by situation and, within one, by tenths of the reported chance.  A
game is one observation (:mod:`mjbot.game.statistics.estimates`).

``--fit`` fits the calibration instead, on games outside those that the table is made of: within
each situation the monotone function of the estimated chance that fits the wins best by least
squares (pool adjacent violators on at most :data:`BINS` bins of equal size), printed as it stands
in ``win_chance.py``.
"""

import argparse
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.game.records.choices import Numbering, steps_of
from mjbot.game.records.sources import Source, games_of
from mjbot.game.statistics.estimates import Estimate, ratio
from mjbot.game.statistics.markdown import head, row
from mjbot.game.table.view import Sealed, View
from mjbot.protocol.messages import Event, Hora, StartKyoku
from mjbot.runtime.processes import in_processes
from mjbot.runtime.processors import worker_count
from mjbot.runtime.progress import progress
from mjbot.strategies.evaluation.push_fold.win_chance import SITUATIONS, WinSituation, calibrated
from mjbot.strategies.fold_recognition_plus import FoldRecognitionPlus
from proof.game_lines import HELD_OUT, recorded_games

FITTED_ON: Final = "0:4000"
EVERY: Final = 5
"""One in so many of the games is used to fit."""
BATCH: Final = 5
BINS: Final = 24
LEAST: Final = 200
"""Decisions in a bin, at least."""
NO_CHANCE: Final = 0.01
"""An estimate of 0 is taken for no chance unless the lowest bin is below this."""
TENTHS: Final = 10
INDENT: Final = 8 * " "

Floats = NDArray[np.float64]


class CalibrationRow(NamedTuple):
    """One decision; ``situation`` is its place in SITUATIONS, ``chance`` the estimate (0..1)."""

    game: int
    situation: int
    chance: float
    won: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof calibration``."""
    parser.add_argument("records", nargs="?", type=Path, help="a record, folder or zip (Phoenix)")
    parser.add_argument("--games", help=f"which, FIRST:LAST ({HELD_OUT}; to fit {FITTED_ON})")
    parser.add_argument("--every", type=int, help=f"one in so many of them (1; to fit {EVERY})")
    parser.add_argument("--fit", action="store_true", help="fit the calibration")
    parser.add_argument("--jobs", type=int, default=worker_count(), help="processes")
    parser.add_argument("--out", type=Path, help="write the decisions as .npy, float64[n, 4]")


def run(args: argparse.Namespace) -> int:
    """Print the table, or the fitted calibration."""
    found = recorded_games(args, FITTED_ON if args.fit else HELD_OUT)
    if found is None:
        return 3
    sources = list(found.values())
    sources = sources[:: args.every or (EVERY if args.fit else 1)]
    start = time.monotonic()
    rows = np.array(list(rows_of_all(sources, args.jobs)), float)
    if args.out:
        np.save(args.out, rows)
    for line in fitted(rows) if args.fit else table(rows):
        print(line)
    games = len(np.unique(rows[:, 0]))
    print(f"{len(rows):,} decisions of {games} games, {time.monotonic() - start:.0f} seconds")
    return 0


def rows_of_all(sources: Sequence[Source], jobs: int) -> Iterator[CalibrationRow]:
    """Yield the decisions of all sources."""
    batches = [(first, sources[first : first + BATCH]) for first in range(0, len(sources), BATCH)]
    with progress(Console(stderr=True), "estimating", len(sources), "games") as step:
        for batch in in_processes(rows_of_batch, batches, jobs):
            yield from batch
            step(BATCH)


def rows_of_batch(batch: tuple[int, Sequence[Source]]) -> list[CalibrationRow]:
    """Return the decisions of some sources, the first of which has the given number."""
    first, sources = batch
    rows: list[CalibrationRow] = []
    for number, source in enumerate(sources, first):
        for game in games_of(source):
            rows.extend(rows_of((entry.event for entry in game.entries), number))
    return rows


def rows_of(events: Iterable[Event], game: int) -> Iterator[CalibrationRow]:
    """Yield the discards, calls and passed calls of a game, each with its outcome."""
    bot, sealed, numbering = FoldRecognitionPlus(), Sealed(), Numbering()
    made: list[tuple[int, tuple[float, WinSituation]]] = []
    winners: set[int] = set()
    for step in steps_of(events):
        if isinstance(step.event, Hora):
            winners.add(step.event.actor)
        for seat in numbering.choosers(step):
            recorded = step.recorded(seat)
            if recorded is not None:
                view = sealed.view(View(step.table.state, seat))
                found = bot.estimated_chance(view, recorded, step.discard_after(seat))
                made += [(seat, found)] if found else []
        if step.next is None or isinstance(step.next, StartKyoku):
            for seat, (chance, situation) in made:
                yield CalibrationRow(game, SITUATIONS.index(situation), chance, seat in winners)
            made.clear()
            winners.clear()


# --- the table ---------------------------------------------------------------------------------


def table(rows: Floats) -> Iterator[str]:
    """Yield the mean reported chance and the share of wins, by situation and tenths, in percent."""
    yield from head(["situation", "decisions", "estimated", "all", *map(str, range(1, 11))])
    outside = 0
    for index, name in enumerate(SITUATIONS):
        of = rows[rows[:, 1] == index]
        if not len(of):
            continue
        groups = np.array_split(of[np.argsort(of[:, 2], kind="stable")], TENTHS)
        pairs = [(_reported(group, name), won(group)) for group in [of, *groups]]
        outside += sum(not share.low <= chance <= share.high for chance, share in pairs[1:])
        cells = [f"{chance:.1f}, {_shown(share)}" for chance, share in pairs]
        heads = [name, f"{len(of):,}", f"{100 * of[:, 2].mean():.1f}"]
        yield row([*heads, *cells])
    yield f"{outside} of {TENTHS * len(SITUATIONS)} tenths outside their intervals"


def _reported(rows: Floats, name: WinSituation) -> float:
    return 100 * float(np.mean([calibrated(chance, name) for chance in rows[:, 2]]))


def won(rows: Floats) -> Estimate:
    """Return the share of decisions whose player won the kyoku, in percent; a game is a cluster."""
    games = rows[:, 0].astype(int)
    n = np.bincount(games).astype(float)
    return ratio(100 * np.bincount(games, rows[:, 3])[n > 0], n[n > 0])


def _shown(estimate: Estimate) -> str:
    return f"{estimate.value:.1f} ± {estimate.half_width:.1f}"


# --- the fit -----------------------------------------------------------------------------------


def fitted(rows: Floats) -> Iterator[str]:
    """Yield the lines of the calibration: (estimated, observed) chances by situation."""
    for index, name in enumerate(SITUATIONS):
        of = rows[rows[:, 1] == index]
        if not len(of):
            continue
        knots = monotone(of)
        points = ", ".join([f"({chance:.3f},_{share:.3f})" for chance, share in knots])
        yield f'    "{name}": ('
        lines = textwrap.wrap(points + ",", 100, initial_indent=INDENT, subsequent_indent=INDENT)
        yield from [line.replace("_", " ") for line in lines]
        yield "    ),"


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
    knots = [(chance, share) for chance, share, _ in blocks]
    return knots if knots[0][0] < NO_CHANCE else [(0.0, 0.0), *knots]


def _merged(
    one: tuple[float, float, int], other: tuple[float, float, int]
) -> tuple[float, float, int]:
    n = one[2] + other[2]
    chance, share = ((one[k] * one[2] + other[k] * other[2]) / n for k in range(2))
    return cast(float, chance), cast(float, share), n
