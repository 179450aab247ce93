"""The state of a table: one flat record, the same for mirror, referee and playouts.

A state is ``numpy.void`` of :data:`STATE` (about 1.2 kB); copying one is ``dst[...] = src`` in
compiled code or :func:`copy_state` in Python.  Tiles are codes 0..36 (:mod:`protocol.tiles`),
kinds 0..33, seats absolute 0..3, ``-1`` means none.  What a seat may not see is simply not
filled in: an unknown hand has ``hand_known == 0`` and only its size.

How a kyoku can end without a win, as small codes with their wire names.
"""

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import record_type

RIVER_SIZE: Final = 36
"""More than one seat can discard in a kyoku even if all others' turns are skipped by calls."""

# What the table waits for.
IDLE: Final = 0  # no kyoku under way
DRAW: Final = 1  # `turn` is to draw from the live wall
TURN: Final = 2  # `turn` has drawn: discard, riichi, kan, win or nine terminals
CALLED: Final = 3  # `turn` has called chi or pon: only a discard
RIICHI: Final = 4  # `turn` has declared riichi: only a discard that keeps tenpai
REACTION: Final = 5  # `turn` has discarded `last_tile`: the others may claim it
CHANKAN: Final = 6  # `turn` has added `last_tile` to a pon: the others may rob it
RINSHAN: Final = 7  # `turn` is to draw from the dead wall
WON: Final = 8  # at least one win is declared; another ron may follow
DRAWN: Final = 9  # the kyoku ended in a draw
GAME_OVER: Final = 10

# Meld types.
CHI: Final = 0
PON: Final = 1
DAIMINKAN: Final = 2
KAKAN: Final = 3
ANKAN: Final = 4

# River flags.
TSUMOGIRI: Final = 1
RIICHI_DISCARD: Final = 2
CALLED_AWAY: Final = 4

# Riichi of a seat.
NO_RIICHI: Final = 0
DECLARED: Final = 1
ACCEPTED: Final = 2

# Missed wins (furiten beyond one's own river).
MISSED_NONE: Final = 0
MISSED_UNTIL_DISCARD: Final = 1
MISSED_FOR_GOOD: Final = 2

# The referee's wall: seat s is dealt wall[13*s : 13*s + 13]; the rest lies at these offsets.
LIVE_WALL: Final = 52
DORA_WALL: Final = 122
URA_WALL: Final = 127
RINSHAN_WALL: Final = 132
N_LIVE: Final = 70

STATE: Final = record_type(
    [
        ("scores", np.int32, (4,)),
        # One bit per kind:
        ("waits", np.int64, (4,)),  # kinds that complete the shape of a known 13-tile hand
        ("discarded", np.int64, (4,)),  # own discards, called ones included
        ("passed", np.int64, (4,)),  # others' tiles not ronned since this seat's riichi
        ("kuikae", np.int64),  # kinds that `turn` may not discard after its call
        ("round", np.int8),  # 0 = East 1, 4 = South 1, ... 15 = North 4
        ("dealer", np.int8),
        ("honba", np.int16),
        ("sticks", np.int16),  # riichi sticks on the table
        ("last_round", np.int8),  # last scheduled round: 3 tonpu, 7 hanchan
        ("phase", np.int8),
        ("turn", np.int8),
        ("drawn", np.int8),  # tile that `turn` drew (37 if unknown), -1 after its discard
        ("last_tile", np.int8),  # tile that may be claimed now, or was last
        ("after_kan", np.int8),  # 1 while the drawn tile came from the dead wall
        ("calls_made", np.int8),  # 1 after any chi, pon or kan in this kyoku
        ("chankan", np.int8),  # 1 while the tile on offer is a kakan's
        ("wins", np.int8),  # bit per seat that has won in this kyoku
        ("dealer_stays", np.int8),  # after the end: 1 repeat, 0 next dealer, -1 not known
        ("aborted", np.int8),  # 1 after an abortive draw
        ("wall_left", np.int8),  # live tiles left to draw
        ("rinshan_taken", np.int8),
        ("kans", np.int8),  # kans of the whole table
        ("pending_dora", np.int8),  # markers owed for open kans
        ("n_dora", np.int8),
        ("dora_markers", np.int8, (5,)),  # tiles
        ("ura_markers", np.int8, (5,)),  # tiles, -1 unless known
        ("n_ura", np.int8),
        ("hand_known", np.int8, (4,)),
        ("hand_size", np.int8, (4,)),  # concealed tiles, the drawn one included
        ("hand", np.int8, (4, 34)),  # concealed counts per kind, red fives included
        ("red", np.int8, (4, 3)),  # concealed red fives: man, pin, sou
        ("n_melds", np.int8, (4,)),
        ("meld_type", np.int8, (4, 4)),
        ("meld_kind", np.int8, (4, 4)),  # lowest kind of a chi
        ("meld_red", np.int8, (4, 4)),  # red fives in the meld: bit 0 man, 1 pin, 2 sou
        ("meld_called", np.int8, (4, 4)),  # the claimed tile, -1 for an ankan
        ("meld_from", np.int8, (4, 4)),  # seat it came from, own seat for an ankan
        ("is_open", np.int8, (4,)),  # 1 after a chi, pon or open kan
        ("n_river", np.int8, (4,)),
        ("river", np.int8, (4, RIVER_SIZE)),  # tiles in order, called ones included
        ("river_flags", np.uint8, (4, RIVER_SIZE)),
        ("river_turn", np.uint8, (4, RIVER_SIZE)),  # running number of the discard at the table
        ("n_discards", np.uint8),
        ("riichi", np.int8, (4,)),
        ("double_riichi", np.int8, (4,)),
        ("ippatsu", np.int8, (4,)),
        ("missed", np.int8, (4,)),
        ("pao_dragons", np.int8, (4,)),  # seat liable for this seat's daisangen, -1 none
        ("pao_winds", np.int8, (4,)),  # the same for daisuushii
        ("pinned", np.int8),  # 1: every seat draws from its own quarter of the wall
        ("draws", np.int8, (4,)),  # live draws of each seat
        ("has_wall", np.int8),  # 1 in a referee's state and in playouts
        ("wall", np.int8, (136,)),
    ]
)

