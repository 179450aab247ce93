"""What a player sees when it chooses a discard, as one flat record."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled, record_type
from mjbot.table.observe import dora_values, unseen_kinds
from mjbot.table.state import State

HAND_POSITION: Final = record_type(
    [
        ("own", np.int64),  # mask of the kinds this seat has discarded
        ("game", np.int32),  # number of the game in the records
        ("hand", np.int8, (34,)),  # concealed counts per kind, 3n+2 tiles
        ("red", np.int8, (3,)),  # concealed red fives: man, pin, sou
        ("n_melds", np.int8),
        ("unseen", np.int8, (34,)),  # copies of each kind that the seat does not see
        ("dora", np.int8, (34,)),  # how many dora a tile of each kind is
        ("seat_wind", np.int8),  # 0 East .. 3 North, -1 none: no wind is worth anything
        ("round_wind", np.int8),  # the same
        ("dragons", np.int8),  # 1 if dragons are worth a yaku
        ("turn", np.int8),  # own discards so far
        ("riichis", np.int8),  # how many of the three others have declared riichi
        ("open_melds", np.int8),  # of the three others
        ("safe", np.int8, (34,)),  # how many others cannot win by a tile of the kind
        ("tile", np.int8),  # 0..36: what was discarded
        ("before_riichi", np.int8),  # 1: by the kyoku's first to declare riichi, up to then
    ]
)

if TYPE_CHECKING:

    class HandPosition:
        """One record of :data:`HAND_POSITION`."""

        own: int
        game: int
        hand: NDArray[np.int8]
        red: NDArray[np.int8]
        n_melds: int
        unseen: NDArray[np.int8]
        dora: NDArray[np.int8]
        seat_wind: int
        round_wind: int
        dragons: int
        turn: int
        riichis: int
        open_melds: int
        safe: NDArray[np.int8]
        tile: int
        before_riichi: int

        def __getitem__(self, field: str) -> Any: ...
        def __setitem__(self, field: str, value: Any) -> None: ...

else:
    HandPosition = np.void


@compiled
def observe(state: State, seat: int, position: HandPosition) -> None:
    """Write what ``seat``, which is to discard, sees; ``game`` and ``tile`` stay as they are."""
    position.hand[:] = state.hand[seat]
    position.red[:] = state.red[seat]
    position.n_melds = state.n_melds[seat]
    unseen_kinds(state, seat, position.unseen)
    dora_values(state, position.dora)
    position.seat_wind = (seat - state.dealer) % 4
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
            passed = state.discarded[other] | state.passed[other]
            for kind in range(34):
                position.safe[kind] += passed >> kind & 1
            for place in range(state.n_melds[other]):
                position.open_melds += state.meld_from[other, place] != other
