"""Why one choice is better than another: the difference of their terms, as text.

The difference of two values that are sums is the sum of the differences of their terms; each is a
:class:`Reason`.  What a hand may win, chance times value, is split once more: with a chance c
and a value v of the action taken, C and V of the better one::

    C V - c v = (C - c) (v + V) / 2 + (V - v) (c + C) / 2      speed, and value

so that all reasons together still make the whole difference.  These chances are those that the
points are made of; a strategy may report others, calibrated on records, which the text quotes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from mjbot.analysis.review.decisions import ReviewedDecision, total_of
from mjbot.analysis.review.tile_html import wind_of
from mjbot.game.table.actions import Action
from mjbot.game.table.view import View
from mjbot.runtime.languages import marked, translate
from mjbot.strategy import explanation as e
from mjbot.viewer.drawing.tiles import tile_text


class MistakeClass(StrEnum):
    """What a choice other than the reviewer's was about."""

    EFFICIENCY = marked("efficiency")
    PUSH_FOLD = marked("push/fold")
    FOLDED_TOO_EARLY = marked("folded too early")
    RIICHI = marked("riichi")
    CALLS = marked("calls")
    HAND_VALUE = marked("hand value")
    SAFE_TILES = marked("safe tiles")
    PLACEMENT = marked("placement")
    WINS = marked("wins")
    KITA = marked("kita")


def mistake_classes(players: int) -> list[MistakeClass]:
    """Return the classes at a table of so many players: of four nobody sets a north aside."""
    return [each for each in MistakeClass if players == 3 or each is not MistakeClass.KITA]


Topic = Literal["speed", "value", "danger", "later", "stick", "placement", "other"]
_TOPICS: Final[dict[str, Topic]] = {
    e.DEALING_IN: "danger",
    "safety": "danger",
    e.LATER: "later",
    e.STICK: "stick",
    e.PLACEMENT: "placement",
    e.SHAPE: "speed",
}
MATERIAL: Final = 10.0
"""Points below which a difference is not reported."""
PUSHES: Final = 0.5
"""Share of what the hand gains that danger must have, for a choice to be one of push or fold."""


@dataclass(frozen=True)
class Reason:
    """One part of a difference: ``gain`` is what the better choice gains by it, in ``unit``.

    ``shows`` are name and opponent of the term in whose row a table lists it.
    """

    topic: Topic
    gain: float
    unit: str
    text: str
    shows: tuple[str, int | None]

    def __str__(self) -> str:
        return translate("{reason} ({gain})", reason=self.text, gain=signed(self.gain, self.unit))


def reasons(decision: ReviewedDecision) -> list[Reason]:
    """Return what makes the difference between what was done and what is better, largest first.

    Empty where both are the same, or where their values are not sums.
    """
    return [] if decision.is_equal else _reasons_for(decision, decision.better)


def _reasons_for(decision: ReviewedDecision, better: e.Rated | None) -> list[Reason]:
    if decision.done is None or better is None:
        return []
    return compare(decision.view, decision.done, better, decision.explanation.unit)


def compare(view: View, done: e.Rated, better: e.Rated, unit: str) -> list[Reason]:
    """Return what makes the difference between two things that were rated, largest first."""
    total = total_of(unit)
    if not (done.parts(total) and better.parts(total)):
        total = e.VALUE
    if not (done.parts(total) and better.parts(total)):
        return []
    differences = _differences(view, done, better, total)
    return sorted(differences, key=lambda reason: -abs(reason.gain))


def class_of_mistake(
    decision: ReviewedDecision, better: Action | None = None, then: Action | None = None
) -> MistakeClass:
    """Return the class of a choice, compared with what is better.

    ``better`` is the alternative that playouts favour, with the discard that follows it; without it
    the reviewer's own choice is.
    """
    rated = decision.better if better is None else decision.rated(better, then)
    pair = (better or decision.expected, decision.actual)
    if any(action.is_win or action.is_nine_terminals for action in pair):
        return MistakeClass.WINS
    reasons_for = _reasons_for(decision, rated)
    if is_last_hand(decision.view) and _is_for_placement(reasons_for):
        return MistakeClass.PLACEMENT
    if any(action.is_kita for action in pair):
        return MistakeClass.KITA
    if any(action.is_riichi for action in pair):
        return MistakeClass.RIICHI
    if any(action.is_call or action.is_kan for action in pair):
        return MistakeClass.CALLS
    return class_of_discard(reasons_for)


