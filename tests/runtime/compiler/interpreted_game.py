"""Plays a game and prints what came of it.  Started by test_interpreted.py.

Without arguments a tonpu game with mirrors is played; else the first ``N`` decisions of one with
four players ``NAME``.
"""

import contextlib
import hashlib
import sys
from dataclasses import dataclass

from mjbot.game.referee import Referee
from mjbot.game.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.play.startup.warm_up import NAMES, SEED, play_with_mirrors
from mjbot.protocol.tiles import tile_kind
from mjbot.runtime.compiler.mode import IS_INTERPRETED
from mjbot.strategy.registry import Spec
from mjbot.strategy.strategy import Strategy


@dataclass
class Keeper(Strategy):
    """Keeps the hand nearest to tenpai; wins, declares riichi and, if it ``calls``, calls."""

    calls: bool = False

    def __post_init__(self):
        self.asked = hashlib.sha256()

    def decide(self, view):
        self.asked.update(repr([str(action) for action in view.legal]).encode())

        def cost(action):
            if action.name in ("tsumo", "ron", "riichi"):
                return -9.0
            if action.name != "discard":
                return -8.0 if self.calls and action.name != "pass" else 8.0
            left = view.hand.copy()
            left[tile_kind(action.tile)] -= 1
            shanten, wanted = shanten_and_acceptance(left, view.n_melds)
            return shanten - count_tiles(wanted, view.unseen) / 1000

        return min(view.legal, key=cost)


class EnoughError(BaseException):
    """So many decisions were made."""


def play_mirrored():
    players = [Keeper(), Keeper(calls=True), Keeper(), Keeper(calls=True)]
    for seat, player in enumerate(players):
        player.start_game(seat, NAMES)
    referee = Referee(SEED, "tonpu")
    play_with_mirrors(players, referee)
    asked = [player.asked.hexdigest() for player in players]
    print(
        referee.state["scores"].tolist(), asked, hashlib.sha256(referee.state.tobytes()).hexdigest()
    )


def play_first(name, most):
    """Print the decisions and a digest of the table after them."""
    players = [Spec.read(name).make(seat) for seat in range(4)]
    decided = []

    def watched(player):
        decide = player.decide

        def decide_and_note(view):
            if len(decided) == most:
                raise EnoughError
            choice = decide(view)
            decided.append(str(choice))
            return choice

        return decide_and_note

    for seat, player in enumerate(players):
        player.start_game(seat, NAMES)
        player.decide = watched(player)
    referee = Referee(SEED, "tonpu")
    with contextlib.suppress(EnoughError):
        referee.play(players)
    print(len(decided), hashlib.sha256(referee.state.tobytes()).hexdigest(), *decided)


def main():
    print("interpreted" if IS_INTERPRETED else "compiled")
    if sys.argv[1:]:
        play_first(sys.argv[1], int(sys.argv[2]))
    else:
        play_mirrored()


if __name__ == "__main__":
    main()
