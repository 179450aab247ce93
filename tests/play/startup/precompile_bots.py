"""Strategies that go wrong before the first game."""

import os

from mjbot.strategy.strategy import Strategy


class Demanding(Strategy):
    """Cannot be made without an argument."""

    def __init__(self, depth):
        self.depth = depth

    def decide(self, view):
        return view.default_action


class Raising(Strategy):
    """Fails at its first decision."""

    def decide(self, view):
        return {}["plan"]


class Leaving(Strategy):
    """Ends its process."""

    def decide(self, view):
        os._exit(7)


class Quiet(Strategy):
    """Plays on."""

    def decide(self, view):
        return view.default_action
