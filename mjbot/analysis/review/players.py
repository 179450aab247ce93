"""A strategy in the seats of a recorded game, with the same input as at the table."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from mjbot.game.records.choices import ReplayStep
from mjbot.game.table.actions import Action
from mjbot.game.table.apply import apply_riichi
from mjbot.game.table.apply_calls import apply_chi, apply_pon
from mjbot.game.table.assume import set_last_round
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.game.table.mirror.wire import consumed_tiles
from mjbot.game.table.state import State, copy_state
from mjbot.game.table.view import Sealed, View
from mjbot.protocol.messages import StartGame, StartKyoku
from mjbot.runtime.errors import MjbotError
from mjbot.strategy.explanation import Explanation
from mjbot.strategy.faults import error_summary, is_legal, no_choice
from mjbot.strategy.registry import Spec, require_players
from mjbot.strategy.strategy import Strategy

Answer = TypeVar("Answer")


class StrategyFailedError(MjbotError):
    """The strategy raised, or chose what it may not."""


def honest_view(table: Mirror, seat: int, last_round: int | None = None) -> View:
    """Return what a seat sees at a fully known table, read-only as in the arena.

    Later events do not change it.  Records do not contain the length of a game; ``last_round``
    gives it where the end is known.
    """
    state = table.state
    if last_round is not None:
        state = copy_state(state)
        set_last_round(state, last_round)
    return _sealed(state, seat)


def _sealed(state: State, seat: int) -> View:
    """Return a view with a record of its own, so that it can be kept."""
    return Sealed().view(View(state, seat))


def view_after(view: View, action: Action) -> View | None:
    """Return what the seat sees once it has declared riichi, or called pon or chi.

    ``None`` for other actions: no discard of its own choice follows them at once.
    """
    state = copy_state(view.state)
    if action.is_riichi:
        apply_riichi(state, view.seat)
    elif action.name == "chi":
        apply_chi(state, view.seat, *consumed_tiles(state, view.seat, action))
    elif action.name == "pon":
        apply_pon(state, view.seat, *consumed_tiles(state, view.seat, action))
    else:
        return None
    return _sealed(state, view.seat)


class SeatedPlayers:
    """The strategy in the requested seats, with the events that it would receive at the table."""

    def __init__(self, spec: Spec, seed: int) -> None:
        self.name: Final = spec.name
        self._spec: Final = spec
        self._seed: Final = seed
        self.last_round: int | None = None
        """3 in a tonpu, 7 in a hanchan, of three players 2 and 6; see :func:`honest_view`."""
        self._seated: dict[int, Strategy] = {}
        self._new()

    def see(self, step: ReplayStep, seats: Iterable[int]) -> None:
        """Take note of a game or kyoku that begins; every game has new players.

        Raises :class:`~mjbot.strategy.registry.StrategyError` for a strategy that plays no table of
        so many.
        """
        if isinstance(step.event, StartGame):
            self._seated.clear()
            for seat in seats:
                self._call(step, self._at(seat).start_game, seat, step.table.names)
        elif isinstance(step.event, StartKyoku):
            for seat in seats:
                if step.table.state["hand_known"][seat]:
                    view = self.view(step, seat)
                    require_players(type(self._at(seat)), view.players)
                    self._call(step, self._at(seat).start_kyoku, view)

    def decide(self, step: ReplayStep, seat: int) -> Action:
        """Return what the strategy would do."""
        view = self.view(step, seat)
        choice = self._call(step, self._at(seat).decide, view)
        if not is_legal(choice, view.codes):
            raise self._failed(step, no_choice(choice))
        return choice

    def explain(self, step: ReplayStep, seat: int) -> tuple[str, Explanation]:
        """Return the name of the strategy's class and what it thinks."""
        strategy = self._at(seat)
        result = self._call(step, strategy.explain, self.view(step, seat))
        name = type(strategy).__name__
        if not isinstance(result, Explanation):
            problem = f"{name}.explain returned {type(result).__name__}, no Explanation"
            raise self._failed(step, problem)
        return name, result

    def view(self, step: ReplayStep, seat: int) -> View:
        """Return what a seat sees then."""
        return honest_view(step.table, seat, self.last_round)

    def follow_up(self, step: ReplayStep, view: View, action: Action) -> Action | None:
        """Return the discard with which the strategy would follow a riichi, pon or chi."""
        after = view_after(view, action)
        return self._call(step, self._at(view.seat).decide, after) if after else None

    def _at(self, seat: int) -> Strategy:
        if seat not in self._seated:
            self._seated[seat] = self._new()
        return self._seated[seat]

    def _new(self) -> Strategy:
        return self._spec.make(self._seed)

    def _call(self, step: ReplayStep, question: Callable[..., Answer], *about: object) -> Answer:
        try:
            return question(*about)
        except Exception as problem:
            strategy = getattr(question, "__self__", None)
            raise self._failed(step, error_summary(problem, strategy)) from problem

    def _failed(self, step: ReplayStep, why: str) -> StrategyFailedError:
        return StrategyFailedError(f"{self.name} fails at event {step.number}: {why}")
