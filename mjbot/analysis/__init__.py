"""Played games: what they say of a player."""
