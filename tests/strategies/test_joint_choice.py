"""A pair's joint choice: what is dealt around two known hands, and which plans win."""

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.table.observe import visible_kinds
from mjbot.learning.models.fast_policy.choice import load_policy
from mjbot.learning.models.networks.rank import rank_model
from mjbot.learning.models.tenpai import hand_reader
from mjbot.learning.playouts.sampler import (
    HandSampler,
    deal_rivals,
    deal_wall,
)
from mjbot.strategy.pair.member import Ally, pair_up
from mjbot.strategy.pair.messages import SharedHand, game_fingerprint
from mjbot.strategy.registry import make_strategy
from protocol.tiles import TILE_NAMES, parse_tiles
from strategies.evaluation.pair import joint, joint_playouts
from strategies.evaluation.pair.situation import PairSituation
from strategies.yaku_evaluation import YakuEvaluation

GAME = game_fingerprint(())
ALLY = 1
TENPAI = "234m66m345p678s24s"  # waits on 3s: tanyao
OWN = "23m668m4678p1578s"


def names(text: str) -> tuple[str, ...]:
    return tuple(TILE_NAMES[tile] for tile in parse_tiles(text))


def holding(view, hand: str, waits: str) -> SharedHand:
    return SharedHand(
        game=GAME, kyoku=0, honba=0, turn=len(view.river(ALLY)), seat=ALLY, hand=names(hand),
        waits=names(waits),
    )  # fmt: skip


def situation(view, hand: str = TENPAI, waits: str = "3s") -> PairSituation:
    return PairSituation(view, Ally(view, holding(view, hand, waits)))


def values(here: PairSituation, plans: list[joint.PairPlan], worlds: int, seed: int = 5):
    workspace = joint_playouts.JointWorkspace.new()
    workspace["position"] = here.ally.state
    workspace["seat"], workspace["ally"] = here.pair
    workspace["walls"] = 2
    codes = np.array([(plan.action.code, plan.folds) for plan in plans], np.int64)
    out = np.empty((worlds, len(plans), joint_playouts.N_VALUES))
    weights = rank_model().weights
    joint_playouts.compare_plans(workspace, load_policy(), hand_reader(), weights, codes, seed, out)
    return out


def chosen(view, **options: str) -> str:
    bot, top = make_strategy("combo-partner", options), YakuEvaluation()
    link, _ = pair_up(top, bot)
    link.send(holding(view, TENPAI, "3s"))
    action = bot.decide(view)
    assert action in view.legal
    return str(action)


@pytest.mark.parametrize("seed", range(20))
def test_both_hands_stay_and_all_136_tiles_are_dealt(position, seed):
    here = situation(position(OWN, drawn="3s", riichi=[2] if seed % 2 else []))
    state, sampler = here.ally.state.copy(), HandSampler.new()
    before = state["hand"][[0, ALLY]].copy()
    random, shanten = np.array([seed], np.uint64), np.array([0, 0, 1, 2], np.int8)
    deal_rivals(state, 0, ALLY, shanten, random, sampler)
    deal_wall(state, random, sampler)
    assert (state["hand"][[0, ALLY]] == before).all()
    copies = np.zeros(34, np.int8)
    visible_kinds(state, copies)
    copies += state["hand"].sum(axis=0, dtype=np.int8)
    left = [tile for tile in state["wall"].tolist() if tile >= 0]
    assert copies.max() <= 4
    assert all(state["hand_known"])
    reds = state["red"].sum(axis=0) + [left.count(34 + suit) for suit in range(3)]
    assert reds.max() <= 1


def test_the_same_plan_twice_has_the_same_values_in_every_world(position):
    here = situation(position(OWN, drawn="3s", riichi=[2]))
    plan = joint.PairPlan(here.view.discards[0])
    found = values(here, [plan, plan], 12)
    assert (found[:, 0] == found[:, 1]).all()
    assert (found == values(here, [plan, plan], 12)).all()
    assert len(np.unique(found[:, 0, joint_playouts.POINTS])) > 1


def test_values_fit_together(position):
    here = situation(position(OWN, drawn="3s", riichi=[2]))
    found = values(here, [joint.PairPlan(action) for action in here.view.discards[:3]], 20)
    better, first = found[..., joint_playouts.BETTER_RANK], found[..., joint_playouts.FIRST]
    both = found[..., joint_playouts.TOP_TWO]
    assert (better <= -1).all() and (better >= -3).all()
    assert (both <= first + 1e-9).all() and (first <= 1 + 1e-9).all()
    assert (-better <= first + 3 * (1 - first) + 1e-9).all()


def test_a_fed_win_pays_the_ally_in_every_world(position):
    here = situation(position(OWN, drawn="3s", riichi=[2]))
    [feed] = [action for action in here.view.discards if str(action) == "discard 3s (drawn)"]
    points = values(here, [joint.PairPlan(feed)], 8)[:, 0, joint_playouts.POINTS]
    assert len(np.unique(points)) == 1  # the ally wins at once, whatever the rivals hold
    assert points[0] == 50_000  # won from the partner: the sum stays (no sticks on the table)


