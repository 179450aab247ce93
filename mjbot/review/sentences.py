"""A decision as a sentence: the action taken, the better one, the difference, and the reason.

*You discarded West; 9p was better by 210 points: West is your seat wind, accepts 20 tiles instead
of 16 (+180). The network gives 9p 65.7% (West: 12.0%).*

Reasons are those in favour of the better choice.  Where the reviewer prefers an action with fewer
points, the sentence notes it.  Opponents in riichi are named, with the turn of the riichi.
"""

from collections.abc import Callable, Iterator
from typing import Final

from mjbot.drawing.tiles import tile_text
from mjbot.review.decisions import ReviewedDecision
from mjbot.review.playouts import Shown
from mjbot.review.reasons import (
    MATERIAL,
    Reason,
    faster_text,
    number,
    percent,
    reasons,
    signed,
    value_of,
)
from mjbot.review.tiles import wind_of
from mjbot.strategy.explanation import (
    ACCEPTED,
    PERCENT,
    POINTS,
    RANKS,
    SHANTEN,
    Rated,
    same_choice,
)
from mjbot.table.actions import Action
from mjbot.table.mirror.wire import consumed_tiles
from mjbot.table.view import View
from protocol.tiles import FIRST_DRAGON, FIRST_HONOUR, RED_FIVES, tile_kind

MOST_REASONS: Final = 2
TRIPLET: Final = 3

Draw = Callable[[int], str]
"""How a tile (0..36) is written: as text, or as a drawing on a page."""


def sentence(decision: ReviewedDecision) -> str:
    """Return what was done, what was better and why; nothing where both are the same."""
    if decision.is_equal:
        return ""
    return f"{headline(decision)}{because(decision)}"


def headline(decision: ReviewedDecision, draw: Draw = tile_text) -> str:
    """Return the main clause: ``You discarded 8m; West was better by 210 points``."""
    view = decision.view
    done = done_text(view, decision.actual, decision.then, draw)
    both = decision.actual.is_discard and decision.expected.is_discard
    better = draw(decision.expected.tile) if both else doing_text(
        view, decision.expected, decision.expected_then, draw
    )  # fmt: skip
    if decision.is_disputed or decision.loss is None:
        return f"You {done}; the reviewer prefers {better}"
    if decision.loss_unit.startswith(PERCENT) or not decision.loss:
        return f"You {done}; {better} was better"
    return f"You {done}; {better} was better by {amount(decision.loss, decision.loss_unit)}"


def because(decision: ReviewedDecision) -> str:
    """Return the rest of the sentence, from the colon or the full stop on."""
    why = ", ".join(_why(decision))
    clauses = [*_dispute(decision), *_shares(decision), *_riichi(decision)]
    return (f": {why}." if why else ".") + "".join([f" {clause}." for clause in clauses])


def amount(value: float, unit: str) -> str:
    """Return a loss with its unit.

    >>> amount(1234.5, "points"), amount(2.5, "% of strong players")
    ('1,234 points', '2.5%')
    """
    return percent(value) if unit.startswith(PERCENT) else f"{number(value, unit)} {unit}".strip()


def cost_text(decision: ReviewedDecision, shown: Shown) -> str:
    """Return what playouts show as a sentence, with the 95% interval of the places."""
    low, high = number(shown.ranks.low, RANKS), number(shown.ranks.high, RANKS)
    interval = f"({low} to {high})"
    if shown.verdict == "not shown to differ":
        return f"By playouts: not shown to differ, {signed(shown.ranks.value, RANKS)} {interval}."
    better = shown.better
    other = "" if better is None or same_choice(better, decision.expected) else (
        f" against {doing_text(decision.view, better, shown.better_then)}"
    )  # fmt: skip
    kind = "costs" if shown.verdict == "shown" else "gains"
    places, points = abs(shown.ranks.value), abs(shown.points.value)
    size = f"{number(places, RANKS)} places {interval}, {number(points, POINTS)} points"
    return f"By playouts it {kind} {size}{other}."


# --- actions -----------------------------------------------------------------------------------

_DONE: Final = {
    "discard": "discarded {}", "riichi": "declared riichi", "pon": "called pon on {}",
    "chi": "called chi on {}", "daiminkan": "called kan on {}", "ankan": "declared a kan of {}",
    "kakan": "added {} to the pon", "pass": "passed", "tsumo": "won by tsumo", "ron": "won by ron",
    "nine terminals": "declared nine terminals",
}  # fmt: skip
_DOING: Final = {
    "discard": "discarding {}", "riichi": "declaring riichi", "pon": "calling pon on {}",
    "chi": "calling chi on {}", "daiminkan": "calling kan on {}", "ankan": "declaring a kan of {}",
    "kakan": "adding {} to the pon", "pass": "passing", "tsumo": "winning by tsumo",
    "ron": "winning by ron", "nine terminals": "declaring nine terminals",
}  # fmt: skip


