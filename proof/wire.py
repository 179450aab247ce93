"""Recorded client sessions of Tenhou's old XML wire, as events with absolute seats.

The wire counts seats from the receiver and hides the others' tiles; otherwise its tags are the
record's.  What the server offers (attribute ``t``) and the furiten lamp stay with the tag.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from mjbot.records.mjlog import TagReader
from mjbot.records.mjlog_tags import Tag
from protocol.messages import Dahai, Event, Ryukyoku, Tsumo

_TAG: Final = re.compile(r"<(\w+)((?: \w+=\"[^\"]*\")*) ?/>")
_ATTRIBUTE: Final = re.compile(r"(\w+)=\"([^\"]*)\"")
_TURN: Final = re.compile(r"([TUVWDEFGdefg])(\d*)$")
_SEATS: Final = ("who", "fromWho", "paoWho", "oya")
_LETTERS: Final = ("TUVW", "DEFG", "defg")


def received_tags(session: str) -> Iterator[Tag]:
    """Yield what the server said, numbered by line."""
    for number, line in enumerate(session.splitlines(), 1):
        if line.startswith("Get:"):
            for name, attributes in _TAG.findall(line):
                yield Tag(name, dict(_ATTRIBUTE.findall(attributes)), number)


def own_seat(init: Tag) -> int:
    """Return the receiver's absolute seat from an INIT tag."""
    return (init.integers("seed")[0] - init.integer("oya")) % 4


def absolute(tag: Tag, own: int) -> Tag:
    """Return the tag as a record would print it, seats counted from the first dealer."""
    told = dict(tag.attributes)
    for name in _SEATS:
        if name in told:
            told[name] = str((int(told[name]) + own) % 4)
    for name, width in (("sc", 2), ("owari", 2), ("ten", 1)):
        if name in told and not (name == "ten" and tag.name == "AGARI"):
            told[name] = _turned(told[name], width, own)
    hands = {name: told.pop(name) for name in [*told] if re.fullmatch(r"hai[0-3]", name)}
    told |= {f"hai{(int(name[3]) + own) % 4}": hand for name, hand in hands.items()}
    if tag.name == "INIT":
        told[f"hai{own}"] = told.pop("hai")
    return Tag(_turned_name(tag.name, own), told, tag.number)


def _turned(text: str, width: int, own: int) -> str:
    parts = text.split(",")
    groups = [parts[start : start + width] for start in range(0, len(parts), width)]
    return ",".join(part for seat in range(4) for part in groups[(seat - own) % 4])


def _turned_name(name: str, own: int) -> str:
    if not (turn := _TURN.match(name)):
        return name
    (letters,) = (letters for letters in _LETTERS if turn[1] in letters)
    return letters[(letters.index(turn[1]) + own) % 4] + turn[2]


class WireReader(TagReader):
    """Reads absolute tags of a session: three hands and their draws are hidden."""

    def __init__(self) -> None:
        super().__init__()
        self._own = -1

    def read(self, tag: Tag) -> tuple[Event, ...]:
        """Return the events of a tag; a draw without a tile is somebody else's."""
        if tag.name in ("T", "U", "V", "W"):
            seat = "TUVW".index(tag.name)
            self.drawn = (seat, -1)
            return (Tsumo(actor=seat, pai="?"),)
        events = super().read(tag)
        return tuple(self._mended(e) if isinstance(e, Ryukyoku) else e for e in events)

    def _mended(self, event: Ryukyoku) -> Ryukyoku:
        """The server often leaves out the receiver's own tenpai hand; the payments tell it."""
        if event.reason != "fanpai" or event.tenpais is None or event.deltas is None:
            return msgspec.structs.replace(event, tenpais=None)
        tenpais = list(event.tenpais)
        tenpais[self._own] = event.deltas[self._own] > 0 or (
            not any(event.deltas) and sum(event.tenpais) >= 3
        )
        return msgspec.structs.replace(event, tenpais=tuple(tenpais))

    def read_turn(self, tag: Tag) -> Event:
        """Read a turn; of others lower case says that the drawn tile was discarded."""
        event = super().read_turn(tag)
        if isinstance(event, Dahai) and tag.name[0].islower():
            return Dahai(actor=event.actor, pai=event.pai, tsumogiri=True)
        return event

    def dealt_hand(self, tag: Tag, seat: int) -> tuple[str, ...]:
        """Return the own thirteen tiles, or hidden ones."""
        if f"hai{seat}" not in tag.attributes:
            return ("?",) * 13
        self._own = seat
        return super().dealt_hand(tag, seat)
