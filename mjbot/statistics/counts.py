"""What is counted of a game: one record per seat, filled in when a kyoku ends.

Everything the figures need is a sum over kyoku, so a game is four records and its final scores.
:func:`count_kyoku` counts from the state; :class:`EventCounter` the same from events, for games
that somebody else's table plays, and as a check.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled
from mjbot.compiler.record import Int32, Int32s, Record
from mjbot.referee.step import Outcome, Wins
from mjbot.table.settle import Payment
from mjbot.table.state import EXHAUSTIVE, NAGASHI, NO_DRAW, NO_RIICHI, State
from protocol import messages as m


class SeatCounts(Record, align=False):
    """What is counted of one seat."""

    kyoku: Int32
    wins: Int32
    win_points: Int32  # hand values, without honba and sticks
    win_turns: Int32  # own discards before the wins, and the winning draws
    deal_ins: Int32  # kyoku in which somebody won on this seat's tile
    deal_in_points: Int32  # hand values of those wins
    fed: Annotated[Int32s, 4]  # wins on this seat's tiles, by winner
    riichi: Int32  # declared, even if the declaring tile was won
    calls: Int32  # kyoku in which the hand was opened
    no_win: Int32  # kyoku that ended without a win
    draws: Int32  # of these, those in which the wall ran out
    tenpai: Int32  # of these, those in which this seat was tenpai


COUNTS: Final = SeatCounts.dtype

COLUMNS: Final = tuple(
    column
    for name in COUNTS.names or ()
    for column in ([f"fed_{seat}" for seat in range(4)] if name == "fed" else [name])
)
"""The fields with ``fed`` spread out, as :func:`as_rows` has them."""

Counts = NDArray[Any]
"""Four records of :data:`COUNTS`, one per seat."""


def no_counts() -> Counts:
    """Return four empty records."""
    return np.zeros(4, COUNTS)


def as_rows(counts: Counts) -> tuple[tuple[int, ...], ...]:
    """Return the records as four rows of plain numbers (:data:`COLUMNS`)."""
    return tuple(map(tuple, counts.view(np.int32).reshape(4, len(COLUMNS)).tolist()))


def from_rows(rows: Sequence[Sequence[int]]) -> Counts:
    """Return the records that :func:`as_rows` was given.

    >>> from_rows(as_rows(no_counts())) == no_counts()
    array([ True,  True,  True,  True])
    """
    return np.array(rows, np.int32).view(COUNTS).reshape(4)


@compiled
def count_kyoku(state: State, outcome: Outcome, wins: Wins, counts: Counts) -> None:
    """Add a kyoku that has just been paid (phase WON or DRAWN) to four records."""
    for seat in range(4):
        seen = counts[seat]
        seen.kyoku += 1
        seen.riichi += state.riichi[seat] != NO_RIICHI
        seen.calls += state.is_open[seat] != 0
        seen.no_win += outcome.reason != NO_DRAW
        if outcome.reason == EXHAUSTIVE or outcome.reason == NAGASHI:
            seen.draws += 1
            seen.tenpai += outcome.tenpai[seat] != 0
    if outcome.reason == NO_DRAW:
        for place in range(outcome.n_wins):
            _count_win(state, int(outcome.target), wins[place], counts)
        counts[outcome.target].deal_ins += outcome.target != wins[0].winner


@compiled
def _count_win(state: State, target: int, win: Payment, counts: Counts) -> None:
    by_draw = target == win.winner
    seen = counts[win.winner]
    seen.wins += 1
    seen.win_points += win.points
    seen.win_turns += state.n_river[win.winner] + by_draw
    if not by_draw:
        counts[target].deal_in_points += win.points
        counts[target].fed[win.winner] += 1


EXHAUSTIVE_REASONS: Final = ("fanpai", "nagashimangan")


class EventCounter:
    """Takes the unmasked events of one game; :attr:`counts` are valid after each kyoku."""

    def __init__(self) -> None:
        self.counts: Final[Counts] = no_counts()
        self._riichi: set[int] = set()
        self._open: set[int] = set()
        self._discards = [0, 0, 0, 0]
        self._wins: list[m.Hora] = []

    def add(self, event: m.Event) -> None:
        """Take in one event."""
        match event:
            case m.StartKyoku():
                self._start_kyoku()
            case m.Dahai():
                self._discards[event.actor] += 1
            case m.Reach():
                self._riichi.add(event.actor)
            case m.Chi() | m.Pon() | m.Daiminkan():
                self._open.add(event.actor)
            case m.Hora():
                self._count_win(event)
            case m.Ryukyoku():
                self._count_draw(event)
            case _:
                pass

    def _start_kyoku(self) -> None:
        self._riichi.clear()
        self._open.clear()
        self._discards = [0, 0, 0, 0]
        self._wins.clear()

    def _count_win(self, event: m.Hora) -> None:
        if not self._wins:
            self._count_end()
        self._wins.append(event)
        winner, by_draw = event.actor, event.actor == event.target
        points = event.hora_points or 0
        self.counts["wins"][winner] += 1
        self.counts["win_points"][winner] += points
        self.counts["win_turns"][winner] += self._discards[winner] + by_draw
        if not by_draw:
            self.counts["deal_ins"][event.target] += len(self._wins) == 1
            self.counts["deal_in_points"][event.target] += points
            self.counts["fed"][event.target][winner] += 1

    def _count_draw(self, event: m.Ryukyoku) -> None:
        self._count_end()
        self.counts["no_win"] += 1
        if event.reason in EXHAUSTIVE_REASONS:
            self.counts["draws"] += 1
            self.counts["tenpai"] += [bool(flag) for flag in event.tenpais or (False,) * 4]

    def _count_end(self) -> None:
        self.counts["kyoku"] += 1
        self.counts["riichi"][list(self._riichi)] += 1
        self.counts["calls"][list(self._open)] += 1
