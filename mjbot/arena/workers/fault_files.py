"""What is kept of a decision that went wrong, so that it can be looked at again."""

import base64
import contextlib
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from mjbot.arena.setup import GameId, Setup
from mjbot.protocol.errors import NOT_JSON
from mjbot.runtime.errors import ExitCode, MjbotError
from mjbot.runtime.files import plural
from mjbot.strategy.faults import Fault, FaultKind
from mjbot.strategy.registry import Spec

FAULT_FOLDER: Final = "faults"
MOST_FILES: Final = 100  # of one strategy
FAULT_NAME: Final = re.compile(r"[a-z]+-\d+-\d+-\d-\d+\.json")


class FaultFileError(MjbotError):
    """A file is no fault file; the text is one line for the user."""


class FaultFile(msgspec.Struct, frozen=True, kw_only=True):
    """One decision: the game it came up in, and the table's record (base64) when it did.

    ``fatal`` has seat and number of earlier decisions of the game that were not even asked for,
    because they end or block the process.  ``check`` is a checksum of all the rest; files of
    before mjbot 0.4 have none.
    """

    strategy: str
    kind: FaultKind
    problem: str
    setup: Setup
    game_id: GameId
    seat: int
    decision: int
    fatal: tuple[tuple[int, int], ...] = ()
    trace: str = ""
    state: str = ""
    check: str = ""

    @property
    def spec(self) -> Spec:
        """The strategy."""
        return Spec.read(self.strategy)

    @property
    def can_be_repeated(self) -> bool:
        """Whether it is a decision of a strategy that plays in our own process."""
        return self.decision > 0 and not self.spec.is_external

    @property
    def state_bytes(self) -> bytes:
        """The record of :data:`mjbot.game.table.state.STATE`, empty at the start of a game."""
        return base64.b64decode(self.state)


def save_faults(folder: Path, setup: Setup, game_id: GameId, faults: tuple[Fault, ...]) -> None:
    """Write a file for each fault of a game that is kept whole, up to :data:`MOST_FILES`."""
    target = folder / FAULT_FOLDER
    for fault in faults:
        if not fault.state and fault.decision:
            continue
        target.mkdir(exist_ok=True)
        number = setup.seating.tables[game_id.seating][fault.seat]
        if len(_kept(folder, setup).get(number, ())) >= MOST_FILES:
            continue
        file = _file_of(setup, game_id, fault, faults)
        file = msgspec.structs.replace(file, check=_check_of(file))
        name = f"{fault.kind}-{game_id.wall}-{game_id.seating}-{fault.seat}-{fault.decision}.json"
        text = msgspec.json.format(msgspec.json.encode(file), indent=1)
        (target / name).write_bytes(text + b"\n")


def _check_of(file: FaultFile) -> str:
    return f"{zlib.crc32(msgspec.json.encode(msgspec.structs.replace(file, check=''))):08x}"


def _file_of(setup: Setup, game_id: GameId, fault: Fault, faults: tuple[Fault, ...]) -> FaultFile:
    strategy = setup.strategies[setup.seating.tables[game_id.seating][fault.seat]]
    earlier = [other for other in faults if other.is_fatal and other != fault]
    return FaultFile(
        strategy=strategy,
        kind=fault.kind,
        problem=fault.problem,
        setup=setup,
        game_id=game_id,
        seat=fault.seat,
        decision=fault.decision,
        fatal=tuple([(other.seat, other.decision) for other in earlier]),
        trace=fault.trace,
        state=base64.b64encode(fault.state).decode(),
    )


def fault_lines(folder: Path, setup: Setup, counts: Sequence[int]) -> list[str]:
    """Return a line for each strategy that had faults, ``counts`` by its number.

    It names the first that was kept whole, and how to see it.  Raises :class:`FaultFileError`.
    """
    kept = _kept(folder, setup)
    lines = []
    for number, count in enumerate(counts):
        if not count:
            continue
        were = "was" if count == 1 else "were"
        text = f"{plural(count, 'decision')} of {setup.strategies[number]} {were} replaced"
        lines.append(text + (_first_of(kept[number]) if number in kept else ""))
    return lines


def _first_of(paths: Sequence[Path]) -> str:
    """Report the first fault, if there is one that can be made again."""
    files = []
    for path in paths:
        with contextlib.suppress(FaultFileError):  # a damaged one: the next one shows it as well
            files.append((path, read_fault(path)))
    if not files:
        return f" ({paths[0]} is damaged)"
    path, file = next(((path, file) for path, file in files if file.can_be_repeated), files[0])
    how = f"mjbot arena --repro {path}" if file.can_be_repeated else str(path)
    return f" ({file.kind}: {file.problem}); see one: {how}"


def _kept(folder: Path, setup: Setup) -> dict[int, list[Path]]:
    """Return the files of each strategy, by its number, in the order of the games."""
    kept: dict[int, list[tuple[tuple[int, ...], Path]]] = {}
    for path in (folder / FAULT_FOLDER).glob("*.json"):
        if not FAULT_NAME.fullmatch(path.name):
            continue
        decision = tuple([int(word) for word in path.stem.split("-")[1:]])
        _, seating, seat, _ = decision
        tables = setup.seating.tables
        if seating >= len(tables) or seat >= len(tables[seating]):
            continue  # of no game of this run
        kept.setdefault(tables[seating][seat], []).append((decision, path))
    return {number: [path for _, path in sorted(files)] for number, files in kept.items()}


def read_fault(path: Path) -> FaultFile:
    """Return what a file keeps.  Raises :class:`FaultFileError`."""
    try:
        file = msgspec.json.decode(path.read_bytes(), type=FaultFile)
    except OSError as error:
        problem = f"{path}: {error.strerror or error}"
        raise FaultFileError(problem, exit_code=ExitCode.UNREACHABLE) from None
    except NOT_JSON as error:
        raise FaultFileError(f"{path} is not a fault that mjbot arena kept: {error}") from None
    if file.check and file.check != _check_of(file):
        problem = "is not as it was written (its checksum differs); look at another decision"
        raise FaultFileError(f"{path} {problem}")
    return file
