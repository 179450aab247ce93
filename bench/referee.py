"""The referee against ``riichienv``: strategies asked in Python, compiled games, playouts.

In the first two contests all contenders discard what they draw, under Tenhou's rules; ours is
asked in Python for every choice in the first, and plays inside compiled code in the second.  In
the third we copy a position in the middle of a kyoku and play it at random to its end; the peer
only copies one (``clone``), which is its own first step of a playout.  It does so as it comes
out of its box, with the event log of the game so far; without a log it copies 60 to 90 times as
many.
"""

from functools import partial

import numpy as np

from bench.measure import Contest
from bench.peer import idle_games, new_game, play_on
from mjbot.game.referee import Referee
from mjbot.game.referee.bulk import RANDOM, TSUMOGIRI, play_games, playouts
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.table.actions import Action
from mjbot.game.table.state import State
from mjbot.game.table.view import View
from mjbot.strategy.strategy import Strategy

GAMES = 10
COMPILED_GAMES = 200
COPIES = 1000
MIDDLE = 40
"""Decisions from the deal to a position in the middle of a kyoku."""
PEER_STEPS = 400
"""The same for the peer, with a few kyoku behind it."""
HANCHAN = rule_set()


class Asked(Strategy):
    """Discards what it drew, and has to be asked every time."""

    def decide(self, view: View) -> Action:
        """Return the default."""
        return view.default_action


def contests() -> list[Contest]:
    """Return the contests with the ratios that they must reach."""
    peer = partial(idle_games, GAMES)
    env = new_game(1, log=True)
    play_on(env, PEER_STEPS)
    return [
        Contest("tsumogiri asked in Python", "hanchan", _asked_games, "riichienv", peer, 3),
        Contest("tsumogiri in compiled code", "hanchan", _compiled_games, "riichienv", peer, 20),
        Contest(
            "copy and random playout", "playouts", partial(_playouts, _middle()), "riichienv",
            partial(_clones, env), 5,
        ),
    ]  # fmt: skip


def _asked_games() -> int:
    for seed in range(GAMES):
        Referee(seed).play([Asked() for _ in range(4)])
    return GAMES


def _compiled_games() -> int:
    seeds = np.arange(COMPILED_GAMES, dtype=np.int64)
    return len(play_games(np.full(4, TSUMOGIRI, np.int8), seeds, HANCHAN))


def _middle() -> State:
    """Return a position with about half of the wall left."""
    referee = Referee(1)
    referee.start()
    for _ in range(MIDDLE):
        referee.step({seat: referee.view(seat).default_action for seat in referee.asked})
    return referee.state


def _playouts(state: State) -> int:
    return len(playouts(state, np.full(4, RANDOM, np.int8), COPIES, 1))


def _clones(env: object) -> int:
    for _ in range(COPIES):
        env.clone()  # type: ignore[attr-defined]
    return COPIES
