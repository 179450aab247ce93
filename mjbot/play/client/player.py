"""One seat's player: the mirror of the table, the strategy, and what stands in for either."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from mjbot.game.table.actions import Action
from mjbot.game.table.mirror.mirror import Mirror, TableError, quote
from mjbot.game.table.mirror.wire import to_message
from mjbot.game.table.view import Sealed, View
from mjbot.play.client.decision_thread import CrashError, DecisionThread, LateError
from mjbot.play.client.fallback_strategy import Fallback
from mjbot.play.client.faults import Faults
from mjbot.play.client.server_offers import (
    disagreement,
    discard_disagreement,
    is_offered,
    last_resort,
    listed,
)
from mjbot.play.startup.warm_up import WarmUp, is_ours, warm_up_alone
from mjbot.protocol import messages as m
from mjbot.protocol.dialects import Dialect
from mjbot.protocol.plain_text import one_line
from mjbot.protocol.rules import Length
from mjbot.protocol.sessions.client import Received
from mjbot.protocol.sessions.turns import Due
from mjbot.protocol.tenhou.offers import NO_OFFER, takes
from mjbot.protocol.tenhou.offers import disagreement as offer_disagreement
from mjbot.protocol.tiles import tile_names
from mjbot.strategy.faults import NO_ANSWER, Fault, FaultKind, accepted
from mjbot.strategy.registry import require_players
from mjbot.strategy.strategy import Strategy, remark_on

SLOW_S: Final = 30.0
"""A warm-up that takes longer is reported once; what hangs there cannot be ended.  A strategy's own
:meth:`~mjbot.strategy.strategy.Strategy.warm_up` is not waited for any longer."""

logger = logging.getLogger(__name__)

_REQUEST_SHARE: Final = 0.8
"""Part of a request's deadline to think in; the rest is for the network."""

MakeStrategy = Callable[[int], Strategy]
"""Makes the player of game 0, 1, ...: a strategy's instance plays one game."""


