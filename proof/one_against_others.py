"""Ranks of one fast policy among two or three of another, likeliest choices, in the compiled loop.

    python -m proof one-against-others RUN --hanchan 8000 --seed 9100000000

The curve of a self-play run: three times as fast as ``mjbot arena fast-policy,weights=RUN
fast-policy --format 1v3``, which plays the same games.  Each wall is played once from each seat.
"""

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console

from mjbot.game.rules.ruleset import rule_set
from mjbot.game.statistics.estimates import ratio
from mjbot.learning.models.fast_policy.choice import load_policy
from mjbot.learning.models.fast_policy.games import play_games
from mjbot.protocol.rules import Rules
from mjbot.runtime.progress import progress

WALLS = 25
"""Of a step of the progress bar."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof one-against-others``."""
    parser.add_argument("weights", type=Path, help="folder of the one")
    parser.add_argument("--start", type=Path, help="folder of the others (shipped)")
    parser.add_argument("--players", type=int, choices=(3, 4), default=4, help="of a game (4)")
    parser.add_argument("--hanchan", type=int, default=8000, help="hanchan (8000), rounded up")
    parser.add_argument("--seed", type=int, required=True, help="of the first wall")


def run(args: argparse.Namespace) -> int:
    """Play and print the average rank and points with their 95% intervals by wall."""
    players = args.players
    one, others = (load_policy(folder, players) for folder in (args.weights, args.start))
    rules, scores = rule_set(Rules(players=players)), []
    with progress(Console(stderr=True), "playing", args.hanchan, "hanchan") as report:
        for first in range(args.seed, args.seed + args.hanchan // players, WALLS):
            seeds = np.arange(first, first + WALLS)
            turns = [play_games(one, others, 1 << seat, seeds, rules) for seat in range(players)]
            scores.append([turn[:, :players] for turn in turns])
            report(players * WALLS)
    points = np.concatenate(scores, axis=1).astype(float)  # [own seat, wall, seat]
    own = points[np.arange(players), :, np.arange(players)]
    ahead = (points > own[:, :, None]).sum(axis=2)
    level = points == own[:, :, None]
    ahead += np.array([level[seat, :, :seat].sum(axis=1) for seat in range(players)])
    games = np.full(own.shape[1], float(players))
    rank, mean = ratio((1 + ahead).sum(axis=0).astype(float), games), ratio(own.sum(axis=0), games)
    print(f"{own.size} hanchan: rank {rank.text('.3f')}, points {mean.text(',.0f')}")
    return 0
