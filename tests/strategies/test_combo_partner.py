"""What the partner does for its ally, in positions made by hand and in whole games."""

from collections import Counter

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.table.actions import Action
from mjbot.game.table.state import TURN
from mjbot.game.table.view import View
from mjbot.protocol.rules import RANKED
from mjbot.protocol.tiles import TILE_NAMES, parse_tiles, tile_kind
from mjbot.strategies.evaluation.fast_riichi.calls import useful_calls_after
from mjbot.strategies.evaluation.pair.learned import LearnedHelp, times_ratio
from mjbot.strategies.evaluation.pair.situation import PairSituation
from mjbot.strategies.evaluation.pair.value import pair_value, value_after
from mjbot.strategies.yaku_evaluation import YakuEvaluation
from mjbot.strategy.options import StrategyError
from mjbot.strategy.pair.member import Ally, pair_up
from mjbot.strategy.pair.messages import SharedHand, game_fingerprint
from mjbot.strategy.registry import make_strategy

GAME = game_fingerprint(())
ALLY = 1
TENPAI = "234m66m345p678s24s"  # waits on 3s: tanyao
TENPAI_OF_THREE = "999m66p345p678s24s"  # waits on 3s
READY_TO_CALL = "234m66m346p678s24s"  # a chi of 5p or a pon of 6m brings tenpai


def names(text: str) -> tuple[str, ...]:
    return tuple(TILE_NAMES[tile] for tile in parse_tiles(text))


def choice(
    view, ally: str, waits: str = "", helps: str = "", aim: str | None = None, **options: str
) -> str:
    """The choice of seat 0 while seat 1, on its right, says that it holds ``ally``."""
    if "share" in options:
        options["helps"] = options.pop("share")
    bot, top = make_strategy("combo-partner", options), YakuEvaluation()
    link, _ = pair_up(top, bot)
    turn = len(view.river(ALLY))
    link.send(
        SharedHand(
            game=GAME, kyoku=0, honba=0, turn=turn, seat=ALLY, hand=names(ally),
            waits=names(waits), helps=names(helps), aim=aim,
        )
    )  # fmt: skip
    action = bot.decide(view)
    assert action in view.legal
    return str(action)


def own(position, drawn: str = "1z", **changes: object):
    return position("23m668m4678p1578s", drawn=drawn, **changes)


OTHER = {"base": "fold-recognition-plus"}
OTHER_BASE = {"base": "supervised", "learned": "no"}
MODES = pytest.mark.parametrize("techniques", ["all", "paper"])


# --- sashikomi -------------------------------------------------------------------------------


@MODES
def test_the_allys_winning_tile_is_given(position, techniques):
    view = own(position, drawn="3s", riichi=[2])
    assert choice(view, TENPAI, "3s", techniques=techniques) == "discard 3s (drawn)"


@MODES
@pytest.mark.parametrize("base", ["fast-riichi-d", "fast-policy"])
def test_so_it_is_at_a_table_of_three(position, techniques, base):
    view = position("19m2468p1578s123z", players=3, drawn="3s", riichi=[2])
    options = {"techniques": techniques, "base": base}
    assert choice(view, TENPAI_OF_THREE, "3s", **options) == "discard 3s (drawn)"


@pytest.mark.parametrize("options", [{}, {"share": "0"}, {"techniques": "paper"}, OTHER])
def test_a_north_is_set_aside_where_there_is_nothing_to_give(position, options):
    view = position("19m2468p1578s124z", players=3, drawn="1z")
    assert choice(view, TENPAI_OF_THREE, "3s", **options) == "kita"


@MODES
def test_a_wait_without_a_win_is_not(position, techniques):
    view = own(position, drawn="3s", riichi=[2])
    assert choice(view, TENPAI, "", techniques=techniques) != "discard 3s (drawn)"


def test_what_was_switched_off_is_not_done(position):
    view = own(position, drawn="3s", riichi=[2])
    assert choice(view, TENPAI, "3s", techniques="none") != "discard 3s (drawn)"


@MODES
def test_who_never_helps_does_not_give_it_either(position, techniques):
    view = own(position, drawn="3s", riichi=[2])
    chosen = choice(view, TENPAI, "3s", techniques=techniques, share="0")
    assert not chosen.startswith("discard 3s")


