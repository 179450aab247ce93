"""Plays the games of a run in this process: our strategies, external AIs, or both at one table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter_ns
from typing import Any, Final

import msgspec

from mjbot.arena.decision_times import TimeCounts, count_time
from mjbot.arena.run_folder import GameLine, packed
from mjbot.arena.setup import GameId, Setup, labels
from mjbot.arena.workers.clock import Clock, DeadlineError
from mjbot.arena.workers.external_engine import EngineError, ExternalEngine
from mjbot.arena.workers.files_read import FileRead
from mjbot.arena.workers.supervised_player import NO_FAULTS, Passing, SupervisedPlayer
from mjbot.game.referee import Referee
from mjbot.game.statistics.figures import (
    CountRecords,
    EventCounter,
    as_rows,
    count_kyoku,
    no_counts,
)
from mjbot.game.table.assume import pin_draws
from mjbot.game.table.state import State
from mjbot.game.table.view import Sealed
from mjbot.play.match.players import players_of
from mjbot.play.server.core import EXCUSED, LogLine, OnFault, Outgoing, SeatReply, TableCore
from mjbot.protocol.messages import Event, StartGame, StartKyoku
from mjbot.strategy.faults import Fault, FaultKind
from mjbot.strategy.options import StrategyError
from mjbot.strategy.pair.member import PairMember, pair_up
from mjbot.strategy.registry import Spec
from mjbot.strategy.strategy import Strategy


class GameRecord:
    """The events of a game, and by the number of each, from 0, what players remarked on it."""

    def __init__(self) -> None:
        self.events: Final[list[Event]] = []
        self.talk: Final[dict[int, list[tuple[int, str]]]] = {}

    def add_remark(self, seat: int, remark: str) -> None:
        """Take in what a seat remarks in answer to the newest event."""
        self.talk.setdefault(len(self.events) - 1, []).append((seat, remark))

    def add(self, line: LogLine) -> None:
        """Take in an event that all seats have answered."""
        self.events.append(line.event)
        for seat, remark in enumerate(line.logs):
            if remark:
                self.add_remark(seat, remark)


class MixedGame:
    """One game, sent event by event as a table server does (:mod:`mjbot.play.server.core`).

    Each seat has a supervised strategy or an external engine; engines must answer within
    ``limit_s`` (0: no limit).
    """

    def __init__(
        self,
        players: Mapping[int, SupervisedPlayer],
        engines: Mapping[int, ExternalEngine],
        limit_s: float,
    ) -> None:
        self._players: Final = players
        self._engines: Final = engines
        self._limit_s: Final = limit_s
        self._present: Final = set(engines)
        self._decisions: Final = dict.fromkeys(engines, 0)
        self._sealed: Final = Sealed()
        self._state = b""
        self.times: Final[dict[int, TimeCounts]] = {}
        """What to count the engines' times in, by seat."""

        self.faults: Final[list[Fault]] = []
        self.record: Final = GameRecord()
        self._remark: str | None = None

    def play(self, referee: Referee, names: Sequence[str]) -> CountRecords:
        """Play to the end and return what was counted; the engines are closed."""
        for seat, engine in self._engines.items():
            try:
                engine.connect()
            except EngineError as error:
                self._leave(seat)
                self._record_fault(error.kind, seat, str(error))
        core = TableCore(referee, tuple(names), OnFault.DEFAULT)
        counter = EventCounter()
        for player in self._players.values():
            player.on_remark = self._add_remark
        known = 0
        while (outgoing := core.next()) is not None:
            if outgoing.is_final:
                self._part(outgoing)
                continue
            core.answer(self._answer(outgoing))
            for fault in core.faults[known:]:
                self._record_fault(fault.kind, fault.seat, fault.text)
            known = len(core.faults)
            for line in core.drain_log():
                counter.add(line.event)
                self.record.add(line)
        for line in core.drain_log():
            self.record.add(line)
        return counter.counts

    def _add_remark(self, seat: int, remark: str) -> None:
        self._remark = remark

    def _answer(self, outgoing: Outgoing) -> SeatReply:
        if outgoing.seat in self._engines:
            return self._engine_answer(outgoing)
        player = self._players[outgoing.seat]
        if isinstance(outgoing.message, StartKyoku):
            player.start_kyoku(outgoing.referee.view(outgoing.seat))
        if not outgoing.legal:
            return SeatReply()
        self._remark = None
        action = player.decide(outgoing.referee.view(outgoing.seat))
        return SeatReply(action=action, remark=self._remark)

    def _engine_answer(self, outgoing: Outgoing) -> SeatReply:
        if outgoing.legal:
            self._decisions[outgoing.seat] += 1
        if outgoing.seat not in self._present:
            return EXCUSED
        self._state = self._sealed.view(outgoing.referee.view(outgoing.seat)).state.tobytes()
        began_ns = perf_counter_ns()
        try:
            answer = self._engines[outgoing.seat].exchange(
                outgoing.message, self._limit_s, is_asked=bool(outgoing.legal)
            )
        except EngineError as error:
            self._leave(outgoing.seat)
            if outgoing.legal:
                return SeatReply(excused=True, kind=error.kind, problem=str(error))
            self._record_fault(error.kind, outgoing.seat, str(error))
            return EXCUSED
        if outgoing.legal and outgoing.seat in self.times:
            count_time(self.times[outgoing.seat], perf_counter_ns() - began_ns)
        return answer

    def _leave(self, seat: int) -> None:
        """An external AI has no part in the rest of the game: the default actions play on."""
        self._present.discard(seat)
        self._engines[seat].disconnect(None)

    def _record_fault(self, kind: FaultKind, seat: int, problem: str) -> None:
        decision = self._decisions.get(seat, 0)
        state = b"" if kind == "absent" else self._state
        self.faults.append(Fault(kind, seat, decision, problem, state=state))

    def _part(self, outgoing: Outgoing) -> None:
        if outgoing.seat in self._present:
            self._engines[outgoing.seat].disconnect(outgoing.message)


