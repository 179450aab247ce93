"""``python -m proof.fuzzing.child``: one subject in a process of its own, which the fuzzer ends.

Started by ``python -m proof fuzz``.  Only the modules of a subject get the fuzzer's marks, and of
them none that is compiled: numba cannot compile the marks.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any, Final, NoReturn

ROOT: Final = Path(__file__).parents[2]
COMPILED: Final = "mjbot.protocol.tiles"
"""The only one of the subjects' modules that compiled code calls."""
MOST_S: Final = 20.0
"""Processor time for one input."""
HANGS_S: Final = 900
"""On the clock: for what does not come back to Python, or waits; starved machines are slow."""
MOST_MB: Final = 900


def main() -> None:
    """Fuzz until the processor time is used up, or something is found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("subject")
    parser.add_argument("--rooms", nargs="+", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--found", type=Path, required=True)
    args = parser.parse_args()
    import atheris

    with atheris.instrument_imports(include=["mjbot"], exclude=unmarked(args.rooms)):
        from proof.fuzzing import subjects
    subject = subjects.SUBJECTS[args.subject]
    subjects.quiet()
    dictionary = args.folder.with_suffix(".words")
    dictionary.write_text(_dictionary(subject.dictionary), encoding="ascii")
    subject.read(b"")  # what is slow the first time
    flags = [
        f"-max_len={subjects.MOST_BYTES}", f"-timeout={HANGS_S}", f"-rss_limit_mb={MOST_MB}",
        f"-artifact_prefix={args.found}/{subject.name}-", f"-dict={dictionary}",
        str(args.folder),
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *flags], _limited(subject.read, args.seconds),
                  custom_mutator=_mutator(atheris))  # fmt: skip
    atheris.Fuzz()


def unmarked(rooms: Iterable[str]) -> list[str]:
    """Return our modules that are not in these rooms, or that numba compiles."""
    folders = ("mjbot", "mjbot/protocol", "mjbot/strategies")  # the latter are links
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    names = [module.removesuffix(".__init__") for module in modules]
    marked = tuple(rooms)
    return [name for name in names if name == COMPILED or not f"{name}.".startswith(marked)]


def _limited(read: Callable[[bytes], None], seconds: float) -> Callable[[bytes], None]:
    """Return a reader that ends the process when its processor time is used up.

    It raises ``TimeoutError`` where one input takes more than :data:`MOST_S`.
    """
    runs = 0
    started = time.process_time()
    signal.signal(signal.SIGPROF, _too_slow)

    def limited(data: bytes) -> None:
        nonlocal runs
        signal.setitimer(signal.ITIMER_PROF, MOST_S)
        read(data)
        signal.setitimer(signal.ITIMER_PROF, 0)
        runs += 1
        if (spent := time.process_time() - started) > seconds:
            print(f"{runs} inputs in {spent:.0f} s of processor time, nothing found", flush=True)
            os._exit(0)

    return limited


def _too_slow(*_: object) -> NoReturn:
    raise TimeoutError(f"an input takes more than {MOST_S:g} s of processor time")


def _mutator(atheris: Any) -> Callable[[bytes, int, int], bytes]:
    """Return a mutator that changes bytes as libFuzzer does, or values as we do."""
    from proof.fuzzing.mutating import mutated

    def change(data: bytes, max_size: int, seed: int) -> bytes:
        if seed % 2 or len(data) < 2:
            return bytes(atheris.Mutate(data, max_size))
        changed, _ = mutated(data, Random(seed), 2)
        return changed[:max_size]

    return change


def _dictionary(tokens: Iterable[bytes]) -> str:
    """Return the lines of a dictionary of libFuzzer."""
    quoted = ["".join(f"\\x{byte:02x}" for byte in token) for token in tokens if len(token) <= 60]
    return "".join(f'"{token}"\n' for token in quoted)


if __name__ == "__main__":
    main()