if TYPE_CHECKING:

    class State:
        """One record of :data:`STATE`: ``r["field"]`` in Python, ``r.field`` compiled."""

        scores: NDArray[np.int32]
        waits: NDArray[np.int64]
        discarded: NDArray[np.int64]
        passed: NDArray[np.int64]
        kuikae: int
        round: int
        dealer: int
        honba: int
        sticks: int
        last_round: int
        phase: int
        turn: int
        drawn: int
        last_tile: int
        after_kan: int
        calls_made: int
        chankan: int
        wins: int
        dealer_stays: int
        aborted: int
        wall_left: int
        rinshan_taken: int
        kans: int
        pending_dora: int
        n_dora: int
        dora_markers: NDArray[np.int8]
        ura_markers: NDArray[np.int8]
        n_ura: int
        hand_known: NDArray[np.int8]
        hand_size: NDArray[np.int8]
        hand: NDArray[np.int8]
        red: NDArray[np.int8]
        n_melds: NDArray[np.int8]
        meld_type: NDArray[np.int8]
        meld_kind: NDArray[np.int8]
        meld_red: NDArray[np.int8]
        meld_called: NDArray[np.int8]
        meld_from: NDArray[np.int8]
        is_open: NDArray[np.int8]
        n_river: NDArray[np.int8]
        river: NDArray[np.int8]
        river_flags: NDArray[np.uint8]
        river_turn: NDArray[np.uint8]
        n_discards: int
        riichi: NDArray[np.int8]
        double_riichi: NDArray[np.int8]
        ippatsu: NDArray[np.int8]
        missed: NDArray[np.int8]
        pao_dragons: NDArray[np.int8]
        pao_winds: NDArray[np.int8]
        pinned: int
        draws: NDArray[np.int8]
        has_wall: int
        wall: NDArray[np.int8]

        def __getitem__(self, field: str) -> Any: ...
        def __setitem__(self, field: str, value: Any) -> None: ...

else:
    State = np.void


def new_state() -> State:
    """Return an empty state (phase :data:`IDLE`, all zero)."""
    return cast(State, np.zeros(1, STATE)[0])


def copy_state(state: State) -> State:
    """Return an independent copy."""
    copies = np.empty(1, STATE)
    copies[0] = state
    return cast(State, copies[0])


NO_DRAW: Final = 0
EXHAUSTIVE: Final = 1
NAGASHI: Final = 2
NINE_TERMINALS: Final = 3
FOUR_WINDS: Final = 4
FOUR_KANS: Final = 5
FOUR_RIICHI: Final = 6
TRIPLE_RON: Final = 7
CHOMBO: Final = 8

WIRE_REASONS: Final = (
    "",
    "fanpai",
    "nagashimangan",
    "kyushukyuhai",
    "sufonrenta",
    "sukaikan",
    "suchareach",
    "sanchaho",
    "error",
)
"""Wire names of the codes (:data:`protocol.messages.DRAW_REASONS`)."""
