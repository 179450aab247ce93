"""Which choices that playouts prefer are better, played on to the end of the game.

    python -m proof search-margin --games 40 --seed 7001 --out search-margin.jsonl

Four ``strongest`` without search play; of the positions that it would search every
:data:`EVERY`-th is kept.  There the candidates meet :data:`WORLDS` worlds as a search has them, and
:data:`KYOKU` continuations of the game as it really stood: all four hands known, the wall shuffled
again, the same for all candidates, the fast policy in all seats.  These are a judge that a search
cannot consult.  It rates by the rank model after the kyoku; :data:`GAMES` of them go on to the end
of the hanchan, which takes thirty times as long and scatters more, to see whether that model is
right.  The worlds that a search did not use are another judge, which scatters least: it knows no
more than the search, and shows how much of a gain was chance.  A run resumes where it stopped,
game by game.  :func:`report` tables, for margins and numbers of worlds, what overrides gain, and
how many are right by the true hands (their 95 % interval above 0), wrong and open.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee import Referee
from mjbot.game.referee.wall import pin_wall
from mjbot.game.statistics.estimates import ratio
from mjbot.game.statistics.markdown import head, row
from mjbot.game.table.settle import seats_ahead
from mjbot.game.table.state import State
from mjbot.game.table.view import View
from mjbot.learning.models.fast_policy.choice import FastPolicy
from mjbot.learning.models.fast_policy.games import finish_game, play_plan
from mjbot.learning.models.networks.rank import RankWeights, rank_model
from mjbot.learning.playouts.sampler import deal_wall
from mjbot.learning.playouts.worlds import (
    Playouts,
    PlayoutWorkspace,
    Values,
    plan_of,
    seed_of,
    write_values,
)
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.splitmix import mix
from mjbot.strategies.strongest import Strongest
from mjbot.strategies.supervised import share_of
from proof.game_lines import Line, complete_lines

EVERY: Final = 4
WORLDS: Final = 200
SIZES: Final = (25, 50, 100, 200)
KYOKU: Final = 200
GAMES: Final = 10
MARGINS: Final = (0.0, 0.01, 0.03)
ERRORS: Final = (0.0, 1.0, 2.0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof search-margin``."""
    parser.add_argument("--games", type=int, default=40, help="hanchan to take positions from")
    parser.add_argument("--seed", type=int, default=7001, help="of the first of them")
    parser.add_argument("--out", type=Path, default=Path("search-margin.jsonl"), help="the file")


def run(args: argparse.Namespace) -> int:
    """Play what the file does not have yet; print the report."""
    games = {game: game for game in range(args.seed, args.seed + args.games)}
    lines = complete_lines(args.out, games, _lines_of, lambda line: bool(line.get("end")))
    for text in report(lines):
        print(text)
    return 0


def _lines_of(game: int, _: int) -> Iterator[Line]:
    yield from positions(game)
    yield {"end": True}


def positions(game: int) -> Iterator[Line]:
    """Play a hanchan; yield the positions that are kept."""
    referee, bots, met = Referee(game), [Strongest() for _ in range(4)], 0
    referee.start()
    playouts, judge = Playouts(), Judge()
    while asked := referee.asked:
        choices = {}
        for seat, legal in asked.items():
            choices[seat] = legal[0]
            if len(legal) < 2:
                continue
            view, bot = referee.view(seat), bots[seat]
            choices[seat] = bot.decide(view)
            opinion = bot.opinion(view)
            if opinion is None or choices[seat].is_win:
                continue
            actions = bot.candidates(view, opinion, choices[seat])
            met += len(actions) > 1
            if len(actions) > 1 and met % EVERY == 0:
                plans = np.array([plan_of(action) for action in actions])
                yield {
                    "wall_left": view.wall_left,
                    "round": view.round,
                    "actions": [str(action) for action in actions],
                    "shares": [float(share_of(action, opinion)) for action in actions],
                    "search": _search(playouts, view, plans),
                    **judge.gains(referee.state, seat, plans, seed_of(view, game)),
                }
        referee.step(choices)


def _search(playouts: Playouts, view: View, plans: NDArray[np.int16]) -> list[Line]:
    """Return the means and errors of each challenger by the first so many worlds."""
    values = playouts.compare(view.state, view.seat, list(plans), WORLDS, seed=seed_of(view))
    ranks = values.ranks[:, :, view.seat]
    gains = ranks[:, :1] - ranks[:, 1:]
    return [{str(n): _mean_and_error(gains[:n, index]) for n in SIZES}
            for index in range(gains.shape[1])]  # fmt: skip


def _mean_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5)


# --- the judge ---------------------------------------------------------------------------------


class Judge:
    """Plays plans on to the end of the game from a table whose hands are all known."""

    def __init__(self) -> None:
        self._policy = Playouts().policy
        self._workspace = PlayoutWorkspace.new()

    def gains(self, state: State, seat: int, plans: NDArray[np.int16], seed: int) -> Line:
        """Return what each challenger gains: ranks at the end, and as expected after the kyoku."""
        self._workspace["position"], self._workspace["seat"] = state, seat
        values, ends = Values.empty(KYOKU, len(plans)), np.empty((GAMES, len(plans)))
        play_to_the_end(
            self._workspace, self._policy, rank_model().weights,
            plans, seed, values, ends,
        )  # fmt: skip
        after = values.ranks[:, :, seat]
        return {
            "games": [_mean_and_error(ends[:, 0] - ends[:, k]) for k in range(1, len(plans))],
            "judge": [_mean_and_error(after[:, 0] - after[:, k]) for k in range(1, len(plans))],
        }


