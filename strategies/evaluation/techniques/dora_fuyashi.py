"""Dora-fuyashi: declare a kan so that an ally in riichi has more dora.

Source: Hamabe 2017, section 2.2.  Every kan turns a dora for all, and one below it for whoever
wins in riichi: it helps the ally only while the rivals are further from winning.  A fourth kan of
several seats would end the kyoku.
"""

from typing import Final

from mjbot.table.actions import CALL_KAN, Action
from mjbot.table.state import PON
from strategies.evaluation.techniques.danger import tenpai_chance
from strategies.evaluation.techniques.situation import Situation

MOST_KANS: Final = 4


def add_dora(situation: Situation) -> Action | None:
    """Declare a legal kan if the ally is in riichi and the rivals hardly are tenpai.

    Of several rather a concealed one, which nobody can rob.
    """
    view, ally = situation.view, situation.ally
    kans = [action for action in view.legal if action.code >= CALL_KAN]
    if not kans or not view.riichi(ally.seat):
        return None
    own_kans = sum(meld.type > PON for meld in view.melds(view.seat))
    if view.state["kans"] == MOST_KANS - 1 != own_kans:
        return None
    if sum(tenpai_chance(view, rival) for rival in situation.rivals) >= 1:
        return None
    return max(kans, key=lambda kan: kan.name == "ankan")
