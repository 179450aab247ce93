"""The raw replies of players, next to a game's log, each with its time and its verdict.

The file of ``GAME.mjson`` is ``GAME.evidence.jsonl``, a line for each reply, or for one that was
due and did not come.  Its lines have no ``type``, so that no reader takes it for a log.
"""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import msgspec

from mjbot.game.records.game import RecordError
from mjbot.protocol.errors import NOT_JSON

Verdict = Literal["accepted", "replaced", "refused"]

MOST_KEPT: Final = 4096
"""Letters of a reply that are kept; a real one has some 100."""
ENDING: Final = ".evidence.jsonl"


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One reply.

    ``line`` is the line of the log that it answers, from 1; ``at`` is when it was judged, UTC in
    ISO 8601; ``took_ms`` how long the seat took.  ``raw`` is the reply, bytes that are no UTF-8 as
    ``\\xff``, ``None`` without a reply; of ``bytes`` bytes the first :data:`MOST_KEPT` letters.
    """

    line: int
    seat: int
    at: str
    took_ms: float
    raw: str | None
    bytes: int
    verdict: Verdict
    why: str = ""


_decoder: Final = msgspec.json.Decoder(Reply)


def evidence_path(log: Path) -> Path:
    """Return where the evidence of a game's log lies."""
    return log.with_name(log.name.removesuffix(".mjson") + ENDING)


def make_reply(
    line: int, seat: int, took_s: float, raw: bytes | None, judged: tuple[Verdict, str]
) -> Reply:
    """Return the evidence of what was just judged."""
    text = None if raw is None else raw.decode("utf-8", "backslashreplace")[:MOST_KEPT]
    return Reply(
        line=line,
        seat=seat,
        at=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        took_ms=round(1000 * took_s, 3),
        raw=text,
        bytes=len(raw or b""),
        verdict=judged[0],
        why=judged[1],
    )


def read_evidence(path: Path) -> Iterator[Reply]:
    """Yield the replies in a file; a last line that was cut off is left out.

    Raises :class:`RecordError` at any other line that is none, and ``OSError``.
    """
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield _decoder.decode(line)
            except NOT_JSON as error:
                if not line.endswith(b"\n"):
                    return
                raise RecordError(str(path), f"line {number}", f"no reply: {error}") from None
