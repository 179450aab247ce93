"""One game under Tenhou's ranked rules: choices in, events out.  No clock and no I/O."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from mjbot.referee import flow, narrate
from mjbot.referee.ending import Wins
from mjbot.referee.outcome import OUTCOME, Outcome
from mjbot.referee.walls import shuffle_wall
from mjbot.rules.points import MANGAN, Parties, win_deltas
from mjbot.table.actions import ACTIONS, N_ACTIONS, PASS, Action
from mjbot.table.apply import apply_ryukyoku, apply_start_game
from mjbot.table.convert import to_message
from mjbot.table.draws import CHOMBO
from mjbot.table.legal import legal_codes
from mjbot.table.settle import PAYMENT, game_ends, give_leftover_sticks, next_kyoku
from mjbot.table.state import CHANKAN, DRAWN, REACTION, WON, State, new_state
from mjbot.table.view import View
from protocol import messages as m

Length = Literal["tonpu", "hanchan"]
START_POINTS: Final = 25000
LAST_ROUND: Final[dict[Length, int]] = {"tonpu": 3, "hanchan": 7}

Walls = Callable[[int, int, NDArray[np.int8]], None]
"""``walls(round, honba, wall)`` fills int8[136]; layout: :data:`mjbot.table.state.LIVE_WALL`."""


@dataclass(frozen=True)
class Position:
    """Where a game stands between two kyoku: ``scores`` in points, ``round`` 0 East 1 .. 11."""

    round: int = 0
    honba: int = 0
    sticks: int = 0
    scores: tuple[int, int, int, int] = (START_POINTS,) * 4


OPENING: Final = Position()


class IllegalActionError(ValueError):
    """A seat chose what it may not do; ``seat`` says which."""

    def __init__(self, seat: int, action: Action, state: State) -> None:
        allowed = ", ".join(str(other) for other in View(state, seat).legal) or "nothing"
        super().__init__(f"seat {seat} may not {action}; it may: {allowed}")
        self.seat = seat


class Referee:
    """A game from the first deal to the last payment.

    ``seed`` fixes every wall (with the round and honba), unless ``walls`` brings its own.  Call
    :meth:`start`, then :meth:`step` with a choice for every seat in :attr:`asked`, until
    :attr:`over`.
    """

    def __init__(
        self, seed: int = 0, length: Length = "hanchan", walls: Walls | None = None
    ) -> None:
        self.seed = seed
        self._walls: Walls = walls or partial(shuffle_wall, seed)
        self.state: State = new_state()
        self.over = False
        self._length: Length = length
        self._codes = np.empty(N_ACTIONS, np.uint8)
        self._choices = np.full(4, PASS, np.int16)
        self._log = np.empty((flow.LOG_ROWS, flow.LOG_COLUMNS), np.int8)
        self._outcome = cast(Outcome, np.zeros(1, OUTCOME)[0])
        self._wins = cast(Wins, np.zeros(3, PAYMENT))

    # --- what happens ------------------------------------------------------------------------

    def start(self, position: Position = OPENING) -> list[m.Event]:
        """Deal the first kyoku; return the events up to the first decision."""
        apply_start_game(self.state, LAST_ROUND[self._length], START_POINTS)
        self.state["scores"] = position.scores
        self.state["sticks"] = position.sticks
        return [m.StartGame(), *self._deal(position.round, position.honba)]

    def step(self, choices: Mapping[int, Action]) -> list[m.Event]:
        """Carry out a choice of each asked seat; return the events up to the next decision.

        Raises :class:`IllegalActionError`; the state is then as before.
        """
        asked = self.asked
        if set(choices) != set(asked):
            raise ValueError(f"choices from seats {sorted(choices)}, asked {sorted(asked)}")
        self._choices[:] = PASS
        for seat, action in choices.items():
            if action not in asked[seat]:
                raise IllegalActionError(seat, action, self.state)
            self._choices[seat] = action.code
        return self._advance()

    def fault(self, seat: int) -> list[m.Event]:
        """Punish ``seat`` with a mangan-sized chombo; the kyoku is played again, honba + 1."""
        before = narrate.four(self.state["scores"])
        self._outcome["reason"] = CHOMBO
        self._outcome["tenpai"] = 0
        dealer = int(self.state["dealer"])
        self._outcome["deltas"] = -win_deltas(MANGAN, Parties(seat, seat, dealer, -1), 0, 0)
        apply_ryukyoku(self.state, self._outcome["deltas"], 1, 1)
        return self._end_kyoku(before)

    # --- what is asked -----------------------------------------------------------------------

    @property
    def asked(self) -> dict[int, tuple[Action, ...]]:
        """The seats that must decide now, with their legal actions; empty when over."""
        asked: dict[int, tuple[Action, ...]] = {}
        if self.over:
            return asked
        for seat in range(4):
            n = legal_codes(self.state, seat, self._codes)
            if n:
                asked[seat] = tuple([ACTIONS[code] for code in self._codes[:n].tolist()])
        return asked

    def view(self, seat: int) -> View:
        """Return what the seat sees now."""
        return View(self.state, seat)

    def message(self, seat: int, action: Action) -> m.PlayerAction:
        """Return the message with which the seat says an action now."""
        return to_message(self.state, seat, action)

    @property
    def claimed_by_reply(self) -> bool:
        """Whether the open decision is the answer to a discard or kakan of another seat."""
        return int(self.state["phase"]) in (REACTION, CHANKAN)

    # --- inside ------------------------------------------------------------------------------

    def _deal(self, round_: int, honba: int) -> list[m.Event]:
        state = self.state
        self._walls(round_, honba, state["wall"])
        flow.deal(state, round_, honba, int(state["sticks"]))
        return [narrate.start_kyoku(state), *self._advance()]

    def _advance(self) -> list[m.Event]:
        before = narrate.four(self.state["scores"])
        n = flow.advance(
            self.state, self._choices, self._log, self._outcome, self._wins, self._codes
        )
        events = list(narrate.log_events(self._log[:n], before))
        if int(self.state["phase"]) in (WON, DRAWN):
            events += self._end_kyoku(narrate.scores_after(events, before))
        return events

    def _end_kyoku(self, before: narrate.Seats4) -> list[m.Event]:
        events = narrate.ending(self.state, self._outcome, self._wins, before)
        if game_ends(self.state):
            give_leftover_sticks(self.state)
            self.over = True
            return [*events, m.EndGame(scores=narrate.four(self.state["scores"]))]
        return [*events, *self._deal(*next_kyoku(self.state))]
