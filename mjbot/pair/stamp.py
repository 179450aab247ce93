"""When and where something was said: so that nothing stale or foreign is believed."""

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from mjbot.pair.messages import Holding
from mjbot.table.observe import add_melds, visible_kinds
from mjbot.table.view import View
from protocol.tiles import N_KINDS, TILE_BY_NAME, tile_kind

COPIES: Final = 4


def game_stamp(names: Sequence[str]) -> str:
    """Return what names a game for everybody who sits in it.

    >>> game_stamp(["a", "b", "c", "d"]) == game_stamp(["a", "b", "d", "c"])
    False
    """
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def deal_stamp(game: str, view: View) -> str:
    """Return what names the game in this kyoku: its deal as everybody sees it when it is dealt.

    A deal is its round, honba, sticks and first dora marker.
    """
    deal = (view.round, view.honba, view.sticks, int(view.dora_markers[0]))
    return hashlib.sha256(f"{game} {deal}".encode()).hexdigest()[:16]


def fits_table(holding: Holding, view: View, game: str) -> bool:
    """Whether a partner's word is about the table as ``view.seat`` sees it now.

    It must be of this game and its deal, of this kyoku and turn (a hand in riichi stays what it
    is), of another seat, of the right size, and hold no tile of which the fifth copy would be in
    sight.
    """
    seat = holding.seat
    if (holding.game, holding.kyoku, holding.honba) != (game, view.round, view.honba):
        return False
    now = len(view.river(seat))
    if seat == view.seat or (
        holding.turn != now and not (view.riichi(seat) and holding.turn < now)
    ):
        return False
    n_melds = int(view.state["n_melds"][seat])
    if len(holding.melds) != n_melds or len(holding.hand) != 13 - 3 * n_melds:
        return False
    return _melds_fit(holding, view) and _copies_fit(holding, view)


def _melds_fit(holding: Holding, view: View) -> bool:
    shown = np.zeros(N_KINDS, np.int8)
    add_melds(view.state, holding.seat, shown)
    said = np.zeros(N_KINDS, np.int8)
    for meld in holding.melds:
        for name in meld:
            if name == "?":
                return False
            said[tile_kind(TILE_BY_NAME[name])] += 1
    return bool((shown == said).all())


def _copies_fit(holding: Holding, view: View) -> bool:
    if "?" in holding.hand:
        return False
    copies = np.empty(N_KINDS, np.int8)
    visible_kinds(view.state, copies)
    copies += view.hand
    for name in holding.hand:
        copies[tile_kind(TILE_BY_NAME[name])] += 1
    return int(copies.max()) <= COPIES
