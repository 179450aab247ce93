"""Single rules of other tables, as the referee plays them."""

import pytest

from mjbot.game.referee import Position
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules
from tests.game.referee.test_abortive_draws import NINE_KINDS, ON_NINE_SOU
from tests.game.referee.test_end_of_game import after_a_draw

SITE = Rules().under("mahjong-soul")
ROBBERS = ["1111m", "99m19p19s1234567z", "", ""]


@pytest.mark.parametrize("is_draw", [True, False])
def test_abortive_draws_are_rules(scripted, is_draw: bool) -> None:
    nine = scripted([NINE_KINDS, "", "", ""], "5p", rules=Rules(nine_terminals_draw=is_draw))
    assert ("nine terminals" in nine.legal(0)) is is_draw
    winds = scripted(["2z", "2z", "2z", "2z"], rules=Rules(four_winds_draw=is_draw))
    for seat in range(4):
        winds.discard(seat, "S")
    assert ("Ryukyoku" in winds.names()) is is_draw


@pytest.mark.parametrize(
    ("rules", "winners"), [(Rules(), []), (SITE, [1, 2, 3]), (Rules(head_bump=True), [1])]
)
def test_three_rons_are_a_draw_or_paid_or_one_of_them_is(scripted, rules, winners) -> None:
    game = scripted(ON_NINE_SOU, "9s", dora="7z", rules=rules).discard(0, "9s")
    game.together(dict.fromkeys((1, 2, 3), "ron"))
    assert [event.actor for event in game.all(m.Hora)] == winners


def test_thirteen_orphans_rob_a_concealed_kan_before_its_marker_shows(scripted) -> None:
    game = scripted(ROBBERS, "2m", dora="5p", rules=SITE).to_turn(0).do(0, "ankan")
    assert game.names()[-1] == "Ankan" and "ron" in game.legal(1)
    assert game.do(1, "ron").last(m.Hora).deltas == (-32000, 32000, 0, 0)


def test_a_concealed_kan_that_is_passed_turns_its_marker_and_leaves_furiten(scripted) -> None:
    game = scripted(ROBBERS, "2m", dora="5p", rules=SITE).to_turn(0).do(0, "ankan").do(1, "pass")
    kan = game.names().index("Ankan")
    assert game.names()[kan + 1 : kan + 3] == ["Dora", "Tsumo"]
    assert game.referee.state["missed"].tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("four", "waiting"), [("1111m", "23m"), ("9999m", "78m"), ("4444m", "23m")]
)
def test_another_hand_does_not_rob_it_nor_is_furiten_by_it(scripted, four, waiting) -> None:
    hands = [four, waiting + "456p789s111z22p", "", ""]
    game = scripted(hands, "6m", dora="5p", rules=SITE).to_turn(0).do(0, "ankan")
    kan = game.names().index("Ankan")
    assert game.names()[kan + 1 : kan + 3] == ["Dora", "Tsumo"]
    assert not game.referee.state["missed"].any()


@pytest.mark.parametrize("last_discard_calls", [True, False])
def test_calls_of_the_last_discard_are_a_rule(scripted, last_discard_calls: bool) -> None:
    game = scripted(["4p", "444p", "", ""], rules=Rules(last_discard_calls=last_discard_calls))
    game.referee.state["wall_left"] = 0
    game.discard(0, "4p")
    assert ("Ryukyoku" in game.names()) is not last_discard_calls
    legal = game.legal(1)
    assert ("pon" in legal) is last_discard_calls and not any("kan" in name for name in legal)


@pytest.mark.parametrize(
    ("rules", "scores", "ready", "over"),
    [
        (Rules(tenpai_yame=False), (20000, 25000, 25000, 30000), 3, False),
        (Rules(agari_yame=False), (20000, 25000, 25000, 30000), 3, True),
        (Rules(extension=False), (29900, 25000, 24000, 21100), None, True),
        (SITE, (29900, 25000, 24000, 21100), None, False),
    ],
)
def test_the_end_of_a_game_is_a_rule(scripted, rules, scores, ready, over: bool) -> None:
    assert after_a_draw(scripted, 7, scores, ready, rules=rules).referee.over is over


@pytest.mark.parametrize("agari_yame", [True, False])
def test_a_dealer_who_has_won_plays_on_without_agari_yame(scripted, agari_yame: bool) -> None:
    hands = ["", "", "", "234567m34p678s88p"]
    position = Position(7, scores=(24000, 24000, 22000, 30000))
    game = scripted(hands, "5p", position=position, rules=Rules(agari_yame=agari_yame))
    assert game.do(3, "tsumo").referee.over is agari_yame
