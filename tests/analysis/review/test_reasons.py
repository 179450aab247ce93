"""Why a choice is better, taken apart and in words."""

import re
from dataclasses import replace

import pytest

from mjbot.analysis.review import reasons as reasons_module
from mjbot.analysis.review.comparison import compare_choices
from mjbot.analysis.review.reasons import (
    MATERIAL,
    MistakeClass,
    Reason,
    class_of_discard,
    class_of_mistake,
    compare,
    number,
    reasons,
    signed,
)
from mjbot.analysis.review.sentences import because, sentence
from mjbot.game.table.actions import ACTIONS, DECLARE_RIICHI
from mjbot.strategy.explanation import (
    ACCEPTED,
    CHANCE_TO_WIN,
    DANGER,
    DEALING_IN,
    SHANTEN,
    SHAPE,
    WIN_VALUE,
    WINNING,
    Rated,
    Term,
)


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


def test_a_sentence_gives_the_largest_reasons_for_the_better_choice_and_none_against_it(review):
    n_given = 0
    for decision in differing(review):
        found, said = reasons(decision), sentence(decision)
        assert [abs(each.gain) for each in found] == sorted(
            [abs(each.gain) for each in found], reverse=True
        )
        favouring = [each for each in found if each.gain >= MATERIAL]
        n_given += bool(favouring)
        assert all(str(each) in said for each in favouring[:2])
        assert not any(str(each) in said for each in found if each.gain < MATERIAL)
    assert n_given > 20


def numbers(text):
    return re.findall(r"[+-]?\d[\d,]*(?:\.\d+)?", text)


def test_a_sentence_has_no_number_that_the_table_has_not(review):
    n_numbers = 0
    for decision in differing(review):
        if decision.seat != review.seat:
            continue
        found = compare_choices(decision)
        shown = set()
        for row in found.rows if found else ():
            pair = [number(each, row.unit) for each in (row.yours, row.other) if each is not None]
            shown.update([*pair, number(row.gain or 0.0, found.unit).lstrip("-")])
        words = re.sub(r"\d-shanten|turn \d+|\b\d[mps]\b", "", because(decision))
        for told in numbers(words):
            assert told.lstrip("+-") in shown, (told, sentence(decision))
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
        Term(WINNING, "points", chance * value / 100, adds_to="value"),
    ]


def danger(seat, chance, cost):
    return [
        Term(DANGER, "%", chance, more_is_better=False, about=seat),
        Term(DEALING_IN, "points", -chance * cost / 100, about=seat, adds_to="value"),
    ]


def test_a_safer_tile_that_costs_tiles_is_told_as_a_player_would(by_points):
    view = by_points.decisions[0].view
    done = rated(0, *hand(30, 5000, 20), *danger(1, 9.5, 7900))
    better = rated(1, *hand(25.8, 5000, 16), *danger(1, 2.0, 7900))
    found = compare(view, done, better, "points")
    wind = ("East", "South", "West", "North")[view.seat_wind(1)]
    assert [str(each) for each in found] == [
        f"discarding 1m deals into {wind} 9.5% of the time (2m: 2.0%) (+592)",
        "accepts 16 tiles instead of 20 (-210)",
    ]


def test_a_riichi_that_is_rated_without_its_discard_names_no_tile(by_points):
    view = by_points.decisions[0].view
    done = replace(rated(0, *danger(1, 9.5, 7900)), action=ACTIONS[DECLARE_RIICHI])
    better = rated(1, *danger(1, 2.0, 7900))
    wind = ("East", "South", "West", "North")[view.seat_wind(1)]
    (reason,) = compare(view, done, better, "points")
    assert str(reason) == f"deals into {wind} 2.0% of the time instead of 9.5% (+592)"


def test_chance_and_value_are_taken_apart_without_a_rest(by_points):
    view = by_points.decisions[0].view
    done, better = rated(0, *hand(30, 2000, 20)), rated(1, *hand(20, 8000, 12))
    found = {each.topic: each for each in compare(view, done, better, "points")}
    assert found["speed"].gain == pytest.approx(-0.1 * 5000)
    assert found["value"].gain == pytest.approx(6000 * 0.25)
    assert found["speed"].gain + found["value"].gain == pytest.approx(1600 - 600)
    assert found["value"].text == "a win pays 8,000 points instead of 2,000"


def test_words_never_speak_against_their_number(by_points):
    """More tiles, yet a worse chance: the chance is told."""
    view = by_points.decisions[0].view
    done, better = rated(0, *hand(30, 2000, 12)), rated(1, *hand(20, 2000, 20))
    (reason,) = compare(view, done, better, "points")
    assert str(reason) == "wins 20.0% of the time instead of 30.0% (-200)"


