"""Learns the weights of the verdicts from games of known pairs and of honest players.

* The model of unrelated players (:class:`~mjbot.analysis.collusion.hidden.HiddenHandModel`): how
  likely each discard is, from the first :data:`OF_CHOICES` honest games; how much more often real
  hands need and hold a kind than redrawn ones, from all of them.
* One weighted sum per kind of known pair: what such a pair adds per kyoku beyond unrelated players,
  relative to their standard deviation.
* The value of a unit of each score to two unrelated players together: a regression of their final
  points.  A discard that happens to serve a hidden hand is a random experiment, so the regression
  gives the effect of serving.

All weights are fixed before any game of the test set is read.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from mjbot.analysis.collusion import hidden
from mjbot.analysis.collusion.games import GameCounts, count_games
from mjbot.analysis.collusion.hidden import Floats
from mjbot.analysis.collusion.residuals import PAIRS, Residuals, places_of
from mjbot.analysis.collusion.verdicts import NAME, DetectionWeights, levelled
from mjbot.game.records.other_formats import record_path
from mjbot.game.table.hands import kind_of
from mjbot.game.table.mirror.wire import tile_code
from mjbot.learning.models.weights import Manifest, save_weights
from mjbot.learning.training.positions import DistinctGames, GameRef, GameStep, LeftOut, collect
from mjbot.learning.training.requests import players_field
from mjbot.learning.training.runs import RUNS, GameRange, Learned, games_field, records_field
from mjbot.protocol import messages as m
from mjbot.runtime.errors import ArgumentError
from mjbot.runtime.processors import worker_count
from mjbot.runtime.progress import Step, progress
from mjbot.runtime.requests import command_of, option

OF_CHOICES: Final = 150
"""Games that the chances of discards are learned from."""
ROUNDS: Final = 6
PRIOR: Final = 5.0
"""Hits as expected that every cell of the model is believed to have had before."""


@dataclass(frozen=True)
class KnownPairGames:
    """Games of one kind of known pair; ``places`` are their two seats, by game."""

    games: GameCounts
    places: NDArray[np.intp]

    def sums(self) -> tuple[Floats, Floats]:
        """Return contrasts and products of the pair, by game."""
        rows = np.arange(len(self.games))
        left, products = levelled(self.games), self.games.products
        return left[rows, self.places], products[rows, self.places].astype(np.float64)


def learn_model(refs: Sequence[GameRef], jobs: int, left_out: LeftOut) -> hidden.HiddenHandModel:
    """Return the model of unrelated players, from honest games."""
    model = hidden.no_model()
    chosen = model.chosen
    few = refs[:OF_CHOICES]
    with progress(Console(stderr=True), "learning", ROUNDS * len(few) + len(refs), "games") as step:
        for _ in range(ROUNDS):
            extract = partial(_choices, model=model._replace(chosen=chosen))
            tally = _added(collect(few, extract, jobs), step)
            chosen = chosen * _ratio(tally.chosen)
        extract = partial(_needs, model=model._replace(chosen=chosen))
        tally = _added(collect(refs, extract, jobs, left_out), step)
    return hidden.HiddenHandModel(chosen, _ratio(tally.needed), _ratio(tally.held))


def _ratio(tally: Floats) -> Floats:
    ratio: Floats = (tally[:, 0] + PRIOR) / (tally[:, 1] + PRIOR)
    return ratio


def _added(tallies: Iterator[hidden.ModelCounts], step: Step) -> hidden.ModelCounts:
    whole = hidden.no_tally()
    for tally in tallies:
        step()
        for sums, more in zip(whole, tally, strict=True):
            sums += more
    return whole


def _choices(steps: Iterator[GameStep], model: hidden.HiddenHandModel) -> hidden.ModelCounts:
    tally, discard = hidden.no_tally(), hidden.no_discard()
    for step in steps:
        if isinstance(step.event, m.Dahai):
            hidden.weigh_discards(step.state, step.event.actor, model, discard)
            hidden.tally_choice(discard, kind_of(tile_code(step.event.pai)), tally)
    return tally


def _needs(steps: Iterator[GameStep], model: hidden.HiddenHandModel) -> hidden.ModelCounts:
    residuals = None
    for step in steps:
        residuals = residuals or Residuals(model, step.game)
        residuals.add(step.event, step.state)
    return residuals.tally if residuals else hidden.no_tally()


def learn(
    model: hidden.HiddenHandModel, honest: GameCounts, known: Sequence[KnownPairGames]
) -> DetectionWeights:
    """Return weights from honest games and games of each kind of known pair."""
    kyoku = float(honest.kyoku.sum())
    n_pairs = honest.products.shape[1]
    spread = honest.products[:, :, 0].sum(axis=(0, 1), dtype=np.float64) / (kyoku * n_pairs)
    means = [kind.sums()[0][:, 0].sum(axis=0) / float(kind.games.kyoku.sum()) for kind in known]
    sums = np.array(means) @ np.linalg.pinv(spread, hermitian=True)  # three have no chi calls
    sums /= np.sqrt(np.einsum("ki,ij,kj->k", sums, spread, sums))[:, None]
    return DetectionWeights(
        chosen=model.chosen,
        needed=model.needed,
        held=model.held,
        sums=sums,
        points=points_of_scores(honest),
    )


def points_of_scores(games: GameCounts) -> Floats:
    """Return how many final points of two together go with a unit of the first contrast.

    float64[N_SCORES].
    """
    x = levelled(games)[:, :, 0].reshape(-1, hidden.N_SCORES)
    y = np.stack(
        [games.scores[:, i] + games.scores[:, j] for i, j in PAIRS[games.seats]], axis=1
    ).ravel()
    points: Floats = np.linalg.solve(x.T @ x + np.eye(hidden.N_SCORES), x.T @ (y - y.mean()))
    return points


@dataclass(frozen=True, kw_only=True)
class DetectionRequest:
    """``mjbot train detection``; ``pairs`` has two names and records of each pair."""

    records: Sequence[Path] = records_field()
    games: GameRange = games_field("games to learn from (default: all)")
    pairs: Sequence[Sequence[str]] = option(
        (),
        "two players who are a pair in these records; once for each kind of pair",
        flag="--pair",
        nargs=3,
        action="append",
        metavar=("NAME", "NAME", "RECORDS"),
    )
    players: int = players_field()
    jobs: int = option(worker_count(), "number of processes", type=int, shown=False)
    out: Path | None = option(
        None, f"folder of the weights (default: {RUNS / 'detection'})", type=Path, shown=False
    )
    left_out: LeftOut = field(default_factory=LeftOut)


def train(request: DetectionRequest) -> Learned:
    """Learn the weights and write them.

    Raises as :func:`~mjbot.learning.training.positions.index_games` and
    :class:`~mjbot.runtime.errors.ArgumentError` for a pair that is not in its records.
    """
    if not request.pairs:
        raise ArgumentError("--pair: name at least one known pair and its records")
    pairs = [(one, other, record_path(path)) for one, other, path in request.pairs]
    distinct = DistinctGames(request.left_out, (request.players,))
    refs = request.games.take(distinct.index(request.records))
    refs_of_pairs = []
    for one, other, path in pairs:  # before anything is learned
        # a file may have several pairs
        apart = replace(distinct, copies=copy.deepcopy(distinct.copies))
        if not (found := apart.index([path])):
            problem = "no game is there that is not among those learned from"
            raise ArgumentError(f"--pair {one} {other} {path}: {problem}; name other records")
        refs_of_pairs.append(found)
    model = learn_model(refs, request.jobs, request.left_out)
    models = {request.players: model}
    honest = count_games(refs, models, request.jobs, left_out=LeftOut())
    known = [
        known_pair(count_games(found, models, request.jobs), one, other)
        for (one, other, _), found in zip(pairs, refs_of_pairs, strict=True)
    ]
    weights = learn(model, honest, known)
    described = ", ".join(f"{one} + {other} ({len(each.games)} hanchan)"
        for (one, other, _), each in zip(pairs, known, strict=True))  # fmt: skip
    names = ", ".join(sorted(path.name for path in request.records))
    manifest = Manifest(
        data=f"games {request.games} of {names} ({len(honest)} hanchan); pairs: {described}",
        command=command_of("mjbot train detection", replace(request, pairs=()))
        + "".join(f" --pair {one!r} {other!r} {path.name}" for one, other, path in pairs),
        seed=0,
        scores={f"points of a unit, {name}": round(float(value))
            for name, value in zip(hidden.SCORES, weights.points, strict=True)},
    )  # fmt: skip
    folder = request.out or RUNS / NAME
    arrays = {key: getattr(weights, key) for key in DetectionWeights.__dataclass_fields__}
    return Learned(NAME, save_weights(NAME, arrays, manifest, folder), folder)


def known_pair(games: GameCounts, one: str, other: str) -> KnownPairGames:
    """Return the games in which two players met; ArgumentError if they never did."""
    for name in (one, other):
        if name not in games.players:
            known = ", ".join(repr(player) for player in games.players)
            raise ArgumentError(f"no player is called {name!r} there; there are {known}")
    at = [games.names == games.players.index(name) for name in (one, other)]
    both = np.flatnonzero(at[0].any(axis=1) & at[1].any(axis=1))
    if not len(both):
        raise ArgumentError(f"{one!r} and {other!r} never met there")
    seats = np.stack([each[both].argmax(axis=1) for each in at], axis=1).astype(np.int8)
    return KnownPairGames(games.take(both), places_of(seats, games.seats))
