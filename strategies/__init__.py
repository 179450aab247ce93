"""Strategies: every module directly in here is one that can play."""
