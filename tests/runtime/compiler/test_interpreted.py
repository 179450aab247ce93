"""``NUMBA_DISABLE_JIT=1``: what is compiled elsewhere runs as Python, for debuggers."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from mjbot.runtime.compiler.interpreted import interpreted, widened

GAME = Path(__file__).with_name("interpreted_game.py")
GUARD_S = 1200


def report(**environ):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(GAME)],
        capture_output=True, text=True, timeout=GUARD_S, env={**os.environ, **environ}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_an_interpreted_game_is_the_compiled_one_and_warns_of_nothing():
    """Scores, all that the four were offered, and the table's last state, byte by byte."""
    assert report(NUMBA_DISABLE_JIT="0") == [
        "compiled",
        *(rest := report(NUMBA_DISABLE_JIT="1")[1:]),
    ]
    assert len(rest) == 1


def test_an_interpreted_function_computes_with_wide_numbers():
    record = np.zeros(1, np.dtype([("small", np.int8), ("row", np.int8, (3,))]))[0]

    @interpreted
    def add(counts, record, rate):
        counts[0] = 100
        record.small = counts[0]
        record.row[1] = record.small
        assert [type(x) for x in (*counts, record.row[1], rate)] == [int, int, int, float]
        total = sum(counts) + record.row[1] + counts[0]
        return total, np.uint64(1 << 63) * np.uint64(2)  # wraps without a word

    with np.errstate(all="raise"):
        assert add(np.zeros(2, np.int8), record, rate=np.float32(0.5)) == (300, 0)
    assert record["row"].tolist() == [0, 100, 0]


def test_numbers_that_only_wide_ones_may_become_stay():
    assert isinstance(widened(np.uint64(5)), np.uint64)
    assert type(widened(np.int16(5))) is int