class ClientPlayer:
    """Plays one seat of one game after the other, whatever the strategy does.

    ``make_strategy`` is called with 0, 1, ... for each game; ``deadline_s`` is what a decision
    may take.  ``warm_up`` stands in for the usual one (:mod:`mjbot.play.startup.warm_up`).
    ``length`` is that of games whose server does not announce it (``None``: a hanchan).
    ``decisions`` counts what the strategy was asked, ``faults`` has what it did wrong; where it
    does, ``fallback`` decides, if there is one, else the default action is played.  In
    strict mode :class:`TableError` is raised where the server contradicts itself or the rules; in
    lenient mode that is logged and play continues.  A list of legal actions that is not ours is
    logged in both; what is in both lists is played.
    """

    _strategy: Strategy  # from the first start_game on

    def __init__(
        self,
        make_strategy: MakeStrategy,
        dialect: Dialect,
        *,
        strict: bool,
        deadline_s: float | None,
        warm_up: WarmUp | None = None,
        faults: Faults | None = None,
        fallback: Fallback | None = None,
        length: Length | None = None,
    ) -> None:
        self._length: Final = length
        self._make_strategy: Final = make_strategy
        self._fallback: Final = fallback
        self._warm_up: Final = warm_up or self._warm_up_alone
        self._lists_all: Final = dialect.traits.lists_all_actions
        self._strict: Final = strict
        self._deadline_s: Final = deadline_s
        self._thread: Final = DecisionThread()
        self._is_warm = False
        self._first: Strategy | None = None
        """A user's strategy, made before its first game, which it will play."""
        self._games = 0
        self._seat: m.Seat = 0
        self._drawn: m.Tile | None = None
        self._last: m.Event = m.StartGame()
        self.table = Mirror(strict=strict)
        self.decisions = 0
        self.remark = ""
        """The strategy's remark on its last answer, for the log."""
        self.legal: tuple[m.PlayerAction, ...] = ()
        """What was legal, as far as we know, when the last answer was given."""
        self.faults: Final = faults or Faults()

    def close(self) -> None:
        """Let its threads end: the last game is over."""
        self._thread.close()
        if self._fallback is not None:
            self._fallback.close()

    def _warm_up_alone(self) -> None:
        strategy = self._make_strategy(0)
        if is_ours(strategy):
            warm_up_alone(strategy)
        else:
            self._first = strategy
        if self._fallback is not None:
            self._fallback.warm_up(warm_up_alone)

    async def warm_up(self) -> None:
        """Warm up once, in the thread that will think; a failure is logged."""
        if self._is_warm:
            return
        self._is_warm = True
        text = "the strategy's warm-up has not ended after %g s: it compiles, or waits in vain"
        slow = asyncio.get_running_loop().call_later(SLOW_S, logger.error, text, SLOW_S)
        try:
            await self._thread.think(self._warm_up, None)
            if self._first is not None:
                await self._thread.think(self._first.warm_up, SLOW_S)
        except LateError:
            logger.error("the game begins without the end of the strategy's warm_up()")
        except CrashError as crash:
            logger.error("the strategy failed in its warm-up with %s", crash)
            logger.debug("where it failed", exc_info=crash.__cause__)
        finally:
            slow.cancel()

    # --- events ------------------------------------------------------------------------------

    async def take(self, event: m.Event, seat: m.Seat) -> None:
        """Take in one event.

        Raises :class:`TableError` in strict mode, and ``StrategyError`` where the strategy cannot
        play at such a table.
        """
        self._last = event
        if isinstance(event, m.StartGame):
            self._seat = seat
            self.table = Mirror(seat, self._strict, self._length)
            first, self._first = self._first, None
            self._strategy = first or self._make_strategy(self._games)
            self._games += 1
        self._apply(event)
        if isinstance(event, m.StartGame):
            names = event.names or ()
            if self._fallback is not None:
                await self._fallback.start_game(self._games - 1, seat, names)
            await self._inform(lambda: self._strategy.start_game(seat, names))
        elif isinstance(event, m.StartKyoku):
            view = Sealed().view(self.table.view(seat))
            self._require_players(view.players)
            if self._fallback is not None:
                await self._fallback.start_kyoku(self.table.view(seat))
            await self._inform(lambda: self._strategy.start_kyoku(view))
        elif isinstance(event, m.Tsumo):
            self._drawn = event.pai if event.actor == seat and event.pai != "?" else None
        elif isinstance(event, m.Dahai):
            self._drawn = None

    def _require_players(self, players: int) -> None:
        """Raise ``StrategyError`` where a strategy cannot play at a table of so many players."""
        require_players(type(self._strategy), players)
        if self._fallback is not None:
            self._fallback.require_players(players)

    def _apply(self, event: m.Event) -> None:
        try:
            self.table.apply(event)
        except TableError:
            raise
        except Exception as error:  # a broken stream must not end a lenient game
            problem = f"cannot be applied: {type(error).__name__}: {error}"
            self._contradiction(problem)

    async def _inform(self, note: Callable[[], None]) -> None:
        await self._thread.attempt(note, self._deadline_s, None, partial(self._note, 0))

    # --- decisions ---------------------------------------------------------------------------

    async def answer(self, received: Received) -> m.PlayerAction | None:
        """Return the reply, or ``None`` where there is nothing to decide.

        Raises :class:`TableError` in strict mode if an answer is requested where nothing is legal
        and nothing is offered.
        """
        self.remark, self.legal = "", ()
        view = self.table.view(self._seat)
        if not received.due.is_choice:
            return self._without_legal(received, view) if self._expects_answer(received) else None
        messages = [self._message(action) for action in view.legal]
        self.legal = tuple(messages)
        self._compare(received, view, messages)
        if not view.legal:
            return self._without_legal(received, view)
        choice = view.legal[0]
        if len(view.legal) > 1:
            choice = await self._choose(view, received.deadline_ms)
        return self._acceptable(self._message(choice), messages, received, view)

    def _message(self, action: Action) -> m.PlayerAction:
        return to_message(self.table.state, self._seat, action)

    async def _choose(self, view: View, deadline_ms: int | None) -> Action:
        self.decisions += 1
        limit_s = self._deadline_s
        if deadline_ms is not None:
            asked_s = _REQUEST_SHARE * deadline_ms / 1000
            limit_s = asked_s if limit_s is None else min(limit_s, asked_s)
        fallback = self._fallback
        if fallback is not None and limit_s is not None:
            limit_s = max(limit_s / 2, limit_s - fallback.limit_s)
        sealed = Sealed().view(view)  # of its own: a late decision continues with it
        vars(sealed)["time_left_ms"] = None if limit_s is None else 1000 * limit_s
        note = partial(self._note, self.decisions)
        choice, remark = await self._thread.attempt(
            lambda: self._decided(sealed), limit_s, (NO_ANSWER, ""), note
        )
        if action := accepted(choice, view.codes, partial(note, "illegal")):
            self.remark = remark
            return action
        return view.default_action if fallback is None else await fallback.decide(view)

    def _decided(self, view: View) -> tuple[object, str]:
        self._strategy.remark()  # of a decision that has failed: it does not belong to this one
        return self._strategy.decide(view), remark_on(self._strategy)

    def _acceptable(
        self,
        message: m.PlayerAction,
        messages: Sequence[m.PlayerAction],
        received: Received,
        view: View,
    ) -> m.PlayerAction | None:
        """Return the choice, or the nearest thing that the server will take.

        In lenient mode our table may have lost the thread: it thinks of riichi where a discard is
        due after a call.
        """
        for candidate in (message, self._message(view.default_action), *messages):
            if self._takes(candidate, received):
                return candidate
        return self._without_legal(received, view)

    def _takes(self, message: m.PlayerAction, received: Received) -> bool:
        """Return whether the server will take an answer, by its own lists."""
        if self._lists_all and received.hints:
            return is_offered(received.hints, message, complete=True)
        if m.wire_name(message) not in received.due.value:
            return False
        if isinstance(message, m.Dahai) and message.pai in (received.cannot_discard or ()):
            return False
        if received.offer is not None and not takes(received.offer, message):
            return False
        hints = None if self._lists_all else received.hints
        return hints is None or is_offered(hints, message, complete=False)

    # --- when things do not fit --------------------------------------------------------------

    def check_unasked(self) -> None:
        """Log what is open to us after another's discard or kakan where nothing was offered."""
        if not isinstance(self._last, m.Dahai | m.Kakan):
            return
        messages = [self._message(action) for action in self.table.legal(self._seat)]
        self._log_difference(offer_disagreement(NO_OFFER, messages))

    def _compare(self, received: Received, view: View, messages: Sequence[m.PlayerAction]) -> None:
        """Log where the server's lists are not ours: no list of its own ends a game."""
        if received.offer is not None:
            self._log_difference(offer_disagreement(received.offer, messages))
        if received.hints is not None:
            complete = self._lists_all
            self._log_difference(disagreement(received.hints, messages, complete=complete))
        if received.cannot_discard is not None and received.due is Due.DISCARD:
            ours = [message.pai for message in messages if isinstance(message, m.Dahai)]
            held = tile_names(view.tiles)
            self._log_difference(discard_disagreement(received.cannot_discard, held, ours))

    def _without_legal(self, received: Received, view: View) -> m.PlayerAction | None:
        if "none" in received.due.value and not self._expects_answer(received):
            return None
        offers = (received.hints or ()) if self._lists_all else ()
        problem = "the server requests an answer, but no action is legal"
        if offers:
            self._log_difference(f"{problem}; offered by the server: {listed(offers)}")
        else:
            self._contradiction(problem)
        forbidden = received.cannot_discard or ()
        held = [tile for tile in tile_names(view.tiles) if tile not in forbidden]
        return last_resort(received.due, self._seat, self._drawn, held, offers)

    def _expects_answer(self, received: Received) -> bool:
        """Whether a complete list of offers leaves out the pass."""
        hints = received.hints if self._lists_all else None
        return bool(hints) and all(hint.type != "none" for hint in hints or ())

    def _contradiction(self, problem: str) -> None:
        if self._strict:
            raise TableError(problem, self._last)
        self._log_difference(problem)

    def _log_difference(self, problem: str | None) -> None:
        if problem:
            logger.warning("%s; event: %s", one_line(problem), one_line(quote(self._last)))

    def _note(
        self, decision: int, kind: FaultKind, problem: str, cause: BaseException | None = None
    ) -> None:
        self.faults.add(Fault(kind, self._seat, decision, problem), cause)
