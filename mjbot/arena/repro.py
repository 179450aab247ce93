"""One recorded decision, made again: ``mjbot arena --repro FILE``."""

import time
import traceback
from bdb import BdbQuit
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.fault_files import FaultFile, FaultFileError
from mjbot.arena.workers.playing import make_players, new_referee, play_game
from mjbot.arena.workers.supervised_player import SupervisedPlayer
from mjbot.game.table.actions import Action
from mjbot.game.table.state import STATE, State
from mjbot.game.table.view import Sealed, View
from mjbot.strategy.faults import Fault
from mjbot.strategy.strategy import Strategy


@dataclass(frozen=True)
class Again:
    """How the decision went this time: what was chosen, or the traceback of what went wrong.

    ``as_recorded`` is false if the game did not come to the recorded table again, because the
    code has changed or a strategy is not a function of its seed; then a new player of the
    strategy decided on the record.
    """

    view: View
    chosen: str
    trace: str
    seconds: float
    as_recorded: bool


class _Reached(BaseException):
    """The game has come to the decision."""

    def __init__(self, view: View, strategy: Strategy) -> None:
        super().__init__()
        self.view = view
        self.strategy = strategy


class _Halt(Strategy):
    """Plays as ``strategy`` up to one decision of its supervisor."""

    def __init__(self, player: SupervisedPlayer, decision: int) -> None:
        self._strategy = player.strategy
        self._player = player
        self._decision = decision

    def decide(self, view: View) -> Action:
        if self._player.decisions == self._decision:
            raise _Reached(view, self._strategy)
        return self._strategy.decide(view)

    def start_kyoku(self, view: View) -> None:
        self._strategy.start_kyoku(view)


def replay_decision(file: FaultFile, announce: Callable[[View], None]) -> Again:
    """Play the recorded game up to the decision and let the strategy make it, unguarded.

    ``announce`` receives the table first: the decision may end the process.  Raises
    :class:`FaultFileError` if the decision cannot be made here.
    """
    if file.spec.is_external:
        raise FaultFileError(f"{file.strategy} plays in a process of its own: ask its makers")
    if not file.decision:
        raise FaultFileError(f"{file.problem}: no decision but the start of a game or kyoku")
    view, strategy = _reach(file)
    recorded = _recorded_view(file)
    as_recorded = view is not None and view.state.tobytes() == file.state_bytes
    if not as_recorded or view is None or strategy is None:
        view, strategy = recorded, _new_strategy(file)
    announce(view)
    begun = time.perf_counter()
    try:
        chosen, trace = str(strategy.decide(view)), ""
    except BdbQuit:
        raise
    except (Exception, SystemExit):
        chosen, trace = "", traceback.format_exc()
    return Again(view, chosen, trace, time.perf_counter() - begun, as_recorded)


def _reach(file: FaultFile) -> tuple[View | None, Strategy | None]:
    fatal: dict[int, dict[int, Fault]] = {}
    for seat, decision in file.fatal:
        fatal.setdefault(seat, {})[decision] = Fault("crash", seat, decision, "not asked")
    players = make_players(file.setup, file.game_id, Clock(0, [0] * HEARTBEAT_SIZE), fatal)
    if len(players) < len(file.setup.seating.tables[file.game_id.seating]):
        return None, None  # external AIs are not asked again
    for player in players.values():
        player.passing = (_Reached, KeyboardInterrupt, BdbQuit)
    players[file.seat].strategy = _Halt(players[file.seat], file.decision)
    try:
        play_game(
            new_referee(file.setup, file.game_id), [players[seat] for seat in sorted(players)]
        )
    except _Reached as reached:
        return reached.view, reached.strategy
    return None, None


def _new_strategy(file: FaultFile) -> Strategy:
    return file.spec.make(file.setup.player_seed(file.game_id.wall, file.seat))


def _recorded_view(file: FaultFile) -> View:
    if len(file.state_bytes) != STATE.itemsize:
        raise FaultFileError("the record's table is of another version of mjbot")
    state = cast(State, np.frombuffer(file.state_bytes, STATE)[0])
    return Sealed().view(View(state, file.seat))
