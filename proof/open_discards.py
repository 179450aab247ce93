"""Proof on records: what shares, points and playouts each say of strong players' open discards.

Of the decisions between two discards of which the network is not sure, which one did the player
take?  The log odds are fitted as a sum without a constant term::

    log odds(first) = a x log(share / share) + b x points / 500 + c x ranks / 0.05

where the differences are first less second: of the network's shares (:mod:`strategies.supervised`),
of the worths of :mod:`strategies.fold_recognition_plus`, clipped at 1,500 points, and of the ranks
that playouts end with (:mod:`strategies.collusion_mc`), clipped at 0.2.  By maximum likelihood;
intervals are those of its normal approximation.  What adds nothing to the network has a
coefficient whose interval holds 0.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mjbot.models.networks.policy import Opinion
from mjbot.records.choices import ReplayStep, steps_of
from mjbot.records.sources import games_of
from mjbot.strategy.playouts import Plan
from mjbot.table.view import Sealed, View
from mjbot.training.regression import log_loss
from proof.records import named_sources, shared_folder
from protocol.tiles import tile_kind
from strategies.collusion_mc import CollusionMc
from strategies.fold_recognition_plus import FoldRecognitionPlus
from strategies.supervised import Supervised

ARCHIVE: Final = "hanchan-2024.zip"
HELD_OUT: Final = "4000:4040"
SURE: Final = 0.85
LEAST: Final = 0.08
EVERY: Final = 7
"""One in so many of a game's choices is looked at."""
POINTS_UNIT, MOST_POINTS = 500.0, 1500.0
RANKS_UNIT, MOST_RANKS = 0.05, 0.2
STEPS: Final = 30
"""Newton's steps; ten are enough."""

Rows = NDArray[np.float64]


class Fit(NamedTuple):
    """Coefficients float64[n] with half of their 95 % intervals, and the mean log loss."""

    values: Rows
    half_widths: Rows
    log_loss: float


class Asked(NamedTuple):
    """Who is asked: for shares, for points, and who plays on."""

    player: Supervised
    reckoner: FoldRecognitionPlus
    search: CollusionMc
    deals: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof open-discards``."""
    parser.add_argument("records", nargs="?", type=Path, help="a record, folder or zip (Phoenix)")
    parser.add_argument("--games", default=HELD_OUT, help=f"which, FIRST:LAST ({HELD_OUT})")
    parser.add_argument("--deals", type=int, default=100, help="of 5 walls each (100)")


def run(args: argparse.Namespace) -> int:
    """Fit and print."""
    path = args.records or shared_folder() / "data" / "phoenix" / ARCHIVE
    sources = named_sources(path, args.games)
    if sources is None:
        return 3
    asked = Asked(Supervised(), FoldRecognitionPlus(), CollusionMc(), args.deals)
    start, rows = time.monotonic(), []
    for number, source in enumerate(sources, 1):
        for game in games_of(source):
            rows += rows_of(steps_of(entry.event for entry in game.entries), asked)
        took = time.monotonic() - start
        print(
            f"{number} of {len(sources)} games, {took:.0f} s, {len(rows)} decisions",
            file=sys.stderr,
        )
    table = np.array(rows)
    for line in told(table):
        print(line)
    return 0


def rows_of(steps: Iterator[ReplayStep], asked: Asked) -> Iterator[list[float]]:
    """Yield, of the open discards of a game, log odds, points, ranks, and 1 for the likelier."""
    sealed, n = Sealed(), 0
    for step in steps:
        for seat in range(4):
            n += bool(step.choices(seat))
            if not step.choices(seat) or n % EVERY:
                continue
            view, did = sealed.view(View(step.table.state, seat)), step.recorded(seat)
            if did is None or not did.is_discard or len(view.discards) < 2:
                continue
            said = asked.player.opinion(view)
            kinds = open_kinds(said) if said is not None else None
            if said is not None and kinds and tile_kind(did.tile) in kinds:
                chosen = float(tile_kind(did.tile) == kinds[0])
                yield [*_differences(view, said, kinds, asked), chosen]


def open_kinds(said: Opinion) -> tuple[int, int] | None:
    """Return the two likeliest kinds, the likelier first, if both may well be right."""
    first, second = np.argsort(-said.discards, kind="stable")[:2].tolist()
    is_open = said.discards[first] <= SURE and said.discards[second] >= LEAST
    return (first, second) if is_open and said.riichi < 0.5 else None


def _differences(
    view: View, said: Opinion, kinds: tuple[int, int], asked: Asked
) -> tuple[float, float, float]:
    silent, _ = asked.reckoner.worths(view)
    tiles = {tile_kind(action.tile): action for action in view.discards}
    ranks = asked.search.play_out(view, [Plan(tiles[kind]) for kind in kinds], asked.deals).ranks
    odds = float(np.log(said.discards[kinds[0]] / said.discards[kinds[1]]))
    points = float(silent[tiles[kinds[0]].tile] - silent[tiles[kinds[1]].tile])
    gained = float((ranks[:, 1] - ranks[:, 0]).mean())
    return (
        odds,
        float(np.clip(points, -MOST_POINTS, MOST_POINTS)) / POINTS_UNIT,
        float(np.clip(gained, -MOST_RANKS, MOST_RANKS)) / RANKS_UNIT,
    )


def fit(inputs: Rows, chosen: Rows) -> Fit:
    """Return what predicts ``chosen`` (0 or 1) best; ``inputs`` float64[decisions, n]."""
    values = np.zeros(inputs.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-inputs @ values))
        curvature = (inputs * (likely * (1 - likely))[:, None]).T @ inputs
        values = values + np.linalg.solve(curvature, inputs.T @ (chosen - likely))
    likely = 1 / (1 + np.exp(-inputs @ values))
    half_widths = 1.96 * np.sqrt(np.diag(np.linalg.inv(curvature)))
    return Fit(values, half_widths, log_loss(chosen, likely))


def told(table: Rows) -> Iterator[str]:
    """Yield the figures, row by row."""
    first = 100 * table[:, 3].mean()
    yield f"{len(table)} decisions; the network's first was taken in {first:.1f} %"
    names = ("log odds", "points / 500", "ranks / 0.05")
    for columns in ((0,), (0, 1), (0, 2), (0, 1, 2)):
        found = fit(table[:, list(columns)], table[:, 3])
        parts = [
            f"{names[column]} {value:.2f} ± {half:.2f}"
            for column, value, half in zip(columns, found.values, found.half_widths, strict=True)
        ]
        yield f"{', '.join(parts)}: log loss {found.log_loss:.4f}"
