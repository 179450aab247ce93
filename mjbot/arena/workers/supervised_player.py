"""A player that cannot spoil a game: whatever its strategy does, a legal action comes out."""

import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from time import process_time_ns
from types import MappingProxyType
from typing import Any, Final

from mjbot.arena.decision_times import TimeCounts, count_time
from mjbot.arena.workers.clock import Clock, DeadlineError
from mjbot.game.table.actions import Action
from mjbot.game.table.view import Sealed, View
from mjbot.strategy.faults import NO_ANSWER, Fault, FaultKind, accepted, error_summary
from mjbot.strategy.strategy import Strategy, remark_on

FULL_FAULTS: Final = 5
"""Of so many faults of a seat in a game the table's record and the trace are kept."""

Passing = tuple[type[BaseException], ...]

NO_FAULTS: Final[Mapping[int, Fault]] = MappingProxyType({})


class SupervisedPlayer:
    """Asks ``strategy``, but gives up on it for one decision where that goes wrong.

    ``fatal`` has the decisions at which the strategy is known to end or block the whole process:
    there it is not even asked.  ``report`` receives the first fault as soon as it happens, and
    ``on_remark``, if set, the strategy's remarks.
    """

    def __init__(
        self,
        strategy: Strategy,
        seat: int,
        clock: Clock,
        fatal: Mapping[int, Fault] = NO_FAULTS,
        report: Callable[[Fault], None] = lambda _: None,
    ) -> None:
        self.strategy = strategy
        self.decides: Final = strategy.decides
        self.seat: Final = seat
        self.decisions = 0
        self.passing: Passing = ()
        """What is no fault of the strategy's if it comes out of it."""

        self.times: TimeCounts | None = None
        """The cost of its decisions, if requested."""

        self.faults: Final[list[Fault]] = []
        self.on_remark: Callable[[int, str], None] | None = None
        self._remark = ""
        self._clock: Final = clock
        self._fatal: Final = fatal
        self._report: Final = report
        self._sealed: Final = Sealed()

    def start_game(self, seat: int, names: tuple[str, ...]) -> None:
        """Pass it on."""
        self._attempt(lambda _: self.strategy.start_game(seat, names), None, 0)

    def start_kyoku(self, view: View) -> None:
        """Pass it on."""
        self._attempt(self.strategy.start_kyoku, self._sealed.view(view), 0)

    def decide(self, view: View) -> Action:
        """Return what the strategy chooses, if it does and may; else the default action."""
        self.decisions += 1
        sealed = self._sealed.view(view)
        if self.decisions in self._fatal:
            known = self._fatal[self.decisions]
            self.faults.append(replace(known, state=sealed.state.tobytes()))
            return view.default_action
        codes = sealed.codes
        self._remark = ""
        choice = self._attempt(self._choose, sealed, self.decisions)

        def report(problem: str) -> None:
            self._record_fault("illegal", self.decisions, problem, sealed)

        action = accepted(choice, codes, report)
        if action is None:
            return view.default_action
        if self._remark and self.on_remark is not None:
            self.on_remark(self.seat, self._remark)
        return action

    def _choose(self, view: View) -> Action:
        if self.times is None and self.on_remark is None:
            return self.strategy.decide(view)
        began_ns = process_time_ns()
        try:
            action = self.strategy.decide(view)
        finally:
            if self.times is not None:
                count_time(self.times, process_time_ns() - began_ns)
        if self.on_remark is not None:
            self._remark = remark_on(self.strategy)
        return action

    def _attempt(self, job: Callable[[Any], Any], view: View | None, decision: int) -> Any:
        """Return what the job makes of the view, :data:`NO_ANSWER` and a fault if it cannot."""
        try:
            try:
                self._clock.start(self.seat, decision)
                return job(view)
            finally:
                self._clock.stop()  # the last tick may come as late as here
        except DeadlineError as late:
            self._record_fault("late", decision, str(late), view)
        except self.passing:
            raise
        except BaseException as error:  # a strategy may raise anything, KeyboardInterrupt, too
            summary = error_summary(error, self.strategy)
            self._record_fault("crash", decision, summary, view, traceback.format_exc())
        return NO_ANSWER

    def _record_fault(
        self, kind: FaultKind, decision: int, problem: str, view: View | None, trace: str = ""
    ) -> None:
        if len(self.faults) >= FULL_FAULTS:
            self.faults.append(Fault(kind, self.seat, decision, problem))
            return
        state = view.state.tobytes() if view else b""
        self.faults.append(Fault(kind, self.seat, decision, problem, trace, state))
        if len(self.faults) == 1:
            self._report(self.faults[0])
