"""Experiments of the papers, repeated in the arena."""
