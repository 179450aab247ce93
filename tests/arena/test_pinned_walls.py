"""Pinned draws against a plain model with four piles of tiles, and in whole games."""

import random

import numpy as np
import pytest

from mjbot.game.referee import Referee
from mjbot.game.referee.wall import next_live_tile
from mjbot.game.rules.wall_plan import FOUR_PLAYERS as WALL
from mjbot.game.table.state import State, new_state
from protocol import messages as m

MELDS = m.Chi | m.Pon | m.Daiminkan


def pinned_state(dealer: int) -> State:
    """A dealt wall whose live tiles are numbered by their places."""
    state = new_state()
    state["wall"][WALL["live"] : WALL["live"] + WALL["n_live"]] = np.arange(WALL["n_live"])
    state["dealer"] = dealer
    state["wall_left"] = WALL["n_live"]
    state["pinned"] = 1
    return state


class Piles:
    """The rule told slowly: four piles; kans and surplus draws take the last tile of all."""

    def __init__(self, dealer: int) -> None:
        self.left = set(range(WALL["n_live"]))
        self.dealer = dealer

    def draw(self, seat: int) -> int:
        own = [place for place in self.left if place % 4 == (seat - self.dealer) % 4]
        tile = min(own) if own else max(self.left)
        self.left.remove(tile)
        return tile

    def kan(self) -> None:
        self.left.remove(max(self.left))


@pytest.mark.parametrize("seed", range(40))
def test_draws_follow_the_piles_through_skipped_turns_and_kans(seed: int) -> None:
    dice = random.Random(seed)
    dealer = dice.randrange(4)
    state, piles = pinned_state(dealer), Piles(dealer)
    likes = [dice.random() ** 3 for _ in range(4)]  # some seats draw far more than others
    kans = 0
    while state["wall_left"] > 0:
        if kans < 4 and dice.random() < 0.05:
            kans += 1
            piles.kan()
            state["rinshan_taken"] += 1
        else:
            seat = dice.choices(range(4), likes)[0]
            assert next_live_tile(state, seat) == piles.draw(seat)
            state["draws"][seat] += 1
        state["wall_left"] -= 1
    assert not piles.left


def first_kyoku(seed: int, pinned: bool, pon_from: int | None = None) -> list[m.Event]:
    """A kyoku in which all discard what they draw, but for one seat that calls every pon."""
    referee = Referee(seed)
    referee.state["pinned"] = pinned
    events = referee.start()
    while not isinstance(events[-1], m.EndGame) and m.EndKyoku() not in events:
        choices = {seat: referee.view(seat).default_action for seat in referee.asked}
        if pon_from in choices:
            pons = [action for action in referee.asked[pon_from] if action.name == "pon"]
            choices[pon_from] = pons[0] if pons else choices[pon_from]
        events += referee.step(choices)
    return events[: events.index(m.EndKyoku())]


def drawn(events: list[m.Event], seat: int) -> list[str]:
    return [event.pai for event in events if isinstance(event, m.Tsumo) and event.actor == seat]


def test_without_calls_pinning_changes_nothing() -> None:
    assert first_kyoku(1, pinned=True) == first_kyoku(1, pinned=False)


def test_a_call_does_not_shift_what_the_others_draw() -> None:
    shifted = {False: 0, True: 0}
    for seed in range(12):
        for pinned in (False, True):
            quiet = first_kyoku(seed, pinned)
            called = first_kyoku(seed, pinned, pon_from=2)
            if not any(isinstance(event, MELDS) for event in called):
                continue
            for seat in (0, 1, 3):
                pairs = list(zip(drawn(quiet, seat), drawn(called, seat), strict=False))[:14]
                shifted[pinned] += any(one != other for one, other in pairs)
    assert shifted[True] == 0
    assert shifted[False] >= 12


def test_every_tile_is_drawn_once_whatever_is_called() -> None:
    for seed in range(6):
        events = first_kyoku(seed, pinned=True, pon_from=seed % 4)
        assert sum(isinstance(event, m.Tsumo) for event in events) == WALL["n_live"]
        seen = [tile for event in events[:2] if isinstance(event, m.StartKyoku)
                for hand in event.tehais for tile in hand]  # fmt: skip
        seen += [event.pai for event in events if isinstance(event, m.Tsumo)]
        assert max(seen.count(tile) for tile in set(seen)) <= 4
