"""What is reported of the replies that a table replaced, or that voided a game."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from mjbot.play.server.core import TableFault
from mjbot.protocol.plain_text import one_line
from mjbot.runtime.files import plural

LONGEST_QUOTE: Final = 240
"""Letters of a player's or the table's text that are quoted."""


def fault_reason(fault: TableFault) -> str:
    """Return what was wrong, without the player."""
    if fault.kind == "absent":
        return "not connected"
    text = fault.text.removeprefix(f"Error in player {fault.seat}'s response: ")
    # An error that a player sends, or a timeout, is quoted twice.
    text_before = text.partition(' Response: {"type":"error"')[0].removesuffix(" Response: ")
    return one_line(text_before, LONGEST_QUOTE)


def fault_kinds(faults: Sequence[TableFault]) -> str:
    """Return the counts of a player's faults by kind in brackets; nothing if all are illegal.

    >>> fault_kinds([TableFault(1, "", "late"), TableFault(1, ""), TableFault(1, "", "late")])
    ' (2 late, 1 illegal)'
    """
    kinds = Counter([fault.kind for fault in faults])
    counts = ", ".join([f"{count} {kind}" for kind, count in kinds.items()])
    return f" ({counts})" if {*kinds} != {"illegal"} else ""


def fault_summary(faults: Sequence[TableFault]) -> str:
    """Count a player's faults and quote the first.

    >>> fault_summary([TableFault(1, "Timeout.", "late"), TableFault(1, "x", "absent")])
    '2 faults (1 late, 1 absent), first: Timeout.'
    """
    count = plural(len(faults), "fault")
    return f"{count}{fault_kinds(faults)}, first: {fault_reason(faults[0])}"


def fault_of_void(names: Sequence[str], faults: Sequence[TableFault]) -> str:
    """Return who made a game void, and how; ``faults`` are those of the game."""
    fault = faults[-1]
    name = one_line(names[fault.seat])
    return f"{name} (seat {fault.seat}), {fault.kind}: {fault_reason(fault)}"
