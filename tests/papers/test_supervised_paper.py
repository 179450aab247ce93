"""What supervised-paper does with what its networks say."""

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.protocol.tiles import TILE_BY_NAME, tile_kind
from mjbot.strategy.registry import make_strategy
from papers.matsuda2021 import networks as paper_networks
from papers.matsuda2021 import supervised_paper
from papers.matsuda2021.supervised_paper import SupervisedPaper

NAME = "papers.matsuda2021.supervised_paper:SupervisedPaper"


class Told:
    """Networks that say what a test wants: class -> chance; 0 of what is not named."""

    def __init__(self, **chances):
        self.chances = chances
        self.asked = []

    def __call__(self, kind):
        self.asked.append(kind)
        return self

    def evaluate(self, state, seat):
        kind = self.asked[-1]
        found = np.zeros(paper_networks.CLASSES[kind], np.float32)
        for place, chance in self.chances.get(kind, {}).items():
            found[place] = chance
        return found


@pytest.fixture
def text(monkeypatch):
    def tell(**chances):
        networks = Told(**chances)
        monkeypatch.setattr(supervised_paper, "paper_network", networks)
        return networks

    return tell


def kind(name):
    return tile_kind(TILE_BY_NAME[name])


def choice(view, **options):
    action = make_strategy(NAME, options).decide(view)
    assert action in view.legal
    return str(action)


def test_wins_are_taken_whatever_the_networks_say(position, text):
    networks = text(riichi={1: 1}, pon={1: 1})
    assert choice(position("123m456m789m23p55s", drawn="4p")) == "tsumo"
    assert choice(position("234m456m678m23p55s", offered="4p", riichi=[0])) == "ron"
    assert not networks.asked


def test_the_likeliest_legal_discard_goes(position, text):
    text(discard={kind("9s"): 0.6, kind("C"): 0.3, kind("4p"): 0.1})
    assert choice(position("123m456m11p44p77z3z", drawn="7s")) == "discard C"


def test_of_equal_tiles_the_drawn_one_goes_and_the_red_five_stays(position, text):
    text(discard={kind("5p"): 1.0})
    assert choice(position("123m456m11p05p77z3z", drawn="7s")) == "discard 5p"
    text(discard={kind("W"): 1.0})
    assert choice(position("123m456m11p47p77z3z", drawn="3z")) == "discard W (drawn)"


def test_riichi_is_declared_from_the_threshold_on(position, text):
    view = position("234m456m678m23p55s", drawn="1z")
    text(riichi={1: 0.6}, discard={kind("E"): 1})
    assert choice(view) == "riichi"
    assert choice(view, threshold="0.7") == "discard E (drawn)"


def test_after_riichi_the_likeliest_discard_that_keeps_tenpai_goes(position, text):
    text(discard={kind("2p"): 0.9, kind("E"): 0.1})
    view = position("234m456m678m23p55s", drawn="1z", declared=True)
    assert choice(view) == "discard E (drawn)"


def test_a_kan_of_ones_own_is_for_its_network(position, text):
    view = position("1111m456m11p47p77z", drawn="3z")
    text(kan={1: 0.9})
    assert choice(view) == "ankan 1m"
    text(kan={1: 0.4}, discard={kind("W"): 1})
    assert choice(view) == "discard W (drawn)"


def test_a_chi_is_of_the_likeliest_place_if_that_is_likelier_than_none(position, text):
    view = position("23567m11p47p77z3z4z", offered="4m")
    text(chi={0: 0.3, 3: 0.5, 1: 0.2})
    assert choice(view) == "chi high"
    text(chi={0: 0.6, 3: 0.4})
    assert choice(view) == "pass"


def test_a_pon_that_is_likelier_goes_before_a_chi(position, text):
    view = position("23447m11p47p77z3z4z", offered="4m")
    text(chi={0: 0.3, 3: 0.7}, pon={1: 0.8})
    assert choice(view) == "pon"
    text(chi={0: 0.1, 3: 0.9}, pon={1: 0.8})
    assert choice(view) == "chi high"


def test_a_red_five_goes_into_the_meld(position, text):
    text(chi={1: 0.9})
    assert choice(position("0567m11p47p77z3z44z", offered="4m")) == "chi low with red"


def test_it_tells_each_chance_in_per_cent(position, text):
    text(riichi={1: 0.25}, discard={kind("E"): 0.4, kind("2p"): 0.1, kind("9s"): 0.5})
    view = position("234m456m678m23p55s", drawn="1z")
    explained = SupervisedPaper().explain(view)
    worths = {str(rated.action): rated for rated in explained.rated}
    assert explained.unit == "%"
    assert worths["riichi"].value == pytest.approx(25)
    drawn = worths["discard E (drawn)"]
    assert drawn.is_chosen
    assert drawn.value == pytest.approx(40)
    assert drawn.term("of the legal").value == pytest.approx(80)


def test_a_call_is_told_too(position, text):
    text(pon={1: 0.3})
    view = position("23447m11p47p77z3z4z", offered="4m")
    rated = SupervisedPaper().explain(view).rated
    assert {str(one.action): round(one.value) for one in rated}["pon"] == 30


def test_it_plays_whole_games_with_the_networks_that_ship():
    bots = [SupervisedPaper() for _ in range(4)]
    referee = Referee(1, "tonpu")
    referee.start()
    while asked := referee.asked:
        referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in asked})
    assert sum(int(points) for points in referee.state["scores"]) == 100_000
