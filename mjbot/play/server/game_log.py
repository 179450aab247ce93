"""The server's record of a game: unmasked events, one per line, written as they happen."""

import tempfile
from pathlib import Path
from typing import Final, Self

import msgspec

from mjbot.game.records.evidence import Reply, evidence_path
from mjbot.play.server.core import LogLine
from mjbot.protocol.codec import encode
from mjbot.protocol.dialects import OWN_LOG
from mjbot.protocol.messages import StartGame
from mjbot.protocol.rules import RANKED, announced_players
from mjbot.protocol.seats import seated
from mjbot.runtime.clock import local_time
from mjbot.runtime.files import append_lines, naming


def require_writable(folder: Path) -> None:
    """Make the folder if need be; raises ``OSError`` if no file can be written there."""
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


PROBE_BYTES: Final = 1 << 16
"""Room that a folder must have for further records; a game of ours takes about as much."""


def require_room(folder: Path) -> None:
    """Raise ``OSError`` if a folder does not take the record of a game."""
    require_writable(folder)
    with naming(folder), tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(PROBE_BYTES))
        file.flush()


class GameLog:
    """An open ``.mjson`` file in the original server's format.

    Every line gains ``logs``, what each seat remarked (``null``: nothing); our ``start_kyoku``
    also has the scores.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._players = RANKED.players
        self._file = path.open("xb", buffering=0)

    @classmethod
    def create(cls, folder: Path) -> Self:
        """Open a file of its own, named after the time; raises ``OSError``."""
        with naming(folder):
            folder.mkdir(parents=True, exist_ok=True)
        moment = local_time().strftime("%Y-%m-%d-%H%M%S")
        number = 1
        while True:
            suffix = f"-{number}" if number > 1 else ""
            try:
                return cls(folder / f"{moment}{suffix}.mjson")
            except FileExistsError:
                number += 1

    def write(self, lines: list[LogLine]) -> None:
        """Append the lines, which the system has when this returns; raises ``OSError``."""
        append_lines(self._file, self.path, b"".join(map(self._encoded, lines)))

    def _encoded(self, line: LogLine) -> bytes:
        if isinstance(line.event, StartGame):
            self._players = announced_players(line.event.mjbot_rules)
        event = seated(line.event, self._players)
        return encode(event, OWN_LOG, {"logs": list(line.logs)}) + b"\n"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class EvidenceLog:
    """The raw replies of a game, next to its log; see :mod:`mjbot.game.records.evidence`."""

    def __init__(self, log: Path) -> None:
        self.path = evidence_path(log)
        self._file = self.path.open("xb", buffering=0)

    def write(self, replies: list[Reply]) -> None:
        """Append replies, which the system has when this returns; raises ``OSError``."""
        append_lines(self._file, self.path, msgspec.json.Encoder().encode_lines(replies))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
