"""Plays a tonpu game with mirrors; prints what came of it.  Started by test_interpreted.py."""

import hashlib
from dataclasses import dataclass

from mjbot.game.referee import Referee
from mjbot.game.rules.acceptance import count_tiles, shanten_and_acceptance
from mjbot.play.startup.warm_up import NAMES, SEED, play_with_mirrors
from mjbot.protocol.tiles import tile_kind
from mjbot.runtime.compiler.mode import IS_INTERPRETED
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


def main():
    players = [Keeper(), Keeper(calls=True), Keeper(), Keeper(calls=True)]
    for seat, player in enumerate(players):
        player.start_game(seat, NAMES)
    referee = Referee(SEED, "tonpu")
    play_with_mirrors(players, referee)
    asked = [player.asked.hexdigest() for player in players]
    print("interpreted" if IS_INTERPRETED else "compiled")
    print(
        referee.state["scores"].tolist(), asked, hashlib.sha256(referee.state.tobytes()).hexdigest()
    )


if __name__ == "__main__":
    main()
