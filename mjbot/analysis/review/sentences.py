"""A decision as a sentence: the action taken, the better one, the difference, and the reason.

*You discarded West; 9p was better by 210 points: West is your seat wind, accepts 20 tiles instead
of 16 (+180). The network gives 9p 65.7% (West: 12.0%).*

Reasons are those in favour of the better choice.  Where the reviewer prefers an action with fewer
points, the sentence notes it.  Opponents in riichi are named, with the turn of the riichi.
"""

from collections.abc import Callable, Iterator
from typing import Final

from mjbot.analysis.review.decisions import ReviewedDecision
from mjbot.analysis.review.playouts import Shown, Verdict
from mjbot.analysis.review.reasons import (
    MATERIAL,
    Reason,
    faster_text,
    number,
    percent,
    reasons,
    shanten_text,
    signed,
    value_of,
)
from mjbot.analysis.review.tile_html import wind_of
from mjbot.game.rules.tile_sets import shanten_of
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.table.actions import Action
from mjbot.game.table.assume import deal_in_drawn
from mjbot.game.table.mirror.wire import consumed_tiles
from mjbot.game.table.observe import genbutsu
from mjbot.game.table.settle import Payment, win_payment
from mjbot.game.table.state import copy_state
from mjbot.game.table.view import View
from mjbot.protocol.tiles import FIRST_DRAGON, FIRST_HONOUR, NORTH, RED_FIVES, tile_kind
from mjbot.runtime.languages import marked, translate
from mjbot.strategy.explanation import (
    ACCEPTED,
    PERCENT,
    POINTS,
    RANKS,
    SHANTEN,
    SHAPE,
    TILES,
    Rated,
    same_choice,
)
from mjbot.viewer.drawing.tiles import tile_text

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
    if decision.is_disputed or decision.loss is None or decision.is_on_ally:
        return translate("You {done}; the reviewer prefers {better}", done=done, better=better)
    if decision.loss_unit.startswith(PERCENT) or not decision.loss:
        return translate("You {done}; {better} was better", done=done, better=better)
    size = amount(decision.loss, decision.loss_unit)
    text = marked("You {done}; {better} was better by {size}")
    return translate(text, done=done, better=better, size=size)


def because(decision: ReviewedDecision) -> str:
    """Return the rest of the sentence, from the colon or the full stop on."""
    why = translate(", ").join(_why(decision))
    clauses = [*_ally(decision), *_dispute(decision), *_shares(decision), *_riichi(decision)]
    end = translate(": {reasons}.", reasons=why) if why else translate(".")
    return end + "".join([translate(" {clause}.", clause=clause) for clause in clauses])


def amount(value: float, unit: str) -> str:
    """Return a loss with its unit.

    >>> amount(1234.5, "points"), amount(2.5, "% of strong players")
    ('1,234 points', '2.5%')
    """
    if unit.startswith(PERCENT):
        return percent(value)
    return with_unit(number(value, unit), unit)


def with_unit(text: str, unit: str) -> str:
    """Return a number as text with its unit, in the order of the language.

    >>> with_unit("0.014 ±0.003", "ranks"), with_unit("12", "tiles"), with_unit("1", "points")
    ('0.014 ±0.003 places', '12 tiles', '1 point')
    """
    if text == "1" and unit in (POINTS, TILES):
        return translate("1 point") if unit == POINTS else translate("1 tile")
    if unit == TILES:
        return translate("{n} tiles", n=text)
    if unit == POINTS:
        return translate("{n} points", n=text)
    if unit == RANKS:
        return translate("{n} places", n=text)
    return f"{text} {translate(unit)}".strip()


def size_text(decision: ReviewedDecision, shown: Shown | None) -> str:
    """Return the size of a mistake in short: by playouts where they were run, else as estimated."""
    if decision.is_equal:
        return ""
    if shown is not None:
        cost = amount(shown.ranks.value, RANKS)
        return cost if shown.verdict is Verdict.SHOWN else translate(shown.verdict)
    if decision.is_on_ally and decision.expected.is_win:
        return translate("your ally's tile")
    if decision.loss is None:
        return translate("not rated")
    if decision.is_disputed:
        return translate("disputed")
    size = amount(decision.loss, decision.loss_unit)
    if decision.is_close:
        return translate("{size}, about equal", size=size)
    return translate("{size} (estimate)", size=size)


