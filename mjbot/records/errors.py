"""What is wrong with a record, and where."""

from dataclasses import dataclass


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
    """A file without a byte: a game that never began.  Nothing is damaged; there is no game."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "", "is empty: no game")
