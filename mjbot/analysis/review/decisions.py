"""The decisions of a recorded game, each with the action taken and a strategy's rating of it.

A decision belongs to a seat that had two or more different actions, of which the record shows
one.  Where the strategy would have done the same nothing is lost.  Else the loss is how
much lower it rates what was done: in points, if it reports points (as its unit, or as the term
:data:`~mjbot.strategy.explanation.IN_POINTS`), else in its own unit.  A loss is never below 0: a
strategy may choose by more than points, and where points favour what was done, none is counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Final, NamedTuple

import numpy as np

from mjbot.analysis.review.players import SeatedPlayers
from mjbot.game.records.choices import Numbering, ReplayStep, kyoku_name, steps_of
from mjbot.game.table.actions import Action
from mjbot.game.table.settle import ranks_of
from mjbot.game.table.state import State
from mjbot.game.table.view import View
from mjbot.learning.models.networks.rank import KyokuStart, rank_model
from mjbot.protocol import messages as m
from mjbot.protocol.rules import RANKED
from mjbot.protocol.tiles import N_KINDS, TILE_BY_NAME
from mjbot.strategy import explanation as e
from mjbot.viewer.descriptions import pairs_of

SEATS: Final = range(4)
CLOSE: Final = 0.02
"""Share of the span of all values below which a loss is too small to be one."""


@dataclass(eq=False)
class ReviewedDecision:
    """One choice, and how the reviewer rates it.

    ``event`` is the number of the event before the choice, ``number`` the choice's number in the
    kyoku, ``turn`` the seat's draws and calls so far.  ``then`` is the discard that followed a
    riichi or a call, ``expected_then`` the one the reviewer would make.  ``riichi`` are the
    opponents in riichi, each with the turn of this seat at which it was declared.  ``ally`` is the
    seat of the other of a pair, where the names mark one.  ``in_points``: whether losses of this
    game are counted in points.
    """

    event: int
    kyoku: int  # index in the list of kyoku
    name: str  # E2-1
    number: int
    seat: int
    turn: int
    asked: m.Event
    view: View
    explanation: e.Explanation
    actual: Action
    then: Action | None = None
    expected_then: Action | None = None
    riichi: tuple[tuple[int, int], ...] = ()
    ally: int | None = None
    in_points: bool = False

    @property
    def at(self) -> str:
        """The decision's name, as all commands take it: ``E2-1:5``."""
        return f"{self.name}:{self.number}"

    @property
    def expected(self) -> Action:
        """What the reviewer would have done."""
        return self.explanation.choice

    @property
    def is_equal(self) -> bool:
        """Whether it was done."""
        return e.same_choice(self.expected, self.actual)

    @property
    def done(self) -> e.Rated | None:
        """The reviewer's rating of the action taken, if it rates it."""
        return self.rated(self.actual, self.then)

    @property
    def is_on_ally(self) -> bool:
        """Whether it is about a tile that the seat's ally discarded or added to a pon."""
        return self.ally is not None and int(self.view.turn) == self.ally

    @property
    def is_missed_win(self) -> bool:
        """Whether a win was let go; not one on an ally's tile, which a pair lets pass."""
        is_let_go = self.expected.is_win and not self.actual.is_win
        return is_let_go and not self.is_on_ally

    def rated(self, action: Action, then: Action | None = None) -> e.Rated | None:
        """Return the reviewer's rating of an action, with the discard after it if it is rated."""
        rated = [
            option for option in self.explanation.rated if e.same_choice(option.action, action)
        ]
        if then is not None:
            follows = [
                option for option in rated if option.then and e.same_choice(option.then, then)
            ]
            rated = follows or rated
        return max(rated, key=lambda option: option.value, default=None)

    @property
    def better(self) -> e.Rated | None:
        """The reviewer's rating of its own choice."""
        return next((option for option in self.explanation.rated if option.is_chosen), None)

    @property
    def value_loss(self) -> float | None:
        """What was lost in the reviewer's own unit; ``None`` where it did not rate both."""
        if self.is_equal:
            return 0.0
        done, better = self.done, self.better
        if done is None or better is None or not isfinite(better.value - done.value):
            return None
        return max(0.0, better.value - done.value)

    @property
    def points(self) -> float | None:
        """What was lost in estimated points, below 0 where they favour what was done."""
        if self.is_equal:
            return 0.0
        done, better = (
            points_of(self.done, self.explanation.unit),
            points_of(self.better, self.explanation.unit),
        )
        return None if done is None or better is None else better - done

    @property
    def loss(self) -> float | None:
        """What was lost, in :attr:`loss_unit`; ``None`` where the reviewer did not rate both."""
        if not self.in_points:
            return self.value_loss
        return None if self.points is None else max(0.0, self.points)

    @property
    def loss_unit(self) -> str:
        """Points, or the reviewer's own unit."""
        return e.POINTS if self.in_points else self.explanation.unit

    @property
    def is_disputed(self) -> bool:
        """Whether points favour what was done, though the reviewer would choose something else."""
        points = self.points
        return not self.is_equal and self.in_points and points is not None and points <= 0

    @property
    def is_close(self) -> bool:
        """Whether the loss is too small a share of what is at stake to distinguish the two."""
        rated = self.explanation.rated
        values = [
            points_of(option, self.explanation.unit) if self.in_points else option.value
            for option in rated
        ]
        known = [value for value in values if value is not None and isfinite(value)]
        if self.is_equal or self.loss is None or len(known) < 2:
            return False
        return self.loss <= CLOSE * (max(known) - min(known))