@pytest.mark.parametrize("option", ["share", "looks"])
def test_a_share_of_the_chances_is_taken_by_lot(position, option):
    view = own(position, drawn="3s", riichi=[2])
    given = [
        choice(view, TENPAI, "3s", **{option: "0.3"}, seed=str(seed)) == "discard 3s (drawn)"
        for seed in range(100)
    ]
    assert 18 <= sum(given) <= 43  # 30, less and more 2.6 times its spread


def test_help_may_be_kept_for_the_last_hand(position):
    view = own(position, drawn="3s", riichi=[2])
    assert choice(view, TENPAI, "3s", share="last") != "discard 3s (drawn)"
    view.state["rules"]["last_round"] = view.state["round"]
    assert choice(view, TENPAI, "3s", share="last", techniques="paper") == "discard 3s (drawn)"


@pytest.mark.parametrize("wrong", ["1.5", "-0.1", "nan"])
@pytest.mark.parametrize("option", ["helps", "looks"])
def test_a_share_is_a_share(option, wrong):
    with pytest.raises(StrategyError, match=option):
        make_strategy("combo-partner", {option: wrong})


@MODES
def test_the_own_win_comes_first(position, techniques):
    view = position("123m456m789m23p55s", drawn="4p")
    assert choice(view, TENPAI, "3s", techniques=techniques) == "tsumo"


def test_a_feed_that_costs_the_pair_its_first_place_is_not_made(position):
    view = own(position, drawn="3s")
    view.state["round"] = view.state["rules"]["last_round"] = 0
    view.state["scores"] = (30_500, 9_000, 30_200, 30_300)
    assert choice(view, TENPAI, "3s", techniques="paper") == "discard 3s (drawn)"
    assert choice(view, TENPAI, "3s") != "discard 3s (drawn)"


def test_a_feed_that_makes_the_ally_first_in_the_last_hand_is_made(position):
    view = own(position, drawn="3s")
    view.state["round"] = view.state["rules"]["last_round"] = 0
    view.state["scores"] = (5_000, 36_000, 36_500, 22_500)
    assert choice(view, TENPAI, "3s") == "discard 3s (drawn)"


def test_a_feed_that_ends_the_game_by_ones_own_bust_is_not_made(position):
    view = own(position, drawn="3s")
    view.state["scores"] = (500, 22_000, 39_000, 38_500)
    assert choice(view, TENPAI, "3s") != "discard 3s (drawn)"


BUST = (500, 22_000, 39_000, 38_500)


@pytest.mark.parametrize("scores", [(30_500, 9_000, 30_200, 30_300), BUST])
def test_nor_is_it_made_to_keep_an_open_tenpai(position, scores):
    view = position("678m567p24p55s", drawn="3s", melds=["777z"])
    view.state["rules"]["last_round"] = 7 if scores == BUST else 0
    view.state["scores"] = scores
    far = "147m258p369s1235z"
    assert choice(view, far) == "discard 3s (drawn)"
    assert choice(view, TENPAI, "3s") != "discard 3s (drawn)"


@pytest.mark.parametrize("declared", [False, True])
def test_riichi_is_not_declared_with_a_tile_that_was_not_to_be_given(position, declared):
    view = position("678m567p24p55s777z", drawn="3s", declared=declared)
    view.state["scores"] = (1_500, 21_000, 39_000, 38_500)
    far = "147m258p369s1235z"
    assert choice(view, far) == ("discard 3s (drawn)" if declared else "riichi")
    if declared:  # by the partner's lights of a moment ago: one of the discards is owed
        assert choice(view, TENPAI, "3s").startswith("discard")
    else:
        assert choice(view, TENPAI, "3s") not in ("riichi", "discard 3s (drawn)")


def test_no_abortive_draw_is_called_while_the_ally_is_tenpai(position):
    view = position("19m19p19s12345z58p", drawn="5m", riichi=[ALLY], rivers={ALLY: "7z"})
    view.state["calls_made"], view.state["draws"][0] = 0, 1
    assert choice(view, "147m258p369s1235z") == "nine terminals"
    assert choice(view, TENPAI, "3s") != "nine terminals"