LAST_HANDS: Final = 2
"""Rounds at the end of a game in which a choice can be one of placement: South 3 and South 4, of
three players South 2 and South 3."""


def is_last_hand(view: View) -> bool:
    """Return whether it is one of the last hands of the game."""
    return view.round > int(view.state["rules"]["last_round"]) - LAST_HANDS


def _is_for_placement(causes: list[Reason]) -> bool:
    """Return whether the placement gains more than all other reasons together."""
    gains = {True: 0.0, False: 0.0}
    for reason in causes:
        gains[reason.topic == "placement"] += reason.gain
    return gains[True] > max(gains[False], 0.0)


def class_of_discard(causes: list[Reason]) -> MistakeClass:
    """Return the class of a choice between two discards, by its reasons.

    Danger now and danger of the tiles still to be discarded (topic *later*) are added up.  Where
    the better choice risks less, the larger of the two makes it push/fold or a matter of the safe
    tiles kept; where it risks more for a better hand, the player folded too early.
    """
    gains = dict.fromkeys(("speed", "value", "danger", "later", "other"), 0.0)
    for reason in causes:
        gains[reason.topic if reason.topic in gains else "other"] += reason.gain
    risk, hand = gains["danger"] + gains["later"], gains["speed"] + gains["value"]
    if abs(risk) >= PUSHES * abs(hand):
        if risk > 0:
            is_now = gains["danger"] >= gains["later"]
            return MistakeClass.PUSH_FOLD if is_now else MistakeClass.SAFE_TILES
        if risk < 0 < hand:
            return MistakeClass.FOLDED_TOO_EARLY
    is_value = gains["value"] > max(gains["speed"], 0.0)
    return MistakeClass.HAND_VALUE if is_value else MistakeClass.EFFICIENCY


# --- differences -------------------------------------------------------------------------------


def _differences(view: View, done: e.Rated, better: e.Rated, total: str) -> Iterator[Reason]:
    names = {
        (term.name, term.about): term for rated in (done, better) for term in rated.parts(total)
    }
    for (name, about), term in names.items():
        if name == e.WINNING:
            yield from _winning(done, better)
            continue
        gain = value_of(better, name, about) - value_of(done, name, about)
        if gain:
            topic = _TOPICS.get(name, "other")
            text = _text(view, topic, term, done, better)
            shows = (e.DANGER, about) if name == e.DEALING_IN else (name, about)
            yield Reason(topic, gain, term.unit, text, shows)


def _winning(done: e.Rated, better: e.Rated) -> Iterator[Reason]:
    """Take what the hands may win apart into speed and value."""
    whole = value_of(better, e.WINNING) - value_of(done, e.WINNING)
    values = [value_of(rated, e.WIN_VALUE) for rated in (done, better)]
    by_value = 0.0
    if all(values):
        pair = zip((done, better), values, strict=True)
        chances = [value_of(rated, e.WINNING) / value for rated, value in pair]
        by_value = (values[1] - values[0]) * sum(chances) / 2
    speed = whole - by_value
    if abs(speed) > NOTHING:
        shows = (e.CHANCE_TO_WIN, None)
        yield Reason("speed", speed, e.POINTS, _speed(done, better, speed > 0), shows)
    if by_value:
        pays = [number(value, e.POINTS) for value in values]
        text = marked("a win pays {more} points instead of {less}")
        text = translate(text, more=pays[1], less=pays[0])
        yield Reason("value", by_value, e.POINTS, text, (e.WIN_VALUE, None))


NOTHING: Final = 1e-6
"""Points that rounding makes of equal chances."""


def faster_text(done: e.Rated, better: e.Rated) -> str:
    """Return what makes the hand that the better choice leaves the faster one."""
    return _speed(done, better, is_faster=True)


