"""What a strategy is: a pure choice among the legal actions it is given.

A strategy sees a :class:`~mjbot.table.view.View` and returns one of ``view.legal``.  Subclass
:class:`Strategy`, say the thesis in the docstring's first line, keep weights as dataclass
fields with units, and write :meth:`Strategy.decide` as an order of priorities::

    @dataclass
    class Cautious(Strategy):
        \"\"\"Discards what it drew and never calls.\"\"\"

        def decide(self, view: View) -> Action:
            return view.default_action

What it thinks of a choice, :meth:`Strategy.explain` tells as data: the choice, and what its
discards are worth if :meth:`Strategy.discard_worths` tells (riichi, if
:meth:`Strategy.riichi_worths` does; what a worth is made of, if :meth:`Strategy.worth_terms` does).
Override these where choices are rated, ``explain`` where there is more to tell.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar

from mjbot.strategy.explanation import Explanation, Rated
from mjbot.table.actions import WANTS_ALL, Action
from mjbot.table.view import View
from protocol.tiles import N_TILES


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

    def explain(self, view: View) -> Explanation:
        """Tell what it thinks of a choice.

        By default what it chooses, and its discards by their worth if it has told that.
        """
        choice = self.decide(view)
        if len({action.tile for action in view.discards}) < 2:
            return Explanation(choice)
        worths = self.discard_worths(view)
        if worths is None:
            told = "It does not rate its discards: a method discard_worths(view) would."
            return Explanation(choice, notes=(told,))
        chosen = choice.tile if choice.is_discard else -1
        rated = [*_rated(view, worths, self.worth_terms(view, in_riichi=False), chosen)]
        riichi = next((action for action in view.legal if action.is_riichi), None)
        worths = self.riichi_worths(view) if riichi else None
        if worths is not None:  # to choose riichi is to choose the best
            chosen = max(range(N_TILES), key=worths.__getitem__) if choice.is_riichi else -1
            terms = self.worth_terms(view, in_riichi=True)
            rated += _rated(view, worths, terms, chosen, riichi)
        return Explanation(choice, self.worth_unit, rated)

    def discard_worths(self, view: View) -> Sequence[float] | None:
        """Return what discarding each tile (0..36) is worth, in ``worth_unit``.

        Asked only where it may discard.  ``None``, the default: it does not rate discards.
        """
        return None

    def riichi_worths(self, view: View) -> Sequence[float] | None:
        """Return what declaring riichi with each discard (0..36) is worth, in ``worth_unit``.

        Asked only where it may declare; -inf for tiles with which it cannot.  ``None``, the
        default: it does not rate riichi.
        """
        return None

    def worth_terms(self, view: View, in_riichi: bool) -> Mapping[str, Sequence[float]]:
        """Return what the worths of each discard (0..36), or riichi with it, are made of, by name.

        Asked after ``discard_worths`` or ``riichi_worths``; nothing by default.
        """
        return {}

    def start_game(self, seat: int, names: tuple[str, ...]) -> None:
        """Take note of the seat (0..3) and of the players' names; nothing by default."""

    def start_kyoku(self, view: View) -> None:
        """Take note that a kyoku was dealt; nothing by default."""


def _rated(
    view: View,
    worths: Sequence[float],
    terms: Mapping[str, Sequence[float]],
    chosen: int,
    riichi: Action | None = None,
) -> Iterator[Rated]:
    """Yield each different discard, or riichi with it where that can be; ``chosen`` is a tile."""
    for tile, discard in sorted({action.tile: action for action in view.discards}.items()):
        parts = {name: float(part[tile]) for name, part in terms.items()}
        worth, is_chosen = float(worths[tile]), tile == chosen
        if riichi is None:
            yield Rated(discard, worth, is_chosen, terms=parts)
        elif isfinite(worth):
            yield Rated(riichi, worth, is_chosen, discard, parts)
