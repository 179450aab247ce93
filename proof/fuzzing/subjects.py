"""What is fuzzed: one table of readers, what each takes, and the inputs that it begins with.

A subject raises nothing for any input: what may be refused it has caught, by the class that is
documented; an exception that leaves it is a finding, and so are a hang and memory without bound.
"""

import base64
import json
import logging
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

from proof.fuzzing import channel, files, seeds, wire

MOST_BYTES: Final = 8192
"""Of an input: a kyoku of mjai lines has some 5,000."""
KEPT: Final = seeds.ROOT / "tests" / "proof" / "corpus"
"""Of each subject the few inputs that stay as tests, one a line, as text where it is text."""
_PACKAGE: Final = str(seeds.ROOT / "mjbot")
_WORD: Final = re.compile(rb'"[^"\\\n]{1,24}"')
_TOKENS: Final = (
    b"-1", b"0", b"4", b"136", b"255", b"65536", b"2147483648", b"1e999", b"9" * 40, b"null",
    b"true", b"[]", b"{}", b'"?"', files.SEPARATOR,
)  # fmt: skip


@dataclass(frozen=True)
class Subject:
    """A reader of untrusted input.

    ``read`` takes an input, ``made`` returns those of our own, and ``rooms`` are the prefixes of
    the modules whose coverage guides the fuzzer.
    """

    name: str
    summary: str
    read: Callable[[bytes], None]
    made: Callable[[], list[bytes]]
    rooms: tuple[str, ...] = ("mjbot.game.records.", "protocol.")

    @property
    def seeds(self) -> list[bytes]:
        """The inputs to begin with, none too long."""
        return [data for data in self.made() if len(data) <= MOST_BYTES]

    @property
    def dictionary(self) -> list[bytes]:
        """Tokens that a fuzzer may insert: the quoted strings of the seeds, and numbers."""
        words = {word for data in self.seeds for word in _WORD.findall(data)}
        return [*sorted(words)[:400], *_TOKENS]

    @property
    def kept(self) -> list[bytes]:
        """The inputs that are kept as tests."""
        path = KEPT / f"{self.name}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [_unpacked(json.loads(line)) for line in lines]


def _chosen(check: Callable[[int, bytes], None]) -> Callable[[bytes], None]:
    """Return a reader of inputs whose first byte is a choice of what is done with the others."""
    return lambda data: check(data[0], data[1:]) if data else check(0, b"")


def _record(name: str, summary: str) -> Subject:
    return Subject(name, summary, partial(files.check_record, name), partial(seeds.encoded, name))


SUBJECTS: Final = {
    one.name: one
    for one in (
        Subject("codec", "mjai lines in each dialect, and their sessions",
                _chosen(wire.check_codec), seeds.mjai_lines, ("protocol.",)),
        Subject("tenhou", "Tenhou's tags in both spellings, calls, sessions",
                _chosen(wire.check_tenhou), seeds.tenhou_tags, ("protocol.",)),
        _record("mjai", "records of mjai lines"),
        _record("mjlog", "records in Tenhou's XML"),
        _record("tenhou6", "records in tenhou.net/6 JSON"),
        Subject("packed", "files of records, packed and damaged; evidence",
                _chosen(files.check_packed), seeds.packed_files),
        Subject("weights", "weights, manifests, columns, lists of runs",
                _chosen(files.check_weights), seeds.weight_files,
                ("mjbot.learning.models.weights.", "mjbot.runtime.append_log.",
                 "mjbot.learning.training.runs.")),
        Subject("channel", "the messages of a pair",
                _chosen(channel.check_channel), seeds.pair_lines,
                ("mjbot.strategy.pair.", "protocol.")),
    )
}  # fmt: skip
"""By name."""


def quiet() -> None:
    """Switch off what is logged, and warned of, where input is broken."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")


# --- the few inputs that reach everything ----------------------------------------------------


def keep(subject: Subject, inputs: Iterable[bytes]) -> Path:
    """Write the inputs that are kept as tests; return where."""
    path = KEPT / f"{subject.name}.jsonl"
    lines = [json.dumps(_packed(data)) for data in sorted(inputs, key=lambda one: (len(one), one))]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _packed(data: bytes) -> dict[str, str]:
    if data.isascii():
        return {"text": data.decode("ascii")}
    return {"base64": base64.b64encode(data).decode()}


def _unpacked(line: dict[str, str]) -> bytes:
    return line["text"].encode("ascii") if "text" in line else base64.b64decode(line["base64"])


def minimised(
    subject: Subject, kept: Iterable[bytes], inputs: Iterable[bytes], most: int
) -> list[bytes]:
    """Return what is kept, and of the inputs those that go ways that none before them goes.

    None that is added is longer than ``most`` bytes.
    """
    few = [*dict.fromkeys(kept)]
    seen: set[Any] = set().union(*[ways(subject, data) for data in few])
    for data in inputs:
        if len(data) <= most and (new := ways(subject, data) - seen):
            seen |= new
            few.append(data)
    return few


def ways(subject: Subject, data: bytes) -> set[Any]:
    """Return the steps from one line to the next in the same function that an input makes."""
    steps: set[Any] = set()

    def on_call(frame: FrameType, event: str, argument: object) -> Any:
        last = 0

        def on_line(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal last
            if event == "line":
                steps.add((frame.f_code, last, frame.f_lineno))
                last = frame.f_lineno
            return on_line

        return on_line if frame.f_code.co_filename.startswith(_PACKAGE) else None

    sys.settrace(on_call)
    try:
        subject.read(data)
    finally:
        sys.settrace(None)
    return steps
