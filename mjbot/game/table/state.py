"""The state of a table: one flat record, the same for mirror, referee and playouts.

A state is ``numpy.void`` of :data:`STATE` (about 1.2 kB); copying one is ``dst[...] = src`` in
compiled code or :func:`copy_state` in Python.  Tiles are codes 0..36 (:mod:`mjbot.protocol.tiles`),
kinds 0..33, seats absolute 0..3, ``-1`` means none.  What a seat may not see is simply not
filled in: an unknown hand has ``hand_known == 0`` and only its size.  How a kyoku ends without a
win is a small code too (:data:`WIRE_REASONS` has the wire names).

Compiled code compares plain integers, so each member of an enumeration stands here as one, too.
"""

from enum import IntEnum, IntFlag
from typing import Annotated, Final, cast

import numpy as np

from mjbot.game.rules.ruleset import RuleSet, rule_set
from mjbot.runtime.compiler.record import (
    Int8,
    Int8s,
    Int16,
    Int32s,
    Int64,
    Int64s,
    Record,
    UInt8,
    UInt8s,
)

RIVER_SIZE: Final = 36
"""More than one seat can discard in a kyoku even if all others' turns are skipped by calls."""


class Phase(IntEnum):
    """What the table waits for."""

    IDLE = 0  # no kyoku under way
    DRAW = 1  # `turn` is to draw from the live wall
    TURN = 2  # `turn` has drawn: discard, riichi, kan, win or nine terminals
    CALLED = 3  # `turn` has called chi or pon: only a discard
    RIICHI = 4  # `turn` has declared riichi: only a discard that keeps tenpai
    REACTION = 5  # `turn` has discarded `last_tile`: the others may claim it
    CHANKAN = 6  # `turn` has used `last_tile` for a kan or set it aside: the others may rob it
    RINSHAN = 7  # `turn` is to draw from the dead wall
    WON = 8  # at least one win is declared; another ron may follow
    DRAWN = 9  # the kyoku ended in a draw
    GAME_OVER = 10


class MeldType(IntEnum):
    """What a meld is."""

    CHI = 0
    PON = 1
    DAIMINKAN = 2
    KAKAN = 3
    ANKAN = 4

    @property
    def is_kan(self) -> bool:
        """Whether it has four tiles."""
        return self >= MeldType.DAIMINKAN


class RiverFlag(IntFlag):
    """What is known of a discard in a river."""

    TSUMOGIRI = 1
    RIICHI_DISCARD = 2
    CALLED_AWAY = 4


class RiichiState(IntEnum):
    """How far a seat's riichi is."""

    NONE = 0
    DECLARED = 1
    ACCEPTED = 2


IDLE: Final = int(Phase.IDLE)
DRAW: Final = int(Phase.DRAW)
TURN: Final = int(Phase.TURN)
CALLED: Final = int(Phase.CALLED)
RIICHI: Final = int(Phase.RIICHI)
REACTION: Final = int(Phase.REACTION)
CHANKAN: Final = int(Phase.CHANKAN)
RINSHAN: Final = int(Phase.RINSHAN)
WON: Final = int(Phase.WON)
DRAWN: Final = int(Phase.DRAWN)
GAME_OVER: Final = int(Phase.GAME_OVER)

CHI: Final = int(MeldType.CHI)
PON: Final = int(MeldType.PON)
DAIMINKAN: Final = int(MeldType.DAIMINKAN)
KAKAN: Final = int(MeldType.KAKAN)
ANKAN: Final = int(MeldType.ANKAN)

TSUMOGIRI: Final = int(RiverFlag.TSUMOGIRI)
RIICHI_DISCARD: Final = int(RiverFlag.RIICHI_DISCARD)
CALLED_AWAY: Final = int(RiverFlag.CALLED_AWAY)

NO_RIICHI: Final = int(RiichiState.NONE)
DECLARED: Final = int(RiichiState.DECLARED)
ACCEPTED: Final = int(RiichiState.ACCEPTED)

# Missed wins (furiten beyond one's own river).
MISSED_NONE: Final = 0
MISSED_UNTIL_DISCARD: Final = 1
MISSED_FOR_GOOD: Final = 2


