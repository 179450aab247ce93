"""Where nothing is compiled, everything runs as Python, with the same results."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from mjbot.runtime.compiler import vectors
from mjbot.runtime.compiler.compiled import compiled
from mjbot.runtime.compiler.interpreted import interpreted, widened
from mjbot.runtime.compiler.splitmix import mix, next_below

HERE = Path(__file__).parent
GAME = HERE / "interpreted_game.py"
GUARD_S = 1200
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def report(*arguments, **environ):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(GAME), *arguments],
        capture_output=True, text=True, timeout=GUARD_S, env={**os.environ, **environ}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    way, *rest = done.stdout.splitlines()
    assert bool(done.stderr) == (way == "interpreted")
    return way, rest


@pytest.mark.parametrize("variable", ["MJBOT_INTERPRETED", "NUMBA_DISABLE_JIT"])
def test_an_interpreted_game_is_the_compiled_one_and_warns_of_nothing(variable):
    """Scores, all that the four were offered, and the table's last state, byte by byte."""
    way, rest = report(**{variable: "0"})
    assert (way, len(rest)) == ("compiled", 1)
    assert report(**{variable: "1"}) == ("interpreted", rest)


DECISIONS = {
    "fast-riichi-a": 60,
    "fast-riichi-d": 60,
    "fast-policy": 4,
    "yaku-evaluation": 4,
    "supervised": 1,
    "fold-recognition": 2,
    "fold-recognition-plus": 2,
}


@pytest.mark.parametrize("name", DECISIONS)
def test_strategies_decide_alike(name):
    """More decisions of all strategies: ``interpreted_game.py NAME N``, both ways."""
    way, rest = report(name, str(DECISIONS[name]), MJBOT_INTERPRETED="0")
    assert way == "compiled"
    assert report(name, str(DECISIONS[name]), MJBOT_INTERPRETED="1") == ("interpreted", rest)


def whole_numbers(small, unsigned, big, out):
    made = np.zeros(2, np.int8)
    made[0] = small[0]
    out[0] = small[0] + small[0]
    out[1] = -small[1] - small[0]
    out[2] = unsigned[0] * unsigned[0] - 2 * unsigned[0]
    out[3] = made[0] + made[0]
    out[4] = made.copy()[0] * 100
    out[5] = np.int64((big[0] * big[1]) >> np.uint64(40))
    out[6] = np.int64((big[0] + big[1]) >> np.uint64(1))
    big[0] += big[1]
    out[7] = np.int64(big[0] >> np.uint64(3))
    out[8] = small[1] >> 1
    out[9] = small[1] // 3
    out[10] = small[1] % 3
    made[1] = 2 * small[0]  # wraps around as it is stored
    out[11] = made[1]


def real_numbers(single, double, counts, out):
    made = np.full(2, 0.1, np.float32)
    out[0] = single[0] * single[1] + single[2]
    out[1] = single[0] * 0.1
    out[2] = single[0] * counts[0]
    out[3] = counts[0] / single[1]
    out[4] = single[0] / np.float32(3)
    out[5] = (single[0] + made[0]) * made[1]
    out[6] = max(single[0], np.float32(0)) * single[1]
    out[7] = double[0] / double[2]
    out[8] = -single[0] / (single[1] - single[1])
    out[9] = 1.0 / (double[0] - double[0])
    out[10] = np.sqrt(double[0]) + np.tanh(double[1])
    out[11] = np.log(double[0] - double[0])
    out[12] = abs(single[0] - single[1]) / np.float32(7)
    total = np.float32(0)
    for number in single:
        total += number * number
    out[13] = total
    single[2] = single[0] * single[1]
    out[14] = single[2]


def exponentials(single, double, out):
    for place in range(len(single)):
        out[0, place] = np.exp(single[place])
        out[1, place] = np.exp(double[place])
        out[2, place] = np.log(abs(double[place]))


def both_ways(function, *arguments):
    found = []
    for way in (numba.njit(error_model="numpy")(function), interpreted(function)):
        copies = [argument.copy() for argument in arguments]
        way(*copies)
        found.append([copy.tobytes() for copy in copies])
    return found


def test_whole_numbers_are_those_of_compiled_code():
    big = np.array([GOLDEN, 0xF000_0000_0000_0001], np.uint64)
    arguments = np.int8([100, -127]), np.uint8([255]), big, np.zeros(12, np.int64)
    compiled, interpreted = both_ways(whole_numbers, *arguments)
    assert compiled == interpreted


def test_real_numbers_are_those_of_compiled_code():
    random = np.random.default_rng(0)
    for _ in range(20):
        numbers = random.normal(0, 9, 6)
        numbers[3] = abs(numbers[3])
        arguments = np.float32(numbers[:3]), numbers[3:] * [1, 1, 0], np.int8([77]), np.zeros(15)
        compiled, interpreted = both_ways(real_numbers, *arguments)
        assert compiled == interpreted


def test_exponentials_are_those_of_compiled_code():
    numbers = np.random.default_rng(1).normal(0, 30, 3000)
    compiled, interpreted = both_ways(
        exponentials, np.float32(numbers), numbers, np.zeros((3, len(numbers)))
    )
    assert compiled == interpreted


@compiled
def add_rows(total, table, factor):
    vectors.add_row(total, 16, table, 32, factor, 48)
    return vectors.dot_row(total, 0, table, 16, 64)


def test_sums_of_rows_are_those_of_compiled_code():
    random = np.random.default_rng(2)
    table, total = random.normal(0, 1, (2, 96)).astype(np.float32)
    other, factor = total.copy(), np.float32(0.3)
    product = add_rows(total, table, factor)
    vectors._interpreted(other, 16, table, 32, factor, 48)
    assert total.tobytes() == other.tobytes()
    assert product == vectors._interpreted_dot(other, 0, table, 16, 64)


def test_random_numbers_are_those_of_compiled_code():
    random, other = (np.array([5], np.uint64) for _ in range(2))
    draw = interpreted(next_below.py_func)
    assert [next_below(random, 34) for _ in range(99)] == [draw(other, 34) for _ in range(99)]
    assert random[0] == other[0]
    assert mix(GOLDEN) == interpreted(mix.py_func)(GOLDEN)


def test_an_interpreted_function_computes_with_wide_numbers():
    record = np.zeros(1, np.dtype([("small", np.int8), ("row", np.int8, (3,))]))[0]

    @interpreted
    def add(counts, record, rate):
        counts[0] = 100
        record.small = counts[0]
        record.row[1] = record.small
        assert all(isinstance(x, int) for x in (*counts, record.row[1]))
        assert type(rate * 2.0) is np.float64
        total = sum(counts) + record.row[1] + counts[0]
        return total, np.uint64(1 << 63) * np.uint64(2)  # wraps without a word

    with np.errstate(all="raise"):
        assert add(np.zeros(2, np.int8), record, rate=np.float32(0.5)) == (300, 0)
    assert record["row"].tolist() == [0, 100, 0]


def test_python_receives_what_compiled_code_returns():
    @interpreted
    def some(counts, record):
        return counts, record, counts[0], np.float32(0.5), np.uint64(3), np.zeros(2)

    record = np.zeros(1, np.dtype([("small", np.int8)]))[0]
    found = some(np.zeros(2, np.int8), record)
    kinds = [np.ndarray, np.void, int, float, int, np.ndarray]
    assert [type(each) for each in found] == kinds


def test_numbers_that_only_wide_ones_may_become_stay():
    assert isinstance(widened(np.uint64(5)), np.uint64)
    assert type(widened(np.int16(5))) is int
    assert type(widened((np.int16(5), np.int8([100])))[1][0] + 100) is int