def test_the_last_discard_feeds_an_ally_that_has_no_other_yaku(position):
    last = own(position, drawn="3s", wall_left=0)
    assert choice(last, "123m99m345p789s24s") == "discard 3s (drawn)"
    assert choice(own(position, drawn="3s"), "123m99m345p789s24s") != "discard 3s (drawn)"


# --- nakase ----------------------------------------------------------------------------------


@MODES
def test_a_tile_that_the_ally_would_call_is_given(position, techniques):
    view = own(position, drawn="5p", wall_left=12)
    given = choice(view, READY_TO_CALL, "", "5p6m", techniques=techniques)
    assert given in ("discard 5p (drawn)", "discard 6m")


def test_it_is_not_given_into_a_riichi(position):
    view = own(position, drawn="5p", wall_left=12, riichi=[2, 3], rivers={2: "1z", 3: "1z2z"})
    assert choice(view, READY_TO_CALL, "", "5p6m", techniques="paper") == "discard 5p (drawn)"
    given = choice(view, READY_TO_CALL, "", "5p6m")
    assert given not in ("discard 5p (drawn)", "discard 6m")


def test_it_is_not_given_while_the_ally_does_better_without(position):
    early, late = own(position, drawn="5p"), own(position, drawn="5p", wall_left=12)
    for view, differs in ((early, False), (late, True)):
        alone = choice(view, READY_TO_CALL, "", "5p6m", nakase="no")
        assert (choice(view, READY_TO_CALL, "", "5p6m") != alone) is differs


def test_what_the_ally_would_not_call_is_no_feed(position):
    view = own(position, drawn="5p")
    base = choice(view, READY_TO_CALL, techniques="none")
    assert choice(view, READY_TO_CALL, "", "", techniques="paper") == base


def test_a_chi_is_fed_only_from_the_left(position):
    bot, top = make_strategy("combo-partner", {"techniques": "paper"}), YakuEvaluation()
    link, _ = pair_up(top, bot)
    view = position("23m8m4678p1578s99p", drawn="5p", rivers={3: "4z"})
    held = SharedHand(
        game=GAME, kyoku=0, honba=0, turn=1, seat=3, hand=names(READY_TO_CALL), helps=("5p", "6m")
    )
    link.send(held)
    assert str(bot.decide(view)) != "discard 5p (drawn)"


# --- hold back, calls, alone -----------------------------------------------------------------


def test_a_wait_that_the_ally_cannot_win_on_is_held_back(position):
    view = position("123m456m789m1159p", drawn="9s", rivers={1: "4z"})
    furiten = "234m66m345p678s78s"
    base = choice(view, furiten, techniques="none")
    assert base == "discard 9s (drawn)"
    assert choice(view, furiten) != base


@MODES
def test_nothing_is_called_while_the_ally_is_nearer(position, techniques):
    view = position("2388m345p46s19p77z", offered="7z")
    assert choice(view, TENPAI, "3s", aim="tanyao", techniques=techniques) == "pass"


def test_at_equal_shanten_the_own_hand_calls(position):
    view = position("2388m345p46s19p77z", offered="7z")
    for ally, called in (("147m258p369s1235z", "pon"), ("234m66m135p67s159s", "pon")):
        assert choice(view, ally, aim="tanyao") == called
    assert choice(view, "234m66m345p678s25s", aim="tanyao") == "pass"


def test_nothing_is_wished_for_that_the_table_no_longer_lets_one_call(position):
    """After the last discard of a kyoku there are no calls."""
    for wall_left, wished in ((4, [33]), (0, [])):
        view = position("2388m345p46s19p77z", drawn="1z", wall_left=wall_left)
        bot = make_strategy("combo-partner")
        assert useful_calls_after(view, view.legal[-1], bot.call) == wished


def test_the_own_hand_calls_while_an_ally_with_an_aim_is_no_nearer(position):
    view = position("2388m345p46s19p77z", offered="7z")
    far = "147m258p369s1235z"
    assert choice(view, far, aim="tanyao") == choice(view, TENPAI, "3s") == "pon"
    assert choice(view, far, own_calls="no") == choice(view, far, techniques="paper") == "pass"


