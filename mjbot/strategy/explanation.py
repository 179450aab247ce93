"""A strategy's evaluation of a choice, as data: ``explain``, ``review`` and ``watch`` read it.

A strategy rates actions (:class:`Rated`) and describes each in terms with a name, a unit and a
direction.  Where a value is a sum, its terms name it (``adds_to``), and they add up within
:data:`ROUNDING`.  The names below mean the same wherever they are used; a strategy may have
others.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite
from typing import Final

from mjbot.game.table.actions import Action
from mjbot.runtime.languages import marked

VALUE: Final = marked("value")
"""As what a term adds to: the value of the action."""
ROUNDING: Final = 1e-6
"""By how much, of a total's size, terms may miss it."""

POINTS: Final = marked("points")
PERCENT: Final = "%"
TILES: Final = marked("tiles")
RANKS: Final = marked("ranks")
STEPS: Final = marked("shanten")

# Parts of a value in points:
WINNING: Final = marked("winning")  # chance to win times the value of a win
# tenpai at a draw, less the dangers of the discards to come:
LATER: Final = marked("later in the kyoku")
STICK: Final = marked("riichi stick")
DEALING_IN: Final = marked("dealing in")  # by this tile, to the opponent it is about
SHAPE: Final = marked("shape")  # what the weight of a hand evaluator adds
PLACEMENT: Final = marked("placement")  # what the rank adds to, or takes from, the plain points
IN_POINTS: Final = marked("in points")  # their sum, where the value has another unit

# What these come from:
CHANCE_TO_WIN: Final = marked("chance to win")
WIN_VALUE: Final = marked("value of a win")
DANGER: Final = marked("danger")  # chance to deal in to the opponent that the term is about
DEAL_IN_COST: Final = marked("cost of a deal-in")
SHANTEN: Final = marked("shanten")
ACCEPTED: Final = marked("tiles accepted")


@dataclass(frozen=True, slots=True)
class Term:
    """A named part of the evaluation of an action.

    ``about`` is the seat (0..3) of the opponent that it concerns, ``adds_to`` the sum that it
    belongs to: :data:`VALUE`, or the name of another term of the same action, or nothing.
    """

    name: str
    unit: str
    value: float
    more_is_better: bool = True
    about: int | None = None
    adds_to: str = ""

    def __post_init__(self) -> None:
        if self.adds_to == "worth":  # its name in version 0.2
            warnings.warn("adds_to='worth' is now 'value'", DeprecationWarning, stacklevel=3)
            object.__setattr__(self, "adds_to", VALUE)

    @property
    def shown_unit(self) -> str:
        """The unit, empty where the name contains it."""
        return "" if self.unit in self.name else self.unit

    @property
    def label(self) -> str:
        """The name, and the unit unless the name contains it.

        >>> Term("danger", "%", 1.0).label, Term("tiles accepted", "tiles", 4.0).label
        ('danger, %', 'tiles accepted')
        """
        return ", ".join(filter(None, [self.name, self.shown_unit]))

    def label_about(self, whom: str) -> str:
        """Return its label with the opponent that it is about after the name.

        >>> Term("danger", "%", 1.0, about=2).label_about("(S)")
        'danger (S), %'
        """
        named = self.name if self.about is None else f"{self.name} {whom}"
        return self.label.replace(self.name, named, 1)


@dataclass(frozen=True, slots=True)
class Rated:
    """An action and its value in the explanation's unit.

    ``then`` is the discard that would follow a riichi or a call.  A value of ``-inf``: dropped
    before its value was known.
    """

    action: Action
    value: float
    is_chosen: bool = False
    then: Action | None = None
    terms: Sequence[Term] = ()

    @property
    def worth(self) -> float:
        """The value, by its name in version 0.2."""
        warnings.warn("Rated.worth is now Rated.value", DeprecationWarning, stacklevel=2)
        return self.value

    def term(self, name: str, about: int | None = None) -> Term | None:
        """Return the term of that name, about that opponent, if there is one."""
        found = (term for term in self.terms if (term.name, term.about) == (name, about))
        return next(found, None)

    def parts(self, of: str = VALUE) -> list[Term]:
        """Return the terms that add up to the value, or to another term."""
        return [term for term in self.terms if term.adds_to == of]


