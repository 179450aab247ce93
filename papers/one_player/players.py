"""Players of one-player mahjong: what a player is, the two simplest, and one that knows the wall.

A player that knows the wall is a bound for every player.  It needs no search: the 14 tiles of a win
are among the 13 dealt and those drawn so far, and with the wall known they can all be kept, as
they never exceed the hand.  So :func:`first_possible` tests for each draw whether
the tiles seen so far hold a complete hand.
"""

from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from mjbot.game.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.game.rules.shanten import NEVER, is_edge
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.splitmix import mix, next_below
from papers.one_player.game import (
    N_DEALT,
    N_DRAWS,
    N_KINDS,
    OnePlayerGame,
    discard,
    draw,
)


class SoloPlayer(Protocol):
    """Chooses discards; may read everything in the game but ``wall``."""

    def start(self, game: OnePlayerGame, seed: int) -> None:
        """A game was dealt; ``seed`` is for the player's own dice."""

    def choose(self, game: OnePlayerGame) -> int:
        """Return the kind to discard from the 14 tiles of ``game["hand"]``."""


def play(player: SoloPlayer, game: OnePlayerGame, seed: int) -> int:
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

    def start(self, game: OnePlayerGame, seed: int) -> None:
        """Take new dice."""
        self._dice[0] = mix(np.uint64(seed))

    def choose(self, game: OnePlayerGame) -> int:
        """Return the kind of a random tile of the hand."""
        return random_tile(game["hand"], self._dice)


class GreedyPlayer:
    """Keeps the lowest shanten and, of that, the most tiles that lower it; of equals an honour."""

    def start(self, game: OnePlayerGame, seed: int) -> None:
        """Nothing to remember."""

    def choose(self, game: OnePlayerGame) -> int:
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

    >>> from mjbot.game.rules.kinds import hand_counts
    >>> hand = hand_counts("12378m456p2357s11z")
    >>> greedy_discard(hand, 4 - hand)  # 69m is better than the closed 6s
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


BLOCKS = 4


@compiled
def first_possible(wall: NDArray[np.int8]) -> int:
    """Return the first draw with which the tiles int8[40] so far hold a complete hand, 0: none.

    >>> from papers.one_player.game import new_game
    >>> int(first_possible(new_game(2013, 0)["wall"]))
    14
    """
    counts = np.zeros(N_KINDS + 2, np.int64)
    for place in range(N_DEALT):
        counts[wall[place]] += 1
    for drawn in range(N_DRAWS):
        counts[wall[N_DEALT + drawn]] += 1
        if holds_complete(counts):
            return drawn + 1
    return 0


@compiled
def holds_complete(counts: NDArray[np.int64]) -> bool:
    """Return whether some of the tiles make a complete hand; ``counts`` is int64[36], two spare.

    The counts are changed on the way and are as before in the end.
    """
    pairs, edges, edge_pair = 0, 0, False
    for kind in range(N_KINDS):
        pairs += counts[kind] >= 2
        if is_edge(kind):
            edges += counts[kind] >= 1
            edge_pair |= counts[kind] >= 2
    if pairs >= 7 or (edges == 13 and edge_pair):
        return True
    blocks = np.empty(4, np.int64)
    for suit in range(4):
        blocks[suit] = most_blocks(counts, 9 * suit, min(9 * suit + 9, N_KINDS))
    for kind in range(N_KINDS):
        if counts[kind] >= 2:
            suit = kind // 9
            counts[kind] -= 2
            with_pair = most_blocks(counts, 9 * suit, min(9 * suit + 9, N_KINDS))
            counts[kind] += 2
            if blocks.sum() - blocks[suit] + with_pair >= BLOCKS:
                return True
    return False


@compiled
def most_blocks(counts: NDArray[np.int64], kind: int, end: int) -> int:
    """Return the most triplets and runs among the kinds ``kind`` .. ``end - 1`` of one suit."""
    while kind < end and counts[kind] == 0:
        kind += 1
    if kind == end:
        return 0
    counts[kind] -= 1
    best = most_blocks(counts, kind, end)  # without one of the tiles
    counts[kind] += 1
    if counts[kind] >= 3:
        counts[kind] -= 3
        best = max(best, 1 + most_blocks(counts, kind, end))
        counts[kind] += 3
    if kind < 27 and kind + 2 < end and counts[kind + 1] and counts[kind + 2]:
        for step in range(3):
            counts[kind + step] -= 1
        best = max(best, 1 + most_blocks(counts, kind, end))
        for step in range(3):
            counts[kind + step] += 1
    return best
