"""Arguments of public functions: what is no whole number, no text or out of range is refused.

A wrong type is a ``TypeError``, a wrong value an :class:`~mjbot.runtime.errors.ArgumentError`,
which is a ``ValueError``; both name the argument in one line.
"""

import operator
import os
import reprlib
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.runtime.errors import ArgumentError

INT64: Final = range(-(2**63), 2**63)
SEEDS: Final = range(2**63)
"""Seeds of walls and of random numbers."""


def shown(value: object) -> str:
    """Return a value as an error message shows it: one short line.

    >>> shown("no"), shown(list(range(100)))
    ("'no'", '[0, 1, 2, 3, 4, 5, ...]')
    """
    try:
        text = reprlib.repr(value)
    except ValueError:  # a number of more digits than Python prints
        text = f"a value of type {type(value).__name__}"
    return " ".join(text.split())


def type_error(name: str, expected: str, value: object) -> TypeError:
    """Return the error for an argument of another type; ``expected`` has an article."""
    return TypeError(f"{name} must be {expected}, not {shown(value)}")


def whole_number(name: str, value: object, allowed: range = INT64) -> int:
    """Return a whole number within a range of step 1; numpy's integers are taken, flags are not.

    >>> whole_number("seat", np.int8(3), range(4))
    3
    """
    if isinstance(value, bool | np.bool_):
        raise type_error(name, "a whole number", value)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise type_error(name, "a whole number", value) from None
    if number not in allowed:
        raise ArgumentError(
            f"{name} must be {allowed.start} to {allowed.stop - 1}, not {shown(number)}"
        )
    return number


def flag(name: str, value: object) -> bool:
    """Return True or False; what Python takes for either, such as "no", is refused."""
    if not isinstance(value, bool | np.bool_):
        raise type_error(name, "True or False", value)
    return bool(value)


def text(name: str, value: object) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise type_error(name, "a text", value)
    return value


def path_of(value: object, name: str = "path") -> Path:
    """Return a path, also of one that is a text."""
    if not isinstance(value, str | PathLike):
        raise type_error(name, "a path", value)
    path = os.fspath(value)
    if not isinstance(path, str) or not path or "\0" in path:
        raise ArgumentError(f"{name} must be the path of a file or folder, not {shown(value)}")
    return Path(path)


def whole_numbers(name: str, value: object) -> NDArray[Any]:
    """Return an array of whole numbers; numpy alone would cut 1.5 down to 1 and read "1" as 1."""
    try:
        given = np.asarray(value)
    except (ValueError, TypeError, OverflowError):  # rows of different lengths
        raise type_error(name, "an array of whole numbers", value) from None
    if given.dtype.kind not in "iu" and given.size:
        raise type_error(name, "an array of whole numbers", value)
    return given


def tile_counts(name: str, value: object, most: int) -> NDArray[np.int8]:
    """Return counts by kind, int8[34], each 0 to ``most``; other integer types are converted."""
    given = whole_numbers(name, value)
    if given.shape != (34,):
        raise ArgumentError(f"{name} must be counts of the 34 kinds, not of shape {given.shape}")
    if given.min() < 0 or given.max() > most:
        wrong = int(np.flatnonzero((given < 0) | (given > most))[0])
        raise ArgumentError(
            f"{name}: {given[wrong]} tiles of kind {wrong}; expected 0 to {most} of a kind"
        )
    return np.ascontiguousarray(given, np.int8)
