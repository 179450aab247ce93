"""Tables in a browser: recorded games, games that are being played, and a seat for a person.

One truth: Python folds the events into boards (:mod:`mjbot.watch.board`), the page draws them and
knows no rules.
"""
