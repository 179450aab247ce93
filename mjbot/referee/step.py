"""The referee's desk, one compiled record: choices come in, events, offers and payments go out.

Every event is one row of the log: type, actor, target, tile, four consumed tiles, flag (-1
where a field does not apply).

How a kyoku ended, as one compiled record that messages are made from.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from mjbot.compiler.compiled import compiled, record_type
from mjbot.table.actions import N_ACTIONS
from mjbot.table.settle import PAYMENT, Payment

OUTCOME: Final = record_type(
    [
        ("deltas", np.int32, (4,)),  # what a draw pays
        ("n_wins", np.int8),
        ("target", np.int8),  # who dealt in; the winner itself by draw
        ("tile", np.int8),
        ("reason", np.int8),  # NO_DRAW after a win, else a code of mjbot.table.state
        ("actor", np.int8),  # who declared nine terminals
        ("tenpai", np.int8, (4,)),
    ]
)
"""Beside it go up to three :data:`mjbot.table.settle.PAYMENT`, one for each win."""

if TYPE_CHECKING:

    class Outcome:
        """One record of :data:`OUTCOME`: ``r["field"]`` in Python, ``r.field`` compiled."""

        deltas: NDArray[np.int32]
        n_wins: int
        target: int
        tile: int
        reason: int
        actor: int
        tenpai: NDArray[np.int8]

        def __getitem__(self, field: str) -> Any: ...
        def __setitem__(self, field: str, value: Any) -> None: ...

else:
    Outcome = np.void


LOG_DRAW: Final = 0
LOG_DISCARD: Final = 1
LOG_RIICHI: Final = 2
LOG_RIICHI_ACCEPTED: Final = 3
LOG_CHI: Final = 4
LOG_PON: Final = 5
LOG_DAIMINKAN: Final = 6
LOG_KAKAN: Final = 7
LOG_ANKAN: Final = 8
LOG_DORA: Final = 9

LOG_COLUMNS: Final = 9
USED: Final = 4
FLAG: Final = 8
LOG_ROWS: Final = 16
"""More than one decision can bring: at most five markers, a call, a draw and a few more."""

DESK: Final = record_type(
    [
        ("choices", np.int16, (4,)),  # action codes; only those of asked seats matter
        ("asked", np.int8),  # bit per seat that must decide now
        ("n_codes", np.int16, (4,)),
        ("wants", np.uint8, (4,)),  # what each player wants to be asked about
        ("codes", np.uint8, (4, N_ACTIONS)),  # what each asked seat may do, ascending
        ("n_rows", np.int16),
        ("log", np.int8, (LOG_ROWS, LOG_COLUMNS)),
        ("outcome", OUTCOME),
        ("wins", PAYMENT, (3,)),
    ]
)

Wins = Sequence[Payment]
"""An array of three records of :data:`mjbot.table.settle.PAYMENT`."""

if TYPE_CHECKING:

    class Desk:
        """One record of :data:`DESK`: ``r["field"]`` in Python, ``r.field`` compiled."""

        choices: NDArray[np.int16]
        asked: int
        n_codes: NDArray[np.int16]
        wants: NDArray[np.uint8]
        codes: NDArray[np.uint8]
        n_rows: int
        log: NDArray[np.int8]
        outcome: Outcome
        wins: Wins

        def __getitem__(self, field: str) -> Any: ...
        def __setitem__(self, field: str, value: Any) -> None: ...

else:
    Desk = np.void


def new_desk() -> Desk:
    """Return an empty desk: nobody is asked, nothing happened."""
    return cast(Desk, np.zeros(1, DESK)[0])


@compiled
def note(desk: Desk, type_: int, actor: int, target: int, tile: int, flag: int) -> None:
    """Write down an event without consumed tiles."""
    row = desk.log[desk.n_rows]
    row[0] = type_
    row[1] = actor
    row[2] = target
    row[3] = tile
    for place in range(USED, FLAG):
        row[place] = -1
    row[FLAG] = flag
    desk.n_rows += 1


@compiled
def note_used(desk: Desk, place: int, tile: int) -> None:
    """Write down a consumed tile of the last event at ``place`` 0..3."""
    desk.log[desk.n_rows - 1, USED + place] = tile