class State(Record):
    """One table, as everybody's events leave it; what a seat cannot see may be filled in or not."""

    scores: Annotated[Int32s, 4]
    # One bit per kind:
    waits: Annotated[Int64s, 4]  # kinds that complete the shape of a known 13-tile hand
    discarded: Annotated[Int64s, 4]  # own discards, called ones included
    passed: Annotated[Int64s, 4]  # others' tiles not ronned since this seat's riichi
    kuikae: Int64  # kinds that `turn` may not discard after its call
    rules: RuleSet
    round: Int8  # 0 = East 1, 4 = South 1, ... 15 = North 4
    dealer: Int8
    honba: Int16
    sticks: Int16  # riichi sticks on the table
    phase: Int8
    turn: Int8
    drawn: Int8  # tile that `turn` drew (37 if unknown), -1 after its discard
    last_tile: Int8  # tile that may be claimed now, or was last
    after_kan: Int8  # 1 while the drawn tile came from the dead wall
    calls_made: Int8  # 1 after any chi, pon, kan or kita in this kyoku
    chankan: Int8  # of the tile on offer: 1 while it is a kakan's, 2 an ankan's
    wins: Int8  # bit per seat that has won in this kyoku
    dealer_stays: Int8  # after the end: 1 repeat, 0 next dealer, -1 not known
    aborted: Int8  # 1 after an abortive draw
    wall_left: Int8  # live tiles left to draw
    rinshan_taken: Int8
    kans: Int8  # kans of the whole table
    pending_dora: Int8  # markers owed for open kans
    n_dora: Int8
    dora_markers: Annotated[Int8s, 5]  # tiles
    ura_markers: Annotated[Int8s, 5]  # tiles, -1 unless known
    n_ura: Int8
    hand_known: Annotated[Int8s, 4]
    hand_size: Annotated[Int8s, 4]  # concealed tiles, the drawn one included
    hand: Annotated[Int8s, 4, 34]  # concealed counts per kind, red fives included
    red: Annotated[Int8s, 4, 3]  # concealed red fives: man, pin, sou
    n_melds: Annotated[Int8s, 4]
    meld_type: Annotated[Int8s, 4, 4]
    meld_kind: Annotated[Int8s, 4, 4]  # lowest kind of a chi
    meld_red: Annotated[Int8s, 4, 4]  # red fives in the meld: bit 0 man, 1 pin, 2 sou, 3 second pin
    meld_called: Annotated[Int8s, 4, 4]  # the claimed tile, -1 for an ankan
    meld_from: Annotated[Int8s, 4, 4]  # seat it came from, own seat for an ankan
    is_open: Annotated[Int8s, 4]  # 1 after a chi, pon or open kan
    kita: Annotated[Int8s, 4]  # norths set aside
    n_river: Annotated[Int8s, 4]
    river: Annotated[Int8s, 4, RIVER_SIZE]  # tiles in order, called ones included
    river_flags: Annotated[UInt8s, 4, RIVER_SIZE]
    river_turn: Annotated[UInt8s, 4, RIVER_SIZE]  # running number of the discard at the table
    n_discards: UInt8
    riichi: Annotated[Int8s, 4]
    double_riichi: Annotated[Int8s, 4]
    ippatsu: Annotated[Int8s, 4]
    missed: Annotated[Int8s, 4]
    pao_dragons: Annotated[Int8s, 4]  # seat liable for this seat's daisangen, -1 none
    pao_winds: Annotated[Int8s, 4]  # the same for daisuushii
    unused: Int8  # with it no byte is padding, so that equal states have equal bytes
    pinned: Int8  # 1: every seat draws from its own part of the wall
    draws: Annotated[Int8s, 4]  # live draws of each seat
    has_wall: Int8  # 1 in a referee's state and in playouts
    wall: Annotated[Int8s, 136]  # laid out as `rules.wall` says


STATE: Final = State.dtype
_EMPTY: Final = np.zeros(1, STATE)
_EMPTY["rules"] = rule_set()


def new_state() -> State:
    """Return an empty state under the default rules (phase :data:`IDLE`, all else zero)."""
    return copy_state(cast(State, _EMPTY[0]))


def copy_state(state: State) -> State:
    """Return an independent copy."""
    copies = np.empty(1, STATE)
    copies[0] = state
    return cast(State, copies[0])


# What `chankan` is while a kan may be robbed.
OF_KAKAN: Final = 1
OF_ANKAN: Final = 2

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
"""Wire names of the codes (:data:`mjbot.protocol.messages.DRAW_REASONS`)."""
