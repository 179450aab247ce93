"""What a bot's service keeps of its games: a log each, and every frame of the connection.

``DATE-TIME-N.mjson`` is a game as the seat sees it, ``DATE-TIME-N.frames.jsonl`` the frames of its
connection: time (seconds since the epoch), direction (``<`` received, ``>`` sent), text.  A file
that cannot be written, as on a full disk, is logged with its path, and the game goes on without.
"""

import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from io import FileIO
from pathlib import Path
from typing import Final

from mjbot.game.records.game import Talk
from mjbot.game.records.mjai_log import log_line
from mjbot.play.kept_games import KeptGames, Limits
from mjbot.protocol.messages import Event, StartGame
from mjbot.protocol.rules import RANKED
from mjbot.protocol.seats import players_after
from mjbot.protocol.transports.base import Transport
from mjbot.runtime.errors import error_report
from mjbot.runtime.files import append_lines, naming
from mjbot.runtime.redaction import redacted

logger = logging.getLogger(__name__)

LOG: Final = ".mjson"
FRAMES: Final = ".frames.jsonl"


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """What is kept in ``folder``, and how much; ``owner`` identifies the service there."""

    folder: Path | None = None
    owner: str = ""
    evidence: bool = False
    limits: Limits = Limits()


class Keeper:
    """The kept games of a service, by folder: a new profile may name another."""

    def __init__(self) -> None:
        self._folders: Final[dict[Path, KeptGames]] = {}

    def games(self, keeping: Keeping) -> KeptGames | None:
        """Return the kept games of a folder, from now on within its limits."""
        if keeping.folder is None:
            return None
        kept = self._folders.get(keeping.folder)
        if kept is None:
            kept = self._folders[keeping.folder] = KeptGames(keeping.folder, keeping.owner)
        kept.limits = keeping.limits
        return kept

    def close(self) -> None:
        """Close the ledgers."""
        for kept in self._folders.values():
            kept.close()


class GameFiles:
    """The files of one connection; ``clock`` returns seconds since the epoch.

    ``kept`` lists them; without it nothing is written.
    """

    def __init__(
        self,
        kept: KeptGames | None,
        lane: int,
        clock: Callable[[], float],
        *,
        evidence: bool = False,
    ) -> None:
        self._kept: Final = kept
        self._game: Final = None if kept is None else kept.begin()
        self._lane: Final = lane
        self._clock: Final = clock
        self._evidence: Final = evidence
        self._files: Final[dict[str, tuple[Path, FileIO]]] = {}
        self._lost: Final[set[str]] = set()
        self._stem = ""
        self._players = RANKED.players
        self.has_begun = False

    def keep(self, event: Event, talk: Talk) -> None:
        """Write an event of the game."""
        self.has_begun |= isinstance(event, StartGame)
        self._players = players_after(event, self._players)
        if self.has_begun:
            self._write(LOG, log_line(event, talk, self._players))

    def frame(self, direction: str, line: bytes) -> None:
        """Write a frame, if evidence is kept."""
        if self._evidence:
            text = redacted(line.decode("utf-8", "backslashreplace"))
            entry = json.dumps([round(self._clock(), 3), direction, text], ensure_ascii=False)
            self._write(FRAMES, entry.encode("utf-8", "backslashreplace") + b"\n")

    def close(self, *, keep_frames: bool) -> None:
        """Close the files; frames of a connection without a game only stay if they explain it."""
        for path, file in self._files.values():
            with suppress(OSError):
                file.close()
                if not self.has_begun and not keep_frames:
                    path.unlink()
        if self._kept is not None and self._game is not None:
            self._kept.finish(self._game)

    def _write(self, ending: str, data: bytes) -> None:
        """Append to a file; one that cannot be written ends with its last whole line."""
        if self._kept is None or self._game is None or ending in self._lost:
            return
        try:
            if ending not in self._files:
                self._files[ending] = self._created(self._kept.folder, ending)
                self._kept.add(self._game, self._files[ending][0], is_record=ending == LOG)
            path, file = self._files[ending]
            append_lines(file, path, data)
        except OSError as error:
            self._lost.add(ending)
            logger.error("%s; the game goes on, this file of it ends here", error_report(error)[0])

    def _created(self, folder: Path, ending: str) -> tuple[Path, FileIO]:
        """Create a file that no other service has; raises ``OSError``."""
        with naming(folder):
            folder.mkdir(parents=True, exist_ok=True)
        while True:
            self._stem = self._stem or self._free_stem(folder)
            path = folder / f"{self._stem}{ending}"
            try:
                with naming(path):
                    return path, path.open("xb", buffering=0)
            except FileExistsError:  # another service has just taken that name
                self._stem = ""

    def _free_stem(self, folder: Path) -> str:
        """Return the name of this connection's files without their endings."""
        moment = datetime.fromtimestamp(self._clock()).strftime("%Y-%m-%d-%H%M%S")
        number = 1
        while any(
            os.path.lexists(folder / f"{moment}-{self._lane + 1}.{number}{ending}")
            for ending in (LOG, FRAMES)
        ):
            number += 1
        return f"{moment}-{self._lane + 1}.{number}"


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
