"""One decision of the partner, with all that its techniques weigh.

Feeding is compared with the value of playing on.  Each turn the ally wins with the chance
1.7 x its waits' share of the unseen tiles, a tenpai rival with 0.07, our own hand (if it has just
let a win pass) with 1.3 x its share; r is their sum, and t = wall / players turns are left::

    value = (1 - r) ** t x value as it is + (1 - (1 - r) ** t) x sum of r_i / r x value if i wins

The three rates were set by hand and not tuned.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np

from mjbot.game.rules.kinds import Counts
from mjbot.game.rules.tile_sets import shanten_of
from mjbot.game.table.actions import Action
from mjbot.game.table.assume import assume_harmless
from mjbot.game.table.settle import PAYMENT, win_payment
from mjbot.game.table.state import REACTION, State, copy_state
from mjbot.game.table.view import View, derived
from mjbot.protocol.tiles import tile_kind
from mjbot.strategies.evaluation.fast_riichi.steps import tiles_of
from mjbot.strategies.evaluation.pair import value as v
from mjbot.strategies.evaluation.yaku.choices import call_if_fed, nearest_call
from mjbot.strategy.pair.member import Ally

RIVAL_WINS_PER_TURN: Final = 0.07
"""Chance per turn that a tenpai rival wins."""
ALLY_CHANCES_PER_TURN: Final = 1.7
"""Tiles per turn on which the ally may win: its own draw and what rivals let go."""
OWN_CHANCES_PER_TURN: Final = 1.3
"""The same of our own hand when it has just let a win pass: for a while only its draws."""


class SharedView(View):
    """The view of a member that has the other's hand: fewer tiles are unseen."""

    _other_hand: Counts

    def __init__(self, state: State, seat: int, other_hand: Counts) -> None:
        super().__init__(state, seat)
        vars(self)["_other_hand"] = other_hand

    @derived
    def unseen(self) -> Counts:
        """Copies of each kind that neither of the pair can see."""
        return super().unseen - self._other_hand


class PairSituation:
    """The partner's view, the ally, and estimates from both.

    ``pair`` are the partner's and the ally's seats.  Points are values to the pair
    (:mod:`mjbot.strategies.evaluation.pair.value`).
    """

    def __init__(self, view: View, ally: Ally) -> None:
        self.view: Final = view
        self.ally: Final = ally
        self.pair: Final[v.Pair] = (view.seat, ally.seat)
        self.rivals: Final = tuple(seat for seat in range(view.players) if seat not in self.pair)
        self._calls: Final[dict[int, tuple[int, int]]] = {}

    @cached_property
    def danger(self) -> v.Floats:
        """Points that discarding each tile (0..36) is expected to lose to the rivals."""
        return v.discard_danger(self.own_view, self.pair)

    @cached_property
    def own_view(self) -> View:
        """The own view, in which the ally's tiles are seen and the ally could win on nothing."""
        state = copy_state(self.view.state)
        assume_harmless(state, self.ally.seat)
        return SharedView(state, self.view.seat, self.ally.view.hand)

    def ally_after(self, discard: Action) -> View:
        """Return the ally's view after a discard of ours: our tiles are seen, we are no danger."""
        own = self.view.seat
        state = self.ally.view.after_discard(own, discard.tile, discard.tsumogiri).state
        assume_harmless(state, own)
        return SharedView(state, self.ally.seat, state["hand"][own])

    def holding(self, kinds: int) -> list[Action]:
        """Return the legal discards of the kinds in a mask."""
        return [action for action in self.view.discards if kinds >> tile_kind(action.tile) & 1]

    def call_gain(self, discard: Action) -> int:
        """Return by how much the ally's best call of a discard would bring it forward.

        With an aim it goes by its best score, else by its shanten.
        """
        return self._best_call(discard)[1]

    def _best_call(self, discard: Action) -> tuple[int, int]:
        kind = tile_kind(discard.tile)
        if not self.ally.helps >> kind & 1:
            return 0, 0
        if kind not in self._calls:
            from_left = self.view.players == 4 and self.ally.seat == (self.view.seat + 1) % 4
            choose = call_if_fed if self.ally.aim else nearest_call
            self._calls[kind] = choose(self.ally.state, self.ally.seat, kind, from_left)
        return self._calls[kind]

    def own_shanten(self, discard: Action) -> int:
        """Return the own shanten after a discard."""
        hand = self.view.hand.copy()
        hand[tile_kind(discard.tile)] -= 1
        return int(shanten_of(hand, self.view.n_melds, self.view.players))

    # --- the ally's win ----------------------------------------------------------------------

    def fed_points(self, discard: Action) -> Sequence[int]:
        """Return what each seat gains if the ally wins on a discard, honba and sticks included."""
        seat = self.view.seat
        after = self.ally.view.after_discard(seat, discard.tile, discard.tsumogiri).state
        assert after["phase"] == REACTION
        payment = np.zeros(1, PAYMENT)[0]
        win_payment(after, self.ally.seat, discard.tile, False, payment)
        deltas: list[int] = payment["deltas"].tolist()
        return deltas

    def fed_value(self, discard: Action) -> float:
        """Return the value of the table after the ally's win on a discard, less its danger."""
        value = v.value_after(self.view, self.pair, self.fed_points(discard), self.ally.seat)
        return value - float(self.danger[discard.tile])

    def value_of_playing_on(self, ally_points: int, own_points: int = 0) -> float:
        """Return the expected value of the table without a fed win.

        ``ally_points`` is what a win of the ally brings, ``own_points`` what one of our own
        does.  Each turn all win by the chances above; the losers share what is lost, by draw or
        by dealing in.
        """
        view, unseen = self.view, self.own_view.unseen
        hidden = max(1, int(unseen.sum()))
        share = tiles_of(self.ally.shape, unseen) / hidden
        rates = {self.ally.seat: ALLY_CHANCES_PER_TURN * share}
        if own_points:
            rates[view.seat] = OWN_CHANCES_PER_TURN * tiles_of(view.waits, unseen) / hidden
        for rival in self.rivals:
            rates[rival] = RIVAL_WINS_PER_TURN * v.tenpai_by_turn(view, rival)
        rate = sum(rates.values())
        over = 1 - (1 - min(0.99, rate)) ** (view.wall_left / view.players)
        still = v.value_after(view, self.pair, [0] * 4)
        value: float = (1 - over) * still
        for seat, own in rates.items():
            if own:
                known = {self.ally.seat: ally_points, view.seat: own_points}
                points = known.get(seat) or round(v.expected_win(view, seat))
                value += over * own / rate * self._shared_win(seat, points)
        return value

    def _shared_win(self, winner: int, points: int) -> float:
        """Return the value after a win that the losers pay alike.

        A win of the pair is paid by the rivals, a rival's by all others.
        """
        others = [seat for seat in (*self.pair, *self.rivals) if seat != winner]
        payers = self.rivals if winner in self.pair else others
        deltas = [0] * 4
        for payer in payers:
            deltas[payer] = -points // len(payers)
        deltas[winner] = points + 1000 * self.view.sticks
        return v.value_after(self.view, self.pair, deltas, winner)
