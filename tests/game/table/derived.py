"""What is stored in a state beside what it follows from."""

from mjbot.game.rules.acceptance import waits
from mjbot.game.rules.wall_plan import FOUR_PLAYERS as WALL
from mjbot.game.table.state import ANKAN, CHANKAN, DAIMINKAN, DRAWN, IDLE, KAKAN, WON, State
from mjbot.protocol.tiles import FIVE_KINDS, tile_kind


def check_derived(state: State) -> None:
    """What is stored beside what it follows from agrees with it, hands as far as they are known."""
    if state["phase"] in (IDLE, WON, DRAWN):
        return
    kans = 0
    for seat in range(4):
        n_melds = int(state["n_melds"][seat])
        types = state["meld_type"][seat][:n_melds].tolist()
        kans += sum(type_ in (DAIMINKAN, KAKAN, ANKAN) for type_ in types)
        assert state["is_open"][seat] == any(type_ != ANKAN for type_ in types)
        river = state["river"][seat][: state["n_river"][seat]].tolist()
        mask = sum(1 << kind for kind in {tile_kind(tile) for tile in river})
        assert state["discarded"][seat] == mask
        if not state["hand_known"][seat]:
            assert not state["hand"][seat].any()
            assert not state["waits"][seat]
            continue
        assert state["hand_size"][seat] == state["hand"][seat].sum()
        assert (state["red"][seat] <= state["hand"][seat][list(FIVE_KINDS)]).all()
        if state["hand_size"][seat] % 3 == 1:
            assert state["waits"][seat] == waits(state["hand"][seat], n_melds)
    assert state["kans"] == kans
    assert state["n_discards"] == state["n_river"].sum()
    assert state["n_dora"] + state["pending_dora"] - 1 == kans - (state["phase"] == CHANKAN)
    taken = int(state["draws"].sum()) + int(state["rinshan_taken"])
    assert state["wall_left"] == WALL["n_live"] - taken