def test_reasons_are_split_by_the_chances_that_the_points_are_made_of(by_points):
    """Riichi and silence win as often in the points, though fewer riichi have won in records."""
    view = by_points.decisions[0].view
    silent, riichi = (
        rated(
            0,
            Term(CHANCE_TO_WIN, "%", reported),
            Term(WIN_VALUE, "points", value),
            Term(WINNING, "points", 0.5 * value, adds_to="value"),
        )
        for reported, value in ((45, 4000), (40, 6000))
    )
    (reason,) = compare(view, silent, riichi, "points")
    assert (reason.topic, reason.gain) == ("value", 1000)


def test_a_weight_of_the_shape_is_a_reason_of_its_own(by_points):
    view = by_points.decisions[0].view
    done = rated(0, *hand(22, 5000, 24), Term(SHAPE, "points", -900, adds_to="value"))
    better = rated(1, *hand(22, 5000, 24))
    (reason,) = compare(view, done, better, "points")
    assert str(reason) == "keeps the better shape (+900)"


@pytest.mark.parametrize(("danger", "kind"), [(0.6, "push/fold"), (1.4, "push/fold"),
    (0.4, "efficiency"), (-0.6, "folded too early"), (-0.4, "efficiency")])  # fmt: skip
def test_danger_of_half_of_what_the_hand_gains_makes_it_push_or_fold(danger, kind):
    speed = Reason("speed", 1000, "points", "", (WINNING, None))
    against = Reason("danger", 1000 * danger, "points", "", (DANGER, 1))
    assert class_of_discard([speed, against]) == kind


@pytest.mark.parametrize(("unit", "gain"), [("points", 20), ("ranks", -4)])
def test_terms_in_points_stand_beside_a_worth_in_another_unit(by_points, unit, gain):
    def both(tile, worth, points):
        beside = Term("one", "points", points, adds_to="in points")
        return rated(tile, Term("other", unit, worth, adds_to="value"), beside)

    view = by_points.decisions[0].view
    found = compare(view, both(0, 10, 5), both(1, 30, 1), unit)
    assert [each.gain for each in found] == [gain]


@pytest.mark.parametrize(
    ("danger", "later", "kind"),
    [(80, 0, "push/fold"), (80, 70, "push/fold"), (30, 60, "safe tiles"), (0, 90, "safe tiles"),
     (0, 20, "efficiency"), (-60, 20, "efficiency"), (-150, -390, "folded too early"),
     (30, -90, "folded too early"), (90, -20, "push/fold"), (-20, 90, "safe tiles")],
)  # fmt: skip
def test_safe_tiles_for_later_are_a_class_where_they_outweigh_the_danger_now(danger, later, kind):
    found = [Reason("speed", 100.0, "points", "", ("winning", None))]
    found += [Reason("danger", float(danger), "points", "", ("dealing in", 1))] * bool(danger)
    found += [Reason("later", float(later), "points", "", ("later in the kyoku", None))]
    assert class_of_discard(found) == kind


@pytest.mark.parametrize(("hands", "first"), [(2, 6), (6, 2)])
def test_the_last_hands_have_a_class_of_placement(by_points, monkeypatch, hands, first):
    monkeypatch.setattr(reasons_module, "LAST_HANDS", hands)
    n = 0
    for decision in differing(by_points):
        gains = [each.gain for each in reasons(decision) if each.topic == "placement"]
        others = [each.gain for each in reasons(decision) if each.topic != "placement"]
        is_win = any(each.is_win for each in (decision.actual, decision.expected))
        is_placement = sum(gains) > max(sum(others), 0) and not is_win
        expected = is_placement and decision.view.round >= first
        assert (class_of_mistake(decision) == "placement") == expected
        n += expected
    assert (n > 0) == (first == 2)  # the game ends in South 1


def test_every_loss_has_one_kind(review):
    kinds = {class_of_mistake(each) for each in differing(review)}
    assert kinds <= set(MistakeClass)
    assert {"efficiency", "push/fold"} <= kinds
    for decision in differing(review):
        names = {decision.actual.name, decision.expected.name}
        if class_of_mistake(decision) == "riichi":
            assert "riichi" in names
        if class_of_mistake(decision) == "calls":
            assert names & {"pon", "chi", "daiminkan", "ankan", "kakan"}


def test_numbers_are_short_and_signed():
    assert (number(0.001, "%"), number(12.34, "%"), number(0.5, "ranks")) == ("0", "12.3", "0.500")
    assert (signed(1234.4, "points"), signed(-0.2, "points")) == ("+1,234", "0")
