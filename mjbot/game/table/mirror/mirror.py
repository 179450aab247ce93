"""A local mirror of a table, kept by events alone.

The mirror serves a player (its own hand known), a spectator and a replay (all hands known).  In
strict mode anything that contradicts it raises :class:`TableError`, which quotes the event; in
lenient mode the contradiction is logged and play continues with what the event states.
"""

import logging
from typing import Final, assert_never

import msgspec
import numpy as np

from mjbot.game.table import apply as do
from mjbot.game.table import apply_calls as calls
from mjbot.game.table.actions import Action
from mjbot.game.table.mirror import check
from mjbot.game.table.mirror.results import Ledger, SeatPoints, announced_rules
from mjbot.game.table.mirror.wire import chi_code, tile_code
from mjbot.game.table.state import State, copy_state, new_state
from mjbot.game.table.view import View
from mjbot.protocol import messages as m
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Length
from mjbot.protocol.tiles import N_KINDS, TILE_BY_NAME, WIND_NAMES, tile_kind
from mjbot.runtime.errors import MjbotError

logger = logging.getLogger(__name__)

MeldEvent = m.Chi | m.Pon | m.Daiminkan | m.Kakan | m.Ankan | m.Kita


class TableError(MjbotError):
    """The table contradicts itself: ``event`` does not fit what came before."""

    def __init__(self, problem: str, event: m.Message) -> None:
        super().__init__(f"{problem}; event: {quote(event)}")
        self.problem = problem
        self.event = event


def quote(event: m.Message) -> str:
    """Return the event as the JSON line it came from, more or less."""
    return msgspec.json.encode(event).decode()


class Mirror:
    """The state of one table and the events that led to it.

    ``seat`` is whose hand must be known (``None``: whatever the events show), ``length`` what the
    game is expected to be where the table does not announce it (``None``: a hanchan).
    """

    def __init__(
        self, seat: int | None = None, strict: bool = True, length: Length | None = None
    ) -> None:
        self.seat: Final = seat
        self.strict: Final = strict
        self.state: State = new_state()
        self.names: tuple[str, ...] = ()
        self._ledger = Ledger(self.state, length)

    def apply(self, event: m.Event) -> None:
        """Take in one event.  Raises :class:`TableError` in strict mode if it does not fit."""
        paid = None
        try:
            paid = self._check(event)
        except ValueError as problem:
            self._contradiction(str(problem), event)
        try:
            self._apply(event, paid)
        except (ValueError, OverflowError) as problem:  # a tile not named, a number too large
            self._contradiction(f"cannot be applied: {problem}", event)
        try:
            if self.strict:
                check.check_copies(self.state)
        except ValueError as problem:
            self._contradiction(str(problem), event)

    def legal(self, seat: int) -> tuple[Action, ...]:
        """Return the legal actions of a seat; empty when it has nothing to decide now."""
        return View(self.state, seat).legal

    def view(self, seat: int) -> View:
        """Return what the seat sees now; later events do not change it."""
        return View(copy_state(self.state), seat)

    def forget_result(self) -> None:
        """Take note that something was missed since the last kyoku ended: any kyoku may follow."""
        self._ledger.forget_result()

    # --- checks ------------------------------------------------------------------------------

    def _contradiction(self, problem: str, event: m.Event) -> None:
        if self.strict:
            raise TableError(problem, event)
        logger.warning("%s; event: %s", one_line(problem), one_line(quote(event)))

    def _check(self, event: m.Event) -> SeatPoints | None:
        """Hold an event against the state; return what the rules pay for a result."""
        state = self.state
        match event:
            case m.StartGame():
                announced_rules(event)
            case m.EndKyoku():
                self._ledger.check_end_kyoku()
            case m.StartKyoku():
                self._ledger.take_players(event)
                check.check_start_kyoku(state, event, self.seat)
                self._ledger.check_start_kyoku(event)
            case m.Tsumo():
                check.check_draw(state, event)
            case m.Dora():
                check.check_dora(state, event)
            case m.ReachAccepted():
                check.check_riichi_accepted(state, event)
                self._ledger.check_riichi_accepted(event)
            case m.Hora():
                self._ledger.reveal(event)
                check.check_action(state, event.actor, event)
                return self._ledger.check_hora(event)
            case m.Ryukyoku():
                return self._ledger.check_ryukyoku(event)
            case m.EndGame():
                self._ledger.check_end_game(event)
            case _:
                check.check_action(state, event.actor, event)
        return None

    # --- events ------------------------------------------------------------------------------

    def _apply(self, event: m.Event, paid: SeatPoints | None) -> None:
        state = self.state
        match event:
            case m.StartGame():
                self.names = event.names or ()
                self._ledger.start_game(event)
            case m.StartKyoku():
                self._start_kyoku(event)
            case m.Tsumo():
                do.apply_draw(state, event.actor, TILE_BY_NAME[event.pai])
            case m.Dahai():
                do.apply_discard(state, event.actor, tile_code(event.pai), event.tsumogiri)
            case m.Reach():
                do.apply_riichi(state, event.actor)
            case m.ReachAccepted():
                do.apply_riichi_accepted(state, event.actor)
            case m.Dora():
                do.apply_dora(state, tile_code(event.dora_marker))
            case m.Hora():
                self._ledger.apply_hora(event, paid)
            case m.Ryukyoku():
                self._ledger.apply_ryukyoku(event, paid)
            case m.EndKyoku():
                self._ledger.end_kyoku()
            case m.EndGame():
                self._ledger.end_game()
            case _:
                self._apply_meld(event)

    def _apply_meld(self, event: MeldEvent) -> None:
        state, actor = self.state, event.actor
        if isinstance(event, m.Kita):
            calls.apply_kita(state, actor)
            return
        used = [tile_code(name) for name in event.consumed]
        match event:
            case m.Chi():
                chi_code(event, used, has_red=False)  # no other meld can be shown
                calls.apply_chi(state, actor, *used)
            case m.Pon():
                calls.apply_pon(state, actor, *used)
            case m.Daiminkan():
                calls.apply_daiminkan(state, actor, *used)
            case m.Kakan():
                calls.apply_kakan(state, actor, tile_code(event.pai))
            case m.Ankan():
                n_reds = sum(tile >= N_KINDS for tile in used)
                calls.apply_ankan(state, actor, tile_kind(used[0]), n_reds)
            case _:
                assert_never(event)

    def _start_kyoku(self, event: m.StartKyoku) -> None:
        state = self.state
        self._ledger.start_kyoku(event)
        do.apply_start_kyoku(
            state,
            4 * WIND_NAMES.index(event.bakaze) + event.kyoku - 1,
            event.honba,
            event.kyotaku,
            tile_code(event.dora_marker),
            np.array([[TILE_BY_NAME[name] for name in hand] for hand in event.tehais], np.int8),
        )
