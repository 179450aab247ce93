"""What a strategy is: a pure choice among the legal actions it is given.

A strategy sees a :class:`~mjbot.table.view.View` and returns one of ``view.legal``.  Subclass
:class:`Strategy`, say the thesis in the docstring's first line, keep weights as dataclass
fields with units, and write :meth:`Strategy.decide` as an order of priorities::

    @dataclass
    class Cautious(Strategy):
        \"\"\"Discards what it drew and never calls.\"\"\"

        def decide(self, view: View) -> Action:
            return view.default_action

What it thinks of a choice, ``mjbot explain`` asks :meth:`Strategy.explain`: the choice, and a
table of what its discards are worth if :meth:`Strategy.discard_worths` tells.  Override the
latter where discards are rated, the former where there is more to tell.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from mjbot.table.actions import DECLARE_RIICHI, WANTS_ALL, Action
from mjbot.table.view import View
from protocol.tiles import TILE_NAMES

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


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
        """Tell what it thinks of a choice, as lines or rich tables.

        By default what it chooses, and its discards by their worth if it has told that.
        """
        choice = self.decide(view)
        yield f"{type(self).__name__}: {choice}"
        tiles = {action.tile for action in view.legal if action.code < DECLARE_RIICHI}
        worths = self.discard_worths(view) if len(tiles) > 1 else None
        if worths is not None:
            yield _discard_table(sorted(tiles), worths, choice)

    def discard_worths(self, view: View) -> "Sequence[float] | None":
        """Return what discarding each tile (0..36) is worth, in units of its own.

        Asked only where it may discard.  ``None``, the default: it does not rate discards.
        """
        return None

    def start_game(self, seat: int, names: tuple[str, ...]) -> None:
        """Take note of the seat (0..3) and of the players' names; nothing by default."""

    def start_kyoku(self, view: View) -> None:
        """Take note that a kyoku was dealt; nothing by default."""


def _discard_table(tiles: Iterable[int], worths: "Sequence[float]", choice: Action) -> "Table":
    """Return the discards, best first; the chosen one is marked."""
    from rich.table import Table

    table = Table("discard", "worth", "")
    table.columns[1].justify = "right"
    for tile in sorted(tiles, key=lambda tile: (-worths[tile], tile)):
        chosen = choice.code < DECLARE_RIICHI and choice.tile == tile
        table.add_row(TILE_NAMES[tile], f"{float(worths[tile]):.6g}", "chosen" if chosen else "")
    return table
