"""What Mizukami 2013 left to the future: calls, hand quality, finer danger, pushing round.

One comparison does it all::

    value(discard) = (1 - chance to deal in) x value of the hand left - value lost by dealing in

in points (:mod:`mjbot.learning.models.placement`).  The danger:
:mod:`mjbot.strategies.evaluation.push_fold.push`; the hand:
:mod:`mjbot.strategies.evaluation.push_fold.hand_value` and what that is made of; hands of 2 shanten
and more are multiplied by exp((score - best score) / ``evaluator_scale``) of the hand evaluator.

The weights were tried by hand in the arena against three fast-riichi-a, some 100 walls a choice;
those runs are not kept.  Revised on the way were ``call_rate`` (0.8 at first), ``mawashi_cost``
(0.35, 0.5) and ``call_margin`` (400 for a while).  The pace of others is counted in records by
``mjbot train danger``; ``threat_pace`` raises it where opponents are in riichi.  What
the parts gain: docs/results/fold-recognition-plus.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import ClassVar, Final

import numpy as np

from mjbot.game.rules.shanten import shanten
from mjbot.game.rules.tile_sets import shanten_of
from mjbot.game.table.actions import ACTIONS, KITA, PON_PLAIN, Action
from mjbot.game.table.seats import seat_after
from mjbot.game.table.state import Phase
from mjbot.game.table.view import View
from mjbot.learning.models.danger import danger_weights
from mjbot.learning.models.fold import shared_recogniser
from mjbot.learning.models.hand import FeatureSet, HandEvaluator
from mjbot.learning.models.weights import OF_PLAYERS, load_weights
from mjbot.protocol.tiles import N_TILES, NORTH, tile_kind
from mjbot.strategies.evaluation.facts import hand_facts
from mjbot.strategies.evaluation.push_fold import terms as t
from mjbot.strategies.evaluation.push_fold.calls import N_CALLS, draws_left, weigh_calls_in
from mjbot.strategies.evaluation.push_fold.hand_value import (
    NEVER,
    Floats,
    less_danger,
    weigh_discards,
)
from mjbot.strategies.evaluation.push_fold.push import (
    USUAL,
    PushParameters,
    PushPosition,
    read_position,
)
from mjbot.strategies.evaluation.push_fold.race import StageTable, new_stages
from mjbot.strategies.evaluation.push_fold.win_chance import WinSituation, situation_after
from mjbot.strategy.explanation import LATER, PLACEMENT, POINTS, VALUE, Rated, Strength, Term
from mjbot.strategy.options import switch
from mjbot.strategy.strategy import Strategy

KINDS: Final = np.array([tile_kind(tile) for tile in range(N_TILES)])
FAR: Final = 2
"""From this shanten on the evaluator counts."""


@dataclass
class FoldRecognitionPlus(Strategy):
    """Push while the hand's value exceeds its danger; of two safe tiles keep the better hand.

    The value of a discard is what the hand left may win, by its shape, its yaku and the draws left,
    less what the tile may cost against each opponent.  Calls are made when they raise that.
    The switches, each at no to measure what it gains: ``calls``, ``hand_quality``, ``fine_danger``,
    ``push_round``, ``own_judgement``, ``silent_tenpai``, ``placement``, ``evaluator``;
    ``calibrated`` changes no choice, only the chance to win that is reported.
    """

    players = (3, 4)
    value_unit: ClassVar[str] = POINTS
    strength: ClassVar[Strength] = Strength(
        2.059,
        0.043,
        "fast-riichi-a",
        "mjbot arena fold-recognition-plus fast-riichi-b fast-riichi-d fast-riichi-a --format 1v3"
        " --games 6500 --seed 6",
        "2026-11-22",
    )

    calls: bool = switch("pon and chi")
    hand_quality: bool = switch("judge hands by shape and yaku; no: by shanten alone")
    fine_danger: bool = switch("danger as fitted; no: by the four grades of the paper")
    push_round: bool = switch("weigh all tiles; no: only the best for the hand and the safest")
    own_judgement: bool = switch("fold by value; no: where the paper's recogniser decides so")
    silent_tenpai: bool = switch("weigh riichi; no: always declare it")
    placement: bool = switch("points by the rank they bring; no: as points")
    evaluator: bool = switch("the paper's hand evaluator on hands far from tenpai")
    calibrated: bool = switch("report chances to win as counted in records; no: as estimated")

    ron_rate: float = field(
        default=2.5, metadata={"unit": "others' discards per own draw to win on"}
    )
    call_rate: float = field(default=0.6, metadata={"unit": "tiles to call per opponent's discard"})
    score_spread: float = field(
        default=7000.0, metadata={"unit": "points that a kyoku moves two scores"}
    )
    rank_share: float = field(
        default=0.5, metadata={"unit": "of the value of points is rank: 0 none, 1 all"}
    )
    caution: float = field(default=1.0, metadata={"unit": "x what a deal-in costs"})
    tenpai_points: float = field(default=2000.0, metadata={"unit": "points of tenpai at a draw"})
    mawashi_cost: float = field(
        default=0.4,
        metadata={
            "unit": "x the danger of a drawn tile, while it can be chosen",
        },
    )
    call_margin: float = field(default=100.0, metadata={"unit": "points a call must gain"})
    call_factor: float = field(default=1.0, metadata={"unit": "x the value of passing, at least"})
    threat_pace: float = field(
        default=1.3, metadata={"unit": "x how soon others win in records, under threat"}
    )
    features: FeatureSet = field(default="plus", metadata={"unit": "feature set of the evaluator"})
    evaluator_scale: float = field(
        default=60.0,
        metadata={"unit": "evaluator's score that divides a hand's value by e"},
    )
    near_evaluator_weight: float = field(
        default=0.0, metadata={"unit": "x the evaluator at 1 shanten"}
    )

    def decide(self, view: View) -> Action:
        """Win, else kita or kan, else riichi or the best discard, else the best call."""
        return (
            self.win(view)
            or self.kita(view)
            or self.kan(view)
            or self.turn(view)
            or self.call(view)
            or view.default_action
        )

    def win(self, view: View) -> Action | None:
        """Tsumo and ron whenever they are legal, and the draw by nine terminals."""
        for action in reversed(view.legal):
            if action.is_win or action.is_nine_terminals:
                return action
            if action.is_discard:
                return None
        return None

    def kan(self, view: View) -> Action | None:
        """A concealed kan that costs no step, unless another seat is in riichi and we are not."""
        for action in reversed(view.legal):
            if not action.is_kan:
                return None
            if action.name != "ankan":
                continue
            if view.riichi(view.seat):
                return action
            hand = view.hand.copy()
            hand[action.tile] -= 4
            quiet = not any(view.riichi(seat) for seat in range(4))
            if quiet and shanten(hand, view.n_melds + 1) <= view.shanten:
                return action
        return None

    def kita(self, view: View) -> Action | None:
        """Set a north aside unless the hand is better with it, or is far off and may need it.

        As strong players do (docs/strategies/fold-recognition-plus.md): a north of a pair goes, one
        of three or without which the hand needs a tile more stays; so does one that is a safe
        discard for a hand of 2 shanten or more while another player is in riichi.
        """
        if KITA not in view.codes:
            return None
        if view.riichi(view.seat) or view.hand[NORTH] == 2:
            return ACTIONS[KITA]
        rest = view.hand.copy()
        rest[NORTH] -= 1
        if shanten_of(rest, view.n_melds, view.players) > view.shanten:
            return None
        in_riichi = any(view.riichi(seat) for seat in range(view.players))
        return None if in_riichi and view.shanten >= FAR else ACTIONS[KITA]

    def turn(self, view: View) -> Action | None:
        """Declare riichi or discard, whichever has the highest value."""
        discards = view.discards
        if len(discards) < 2 and len(discards) == len(view.legal):
            return discards[0] if discards else None
        if not discards:
            return None
        values, riichis, position = self._weighed(view, discards)
        values_left, declared = less_danger(values, position), less_danger(riichis, position)
        if view.phase == Phase.RIICHI:
            return _best(discards, declared)
        if declared.max() > NEVER and (
            not self.silent_tenpai or declared.max() > values_left.max()
        ):
            return next(action for action in view.legal if action.is_riichi)
        return self._discard(view, discards, values, position)

    def call(self, view: View) -> Action | None:
        """Call if it raises the value of the hand."""
        calls = [action for action in view.legal if action.is_call and not action.is_kan]
        if not calls or not self.calls:
            return None
        values_left = np.empty(N_CALLS)
        passed = self._weigh_calls(view, calls, self._position_of_calls(view), values_left)
        best = max(calls, key=lambda action: (values_left[action.code - PON_PLAIN], action.red))
        least = self.call_factor * passed + self.call_margin
        return best if values_left[best.code - PON_PLAIN] > least else None

    def ratings(self, view: View) -> Iterator[Rated]:
        """Yield the discards, riichi with each that leaves tenpai, the calls and the pass."""
        yield from self._rated_discards(view, VALUE)
        yield from self._rated_calls(view, VALUE)

    def ratings_in_points(self, view: View, total: str) -> list[Rated]:
        """Return the ratings for another strategy's terms: they add up to its term ``total``."""
        return [*self._rated_discards(view, total), *self._rated_calls(view, total)]

    def discard_values(self, view: View) -> tuple[Floats, Floats]:
        """Return the value of each discard in points, silent and in riichi: float64[37] each.

        It is NEVER for tiles that cannot be discarded so.
        """
        values, riichis, position = self._weighed(view, view.discards)
        return less_danger(values, position), less_danger(riichis, position)

    def call_values(self, view: View) -> tuple[list[tuple[Action, float]], float]:
        """Return the value of each pon and chi in points, and of the pass."""
        calls = [action for action in view.legal if action.is_call and not action.is_kan]
        values_left = np.empty(N_CALLS)
        passed = self._weigh_calls(view, calls, self._position_of_calls(view), values_left)
        return [(call, float(values_left[call.code - PON_PLAIN])) for call in calls], passed

    def estimated_chance(
        self, view: View, action: Action, then: Action | None = None
    ) -> tuple[float, WinSituation] | None:
        """Return the chance to win (0..1) that is estimated after one action, not calibrated.

        ``action`` is a discard, a riichi with ``then``, a pon, a chi, or the pass of one; ``None``
        for all others, which are not rated.
        """
        discard = then if action.is_riichi else action
        if discard is not None and discard.is_discard:
            in_riichi = action.is_riichi or view.phase == Phase.RIICHI
            here = self._played_for_the_win(
                self._position(view, view.wall_left // view.players), view
            )
            tiles = np.array([discard.tile], np.int64)
            chance = float(
                t.hands_left(view, tiles, here, self.calls)[int(in_riichi), discard.tile]
            )
            situation = situation_after(view, discard, in_riichi=in_riichi)
            return (min(max(chance, 0.0), 1.0), situation) if chance > NEVER else None
        calls = [call for call in view.legal if call.is_call and not call.is_kan]
        if not calls or not (action.is_pass or (action.is_call and not action.is_kan)):
            return None
        here = self._played_for_the_win(self._position_of_calls(view), view)
        values_left = np.empty(N_CALLS)
        passed = self._weigh_calls(view, [] if action.is_pass else [action], here, values_left)
        chance = passed if action.is_pass else float(values_left[action.code - PON_PLAIN])
        return min(max(chance, 0.0), 1.0), situation_after(view, action)

    def _played_for_the_win(self, position: PushPosition, view: View) -> PushPosition:
        """Return a position in which a win has the value 1 and all else 0."""
        return t.price(position, t.NO_DANGERS, view, self._parameters_of[view.players]).chance

    def _rated_discards(self, view: View, total: str) -> Iterator[Rated]:
        if not view.discards:
            return
        discards = {action.tile: action for action in view.discards}
        tiles = np.array(sorted(discards), np.int64)
        values, riichis, position = self._hands(view, view.discards)
        weighted = values * self._evaluator_factors(view, values)
        dangers = t.read_dangers(
            view, danger_weights(OF_PLAYERS[view.players]), self._parameters_of[view.players]
        )
        priced = t.price(position, dangers, view, self._parameters_of[view.players])
        hands = t.PricedHands(*(t.hands_left(view, tiles, here, self.calls) for here in priced))
        facts = hand_facts(view)
        opponents = [seat_after(view.state, view.seat, step) for step in range(1, view.players)]
        riichi = next((action for action in view.legal if action.is_riichi), None)
        declared = view.phase == Phase.RIICHI
        for in_riichi in [declared] + [True] * (riichi is not None):
            values_left = less_danger(riichis if in_riichi else weighted, position).tolist()
            unweighted = less_danger(riichis if in_riichi else values, position).tolist()
            for tile in tiles.tolist():
                if values_left[tile] <= NEVER:
                    continue
                situation = situation_after(view, discards[tile], in_riichi=in_riichi)
                of = t.Discarded(
                    tile, values_left[tile], unweighted[tile], in_riichi,
                    situation if self._reports_counted(view) else None,
                )  # fmt: skip
                terms = t.discard_terms(opponents, of, hands, dangers, self.caution, total)
                first = riichi if riichi is not None and in_riichi else None
                yield Rated(
                    first or discards[tile],
                    values_left[tile],
                    then=discards[tile] if first else None,
                    terms=[*facts[tile], *terms],
                )

    def _rated_calls(self, view: View, total: str) -> Iterator[Rated]:
        """Yield each pon and chi with its best discard, and the pass."""
        calls = [action for action in view.legal if action.is_call and not action.is_kan]
        if not calls or not self.calls:
            return
        position = self._position_of_calls(view)
        dangers = t.read_dangers(
            view, danger_weights(OF_PLAYERS[view.players]), self._parameters_of[view.players]
        )
        priced = t.price(position, dangers, view, self._parameters_of[view.players])
        values = np.empty((4, 1 + N_CALLS))  # the pass first
        for index, here in enumerate((position, *priced)):
            values[index, 0] = self._weigh_calls(view, calls, here, values[index, 1:])
        for action in [*calls, *[action for action in view.legal if action.is_pass]]:
            column = 0 if action.is_pass else 1 + action.code - PON_PLAIN
            value, plain, gains, chance = values[:, column].tolist()
            situation = situation_after(view, action) if self._reports_counted(view) else None
            terms = t.winning_terms(gains, chance, situation, total)
            terms.append(Term(LATER, POINTS, plain - gains, adds_to=total))
            terms.append(Term(PLACEMENT, POINTS, value - plain, adds_to=total))
            yield Rated(action, value, terms=terms)

    def _reports_counted(self, view: View) -> bool:
        """Return whether chances are calibrated: they were counted in games of four."""
        return self.calibrated and view.players == 4

    def _weigh_calls(
        self, view: View, calls: Sequence[Action], position: PushPosition, values_left: Floats
    ) -> float:
        codes = np.array([action.code for action in calls], np.int64)
        return float(weigh_calls_in(view.state, view.seat, codes, position, values_left))

    def _position_of_calls(self, view: View) -> PushPosition:
        return self._position(view, max(draws_left(view.state, view.seat)))

    def _weighed(
        self, view: View, discards: Sequence[Action]
    ) -> tuple[Floats, Floats, PushPosition]:
        """Return what each hand left may win, float64[37] silent and in riichi; and the dangers."""
        values, riichis, position = self._hands(view, discards)
        return values * self._evaluator_factors(view, values), riichis, position

    def _hands(self, view: View, discards: Sequence[Action]) -> tuple[Floats, Floats, PushPosition]:
        """Return the same without the hand evaluator's weight."""
        position = self._position(view, view.wall_left // view.players)
        values, riichis = np.empty(N_TILES), np.empty(N_TILES)
        tiles = np.array(sorted({action.tile for action in discards}), np.int64)
        hand, is_open = view.hand.copy(), view.is_open(view.seat)
        weigh_discards(hand, view.n_melds, is_open, tiles, position, self.calls, values, riichis)
        return values, riichis, position

    def _discard(
        self, view: View, discards: Sequence[Action], values: Floats, position: PushPosition
    ) -> Action:
        values_left = less_danger(values, position)
        best = _best(discards, values_left)
        if self.push_round and self.own_judgement:
            return best
        wanted, safest = _best(discards, values), _best(discards, -position.loss[KINDS])
        if self.own_judgement:
            return wanted if values_left[wanted.tile] > values_left[safest.tile] else safest
        folds = shared_recogniser().margin(view.state, view.seat, tile_kind(wanted.tile)) > 0
        return safest if folds else best if self.push_round else wanted

    def _evaluator_factors(self, view: View, values: Floats) -> Floats:
        """Return what share of their value the hands keep by the evaluator's scores."""
        if not self.evaluator:
            return np.ones(N_TILES)
        share_of_evaluator = (
            1.0 if not self.hand_quality or view.shanten >= FAR else self.near_evaluator_weight
        )
        scores = _evaluator(self.features).scores_at(view.state, view.seat)
        share = np.exp(
            share_of_evaluator * np.maximum(scores - scores.max(), -1e4) / self.evaluator_scale
        )
        return np.where(values > 0, share[KINDS], 1.0)

    def _position(self, view: View, draws: int) -> PushPosition:
        return read_position(
            view.state,
            view.seat,
            view.unseen,
            draws,
            danger_weights(OF_PLAYERS[view.players]),
            self._parameters_of[view.players],
            self._stages,
        )

    @cached_property
    def _stages(self) -> StageTable:
        return new_stages()

    @cached_property
    def _parameters_of(self) -> dict[int, PushParameters]:
        return {players: self._with_pace(players) for players in self.players}

    def _with_pace(self, players: int) -> PushParameters:
        pace = _pace(players).copy()
        pace[:, 1:USUAL] *= self.threat_pace
        return PushParameters(
            self.ron_rate, self.call_rate, self.score_spread,
            self.rank_share if self.placement else 0.0, self.caution, self.tenpai_points,
            self.mawashi_cost, self.fine_danger, self.hand_quality, pace,
        )  # fmt: skip


def _best(discards: Sequence[Action], values_left: Floats) -> Action:
    """Return the discard of highest value, of equals the drawn tile."""
    return max(discards, key=lambda action: (values_left[action.tile], action.tsumogiri))


@cache
def _evaluator(features: FeatureSet) -> HandEvaluator:
    return HandEvaluator.load(features)


@cache
def _pace(players: int) -> Floats:
    """Return the chance that another wins before the next own discard, [discards, threats].

    Three in riichi are so rare that all turns are taken together; column USUAL is the mean over
    what threats there are at that turn.
    """
    counts = load_weights("danger", OF_PLAYERS[players])["pace"].astype(np.float64)
    pace = np.zeros((18, USUAL + 1))
    pace[:, 3] = counts[:, 3, 1].sum() / max(counts[:, 3].sum(), 1.0)
    for turn in range(18):
        for threats in range(3):
            of = counts[max(turn - 1, 0) : turn + 2, threats].sum(axis=0)
            pace[turn, threats] = of[1] / max(of.sum(), 1.0)
        pace[turn, USUAL] = counts[turn, :, 1].sum() / counts[turn].sum()
    return pace
