"""``python -m proof.fuzzing.child``: one target in a process of its own, which the fuzzer ends.

Started by ``python -m proof fuzz``.  Only the modules of a target get the fuzzer's marks, and of
them none that is compiled: numba cannot compile the marks.
"""

import argparse
import os
import signal
import sys
import time
from pathlib import Path
from random import Random
from typing import Any, Final, NoReturn

ROOT: Final = Path(__file__).parents[2]
_RECORDS: Final = ["mjbot.game.records.", "protocol."]
ROOMS: Final = {
    "codec": ["protocol."],
    "tenhou": ["protocol."],
    **dict.fromkeys(("mjai", "mjlog", "tenhou6", "packed"), _RECORDS),
    "weights": [
        "mjbot.learning.models.weights.",
        "mjbot.runtime.append_log.",
        "mjbot.learning.training.runs.",
    ],
    "channel": ["mjbot.strategy.pair.", "protocol."],
}
"""Where each target's coverage is measured, by prefixes of modules' names."""
COMPILED: Final = "protocol.tiles"
"""The only one there that compiled code calls."""
MOST_S: Final = 20.0
"""Processor time for one input."""
HANGS_S: Final = 900
"""On the clock: for what does not come back to Python, or waits; starved machines are slow."""
MOST_MB: Final = 900
DONE: Final = "fuzzed"


def main() -> None:
    """Fuzz until the processor time is used up, or something is found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--found", type=Path, required=True)
    args = parser.parse_args()
    import atheris

    with atheris.instrument_imports(include=["mjbot", "protocol"], exclude=unmarked(args.target)):
        from proof.fuzzing import seeds, targets
    target = targets.TARGETS[args.target]
    targets.quiet()
    dictionary = args.folder.with_suffix(".words")
    dictionary.write_text(_dictionary(seeds.dictionary(target.name)), encoding="ascii")
    target.check(b"")  # what is slow the first time
    flags = [
        f"-max_len={targets.MOST_BYTES}", f"-timeout={HANGS_S}", f"-rss_limit_mb={MOST_MB}",
        f"-artifact_prefix={args.found}/{target.name}-", f"-dict={dictionary}",
        str(args.folder),
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *flags], _limited(target.check, args.seconds),
                  custom_mutator=_mutator(atheris))  # fmt: skip
    atheris.Fuzz()


def unmarked(name: str) -> list[str]:
    """Return our modules that a target does not cover, or that numba compiles."""
    rooms = tuple(ROOMS[name])
    paths = [path for room in ("mjbot", "protocol") for path in (ROOT / room).rglob("*.py")]
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    names = [module.removesuffix(".__init__") for module in modules]
    return [name for name in names if name == COMPILED or not f"{name}.".startswith(rooms)]


def _limited(check: Any, seconds: float) -> Any:
    """Return a check that ends the process when its processor time is used up.

    It raises ``TimeoutError`` where one input takes more than :data:`MOST_S`.
    """
    runs = 0
    started = time.process_time()
    signal.signal(signal.SIGPROF, _too_slow)

    def limited(data: bytes) -> None:
        nonlocal runs
        signal.setitimer(signal.ITIMER_PROF, MOST_S)
        check(data)
        signal.setitimer(signal.ITIMER_PROF, 0)
        runs += 1
        if (spent := time.process_time() - started) > seconds:
            print(f"{DONE} {runs} {spent:.0f}", flush=True)
            os._exit(0)

    return limited


def _too_slow(*_: object) -> NoReturn:
    raise TimeoutError(f"an input takes more than {MOST_S:g} s of processor time")


def _mutator(atheris: Any) -> Any:
    """Return a mutator that changes bytes as libFuzzer does, or values as we do."""
    from proof.fuzzing.mutating import mutated

    def change(data: bytes, max_size: int, seed: int) -> bytes:
        if seed % 2 or len(data) < 2:
            return bytes(atheris.Mutate(data, max_size))
        changed, _ = mutated(data, Random(seed), 2)
        return changed[:max_size]

    return change


def _dictionary(dictionary: Any) -> str:
    def quoted(word: bytes) -> str:
        return "".join(
            chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02x}"
            for byte in word
        )

    return "".join(f'"{quoted(token)}"\n' for token in dictionary if 0 < len(token) <= 60)


if __name__ == "__main__":
    main()
