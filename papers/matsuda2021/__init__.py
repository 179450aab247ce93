"""Matsuda and Ito 2021, repeated; see :mod:`papers.matsuda2021.experiment`."""
