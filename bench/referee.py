"""The referee against ``riichienv`` and ``cmajiang``: asked in Python, compiled games, playouts.

In the first four contests all contenders discard what they draw, under Tenhou's rules.  Ours is
asked in Python for every choice in the first and third, and plays inside compiled code in the
second and fourth; the next two are the same with three players, which ``cmajiang`` does not have.
In the last we copy a position in the middle of a kyoku and play it at random to its end;
``riichienv`` only copies one (``clone``), which is its own first step of a playout.  It does so as
it comes out of its box, with the event log of the game so far; without a log it copies 60 to 90
times as many.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np

from bench.measure import Contest
from bench.peer import idle_games, new_game, play_on
from mjbot.game.referee import Referee
from mjbot.game.referee.bulk import RANDOM, TSUMOGIRI, play_games, playouts
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.table.actions import Action
from mjbot.game.table.state import State
from mjbot.game.table.view import View
from mjbot.protocol.rules import RANKED, Rules
from mjbot.strategy.strategy import Strategy

GAMES = 10
COMPILED_GAMES = 200
COPIES = 1000
MIDDLE = 40
"""Decisions from the deal to a position in the middle of a kyoku."""
PEER_STEPS = 400
"""The same for the peer, with a few kyoku behind it."""

Play = Callable[[], int]


class Asked(Strategy):
    """Discards what it drew, and has to be asked every time."""

    players = (3, 4)

    def decide(self, view: View) -> Action:
        """Return the default."""
        return view.default_action


def contests() -> list[Contest]:
    """Return the contests with the ratios that they must reach."""
    env = new_game(1, log=True)
    play_on(env, PEER_STEPS)
    return [
        *_idle_contests("", RANKED, "riichienv", partial(idle_games, GAMES), (3, 20)),
        *(_against_cmajiang() if find_spec("cmajiang") else ()),
        *_idle_contests(
            "three players, ", Rules(players=3), "riichienv", partial(idle_games, GAMES, 3), (3, 20)
        ),
        Contest(
            "copy and random playout", "playouts", partial(_playouts, _middle()), "riichienv",
            partial(_clones, env), 5,
        ),
    ]  # fmt: skip


def _idle_contests(
    prefix: str, rules: Rules, peer: str, theirs: Play, required: tuple[float, float]
) -> list[Contest]:
    name = f"{prefix}tsumogiri"
    asked, compiled = partial(_asked_games, rules), partial(_compiled_games, rules)
    return [
        Contest(f"{name} asked in Python", "hanchan", asked, peer, theirs, required[0]),
        Contest(f"{name} in compiled code", "hanchan", compiled, peer, theirs, required[1]),
    ]


def _against_cmajiang() -> list[Contest]:
    """Return the contests with a package that has no wheels for some systems."""
    from bench.cmajiang_peer import idle_games

    return _idle_contests("", RANKED, "cmajiang", partial(idle_games, GAMES), (3, 20))


def _asked_games(rules: Rules) -> int:
    for seed in range(GAMES):
        Referee(seed, rules).play([Asked() for _ in range(rules.players)])
    return GAMES


def _compiled_games(rules: Rules) -> int:
    seeds = np.arange(COMPILED_GAMES, dtype=np.int64)
    return len(play_games(np.full(4, TSUMOGIRI, np.int8), seeds, rule_set(rules)))


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
