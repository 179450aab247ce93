"""A game in memory before the first real one, so that nothing is compiled while a server waits."""

import contextlib
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numba

from mjbot.code_cache import cache_folder
from mjbot.compiled import source_digest
from mjbot.pair.member import pair_up
from mjbot.referee import Referee
from mjbot.strategy import Strategy

SEED: Final = 2017
OWN, ALLY = 0, 2
_NAMES: Final = ("own", "rival", "ally", "rival")

Make = Callable[[], Strategy]


def rehearse_pair(make_own: Make, make_ally: Make) -> None:
    """Play a tonpu game of the two allies against two players like the ally.

    The first of two processes compiles while the other waits, and then finds it in the cache.
    Raises ``TypeError`` if one of the two cannot be one of a pair.
    """
    players = [make_own(), make_ally(), make_ally(), make_ally()]
    pair_up(players[OWN], players[ALLY])
    with _first_alone(_marker(players[OWN], players[ALLY])):
        _play(Referee(SEED, "tonpu"), players)


def _play(referee: Referee, players: Sequence[Strategy]) -> None:
    for seat, player in enumerate(players):
        player.start_game(seat, _NAMES)
    referee.play(players)


def _marker(*players: Strategy) -> Path:
    """Return the file that says that both strategies, as they are now, have been compiled."""
    sources = sorted(source_digest(type(player).__module__) for player in players)
    words = " ".join([*sources, sys.version, numba.__version__])
    return cache_folder() / "rehearsed" / hashlib.sha256(words.encode()).hexdigest()[:16]


@contextlib.contextmanager
def _first_alone(marker: Path) -> Iterator[None]:
    """Let one process at a time pass until the first is through; where files fail, let all."""
    if marker.exists():
        yield
        return
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, ImportError):
            import fcntl  # not on Windows: there both compile

            marker.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(marker.with_suffix(".lock").open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
        with contextlib.suppress(OSError):
            marker.touch()
