"""Rank of a large network among three of another, where all draw their choices as in self-play.

    python -m proof drawn-choices RUN --hanchan 4000 --seed 9500000000

``mjbot train self-play`` learns from choices that are drawn; a bot plays the likeliest.  A policy
can gain here by drawing less alone, which gains nothing in ``mjbot arena supervised,weights=RUN
supervised --format 1v3``.  Each wall is played once; the one sits at each seat in turn.
"""

import argparse
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console

from mjbot.game.statistics.estimates import ratio
from mjbot.learning.models.weights import SHIPPED
from mjbot.runtime.progress import progress

TABLES: Final = 500
"""Hanchan played at once, at most."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof drawn-choices``."""
    parser.add_argument("weights", type=Path, help="folder of the one")
    parser.add_argument("--start", type=Path, default=SHIPPED, help="folder of the three")
    parser.add_argument("--hanchan", type=int, default=4000, help="hanchan")
    parser.add_argument("--seed", type=int, required=True, help="of the first wall")


def run(args: argparse.Namespace) -> int:
    """Play and print the average rank with its 95% interval."""
    from mjbot.learning.training.networks.policy_network import load_network
    from mjbot.learning.training.networks.self_play_games import Games, Players

    players = Players(load_network(args.weights), load_network(args.start))
    random, ranks = np.random.default_rng(args.seed), []
    with progress(Console(stderr=True), "playing", args.hanchan, "hanchan") as report:
        for first in range(0, args.hanchan, TABLES):
            n = min(TABLES, args.hanchan - first)
            games = Games(players, n, args.seed + first, random, apart=True)
            games.play(report)
            ranks.append(games.ranks[np.arange(n), games.one])
    own = np.concatenate(ranks)
    print(f"{len(own)} hanchan: rank {ratio(own, np.ones(len(own))).text('.3f')}")
    return 0
