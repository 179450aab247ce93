"""What a player sees when it chooses a discard, as one flat record."""

from typing import Annotated, Final

from mjbot.game.table.observe import dora_values, genbutsu, unseen_kinds
from mjbot.game.table.seats import steps_between
from mjbot.game.table.state import State
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Int8, Int8s, Int32, Int64, Record


class HandPosition(Record):
    """What a seat that is to discard sees, and what it discarded."""

    own: Int64  # mask of the kinds this seat has discarded
    game: Int32  # number of the game in the records
    hand: Annotated[Int8s, 34]  # concealed counts per kind, 3n+2 tiles
    red: Annotated[Int8s, 3]  # concealed red fives: man, pin, sou
    n_melds: Int8
    unseen: Annotated[Int8s, 34]  # copies of each kind that the seat does not see
    dora: Annotated[Int8s, 34]  # how many dora a tile of each kind is
    seat_wind: Int8  # 0 East .. 3 North, -1 none: no wind has a value
    round_wind: Int8  # the same
    dragons: Int8  # 1 if dragons are a yaku
    turn: Int8  # own discards so far
    riichis: Int8  # how many of the three others have declared riichi
    open_melds: Int8  # of the three others
    safe: Annotated[Int8s, 34]  # how many others cannot win by a tile of the kind
    tile: Int8  # 0..36: what was discarded
    before_riichi: Int8  # 1: by the kyoku's first to declare riichi, up to then


HAND_POSITION: Final = HandPosition.dtype


@compiled
def observe(state: State, seat: int, position: HandPosition) -> None:
    """Write what ``seat``, which is to discard, sees; ``game`` and ``tile`` stay as they are."""
    position.hand[:] = state.hand[seat]
    position.red[:] = state.red[seat]
    position.n_melds = state.n_melds[seat]
    unseen_kinds(state, seat, position.unseen)
    dora_values(state, position.dora)
    position.seat_wind = steps_between(state, state.dealer, seat)
    position.round_wind = state.round // 4
    position.dragons = 1
    position.turn = state.n_river[seat]
    position.own = state.discarded[seat]
    position.riichis = 0
    position.open_melds = 0
    position.safe[:] = 0
    for other in range(4):
        if other != seat:
            position.riichis += state.riichi[other] > 0
            passed = genbutsu(state, other)
            for kind in range(34):
                position.safe[kind] += passed >> kind & 1
            for meld in range(state.n_melds[other]):
                position.open_melds += state.meld_from[other, meld] != other
