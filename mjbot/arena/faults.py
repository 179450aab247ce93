"""What is kept of a decision that went wrong, so that it can be looked at again."""

import base64
from pathlib import Path
from typing import Final

import msgspec

from mjbot.arena.guard import Fault, FaultKind
from mjbot.arena.setup import Setup, Unit

FAULT_FOLDER: Final = "faults"
MOST_FILES: Final = 100


class FaultFileError(Exception):
    """A file is no fault file; the text is one line for the user."""


class FaultFile(msgspec.Struct, frozen=True, kw_only=True):
    """One decision: the game it came up in, and the table's record (base64) when it did.

    ``fatal`` has seat and number of earlier decisions of the game that were not even asked for,
    because they end or block the process.
    """

    strategy: str
    kind: FaultKind
    problem: str
    setup: Setup
    unit: Unit
    seat: int
    decision: int
    fatal: tuple[tuple[int, int], ...] = ()
    trace: str = ""
    state: str = ""

    @property
    def state_bytes(self) -> bytes:
        """The record of :data:`mjbot.table.state.STATE`, empty at the start of a game."""
        return base64.b64decode(self.state)


def save_faults(folder: Path, setup: Setup, unit: Unit, faults: tuple[Fault, ...]) -> None:
    """Write a file for each fault of a game that is kept whole, up to :data:`MOST_FILES` in all."""
    target = folder / FAULT_FOLDER
    for fault in faults:
        if not fault.state and fault.decision:
            continue
        target.mkdir(exist_ok=True)
        if sum(1 for _ in target.iterdir()) >= MOST_FILES:
            return
        file = _file_of(setup, unit, fault, faults)
        name = f"{fault.kind}-{unit.wall}-{unit.seating}-{fault.seat}-{fault.decision}.json"
        text = msgspec.json.format(msgspec.json.encode(file), indent=1)
        (target / name).write_bytes(text + b"\n")


def _file_of(setup: Setup, unit: Unit, fault: Fault, faults: tuple[Fault, ...]) -> FaultFile:
    strategy = setup.strategies[setup.seating.tables[unit.seating][fault.seat]]
    earlier = [other for other in faults if other.is_fatal and other != fault]
    return FaultFile(
        strategy=strategy,
        kind=fault.kind,
        problem=fault.problem,
        setup=setup,
        unit=unit,
        seat=fault.seat,
        decision=fault.decision,
        fatal=tuple([(other.seat, other.decision) for other in earlier]),
        trace=fault.trace,
        state=base64.b64encode(fault.state).decode(),
    )


def read_fault(path: Path) -> FaultFile:
    """Return what a file keeps.  Raises :class:`FaultFileError`."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=FaultFile)
    except OSError as error:
        raise FaultFileError(f"{path}: {error.strerror or error}") from None
    except msgspec.DecodeError as error:
        raise FaultFileError(f"{path} is not a fault that mjbot arena kept: {error}") from None
