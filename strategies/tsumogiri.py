"""A strategy that only ever throws away what it draws."""

from dataclasses import dataclass

from mjbot import Action, Strategy, View


@dataclass
class Tsumogiri(Strategy):
    """Discards what it drew and lets everything else pass: the least that can be played."""

    decides = 0
    players = (3, 4)

    def decide(self, view: View) -> Action:
        """Discard the drawn tile; never win, call or declare anything."""
        return view.default_action