Fatal = Mapping[int, Mapping[int, Fault]]
"""Seat -> decision -> what happened there to a whole process."""

ReportFault = Callable[[GameId, Fault], None]
"""Receives the first fault of a seat in a game as soon as it happens."""

MAKING_S: Final = 60.0
"""How long making a strategy may take (compiling not counted), if decisions have a deadline."""


@dataclass(frozen=True)
class PlayedGame:
    """A finished game and what went wrong in it."""

    line: GameLine
    faults: tuple[Fault, ...]
    files: tuple[FileRead, ...] = ()
    """What its process has read since its last game (:mod:`mjbot.arena.workers.files_read`)."""

    record: bytes = b""
    """The game as gzipped mjai lines, if asked for (:mod:`mjbot.arena.run_folder`)."""


class GameRunner:
    """Plays games of one setup; the external AIs stay from game to game until :meth:`close`.

    With ``recording`` every game comes with its record, which takes some 10 ms more a hanchan.
    ``passing`` comes out of :meth:`play` where a strategy raises it.
    With ``timing`` it measures the cost of decisions, but for the first one, in which compiled code
    is loaded.
    """

    def __init__(
        self,
        setup: Setup,
        clock: Clock,
        recording: bool = False,
        report: ReportFault = lambda game_id, fault: None,
        timing: bool = False,
        passing: Passing = (),
    ) -> None:
        self._setup: Final = setup
        self._passing: Final = passing
        self._recording: Final = recording
        self._timing: Final = timing
        self._has_played = False
        self._clock: Final = clock
        self._report: Final = report
        self._names: Final = labels(setup.specs)
        self._engines: Final[dict[tuple[int, int], ExternalEngine]] = {}

    def play(self, game_id: GameId, fatal: Fatal) -> PlayedGame:
        """Play a game to its end."""
        players = make_players(
            self._setup, game_id, self._clock, fatal, self._report, self._passing
        )
        referee = new_referee(self._setup, game_id)
        times: dict[int, TimeCounts] = {}
        if self._timing and self._has_played:
            times = {seat: {} for seat in range(referee.rules.players)}
        self._has_played = True
        for seat, player in players.items():
            player.times = times.get(seat)
        table = self._setup.seating.tables[game_id.seating]
        names = [self._names[number] for number in table]
        if len(players) == len(table):
            record = GameRecord() if self._recording else None
            if record is not None:
                record.events.append(
                    StartGame(names=tuple(names), mjbot_rules=referee.rules.announced)
                )
            counts = play_game(referee, [players[seat] for seat in range(len(table))], record)
            return _timed(_played(referee, game_id, counts, players, [], record), times)
        game = MixedGame(players, self._engines_at(table), self._setup.deadline_s)
        game.times.update(times)
        counts = game.play(referee, names)
        record = game.record if self._recording else None
        return _timed(_played(referee, game_id, counts, players, game.faults, record), times)

    @property
    def engines(self) -> tuple[ExternalEngine, ...]:
        """The external AIs that have played so far."""
        return tuple(self._engines.values())

    def close(self) -> None:
        """Send the external AIs home."""
        for engine in self._engines.values():
            engine.close()
        self._engines.clear()

    def _engines_at(self, table: Sequence[int]) -> dict[int, ExternalEngine]:
        """Return the external AIs by seat: each strategy has one process per seat it fills."""
        engines: dict[int, ExternalEngine] = {}
        for seat, number in enumerate(table):
            spec = self._setup.specs[number]
            if spec.is_external:
                key = number, table[:seat].count(number)
                if key not in self._engines:
                    self._engines[key] = ExternalEngine(players_of([spec])[0])
                engines[seat] = self._engines[key]
        return engines