@dataclass(frozen=True, slots=True)
class DataTable:
    """Further rows of an explanation; ``marked`` are the indices of highlighted rows."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | int | float]]
    marked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Explanation:
    """A strategy's choice and its reasons.

    ``unit`` is the unit of the values of ``rated``, such as "points".  Actions that are not in
    ``rated`` were not rated.
    """

    choice: Action
    unit: str = ""
    rated: Sequence[Rated] = ()
    notes: Sequence[str] = ()
    tables: Sequence[DataTable] = ()

    @property
    def best_first(self) -> list[Rated]:
        """What was rated, the best first."""
        return sorted(self.rated, key=lambda each: -each.value)


@dataclass(frozen=True, slots=True)
class Strength:
    """The measured strength of a strategy: its average rank against three of ``rivals``.

    ``half_width`` is half the 95% interval; ``command`` measured it, on ``date``.
    """

    rank: float
    half_width: float
    rivals: str
    command: str
    date: str


NO_DANGER: Final = 0.005
"""Percent below which a danger is shown as 0."""


def columns_of(rated: Sequence[Rated]) -> list[Term]:
    """Return a term for each column of a table of choices: each name and opponent once, in order.

    Opponents that no rated action deals in to have no columns.
    """
    terms = [term for each in rated for term in each.terms]
    feared: dict[int | None, float] = {}
    for term in terms:
        if term.name == DANGER:
            feared[term.about] = max(feared.get(term.about, 0.0), term.value)
    shown = [term for term in terms if feared.get(term.about, NO_DANGER) >= NO_DANGER]
    columns: dict[tuple[str, int | None], Term] = {}
    for term in shown:
        columns.setdefault((term.name, term.about), term)
    return list(columns.values())


TEMPERATURES: Final = {POINTS: 300.0}
"""By unit, of the softmax in :func:`shares_of`; 10 for others.  Tried by hand on a few games."""


def temperature_of(unit: str) -> float:
    """Return the temperature of :func:`shares_of` in a unit."""
    return TEMPERATURES.get(unit, 10.0)


def shares_of(values: Sequence[float], unit: str) -> list[float]:
    """Return the share (0..1) of each value: a percentage itself, else a softmax of the values.

    What was given up has the share 0.

    >>> shares_of([75.0, 25.0], "%"), shares_of([100.0, 100.0, float("-inf")], "points")
    ([0.75, 0.25], [0.5, 0.5, 0.0])
    """
    if unit.startswith(PERCENT):
        return [value / 100 for value in values]
    best = max(values, default=0.0)
    if not isfinite(best):
        return [1 / len(values) for _ in values]
    powers = [exp((value - best) / temperature_of(unit)) for value in values]
    return [power / sum(powers) for power in powers]


def same_choice(one: Action, other: Action) -> bool:
    """Return whether two actions are the same, whichever of equal tiles was just drawn."""
    same = (one.name, one.tile) == (other.name, other.tile)
    return same and (one.red, one.offset) == (other.red, other.offset)


def mark_chosen(rated: Iterable[Rated], choice: Action) -> list[Rated]:
    """Return each thing once, the choice marked; of several that begin with it the best.

    Of equal tiles, of which one was just drawn, that with the greatest value counts.
    """
    once: list[Rated] = []
    for each in sorted(rated, key=lambda it: -it.value):
        if not any(same_choice(each.action, it.action) and each.then == it.then for it in once):
            once.append(each)
    chosen = [place for place, each in enumerate(once) if same_choice(each.action, choice)]
    best = max(chosen, key=lambda place: once[place].value, default=-1)
    return [replace(each, is_chosen=place == best) for place, each in enumerate(once)]