def test_with_caution_off_it_folds_as_the_base_strategy(position):
    view = own(position, drawn="2s", riichi=[2], rivers={2: "1m9s4z", 3: "1z2z"})
    far = "147m258p369s1235z"
    off = {"nakase": "no"}
    assert choice(view, far, **off, caution="0") == choice(view, far, techniques="none")
    assert choice(view, far, **off) != choice(view, far, techniques="none")


def test_beside_a_leader_danger_weighs_more(position):
    view = own(position, drawn="9m", riichi=[2], rivers={2: "1m9s4z", 3: "1z2z"})
    far = "147m258p369s1235z"
    off = {"nakase": "no"}
    assert choice(view, far, **off) == choice(view, far, aim="tanyao", **off, leader_caution="1")
    assert choice(view, far, **off) != choice(view, far, aim="tanyao", **off)


def test_an_ally_with_an_aim_is_favoured(position):
    """A tenpai ally's tile that would win cheaply from it: passed if it is the one to win."""
    view = position("123m456m789m23p55s", offered="1p", source=ALLY, riichi=[0], wall_left=8)
    unlike = "147m258p369s1235z"
    won = {
        reluctance: choice(view, unlike, aim="tanyao", reluctance=reluctance)
        for reluctance in ("0", "20000")
    }
    assert won["20000"] == "pass"
    assert choice(view, unlike, reluctance="20000") == won["0"]
    other = choice(view, unlike, aim="tanyao", reluctance="20000", **OTHER_BASE)
    assert other == "pass"  # though the base would win


def test_alone_it_is_the_base_strategy(position):
    view = position("2388m345p46s19p77z", offered="7z")
    alone = make_strategy("combo-partner")
    assert str(alone.decide(view)) == "pon"


def test_with_another_base_it_gives_what_the_ally_needs(position):
    view = own(position, drawn="3s", riichi=[2])
    assert choice(view, TENPAI, "3s", **OTHER_BASE) == "discard 3s (drawn)"
    assert choice(view, TENPAI, "", **OTHER_BASE) != "discard 3s (drawn)"


def test_with_another_base_it_keeps_what_the_ally_cannot_win_on(position):
    view = position("123m456m789m1159p", drawn="9s", rivers={1: "4z"})
    furiten = "234m66m345s678s78p"
    assert choice(view, furiten, techniques="none", **OTHER_BASE) == "discard 9p"
    assert choice(view, furiten, **OTHER_BASE) != "discard 9p"


def test_alone_with_another_base_it_is_that(position):
    for hand in ("23m668m4678p1578s", "123m456m789m1159p"):
        view = position(hand, drawn="1z", riichi=[2])
        alone = make_strategy("combo-partner", OTHER_BASE)
        report = make_strategy("supervised").explain(view)
        assert alone.decide(view) == report.choice
        assert alone.explain(view) == report


def test_a_base_that_is_none_is_named():
    with pytest.raises(StrategyError, match="nobody"):
        make_strategy("combo-partner", {"base": "nobody"})


def play(seed: int, techniques: str, cut_every: int = 0, **options: str) -> dict[str, int]:
    """One tonpu of a pair; count the turns on which the partner could feed a win, and does."""
    bots = [
        make_strategy("yaku-evaluation"),
        make_strategy("combo-partner", {"techniques": techniques, **options}),
        make_strategy("fast-riichi-a"),
        make_strategy("fast-riichi-a"),
    ]
    one, other = pair_up(bots[0], bots[1])
    referee = Referee(seed, "tonpu")
    referee.start()
    plural = Counter()
    while asked := referee.asked:
        plural["decisions"] += 1
        if cut_every and plural["decisions"] % cut_every == 0:
            one.cut()
        elif cut_every:
            one.connect(other)
        chosen = {seat: bots[seat].decide(referee.view(seat)) for seat in asked}
        if 1 in asked and referee.state["phase"] == TURN:
            ally = bots[1].receive_hand(referee.view(1))
            waits = ally.waits if ally else 0
            plural["could feed"] += any(feeds(action, waits) for action in asked[1])
            plural["fed"] += feeds(chosen[1], waits)
        referee.step(chosen)
    assert int(np.sum(referee.state["scores"])) == 100_000
    return plural


def feeds(action: Action, waits: int) -> bool:
    return action.name == "discard" and bool(waits >> tile_kind(action.tile) & 1)


