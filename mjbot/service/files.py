"""What a bot's service keeps of its games: a log each, and every frame of the connection.

``DATE-TIME-N.mjson`` is a game as the seat sees it, ``DATE-TIME-N.frames.jsonl`` the frames of its
connection: time (seconds since the epoch), direction (``<`` received, ``>`` sent), text.  The
oldest games are removed beyond a number of games or megabytes.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from io import FileIO
from pathlib import Path
from typing import Final

from mjbot.records.game import Talk
from mjbot.records.mjai_log import EventLog
from mjbot.text import naming, write_all
from protocol.messages import Event, StartGame
from protocol.transports.base import Transport

LOG: Final = ".mjson"
FRAMES: Final = ".frames.jsonl"


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """What is kept in ``folder``, and how much: 0 means without a limit."""

    folder: Path | None = None
    evidence: bool = False
    most_games: int = 0
    most_mb: int = 0


class GameFiles:
    """The files of one connection; ``clock`` returns seconds since the epoch."""

    def __init__(self, keeping: Keeping, lane: int, clock: Callable[[], float]) -> None:
        self._keeping: Final = keeping
        self._clock: Final = clock
        self._lane: Final = lane
        self._log: EventLog | None = None
        self._frames: FileIO | None = None
        self._stem: Path | None = None
        self.has_begun = False

    def keep(self, event: Event, talk: Talk) -> None:
        """Write an event; raises ``OSError``."""
        if isinstance(event, StartGame):
            self.has_begun = True
            stem = self._named()
            if stem is not None and self._log is None:
                self._log = EventLog(Path(f"{stem}{LOG}"))
        if self._log is not None:
            self._log.write(event, talk)

    def frame(self, direction: str, line: bytes) -> None:
        """Write a frame, if evidence is kept; raises ``OSError``."""
        stem = self._named() if self._keeping.evidence else None
        if stem is None:
            return
        path = Path(f"{stem}{FRAMES}")
        if self._frames is None:
            with naming(path):
                self._frames = path.open("xb", buffering=0)
        text = line.decode("utf-8", "backslashreplace")
        entry = json.dumps([round(self._clock(), 3), direction, text], ensure_ascii=False)
        write_all(self._frames, path, entry.encode("utf-8", "backslashreplace") + b"\n")

    def close(self, *, keep_frames: bool) -> None:
        """Close the files; frames of a connection without a game only stay if they explain it."""
        if self._log is not None:
            self._log.close()
        if self._frames is not None:
            self._frames.close()
            if not self.has_begun and not keep_frames:
                with suppress(OSError):
                    Path(f"{self._stem}{FRAMES}").unlink()
        self._prune()

    def _named(self) -> Path | None:
        """Return the path of this connection's files without their endings."""
        folder = self._keeping.folder
        if self._stem is None and folder is not None:
            with naming(folder):
                folder.mkdir(parents=True, exist_ok=True)
            moment = datetime.fromtimestamp(self._clock()).strftime("%Y-%m-%d-%H%M%S")
            number = 1
            while any(
                (folder / f"{moment}-{self._lane + 1}.{number}{ending}").exists()
                for ending in (LOG, FRAMES)
            ):
                number += 1
            self._stem = folder / f"{moment}-{self._lane + 1}.{number}"
        return self._stem

    def _prune(self) -> None:
        """Remove the oldest games beyond the limits."""
        folder = self._keeping.folder
        if folder is None or not folder.is_dir():
            return
        games: dict[str, int] = {}
        for path in folder.iterdir():
            for ending in (LOG, FRAMES):
                if path.name.endswith(ending):
                    stem = path.name.removesuffix(ending)
                    games[stem] = games.get(stem, 0) + path.stat().st_size
        total = sum(games.values())
        most_games, most = self._keeping.most_games, self._keeping.most_mb * 1_000_000
        for count, stem in enumerate(sorted(games)):
            is_over = (most_games and len(games) - count > most_games) or (most and total > most)
            if not is_over or count == len(games) - 1:
                return
            total -= games[stem]
            for ending in (LOG, FRAMES):
                (folder / f"{stem}{ending}").unlink(missing_ok=True)


class RecordedTransport(Transport):
    """A connection whose frames are kept; ``record`` takes ``<`` or ``>`` and the frame."""

    def __init__(self, transport: Transport, record: Callable[[str, bytes], None]) -> None:
        self._transport: Final = transport
        self._record: Final = record

    async def receive(self, timeout_s: float | None = None) -> bytes:
        """See :meth:`Transport.receive`."""
        line = await self._transport.receive(timeout_s)
        self._record("<", line)
        return line

    async def send(self, line: bytes) -> None:
        """See :meth:`Transport.send`."""
        self._record(">", line)
        await self._transport.send(line)

    async def close(self) -> None:
        """See :meth:`Transport.close`."""
        await self._transport.close()

    async def reset(self) -> None:
        """See :meth:`Transport.reset`."""
        await self._transport.reset()
