"""Strategies that no match may pass over in silence."""

from mjbot.strategy.strategy import Strategy


class Raises(Strategy):
    def decide(self, view):
        return 1 // (view.turn - view.turn)


class Nothing(Strategy):
    def decide(self, view):
        return None


class Words(Strategy):
    def start_kyoku(self, view):
        raise KeyError("plan")

    def decide(self, view):
        return "discard 5m"
