"""Trying actions out by playing the kyoku on: collusion-mc."""
