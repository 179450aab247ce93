"""A strategy with a switch."""

from dataclasses import dataclass, field

from mjbot.game.table.actions import RON, TSUMO, Action
from mjbot.game.table.view import View
from mjbot.strategy.strategy import Strategy


@dataclass
class Switchable(Strategy):
    """Throws what it drew, and wins while it is switched on."""

    win: bool = field(default=True, metadata={"unit": "takes wins"})
    points: int = field(default=3, metadata={"unit": "no switch"})

    def decide(self, view: View) -> Action:
        for action in view.legal:
            if self.win and action.code in (TSUMO, RON):
                return action
        return view.default_action
