"""fold-recognition-plus in positions made by hand, and in whole games with each switch off."""

from dataclasses import fields

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.table.observe import dora_values
from mjbot.learning.models.danger import danger_weights, deal_in_chances, grade_chances
from mjbot.learning.models.danger_features import (
    MAX_ACTIVE,
    OpponentSigns,
    active_features,
    read_opponent,
)
from mjbot.learning.models.hand import HandEvaluator
from mjbot.learning.models.weights import load_weights
from mjbot.learning.training import regression as fit
from mjbot.protocol.tiles import TILE_NAMES, tile_kind
from mjbot.strategies.evaluation.push_fold.calls import N_CALLS, weigh_calls
from mjbot.strategies.evaluation.push_fold.hand_value import less_danger
from mjbot.strategies.fast_riichi_a import FastRiichiA
from mjbot.strategies.fold_recognition_plus import FoldRecognitionPlus
from mjbot.strategy.registry import make_strategy

SWITCHES = [field.name for field in fields(FoldRecognitionPlus) if field.type is bool]


def chances(view):
    chance, points = np.zeros((4, 34)), np.zeros((4, 34))
    deal_in_chances(view.state, view.seat, view.unseen, danger_weights(), chance, points)
    return chance, points


def kind(name: str) -> int:
    return TILE_NAMES.index(name)


def test_danger_is_none_for_genbutsu_less_for_suji_and_none_from_oneself(position):
    view = position("1405m19p55s2234z1s9s", drawn="3m", rivers={1: "46m1z"}, riichi=[1])
    chance, points = chances(view)
    against = chance[1]
    assert against[kind("4m")] == against[kind("E")] == 0
    assert 0 < against[kind("1m")] < against[kind("5m")] < 0.5
    assert (chance[0] == 0).all()
    assert (points[1][against > 0] > 3000).all()
    assert against[kind("5p")] > 3 * chance[2][kind("5p")]  # the others are hardly tenpai


@pytest.mark.parametrize(
    ("hand", "riichi", "sets_aside"),
    [
        ("19m123p45999s125z", [], True),  # a guest wind, no help for this hand
        ("19m123p45999s125z", [1], False),  # a safe discard of a hand that is far off
        ("123456p44789s22z", [1], True),  # near enough to play on
        ("19m19p19s1235566z", [], False),  # thirteen orphans
        ("123p456s789s1255z", [2], True),
    ],
)
def test_a_north_goes_unless_it_is_of_use(position, hand, riichi, sets_aside):
    view = position(hand, drawn="4z", riichi=riichi, players=3)
    action = FoldRecognitionPlus().kita(view)
    assert (action is not None) == sets_aside
    assert (action in view.legal) == sets_aside


def test_two_of_three_norths_are_no_triplet_but_three_are(position):
    bot, seen = FoldRecognitionPlus(), {"rivers": {1: "7z"}, "markers": "1p", "players": 3}
    assert bot.kita(position("123p456s78s1255z4z", drawn="4z", **seen)).is_kita
    assert bot.kita(position("123p456s78s125z44z", drawn="4z", **seen)) is None


def test_the_dealer_in_riichi_is_paid_more(position):
    view = position("1405m19p55s2234z1s9s", drawn="3m", riichi=[1])
    child = chances(view)[1][1][kind("5p")]
    view.state["dealer"] = 1
    assert chances(view)[1][1][kind("5p")] > 1.2 * child


def test_compiled_chances_are_those_of_the_fitted_model(position):
    view = position("1405m19p55s2234z1s9s", drawn="3m", rivers={1: "46m1z3p"}, riichi=[1])
    chance, _ = chances(view)
    dora, signs = np.empty(34, np.int8), OpponentSigns.new()
    dora_values(view.state, dora)
    for opponent, model in ((1, "riichi"), (2, "other")):
        read_opponent(view.state, opponent, view.unseen, signs)
        for tile in ("5p", "9s", "S"):
            row = np.full((1, MAX_ACTIVE), -1, np.int16)
            active_features(view.state, opponent, kind(tile), view.unseen, dora, signs, row[0])
            fitted = fit.chances(row, load_weights("danger")[model].astype(float))[0]
            assert chance[opponent, kind(tile)] == pytest.approx(fitted)


def test_the_four_grades_are_coarser(position):
    view = position("1405m19p55s2234z1s9s", drawn="3m", rivers={1: "46m1z"}, riichi=[1])
    chance, _ = chances(view)
    fine = len(set(chance[1].round(9).tolist()))
    grade_chances(view.state, view.seat, view.unseen, danger_weights(), chance)
    assert len(set(chance[1].round(9).tolist())) == 4 < fine
    assert chance[1, kind("4m")] == 0


def choice(view, **options):
    return str(FoldRecognitionPlus(**options).decide(view))


HOPELESS = "159m2469p37s1244z"


def test_a_hopeless_hand_folds_with_genbutsu_and_a_good_one_does_not(position):
    threat = {"rivers": {1: "9m1z8s"}, "riichi": [1], "wall_left": 30}
    folded = choice(position(HOPELESS, drawn="5p", **threat))
    assert folded in ("discard 9m", "discard E")
    good = position("234m067p23455s88s", drawn="1p", **threat)
    assert choice(good).startswith(("riichi", "discard 1p"))


def test_of_safe_tiles_the_one_that_keeps_the_hand(position):
    """9s and 4p are both genbutsu; only 9s is of no use."""
    view = position(
        "345m4067p23488s9s2z", drawn="7z", rivers={1: "4p9s7z2z"}, riichi=[1], wall_left=40
    )
    assert choice(view) in ("discard 9s", "discard S", "discard C (drawn)")