def clauses(
    decision: ReviewedDecision, shown: Shown | None, draw: Draw = tile_text
) -> tuple[str, str]:
    """Return the main clause on a decision and the rest of the sentence.

    Where playouts settle another choice than the estimate prefers, it compares with that one only:
    two sizes against two choices may contradict each other.
    """
    if shown is None or shown.better is None or not _played_other(decision, shown):
        return headline(decision, draw), because(decision)
    done = done_text(decision.view, decision.actual, decision.then, draw)
    better = doing_text(decision.view, shown.better, shown.better_then, draw)
    if shown.verdict is Verdict.NO_LOSS:
        text = marked("You {done}; compared with {better} by playouts")
        return translate(text, done=done, better=better), translate(".")
    return translate("You {done}; {better} was better", done=done, better=better), translate(".")


def _played_other(decision: ReviewedDecision, shown: Shown) -> bool:
    """Whether playouts settle another choice than the one that the estimate prefers."""
    better = shown.better
    is_other = better is not None and not same_choice(better, decision.expected)
    return is_other and shown.verdict is not Verdict.NOT_SHOWN


def sentence_and_cost(text: str, decision: ReviewedDecision, shown: Shown | None) -> str:
    """Return a decision's sentence followed by what playouts show, if it was played on."""
    if shown is None:
        return text
    if _played_other(decision, shown):
        text = "".join(clauses(decision, shown))
        return translate("{sentence} {cost}", sentence=text, cost=_cost(shown, ""))
    return translate("{sentence} {cost}", sentence=text, cost=cost_text(decision, shown))


def cost_text(decision: ReviewedDecision, shown: Shown) -> str:
    """Return what playouts show as a sentence, with the 95% interval of the places."""
    ends = [number(end, RANKS) for end in (shown.ranks.low, shown.ranks.high)]
    interval = translate("({low} to {high})", low=ends[0], high=ends[1])
    if shown.verdict is Verdict.NOT_SHOWN:
        text = marked("By playouts: not shown to differ, {places} {interval}.")
        return translate(text, places=signed(shown.ranks.value, RANKS), interval=interval)
    better, other = shown.better, ""
    if better is not None and not same_choice(better, decision.expected):
        choice = doing_text(decision.view, better, shown.better_then)
        other = translate(" against {choice}", choice=choice)
    return _cost(shown, other)


def _cost(shown: Shown, other: str) -> str:
    """Return what playouts show, with ``other`` after it: against which choice."""
    ends = [number(end, RANKS) for end in (shown.ranks.low, shown.ranks.high)]
    interval = translate("({low} to {high})", low=ends[0], high=ends[1])
    text = marked("By playouts it costs {places} places {interval}, {points} points{other}.")
    if shown.verdict is Verdict.NO_LOSS:
        text = marked("By playouts it gains {places} places {interval}, {points} points{other}.")
    return translate(
        text,
        places=number(abs(shown.ranks.value), RANKS),
        interval=interval,
        points=number(abs(shown.points.value), POINTS),
        other=other,
    )


def interval_text(estimate: Estimate, unit: str) -> str:
    """Return a figure with its 95% interval and unit: ``0.089 (0.051 to 0.127) places``."""
    return with_unit(with_interval(estimate, unit, number), unit)


def with_interval(estimate: Estimate, unit: str, write: Callable[[float, str], str]) -> str:
    """Return a figure with its 95% interval, each number as ``write`` writes it in the unit."""
    value = write(estimate.value, unit)
    if not estimate.is_bounded:
        return translate("{value} (no interval)", value=value)
    low, high = write(estimate.low, unit), write(estimate.high, unit)
    return translate("{value} ({low} to {high})", value=value, low=low, high=high)


# --- actions -----------------------------------------------------------------------------------

