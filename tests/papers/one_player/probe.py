"""A strategy that checks what it is shown against the game that it is a player of."""

import numpy as np

from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.strategy.strategy import Strategy
from papers.one_player.game import OnePlayerGame

GAMES: list[OnePlayerGame] = []
"""The game under way."""


class Probe(Strategy):
    """Throws what it drew and looks at everything."""

    def decide(self, view: View) -> Action:
        game = GAMES[-1]
        assert np.array_equal(view.hand, game["hand"])
        assert np.array_equal(view.unseen, game["unseen"])
        assert view.drawn == game["drawn"]
        assert view.river(0).tolist() == game["river"][: game["n_draws"] - 1].tolist()
        assert all(len(view.river(seat)) == 0 for seat in (1, 2, 3))
        assert {action.name for action in view.legal} == {"discard"}
        assert sorted({action.tile for action in view.legal}) == np.flatnonzero(view.hand).tolist()
        assert not view.dora.any()
        assert not view.red.any()
        assert view.default_action in view.legal
        return view.default_action


class Kan(Strategy):
    """Wants what it may not have."""

    def decide(self, view: View) -> Action:
        return Action(74, "riichi")
