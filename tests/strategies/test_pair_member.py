"""What the two of a pair know of each other, against the referee, who knows everything."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.table.apply import apply_discard
from mjbot.game.table.legal import can_ron
from mjbot.game.table.state import REACTION, TURN, copy_state
from mjbot.game.table.view import View
from mjbot.protocol.rules import Rules
from mjbot.strategies.evaluation.yaku.choices import call_if_fed
from mjbot.strategies.fast_riichi_d import FastRiichiD
from mjbot.strategy.pair.member import Ally, PairMember, pair_up
from mjbot.strategy.pair.messages import (
    SharedHand,
    deal_fingerprint,
    decode,
    encode,
    fits_table,
    game_fingerprint,
)
from mjbot.strategy.registry import make_strategy

NAMES = ("a", "b", "c", "d")
TOP, PARTNER = 0, 1


@dataclass
class Listener(PairMember, FastRiichiD):
    """Plays fast-riichi-d and listens."""


def listened(seeds: range, players: int = 4) -> Iterator[tuple[Listener, View]]:
    """Play a sender beside a listener; yield each of the listener's own turns."""
    for seed in seeds:
        top = make_strategy("yaku-evaluation" if players == 4 else "combo-partner")
        bots = [top, Listener(), FastRiichiD(), FastRiichiD()][:players]
        pair_up(bots[TOP], bots[PARTNER])
        for seat, bot in enumerate(bots):
            bot.start_game(seat, NAMES[:players])
        referee = Referee(seed, Rules(length="tonpu", players=players))
        referee.start()
        while asked := referee.asked:
            if PARTNER in asked and referee.state["phase"] == TURN:
                yield bots[PARTNER], referee.view(PARTNER)
            referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in asked})


def allies(seeds: range) -> Iterator[tuple[Ally, View]]:
    for listener, view in listened(seeds):
        ally = listener.receive_hand(view)
        if ally is not None:
            yield ally, view


@pytest.mark.parametrize("players", [3, 4])
def test_the_hand_that_is_heard_is_the_hand_that_is_held(players):
    turns = received = 0
    for listener, view in listened(range(2), players):
        turns += 1
        ally = listener.receive_hand(view)
        if ally is not None:
            received += 1
            for field in ("hand", "red", "waits"):
                assert np.array_equal(ally.state[field][TOP], view.state[field][TOP])
            assert not ally.state["hand"][2:].any()
            assert ally.state["has_wall"] == 0
    assert received > 0.9 * turns > 50


def test_the_waits_that_are_heard_win_and_no_others_do():
    winning = 0
    for ally, view in allies(range(6)):
        for kind in range(34):
            after = copy_state(view.state)
            after["hand"][PARTNER, kind] += 1
            apply_discard(after, PARTNER, kind, 0)
            wins = bool(can_ron(after, TOP))
            assert bool(ally.waits >> kind & 1) == wins
            winning += wins
    assert winning > 20


def test_the_tiles_that_would_help_are_those_that_would_be_called():
    for ally, view in list(allies(range(1)))[::10]:
        helps = [
            kind
            for kind in range(34)
            if not ally.shape and call_if_fed(ally.state, TOP, kind, True)[1] > 0
        ]
        for kind in range(34):
            if view.unseen[kind]:  # else the ally has not been told that it may still come
                assert bool(ally.helps >> kind & 1) == (kind in helps) or view.riichi(TOP)


def test_telling_changes_nothing_in_ones_own_play():
    def scores(linked: bool) -> list[int]:
        bots = [make_strategy("yaku-evaluation"), Listener(), FastRiichiD(), FastRiichiD()]
        if linked:
            pair_up(bots[TOP], bots[PARTNER])
        referee = Referee(5, "tonpu")
        referee.start()
        while asked := referee.asked:
            referee.step({seat: bots[seat].decide(referee.view(seat)) for seat in asked})
        return referee.state["scores"].tolist()

    assert scores(True) == scores(False)


def test_who_is_not_in_a_pair_or_has_lost_the_partner_hears_nothing(position):
    view = position("123m456m789m23p55s", drawn="9s")
    listener = Listener()
    assert listener.receive_hand(view) is None
    links = pair_up(Listener(), listener)
    links[0].cut()
    assert listener.receive_hand(view) is None


