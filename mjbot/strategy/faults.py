"""What a strategy does wrong, and one line about it, fit for a log, a table and a message."""

import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeGuard, get_args

from mjbot.game.table.actions import ACTIONS, N_ACTIONS, Action
from mjbot.protocol.plain_text import one_line
from mjbot.runtime.errors import MjbotError

FaultKind = Literal["late", "crash", "illegal", "absent"]
"""A decision took too long, failed, was not allowed, or its player was absent."""
FAULT_KINDS: Final[tuple[FaultKind, ...]] = get_args(FaultKind)

NO_ANSWER: Final = object()
"""The choice of a strategy that was late or failed, which has been reported as such."""

MOST_LETTERS: Final = 300


class AbsentError(MjbotError):
    """A strategy raises it whose player, a person or another program, is not there."""


@dataclass(frozen=True)
class Fault:
    """A decision that had to be replaced by the default action, or a start that was missed.

    ``decision`` counts the seat's decisions of the game from 1; 0 is a start of the game or of a
    kyoku.  ``state`` is the table's record as the seat sees it, where it is kept.
    """

    kind: FaultKind
    seat: int
    decision: int
    problem: str
    trace: str = ""
    state: bytes = field(default=b"", repr=False)
    is_fatal: bool = False
    """Whether it ends or blocks the whole process."""


def error_summary(problem: BaseException, of: object = None) -> str:
    """Describe what went wrong, with file and line.

    ``of`` is the strategy that was called, or its class: where the call itself fails, since it
    takes other arguments, the last line that ran is ours and the mistake in the file of the class.

    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError as error:
    ...     error_summary(error).partition(" (")[0]
    'ZeroDivisionError: division by zero'
    """
    lines = str(problem).splitlines()
    text = type(problem).__name__ + (f": {_short(lines[0])}" if lines and lines[0].strip() else "")
    frames = traceback.extract_tb(problem.__traceback__)
    if isinstance(problem, SyntaxError) or not frames:
        return text
    file, line = _place(problem, frames, of)
    return f"{text} ({Path(file).name}, line {line})"


def _place(
    problem: BaseException, frames: traceback.StackSummary, of: object
) -> tuple[str, int | None]:
    """Return the last line that ran, or where the class begins of which no line ran."""
    last = frames[-1].filename, frames[-1].lineno
    cls = of if isinstance(of, type) else type(of)
    try:
        file, line = inspect.getfile(cls), inspect.getsourcelines(cls)[1]
    except (OSError, TypeError):  # no class of a file
        return last
    is_called_wrongly = (
        isinstance(problem, TypeError)
        and Path(last[0]).is_relative_to(Path(__file__).parents[1])
        and all(frame.filename != file for frame in frames)
    )
    return (file, line) if is_called_wrongly else last


def no_choice(choice: object) -> str:
    """Describe a choice that is no legal action now, or no action at all.

    >>> no_choice(None), no_choice("discard\\n5m")
    ('it may not choose None', "it may not choose 'discard\\\\n5m'")
    """
    chosen = str(choice) if isinstance(choice, Action) else _short(repr(choice))
    return f"it may not choose {chosen}"


def accepted(choice: object, codes: bytes, report: Callable[[str], None]) -> Action | None:
    """Return a strategy's choice if it is among the legal ``codes``.

    Else it is a fault, and the table's default action is played, or that of a fallback strategy:
    ``report`` receives what is wrong with an illegal choice, and ``None`` is returned.
    """
    if is_legal(choice, codes):
        return choice
    if choice is not NO_ANSWER:
        report(no_choice(choice))
    return None


def is_legal(choice: object, codes: bytes) -> TypeGuard[Action]:
    """Whether a strategy may choose this, where ``codes`` are the legal ones; of any type.

    >>> is_legal(ACTIONS[3], bytes([3, 40])), is_legal(ACTIONS[4], bytes([3, 40]))
    (True, False)
    >>> is_legal(3, bytes([3])), is_legal(Action(3, "tsumo"), bytes([3]))
    (False, False)
    """
    if type(choice) is not Action or type(choice.code) is not int:
        return False
    code = choice.code
    if not 0 <= code < N_ACTIONS or code not in codes:
        return False
    return choice is ACTIONS[code] or choice == ACTIONS[code]


def _short(text: str) -> str:
    return one_line(text, MOST_LETTERS)
