"""Tables as one seat sees them before its discard, and games in which some fold."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from mjbot.game.rules.kinds import count_kinds
from mjbot.game.table.state import ACCEPTED, ANKAN, CHI, PON, TURN, State, new_state
from mjbot.protocol.tiles import RED_FIVES, parse_tiles, tile_kind

N_GAMES = 12


@pytest.fixture(scope="session")
def folding_games(record_games: Callable[[tuple[str, ...], int], Path]) -> Path:
    """Return the folder of some recorded games in which two fold."""
    return record_games(("fast-riichi-a", "fast-riichi-c"), N_GAMES)


def lay_melds(state: State, seat: int, melds: Iterable[str]) -> None:
    """``777z`` is a pon, ``123m`` a chi, ``1111z`` a concealed kan; called from the right."""
    for place, meld in enumerate(melds):
        tiles = parse_tiles(meld)
        kinds = sorted(tile_kind(tile) for tile in tiles)
        closed = len(kinds) == 4
        state["meld_type"][seat, place] = ANKAN if closed else PON if kinds[0] == kinds[1] else CHI
        state["meld_kind"][seat, place] = kinds[0]
        state["meld_red"][seat, place] = sum(1 << t - RED_FIVES[0] for t in tiles if t in RED_FIVES)
        state["meld_from"][seat, place] = seat if closed else (seat + 1) % 4
        state["n_melds"][seat] = place + 1
        state["is_open"][seat] |= not closed
        state["kans"] += closed


def table_before(
    hand: str,
    *,
    rivers: Mapping[int, str] | None = None,
    melds: Mapping[int, Iterable[str]] | None = None,
    riichi: Iterable[int] = (),
    markers: str = "4z",
    wall_left: int = 40,
) -> State:
    """The turn of seat 0, the dealer, with 3n+2 tiles; the last one was drawn."""
    state = new_state()
    tiles = parse_tiles(hand)
    assert len(tiles) % 3 == 2
    state["phase"], state["wall_left"], state["drawn"] = TURN, wall_left, tiles[-1]
    state["hand"][0], state["hand_known"][0] = count_kinds(tiles), 1
    for tile in set(tiles) & set(RED_FIVES):
        state["red"][0, tile - RED_FIVES[0]] = 1
    state["n_dora"] = len(parse_tiles(markers))
    state["dora_markers"][: state["n_dora"]] = parse_tiles(markers)
    for seat, text in (rivers or {}).items():
        river = parse_tiles(text)
        state["river"][seat, : len(river)], state["n_river"][seat] = river, len(river)
        for tile in river:
            state["discarded"][seat] |= 1 << tile_kind(tile)
    for seat, laid in (melds or {}).items():
        lay_melds(state, seat, laid)
    for seat in riichi:
        state["riichi"][seat] = ACCEPTED
    return state


@pytest.fixture(name="table_before")
def table_builder() -> Callable[..., State]:
    return table_before
