"""Why a choice is better, taken apart and in words."""

import re

import pytest

from mjbot.review.decision_html import decision_html
from mjbot.review.reasons import (
    KINDS,
    compare,
    kind_of_loss,
    number,
    reasons,
    sentence,
    signed,
)
from mjbot.strategy.explanation import (
    ACCEPTED,
    CHANCE_TO_WIN,
    DANGER,
    DEALING_IN,
    SHANTEN,
    WIN_VALUE,
    WINNING,
    Rated,
    Term,
)
from mjbot.table.actions import ACTIONS


def differing(review):
    return [each for each in review.judged.decisions if not each.is_equal]


def test_all_reasons_together_are_the_whole_difference(review):
    n_explained = 0
    for decision in differing(review):
        found = reasons(decision)
        if found:
            assert sum(each.gain for each in found) == pytest.approx(decision.points, abs=1e-6)
            n_explained += 1
    assert n_explained > 30


def test_the_sentence_tells_the_two_largest(by_points):
    for decision in differing(by_points):
        found, said = reasons(decision), sentence(decision)
        if not found:
            continue
        for reason in found[:2]:
            if abs(reason.gain) >= 1:
                assert str(reason) in said
        assert abs(found[0].gain) >= abs(found[-1].gain)


def numbers(text):
    return re.findall(r"[+-]?\d[\d,]*(?:\.\d+)?", text)


def test_the_sentence_has_no_number_that_the_table_has_not(review):
    n_numbers = 0
    for decision in differing(review):
        if decision.seat != review.seat or not (said := sentence(decision)):
            continue
        html = decision_html(review, decision)
        cells = re.sub(r"<[^>]+>", "", " ".join(re.findall(r"<td>(.*?)</td>", html)))
        shown = {cell.lstrip("+") for cell in numbers(cells)}
        words = re.sub(r"\d-shanten", "", said)
        tiles = re.search(r"costs (\d+) of (\d+) tiles", words)
        if tiles:  # a difference: what is left stands in the table
            left = str(int(tiles[2]) - int(tiles[1]))
            assert {left, tiles[2]} <= shown
            words = words.replace(tiles[0], "")
        for told in numbers(words):
            assert told.lstrip("+") in shown, (told, said)
            n_numbers += 1
    assert n_numbers > 30


def rated(tile, *terms):
    parts = [term for term in terms if term.adds_to]
    return Rated(ACTIONS[tile], sum(term.value for term in parts), terms=terms)


def hand(chance, value, tiles, shanten=1):
    return [
        Term(SHANTEN, "shanten", shanten, more_is_better=False),
        Term(ACCEPTED, "tiles", tiles),
        Term(CHANCE_TO_WIN, "%", chance),
        Term(WIN_VALUE, "points", value),
        Term(WINNING, "points", chance * value / 100, adds_to="worth"),
    ]


def danger(seat, chance, cost):
    return [
        Term(DANGER, "%", chance, more_is_better=False, about=seat),
        Term(DEALING_IN, "points", -chance * cost / 100, about=seat, adds_to="worth"),
    ]


def test_a_safer_tile_that_costs_tiles_is_told_as_a_player_would(by_points):
    view = by_points.decisions[0].view
    done = rated(0, *hand(30, 5000, 20), *danger(1, 9.5, 7900))
    better = rated(1, *hand(25.8, 5000, 16), *danger(1, 2.0, 7900))
    found = compare(view, done, better, "points")
    wind = ("East", "South", "West", "North")[view.seat_wind(1)]
    assert [str(each) for each in found] == [
        f"cuts the danger from 9.5 to 2.0 % against {wind} (+592)",
        "costs 4 of 20 tiles (-210)",
    ]


def test_chance_and_value_are_taken_apart_without_a_rest(by_points):
    view = by_points.decisions[0].view
    done, better = rated(0, *hand(30, 2000, 20)), rated(1, *hand(20, 8000, 12))
    found = {each.topic: each for each in compare(view, done, better, "points")}
    assert found["speed"].gain == pytest.approx(-0.1 * 5000)
    assert found["value"].gain == pytest.approx(6000 * 0.25)
    assert found["speed"].gain + found["value"].gain == pytest.approx(1600 - 600)
    assert found["value"].text == "wins 8,000 instead of 2,000 points"


def test_words_never_speak_against_their_number(by_points):
    """More tiles, yet a worse chance: the chance is told."""
    view = by_points.decisions[0].view
    done, better = rated(0, *hand(30, 2000, 12)), rated(1, *hand(20, 2000, 20))
    (reason,) = compare(view, done, better, "points")
    assert str(reason) == "wins 20.0 instead of 30.0 % of the time (-200)"


@pytest.mark.parametrize(("unit", "gain"), [("points", 20), ("ranks", -4)])
def test_terms_in_points_stand_beside_a_worth_in_another_unit(by_points, unit, gain):
    def both(tile, worth, points):
        beside = Term("one", "points", points, adds_to="in points")
        return rated(tile, Term("other", unit, worth, adds_to="worth"), beside)

    view = by_points.decisions[0].view
    found = compare(view, both(0, 10, 5), both(1, 30, 1), unit)
    assert [each.gain for each in found] == [gain]


def test_every_loss_has_one_kind(review):
    kinds = {kind_of_loss(each) for each in differing(review)}
    assert kinds <= set(KINDS)
    assert {"efficiency", "push or fold"} <= kinds
    for decision in differing(review):
        names = {decision.actual.name, decision.expected.name}
        if kind_of_loss(decision) == "riichi":
            assert "riichi" in names
        if kind_of_loss(decision) == "calls":
            assert names & {"pon", "chi", "daiminkan", "ankan", "kakan"}


def test_numbers_are_short_and_signed():
    assert (number(0.001, "%"), number(12.34, "%"), number(0.5, "ranks")) == ("0", "12.3", "0.500")
    assert (signed(1234.4, "points"), signed(-0.2, "points")) == ("+1,234", "0")