def new_referee(setup: Setup, game_id: GameId) -> Referee:
    """Return the table of a game, before the deal."""
    referee = Referee(setup.game_seed(game_id.wall), setup.game_rules)
    pin_draws(referee.state, setup.walls == "pinned")
    return referee


def make_players(
    setup: Setup,
    game_id: GameId,
    clock: Clock,
    fatal: Fatal,
    report: ReportFault = lambda game_id, fault: None,
    passing: Passing = (),
) -> dict[int, SupervisedPlayer]:
    """Return the players of our own at a game by seat, introduced.

    ``passing``: what is no fault of a strategy's if it comes out of it, but ends the game.
    Raises :class:`~mjbot.strategy.options.StrategyError` if one cannot be made.
    """
    table = setup.seating.tables[game_id.seating]
    names = labels(setup.specs)
    players = {}
    for seat, number in enumerate(table):
        spec = setup.specs[number]
        if not spec.is_external:
            strategy = _made(spec, setup.player_seed(game_id.wall, seat), seat, clock)
            known = fatal.get(seat, NO_FAULTS)
            players[seat] = SupervisedPlayer(strategy, seat, clock, known, partial(report, game_id))
            players[seat].passing = passing
    _link_pairs(setup, game_id.seating, players)
    for player in players.values():
        player.start_game(player.seat, tuple([names[number] for number in table]))
    return players


def _made(spec: Spec, seed: int, seat: int, clock: Clock) -> Strategy:
    try:
        try:
            clock.start(seat, 0, least_s=MAKING_S)
            return spec.make(seed)
        finally:
            clock.stop()
    except DeadlineError:
        problem = f"strategy {spec.name!r} cannot be made: not ready after {MAKING_S:g} s"
        raise StrategyError(problem) from None


def _link_pairs(setup: Setup, seating: int, players: Mapping[int, SupervisedPlayer]) -> None:
    """Let the allies of the format *pair* talk, if both are made for it."""
    for number in range(len(setup.seating.pairs)):
        seats = setup.seating.allies(seating, number)
        allies = [players[seat].strategy for seat in seats if seat in players]
        if len(allies) == 2 and all(isinstance(ally, PairMember) for ally in allies):
            pair_up(*allies)


def play_game(
    referee: Referee, players: Sequence[SupervisedPlayer], record: GameRecord | None = None
) -> CountRecords:
    """Play from the deal to the end, into a record if wanted; return what was counted."""
    counts = no_counts()

    def count(state: State, outcome: Any, wins: Any) -> None:
        count_kyoku(state, outcome, wins, counts)

    for player in players:
        player.on_remark = record.add_remark if record else None
    referee.play(players, watch=count, record=record.events if record else None)
    return counts


def _played(
    referee: Referee,
    game_id: GameId,
    counts: CountRecords,
    players: Mapping[int, SupervisedPlayer],
    more: list[Fault],
    record: GameRecord | None,
) -> PlayedGame:
    seats = referee.rules.players
    faults = [*more, *[fault for player in players.values() for fault in player.faults]]
    line = GameLine(
        wall=game_id.wall,
        seating=game_id.seating,
        scores=tuple(referee.state["scores"][:seats].tolist()),
        counts=as_rows(counts[:seats]),
        faults=_by_seat(faults, seats),
    )
    packed_record = packed(record.events, record.talk, seats) if record else b""
    return PlayedGame(line, tuple(faults), record=packed_record)


def _timed(played: PlayedGame, times: Mapping[int, TimeCounts]) -> PlayedGame:
    line = msgspec.structs.replace(played.line, times=tuple(times.values()))
    return replace(played, line=line)


def _by_seat(faults: Sequence[Fault], n_seats: int) -> tuple[int, ...]:
    seats = [fault.seat for fault in faults]
    return tuple([seats.count(seat) for seat in range(n_seats)]) if seats else ()