def test_a_ready_good_hand_declares_riichi(position):
    assert choice(position("234m067p23456s77s", drawn="2z")) == "riichi"


def test_a_value_pon_is_called_when_it_brings_the_hand_on(position):
    hand = "340m67p55z44678s1z"
    assert choice(position(hand, offered="5z")) == "pon"
    assert choice(position(hand, offered="5z"), calls=False) == "pass"


def test_a_call_must_gain_the_margin(position):
    view = position("340m67p55z44678s1z", offered="5z")
    codes = np.array([action.code for action in view.legal if action.name == "pon"], np.int64)
    bot, worths = FoldRecognitionPlus(), np.empty(N_CALLS)
    passed = weigh_calls(
        view.state,
        0,
        view.unseen,
        codes,
        danger_weights(),
        bot._parameters_of[4],
        bot._stages,
        worths,
    )
    gained = worths.max() - passed
    assert choice(view, call_margin=gained - 1) == "pon"
    assert choice(view, call_margin=gained + 1) == "pass"
    factor = (worths.max() - 100) / passed
    assert choice(view, call_factor=factor - 0.01) == "pon"
    assert choice(view, call_factor=factor + 0.01) == "pass"


def test_a_concealed_kan_is_declared_where_it_costs_nothing(position):
    free = "1111m340p678s55z9s"
    assert choice(position(free, drawn="7z")) == "ankan 1m"
    assert choice(position(free, drawn="7z", riichi=[2])) != "ankan 1m"
    assert choice(position("111123m456p789s1z", drawn="7z")) != "ankan 1m"  # 123m goes


def test_a_silent_tenpai_is_one_that_riichi_is_worth_less_than(position):
    view = position("234m067p23456s77s", drawn="2z", rivers={2: "1m"}, riichi=[2], wall_left=20)
    discards = [action for action in view.legal if action.name == "discard"]
    declared = []
    for caution in (0.5, 4.0, 10.0, 20.0):
        bot = FoldRecognitionPlus(caution=caution, evaluator=False)
        values, riichis, here = bot._weighed(view, discards)
        declared.append(bool(less_danger(riichis, here).max() > less_danger(values, here).max()))
        assert (str(bot.decide(view)) == "riichi") is declared[-1]
        assert choice(view, caution=caution, silent_tenpai=False) == "riichi"
    assert declared == [True, True, False, False]


def test_a_hand_keeps_of_its_worth_what_the_evaluator_leaves_it(position):
    view = position(HOPELESS, drawn="5p")
    guided, plain = FoldRecognitionPlus(), FoldRecognitionPlus(evaluator=False)
    legal = [action.tile for action in view.legal if action.name == "discard"]
    here = plain._position(view, view.wall_left // 4)
    kinds = [tile_kind(tile) for tile in legal]
    less, whole = (
        np.array(
            [{one.action.tile: one.value for one in bot.ratings(view)}[tile] for tile in legal]
        )
        for bot in (guided, plain)
    )
    scores = HandEvaluator.load("plus").scores_at(view.state, 0)
    kept = np.exp((scores[kinds] - scores.max()) / 60)
    assert less + here.loss[kinds] == pytest.approx(kept * (whole + here.loss[kinds]))
    assert kept.min() < 0.2
    assert less.max() > 0


def test_only_threats_quicken_the_others(position):
    bots = FoldRecognitionPlus(threat_pace=1.0), FoldRecognitionPlus()
    usual, quick = (bot._parameters_of[4].pace for bot in bots)
    assert quick[:, [0, 4]] == pytest.approx(usual[:, [0, 4]])
    assert quick[:, 1:4] == pytest.approx(1.3 * usual[:, 1:4])
    assert (usual[6:17, 3] > usual[6:17, 2] + 0.1).all()
    assert (usual[6:16, 4] < usual[6:16, 1]).all()


def test_nothing_is_called_without_a_yaku_in_sight(position):
    assert choice(position("19m34p19s1234z567s", offered="2p")) == "pass"


def test_it_wins_whenever_it_can(position):
    assert choice(position("234m067p23455s88s", drawn="8s")) == "tsumo"


def play(seed: int, **options: bool) -> list[int]:
    bots = [FoldRecognitionPlus(**options), *(FastRiichiA() for _ in range(3))]
    referee = Referee(seed, "tonpu")
    referee.start()
    while asked := referee.asked:
        referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in asked})
    return [int(points) for points in referee.state["scores"]]


@pytest.mark.parametrize("switch", SWITCHES)
def test_it_plays_whole_games_with_any_switch_off(switch):
    scores = play(4, **{switch: False})
    assert sum(scores) == 100_000
    assert scores == play(4, **{switch: False})


def test_it_plays_against_itself_and_is_found_by_name():
    bot = make_strategy("fold-recognition-plus", {"calls": "false"})
    assert isinstance(bot, FoldRecognitionPlus)
    assert not bot.calls
    referee = Referee(1, "tonpu")
    referee.play([FoldRecognitionPlus() for _ in range(4)])
    assert int(referee.state["scores"].sum()) == 100_000


def test_it_sees_only_what_its_seat_may_see():
    """On the honest copy of a table, all else blanked out, it decides the same."""
    from mjbot.game.table.assume import hide
    from mjbot.game.table.state import copy_state
    from mjbot.game.table.view import View

    class Watched(FoldRecognitionPlus):
        compared = 0

        def decide(self, view):
            action = super().decide(view)
            honest = copy_state(view.state)
            hide(honest, view.seat)
            assert super().decide(View(honest, view.seat)) == action
            Watched.compared += 1
            return action

    Referee(2, "tonpu").play([Watched(), *(FastRiichiA() for _ in range(3))])
    assert Watched.compared > 30
