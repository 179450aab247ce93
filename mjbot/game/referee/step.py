"""The step buffer, one compiled record: choices in; events, offers and how the kyoku ended out.

Every event is one row of the log: type, actor, target, tile, four consumed tiles, flag (-1
where a field does not apply).
"""

from collections.abc import Sequence
from typing import Annotated, Final

from mjbot.game.table.actions import N_ACTIONS
from mjbot.game.table.settle import Payment
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.record import Int8, Int8s, Int16, Int16s, Int32s, Record, UInt8s


class Outcome(Record):
    """How a kyoku ended."""

    deltas: Annotated[Int32s, 4]  # what a draw pays
    n_wins: Int8
    target: Int8  # the seat that dealt in; the winner itself by draw
    tile: Int8
    reason: Int8  # NO_DRAW after a win, else a code of mjbot.game.table.state
    actor: Int8  # the seat that declared nine terminals
    tenpai: Annotated[Int8s, 4]


OUTCOME: Final = Outcome.dtype

"""With it go up to three :data:`mjbot.game.table.settle.PAYMENT`, one for each win."""


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
LOG_KITA: Final = 10

LOG_COLUMNS: Final = 9
USED: Final = 4
FLAG: Final = 8
LOG_ROWS: Final = 16
"""More than one decision can bring: at most five markers, a call, a draw and a few more."""


class StepBuffer(Record):
    """What is asked and answered in one step of a kyoku, and the log of its events."""

    choices: Annotated[Int16s, 4]  # action codes; only those of asked seats matter
    asked: Int8  # bit per seat that must decide now
    n_codes: Annotated[Int16s, 4]
    decides: Annotated[UInt8s, 4]  # the choices that each player decides on
    codes: Annotated[UInt8s, 4, N_ACTIONS]  # what each asked seat may do, ascending
    n_rows: Int16
    log: Annotated[Int8s, LOG_ROWS, LOG_COLUMNS]
    outcome: Outcome
    wins: Annotated[Sequence[Payment], 3]


STEP_BUFFER: Final = StepBuffer.dtype


Wins = Sequence[Payment]
"""An array of three records of :data:`mjbot.game.table.settle.PAYMENT`."""


def new_step_buffer() -> StepBuffer:
    """Return an empty buffer: no seat is asked, nothing happened."""
    return StepBuffer.new()


@compiled
def note(buffer: StepBuffer, type_: int, actor: int, target: int, tile: int, flag: int) -> None:
    """Write down an event without consumed tiles."""
    row = buffer.log[buffer.n_rows]
    row[0] = type_
    row[1] = actor
    row[2] = target
    row[3] = tile
    for column in range(USED, FLAG):
        row[column] = -1
    row[FLAG] = flag
    buffer.n_rows += 1


@compiled
def note_used(buffer: StepBuffer, index: int, tile: int) -> None:
    """Write down a consumed tile of the last event: the first, ... is that of ``index`` 0..3."""
    buffer.log[buffer.n_rows - 1, USED + index] = tile
