"""A game in which external AIs sit beside our own strategies."""

from collections.abc import Mapping, Sequence
from typing import Final

from mjbot.arena.count_events import EventCounter
from mjbot.arena.counts import Counts
from mjbot.arena.foreign import Foreigner, ForeignError
from mjbot.arena.guard import Fault, Guard
from mjbot.blame import FaultKind
from mjbot.referee import Referee
from mjbot.server.core import Answer, OnFault, Say, TableCore
from protocol.messages import Event, StartKyoku

EXCUSED: Final = Answer(excused=True)


class MixedGame:
    """One game, told event by event as a table server does (:mod:`mjbot.server.core`).

    Each seat has a guard or a foreigner; foreigners must answer within ``limit_s`` (0: no limit).
    """

    def __init__(
        self, guards: Mapping[int, Guard], foreigners: Mapping[int, Foreigner], limit_s: float
    ) -> None:
        self._guards: Final = guards
        self._foreigners: Final = foreigners
        self._limit_s: Final = limit_s
        self._present: Final = set(foreigners)
        self._decisions: Final = dict.fromkeys(foreigners, 0)
        self._state = b""
        self.faults: Final[list[Fault]] = []
        self.events: Final[list[Event]] = []

    def play(self, referee: Referee, names: Sequence[str]) -> Counts:
        """Play to the end and return what was counted; the foreigners' lines are closed."""
        for seat, foreigner in self._foreigners.items():
            try:
                foreigner.sit_down()
            except ForeignError as error:
                self._lose(seat, error)
        core = TableCore(referee, tuple(names), OnFault.DEFAULT)
        counter = EventCounter()
        known = 0
        while (say := core.next()) is not None:
            if say.is_final:
                self._part(say)
                continue
            core.answer(self._answer(say))
            for fault in core.faults[known:]:
                self._blame("illegal", fault.seat, fault.text)
            known = len(core.faults)
            for line in core.drain_log():
                counter.add(line.event)
                self.events.append(line.event)
        self.events.extend(line.event for line in core.drain_log())
        return counter.counts

    def _answer(self, say: Say) -> Answer:
        if say.seat in self._foreigners:
            return self._foreign_answer(say)
        guard = self._guards[say.seat]
        if isinstance(say.message, StartKyoku):
            guard.start_kyoku(say.referee.view(say.seat))
        return Answer(action=guard.decide(say.referee.view(say.seat))) if say.legal else Answer()

    def _foreign_answer(self, say: Say) -> Answer:
        if say.legal:
            self._decisions[say.seat] += 1
        if say.seat not in self._present:
            return EXCUSED
        self._state = say.referee.view(say.seat).state.tobytes()
        try:
            return self._foreigners[say.seat].exchange(say.message, self._limit_s)
        except ForeignError as error:
            self._lose(say.seat, error)
            return EXCUSED

    def _lose(self, seat: int, error: ForeignError) -> None:
        """An external AI has no part in the rest of the game: the default actions play on."""
        self._present.discard(seat)
        self._foreigners[seat].get_up(None)
        self._blame(error.kind, seat, str(error))

    def _blame(self, kind: FaultKind, seat: int, problem: str) -> None:
        decision = self._decisions.get(seat, 0)
        self.faults.append(Fault(kind, seat, decision, problem, state=self._state))

    def _part(self, say: Say) -> None:
        if say.seat in self._present:
            self._foreigners[say.seat].get_up(say.message)
