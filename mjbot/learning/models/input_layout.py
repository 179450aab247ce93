"""The input of a network as a record: named groups of numbers, one behind the other.

Where a group begins and what a number is called is written once, here and in the layouts.
"""

from collections.abc import Iterable
from itertools import accumulate
from typing import Final

SEATS: Final = ("right", "across", "left")
"""The opponents, in turn order from the own seat on."""


class InputLayout:
    """Groups of named numbers.

    >>> layout = InputLayout(clock=("wall left", "honba"), dealer=("is dealer",))
    >>> layout.first("dealer"), layout.size, layout.names
    (2, 3, ('wall left', 'honba', 'is dealer'))
    """

    def __init__(self, **groups: Iterable[str]) -> None:
        self.groups: Final = {group: tuple(names) for group, names in groups.items()}
        sizes = map(len, self.groups.values())
        self._firsts: Final = dict(zip(groups, accumulate(sizes, initial=0), strict=False))
        self.names: Final = tuple(name for names in self.groups.values() for name in names)
        self.size: Final = len(self.names)

    def first(self, group: str) -> int:
        """Return the index of the first number of a group."""
        return self._firsts[group]


def headed(heads: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the same numbers for several heads, one head after the other.

    >>> headed(("pon", "chi"), ("danger",))
    ('pon: danger', 'chi: danger')
    """
    parts = tuple(names)
    return tuple(f"{head}: {part}" for head in heads for part in parts)
