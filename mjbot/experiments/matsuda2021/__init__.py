"""Matsuda and Ito 2021, repeated; see :mod:`mjbot.experiments.matsuda2021.experiment`."""
