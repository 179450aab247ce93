"""The protocol of a run: what was fixed before its first wall, and where the run deviates from it.

The test of a hypothesis is worth its error rate only if the players, the walls, their number or the
sequential bounds, the looks and the exclusions do not depend on what the games show.  The file that
fixes them is kept in the run's folder with its digest; a run that deviates is *exploratory*.
"""

import datetime
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from mjbot.protocol.errors import NOT_JSON
from mjbot.runtime.errors import MjbotError
from mjbot.runtime.files import naming, plural, write_text

PROTOCOL_FILE: Final = "protocol.json"


class FixedProtocol(msgspec.Struct, frozen=True, kw_only=True):
    """A protocol as the run's folder keeps it.

    ``digest`` is the SHA-256 of the file, ``fixed`` the time in UTC at which the run took it, and
    ``games_before`` counts the games that it had played by then.
    """

    digest: str
    fixed: str
    games_before: int
    text: str


@dataclass(frozen=True, kw_only=True)
class ProtocolCheck:
    """What a report shows of a protocol: it, and in which points the run deviates."""

    protocol: FixedProtocol
    deviations: tuple[str, ...]

    def __str__(self) -> str:
        fixed = f"protocol {self.protocol.digest[:12]}, fixed {self.protocol.fixed}"
        if not self.deviations:
            return f"{fixed}, before the first game: followed"
        return f"EXPLORATORY, no result of {fixed}: {'; '.join(self.deviations)}"


def kept_protocol(folder: Path) -> FixedProtocol | None:
    """Return the protocol that a run's folder keeps.  Raises ``MjbotError`` if it is damaged."""
    path = folder / PROTOCOL_FILE
    if not path.exists():
        return None
    try:
        with naming(path):
            kept = msgspec.json.decode(path.read_bytes(), type=FixedProtocol)
    except NOT_JSON as error:
        raise _damaged(path, str(error)) from None
    if digest_of(kept.text) != kept.digest:
        raise _damaged(path, "its text has another digest")
    return kept


def _damaged(path: Path, problem: str) -> MjbotError:
    cure = "delete it, which leaves the run without a protocol, or use --fresh"
    return MjbotError(f"{path} is damaged ({problem}); {cure}")


def fix_protocol(folder: Path, text: str, games: int) -> FixedProtocol:
    """Return the protocol that the run keeps; a run that has none takes ``text`` from now on.

    ``games`` counts those that the run has played.  Raises ``OSError`` and ``MjbotError``.
    """
    if (kept := kept_protocol(folder)) is not None:
        return kept
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    fixed = FixedProtocol(digest=digest_of(text), fixed=now, games_before=games, text=text)
    write_text(folder / PROTOCOL_FILE, msgspec.json.encode(fixed).decode())
    return fixed


def digest_of(text: str) -> str:
    """Return the SHA-256 of a protocol's file, as ``sha256sum`` prints it."""
    return hashlib.sha256(text.encode()).hexdigest()


def deviations_of(protocol: FixedProtocol, text: str | None) -> list[str]:
    """Return how the file given now (``None``: none) and the games before it deviate."""
    deviations = []
    if protocol.games_before:
        deviations.append(f"{plural(protocol.games_before, 'game')} had been played before it")
    if text is None:
        deviations.append("resumed without --protocol")
    elif (digest := digest_of(text)) != protocol.digest:
        deviations.append(f"the file is another one now ({digest[:12]})")
    return deviations


def look_deviations(games: int, planned: int, looks: Sequence[int]) -> list[str]:
    """Return whether figures after so many ``games`` are a look that was not planned."""
    if games in (planned, *looks):
        return []
    stated = ", ".join([f"{look:,}" for look in (*looks, planned)])
    return [f"a look after {games:,} games (planned: {stated})"]
