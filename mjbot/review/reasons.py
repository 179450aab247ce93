"""Why one choice is better than another: the difference of their terms, in words.

The difference of two worths that are sums is the sum of the differences of their terms; each is a
:class:`Reason`.  What a hand may win, chance times value, is taken apart once more: with a chance c
and a value v of what was done, C and V of what is better::

    C V - c v = (C - c) (v + V) / 2 + (V - v) (c + C) / 2      speed, and value

so that all reasons together are still the whole difference.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from mjbot.review.decisions import Decision, total_of
from mjbot.strategy.explanation import (
    ACCEPTED,
    CHANCE_TO_WIN,
    DANGER,
    DEALING_IN,
    LATER,
    PERCENT,
    PLACEMENT,
    POINTS,
    RANKS,
    SHANTEN,
    STICK,
    WIN_VALUE,
    WINNING,
    WORTH,
    Rated,
    Term,
)
from mjbot.table.view import View

Kind = Literal["efficiency", "push or fold", "riichi", "calls", "lost value", "wins"]
KINDS: Final[tuple[Kind, ...]] = (
    "efficiency",
    "push or fold",
    "riichi",
    "calls",
    "lost value",
    "wins",
)
WINDS: Final = ("East", "South", "West", "North")

Topic = Literal["speed", "value", "danger", "later", "stick", "placement", "other"]
_TOPICS: Final[dict[str, Topic]] = {
    DEALING_IN: "danger",
    LATER: "later",
    STICK: "stick",
    PLACEMENT: "placement",
}
PUSHES: Final = 0.5
"""Share of what the hand gains that danger must have, for a choice to be one of push or fold."""


@dataclass(frozen=True)
class Reason:
    """One part of a difference: ``gain`` is what the better choice gains by it, in ``unit``.

    ``shows`` are name and opponent of the term that a table shows it beside.
    """

    topic: Topic
    gain: float
    unit: str
    text: str
    shows: tuple[str, int | None]

    def __str__(self) -> str:
        return f"{self.text} ({signed(self.gain, self.unit)})"


def reasons(decision: Decision) -> list[Reason]:
    """Return what makes the difference between what was done and what is better, largest first.

    Empty where both are the same, or nothing adds up to what they are worth.
    """
    done, better = decision.done, decision.better
    if decision.is_equal or done is None or better is None:
        return []
    return compare(decision.view, done, better, decision.told.unit)


def compare(view: View, done: Rated, better: Rated, unit: str) -> list[Reason]:
    """Return what makes the difference between two things that were rated, largest first."""
    total = total_of(unit)
    if not (done.parts(total) and better.parts(total)):
        total = WORTH
    if not (done.parts(total) and better.parts(total)):
        return []
    found = _differences(view, done, better, total)
    return sorted(found, key=lambda reason: -abs(reason.gain))


def sentence(decision: Decision) -> str:
    """Say in a line why the better choice is better; nothing where there is nothing to say."""
    told = [reason for reason in reasons(decision) if round(abs(reason.gain)) > 0][:2]
    if not told and not decision.is_equal:
        return _facts(decision)
    unit = decision.told.unit
    text = ", ".join(map(str, told))
    if unit != POINTS and told and any(reason.unit == POINTS for reason in told):
        whole = signed(decision.points or 0.0, POINTS)
        text = f"{_shares(decision)}; in points {whole}: {text}"
    return text


def kind_of_loss(decision: Decision) -> Kind:
    """Return what kind of choice it was."""
    pair = (decision.expected, decision.actual)
    if any(each.is_win or each.is_nine_terminals for each in pair):
        return "wins"
    if any(each.is_riichi for each in pair):
        return "riichi"
    if any(each.is_call or each.is_kan for each in pair):
        return "calls"
    gains = dict.fromkeys(("speed", "value", "danger", "other"), 0.0)
    for reason in reasons(decision):
        topic = "danger" if reason.topic == "later" else reason.topic
        gains[topic if topic in gains else "other"] += reason.gain
    if abs(gains["danger"]) >= PUSHES * abs(gains["speed"] + gains["value"]) > 0:
        return "push or fold"
    if gains["danger"] and not gains["speed"] and not gains["value"]:
        return "push or fold"
    return "lost value" if gains["value"] > max(gains["speed"], 0.0) else "efficiency"


# --- differences -------------------------------------------------------------------------------


def _differences(view: View, done: Rated, better: Rated, total: str) -> Iterator[Reason]:
    names = {(term.name, term.about): term for each in (done, better) for term in each.parts(total)}
    for (name, about), term in names.items():
        if name == WINNING:
            yield from _winning(done, better)
            continue
        gain = _value(better, name, about) - _value(done, name, about)
        if gain:
            topic = _topic(name)
            text = _text(view, topic, term, done, better)
            shows = (DANGER, about) if name == DEALING_IN else (name, about)
            yield Reason(topic, gain, term.unit, text, shows)


def _topic(name: str) -> Topic:
    if name == "safety":
        return "danger"
    return "speed" if name == "shape" else _TOPICS.get(name, "other")


def _winning(done: Rated, better: Rated) -> Iterator[Reason]:
    """Take what the hands may win apart into speed and value."""
    whole = _value(better, WINNING) - _value(done, WINNING)
    chances = [_value(each, CHANCE_TO_WIN) / 100 for each in (done, better)]
    values = [_value(each, WIN_VALUE) for each in (done, better)]
    by_value = (values[1] - values[0]) * sum(chances) / 2 if all(values) else 0.0
    if whole - by_value:
        yield Reason("speed", whole - by_value, POINTS, _speed(done, better), (CHANCE_TO_WIN, None))
    if by_value:
        text = f"wins {number(values[1], POINTS)} instead of {number(values[0], POINTS)} points"
        yield Reason("value", by_value, POINTS, text, (WIN_VALUE, None))


def _speed(done: Rated, better: Rated) -> str:
    """Say what makes the hand faster or slower: steps or tiles, where these speak the same way."""
    is_faster = _value(better, CHANCE_TO_WIN) > _value(done, CHANCE_TO_WIN)
    if done.term(CHANCE_TO_WIN) is None:
        is_faster = (_value(better, SHANTEN), -_value(better, ACCEPTED)) < (
            _value(done, SHANTEN), -_value(done, ACCEPTED),
        )  # fmt: skip
    if done.term(SHANTEN) and better.term(SHANTEN):
        before, after = (int(_value(each, SHANTEN)) for each in (done, better))
        few, many = (int(_value(each, ACCEPTED)) for each in (done, better))
        if before != after and (after < before) == is_faster:
            return f"{'stays' if is_faster else 'goes back to'} {_shanten(after)}"
        if before == after and many != few and (many > few) == is_faster:
            return f"accepts {many} tiles instead of {few}" if is_faster else (
                f"costs {few - many} of {few} tiles"
            )  # fmt: skip
    chances = [number(_value(each, CHANCE_TO_WIN), PERCENT) for each in (done, better)]
    return f"wins {chances[1]} instead of {chances[0]} % of the time"


def _shanten(steps: int) -> str:
    return "tenpai" if steps == 0 else f"{steps}-shanten"


def _text(view: View, topic: Topic, term: Term, done: Rated, better: Rated) -> str:
    if term.name == DEALING_IN and term.about is not None:
        before, after = (_value(each, DANGER, term.about) for each in (done, better))
        first, second, wind = (
            number(before, PERCENT), number(after, PERCENT), wind_of(view, term.about),
        )  # fmt: skip
        if first == second:
            return f"keeps the danger at {first} % against {wind}"
        verb = "cuts" if after < before else "raises"
        return f"{verb} the danger from {first} to {second} % against {wind}"
    gains = _value(better, term.name, term.about) > _value(done, term.name, term.about)
    match topic:
        case "later":
            return "risks less later on" if gains else "risks more later on"
        case "stick":
            return "keeps the riichi stick" if gains else "puts a riichi stick down"
        case "placement":
            return "serves the placement" if gains else "serves the placement less"
    first, second = (number(_value(each, term.name), term.unit) for each in (better, done))
    return f"has {term.name} {first} instead of {second}"


def _facts(decision: Decision) -> str:
    """Say what is known of both where nothing adds up: the shares, how far each leaves the hand."""
    done, better = decision.done, decision.better
    if done is None or better is None:
        return ""
    parts = [_shares(decision)] if decision.told.unit.startswith(PERCENT) else []
    if done.term(SHANTEN) and better.term(SHANTEN):
        same = all(_value(done, name) == _value(better, name) for name in (SHANTEN, ACCEPTED))
        parts += [] if same else [_speed(done, better)]
    return "; ".join(part for part in parts if part)


def _shares(decision: Decision) -> str:
    unit, done, better = decision.told.unit, decision.done, decision.better
    if not unit.startswith(PERCENT) or done is None or better is None:
        return ""
    shares = [number(each.worth, PERCENT) for each in (better, done)]
    whose = unit.removeprefix(PERCENT).strip() or "the network"
    return f"{shares[0]} % {whose} instead of {shares[1]} %"


# --- words and numbers -------------------------------------------------------------------------


def wind_of(view: View, seat: int) -> str:
    """Return a seat by its wind."""
    return WINDS[view.seat_wind(seat)]


def number(value: float, unit: str) -> str:
    """Return a value as sentences and tables show it.

    >>> number(9.46, "%"), number(0.123, "%"), number(-1234.5, "points"), number(2.0, "tiles")
    ('9.5', '0.12', '-1,234', '2')
    """
    if unit.startswith(PERCENT):
        if abs(value) < 0.005:
            return "0"
        return f"{value:.2f}" if abs(value) < 1 else f"{value:.1f}"
    if unit == POINTS:
        return f"{round(value):,}"
    return f"{value:.3f}" if unit == RANKS else f"{value:,.6g}"


def signed(value: float, unit: str) -> str:
    """Return a difference, with its sign and, but for points, its unit."""
    text = number(value, unit)
    return text if text.startswith("-") or float(text.replace(",", "")) == 0 else f"+{text}"


def _value(rated: Rated, name: str, about: int | None = None) -> float:
    term = rated.term(name, about)
    return term.value if term else 0.0
