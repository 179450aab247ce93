"""Hold back: keep what the ally waits for but cannot win on.

Source: Hamabe 2017, section 2.2: once discarded and not won, the tile is safe for the rivals.
"""

from strategies.evaluation.techniques.situation import Situation


def held_back(situation: Situation) -> int:
    """Return the mask of kinds that complete the ally's hand without winning now."""
    return situation.ally.shape & ~situation.ally.waits
