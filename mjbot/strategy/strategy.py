"""What a strategy is: a pure choice among the legal actions it is given.

A strategy receives a :class:`~mjbot.game.table.view.View` and returns one of ``view.legal``.
Subclass :class:`Strategy`, summarize it in the docstring's first line, keep weights as dataclass
fields with units, and write :meth:`Strategy.decide` as an order of priorities::

    @dataclass
    class Cautious(Strategy):
        \"\"\"Discards what it drew and never calls.\"\"\"

        def decide(self, view: View) -> Action:
            return view.default_action

The evaluation of a choice is data: :meth:`Strategy.explain` returns the choice and what
:meth:`Strategy.ratings` yields for each action.  Override ``ratings`` to rate actions, ``explain``
to add notes and tables.
"""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from mjbot.game.table.actions import DECIDES_ALL, Action
from mjbot.game.table.view import View
from mjbot.protocol.plain_text import one_line
from mjbot.strategy.explanation import Explanation, Rated, Strength, mark_chosen


@dataclass
class Strategy:
    """Base class of all strategies; one instance plays one seat of one game.

    The arena calls ``decide`` only for the choices that ``decides`` selects (flags DECIDES_... of
    :mod:`mjbot.game.table.actions`) and plays the default action for others: ``decide`` must return
    the same there.
    """

    decides: ClassVar[int] = DECIDES_ALL

    value_unit: ClassVar[str] = ""
    """Unit of the values of ``ratings``, such as "points"."""

    strength: ClassVar[Strength | None] = None
    """Measured strength with the default options; ``review`` reports it.

    It applies to the class itself, not to subclasses.
    """

    players: ClassVar[tuple[int, ...]] = (4,)
    """At tables of how many players it can play; for three, what it does with a kita too."""

    built_on: ClassVar[tuple[str, ...]] = ()
    """Strategies that this one uses: a first start compiles them in parallel."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for old, new in (("wants", "decides"), ("worth_unit", "value_unit")):  # of version 0.2
            if old in vars(cls):
                warnings.warn(
                    f"{cls.__name__}.{old} is now {new}", DeprecationWarning, stacklevel=2
                )
                setattr(cls, new, vars(cls)[old])

    def decide(self, view: View) -> Action:
        """Return one of ``view.legal``.  Called only when there is a choice."""
        raise NotImplementedError

    def explain(self, view: View) -> Explanation:
        """Return the choice and its evaluation: by default the choice and the ratings."""
        choice = self.decide(view)
        rated = mark_chosen(self.ratings(view), choice)
        silent = not rated and len({action.tile for action in view.discards}) > 1
        note = "It does not rate its choices: add a method ratings(view) to its class."
        return Explanation(choice, self.value_unit, rated, (note,) if silent else ())

    def ratings(self, view: View) -> Iterable[Rated]:
        """Return the value of each rated action, in ``value_unit``, with its terms.

        Nothing by default.  The chosen one need not be marked.
        """
        return ()

    def remark(self) -> str:
        """Return a note on the last decision, one line for the game's log.

        Called after each decision if a log is kept; empty by default.  The other players do not
        receive it.
        """
        return ""

    def warm_up(self) -> None:
        """Called once before the first game, at most 30 s: the place to load and compile.

        Nothing by default.  The arena, whose games have no clock of their own, does not call it.
        """

    def start_game(self, seat: int, names: tuple[str, ...]) -> None:
        """Called before a game with the seat (0..3) and the players' names."""

    def start_kyoku(self, view: View) -> None:
        """Called after each deal."""


LONGEST_REMARK: Final = 1000


def remark_on(strategy: Strategy) -> str:
    """Return a strategy's remark on its last decision as one short line."""
    remark: object = strategy.remark()
    return one_line(remark, LONGEST_REMARK) if isinstance(remark, str) else ""
