"""What a strategy is: a pure choice among the legal actions it is given.

A strategy sees a :class:`~mjbot.table.view.View` and returns one of ``view.legal``.  Subclass
:class:`Strategy`, say the thesis in the docstring's first line, keep weights as dataclass
fields with units, and write :meth:`Strategy.decide` as an order of priorities::

    @dataclass
    class Cautious(Strategy):
        \"\"\"Discards what it drew and never calls.\"\"\"

        def decide(self, view: View) -> Action:
            return view.default_action

What it thinks of a choice, :meth:`Strategy.explain` tells as data: the choice, and what
:meth:`Strategy.ratings` says of each thing that it weighs.  Override ``ratings`` where choices are
rated, ``explain`` where there is more to tell.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final

from mjbot.strategy.explanation import Explanation, Rated, Strength, mark_chosen
from mjbot.table.actions import WANTS_ALL, Action
from mjbot.table.view import View
from protocol.plain_text import one_line


@dataclass
class Strategy:
    """Base of all strategies; one instance plays one seat of one game.

    Bulk play does not ask a strategy about choices that it does not want (the flags WANTS_... of
    :mod:`mjbot.table.actions`) but takes its default action: ``decide`` must do the same.
    """

    wants: ClassVar[int] = WANTS_ALL

    worth_unit: ClassVar[str] = ""
    """What the worths of ``ratings`` are counted in, such as "points"."""

    strength: ClassVar[Strength | None] = None
    """How strong it was found to be with its defaults; ``review`` says it of a reviewer.

    Of the class itself: what a subclass changes was not measured.
    """

    built_on: ClassVar[tuple[str, ...]] = ()
    """Strategies of ours that this one asks: a first start compiles them beside one another."""

    def decide(self, view: View) -> Action:
        """Return one of ``view.legal``.  Called only when there is a choice to make."""
        raise NotImplementedError

    def explain(self, view: View) -> Explanation:
        """Tell what it thinks of a choice: by default what it chooses, and what it rates."""
        choice = self.decide(view)
        rated = mark_chosen(self.ratings(view), choice)
        silent = not rated and len({action.tile for action in view.discards}) > 1
        told = "It does not rate its choices: add a method ratings(view) to its class."
        return Explanation(choice, self.worth_unit, rated, (told,) if silent else ())

    def ratings(self, view: View) -> Iterable[Rated]:
        """Return what each action that it weighs is worth, in ``worth_unit``, with its terms.

        Nothing by default.  Which one is chosen need not be marked.
        """
        return ()

    def remark(self) -> str:
        """Return what it has to say of its last decision, one line for the game's log.

        Asked after each decision where a log is kept; nothing by default.  The log's readers see
        it, no other player.
        """
        return ""

    def start_game(self, seat: int, names: tuple[str, ...]) -> None:
        """Take note of the seat (0..3) and of the players' names; nothing by default."""

    def start_kyoku(self, view: View) -> None:
        """Take note that a kyoku was dealt; nothing by default."""


LONGEST_REMARK: Final = 1000


def remark_on(strategy: Strategy) -> str:
    """Return what a strategy says of its last decision as a log may hold it: one short line."""
    said: object = strategy.remark()
    return one_line(said, LONGEST_REMARK) if isinstance(said, str) else ""
