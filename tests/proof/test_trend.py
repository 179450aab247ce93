"""What the long proofs call flat, and what they read of processes."""

import os
from random import Random

import pytest

from proof.endurance.trend import trend
from proof.remains import used

TIMES = [10.0 * number for number in range(180)]


@pytest.mark.parametrize("level", [20.0, 500.0])
def test_noise_around_a_level_is_flat(level):
    for seed in range(20):
        noise = Random(seed)
        found = trend(TIMES, [noise.gauss(level, level / 100) for _ in TIMES], least=1.0)
        assert not found.grows
        assert abs(found.level - level) < level / 100


def test_what_grows_under_the_same_noise_is_found():
    noise = Random(0)
    values = [noise.gauss(200, 2) + 20 * time / TIMES[-1] for time in TIMES]
    found = trend(TIMES, values, least=1.0)
    assert found.grows
    assert found.low < 40 < found.high  # 20 in half an hour


def test_what_grows_only_in_the_beginning_is_flat():
    assert not trend(TIMES, [min(500.0, 100 + time) for time in TIMES], least=1.0).grows


def test_too_few_samples_tell_nothing():
    assert trend(TIMES[:9], [1.0] * 9, least=1.0) is None


@pytest.mark.skipif(not os.path.exists("/proc/self/smaps_rollup"), reason="only Linux has it")
def test_what_this_process_uses():
    found = used("we", [os.getpid(), 0])
    assert found["we MB"] > 10
    assert found["we handles"] > 2
    assert found["we threads"] >= 1
