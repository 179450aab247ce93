"""Corpora: a folder of inputs while fuzzing, and of each target the few that stay as tests.

Those lie in ``tests/proof/corpus/TARGET.jsonl``, an input per line, as text where it is text.
"""

import base64
import contextlib
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from proof.fuzzing.targets import Target

ROOT: Final = Path(__file__).parents[2]
KEPT: Final = ROOT / "tests" / "proof" / "corpus"
_ROOMS: Final = tuple(str(ROOT / room) for room in ("mjbot", "protocol"))


def kept_inputs(name: str) -> list[bytes]:
    """Return the inputs of a target that are kept as tests."""
    path = KEPT / f"{name}.jsonl"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_unpacked(json.loads(line)) for line in lines]


def keep(name: str, inputs: Iterable[bytes]) -> Path:
    """Write the inputs that are kept as tests; return where."""
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"{name}.jsonl"
    lines = [json.dumps(_packed(data)) for data in sorted(inputs, key=lambda one: (len(one), one))]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _packed(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("ascii")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _unpacked(line: dict[str, str]) -> bytes:
    return line["text"].encode("ascii") if "text" in line else base64.b64decode(line["base64"])


# --- folders ---------------------------------------------------------------------------------


def inputs_in(folder: Path) -> Iterator[bytes]:
    """Yield the inputs in a folder, the short ones first."""
    inputs = []
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # a fuzzer at work replaces them
            inputs.append(path.read_bytes())
    yield from sorted(inputs, key=lambda data: (len(data), data))


def store(folder: Path, inputs: Iterable[bytes]) -> None:
    """Put inputs into a folder, named by what they are."""
    folder.mkdir(parents=True, exist_ok=True)
    for data in inputs:
        (folder / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)


# --- the few that reach everything -----------------------------------------------------------


def minimised(
    target: Target, kept: Iterable[bytes], inputs: Iterable[bytes], most: int
) -> list[bytes]:
    """Return what is kept, and of the inputs those that go ways that none before them goes.

    A way is a step from one line to the next in the same function.  None that is added is longer
    than ``most`` bytes.
    """
    few = [*dict.fromkeys(kept)]
    seen: set[Any] = set().union(*[_ways(target, data) for data in few])
    for data in inputs:
        if len(data) <= most and (ways := _ways(target, data)) - seen:
            seen |= ways
            few.append(data)
    return few


def _ways(target: Target, data: bytes) -> set[Any]:
    ways: set[Any] = set()
    ours: dict[CodeType, bool] = {}

    def on_call(frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        if code not in ours:
            ours[code] = code.co_filename.startswith(_ROOMS)
        if not ours[code]:
            return None
        last = 0

        def on_line(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal last
            if event == "line":
                ways.add((code, last, frame.f_lineno))
                last = frame.f_lineno
            return on_line

        return on_line

    sys.settrace(on_call)
    try:
        target.check(data)
    finally:
        sys.settrace(None)
    return ways
