"""Positions for seat 0."""

from tests.strategies.conftest import position_builder

__all__ = ["position_builder"]
