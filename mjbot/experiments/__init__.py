"""Experiments of the papers, repeated; ``mjbot experiment NAME`` runs one.

What an experiment is, and how a new one is found: :mod:`mjbot.experiments.contract`.
"""
