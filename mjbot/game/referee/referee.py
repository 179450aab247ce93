"""One game under Tenhou's ranked rules: choices in, events out.  No clock and no I/O."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from mjbot.game.referee import events as serialise
from mjbot.game.referee import flow
from mjbot.game.referee.step import StepBuffer, new_step_buffer
from mjbot.game.referee.wall import shuffle_wall
from mjbot.game.rules.points import MANGAN, Parties, win_deltas
from mjbot.game.rules.ruleset import RuleSet, rule_set
from mjbot.game.table.actions import ACTIONS, Action
from mjbot.game.table.apply import apply_end_game, apply_ryukyoku, apply_start_game
from mjbot.game.table.assume import set_position
from mjbot.game.table.mirror.wire import to_message
from mjbot.game.table.settle import game_ends, next_kyoku
from mjbot.game.table.state import CHOMBO, DRAWN, WON, State, new_state
from mjbot.game.table.view import View
from mjbot.protocol import messages as m
from mjbot.protocol.rules import RANKED, Length, Rules

Walls = Callable[[int, int, NDArray[np.int8]], None]
"""``walls(round, honba, wall)`` fills int8[136], laid out as :mod:`mjbot.game.rules.wall_plan`
says."""

Watch = Callable[[State, Any, Any], None]
"""``watch(state, outcome, wins)`` sees each kyoku that has just been paid (phase WON or DRAWN):
:data:`mjbot.game.referee.step.OUTCOME` and three :data:`mjbot.game.table.settle.PAYMENT`."""

_SEATS: Final = tuple(tuple(seat for seat in range(4) if mask >> seat & 1) for mask in range(16))


@dataclass(frozen=True)
class Position:
    """Where a game stands between two kyoku: ``round`` 0 East 1 .. 11; ``scores`` in
    points, ``None`` for those that the game starts with."""

    round: int = 0
    honba: int = 0
    sticks: int = 0
    scores: tuple[int, int, int, int] | None = None


OPENING: Final = Position()


class Player(Protocol):
    """A player of a seat in :meth:`Referee.play`; every strategy is one."""

    @property
    def decides(self) -> int:
        """The choices that it decides on: flags DECIDES_... of :mod:`mjbot.game.table.actions`."""

    def decide(self, view: View) -> Action:
        """Return one of ``view.legal``."""

    def start_kyoku(self, view: View) -> None:
        """Take note that a kyoku was dealt."""


class IllegalActionError(ValueError):
    """A seat chose what it may not do; ``seat`` is its number."""

    def __init__(self, seat: int, action: Action, state: State) -> None:
        allowed = ", ".join(str(other) for other in View(state, seat).legal) or "nothing"
        super().__init__(f"seat {seat} may not {action}; it may: {allowed}")
        self.seat = seat


class Referee:
    """A game from the first deal to the last payment.

    ``seed`` fixes every wall (with the round and honba), unless ``walls`` brings its own; ``rules``
    may be a length alone, all else as ranked.  Call
    :meth:`start`, then :meth:`step` with a choice for every seat in :attr:`asked`, until
    :attr:`over`.
    """

    def __init__(
        self, seed: int = 0, rules: Rules | Length = RANKED, walls: Walls | None = None
    ) -> None:
        self.seed = seed
        self.state: State = new_state()
        self.over = False
        self.rules: Rules = rules if isinstance(rules, Rules) else Rules(length=rules)
        self._rule_set: RuleSet = rule_set(self.rules)
        self._walls: Walls = walls or partial(shuffle_wall, seed, players=self.rules.players)
        self._buffer: StepBuffer = new_step_buffer()

    # --- what happens ------------------------------------------------------------------------

    def start(self, position: Position = OPENING) -> list[m.Event]:
        """Deal the first kyoku; return the events up to the first decision."""
        self._open(position)
        return [
            m.StartGame(mjbot_rules=self.rules.announced),
            *self._deal(position.round, position.honba),
        ]

    def step(self, choices: Mapping[int, Action]) -> list[m.Event]:
        """Carry out a choice of each asked seat; return the events up to the next decision.

        Raises :class:`IllegalActionError`, and ``ValueError`` for choices of other seats than are
        asked; the state is then as before.
        """
        asked = _SEATS[self._buffer["asked"]]
        if choices.keys() != set(asked):
            raise ValueError(f"choices from seats {sorted(choices)}, asked {[*asked]}")
        codes, counts = self._buffer["codes"], self._buffer["n_codes"]
        for seat, action in choices.items():
            if action.code not in codes[seat, : counts[seat]].tolist():
                raise IllegalActionError(seat, action, self.state)
            self._buffer["choices"][seat] = action.code
        return self._advance()

    def fault(self, seat: int) -> list[m.Event]:
        """Punish ``seat`` with a mangan-sized chombo; the kyoku is played again, honba + 1."""
        before = serialise.four(self.state["scores"])
        dealer = int(self.state["dealer"])
        outcome = self._buffer["outcome"]
        outcome["reason"] = CHOMBO
        outcome["tenpai"] = 0
        parties = Parties(seat, seat, dealer, -1)
        outcome["deltas"] = -win_deltas(MANGAN, parties, 0, 0, self._rule_set)
        apply_ryukyoku(self.state, outcome["deltas"], 1, 1)
        return self._end_kyoku(before)

    def play(
        self,
        players: Sequence[Player],
        position: Position = OPENING,
        watch: Watch | None = None,
        record: list[m.Event] | None = None,
    ) -> None:
        """Play a whole game, fast: events are made only for a ``record``.

        ``players`` are as many as the rules have.  A seat with one legal action is not asked, nor
        one that does not decide.  Raises :class:`IllegalActionError`.
        """
        state, buffer = self.state, self._buffer
        if len(players) != self.rules.players:
            raise ValueError(f"{len(players)} players at a table of {self.rules.players}")
        buffer["decides"][: len(players)] = [player.decides for player in players]
        self._open(position)
        following = (position.round, position.honba)
        while not self.over:
            self._deal_tiles(*following)
            if record is not None:
                record.append(serialise.start_kyoku(state))
            for seat, player in enumerate(players):
                player.start_kyoku(View(state, seat))
            self._play_kyoku(players, record)
            if watch:
                watch(state, buffer["outcome"], buffer["wins"])
            if game_ends(state):
                self._close()
            following = next_kyoku(state)
        if record is not None:
            record.append(m.EndGame(scores=serialise.four(state["scores"])))

    def _play_kyoku(self, players: Sequence[Player], record: list[m.Event] | None) -> None:
        state, buffer = self.state, self._buffer
        choices = buffer["choices"]
        advance = flow.advance_to_choice if record is None else partial(_recorded_advance, record)
        asked = advance(state, buffer)
        while asked > 0:
            for seat in _SEATS[asked]:
                choices[seat] = players[seat].decide(View(state, seat)).code
            asked = advance(state, buffer)
        if asked < 0:
            seat = -1 - asked
            raise IllegalActionError(seat, ACTIONS[choices[seat]], state)

    # --- what is asked -----------------------------------------------------------------------

    @property
    def asked(self) -> dict[int, tuple[Action, ...]]:
        """The seats that must decide now, with their legal actions; empty when over."""
        codes, counts = self._buffer["codes"], self._buffer["n_codes"].tolist()
        return {
            seat: tuple([ACTIONS[code] for code in codes[seat, : counts[seat]].tolist()])
            for seat in _SEATS[self._buffer["asked"]]
        }

    def view(self, seat: int) -> View:
        """Return what the seat sees now."""
        return View(self.state, seat)

    def message(self, seat: int, action: Action) -> m.PlayerAction:
        """Return the message of an action of the seat now."""
        return to_message(self.state, seat, action)

    # --- inside ------------------------------------------------------------------------------

    def _open(self, position: Position) -> None:
        if position.round % 4 >= self.rules.players:
            raise ValueError(f"round {position.round}: no player deals it, they are three")
        apply_start_game(self.state, self._rule_set)
        scores = position.scores or serialise.four(self.state["scores"])
        set_position(self.state, scores, position.sticks)
        self.over = False

    def _deal_tiles(self, round_: int, honba: int) -> None:
        self._walls(round_, honba, self.state["wall"])
        flow.deal(self.state, self._buffer, round_, honba)

    def _deal(self, round_: int, honba: int) -> list[m.Event]:
        self._deal_tiles(round_, honba)
        return [serialise.start_kyoku(self.state), *self._advance()]

    def _advance(self) -> list[m.Event]:
        before = serialise.four(self.state["scores"])
        events = _advance_by_one(self.state, self._buffer, before)
        if int(self.state["phase"]) in (WON, DRAWN):
            events += self._end_kyoku(_after_sticks(self.state, events, before))
        return events

    def _end_kyoku(self, before: m.FourInts) -> list[m.Event]:
        events = serialise.ending(self.state, self._buffer["outcome"], self._buffer["wins"], before)
        if game_ends(self.state):
            self._close()
            return [*events, m.EndGame(scores=serialise.four(self.state["scores"]))]
        return [*events, *self._deal(*next_kyoku(self.state))]

    def _close(self) -> None:
        apply_end_game(self.state)
        self._buffer["asked"] = 0
        self.over = True


def _advance_by_one(state: State, buffer: StepBuffer, before: m.FourInts) -> list[m.Event]:
    flow.advance(state, buffer)
    rows, stick_points = buffer["log"][: buffer["n_rows"]], int(state["rules"]["stick_points"])
    return list(serialise.log_events(rows, before, stick_points))


def _after_sticks(state: State, events: list[m.Event], before: m.FourInts) -> m.FourInts:
    return serialise.scores_after(events, before, int(state["rules"]["stick_points"]))


def _recorded_advance(record: list[m.Event], state: State, buffer: StepBuffer) -> int:
    """Do what :func:`mjbot.game.referee.flow.advance_to_choice` does, and append the events."""
    asked = int(flow.illegal_choice(buffer))
    while asked == 0:
        before = serialise.four(state["scores"])
        events = _advance_by_one(state, buffer, before)
        record += events
        asked = int(flow.settle_choices(state, buffer))
        if int(state["phase"]) in (WON, DRAWN):
            after_sticks = _after_sticks(state, events, before)
            record += serialise.ending(state, buffer["outcome"], buffer["wins"], after_sticks)
            break
    return asked
