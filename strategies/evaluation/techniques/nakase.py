"""Nakase: let the ally call.

Source: Hamabe 2017, sections 2.2 and 3.4.2.
"""

from typing import Final

from mjbot.table.actions import Action
from strategies.evaluation.techniques.situation import Situation

SHANTEN_POINTS: Final = 1500
"""What one shanten more costs the own hand in tenpai; half of it at 1-shanten, and so on."""


def feed_call(situation: Situation, base: Action, points_per_gain: float) -> Action | None:
    """Discard what the ally will call if that is worth more than the discard ``base``.

    A gain of the ally's score is worth ``points_per_gain`` each; against it stand the danger
    and what the own hand loses.
    """
    shanten = situation.own_shanten(base)

    def worth(discard: Action) -> float:
        worse = situation.own_shanten(discard) - shanten
        cost = SHANTEN_POINTS * worse / (1 + max(0, shanten))
        gain = points_per_gain * situation.call_gain(discard)
        return gain - cost - float(situation.danger[discard.tile])

    feeds = _feeds(situation)
    if not feeds:
        return None
    best = max(feeds, key=worth)
    return best if worth(best) > worth(base) else None


def feed_call_at_once(situation: Situation) -> Action | None:
    """As the paper: discard what raises the ally's score most when called, whatever it costs."""
    return max(_feeds(situation), key=situation.call_gain, default=None)


def _feeds(situation: Situation) -> list[Action]:
    """Return the discards that the ally would call; a wall without draws allows none."""
    if situation.view.wall_left == 0:
        return []
    wanted = situation.holding(situation.ally.helps & ~situation.ally.shape)
    return [discard for discard in wanted if situation.call_gain(discard) > 0]
