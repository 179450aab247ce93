"""What a strategy is, how it is found, given options and supervised."""

from mjbot.strategy.strategy import Strategy

__all__ = ["Strategy"]