def points_of(rated: e.Rated | None, unit: str) -> float | None:
    """Return the value of something in points, if the reviewer reports it."""
    if rated is None:
        return None
    if unit == e.POINTS:
        return rated.value if isfinite(rated.value) else None
    term = rated.term(e.IN_POINTS)
    return term.value if term else None


def total_of(unit: str) -> str:
    """Return what the terms in points add up to: the value, or another term."""
    return e.VALUE if unit == e.POINTS else e.IN_POINTS


@dataclass
class ReviewedKyoku:
    """One kyoku of the game: what stood at its start, and how it ended.

    ``event`` is the number of the event that began it.
    """

    name: str
    event: int
    round: int
    honba: int
    scores: tuple[int, ...]
    chances: list[list[float]]
    """How likely each seat ends at each place, as the kyoku starts: [seat][place]."""
    results: list[m.Event] = field(default_factory=list)
    scores_after: tuple[int, ...] = ()

    def expected_rank(self, seat: int) -> float:
        """Return the final rank that a seat could expect as the kyoku started."""
        return float(sum(rank * chance for rank, chance in enumerate(self.chances[seat], 1)))


@dataclass(frozen=True)
class DealIn:
    """A discard that another won on.

    ``decision`` is the choice that it was, ``None`` where there was none.  ``held`` are the kinds
    that were in the hand, ``deadly`` those of them that the winner waited on.
    """

    kyoku: int
    name: str
    seat: int
    winner: int
    tile: int
    paid: int
    decision: ReviewedDecision | None
    held: tuple[int, ...]
    deadly: tuple[int, ...]


@dataclass
class Judged:
    """A whole game, judged for some seats."""

    names: tuple[str, ...] = ()
    players: int = RANKED.players
    kyoku: list[ReviewedKyoku] = field(default_factory=list)
    decisions: list[ReviewedDecision] = field(default_factory=list)
    deal_ins: list[DealIn] = field(default_factory=list)
    unknown: list[tuple[int, str]] = field(default_factory=list)
    """Seat and position of choices of which the record does not show what was chosen."""
    scores: tuple[int, ...] = ()
    events: list[m.Event] = field(default_factory=list)

    @property
    def final_ranks(self) -> tuple[int, ...]:
        """The seats' final ranks from 1 on, the earlier seat's better of equal scores."""
        return tuple(ranks_of(self.scores))

    @property
    def in_points(self) -> bool:
        """Whether the reviewer reports points, so that losses are counted in them."""
        return any(
            points_of(rated, decision.explanation.unit) is not None
            for decision in self.decisions
            for rated in decision.explanation.rated
        )


def judge(
    events: Iterable[m.Event],
    players: SeatedPlayers,
    seats: Sequence[int],
    in_full: Sequence[int] = SEATS,
) -> Judged:
    """Judge the decisions of some seats in a game.

    For seats that are not ``in_full``, terms are computed only where the strategy would have acted
    otherwise.  Raises what :func:`~mjbot.game.records.choices.steps` does and
    :class:`~mjbot.analysis.review.players.StrategyFailedError`.
    """
    played = list(events)
    players.last_round = _last_round(played)
    walk = _Walk(players, seats, in_full)
    for step in steps_of(played):
        walk.take(step)
    in_points = walk.judged.in_points
    for decision in walk.judged.decisions:
        decision.in_points = in_points
    return walk.judged


def _last_round(events: Iterable[m.Event]) -> int | None:
    """Return the last scheduled round as the game's end shows it; ``None`` without an end."""
    last, is_over = 0, False
    for step in steps_of(events):
        last, is_over = (
            int(step.table.state["rules"]["last_round"]),
            isinstance(step.event, m.EndGame),
        )
    return last if is_over else None


class _Discard(NamedTuple):
    """A discard about to be made: the event before it, its kinds, and the waits of the others."""

    event: int
    tile: int
    held: tuple[int, ...]
    waits: list[int]


