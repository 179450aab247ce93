"""Whether the mistakes that a review shows are mistakes, played on to the end of the game.

    python -m proof mistakes --games 4000:4010 --out mistakes.jsonl

One seat of each game is reviewed as ``mjbot review`` does (seat 0 of the first game, then the seats
in turn); its :data:`MOST_JUDGED` most expensive shown losses are judged again by :data:`PLAYOUTS`
pairs of playouts.  A pair deals the hidden hands and the wall anew, plays both choices on to the
end of the kyoku and then the rest of the hanchan, with the same walls, the fast policy in all
seats; its outcome is the difference of the final places.  So neither the worlds of the review nor
the rank model have part in the judgement.  A mistake is *confirmed* where the mean difference is
above 0; how many have a 95 % interval above 0, and how many one below, is reported next to it.  A
run resumes after the last complete game of its file.
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.analysis.review.decisions import ReviewedDecision, judge
from mjbot.analysis.review.players import SeatedPlayers
from mjbot.analysis.review.playouts import BUDGET_S, CostEstimator, Shown
from mjbot.analysis.review.summary import Review, Reviewer
from mjbot.game.records.game import Game
from mjbot.game.records.sources import Source, games_of
from mjbot.game.statistics.estimates import Estimate, ratio
from mjbot.game.statistics.markdown import head, row
from mjbot.game.table.settle import seats_ahead
from mjbot.learning.models.fast_policy.choice import FastPolicy, load_policy
from mjbot.learning.models.fast_policy.games import finish_game, play_plan
from mjbot.learning.models.tenpai import HandReader, hand_reader
from mjbot.learning.playouts.worlds import PlayoutWorkspace, deal_world, plan_of, seed_of
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.splitmix import mix
from mjbot.strategy.registry import Spec
from proof.game_lines import (
    Line,
    add_record_arguments,
    complete_lines,
    recorded_games,
    with_seats_in_turn,
)

GAMES: Final = "4000:4010"
MOST_JUDGED: Final = 5
PLAYOUTS: Final = 2000
SEED: Final = 20_000
"""Added to the position's seed: the worlds are others than those of the review."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof mistakes``."""
    add_record_arguments(parser, "strongest", GAMES)
    parser.add_argument("--budget", type=float, default=BUDGET_S, help="s of playouts of a review")
    parser.add_argument("--out", type=Path, default=Path("mistakes.jsonl"), help="the file")


def run(args: argparse.Namespace) -> int:
    """Judge the games that the file does not have yet; print the report."""
    sources = recorded_games(args, GAMES)
    if sources is None:
        return 3
    seats = with_seats_in_turn(sources)
    work = partial(_lines_of, Spec.read(args.by), CostEstimator(args.budget), FinalJudge())
    for text in report(complete_lines(args.out, seats, work)):
        print(text)
    return 0


def _lines_of(
    by: Spec, costs: CostEstimator, judge_: "FinalJudge", _name: str, game: tuple[int, Source]
) -> Iterator[Line]:
    seat, source = game
    for read in games_of(source):
        review = reviewed(read, seat, by, costs)
        found = [each for each in review.costliest if review.is_shown(each)]
        yield {
            "different": len(review.shown),
            "shown": len(found),
            "mistakes": [_line(each, review.shown[each], judge_) for each in found[:MOST_JUDGED]],
        }


def reviewed(game: Game, seat: int, by: Spec, costs: CostEstimator) -> Review:
    """Return the review of a seat, with its playouts."""
    judged = judge((entry.event for entry in game.entries), SeatedPlayers(by, 0), [seat], ())
    review = Review(game.name, seat, Reviewer.of(by), judged)
    review.shown = costs.estimate(review.decisions)
    return review


def _line(decision: ReviewedDecision, shown: Shown, judge_: "FinalJudge") -> Line:
    final = judge_.gain(decision, shown)
    return {
        "at": decision.at,
        "actual": str(decision.actual),
        "better": str(shown.better),
        "review": [shown.ranks.value, shown.ranks.low, shown.ranks.high],
        "worlds": shown.deals,
        "final": [final.value, final.low, final.high],
    }


class FinalJudge:
    """Plays both choices of a decision on to the end of the game."""

    def __init__(self) -> None:
        self._policy: Final = load_policy()
        self._reader: Final = hand_reader("learned")
        self._workspace: Final = PlayoutWorkspace.new()

    def gain(self, decision: ReviewedDecision, shown: Shown, playouts: int = PLAYOUTS) -> Estimate:
        """Return by how many places the better choice ends higher, with a 95 % interval."""
        assert shown.better is not None
        view, then = decision.view, decision.then
        other = [shown.better, *([shown.better_then] if shown.better_then else [])]
        plans = np.array([plan_of(decision.actual, *([then] if then else [])), plan_of(*other)])
        self._workspace["position"], self._workspace["seat"] = view.state, view.seat
        ends = np.empty((playouts, 2))
        play_games_on(
            self._workspace, self._policy, self._reader, plans, seed_of(view, SEED), ends
        )  # fmt: skip
        return ratio(ends[:, 0] - ends[:, 1], np.ones(playouts))


@compiled
def play_games_on(
    workspace: PlayoutWorkspace,
    policy: FastPolicy,
    reader: HandReader,
    plans: NDArray[np.int16],
    seed: int,
    ends: NDArray[np.float64],
) -> None:
    """Fill the final place of the seat after each plan, float64[playouts, plans]."""
    random = np.empty(1, np.uint64)
    seat = workspace.seat
    for number in range(len(ends)):
        random[0] = mix(mix(np.uint64(seed)) + np.uint64(number) * np.uint64(0xD1B54A32D192ED03))
        walls = np.int64(random[0] >> np.uint64(2))
        deal_world(workspace, reader, random)
        for place in range(len(plans)):
            workspace.playing = workspace.world
            play_plan(policy, workspace.playing, workspace.buffer, seat, plans[place])
            finish_game(policy, policy, 0b1111, workspace.playing, workspace.buffer, walls)
            ends[number, place] = 1 + seats_ahead(workspace.playing.scores, seat)


def report(lines: Sequence[Line]) -> Iterator[str]:
    """Yield each mistake as the review and the end of the game have it, and how many agree."""
    found: list[tuple[str, dict[str, Any]]] = [
        (line["game"], mistake) for line in lines for mistake in line["mistakes"]
    ]
    yield from head(
        ["game", "at", "done", "better", "cost in the review", "to the end of the game"]
    )
    for game, each in found:
        costs = [f"{v:+.3f} ({a:+.3f} to {b:+.3f})" for v, a, b in (each["review"], each["final"])]
        yield row([game, each["at"], each["actual"], each["better"], *costs])
    confirmed = sum(each["final"][0] > 0 for _, each in found)
    shown = sum(each["final"][1] > 0 for _, each in found)
    refuted = sum(each["final"][2] < 0 for _, each in found)
    yield ""
    shown_, different = (sum(line[key] for line in lines) for key in ("shown", "different"))
    yield f"{len(lines)} games: {different} different choices, {shown_} shown, {len(found)} judged"
    if found:
        review, final = (np.mean([each[k][0] for _, each in found]) for k in ("review", "final"))
        yield f"mean places: {review:+.3f} in the review, {final:+.3f} at the end of the game"
    yield f"confirmed {confirmed} of {len(found)}; interval above 0: {shown}, below 0: {refuted}"
