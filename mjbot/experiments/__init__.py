"""Experiments of the papers, repeated; ``mjbot experiment NAME`` runs one.

What an experiment is: :mod:`mjbot.experiments.request`.
"""
