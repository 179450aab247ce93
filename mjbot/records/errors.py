"""What is wrong with a record, and where."""

from dataclasses import dataclass
from typing import Final

THREE_PLAYER_GAME: Final = "is a three-player game"


@dataclass
class RecordError(ValueError):
    """A record that cannot be read, named so that its owner finds the place.

    ``place`` is ``"line 12"`` of an mjai log, ``"tag 345"`` of an mjlog, or empty when the
    whole file is meant.
    """

    name: str
    place: str
    problem: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.name, self.place, self.problem) if part)


class EmptyRecordError(RecordError):
    """Nothing is damaged; there is no game: a file without a byte, or nothing but other files."""

    def __init__(self, name: str, problem: str = "is empty: no game") -> None:
        super().__init__(name, "", problem)


class ForeignRecordError(RecordError):
    """A file of a kind that is not read here; nothing says that it is damaged.

    ``kind`` is what it is, as the end of a sentence: ``"is a web page"``.
    """

    def __init__(self, name: str, kind: str) -> None:
        read = "mjbot reads four-player games as Tenhou's mjlog or as lines of mjai messages"
        super().__init__(name, "", f"{kind}; {read}")
