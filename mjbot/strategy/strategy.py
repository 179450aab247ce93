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
table of what its discards are worth if :meth:`Strategy.discard_worths` tells (and riichi, if
:meth:`Strategy.riichi_worths` does).  Override these where choices are rated, ``explain`` where
there is more to tell.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
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

    worth_unit: ClassVar[str] = ""
    """What ``discard_worths`` counts in, such as "points": the head of the table says it."""

    def decide(self, view: View) -> Action:
        """Return one of ``view.legal``.  Called only when there is a choice to make."""
        raise NotImplementedError

    def explain(self, view: View) -> "Iterable[RenderableType]":
        """Tell what it thinks of a choice, as lines or rich tables.

        By default what it chooses, and its discards by their worth if it has told that.
        """
        choice = self.decide(view)
        yield f"{type(self).__name__}: {choice}"
        tiles = sorted({action.tile for action in view.legal if action.code < DECLARE_RIICHI})
        if len(tiles) < 2:
            return
        worths = self.discard_worths(view)
        if worths is None:
            yield "It does not rate its discards: a method discard_worths(view) would."
            return
        rows = [(TILE_NAMES[tile], worths[tile], _is_discard(choice, tile)) for tile in tiles]
        rows += self._riichi_rows(view, tiles, choice)
        yield _worth_table(rows, self.worth_unit)

    def discard_worths(self, view: View) -> "Sequence[float] | None":
        """Return what discarding each tile (0..36) is worth, in ``worth_unit``.

        Asked only where it may discard.  ``None``, the default: it does not rate discards.
        """
        return None

    def riichi_worths(self, view: View) -> "Sequence[float] | None":
        """Return what declaring riichi with each discard (0..36) is worth, in ``worth_unit``.

        Asked only where it may declare; -inf for tiles with which it cannot.  ``None``, the
        default: it does not rate riichi.
        """
        return None

    def _riichi_rows(self, view: View, tiles: Sequence[int], choice: Action) -> "list[_Row]":
        """Return a row for each riichi that it rates; to choose riichi is to choose the best."""
        is_legal = any(action.code == DECLARE_RIICHI for action in view.legal)
        worths = self.riichi_worths(view) if is_legal else None
        if worths is None:
            return []
        able = [tile for tile in tiles if isfinite(worths[tile])]
        best = max(able, key=lambda tile: worths[tile], default=-1)
        chosen = best if choice.code == DECLARE_RIICHI else -1
        return [(f"riichi, {TILE_NAMES[tile]}", worths[tile], tile == chosen) for tile in able]

    def start_game(self, seat: int, names: tuple[str, ...]) -> None:
        """Take note of the seat (0..3) and of the players' names; nothing by default."""

    def start_kyoku(self, view: View) -> None:
        """Take note that a kyoku was dealt; nothing by default."""


_Row = tuple[str, float, bool]
"""What may be chosen, its worth, whether it is chosen."""


def _is_discard(choice: Action, tile: int) -> bool:
    return choice.code < DECLARE_RIICHI and choice.tile == tile


def _worth_table(rows: "Iterable[_Row]", unit: str) -> "Table":
    """Return what was rated, best first; the chosen one is marked."""
    from rich.table import Table

    table = Table("discard", f"worth, {unit}" if unit else "worth", "")
    table.columns[1].justify = "right"
    for label, worth, is_chosen in sorted(rows, key=lambda row: -row[1]):
        table.add_row(label, f"{float(worth):.6g}", "chosen" if is_chosen else "")
    return table