def test_not_every_strategy_can_be_one_of_a_pair():
    with pytest.raises(TypeError, match="Tsumogiri is no strategy for a pair"):
        pair_up(make_strategy("tsumogiri"), Listener())


# --- stale and foreign -----------------------------------------------------------------------

GAME = game_fingerprint(NAMES)
HELD = ("1p", "2p", "3p", "4p", "5pr", "6p", "7p", "8p", "9p", "E", "E", "S", "W")


def output(**changes: object) -> SharedHand:
    first = SharedHand(game=GAME, kyoku=0, honba=0, turn=2, seat=2, hand=HELD)
    return decode(encode(msgspec.structs.replace(first, **changes)))


@pytest.fixture(name="view")
def view_of_seat_0(position) -> View:
    return position("123m456m789m23s55s", drawn="9s", rivers={2: "1m2m"})


def test_a_word_of_this_turn_fits(view):
    assert fits_table(output(), view, GAME)


@pytest.mark.parametrize(
    "changes",
    [
        {"game": game_fingerprint(("a", "b", "d", "c"))},
        {"kyoku": 1},
        {"honba": 1},
        {"turn": 1},
        {"turn": 3},
        {"seat": 0},
        {"hand": HELD[:10]},
        {"hand": ("?", *HELD[1:])},
        {"hand": ("5s",) * 3 + HELD[3:]},  # five of them with the two in our hand
        {"melds": (("1s", "1s", "1s"),), "hand": HELD[:10]},  # a meld that nobody has seen
    ],
)
def test_stale_and_foreign_words_do_not(view, changes):
    assert not fits_table(output(**changes), view, GAME)


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({}, True),
        ({"kita": 0}, False),  # sent before it set its north aside
        ({"hand": ("9p", "N", *HELD[2:])}, True),
        ({"hand": ("N", "N", "N", *HELD[3:])}, False),  # one is set aside, one is the marker
        ({"hand": ("5m", *HELD[1:])}, False),  # not in the game
        ({"seat": 3, "turn": 0, "kita": 0}, False),  # nobody sits there
    ],
)
def test_at_a_table_of_three_it_fits_in_every_tile(position, changes, fits):
    view = position("19m456p789p23s55s99s", drawn="9s", rivers={2: "1m9m"}, players=3)
    view.state["kita"][2] = 1
    word = output(**({"kita": 1, "hand": ("1m", *HELD[1:])} | changes))
    assert fits_table(word, view, GAME) == fits


def test_two_games_of_the_same_four_have_different_stamps_once_dealt(position):
    deals = [
        position("123m456m789m23s55s", drawn="9s", markers=markers) for markers in ("4z", "5z")
    ]
    fingerprints = {deal_fingerprint(GAME, deal) for deal in deals}
    assert len(fingerprints) == 2


def test_who_missed_a_deal_is_heard_again_from_the_next_on(position):
    first, second = (
        position("123m456m789m23s55s", drawn="9s", markers=markers) for markers in ("4z", "5z")
    )
    listener, other = Listener(), Listener()
    for bot in (listener, other):
        bot.start_game(0, NAMES)
    listener.start_kyoku(first)
    assert listener._game != other._game
    for bot in (listener, other):
        bot.start_kyoku(second)
    assert listener._game == other._game == deal_fingerprint(GAME, second)


def test_a_hand_in_riichi_stays_what_it_is(view):
    view.state["riichi"][2] = 2
    assert fits_table(output(turn=1), view, GAME)
    assert not fits_table(output(turn=3), view, GAME)


def test_a_wait_that_was_let_pass_since_is_furiten(view):
    view.state["phase"] = REACTION
    waits_on_4p = ("2p", "3p", *HELD[3:6], "1m", "2m", "3m", "9p", "9p", "9p", "E", "E")
    view.state["river"][2, :2] = (27, 28)
    holding = output(hand=waits_on_4p, waits=("1p", "4p"))
    assert Ally(view, holding).waits == 0b1001 << 9
    view.state["river"][3, 0] = 9
    view.state["n_river"][3] = 1
    view.state["river_turn"][3, 0] = 9
    assert Ally(view, holding).waits == 0
