"""What a strategy is: a pure choice among the legal actions it is given.

A strategy sees a :class:`~mjbot.table.view.View` and returns one of ``view.legal``.  Subclass
:class:`Strategy`, say the thesis in the docstring's first line, keep weights as dataclass
fields with units, and write :meth:`Strategy.decide` as an order of priorities::

    @dataclass
    class Cautious(Strategy):
        \"\"\"Discards what it drew and never calls.\"\"\"

        def decide(self, view: View) -> Action:
            return view.default_action
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from mjbot.table.actions import WANTS_ALL, Action
from mjbot.table.view import View

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass
class Strategy:
    """Base of all strategies; one instance plays one seat of one game.

    Bulk play does not ask a strategy about choices that it does not want (the flags WANTS_... of
    :mod:`mjbot.table.actions`) but takes its default action: ``decide`` must do the same.
    """

    wants: ClassVar[int] = WANTS_ALL

    def decide(self, view: View) -> Action:
        """Return one of ``view.legal``.  Called only when there is a choice to make."""
        raise NotImplementedError

    def explain(self, view: View) -> "Iterable[RenderableType]":
        """Tell what it thinks of a choice, as lines or rich tables; by default what it chooses."""
        yield f"{type(self).__name__}: {self.decide(view)}"

    def start_game(self, seat: int, names: tuple[str, ...]) -> None:
        """Take note of the seat (0..3) and of the players' names; nothing by default."""

    def start_kyoku(self, view: View) -> None:
        """Take note that a kyoku was dealt; nothing by default."""
