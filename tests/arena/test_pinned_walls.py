"""Pinned draws against a plain model with a pile of tiles for each seat, and in whole games."""

import random

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.referee.wall import next_live_tile
from mjbot.game.rules.ruleset import rule_set
from mjbot.game.rules.wall_plan import wall_plan
from mjbot.game.table import actions
from mjbot.game.table.state import State, new_state
from mjbot.protocol import messages as m
from mjbot.protocol.rules import Rules

KITA = actions.ACTIONS[actions.KITA]
MELDS = m.Chi | m.Pon | m.Daiminkan


def pinned_state(dealer: int, players: int) -> State:
    """A dealt wall whose live tiles are numbered by their places."""
    state = new_state()
    state["rules"] = rule_set(Rules(players=players))
    plan = state["rules"]["wall"]
    state["wall"][plan["live"] : plan["live"] + plan["n_live"]] = np.arange(plan["n_live"])
    state["dealer"] = dealer
    state["wall_left"] = plan["n_live"]
    state["pinned"] = 1
    return state


class Piles:
    """Step by step: a pile for each seat; kans and surplus draws take the last tile of all.

    What is below the piles, four tiles of three players, is drawn when they are used up.
    """

    def __init__(self, dealer: int, players: int) -> None:
        self.left = set(range({3: 55, 4: 70}[players]))
        self.below = set(range(51, 55)) if players == 3 else set()
        self.dealer, self.players = dealer, players

    def draw(self, seat: int) -> int:
        piles = self.left - self.below
        step = (seat - self.dealer) % self.players
        own = [place for place in piles if place % self.players == step]
        tile = min(own or self.left) if own or not piles else max(piles)
        self.left.remove(tile)
        return tile

    def kan(self) -> None:
        self.left.remove(max(self.left))


def hidden_markers(state: State, kans: int) -> set[int]:
    """The numbers of the live tiles that hold markers of which so many kans turn all."""
    plan = state["rules"]["wall"]
    turned = range(kans + 1)
    places = {plan[kind] + plan["marker_step"] * n for kind in ("dora", "ura") for n in turned}
    return {int(place - plan["live"]) for place in places if place < plan["live"] + plan["n_live"]}


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("seed", range(40))
def test_draws_follow_the_piles_through_skipped_turns_and_kans(seed: int, players: int) -> None:
    dice = random.Random(seed)
    dealer = dice.randrange(players)
    state, piles = pinned_state(dealer, players), Piles(dealer, players)
    likes = [dice.random() ** 3 for _ in range(players)]  # some seats draw far more than others
    taken, drawn = 0, set()
    while state["wall_left"] > 0:
        if taken < 4 * (5 - players) and dice.random() < 0.05:
            taken += 1
            piles.kan()
            state["rinshan_taken"] += 1
        else:
            seat = dice.choices(range(players), likes)[0]
            tile = int(next_live_tile(state, seat))
            assert tile == piles.draw(seat)
            drawn.add(tile)
            state["draws"][seat] += 1
        state["wall_left"] -= 1
        assert not drawn & hidden_markers(state, min(taken, 4))
    assert not piles.left


def first_kyoku(
    seed: int, pinned: bool, pon_from: int | None = None, players: int = 4, kita: bool = False
) -> list[m.Event]:
    """A kyoku in which all discard what they draw, but for one seat that calls every pon.

    With ``kita`` they set norths aside.
    """
    referee = Referee(seed, Rules(players=players))
    referee.state["pinned"] = pinned
    events = referee.start()
    while not isinstance(events[-1], m.EndGame) and m.EndKyoku() not in events:
        choices = {seat: referee.view(seat).default_action for seat in referee.asked}
        choices |= {seat: KITA for seat, legal in referee.asked.items() if kita and KITA in legal}
        if pon_from in choices:
            pons = [action for action in referee.asked[pon_from] if action.name == "pon"]
            choices[pon_from] = pons[0] if pons else choices[pon_from]
        events += referee.step(choices)
    return events[: events.index(m.EndKyoku())]


def drawn(events: list[m.Event], seat: int) -> list[str]:
    return [event.pai for event in events if isinstance(event, m.Tsumo) and event.actor == seat]


def test_without_calls_pinning_changes_nothing() -> None:
    assert first_kyoku(1, pinned=True) == first_kyoku(1, pinned=False)
    quiet = first_kyoku(1, pinned=True, players=3, kita=True)
    assert quiet == first_kyoku(1, pinned=False, players=3, kita=True)
    assert any(isinstance(event, m.Kita) for event in quiet)


@pytest.mark.parametrize("players", [3, 4])
def test_a_call_does_not_shift_what_the_others_draw(players: int) -> None:
    shifted = {False: 0, True: 0}
    for seed in range(12):
        for pinned in (False, True):
            quiet = first_kyoku(seed, pinned, players=players)
            called = first_kyoku(seed, pinned, 2, players)
            if not any(isinstance(event, MELDS) for event in called):
                continue
            for seat in {0, 1, 3} & set(range(players)):
                pairs = list(zip(drawn(quiet, seat), drawn(called, seat), strict=False))[:14]
                shifted[pinned] += any(one != other for one, other in pairs)
    assert shifted[True] == 0
    assert shifted[False] >= 12


@pytest.mark.parametrize("players", [3, 4])
def test_every_tile_is_drawn_once_whatever_is_called(players: int) -> None:
    for seed in range(6):
        events = first_kyoku(seed, True, seed % players, players, kita=players == 3)
        draws = sum(isinstance(event, m.Tsumo) for event in events)
        assert draws == wall_plan(players)["n_live"]
        seen = [tile for event in events[:2] if isinstance(event, m.StartKyoku)
                for hand in event.tehais[:players] for tile in hand]  # fmt: skip
        seen += [event.pai for event in events if isinstance(event, m.Tsumo)]
        assert max(seen.count(tile) for tile in set(seen)) <= 4
