"""Experiments of the papers, repeated in the arena; ``mjbot experiment NAME`` runs one.

An experiment is a module here with a ``SUMMARY``, the usual number of ``GAMES`` per strategy, and
three functions: ``setups(seed)`` returns its runs by name, ``walls_for(games)`` how many walls
they take, ``report(outcomes)`` what came of them as lines of Markdown.
"""