def done_text(view: View, action: Action, then: Action | None, draw: Draw = tile_text) -> str:
    """Return an action in the past tense: ``declared riichi with 1p``."""
    return _action(_DONE, view, action, then, draw)


def doing_text(view: View, action: Action, then: Action | None, draw: Draw = tile_text) -> str:
    """Return an action as a noun: ``declaring riichi with 1p``."""
    return _action(_DOING, view, action, then, draw)


def _action(
    texts: dict[str, str], view: View, action: Action, then: Action | None, draw: Draw
) -> str:
    tile = view.claim_tile if action.is_call else action.tile
    text = texts[action.name].format(draw(tile) if tile >= 0 else "")
    if action.name == "chi":
        used = [draw(each) for each in consumed_tiles(view.state, view.seat, action)]
        text += f" with {' '.join(used)}"
    if then is None:
        return text
    return (
        f"{text} with {draw(then.tile)}" if action.is_riichi else f"{text}, then {draw(then.tile)}"
    )


def choice_text(rated: Rated, draw: Draw = tile_text) -> str:
    """Return a choice in short: ``5p``, ``riichi with 1p``, ``pon``."""
    action, then = rated.action, rated.then
    text = draw(action.tile) if action.is_discard else _SHORT.get(action.name, action.name)
    if action.tile >= 0 and not action.is_discard:
        text += f" {draw(action.tile)}"
    return f"{text} with {draw(then.tile)}" if then else text


_SHORT: Final = {"daiminkan": "kan", "ankan": "kan", "kakan": "added kan"}


# --- reasons -----------------------------------------------------------------------------------


def _why(decision: ReviewedDecision) -> list[str]:
    """Return the reasons for the better choice: its tiles, then its largest gains."""
    gains = [each for each in reasons(decision) if _is_material(each)][:MOST_REASONS]
    found = [*_of_tiles(decision), *map(str, gains)]
    return found or _facts(decision)


def _is_material(reason: Reason) -> bool:
    return reason.gain >= (MATERIAL if reason.unit == POINTS else 0.5)


def _of_tiles(decision: ReviewedDecision) -> Iterator[str]:
    """Yield why the discarded tile has value: yakuhai or dora, unlike the better one."""
    if not (decision.actual.is_discard and decision.expected.is_discard):
        return
    view, done, better = decision.view, decision.actual.tile, decision.expected.tile
    yakuhai = yakuhai_text(view, done)
    if yakuhai and not yakuhai_text(view, better):
        yield f"{tile_text(done)} is {yakuhai}"
    if _dora(view, done) > _dora(view, better):
        yield f"{tile_text(done)} is {'a ' if done in RED_FIVES else ''}dora"


def yakuhai_text(view: View, tile: int) -> str:
    """Return why a triplet of the tile is a yaku; nothing where it is none, or cannot be made."""
    kind = tile_kind(tile)
    if kind < FIRST_HONOUR or view.hand[kind] + view.unseen[kind] < TRIPLET:
        return ""
    if kind >= FIRST_DRAGON:
        return "yakuhai"
    winds = {"your seat wind": view.seat_wind(view.seat), "the round wind": view.round_wind}
    return " and ".join([name for name, wind in winds.items() if wind == kind - FIRST_HONOUR])


def _dora(view: View, tile: int) -> int:
    return int(view.dora[tile_kind(tile)]) + (tile in RED_FIVES)


def _facts(decision: ReviewedDecision) -> list[str]:
    """Return the shanten after each, for a reviewer whose terms do not add up."""
    done, better = decision.done, decision.better
    if done is None or better is None or reasons(decision):
        return []
    if not (done.term(SHANTEN) and better.term(SHANTEN)):
        return []
    before, after = (
        (value_of(each, SHANTEN), -value_of(each, ACCEPTED)) for each in (done, better)
    )
    return [faster_text(done, better)] if after < before else []


# --- what else belongs to it -------------------------------------------------------------------


def _dispute(decision: ReviewedDecision) -> Iterator[str]:
    points, done = decision.points, decision.done
    if decision.is_disputed and points is not None and done is not None:
        favour = f"favour {choice_text(done)} by {number(-points, POINTS)}"
        yield f"Points {favour if round(points) else 'rate both alike'}"


def _shares(decision: ReviewedDecision) -> Iterator[str]:
    done, better = decision.done, decision.better
    if decision.explanation.unit.startswith(PERCENT) and done is not None and better is not None:
        shares = f"{choice_text(better)} {percent(better.value)}"
        yield f"The network gives {shares} ({choice_text(done)}: {percent(done.value)})"


def _riichi(decision: ReviewedDecision) -> Iterator[str]:
    for seat, turn in decision.riichi:
        since = f"since your turn {turn}" if turn else "since before your first turn"
        yield f"{wind_of(decision.view, seat)} has been in riichi {since}"
