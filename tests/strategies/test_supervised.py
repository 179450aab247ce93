import pytest

from mjbot.cli.main import main
from mjbot.game.referee import Referee
from mjbot.protocol.tiles import TILE_BY_NAME
from mjbot.runtime.errors import ExitCode
from mjbot.strategy.registry import make_strategy

NEVER, ALWAYS = "1.01", "0"


@pytest.fixture
def bot():
    return make_strategy("supervised")


def test_it_wins_when_it_can(bot, position):
    drawn = position("123m456m789p2345s", drawn="2s", markers="9s")
    assert drawn.legal[-1].is_win or any(action.is_win for action in drawn.legal)
    assert bot.decide(drawn).is_win
    offered = position("123m456m77p23466s", offered="7p", melds=[], riichi=[0])
    if any(action.is_win for action in offered.legal):
        assert bot.decide(offered).is_win


def test_an_isolated_guest_wind_goes_first(bot, position):
    view = position("23m567m34p678p44s3z", drawn="8s", wall_left=60)
    assert bot.decide(view).tile == TILE_BY_NAME["W"]


def test_of_equal_tiles_the_drawn_one_goes_and_a_red_five_stays(bot, position):
    view = position("23m567m34p678p44s3z", drawn="3z", wall_left=60)
    choice = bot.decide(view)
    assert choice.tsumogiri == (choice.tile == TILE_BY_NAME["W"])


@pytest.mark.parametrize(
    ("option", "hand", "more", "name"),
    [
        ("riichi_from", "234m567m22p678p45s", {"drawn": "3z"}, "riichi"),
        ("pon_from", "55z234m67p1128s99s", {"offered": "5z"}, "pon"),
        ("chi_from", "23m55z678p1134s77p", {"offered": "4m"}, "chi"),
        ("kan_from", "1111m234m567p34s9", {"drawn": "9s"}, "ankan"),
    ],
)
def test_thresholds_decide(position, option, hand, more, name):
    view = position(hand + ("s" if hand.endswith("9") else ""), **more)
    assert name in {action.name for action in view.legal}
    never = make_strategy("supervised", {option: NEVER})
    always = make_strategy("supervised", {option: ALWAYS})
    assert always.decide(view).name == name
    assert never.decide(view).name != name


def test_it_plays_whole_games_and_the_same_ones_again():
    def played():
        bots = [make_strategy("supervised") for _ in range(4)]
        referee = Referee(5, "tonpu")
        referee.start()
        while asked := referee.asked:
            referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in asked})
        return [int(points) for points in referee.state["scores"]]

    scores = played()
    assert sum(scores) == 100_000
    assert scores != [25_000] * 4
    assert scores == played()


def test_it_explains_its_discards_by_shares_and_what_the_network_saw(bot, position):
    view = position("23m567m34p678p44s3z", drawn="8s", wall_left=60, riichi=[1])
    report = bot.explain(view)
    assert report.unit == "% of strong players"
    assert report.choice == bot.decide(view)
    shares = {rated.action.tile: rated.value for rated in report.rated if rated.action.is_discard}
    assert sum(rated.value for rated in report.rated) == pytest.approx(100, abs=0.1)
    assert max(shares, key=shares.__getitem__) == report.choice.tile
    assert [rated.action for rated in report.rated if rated.is_chosen] == [report.choice]
    chosen = next(rated for rated in report.rated if rated.is_chosen)
    assert chosen.term("tiles accepted").value > 10
    assert max(rated.term("danger", 1).value for rated in report.rated) > 1
    parts = sum(term.value for term in chosen.parts("in points"))
    assert parts == pytest.approx(chosen.term("in points").value)


def test_it_explains_calls(bot, position):
    report = bot.explain(position("55z234m67p1128s99s", offered="5z"))
    worths = {rated.action.name: rated.value for rated in report.rated}
    assert set(worths) == {"pass", "pon"}
    assert sum(worths.values()) == pytest.approx(100, abs=0.1)


def test_the_command_shows_it(capsys):
    log = "logs/east-extra-round.mjson"
    command = ["explain", log, "--strategy", "supervised", "--at", "11"]
    assert main(command) == ExitCode.OK
    assert "% of strong players" in capsys.readouterr().out