def _speed(done: e.Rated, better: e.Rated, is_faster: bool) -> str:
    """Return what makes the hand faster or slower: shanten, tiles or chances, if they agree."""
    chances = [value_of(rated, e.CHANCE_TO_WIN) for rated in (done, better)]
    shown = [percent(chance) for chance in chances]
    if done.term(e.SHANTEN) and better.term(e.SHANTEN):
        before, after = (int(value_of(rated, e.SHANTEN)) for rated in (done, better))
        few, many = (int(value_of(rated, e.ACCEPTED)) for rated in (done, better))
        if before != after and (after < before) == is_faster:
            text = marked("keeps {shanten}") if is_faster else marked("goes back to {shanten}")
            return translate(text, shanten=shanten_text(after))
        if before == after and many != few and (many > few) == is_faster:
            return translate("accepts {many} tiles instead of {few}", many=many, few=few)
    if (chances[1] > chances[0]) == is_faster and shown[0] != shown[1]:
        text = marked("wins {more} of the time instead of {less}")
        return translate(text, more=shown[1], less=shown[0])
    return translate("makes the hand faster") if is_faster else translate("makes the hand slower")


def shanten_text(steps: int) -> str:
    """Return how far a hand is from tenpai."""
    return translate("tenpai") if steps == 0 else translate("{n}-shanten", n=steps)


def _text(view: View, topic: Topic, term: e.Term, done: e.Rated, better: e.Rated) -> str:
    if term.name == e.DEALING_IN and term.about is not None:
        return _danger(view, term.about, done, better)
    gains = value_of(better, term.name, term.about) > value_of(done, term.name, term.about)
    match topic:
        case "later":
            return translate("risks less later on") if gains else translate("risks more later on")
        case "stick":
            if gains:
                return translate("keeps the riichi stick")
            return translate("puts a riichi stick down")
        case "placement":
            if gains:
                return translate("is better for the placement")
            return translate("is worse for the placement")
    if term.name == e.SHAPE:
        return translate("keeps the better shape") if gains else translate("keeps the worse shape")
    first, second = (number(value_of(rated, term.name), term.unit) for rated in (better, done))
    text = marked("has {term} {value} instead of {other}")
    return translate(text, term=translate(term.name), value=first, other=second)


def _danger(view: View, seat: int, done: e.Rated, better: e.Rated) -> str:
    """Return the two deal-in rates as text, whichever is safer."""
    wind = wind_of(view, seat)
    who = translate("{seat}, in riichi,", seat=wind) if view.riichi(seat) else wind
    tiles = [(rated.then or rated.action).tile for rated in (done, better)]
    dangers = [percent(value_of(rated, e.DANGER, seat)) for rated in (done, better)]
    if dangers[0] == dangers[1]:
        return translate("keeps the danger from {seat} at {chance}", seat=wind, chance=dangers[0])
    if min(tiles) < 0 or tiles[0] == tiles[1]:  # a riichi, rated without its discard
        text = marked("deals into {seat} {chance} of the time instead of {other}")
        return translate(text, seat=who, chance=dangers[1], other=dangers[0])
    return translate(
        "discarding {tile} deals into {seat} {chance} of the time ({better}: {safer})",
        tile=tile_text(tiles[0]),
        seat=who,
        chance=dangers[0],
        better=tile_text(tiles[1]),
        safer=dangers[1],
    )


# --- numbers -----------------------------------------------------------------------------------


def percent(value: float) -> str:
    """Return a share of 100 as sentences quote it.

    >>> percent(9.46), percent(0.0)
    ('9.5%', '0%')
    """
    return f"{number(value, e.PERCENT)}%"


def number(value: float, unit: str) -> str:
    """Return a value as sentences and tables show it, without its unit.

    >>> number(9.46, "%"), number(0.123, "%"), number(-1234.5, "points"), number(2.0, "tiles")
    ('9.5', '0.12', '-1,234', '2')
    """
    if unit.startswith(e.PERCENT):
        if abs(value) < 0.005:
            return "0"
        return f"{value:.2f}" if abs(value) < 1 else f"{value:.1f}"
    if unit == e.POINTS:
        return f"{round(value):,}"
    return f"{value:.3f}" if unit == e.RANKS else f"{value:,.6g}"


def signed(value: float, unit: str) -> str:
    """Return a difference, with its sign."""
    text = number(value, unit)
    return text if text.startswith("-") or float(text.replace(",", "")) == 0 else f"+{text}"


def value_of(rated: e.Rated, name: str, about: int | None = None) -> float:
    """Return a term's value, 0 where there is none."""
    term = rated.term(name, about)
    return term.value if term else 0.0
