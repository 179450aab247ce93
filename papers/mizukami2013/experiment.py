"""Mizukami et al. 2013: a one-player evaluator, and the same player with a sense of when to fold.

Four parts: the win rates of one-player mahjong (table 1), folding against not folding (tables 7
and 8), the value of all that the paper names as missing, and of each item alone.
"""

from collections.abc import Iterator
from typing import Final

from papers.experiments import ExperimentContext
from papers.mizukami2013 import folding, one_player

SUMMARY: Final = "one-player mahjong of Mizukami 2013, folding and not, and what the paper lacks"
PARTS: Final = ("one-player", "folding", "plus", "switches")
GAMES: Final = {"one-player": 10_000, "folding": 2_000, "plus": 2_000, "switches": 1_000}
"""Walls of the first part, hanchan of each strategy in the others."""


def play(request: ExperimentContext) -> Iterator[str]:
    """Return the tables of a part as lines of Markdown."""
    match request.part:
        case "folding":
            yield from folding.play_folding(request)
        case "plus":
            yield from folding.play_plus(request)
        case "switches":
            yield from folding.play_switches(request)
        case _:
            yield from one_player.play(request)
