"""How well recorded players are read: predicted and actual tenpai, side by side.

After every discard of a seat that is not in riichi: the chance that the greedy table and the
learned model give, and whether the hand was tenpai.
"""

import argparse
import math
from collections import Counter
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

from mjbot.models.tenpai import hand_reader, tenpai_chance
from mjbot.records.sources import open_games
from mjbot.table.mirror.mirror import Table
from mjbot.table.state import State
from protocol.messages import Dahai

Group = tuple[int, int]
"""Melds, and sixes of own discards: 0 for 1..6, 1 for 7..12, 2 beyond."""
TURNS = ("1-6", "7-12", "13-")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the proof's arguments."""
    parser.add_argument("records", type=Path, metavar="RECORDS", help="a file, zip or folder")
    parser.add_argument("--games", type=int, default=200, help="the first so many (200)")


def run(args: argparse.Namespace) -> int:
    """Replay, count and show."""
    hands: Counter[Group] = Counter()
    tenpai: Counter[Group] = Counter()
    greedy: Counter[Group] = Counter()
    learned: Counter[Group] = Counter()
    by_greedy, by_model = hand_reader("greedy"), hand_reader("learned")
    for game in islice(open_games(args.records), args.games):
        table = Table()
        for entry in game.entries:
            table.apply(entry.event)
            if isinstance(entry.event, Dahai):
                seat = entry.event.actor
                if not table.state["riichi"][seat] and table.state["hand_known"][seat]:
                    group = _group(table.state, seat)
                    hands[group] += 1
                    tenpai[group] += int(table.state["waits"][seat] != 0)
                    greedy[group] += tenpai_chance(table.state, seat, by_greedy)
                    learned[group] += tenpai_chance(table.state, seat, by_model)
    _show(hands, tenpai, greedy, learned)
    return 0


def _group(state: State, seat: int) -> Group:
    discards = int(state["n_river"][seat])
    return int(state["n_melds"][seat]), min(2, (discards - 1) // 6)


def _show(hands: Counter[Group], tenpai: Counter[Group], *predicted: Counter[Group]) -> None:
    grid = Grid("melds", "own discards", "hands", "tenpai %", "95 %", "greedy %", "learned %")
    for group in sorted(hands):
        n, rate = hands[group], tenpai[group] / hands[group]
        half = 1.96 * math.sqrt(rate * (1 - rate) / n)
        shown = [f"{100 * rate:.1f}", f"+-{100 * half:.1f}"]
        shown += [f"{100 * sums[group] / n:.1f}" for sums in predicted]
        grid.add_row(str(group[0]), TURNS[group[1]], str(n), *shown)
    Console().print(grid)
