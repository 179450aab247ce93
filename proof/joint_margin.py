"""Which joint choices of a pair are better, played on again in other worlds.

    python -m proof joint-margin --games 12 --out joint-margin.jsonl

Two ``combo-partner,base=strongest`` play against two ``fold-recognition-plus``; their rules decide.
Wherever the joint choice (:mod:`strategies.evaluation.pair.joint`) would compare plans within
:data:`BUDGET_MS`, it does, for each objective, and the plan of the largest mean less one standard
error is played on in :data:`TIMES` as many other worlds, as is the plan of the rules.  The rules
continue to decide, so a chance that they leave is found again in every turn in which it stands.  A
run resumes where it stopped, game by game.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee import Referee
from mjbot.game.statistics.estimates import ratio
from mjbot.game.statistics.markdown import head, row
from mjbot.game.table.actions import Action
from mjbot.strategy.explanation import Rated
from mjbot.strategy.pair.member import pair_up
from mjbot.strategy.registry import Spec
from proof.game_lines import Line, complete_lines
from strategies.evaluation.pair import joint
from strategies.evaluation.pair.situation import PairSituation

BUDGET_MS: Final = 100.0
TIMES: Final = 8
OTHER_WORLDS: Final = 0x5555555
OBJECTIVES: Final[tuple[joint.Objective, ...]] = ("points", "better-rank", "balanced")
ERRORS: Final = (1.0, 1.5, 2.0, 2.5, 3.0)

Values = NDArray[np.float64]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof joint-margin``."""
    parser.add_argument("--games", type=int, default=12, help="hanchan to take positions from")
    parser.add_argument("--seed", type=int, default=910000, help="of the first of them")
    parser.add_argument("--out", type=Path, default=Path("joint-margin.jsonl"), help="the file")


def run(args: argparse.Namespace) -> int:
    """Play the games that the file does not have yet; print the report."""
    games = {game: game for game in range(args.seed, args.seed + args.games)}
    lines = complete_lines(args.out, games, lambda game, _: [{"found": list(play(game))}])
    for text in report(lines):
        print(text)
    return 0


class Judge(joint.JointSearch):
    """A search that keeps the choice of the rules and notes what it and fresh worlds prefer."""

    def __init__(self) -> None:
        super().__init__(BUDGET_MS, "balanced")
        self.found: list[Line] = []

    def choose(
        self, situation: PairSituation, incumbent: Action, ratings: Sequence[Rated], seed: int
    ) -> Action:
        """Return the incumbent."""
        plans = list(joint.plans_of(situation, incumbent, ratings))
        if len(plans) < 2:
            return incumbent
        values = self.play_on(situation, plans, seed)
        line: Line = {}
        for objective in OBJECTIVES:
            judged = joint.objective_of(objective, values)
            kept, means, errors = joint.gains_of(plans, incumbent, judged)
            best = int(np.argmax(means - errors))
            if means[best] > errors[best]:
                again = self.play_on(
                    situation, [plans[kept], plans[best]], seed ^ OTHER_WORLDS, TIMES * len(values)
                )
                line[objective] = {
                    "mean": float(means[best]),
                    "error": float(errors[best]),
                    "again": [_gain(joint.objective_of(other, again)) for other in OBJECTIVES],
                }
        self.found.append(line)
        return incumbent


def _gain(values: Values) -> tuple[float, float]:
    mean, error = joint.mean_and_error(values[:, 1:] - values[:, :1])
    return float(mean[0]), float(error[0])


def play(game: int) -> Iterator[Line]:
    """Play a hanchan; yield a line for each search."""
    names = ("combo-partner,base=strongest,joint_ms=100", "fold-recognition-plus") * 2
    players = [Spec.read(name).make() for name in names]
    pair = players[::2]
    pair_up(*pair)
    judge = Judge()
    for seat, player in enumerate(players):
        if player in pair:
            vars(player)["_joint_search"] = judge
        player.start_game(seat, ("a", "b", "c", "d"))
    Referee(game).play(players)
    yield from judge.found


# --- the report --------------------------------------------------------------------------------


def report(lines: Sequence[Line]) -> Iterator[str]:
    """Yield what the plans above each multiple of the standard error gain a hanchan."""
    searches = sum(len(line["found"]) for line in lines)
    yield f"{searches} searches of {len(lines)} hanchan"
    heads = (
        "objective",
        "z",
        "changes a hanchan",
        "right",
        "wrong",
        "open",
        "points",
        "better rank",
    )
    yield from head(heads)
    for number, objective in enumerate(OBJECTIVES):
        for z in ERRORS:
            yield row((objective, f"{z:.1f}", *_figures(lines, objective, number, z)))


def _figures(
    lines: Sequence[Line], objective: joint.Objective, number: int, z: float
) -> Iterator[str]:
    changes = [
        [
            line[objective]["again"]
            for line in game["found"]
            if objective in line
            and line[objective]["mean"]
            > max(joint.MARGINS[objective], z * line[objective]["error"])
        ]
        for game in lines
    ]
    every = [again for game in changes for again in game]
    right = sum(again[number][0] > 1.96 * again[number][1] for again in every)
    wrong = sum(again[number][0] < -1.96 * again[number][1] for again in every)
    yield f"{len(every) / len(lines):.1f}"
    yield from map(str, (right, wrong, len(every) - right - wrong))
    ones = np.ones(len(lines))
    for place, digits in ((0, 0), (1, 3)):
        gained = np.array([sum(again[place][0] for again in game) for game in changes])
        estimate = ratio(gained, ones)
        yield f"{estimate.value:,.{digits}f} ± {estimate.half_width:,.{digits}f}"
