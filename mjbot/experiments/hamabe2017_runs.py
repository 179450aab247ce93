"""Who plays in the experiment on Hamabe 2017, and the runs that tell."""

from math import ceil
from typing import Final

from mjbot.arena.dependencies import code_digest
from mjbot.arena.setup import Setup
from mjbot.experiments.request import Request, Run

TOP: Final = "yaku-evaluation"
PARTNER: Final = "combo-partner"
INDEPENDENT: Final = "fast-riichi-d"
OPPONENTS: Final = {"all": "fast-riichi-a", "majiang": "external:majiang"}


def make_setup(players: tuple[str, ...], opponent: str, seed: int) -> Setup:
    """Return an arm's run; equal players of a pair need but half of the ways to sit."""
    named = players[:1] if len(set(players)) == 1 else players
    strategies = (*named, opponent)
    return Setup(
        strategies=strategies,
        format="1v3" if len(players) == 1 else "pair",
        seed=seed,
        code=code_digest(strategies),
    )


def walls_for(setup: Setup, games: float) -> int:
    """Return how many walls give the first strategy (or its pair) so many games."""
    return ceil(games / len({place.seating for place in setup.seating.rows[0]}))


def run_of(request: Request, label: str, players: tuple[str, ...], share: float = 1.0) -> Run:
    """Return the run of these players; ``share`` times the games that are asked for."""
    setup = make_setup(players, OPPONENTS.get(request.part, OPPONENTS["all"]), request.seed)
    return Run(label, setup, walls_for(setup, share * request.games))
