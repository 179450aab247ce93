"""Reads hands like ``456p678s99m34s+5s c123m``: the winning tile after +, then the melds.

Melds are ``c`` chi, ``p`` pon, ``d`` daiminkan, ``k`` kakan, ``a`` ankan.
"""

from collections.abc import Callable

import pytest

from mjbot.game.rules.kinds import count_kinds
from mjbot.game.rules.scoring import score_win
from mjbot.game.rules.shapes import ANKAN, CHI, DAIMINKAN, KAKAN, PON
from mjbot.game.rules.wins import Win, new_win
from mjbot.game.rules.yaku_table import yaku_ids
from mjbot.protocol.tiles import parse_tiles, tile_kind

MELD_TYPES = {"c": CHI, "p": PON, "d": DAIMINKAN, "k": KAKAN, "a": ANKAN}

Score = Callable[..., tuple[set[int], int, int]]


def _win(hand: str, flags: int, seat_wind: int, round_wind: int) -> Win:
    concealed, *melds = hand.split()
    rest, winning = concealed.split("+")
    win = new_win()
    win["hand"] = count_kinds(parse_tiles(rest + winning))
    win["win_kind"] = tile_kind(parse_tiles(winning)[0])
    win["n_melds"] = len(melds)
    for place, meld in enumerate(melds):
        win["meld_type"][place] = MELD_TYPES[meld[0]]
        win["meld_kind"][place] = tile_kind(parse_tiles(meld[1:])[0])
    win["flags"], win["seat_wind"], win["round_wind"] = flags, seat_wind, round_wind
    return win


@pytest.fixture
def score() -> Score:
    """Return a function from a hand to its yaku ids, han and fu: South seat, East round, ron."""

    def score_hand(
        hand: str, flags: int = 0, seat_wind: int = 1, round_wind: int = 0
    ) -> tuple[set[int], int, int]:
        win = _win(hand, flags, seat_wind, round_wind)
        han, fu, mask, _ = score_win(win)
        return set(yaku_ids(mask)), han, fu

    return score_hand
