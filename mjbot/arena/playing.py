"""The games of a run, in this process."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from mjbot.arena.clock import Clock, LateError
from mjbot.arena.counts import Counts, as_rows, count_kyoku, no_counts
from mjbot.arena.files_read import Found
from mjbot.arena.foreign import Foreigner
from mjbot.arena.guard import NO_FAULTS, Fault, Guard
from mjbot.arena.mixed import MixedGame
from mjbot.arena.recording import packed
from mjbot.arena.results import GameLine
from mjbot.arena.setup import Setup, Unit, labels
from mjbot.match.players import read_players
from mjbot.pair.member import PairMember, pair_up
from mjbot.referee import Referee
from mjbot.referee.remembering import RememberingReferee
from mjbot.strategy import Strategy
from mjbot.strategy_options import StrategyError
from mjbot.strategy_spec import Spec
from protocol.messages import Event

Fatal = Mapping[int, Mapping[int, Fault]]
"""Seat -> decision -> what happened there to a whole process."""

Tell = Callable[[Unit, Fault], None]
"""Hears of the first fault of a seat in a game as soon as it happens."""

MAKING_S: Final = 60.0
"""How long making a strategy may take (compiling not counted), if decisions have a deadline."""


@dataclass(frozen=True)
class Played:
    """A finished game and what went wrong in it."""

    line: GameLine
    faults: tuple[Fault, ...]
    files: tuple[Found, ...] = ()
    """What its process has read since its last game (:mod:`mjbot.arena.files_read`)."""

    record: bytes = b""
    """The game as gzipped mjai lines, if asked for (:mod:`mjbot.arena.recording`)."""


class Games:
    """Plays units of one setup; the external AIs stay from game to game until :meth:`close`.

    With ``recording`` every game comes with its record, which takes some 10 ms more a hanchan.
    """

    def __init__(
        self,
        setup: Setup,
        clock: Clock,
        recording: bool = False,
        tell: Tell = lambda unit, fault: None,
    ) -> None:
        self._setup: Final = setup
        self._recording: Final = recording
        self._clock: Final = clock
        self._tell: Final = tell
        self._names: Final = labels(setup.strategies)
        self._foreigners: Final[dict[tuple[int, int], Foreigner]] = {}

    def play(self, unit: Unit, fatal: Fatal) -> Played:
        """Play a game to its end."""
        guards = make_guards(self._setup, unit, self._clock, fatal, self._tell)
        table = self._setup.seating.tables[unit.seating]
        names = [self._names[number] for number in table]
        if len(guards) == 4:
            referee = new_referee(self._setup, unit, names if self._recording else None)
            counts = play_game(referee, [guards[seat] for seat in range(4)])
            events = referee.events if isinstance(referee, RememberingReferee) else []
            return _played(referee, unit, counts, guards, [], events)
        referee = new_referee(self._setup, unit)
        game = MixedGame(guards, self._foreigners_at(table), self._setup.deadline_s)
        counts = game.play(referee, names)
        events = game.events if self._recording else []
        return _played(referee, unit, counts, guards, game.faults, events)

    @property
    def foreigners(self) -> tuple[Foreigner, ...]:
        """The external AIs that have played so far."""
        return tuple(self._foreigners.values())

    def close(self) -> None:
        """Send the external AIs home."""
        for foreigner in self._foreigners.values():
            foreigner.close()
        self._foreigners.clear()

    def _foreigners_at(self, table: Sequence[int]) -> dict[int, Foreigner]:
        """Return the external AIs by seat: each strategy has one process per seat it fills."""
        found: dict[int, Foreigner] = {}
        for seat, number in enumerate(table):
            text = self._setup.strategies[number]
            if Spec.read(text).is_external:
                key = number, table[:seat].count(number)
                if key not in self._foreigners:
                    self._foreigners[key] = Foreigner(read_players([text])[0])
                found[seat] = self._foreigners[key]
        return found


def new_referee(setup: Setup, unit: Unit, remembered: Sequence[str] | None = None) -> Referee:
    """Return the table of a game, before the deal.

    With the players' names in ``remembered`` it keeps the events of the game.
    """
    seed = setup.game_seed(unit.wall)
    if remembered is None:
        referee = Referee(seed, setup.length)
    else:
        referee = RememberingReferee(seed, setup.length, names=remembered)
    referee.state["pinned"] = setup.walls == "pinned"
    return referee


def make_guards(
    setup: Setup,
    unit: Unit,
    clock: Clock,
    fatal: Fatal,
    tell: Tell = lambda unit, fault: None,
) -> dict[int, Guard]:
    """Return the players of our own at a game by seat, introduced.

    Raises :class:`~mjbot.strategy_options.StrategyError` if one cannot be made.
    """
    table = setup.seating.tables[unit.seating]
    names = labels(setup.strategies)
    guards = {}
    for seat, number in enumerate(table):
        spec = Spec.read(setup.strategies[number])
        if not spec.is_external:
            strategy = _made(spec, setup.player_seed(unit.wall, seat), seat, clock)
            known = fatal.get(seat, NO_FAULTS)
            guards[seat] = Guard(strategy, seat, clock, known, partial(tell, unit))
    _link_pairs(setup, table, guards)
    for guard in guards.values():
        guard.start_game(guard.seat, tuple([names[number] for number in table]))
    return guards


def _made(spec: Spec, seed: int, seat: int, clock: Clock) -> Strategy:
    try:
        try:
            clock.start(seat, 0, least_s=MAKING_S)
            return spec.make(seed)
        finally:
            clock.stop()
    except LateError:
        problem = f"strategy {spec.name!r} cannot be made: not ready after {MAKING_S:g} s"
        raise StrategyError(problem) from None


def _link_pairs(setup: Setup, table: Sequence[int], guards: Mapping[int, Guard]) -> None:
    """Let the allies of the format *pair* talk, if both are made for it."""
    seating = setup.seating
    for number in range(len(seating.pairs)):
        allies = [
            guards[seat].strategy
            for seat, strategy in enumerate(table)
            if seat in guards and seating.pair_of(strategy) == number
        ]
        if len(allies) == 2 and all(isinstance(ally, PairMember) for ally in allies):
            pair_up(*allies)


def play_game(referee: Referee, guards: Sequence[Guard]) -> Counts:
    """Play from the deal to the end and return what was counted."""
    counts = no_counts()
    referee.play(
        guards, watch=lambda state, outcome, wins: count_kyoku(state, outcome, wins, counts)
    )
    return counts


def _played(
    referee: Referee,
    unit: Unit,
    counts: Counts,
    guards: Mapping[int, Guard],
    more: list[Fault],
    events: Sequence[Event],
) -> Played:
    faults = [*more, *[fault for guard in guards.values() for fault in guard.faults]]
    line = GameLine(
        wall=unit.wall,
        seating=unit.seating,
        scores=tuple(referee.state["scores"].tolist()),
        counts=as_rows(counts),
        faults=_by_seat(faults),
    )
    return Played(line, tuple(faults), record=packed(events) if events else b"")


def _by_seat(faults: Sequence[Fault]) -> tuple[int, ...]:
    seats = [fault.seat for fault in faults]
    return tuple([seats.count(seat) for seat in range(4)]) if seats else ()