def test_a_player_that_folds_deals_in_less(position):
    view = position("123m456p7788s5p11z", drawn="9m", riichi=[2, 3])
    here = situation(view, "258m369p147s1234z", "")
    discard = here.view.discards[0]
    plans = [joint.PairPlan(discard), joint.PairPlan(discard, 1 << ALLY | 1)]
    found = values(here, plans, 60)[..., joint_playouts.POINTS]
    assert found[:, 1].std() < found[:, 0].std()


def last_hand(position, scores: tuple[int, int, int, int]):
    view = position(OWN, drawn="3s", riichi=[2])
    view.state["round"] = view.state["rules"]["last_round"] = 0
    view.state["scores"] = scores
    return view


@pytest.mark.parametrize("objective", ["better-rank", "first", "balanced"])
def test_the_last_hand_is_fed_to_an_ally_that_becomes_first(position, objective):
    view = last_hand(position, (5_000, 36_000, 36_500, 21_500))
    options = {"sashikomi": "no", "joint_ms": "60", "objective": objective}
    assert not chosen(view, sashikomi="no").startswith("discard 3s")
    assert chosen(view, **options) == "discard 3s (drawn)"


def test_nothing_is_fed_that_brings_the_pair_nothing(position):
    view = last_hand(position, (45_000, 1_000, 27_000, 26_000))
    options = {"sashikomi": "no", "joint_ms": "60", "objective": "first"}
    assert not chosen(view, **options).startswith("discard 3s")


def test_a_member_alone_searches_nothing(position, monkeypatch):
    monkeypatch.setattr(joint.JointSearch, "choose", None)
    bot = make_strategy("combo-partner", {"joint_ms": "60"})
    view = position(OWN, drawn="3s", riichi=[2])
    assert bot.decide(view) in view.legal


def test_a_pair_plays_a_whole_game_by_joint_choice():
    options = {"base": "fast-policy", "joint_ms": "4"}
    pair = [make_strategy("combo-partner", options) for _ in range(2)]
    rivals = [make_strategy("fast-policy") for _ in range(2)]
    players = [pair[0], rivals[0], pair[1], rivals[1]]
    pair_up(*pair)
    for seat, player in enumerate(players):
        player.start_game(seat, ("a", "b", "c", "d"))
    referee = Referee(seed=4)
    referee.play(players)
    assert referee.state["scores"].sum() + 1000 * referee.state["sticks"] == 100_000


def test_the_number_of_worlds_follows_the_budget():
    assert joint.worlds_within(100, 2, 40) > joint.worlds_within(100, 4, 40)
    assert joint.worlds_within(0.1, 4, 70) == 2 * joint.WALLS


# --- margin and standard error ------------------------------------------------------------------


def test_the_worlds_of_a_deal_are_one_observation():
    """Deals with the same gain in all their worlds are no surer than one world of each."""
    deals = np.random.default_rng(1).normal(100, 50, (30, 2))
    mean, error = joint.mean_and_error(np.repeat(deals, joint.WALLS, axis=0))
    assert mean == pytest.approx(deals.mean(axis=0))
    assert error == pytest.approx(deals.std(axis=0, ddof=1) / 30**0.5)
    _, of_one_deal = joint.mean_and_error(np.ones((joint.WALLS, 1)))
    assert np.isinf(of_one_deal).all()


def test_the_standard_error_is_that_of_independent_worlds_where_deals_change_nothing():
    gains = np.random.default_rng(2).normal(0, 1, (4000, 1))
    _, error = joint.mean_and_error(gains)
    assert error == pytest.approx(1 / 4000**0.5, rel=0.1)


@pytest.mark.parametrize(
    ("gain", "spread", "is_taken"),
    [
        (joint.MARGINS["points"] + 50, 1.0, True),
        (joint.MARGINS["points"] - 50, 1.0, False),  # surely better, and not by the margin
        (2000.0, 2000.0, True),  # twenty deals: an error of 459
        (2000.0, 6000.0, False),  # 1,376: not by two of them
    ],
)
def test_a_plan_must_gain_the_margin_and_two_standard_errors(
    position, monkeypatch, gain, spread, is_taken
):
    view = position(OWN, drawn="3s")
    incumbent, other = view.discards[:2]
    plans = [joint.PairPlan(incumbent), joint.PairPlan(other)]
    values = np.zeros((20 * joint.WALLS, 2, joint_playouts.N_VALUES))
    swings = np.repeat(np.tile([-spread, spread], 10), joint.WALLS)
    values[:, 1, joint_playouts.POINTS] = gain + swings
    monkeypatch.setattr(joint, "plans_of", lambda *_: plans)
    monkeypatch.setattr(joint.JointSearch, "play_on", lambda *_: values)
    found = joint.JointSearch(1.0, "points").choose(situation(view), incumbent, [], 0)
    assert found == (other if is_taken else incumbent)
