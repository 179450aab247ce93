"""What a partner can do for its ally, one technique after the other.

Source: Hamabe 2017, section 2.2 (feeding a win and feeding a call also sections 3.4.1 and 3.4.2).
Each returns an action if its value to the pair, in points, is high enough, or nothing.

==================== ========================================================================
dora-fuyashi         a kan so that an ally in riichi has more dora.  Every kan turns a dora for
                     all, and one below it for a win in riichi: it helps the ally only
                     while the rivals are further from winning.  A fourth kan of several seats
                     would end the kyoku
haitei-okuri         a call so that the last tile of the wall falls to the ally: a win on it is
                     a yaku of its own
hold back            keep what the ally waits for but cannot win on: once discarded and not won,
                     the tile is safe for the rivals
nakase               let the ally call, where that gains it more than it costs us
open the way         try a dangerous tile out, so that the ally can discard it in safety: taken
                     it where the ally will have to discard it anyway and its deal-in would cost
                     the pair more than our own
sashikomi            deal in to the ally on purpose
spare the ally       (not of the paper) let its tile pass where a win on it gains the pair
                     nothing: points that one of a pair wins from the other change nothing
                     between the pair and its rivals; what the win brings is the end of the
                     kyoku, sticks, and placements
==================== ========================================================================

The paper weighs nothing; all limits and points below were set by hand and not tuned.  What each
technique gains is measured in docs/results/hamabe2017-switches.md.
"""

from typing import Final, Protocol

import numpy as np

from mjbot.game.table.actions import Action
from mjbot.game.table.legal import kuikae_kinds
from mjbot.game.table.settle import PAYMENT, win_payment
from mjbot.game.table.state import CHI, PON
from mjbot.game.table.view import View
from mjbot.protocol.tiles import tile_kind
from mjbot.strategies.evaluation.fast_riichi.steps import tiles_of
from mjbot.strategies.evaluation.pair import value as v
from mjbot.strategies.evaluation.pair.situation import PairSituation, SharedView
from mjbot.strategies.evaluation.yaku.choices import (
    discard_scores,
    hand_scores,
    melds_of,
    value_kinds,
)

MOST_KANS: Final = 4


def add_dora(situation: PairSituation) -> Action | None:
    """Declare a legal kan if the ally is in riichi and the rivals hardly are tenpai.

    Of several rather a concealed one, which cannot be robbed.
    """
    view, ally = situation.view, situation.ally
    kans = [action for action in view.legal if action.is_kan]
    if not kans or not view.riichi(ally.seat):
        return None
    own_kans = sum(meld.type.is_kan for meld in view.melds(view.seat))
    if view.state["kans"] == MOST_KANS - 1 != own_kans:
        return None
    if sum(v.tenpai_by_turn(view, rival) for rival in situation.rivals) >= 1:
        return None
    return max(kans, key=lambda kan: kan.name == "ankan")


LATEST: Final = 4
"""With more tiles to draw, another call would most likely shift the last one again."""
LAST_WIN_POINTS: Final = 4000


def send_last_tile(situation: PairSituation) -> Action | None:
    """Call if that gives the last draw to a tenpai ally and the discard after it is cheap."""
    view, ally = situation.view, situation.ally
    calls = [action for action in view.legal if action.is_call and not action.is_kan]
    if not calls or not ally.shape or not 0 < view.wall_left <= LATEST or view.waits:
        return None
    if last_drawer(view.turn, view.wall_left, view.players) == ally.seat:
        return None
    if last_drawer(view.seat, view.wall_left, view.players) != ally.seat:
        return None
    unseen = ally.view.unseen
    chance = tiles_of(ally.shape, unseen) / max(1, int(unseen.sum()))
    cheapest = min(calls, key=lambda call: danger_after(situation, call))
    value = chance * LAST_WIN_POINTS
    return cheapest if value > danger_after(situation, cheapest) else None


def last_drawer(discarder: int, wall_left: int, players: int = 4) -> int:
    """Return the seat that draws the last tile without calls after a discard of this seat.

    >>> last_drawer(2, 1), last_drawer(2, 4), last_drawer(2, 4, players=3)
    (3, 2, 0)
    """
    return (discarder + wall_left) % players


def danger_after(situation: PairSituation, call: Action) -> float:
    """Return the danger of the safest discard that kuikae allows after a call."""
    view = situation.view
    claimed = tile_kind(view.claim_tile)
    hand = view.hand.copy()
    for kind in used_kinds(view, call):
        hand[kind] -= 1
    low = claimed - max(0, call.offset)
    banned = kuikae_kinds(PON if call.offset < 0 else CHI, claimed, low)
    kinds = [kind for kind in hand.nonzero()[0].tolist() if not banned >> kind & 1]
    return min((float(situation.danger[kind]) for kind in kinds), default=float("inf"))


def used_kinds(view: View, call: Action) -> list[int]:
    """Return the two kinds that a pon or chi takes out of the hand."""
    claimed = tile_kind(view.claim_tile)
    if call.offset < 0:
        return [claimed, claimed]
    low = claimed - call.offset
    return [kind for kind in range(low, low + 3) if kind != claimed]


def held_back(situation: PairSituation) -> int:
    """Return the mask of kinds that complete the ally's hand without winning now."""
    return situation.ally.shape & ~situation.ally.waits


