"""Who plays one-player mahjong: what a player is, and the two simplest."""

from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from mjbot.compiled import compiled
from mjbot.one_player.game import N_KINDS, Game, discard, draw
from mjbot.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.rules.shanten import NEVER
from mjbot.splitmix import mix, next_below


class Player(Protocol):
    """Chooses discards; looks at everything in the game but ``wall``."""

    def start(self, game: Game, seed: int) -> None:
        """A game was dealt; ``seed`` is for the player's own dice."""

    def choose(self, game: Game) -> int:
        """Return the kind to discard from the 14 tiles of ``game["hand"]``."""


def play(player: Player, game: Game, seed: int) -> int:
    """Play a dealt game to its end; return the number of the winning draw, 0 without a win.

    Raises ``ValueError`` if the player discards what it does not hold.
    """
    player.start(game, seed)
    while draw(game):
        kind = player.choose(game)
        if not 0 <= kind < N_KINDS or game["hand"][kind] < 1:
            raise ValueError(f"draw {game['n_draws']}: kind {kind} is not in the hand")
        discard(game, kind)
    return int(game["n_draws"]) if game["is_won"] else 0


class RandomPlayer:
    """Discards any of its 14 tiles, all equally likely; wins when it can."""

    def __init__(self) -> None:
        self._dice: Final = np.zeros(1, np.uint64)

    def start(self, game: Game, seed: int) -> None:
        """Take new dice."""
        self._dice[0] = mix(np.uint64(seed))

    def choose(self, game: Game) -> int:
        """Return the kind of a random tile of the hand."""
        return random_tile(game["hand"], self._dice)


class GreedyPlayer:
    """Keeps the lowest shanten and, of that, the most tiles that lower it; of equals an honour."""

    def start(self, game: Game, seed: int) -> None:
        """Nothing to remember."""

    def choose(self, game: Game) -> int:
        """Return the discard with the best acceptance."""
        return greedy_discard(game["hand"], game["unseen"])


@compiled
def random_tile(hand: NDArray[np.int8], dice: NDArray[np.uint64]) -> int:
    """Return the kind of a random one of the 14 tiles of a hand int8[34]."""
    place = next_below(dice, 14)
    kind = 0
    while place >= hand[kind]:
        place -= hand[kind]
        kind += 1
    return kind


@compiled
def greedy_discard(hand: NDArray[np.int8], unseen: NDArray[np.int8]) -> int:
    """Return the kind whose discard leaves the lowest shanten, then the most unseen acceptance.

    Of equals the highest kind, that is honours first.  ``hand`` int8[34] of 14 tiles and
    ``unseen`` int8[34].

    >>> from mjbot.rules.hands import hand_counts
    >>> hand = hand_counts("12378m456p2357s11z")
    >>> greedy_discard(hand, 4 - hand)  # 69m is worth more than the closed 6s
    24
    """
    best, lowest, most = 0, NEVER, -1
    rest = hand.copy()
    for kind in range(N_KINDS):
        if hand[kind]:
            rest[kind] -= 1
            here, mask = shanten_and_acceptance(rest, 0)
            if here <= lowest:
                count = count_tiles(mask, unseen)
                if here < lowest or count >= most:
                    best, lowest, most = kind, here, count
            rest[kind] += 1
    return best