def choices(linked: bool = True, **options: str) -> list[str]:
    """All that is chosen in one tonpu of two partners."""
    bots = [make_strategy("combo-partner", options) for _ in range(2)]
    bots += [make_strategy("fast-riichi-a") for _ in range(2)]
    if linked:
        pair_up(bots[0], bots[1])
    referee, chosen = Referee(6, "tonpu"), []
    referee.start()
    while asked := referee.asked:
        actions = {seat: bots[seat].decide(referee.view(seat)) for seat in asked}
        chosen += [f"{seat} {action}" for seat, action in actions.items()]
        referee.step(actions)
    return chosen


def test_who_takes_all_its_chances_plays_as_one_of_whom_no_share_is_said():
    plain = choices()
    assert choices(helps="1", seed="3") == plain  # whatever the seed: no lot is drawn
    assert choices(helps="0") != plain


def test_who_never_regards_the_ally_plays_as_if_there_were_none():
    assert choices(looks="1", seed="3") == choices() != choices(looks="0.5")
    assert choices(looks="0") == choices(linked=False)


def test_as_the_paper_every_win_is_fed_that_can_be():
    plural = sum((play(seed, "paper") for seed in (8, 10, 11)), Counter())
    assert plural["fed"] == plural["could feed"] > 0


@pytest.mark.parametrize("cut_every", [2, 3, 7])
def test_a_channel_that_comes_and_goes_never_breaks_a_game(cut_every):
    assert play(3, "all", cut_every)["decisions"] > 100


def test_nor_does_it_with_another_base():
    assert play(3, "all", 3, **OTHER_BASE)["decisions"] > 100


def test_partners_of_equal_rank_tell_what_they_would_call():
    """Nearly: what the partner was seen to hold may have changed when the tile is on offer."""
    wishes = Counter()
    for seed in range(6):
        bots = [make_strategy("combo-partner") for _ in range(2)]
        received = pair_up(*bots)[1]
        referee = Referee(seed, "tonpu")
        referee.start()
        others = [make_strategy("fast-riichi-a") for _ in range(2)]
        bots += others
        while asked := referee.asked:
            chosen = {seat: bots[seat].decide(referee.view(seat)) for seat in asked}
            view = referee.view(0)
            calls = [action for action in asked.get(0, ()) if action.name in ("pon", "chi")]
            output = received.newest(lambda holding: True) if calls else None
            if output and output.turn and not any(view.riichi(seat) for seat in range(1, 4)):
                wished = TILE_NAMES[tile_kind(view.claim_tile)] in output.helps
                wishes[wished, chosen[0] in calls] += 1
            referee.step(chosen)
    assert wishes[True, True] > 10
    assert wishes[False, False] > 30
    assert wishes[True, False] + wishes[False, True] <= 0.1 * wishes[True, True], wishes


# --- worth -----------------------------------------------------------------------------------


def test_placements_count_in_the_measure_as_the_end_nears():
    behind, ahead = (25_900, 20_000, 30_000, 26_000), (26_100, 20_000, 30_000, 26_000)
    gain = [
        pair_value(ahead, (0, 1), left) - pair_value(behind, (0, 1), left) for left in (7, 1, 0)
    ]
    assert 200 < gain[0] < gain[1] < gain[2] == 200 + 20_000


def test_a_bust_ends_the_game_and_counts_in_full():
    assert pair_value((-100, 50_100, 25_000, 25_000), (0, 1), 7) == 50_000 + 40_000 - 20_000


@pytest.mark.parametrize("left", [0, 1, 4, 7])
def test_all_placement_points_are_shared_out(left):
    scores = (41_000, 8_300, 25_700, 25_000)
    both = pair_value(scores, (0, 1), left) + pair_value(scores, (2, 3), left)
    assert both == pytest.approx(100_000 + 20_000)  # uma adds up to nothing, oka to 20,000


def in_the_last_hand(position, scores: tuple[int, int, int, int], dealer: int) -> View:
    view = own(position)
    view.state["round"] = view.state["rules"]["last_round"] = 7
    view.state["scores"], view.state["dealer"] = scores, dealer
    return view


