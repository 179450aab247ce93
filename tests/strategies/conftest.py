"""Positions for seat 0, written straight into a state record."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pytest

from mjbot.game.table.hands import refresh_waits
from mjbot.game.table.state import (
    ACCEPTED,
    CALLED,
    CHI,
    IDLE,
    PON,
    REACTION,
    RIICHI,
    TURN,
    State,
    new_state,
)
from mjbot.game.table.view import View
from mjbot.protocol.tiles import RED_FIVES, parse_tiles, tile_kind


def one(text: str) -> int:
    (tile,) = parse_tiles(text)
    return tile


def put(state: State, hand: str) -> None:
    for tile in parse_tiles(hand):
        state["hand"][0, tile_kind(tile)] += 1
        if tile in RED_FIVES:
            state["red"][0, tile - RED_FIVES[0]] += 1


def lay_melds(state: State, melds: Iterable[str]) -> None:
    """Melds of seat 0, all called from seat 3: ``777z`` a pon, ``123m`` a chi."""
    for place, meld in enumerate(melds):
        kinds = sorted(tile_kind(tile) for tile in parse_tiles(meld))
        state["meld_type"][0, place] = PON if kinds[0] == kinds[1] else CHI
        state["meld_kind"][0, place] = kinds[0]
        state["meld_called"][0, place] = kinds[0]
        state["meld_from"][0, place] = 3
        state["n_melds"][0] = place + 1
        state["is_open"][0] = 1


def lay_rivers(state: State, rivers: Mapping[int, str]) -> None:
    for seat, text in rivers.items():
        tiles = parse_tiles(text)
        state["river"][seat, : len(tiles)] = tiles
        state["n_river"][seat] = len(tiles)
        for tile in tiles:
            state["discarded"][seat] |= 1 << tile_kind(tile)


def position(
    hand: str,
    *,
    drawn: str = "",
    offered: str = "",
    source: int = 3,
    melds: Iterable[str] = (),
    rivers: Mapping[int, str] | None = None,
    riichi: Iterable[int] = (),
    declared: bool = False,
    wall_left: int = 50,
    markers: str = "4z",
    players: int = 4,
) -> View:
    """Seat 0 (dealer, East 1) with ``hand``: to discard, or ``offered`` a tile by ``source``.

    Without a drawn tile the discard follows a call; ``declared`` is just after "riichi".  The
    dora marker is 4z unless told, so that the dora is 1z.
    """
    state = new_state()
    state["scores"] = 25000
    state["rules"]["last_round"] = 7
    state["rules"]["players"] = players
    state["hand_known"][0] = 1
    state["n_dora"] = len(parse_tiles(markers))
    state["dora_markers"][: state["n_dora"]] = parse_tiles(markers)
    put(state, hand)
    lay_melds(state, melds)
    lay_rivers(state, rivers or {1: "4z"})
    if int(state["hand"][0].sum()) % 3 == 1:
        refresh_waits(state, 0)
    state["phase"] = REACTION if offered else TURN if drawn else CALLED
    state["turn"] = source if offered else 0
    state["drawn"] = one(drawn) if drawn else -1
    state["last_tile"] = one(offered) if offered else -1
    if drawn:
        put(state, drawn)
    if declared:
        state["phase"] = RIICHI
    if offered:
        lay_rivers(state, {source: offered})
    for seat in riichi:
        state["riichi"][seat] = ACCEPTED
    state["wall_left"] = wall_left
    state["calls_made"] = 1
    state["hand_size"][0] = state["hand"][0].sum()
    assert state["phase"] != IDLE
    assert np.all(state["hand"][0] <= 4)
    return View(state, 0)


@pytest.fixture(name="position")
def position_builder() -> Callable[..., View]:
    return position
