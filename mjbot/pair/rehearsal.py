"""A game in memory before the first real one, so that nothing is compiled while a server waits."""

from collections.abc import Callable, Sequence
from typing import Final

from mjbot.pair.member import pair_up
from mjbot.referee import Referee
from mjbot.strategy import Strategy

SEED: Final = 2017
OWN, ALLY = 0, 2
_NAMES: Final = ("own", "rival", "ally", "rival")

Make = Callable[[], Strategy]


def rehearse_pair(make_own: Make, make_ally: Make) -> None:
    """Play a tonpu game of the two allies against two players like the ally.

    Raises ``TypeError`` if one of the two cannot be one of a pair.
    """
    players = [make_own(), make_ally(), make_ally(), make_ally()]
    pair_up(players[OWN], players[ALLY])
    _play(Referee(SEED, "tonpu"), players)


def _play(referee: Referee, players: Sequence[Strategy]) -> None:
    for seat, player in enumerate(players):
        player.start_game(seat, _NAMES)
    referee.play(players)