@compiled
def play_to_the_end(
    workspace: PlayoutWorkspace,
    policy: FastPolicy,
    weights: RankWeights,
    plans: NDArray[np.int16],
    seed: int,
    values: Values,
    ends: NDArray[np.float64],
) -> None:
    """Fill the values of each plan after the kyoku, and the final rank of the seat in the first."""
    random = np.empty(1, np.uint64)
    seat = workspace.seat
    for number in range(len(values.points)):
        random[0] = mix(np.uint64(seed) + np.uint64(number) * np.uint64(0xD1B54A32D192ED03))
        walls = np.int64(random[0] >> np.uint64(2))
        workspace.world = workspace.position
        deal_wall(workspace.world, random, workspace.sampler)
        pin_wall(workspace.world)
        for index in range(len(plans)):
            workspace.playing = workspace.world
            play_plan(policy, workspace.playing, workspace.buffer, seat, plans[index])
            write_values(
                workspace, weights, values.points[number, index], values.chances[number, index]
            )
            if number < len(ends):
                finish_game(policy, policy, 0b1111, workspace.playing, workspace.buffer, walls)
                ends[number, index] = 1 + seats_ahead(workspace.playing.scores, seat)


# --- the report --------------------------------------------------------------------------------


def report(lines: Sequence[Line]) -> Iterator[str]:
    """Yield what overrides gain, by worlds, margin and z; a position is one observation."""
    found = [line for line in lines if not line.get("end")]
    games = len({line["game"] for line in found})
    yield f"{len(found)} positions of {games} games; {KYOKU} kyoku, {GAMES} games a candidate"
    yield ""
    yield from _spread(found)
    yield ""
    yield from head([
        "worlds", "margin", "z", "overrides", "right", "wrong", "open", "gain in other worlds",
        "with the true hands", "to the end of the game", "1,000 x gain a position",
        "the same with the true hands",
    ])  # fmt: skip
    for worlds in SIZES:
        for margin in MARGINS:
            for z in ERRORS:
                yield _line(found, worlds, margin, z)


CLASSES: Final = {"calls": ("pon", "chi", "daiminkan", "pass"), "riichi": ("riichi",)}


def _spread(found: Sequence[Line]) -> Iterator[str]:
    """Yield how true gains of challengers scatter, and whether the true hands agree.

    The variance of the gains found less that of their errors is that of the true gains; the slope
    of the judge's gains on the true ones is 1 if playouts are right.
    """
    yield from head(["challengers", "number", "mean gain", "spread", "slope with the true hands"])
    for name in ("all", "discards", *CLASSES):
        rows = [
            (*line["search"][index][str(WORLDS)], line["judge"][index][0])
            for line in found
            for index in range(len(line["search"]))
            if name in ("all", _class(line, index))
        ]
        if len(rows) > 2:
            gains, errors, judged = np.array(rows).T
            covariance = np.cov(gains, judged)
            true = covariance[0, 0] - (errors**2).mean()
            error = (covariance[1, 1] * covariance[0, 0] / len(rows)) ** 0.5 / true
            slope = f"{covariance[0, 1] / true:.2f} ± {1.96 * error:.2f}"
            spread = f"{max(true, 0.0) ** 0.5:.4f}"
            yield row([name, str(len(rows)), f"{gains.mean():.4f}", spread, slope])


def _class(line: Line, index: int) -> str:
    words = {line["actions"][at].split()[0] for at in (0, index + 1)}
    return next((name for name, those in CLASSES.items() if words & {*those}), "discards")


def _line(found: Sequence[Line], worlds: int, margin: float, z: float) -> str:
    chosen = [(line, _override(line, worlds, margin, z)) for line in found]
    overrides = [(line, index) for line, index in chosen if index is not None]
    judged = [line["judge"][index] for line, index in overrides]
    right = sum(mean > 1.96 * error for mean, error in judged)
    wrong = sum(mean < -1.96 * error for mean, error in judged)
    true = [mean for mean, _ in judged]
    none = [0.0] * (len(found) - len(overrides))
    others: list[float] = []
    in_others: list[float] = []
    if worlds < WORLDS:
        others = [_in_other_worlds(line, index, worlds) for line, index in overrides]
        in_others = others + none
    cells = [
        *map(str, (len(judged), right, wrong, len(judged) - right - wrong)),
        _spelled(others, 1),
        _spelled(true, 1),
        _spelled([line["games"][index][0] for line, index in overrides], 1),
        _spelled(in_others, 1000),
        _spelled(true + none, 1000),
    ]
    return row([str(worlds), f"{margin:g}", f"{z:g}", *cells])


def _override(line: Line, worlds: int, margin: float, z: float) -> int | None:
    """Return the index of the challenger that would be chosen, if one would."""
    best, chosen = 0.0, None
    for index, search in enumerate(line["search"]):
        mean, error = search[str(worlds)]
        if mean > max(margin, z * error) and mean > best:
            best, chosen = mean, index
    return chosen


def _in_other_worlds(line: Line, index: int, worlds: int) -> float:
    """Return the mean gain in the worlds after the first so many."""
    search = line["search"][index]
    total: float = WORLDS * search[str(WORLDS)][0] - worlds * search[str(worlds)][0]
    return total / (WORLDS - worlds)


def _spelled(values: Sequence[float], scale: float) -> str:
    if len(values) < 2:
        return "-"
    estimate = ratio(np.array(values), np.ones(len(values)))
    return f"{scale * estimate.value:.3f} ± {scale * estimate.half_width:.3f}"
