"""Numbers and times as arguments: what a text must be.

A type's ``ArgumentTypeError`` becomes the one line with which a command or a profile refuses.
"""

import argparse


def games(text: str) -> int:
    """Return a number of games, or 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of games, or 0")
    return int(text)


def count(text: str) -> int:
    """Return a whole number above 0."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number above 0, such as 8")
    return int(text)


def seconds(text: str) -> float:
    """Return a time in seconds, above 0 and finite."""
    try:
        time_s = float(text)
    except ValueError:
        time_s = 0.0
    if not 0 < time_s < 1e6:  # neither is nan
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of seconds above 0")
    return time_s


def patience(text: str) -> float:
    """Return a time in seconds, or 0."""
    try:
        return 0.0 if float(text) == 0 else seconds(text)
    except (ValueError, argparse.ArgumentTypeError):
        problem = f"{text!r}: expected a number of seconds, 0 or more"
        raise argparse.ArgumentTypeError(problem) from None


def port(text: str) -> int:
    """Return a TCP port, or 0."""
    if not (text.isdecimal() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a port, 1 to 65535, or 0 for any")
    return int(text)