class _Walk:
    def __init__(
        self, players: SeatedPlayers, seats: Sequence[int], in_full: Sequence[int]
    ) -> None:
        self.judged: Final = Judged()
        self._players: Final = players
        self._seats: Final = seats
        self._in_full: Final = in_full
        self._numbering: Final = Numbering()
        self._turns = [0, 0, 0, 0]
        self._latest: dict[int, ReviewedDecision] = {}
        self._riichi: dict[int, list[int]] = {}
        """Of each seat in riichi the turns of all seats when it was declared."""
        self._discard: _Discard | None = None
        self._scores: tuple[int, ...] = (0, 0, 0, 0)

    def take(self, step: ReplayStep) -> None:
        self._players.see(step, self._seats)
        self.judged.events.append(step.event)
        self._note(step)
        self._read_following(step)
        for seat, number in self._numbering.choosers(step).items():
            if seat in self._seats:
                self._decide(step, seat, number)

    def _note(self, step: ReplayStep) -> None:
        judged, state = self.judged, step.table.state
        match step.event:
            case m.StartKyoku():
                judged.players = int(state["rules"]["players"])
                judged.names = judged.names or step.table.names[: judged.players]
                judged.kyoku.append(_kyoku(step, self._players.last_round))
                self._turns = [0, 0, 0, 0]
                self._latest.clear()
                self._riichi.clear()
            case m.Reach(actor=actor):
                self._riichi[actor] = [*self._turns]
            case m.Tsumo(actor=actor) | m.Chi(actor=actor) | m.Pon(actor=actor):
                self._turns[actor] += 1
            case m.Hora(actor=actor, target=target):
                judged.kyoku[-1].results.append(step.event)
                if actor != target:
                    paid = self._scores[target] - int(state["scores"][target])
                    self._deal_in(actor, target, paid)
            case m.Ryukyoku():
                judged.kyoku[-1].results.append(step.event)
        self._scores = judged.scores = _scores(state)
        if judged.kyoku and not isinstance(step.event, m.EndGame):  # sticks left over are no play's
            judged.kyoku[-1].scores_after = self._scores

    def _read_following(self, step: ReplayStep) -> None:
        """Keep, before a discard is made, the hand that it is made from."""
        if isinstance(step.next, m.Dahai):
            seat, state = step.next.actor, step.table.state
            held = [kind for kind in range(N_KINDS) if state["hand"][seat][kind]]
            waits = [int(state["waits"][other]) if other != seat else 0 for other in SEATS]
            tile = TILE_BY_NAME[step.next.pai]
            self._discard = _Discard(step.number, tile, tuple(held), waits)

    def _deal_in(self, winner: int, seat: int, paid: int) -> None:
        if seat not in self._seats or self._discard is None:
            return
        discard, kyoku = self._discard, len(self.judged.kyoku) - 1
        decision = self._latest.get(seat)
        if decision and decision.event != discard.event:
            decision = None
        deadly = tuple(kind for kind in discard.held if discard.waits[winner] >> kind & 1)
        name = self.judged.kyoku[-1].name
        self.judged.deal_ins.append(DealIn(
            kyoku, name, seat, winner, discard.tile, paid, decision, discard.held, deadly
        ))  # fmt: skip

    def _decide(self, step: ReplayStep, seat: int, number: int) -> None:
        recorded = step.recorded(seat)
        legal = {
            (choice.name, choice.tile, choice.red, choice.offset) for choice in step.choices(seat)
        }
        if len(legal) < 2:
            return
        if recorded is None:
            self.judged.unknown.append((seat, f"{kyoku_name(step.table.state)}:{number}"))
            return
        decision = self._decision(step, seat, number, recorded)
        if not _is_reaction(step):
            self._latest[seat] = decision
        self.judged.decisions.append(decision)

    def _decision(
        self, step: ReplayStep, seat: int, number: int, actual: Action
    ) -> ReviewedDecision:
        players, view = self._players, self._players.view(step, seat)
        rating = None
        if seat not in self._in_full:
            choice = players.decide(step, seat)
            rating = e.Explanation(choice) if e.same_choice(choice, actual) else None
        rating = rating or players.explain(step, seat)[1]
        same = e.same_choice(rating.choice, actual)
        then = step.discard_after(seat)
        expected_then = then if same else players.follow_up(step, view, rating.choice)
        riichi = [(other, at[seat]) for other, at in self._riichi.items() if other != seat]
        return ReviewedDecision(
            step.number, len(self.judged.kyoku) - 1, kyoku_name(step.table.state), number, seat,
            self._turns[seat], step.event, view, rating, actual, then, expected_then, tuple(riichi),
            pairs_of(self.judged.names).get(seat),
        )  # fmt: skip


def _is_reaction(step: ReplayStep) -> bool:
    return isinstance(step.event, m.Dahai)


def _kyoku(step: ReplayStep, last_round: int | None) -> ReviewedKyoku:
    state = step.table.state
    last = int(state["rules"]["last_round"]) if last_round is None else last_round
    scores = _scores(state)
    players = len(scores)
    here = KyokuStart(
        np.array(scores, np.int32), int(state["round"]), last, int(state["honba"]),
        int(state["sticks"]), int(state["dealer"]),
    )  # fmt: skip
    return ReviewedKyoku(
        kyoku_name(state),
        step.number,
        here.round,
        here.honba,
        scores,
        rank_model(players).chances(here)[:players, :players].tolist(),
    )


def _scores(state: State) -> tuple[int, ...]:
    """Return the points of the seats that are taken."""
    return tuple(state["scores"][: int(state["rules"]["players"])].tolist())
