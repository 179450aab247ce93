"""Sashikomi: deal in to the ally on purpose.

Source: Hamabe 2017, sections 2.2 and 3.4.1.
"""

from mjbot.table.actions import Action
from strategies.evaluation.techniques.situation import Situation


def feed_win(situation: Situation, eagerness: float) -> Action | None:
    """Discard the ally's winning tile if that is worth more than playing on.

    ``eagerness`` are points by which it may be worth less.
    """
    feeds = situation.holding(situation.ally.waits)
    if not feeds:
        return None
    best = max(feeds, key=situation.fed_worth)
    points = situation.fed_points(best)[situation.ally.seat]
    worth = situation.fed_worth(best) + eagerness
    return best if worth >= situation.worth_of_playing_on(points) else None


def feed_win_at_once(situation: Situation) -> Action | None:
    """As the paper: discard the ally's winning tile whenever one is held, the dearest of them."""
    feeds = situation.holding(situation.ally.waits)
    own = situation.view.seat
    return min(feeds, key=lambda feed: situation.fed_points(feed)[own], default=None)
