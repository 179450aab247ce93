"""The papers that mjbot's strategies come from: their experiments, networks and players.

A module with ``SUMMARY``, or the module ``experiment`` of a folder here, is an experiment
(:mod:`mjbot.arena.experiments`); :data:`STRATEGIES` and :data:`TRAINING` name what else a checkout
adds to the commands.  Nothing that is installed imports from here.
"""

from typing import Final

STRATEGIES: Final = {"supervised-paper": "papers.matsuda2021.supervised_paper"}
"""Modules of strategies that are selected by name."""

TRAINING: Final = {
    "networks-paper": "papers.matsuda2021.commands",
    "reinforce": "papers.matsuda2021.commands",
}
"""Modules with ``KINDS``, each a command ``mjbot train NAME``."""
