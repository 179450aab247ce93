"""Nakase: let the ally call.

Source: Hamabe 2017, sections 2.2 and 3.4.2.
"""

from typing import Final

from mjbot.rules.shanten import shanten
from mjbot.table.actions import Action
from protocol.tiles import tile_kind
from strategies.evaluation.techniques.situation import Situation
from strategies.evaluation.yaku_choices import (
    after_call,
    discard_scores,
    value_kinds,
)
from strategies.evaluation.yaku_layout import SETS, Counts
from strategies.evaluation.yaku_scores import YAKU_NAMES

SHANTEN_POINTS: Final = 1500
"""What one shanten more costs the own hand in tenpai; half of it at 1-shanten, and so on."""


def feed_call(situation: Situation, base: Action, tenpai_points: float) -> Action | None:
    """Discard what the ally will call if that is worth more than the discard ``base``.

    Against the worth of the call stand the danger and what the own hand loses.
    """
    before = situation.own_shanten(base)

    def worth(discard: Action) -> float:
        worse = situation.own_shanten(discard) - before
        cost = SHANTEN_POINTS * worse / (1 + max(0, before))
        gain = call_worth(situation, discard, tenpai_points)
        return gain - cost - float(situation.danger[discard.tile])

    feeds = _feeds(situation)
    if not feeds:
        return None
    best = max(feeds, key=worth)
    return best if worth(best) > worth(base) else None


def call_worth(situation: Situation, discard: Action, tenpai_points: float) -> float:
    """Return the points that the ally's call of a discard is worth to the pair.

    ``tenpai_points`` if it makes the ally tenpai, half of it at 1-shanten, and so on; nothing if
    the score of an ally with an aim rises but neither its shanten falls nor a yaku remains in
    reach: its own measure does not ask for either.
    """
    call = situation.called(discard)
    if call is None:
        return 0.0
    ally = situation.ally.view
    hand, melds = after_call(ally.state, ally.seat, tile_kind(discard.tile), call)
    now = int(shanten(hand, int(melds.sum())))
    if now >= ally.shanten:
        return 0.0
    if situation.ally.aim and not _has_a_yaku_in_reach(situation, hand, melds):
        return 0.0
    return tenpai_points / (1 + max(0, now))


def _has_a_yaku_in_reach(situation: Situation, hand: Counts, melds: Counts) -> bool:
    """Whether the ally then plays for a yaku that it can still have.

    Only yakuhai scores without what it needs: value honours, two of a kind at least.
    """
    ally = situation.ally.view
    values = value_kinds(ally.state, ally.seat)
    scores = discard_scores(hand, ally.unseen, melds, values)
    aim = YAKU_NAMES[int(scores.max(axis=0).argmax())]
    pairs = (hand >= 2) | (melds[SETS] > 0)
    return aim != "yakuhai" or any(values >> kind & 1 for kind in pairs.nonzero()[0].tolist())


def feed_call_at_once(situation: Situation) -> Action | None:
    """As the paper: discard what raises the ally's score most when called, whatever it costs."""
    return max(_feeds(situation), key=situation.call_gain, default=None)


def _feeds(situation: Situation) -> list[Action]:
    """Return the discards that the ally would call; a wall without draws allows none."""
    if situation.view.wall_left == 0:
        return []
    wanted = situation.holding(situation.ally.helps & ~situation.ally.shape)
    return [discard for discard in wanted if situation.call_gain(discard) > 0]
