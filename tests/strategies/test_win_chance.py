"""The chance to win that fold-recognition-plus reports: an estimate, calibrated on records."""

from pathlib import Path

import numpy as np
import pytest

from mjbot.game.records.choices import Numbering, steps
from mjbot.game.table.view import Sealed, View
from mjbot.strategies.evaluation.push_fold.win_chance import SITUATIONS, calibrated, situation_after
from mjbot.strategies.fold_recognition_plus import FoldRecognitionPlus
from mjbot.strategy.explanation import CHANCE_TO_WIN, SHAPE, same_choice

LOG = Path(__file__).parents[2] / "logs" / "hanchan-open-kan-and-bust.mjson"
FAR = "579m12p0789p3s789s"
HOPELESS = "159m2469p37s1244z"


def chances(view, **options):
    rated = FoldRecognitionPlus(**options).ratings(view)
    return {(each.action, each.then): each.term(CHANCE_TO_WIN).value for each in rated}


def test_the_reported_chance_to_win_is_none_of_the_evaluators(position):
    """Its weight is a term of its own: 159 : 1 between two discards that win 2 : 1."""
    view = position(FAR, drawn="6z")
    assert chances(view) == pytest.approx(chances(view, evaluator=False))
    weighed = {each.action: each for each in FoldRecognitionPlus().ratings(view)}
    plain = {each.action: each for each in FoldRecognitionPlus(evaluator=False).ratings(view)}
    shapes = {action: each.term(SHAPE) for action, each in weighed.items()}
    assert max(term.value for term in shapes.values() if term) <= 0
    assert min(term.value for term in shapes.values() if term) < -500
    for action, each in weighed.items():
        shape = shapes[action].value if shapes[action] else 0.0
        assert each.value - shape == pytest.approx(plain[action].value)


def test_calibration_changes_what_is_reported_and_no_choice(position):
    for hand in ("234m067p23456s77s", FAR, HOPELESS):
        view = position(hand, drawn="2z")
        reported, estimated = FoldRecognitionPlus(), FoldRecognitionPlus(calibrated=False)
        assert reported.decide(view) == estimated.decide(view)
        pairs = zip(reported.ratings(view), estimated.ratings(view), strict=True)
        assert all(one.value == other.value for one, other in pairs)
        assert chances(view) != chances(view, calibrated=False)


def test_riichi_and_silence_of_one_estimate_have_won_differently_in_records(position):
    view = position("234m067p23456s77s", drawn="2z")
    silent = next(action for action in view.discards if str(action).startswith("discard S"))
    riichi = next(action for action in view.legal if action.is_riichi)
    estimate, reported = chances(view, calibrated=False), chances(view)
    pairs = (silent, None), (riichi, silent)
    assert estimate[pairs[0]] == pytest.approx(estimate[pairs[1]], abs=3)
    assert abs(reported[pairs[0]] - reported[pairs[1]]) > 5
    assert max(reported.values()) < max(estimate.values())


@pytest.mark.parametrize("situation", SITUATIONS)
def test_calibrated_chances_are_chances_in_the_order_of_the_estimates(situation):
    found = [calibrated(chance, situation) for chance in np.linspace(0, 1, 201)]
    assert found == sorted(found)
    assert 0 <= found[0] < 0.02
    assert 0.2 < found[-1] < 0.8


def test_a_situation_is_that_of_the_hand_that_is_left(position):
    closed = position("123m456p78s1122z9p", drawn="5m")
    assert situation_after(closed, closed.discards[0]).startswith("closed, ")
    tenpai = position("234m067p23456s77s", drawn="2z")
    silent = next(action for action in tenpai.discards if action.tile == 28)
    assert situation_after(tenpai, silent) == "silent tenpai"
    assert situation_after(tenpai, silent, in_riichi=True) == "riichi"


def test_the_estimate_of_one_choice_is_the_reported_one_before_calibration():
    bot, sealed, numbering = FoldRecognitionPlus(calibrated=False), Sealed(), Numbering()
    names, n = set(), 0
    for step in steps(LOG):
        for seat in numbering.choosers(step):
            recorded, then, n = step.recorded(seat), step.discard_after(seat), n + 1
            if recorded is None or (n % 6 and not recorded.is_riichi and not recorded.is_call):
                continue
            view = sealed.view(View(step.table.state, seat))
            found = bot.estimated_chance(view, recorded, then)
            rated = [each for each in bot.ratings(view) if same_choice(each.action, recorded)]
            rated = [each for each in rated if not each.then or same_choice(each.then, then)]
            terms = [each.term(CHANCE_TO_WIN) for each in rated]
            assert bool(terms) is (found is not None)
            if found:
                assert terms[0].value == pytest.approx(100 * found[0])
                names.add(recorded.name)
    assert {"discard", "riichi", "pass", "pon", "chi"} <= names