_DONE: Final = {
    "discard": marked("discarded {tile}"),
    "riichi": marked("declared riichi"),
    "pon": marked("called pon on {tile}"),
    "chi": marked("called chi on {tile}"),
    "daiminkan": marked("called kan on {tile}"),
    "ankan": marked("declared a kan of {tile}"),
    "kakan": marked("added {tile} to the pon"),
    "pass": marked("passed"),
    "tsumo": marked("won by tsumo"),
    "ron": marked("won by ron"),
    "nine terminals": marked("declared nine terminals"),
    "kita": marked("set North aside"),
}
_DOING: Final = {
    "discard": marked("discarding {tile}"),
    "riichi": marked("declaring riichi"),
    "pon": marked("calling pon on {tile}"),
    "chi": marked("calling chi on {tile}"),
    "daiminkan": marked("calling kan on {tile}"),
    "ankan": marked("declaring a kan of {tile}"),
    "kakan": marked("adding {tile} to the pon"),
    "pass": marked("passing"),
    "tsumo": marked("winning by tsumo"),
    "ron": marked("winning by ron"),
    "nine terminals": marked("declaring nine terminals"),
    "kita": marked("setting North aside"),
}


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
    text = translate(texts[action.name], tile=draw(tile) if tile >= 0 else "")
    if action.name == "chi":
        used = " ".join([draw(code) for code in consumed_tiles(view.state, view.seat, action)])
        text = translate("{call} with {tiles}", call=text, tiles=used)
    if then is None:
        return text
    return translate(
        marked("{choice} with {tile}") if action.is_riichi else marked("{call}, then {tile}"),
        choice=text,
        call=text,
        tile=draw(then.tile),
    )


def choice_text(rated: Rated, draw: Draw = tile_text) -> str:
    """Return a choice in short: ``5p``, ``riichi with 1p``, ``pon``."""
    action, then = rated.action, rated.then
    text = draw(action.tile) if action.is_discard else translate(_SHORT[action.name])
    if action.tile >= 0 and not action.is_discard:
        text += f" {draw(action.tile)}"
    if then is None:
        return text
    return translate("{choice} with {tile}", choice=text, tile=draw(then.tile))


_SHORT: Final = {
    "riichi": marked("riichi"),
    "pon": marked("pon"),
    "chi": marked("chi"),
    "daiminkan": marked("kan"),
    "ankan": marked("kan"),
    "kakan": marked("added kan"),
    "pass": marked("pass"),
    "tsumo": marked("tsumo"),
    "ron": marked("ron"),
    "nine terminals": marked("nine terminals"),
    "kita": marked("kita"),
}


# --- reasons -----------------------------------------------------------------------------------


def _why(decision: ReviewedDecision) -> list[str]:
    """Return the reasons for the better choice: its tiles, then its largest gains."""
    gains = [reason for reason in reasons(decision) if _is_material(reason)]
    if _is_alike(decision):
        gains = [reason for reason in gains if reason.shows[0] != SHAPE]
    gains = gains[:MOST_REASONS]
    of_three = [*_of_kita(decision), *_of_tsumo_loss(decision)]
    causes = [*_of_tiles(decision), *of_three, *map(str, gains)]
    return causes or _facts(decision)


def _is_alike(decision: ReviewedDecision) -> bool:
    """Whether the discards are tiles of one shape: 1m and 9m without 2m to 8m at three players."""
    pair = (decision.actual, decision.expected)
    ends = all(action.is_discard and action.tile in (0, 8) for action in pair)
    return decision.view.players == 3 and ends


def _is_material(reason: Reason) -> bool:
    return reason.gain >= (MATERIAL if reason.unit == POINTS else 0.5)


def _of_tiles(decision: ReviewedDecision) -> Iterator[str]:
    """Yield why the discarded tile has value: yakuhai or dora, unlike the better one."""
    if not (decision.actual.is_discard and decision.expected.is_discard):
        return
    view, done, better = decision.view, decision.actual.tile, decision.expected.tile
    yakuhai = yakuhai_text(view, done)
    if yakuhai and not yakuhai_text(view, better):
        yield translate("{tile} is {yakuhai}", tile=tile_text(done), yakuhai=yakuhai)
    if _dora(view, done) > _dora(view, better):
        text = marked("{tile} is a dora") if done in RED_FIVES else marked("{tile} is dora")
        yield translate(text, tile=tile_text(done))


def yakuhai_text(view: View, tile: int) -> str:
    """Return why a triplet of the tile is a yaku; nothing where it is none, or cannot be made."""
    kind = tile_kind(tile)
    if kind < FIRST_HONOUR or view.hand[kind] + view.unseen[kind] < TRIPLET:
        return ""
    if kind >= FIRST_DRAGON:
        return translate("yakuhai")
    wind = kind - FIRST_HONOUR
    match wind == view.seat_wind(view.seat), wind == view.round_wind:
        case True, True:
            return translate("your seat wind and the round wind")
        case True, False:
            return translate("your seat wind")
        case False, True:
            return translate("the round wind")
    return ""


