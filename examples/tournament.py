"""A tournament from Python: who is stronger than whom, with intervals.

    python examples/tournament.py fast-riichi-a fast-riichi-b fast-riichi-d tsumogiri --games 100

All strategies play on the same walls.  The same call plays nothing again: the games are in the
folder of the run.  ``mjbot arena`` plays the same games with the same options.
"""

import argparse
from itertools import combinations
from pathlib import Path

from mjbot.arena.report.text import fixed_line
from mjbot.arena.run import RunOutcome
from mjbot.arena.tournament import play_arena, statistics_of
from mjbot.game.statistics.estimate_text import format_estimate
from mjbot.game.statistics.figures import FIGURE_BY_KEY

RANK = FIGURE_BY_KEY["rank"]
SHOWN = [FIGURE_BY_KEY[key] for key in ("rank", "first", "fourth", "win", "deal_in")]


def main() -> None:
    """Play and print the table."""
    parser = argparse.ArgumentParser(description="a tournament of two to four strategies")
    parser.add_argument("strategies", nargs="*", default=["fast-riichi-a", "fast-riichi-d"])
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="folder of the run (default: in logs/runs)")
    args = parser.parse_args()
    outcome = play_arena(args.strategies, games=args.games, seed=args.seed, folder=args.folder)
    print_table(outcome)


def print_table(outcome: RunOutcome) -> None:
    """Print the strategies, the best first, and the rank differences of each two."""
    by_name = statistics_of(outcome)
    print(f"{outcome.games} games on {len(outcome.rows)} walls, 95% intervals")
    for name in sorted(by_name, key=lambda name: by_name[name]["rank"].value):
        cells = [f"{f.label} {format_estimate(by_name[name][f.key], f.kind)}" for f in SHOWN]
        print(f"{name}: {', '.join(cells)}")
    for (a, one), (b, other) in combinations(enumerate(by_name), 2):
        less = RANK.difference(outcome.rows[:, a], outcome.rows[:, b])
        print(f"{one} less {other}: {format_estimate(less, RANK.kind, signed=True)}")
    print(fixed_line(outcome))


if __name__ == "__main__":
    main()
