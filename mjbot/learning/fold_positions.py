"""Labelled positions for the fold recogniser, drawn from recorded games."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from mjbot.learning.fold_labels import label_hand
from mjbot.learning.positions import GameRef, Step, collect
from mjbot.table.observe import hide
from mjbot.table.state import STATE, State, copy_state
from protocol.messages import Dahai, Hora, Reach, StartKyoku
from protocol.tiles import TILE_BY_NAME, tile_kind


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
    refs: Sequence[GameRef], per_game: int, seed: int, jobs: int = 1
) -> Iterator[Positions]:
    """Yield ``per_game`` decisions of each game, any as likely as any other (0: all of them).

    Raises as :func:`mjbot.learning.positions.collect`.
    """
    yield from collect(refs, partial(positions_of, per_game=per_game, seed=seed), jobs)


def join_positions(parts: Sequence[Positions]) -> Positions:
    """Return the rows of all parts."""
    return Positions(*[np.concatenate(columns) for columns in zip(*parts, strict=True)])


def positions_of(steps: Iterator[Step], per_game: int, seed: int) -> Positions:
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
