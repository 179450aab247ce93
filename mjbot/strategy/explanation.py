"""What a strategy thinks of a choice, as data; ``mjbot explain`` shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mjbot.table.actions import Action


@dataclass(frozen=True, slots=True)
class Rated:
    """Something that may be chosen, and its worth in the explanation's unit.

    ``then`` is the discard that would follow a riichi or a call.  A worth of ``-inf``: given up
    before its worth was known.  ``terms`` are what the worth is made of, by name.
    """

    action: Action
    worth: float
    is_chosen: bool = False
    then: Action | None = None
    terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataTable:
    """Anything else that is told in rows; ``marked`` are the places of those that stand out."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | int | float]]
    marked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a strategy chooses at a moment, and why.

    ``unit`` is what the worths of ``rated`` are counted in, such as "points".  What is not in
    ``rated`` was not rated.
    """

    choice: Action
    unit: str = ""
    rated: Sequence[Rated] = ()
    notes: Sequence[str] = ()
    tables: Sequence[DataTable] = ()