def test_a_dealer_of_the_pair_that_wins_and_goes_on_is_worth_more(position):
    view = in_the_last_hand(position, (26_000, 24_000, 25_500, 24_500), dealer=3)
    won = value_after(view, (0, 3), (-1_500, 0, 0, 1_500), winner=3)
    drawn = value_after(view, (0, 3), (-1_500, 0, 0, 1_500))
    assert won - drawn == pytest.approx(1_500)


def test_a_rival_dealer_that_wins_and_goes_on_is_worth_no_more(position):
    view = in_the_last_hand(position, (26_000, 24_000, 25_500, 24_500), dealer=2)
    won = value_after(view, (0, 3), (-1_500, 0, 1_500, 0), winner=2)
    assert won == pair_value((24_500, 24_000, 27_000, 24_500), (0, 3), kyoku_left=1)


def test_of_equal_scores_at_the_end_the_earlier_seat_ranks_first():
    ranks = [pair_value((25_000,) * 4, pair, kyoku_left=0) for pair in ((0, 1), (0, 3), (2, 3))]
    first, second, third, fourth = RANKED.placement_points
    assert ranks == [50_000 + first + second, 50_000 + first + fourth, 50_000 + third + fourth]


def test_points_moved_inside_an_even_pair_gain_it_little():
    even = pair_value((25_000,) * 4, (0, 1), 7)
    moved = pair_value((32_000, 18_000, 25_000, 25_000), (0, 1), 7)
    assert 0 < moved - even < 2_000


# --- what two allies learned ------------------------------------------------------------------


def situation_of(view, ally: str, waits: str) -> PairSituation:
    turn = len(view.river(ALLY))
    holding = SharedHand(
        game=GAME, kyoku=0, honba=0, turn=turn, seat=ALLY, hand=names(ally), waits=names(waits)
    )
    return PairSituation(view, Ally(view, holding))


def test_chances_are_multiplied_by_the_ratio_and_sum_to_one_with_no():
    chances = np.array([0.5, 0.25, 0], np.float32)
    together = np.array([0.2, 0.6, 0.1], np.float32)
    alone = np.array([0.4, 0.2, 0.3], np.float32)
    without_no = times_ratio(chances, together, alone, has_no=False)
    assert without_no == pytest.approx([0.25, 0.75, 0])
    total = 0.25 + 0.75 + 0.25 * 0.1 / 0.1
    assert times_ratio(chances, together, alone, has_no=True) == pytest.approx(
        [0.25 / total, 0.75 / total, 0]
    )
    nothing = np.zeros(3, np.float32)
    assert (times_ratio(nothing, together, alone, has_no=True) == 0).all()
    tiny = np.array([1e-9, 1, 0], np.float32)
    assert times_ratio(chances, tiny, tiny, has_no=False) == pytest.approx([2 / 3, 1 / 3, 0])


def test_a_tile_on_which_the_ally_wins_is_likelier_and_all_stay_chances(position):
    base = make_strategy("supervised")
    raised = 0
    for drawn in ("1z", "5z", "9m"):
        here = situation_of(position("23m668m4678p3578s", drawn=drawn, riichi=[2]), TENPAI, "3s")
        before = base.opinion(here.own_view)
        after = LearnedHelp().changed(before, here.own_view, here.ally)
        assert after.discards.sum() == pytest.approx(1, abs=1e-5)
        assert ((after.discards > 0) <= (before.discards > 0)).all()
        fed = tile_kind(parse_tiles("3s")[0])
        raised += after.discards[fed] > before.discards[fed]
        assert not np.allclose(after.discards, before.discards, atol=1e-3)
    assert raised == 3


def test_only_a_base_with_a_network_is_changed_and_it_can_be_left_out():
    def scores(**options: str) -> list[int]:
        pair = [make_strategy("combo-partner", options) for _ in range(2)]
        pair_up(*pair)
        bots = [pair[0], make_strategy("fast-policy"), pair[1], make_strategy("fast-policy")]
        for seat, bot in enumerate(bots):
            bot.start_game(seat, ("a", "b", "c", "d"))
        referee = Referee(3, "tonpu")
        referee.play(bots)
        return referee.state["scores"].tolist()

    assert scores(base="supervised") != scores(base="supervised", learned="no")
    assert scores(base="fast-riichi-d") == scores(base="fast-riichi-d", learned="no")
