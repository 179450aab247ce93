"""Tables in a browser: recorded games, games that are being played, and a seat for a person.

Python folds the events into boards (:mod:`mjbot.viewer.drawing.board_data`); the page draws them
and contains no rules.
"""
