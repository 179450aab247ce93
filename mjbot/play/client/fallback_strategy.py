"""A second strategy, which decides where the first is late, fails or chooses what is illegal."""

import logging
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from mjbot.game.table.actions import Action
from mjbot.game.table.view import Sealed, View
from mjbot.play.client.decision_thread import DecisionThread
from mjbot.protocol.plain_text import one_line
from mjbot.strategy.faults import NO_ANSWER, FaultKind, accepted
from mjbot.strategy.registry import require_players
from mjbot.strategy.strategy import Strategy

logger = logging.getLogger(__name__)

T = TypeVar("T")

FALLBACK_S: Final = 0.5
"""Time that is kept for the fallback strategy, taken from the decision's own limit."""


class Fallback:
    """Decides in place of the first strategy.

    ``make_strategy`` is called with 0, 1, ... for each game; ``limit_s`` is the time for a decision
    of its own.  It thinks in a thread of its own: that of the first may be stuck.
    """

    def __init__(
        self, make_strategy: Callable[[int], Strategy], limit_s: float = FALLBACK_S
    ) -> None:
        self.limit_s: Final = limit_s
        self._make_strategy: Final = make_strategy
        self._thread: Final = DecisionThread()
        self._strategy: Strategy | None = None
        self._decisions = 0

    def close(self) -> None:
        """Let its thread end."""
        self._thread.close()

    def take_count(self) -> int:
        """Return how often it has decided since the last call."""
        count, self._decisions = self._decisions, 0
        return count

    def warm_up(self, warm_up_alone: Callable[[Strategy], None]) -> None:
        """Do what the first strategy does before its first game, in the calling thread."""
        warm_up_alone(self._make_strategy(0))

    def require_players(self, players: int) -> None:
        """Raise ``StrategyError`` if it cannot play at a table of so many players."""
        if self._strategy is not None:
            require_players(type(self._strategy), players)

    async def start_game(self, game: int, seat: int, names: Sequence[str]) -> None:
        """Begin game ``game``, from 0."""
        strategy = self._strategy = self._make_strategy(game)
        await self._attempt(lambda: strategy.start_game(seat, tuple(names)), None)

    async def start_kyoku(self, view: View) -> None:
        """Begin a kyoku."""
        strategy, sealed = self._strategy, Sealed().view(view)
        if strategy is not None:
            await self._attempt(lambda: strategy.start_kyoku(sealed), None)

    async def decide(self, view: View) -> Action:
        """Return its choice; the view's default action if it fails, too."""
        strategy, sealed = self._strategy, Sealed().view(view)
        if strategy is None:
            return view.default_action
        self._decisions += 1
        choice = await self._attempt(lambda: strategy.decide(sealed), NO_ANSWER)
        return accepted(choice, view.codes, _log) or view.default_action

    async def _attempt(self, job: Callable[[], T], instead: T) -> T:
        return await self._thread.attempt(job, self.limit_s, instead, _log_fault)


def _log_fault(kind: FaultKind, problem: str, cause: BaseException | None) -> None:
    _log(problem)


def _log(problem: str) -> None:
    logger.error("the fallback strategy: %s", one_line(problem))
