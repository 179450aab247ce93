"""The steps of yaku-evaluation: its discard and its calls.

Source: Hamabe 2017, sections 3.3 and 3.3.9.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from mjbot.strategy.explanation import Rated, Term
from mjbot.table.actions import Action, ActionName
from mjbot.table.view import View
from protocol.tiles import N_KINDS, tile_kind
from strategies.evaluation.facts import hand_facts
from strategies.evaluation.yaku.choices import (
    PON_CALL,
    call_gains,
    hand_scores,
    helpful_kinds,
    melds_of,
    seat_discard_scores,
    value_kinds,
)
from strategies.evaluation.yaku.layout import Blocks
from strategies.evaluation.yaku.scores import YAKU_NAMES

MIDDLE: Final = 1
SCORE: Final = "yaku score"


def find(view: View, name: ActionName) -> Action | None:
    """Return the first legal action of this name, if there is one."""
    return next((action for action in view.legal if action.name == name), None)


def best_discard(view: View) -> Action | None:
    """Discard the tile without which the hand's best yaku scores most.

    Of equals, a plain five goes before the red one and the drawn tile before the others; the
    paper says nothing of either.
    """
    discards = view.discards
    if len(discards) < 2:
        return discards[0] if discards else None
    best = _scores(view).max(axis=1).tolist()
    return max(
        discards,
        key=lambda action: (best[tile_kind(action.tile)], action.tile < N_KINDS, action.tsumogiri),
    )


def best_call(view: View) -> Action | None:
    """Take the pon or chi that raises the best score most, unless the hand is tenpai.

    Of equals as fast-riichi-b: a red five goes into the meld, pon before chi at an end before
    chi in the middle.
    """
    calls = [action for action in view.legal if action.is_call and not action.is_kan]
    if not calls or view.waits:
        return None
    kind = tile_kind(view.claim_tile)
    gains = call_gains(view.state, view.seat, kind, view.unseen).tolist()
    best = max(calls, key=lambda call: (gains[_place(call)], call.red, call.offset != MIDDLE))
    return best if gains[_place(best)] > 0 else None


def aim_after(view: View, discard: Action) -> str:
    """Return the name of the best yaku of the hand that a discard leaves."""
    return YAKU_NAMES[int(_scores(view)[tile_kind(discard.tile)].argmax())]


def wishes_after(view: View, discard: Action) -> list[int]:
    """Return the kinds that the hand left by a discard would call; in tenpai there are none."""
    after = view.after_discard(view.seat, discard.tile, discard.tsumogiri).state
    if after["waits"][view.seat] or after["riichi"][view.seat]:
        return []
    kinds = helpful_kinds(after, view.seat)
    return [kind for kind in range(N_KINDS) if kinds >> kind & 1]


def rated_discards(view: View) -> Iterator[Rated]:
    """Yield each discard with the scores of the hand left in all eight yaku."""
    facts = hand_facts(view)
    for discard in view.discards:
        scores = _scores(view)[tile_kind(discard.tile)].tolist()
        terms = [Term(name, SCORE, score) for name, score in zip(YAKU_NAMES, scores, strict=True)]
        yield Rated(discard, float(max(scores)), terms=[*terms, *facts[discard.tile]])


def rated_calls(view: View) -> Iterator[Rated]:
    """Yield each pon and chi with the best score after it, and the pass with that of now."""
    calls = [action for action in view.legal if action.is_call and not action.is_kan]
    if not calls:
        return
    gains = call_gains(view.state, view.seat, tile_kind(view.claim_tile), view.unseen).tolist()
    melds, values = melds_of(view.state, view.seat), value_kinds(view.state, view.seat)
    now = float(hand_scores(view.hand, view.unseen, melds, values).max())
    for action in view.legal:
        if action in calls:
            yield Rated(action, now + gains[_place(action)])
        elif action.is_pass:
            yield Rated(action, now)


@lru_cache(maxsize=1)
def _scores(view: View) -> Blocks:
    """Return the scores after each discard, reckoned once for a decision: int16[34, 8]."""
    scores: Blocks = seat_discard_scores(view.state, view.seat, view.unseen)
    return scores


def _place(call: Action) -> int:
    return call.offset if call.offset >= 0 else PON_CALL
