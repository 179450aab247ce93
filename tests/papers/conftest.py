"""Positions for seat 0, and games of our own to learn from."""

from tests.learning.training.conftest import other_games, own_games, record_games
from tests.strategies.conftest import position_builder

__all__ = ["other_games", "own_games", "position_builder", "record_games"]