def _dora(view: View, tile: int) -> int:
    return int(view.dora[tile_kind(tile)]) + (tile in RED_FIVES)


def _of_kita(decision: ReviewedDecision) -> Iterator[str]:
    """Yield why to set a north aside, or to keep it: the hand without it, and whom it is safe from.

    Only three players do (:attr:`Action.is_kita`).
    """
    view = decision.view
    if not (decision.actual.is_kita or decision.expected.is_kita):
        return
    rest = view.hand.copy()
    rest[NORTH] -= 1
    away = int(shanten_of(rest, view.n_melds, view.players))
    if decision.expected.is_kita:
        yield translate("it adds a dora and draws another tile")
        if away == view.shanten:
            yield translate("the hand is {shanten} without it, too", shanten=shanten_text(away))
        return
    if away > view.shanten:
        yield translate("without North the hand goes back to {shanten}", shanten=shanten_text(away))
    for seat, _ in decision.riichi:
        if genbutsu(view.state, seat) >> NORTH & 1:
            yield translate("North is safe against {seat}, in riichi", seat=wind_of(view, seat))


def _of_tsumo_loss(decision: ReviewedDecision) -> Iterator[str]:
    """Yield what a ron that was let go pays, and the hand by tsumo: two pay, none for a fourth."""
    view, rules = decision.view, decision.view.state["rules"]
    is_let_go = decision.expected.name == "ron" and decision.is_missed_win
    if not (is_let_go and view.players == 3 and rules["tsumo_loss"] and view.wall_left):
        return
    drawn, win, pays = copy_state(view.state), Payment.new(), []
    for state, by_draw in ((view.state, False), (drawn, True)):
        if by_draw:
            deal_in_drawn(state, view.seat, view.claim_tile)
        win_payment(state, view.seat, view.claim_tile, by_draw, win)
        pays.append(int(win["points"]))
    if pays[1] < pays[0]:
        yield translate(
            "a ron pays {ron} points, a tsumo of this hand {tsumo}, as only two pay",
            ron=number(pays[0], POINTS),
            tsumo=number(pays[1], POINTS),
        )


def _facts(decision: ReviewedDecision) -> list[str]:
    """Return the shanten after each, for a reviewer whose terms do not add up."""
    done, better = decision.done, decision.better
    if done is None or better is None or reasons(decision):
        return []
    if not (done.term(SHANTEN) and better.term(SHANTEN)):
        return []
    before, after = (
        (value_of(rated, SHANTEN), -value_of(rated, ACCEPTED)) for rated in (done, better)
    )
    return [faster_text(done, better)] if after < before else []


# --- what else belongs to it -------------------------------------------------------------------


def _ally(decision: ReviewedDecision) -> Iterator[str]:
    if not decision.is_on_ally:
        return
    if decision.expected.is_win:
        yield translate("The tile is your ally's; a pair lets it pass, and no loss is counted")
    else:
        yield translate("The tile is your ally's; the reviewer rates for one player")


def _dispute(decision: ReviewedDecision) -> Iterator[str]:
    points, done = decision.points, decision.done
    if decision.is_disputed and points is not None and done is not None:
        if not round(points):
            yield translate("Points rate both alike")
            return
        text = marked("Points favour {choice} by {points}")
        yield translate(text, choice=choice_text(done), points=number(-points, POINTS))


def _shares(decision: ReviewedDecision) -> Iterator[str]:
    done, better = decision.done, decision.better
    if decision.explanation.unit.startswith(PERCENT) and done is not None and better is not None:
        yield translate(
            "The network gives {better} {share} ({done}: {other})",
            better=choice_text(better),
            share=percent(better.value),
            done=choice_text(done),
            other=percent(done.value),
        )


def _riichi(decision: ReviewedDecision) -> Iterator[str]:
    for seat, turn in decision.riichi:
        text = marked("{seat} has been in riichi since before your first turn")
        if turn:
            text = marked("{seat} has been in riichi since your turn {turn}")
        yield translate(text, seat=wind_of(decision.view, seat), turn=turn)
