"""Proof on records: how often tiles deal in of which a chance to deal in is stated.

Of every kind in the hand of each player about to discard, against each opponent, the chance of
:mod:`mjbot.learning.models.danger` is compared with whether that opponent would have won on it: all
hands of a record are known.  The kind that was discarded is counted apart from those that were
kept, the situations by who has declared riichi.  A game is one observation
(:mod:`mjbot.game.statistics.estimates`).
"""

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.statistics.estimates import ratio
from mjbot.game.statistics.markdown import head, row
from mjbot.game.table.observe import unseen_kinds
from mjbot.game.table.state import ACCEPTED, State
from mjbot.learning.models.danger import DangerWeights, danger_weights, deal_in_chances
from mjbot.learning.training.danger import would_win
from mjbot.learning.training.positions import GameRef, GameStep, LeftOut, collect
from mjbot.runtime.compiler.compiled import compiled
from proof.game_lines import HELD_OUT, recorded_games
from protocol.messages import Dahai
from protocol.tiles import TILE_BY_NAME, tile_kind

SITUATIONS: Final = (
    "no riichi of either",
    "the opponent's riichi",
    "the player's own riichi",
    "both in riichi",
)
KEPT: Final = 0
DISCARDED: Final = 1
STATED: Final = 0
WINNING: Final = 1
COUNT: Final = 2

Sums = NDArray[np.float64]
"""float64[situations, kept or discarded, 3]: sum of chances, winning tiles, tiles."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof deal-ins``."""
    parser.add_argument("records", nargs="?", type=Path, help="a record, folder or zip (Phoenix)")
    parser.add_argument("--games", help=f"which, FIRST:LAST ({HELD_OUT})")


def run(args: argparse.Namespace) -> int:
    """Print the table; 0 unless there are no games or one cannot be read."""
    found = recorded_games(args, HELD_OUT)
    if not found:
        return 3
    refs = [GameRef(number, source, 0) for number, source in enumerate(found.values())]
    left_out, count = LeftOut(), partial(sums_of, weights=danger_weights())
    games = np.array(list(collect(refs, count, left_out=left_out)))
    for line in table(games):
        print(line)
    print(f"{len(games)} games{left_out}")
    return 1 if left_out.games else 0


def sums_of(game: Iterator[GameStep], weights: DangerWeights) -> Sums:
    """Return the sums of one game."""
    sums = np.zeros((len(SITUATIONS), 2, 3))
    for step in game:
        if isinstance(step.event, Dahai):
            discarded = tile_kind(TILE_BY_NAME[step.event.pai])
            add_tiles(step.state, step.event.actor, discarded, weights, sums)
    return sums


def table(games: NDArray[Any]) -> Iterator[str]:
    """Yield the stated and the winning tiles, a line for each situation; float64[games, ...]."""
    yield from head(["situation", "tile", "tiles", "stated", "winning", "stated / winning"])
    both = np.concatenate([games, games.sum(axis=1, keepdims=True)], axis=1)
    for place, situation in enumerate([*SITUATIONS, "all"]):
        for which, word in ((KEPT, "kept"), (DISCARDED, "discarded")):
            of = both[:, place, which]
            total = of.sum(axis=0)
            found = ratio(of[:, STATED], of[:, WINNING])
            sums = [f"{total[at]:,.0f}" for at in (COUNT, STATED, WINNING)]
            yield row([situation, word, *sums, f"{found.value:.3f} ± {found.half_width:.3f}"])


@compiled
def add_tiles(state: State, seat: int, discarded: int, weights: DangerWeights, out: Sums) -> None:
    """Add each kind in the hand of ``seat``, against each opponent."""
    unseen = np.empty(34, np.int8)
    unseen_kinds(state, seat, unseen)
    chance, points = np.zeros((4, 34)), np.zeros((4, 34))
    deal_in_chances(state, seat, unseen, weights, chance, points)
    for step in range(1, 4):
        opponent = (seat + step) & 3
        situation = 2 * (state.riichi[seat] == ACCEPTED) + (state.riichi[opponent] > 0)
        for kind in range(34):
            if state.hand[seat, kind] == 0:
                continue
            sums = out[situation, DISCARDED if kind == discarded else KEPT]
            sums[STATED] += chance[opponent, kind]
            sums[WINNING] += would_win(state, opponent, kind)
            sums[COUNT] += 1
