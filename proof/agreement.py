"""Proof on records: how often strategies discard the kind that strong players discarded.

``python -m proof agreement COLUMNS --games 4000:4444``: columns of ``mjbot train data``.  Of the
discards of these games a sample is used, the same one for all strategies.  A strategy that
declares riichi is called again for the discard of its declaration.  95 % intervals, one game
one observation.
"""

import argparse
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.statistics.estimates import rate
from mjbot.game.table.apply import apply_riichi
from mjbot.game.table.state import copy_state
from mjbot.game.table.view import Sealed, View
from mjbot.learning.training.networks.decisions import DecisionKind, Decisions, open_decisions
from mjbot.learning.training.runs import GameRange
from mjbot.strategy.registry import Spec
from mjbot.strategy.strategy import Strategy
from protocol.tiles import tile_kind

STRATEGIES: Final = ("fast-riichi-a", "fast-riichi-d", "fold-recognition-plus", "fast-policy")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof agreement``."""
    parser.add_argument("columns", type=Path, help="folder of columns (mjbot train data)")
    parser.add_argument("--games", default="4000:4444", help="which, FIRST:LAST (4000:4444)")
    parser.add_argument("--every", type=int, default=25, help="one in so many discards (25)")
    parser.add_argument("--strategies", nargs="+", default=STRATEGIES, metavar="NAME")


def run(args: argparse.Namespace) -> int:
    """Print the agreement of each strategy; 0 unless there are no discards."""
    games = GameRange(args.games)
    stop = 1 << 30 if games.stop is None else games.stop
    decisions = open_decisions(args.columns, DecisionKind.DISCARD).of_games(games.start, stop)
    places = np.arange(0, len(decisions.rows), args.every)
    if not len(places):
        print(f"no discards in games {args.games}")
        return 1
    print(f"{len(places)} discards of games {args.games}, one in {args.every}")
    for name in args.strategies:
        hits = agreed(Spec.read(name).make(0), decisions, places)
        game = decisions.rows["game"][places] - games.start
        found = rate(np.bincount(game, hits), np.bincount(game).astype(np.float64))
        print(f"{name}: {found}")
    return 0


def agreed(strategy: Strategy, decisions: Decisions, places: NDArray[np.int64]) -> NDArray[Any]:
    """Return where the strategy discards what was discarded: bool[n]."""
    hits, sealed = np.zeros(len(places), np.bool_), Sealed()
    for number, place in enumerate(places.tolist()):
        state: Any = copy_state(decisions.states[place])
        row = decisions.rows[place]
        seat = int(row["seat"])
        action = strategy.decide(sealed.view(View(state, seat)))
        if action.is_riichi:
            apply_riichi(state, seat)
            action = strategy.decide(sealed.view(View(state, seat)))
        hits[number] = action.is_discard and tile_kind(action.tile) == row["choice"]
    return hits
