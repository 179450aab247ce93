"""Dora-fuyashi: declare a kan so that an ally in riichi has more dora.

Source: Hamabe 2017, section 2.2.  Every kan turns a dora for all, and one below it for whoever
wins in riichi: it helps the ally only while the rivals are further from winning.
"""

from mjbot.table.actions import CALL_KAN, Action
from strategies.evaluation.techniques.danger import tenpai_chance
from strategies.evaluation.techniques.situation import Situation


def add_dora(situation: Situation) -> Action | None:
    """Declare a legal kan if the ally is in riichi and is likelier to win than the rivals."""
    view, ally = situation.view, situation.ally
    kans = [action for action in view.legal if action.code >= CALL_KAN]
    if not kans or not view.riichi(ally.seat):
        return None
    if sum(tenpai_chance(view, rival) for rival in situation.rivals) >= 1:
        return None
    return kans[-1]
