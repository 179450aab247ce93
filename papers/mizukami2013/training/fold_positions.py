"""Labelled positions for the fold recogniser, drawn from recorded games, and its scores on them.

The scores are precision, recall and F1 of both classes, with intervals by games.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from mjbot.game.statistics.estimates import Estimate, rate
from mjbot.game.table.assume import hide
from mjbot.game.table.state import STATE, State, copy_state
from mjbot.learning.training.positions import GameRef, GameStep, LeftOut, collect
from mjbot.protocol.messages import Dahai, Hora, Reach, StartKyoku
from mjbot.protocol.tiles import TILE_BY_NAME, tile_kind
from papers.mizukami2013.training.fold_labels import FOLD, PUSH, UNCLEAR, label_hand


class Positions(NamedTuple):
    """Labelled decisions, one row each.

    ``states`` STATE[n], in which only the decider's hand is known; ``seats`` int8[n] the
    deciders; ``kinds`` int8[n] what they discarded; ``labels`` int8[n] FOLD, PUSH or UNCLEAR;
    ``games`` int32[n] the numbers of the games.
    """

    states: Any
    seats: NDArray[np.int8]
    kinds: NDArray[np.int8]
    labels: NDArray[np.int8]
    games: NDArray[np.int32]

    def where(self, chosen: NDArray[np.bool_]) -> "Positions":
        """Return the chosen rows (bool[n])."""
        return Positions(*(cast(Any, column)[chosen] for column in self))


@dataclass
class _SeatsHand:
    """What one seat decides in a kyoku."""

    states: list[State] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    declared: State | None = None
    won: bool = False


def draw_positions(
    refs: Sequence[GameRef],
    per_game: int,
    seed: int,
    jobs: int = 1,
    left_out: LeftOut | None = None,
) -> Iterator[Positions]:
    """Yield ``per_game`` decisions of each game, any as likely as any other (0: all of them).

    Raises as :func:`mjbot.learning.training.positions.collect`, and leaves out what that does.
    """
    draw = partial(positions_of, per_game=per_game, seed=seed)
    yield from collect(refs, draw, jobs, left_out)


def join_positions(parts: Sequence[Positions]) -> Positions:
    """Return the rows of all parts."""
    return Positions(*[np.concatenate(columns) for columns in zip(*parts, strict=True)])


def positions_of(steps: Iterator[GameStep], per_game: int, seed: int) -> Positions:
    """Return ``per_game`` of a game's decisions (0: all), UNCLEAR ones included."""
    parts, game = [_no_positions()], 0
    hands = [_SeatsHand() for _ in range(4)]
    for game, event, state in steps:
        match event:
            case StartKyoku():
                parts += _labelled(hands, game)
                hands = [_SeatsHand() for _ in range(4)]
            case Reach():
                hands[event.actor].declared = copy_state(state)
            case Dahai():
                hand = hands[event.actor]
                hand.states.append(hand.declared or copy_state(state))
                hand.kinds.append(tile_kind(TILE_BY_NAME[event.pai]))
                hand.declared = None
            case Hora():
                hands[event.actor].won = True
    parts += _labelled(hands, game)
    return _some(join_positions(parts), per_game, seed, game)


def _labelled(hands: Sequence[_SeatsHand], game: int) -> Iterator[Positions]:
    for seat, hand in enumerate(hands):
        n = len(hand.kinds)
        if n and hand.states[0]["hand_known"][seat]:
            states = np.array(hand.states, STATE)
            kinds = np.array(hand.kinds, np.int8)
            labels = label_hand(states, kinds, seat, hand.won)
            seats, games = np.full(n, seat, np.int8), np.full(n, game, np.int32)
            yield Positions(states, seats, kinds, labels, games)


def _some(positions: Positions, per_game: int, seed: int, game: int) -> Positions:
    n = len(positions.labels)
    if 0 < per_game < n:
        random = np.random.default_rng([seed, game])
        chosen = np.zeros(n, bool)
        chosen[random.choice(n, per_game, replace=False)] = True
        positions = positions.where(chosen)
    for state, seat in zip(positions.states, positions.seats.tolist(), strict=True):
        hide(state, seat)
    return positions


def _no_positions() -> Positions:
    none = np.empty(0, np.int8)
    return Positions(np.empty(0, STATE), none, none, none, np.empty(0, np.int32))


CLASSES: Final = {"fold": FOLD, "push": PUSH}

STRICT: Final = "fold F1, unclear as push"

Labels = NDArray[np.int8]
Scores = dict[str, Estimate]


def f1_of(labels: Labels, predicted: Labels, class_: int = FOLD) -> float:
    """Return the F1 of one class, 0 if it was neither labelled nor predicted.

    >>> f1_of(np.int8([1, 1, 0, 0]), np.int8([1, 0, 0, 1]))
    0.5
    """
    hits = int(np.sum((labels == class_) & (predicted == class_)))
    mentioned = int(np.sum(labels == class_) + np.sum(predicted == class_))
    return 2 * hits / mentioned if mentioned else 0.0


def scores_of(labels: Labels, predicted: Labels, games: NDArray[np.int32]) -> Scores:
    """Return ``fold precision``, ``fold recall``, ``fold F1`` and the same of push.

    All int8[n] but ``games`` int32[n]: a game is one observation of the 95 % intervals.  Rows
    labelled UNCLEAR are left out; the score :data:`STRICT` takes them in as PUSH.
    """
    clear = labels != UNCLEAR
    scores: Scores = {}
    for name, class_ in CLASSES.items():
        hits, there, predicted_count = _counts(
            labels[clear], predicted[clear], games[clear], class_
        )
        scores[f"{name} precision"] = rate(hits, predicted_count)
        scores[f"{name} recall"] = rate(hits, there)
        scores[f"{name} F1"] = rate(2 * hits, there + predicted_count)
    strict = np.where(clear, labels, np.int8(PUSH))
    hits, there, predicted_count = _counts(strict, predicted, games, FOLD)
    scores[STRICT] = rate(2 * hits, there + predicted_count)
    return scores


def best_threshold(labels: Labels, margins: NDArray[np.float64]) -> float:
    """Return the threshold of the margins above which to predict fold, for the highest F1.

    Half way between two neighbouring margins; 0 if there is no fold to be found.
    """
    order = np.argsort(-margins, kind="stable")
    hits = np.cumsum(labels[order] == FOLD)
    n_folds = int(np.sum(labels == FOLD))
    if not n_folds:
        return 0.0
    scores = 2 * hits / (n_folds + np.arange(1, len(order) + 1))
    best = int(np.argmax(scores))
    after = order[min(best + 1, len(order) - 1)]
    return float((margins[order[best]] + margins[after]) / 2)


def _counts(
    labels: Labels, predicted: Labels, games: NDArray[np.int32], class_: int
) -> tuple[NDArray[np.float64], ...]:
    """Return per game the numbers of true positives, labelled and predicted rows of the class."""
    names, game = np.unique(games, return_inverse=True)
    there, predicted_count = labels == class_, predicted == class_
    return tuple(
        np.bincount(game, chosen, minlength=len(names)).astype(np.float64)
        for chosen in (there & predicted_count, there, predicted_count)
    )