class ValueEstimator(Protocol):
    """Weighs hands against dangers in points (:mod:`mjbot.strategies.fold_recognition_plus`)."""

    def discard_values(self, view: View) -> tuple[v.Floats, v.Floats]:
        """Return the value of each discard, silent and in riichi: float64[37] each."""

    def call_values(self, view: View) -> tuple[list[tuple[Action, float]], float]:
        """Return the value of each pon and chi, and of the pass."""


def feed_call(situation: PairSituation, base: Action, evaluator: ValueEstimator) -> Action | None:
    """Discard what the ally will call if its value to the pair exceeds that of ``base``.

    The ally's gain by the call is compared with the loss of our own hand and the danger.
    """
    feeds = _wanted_discards(situation)
    if not feeds:
        return None
    own, _ = evaluator.discard_values(situation.own_view)

    def gain(discard: Action) -> float:
        lost = max(0.0, float(own[base.tile] - own[discard.tile]))
        return points_of_call(situation, discard, evaluator) - lost

    gains = [gain(discard) for discard in feeds]
    best = max(gains)
    return feeds[gains.index(best)] if best > max(gain(base), 0.0) else None


def points_of_call(situation: PairSituation, discard: Action, evaluator: ValueEstimator) -> float:
    """Return by how many points the ally's best call of a discard beats its passing, 0 if by none.

    Only tiles that it announced as calls count.
    """
    if not situation.ally.helps >> tile_kind(discard.tile) & 1:
        return 0.0
    calls, passed = evaluator.call_values(situation.ally_after(discard))
    return max([0.0, *(value - passed for _, value in calls)])


def feed_call_at_once(situation: PairSituation) -> Action | None:
    """As the paper: discard what raises the ally's score most when called, whatever it costs."""
    feeds = [discard for discard in _wanted_discards(situation) if situation.call_gain(discard) > 0]
    return max(feeds, key=situation.call_gain, default=None)


def _wanted_discards(situation: PairSituation) -> list[Action]:
    """Return the discards that the ally would call; a wall without draws allows none."""
    if situation.view.wall_left == 0:
        return []
    return situation.holding(situation.ally.helps & ~situation.ally.shape)


CERTAINTY: Final = 0.6
"""How likely the ally discards a tile that its hand does not need while the danger lasts."""
LEAST_GAIN: Final = 200
"""Points below which an own discard is not changed for it."""


def open_way(situation: PairSituation, base: Action) -> Action | None:
    """Discard what spares the ally more danger than it adds to our own over ``base``."""
    loose = situation.holding(loose_kinds(situation.ally.view))
    if not loose or situation.ally.view.riichi(situation.ally.seat):
        return None
    spared = spared_danger(situation)

    def gain(discard: Action) -> float:
        kind = tile_kind(discard.tile)
        return CERTAINTY * float(spared[kind]) - float(situation.danger[discard.tile])

    best = max(loose, key=gain)
    worse_hand = situation.own_shanten(best) > situation.own_shanten(base)
    more = gain(best) + float(situation.danger[base.tile])
    return best if more >= LEAST_GAIN and not worse_hand else None


def loose_kinds(ally: View) -> int:
    """Return the mask of kinds of which the ally could spare one without losing score."""
    melds, values = melds_of(ally.state, ally.seat), value_kinds(ally.state, ally.seat)
    best = hand_scores(ally.hand, ally.unseen, melds, values).max()
    rest = discard_scores(ally.hand, ally.unseen, melds, values).max(axis=1)
    return sum(1 << kind for kind in (rest == best).nonzero()[0].tolist())


def spared_danger(situation: PairSituation) -> v.Floats:
    """Return the points that the ally's discard of each tile (0..36) is expected to lose."""
    ally = SharedView(situation.ally.state, situation.ally.seat, situation.view.hand)
    return v.discard_danger(ally, situation.pair)


def feed_win(situation: PairSituation, eagerness: float) -> Action | None:
    """Discard the ally's winning tile if its value exceeds that of playing on.

    ``eagerness`` are points by which its value may be lower.
    """
    feeds = situation.holding(situation.ally.waits)
    if not feeds:
        return None
    best = max(feeds, key=situation.fed_value)
    points = situation.fed_points(best)[situation.ally.seat]
    value = situation.fed_value(best) + eagerness
    return best if value >= situation.value_of_playing_on(points) else None


def feed_win_at_once(situation: PairSituation) -> Action | None:
    """As the paper: discard the ally's winning tile whenever one is held, the dearest of them."""
    feeds = situation.holding(situation.ally.waits)
    own = situation.view.seat
    return min(feeds, key=lambda feed: situation.fed_points(feed)[own], default=None)


def spares_ally(situation: PairSituation, win: Action, reluctance: float) -> bool:
    """Whether to pass on the ally's tile: playing on has at least the same value.

    ``reluctance`` are points by which the value of the win must be higher.
    """
    view, ally = situation.view, situation.ally
    if win.name != "ron" or view.turn != ally.seat:
        return False
    deltas = ron_points(situation)
    won = v.value_after(view, situation.pair, deltas, view.seat)
    usual = round(v.expected_win(view, ally.seat))
    on = situation.value_of_playing_on(usual, deltas[view.seat])
    return on + reluctance >= won


def ron_points(situation: PairSituation) -> list[int]:
    """Return what each seat gains by our ron of the tile on offer."""
    view = situation.view
    payment = np.zeros(1, PAYMENT)[0]
    win_payment(view.state, view.seat, view.claim_tile, False, payment)
    deltas: list[int] = payment["deltas"].tolist()
    return deltas
