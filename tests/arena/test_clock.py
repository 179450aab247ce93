"""A decision is late after a deadline's worth of ticks, of which compiling takes none."""

from collections.abc import Callable, Iterator

import numba
import pytest
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import overload

from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import BEATS, COMPILING, HEARTBEAT_SIZE, TICKS, Clock, DeadlineError
from mjbot.arena.workers.pool import Liveness, WorkerPool

MakeSetup = Callable[..., Setup]


@pytest.fixture
def heartbeat() -> list[int]:
    return [0] * HEARTBEAT_SIZE


@pytest.fixture
def clock(heartbeat: list[int]) -> Iterator[Clock]:
    with Clock(0.1, heartbeat) as clock:
        yield clock


def let_tick(heartbeat: list[int], ticks: int = 3 * TICKS) -> None:
    last = heartbeat[BEATS] + ticks
    while heartbeat[BEATS] < last:
        pass


def test_three_deadlines_of_thinking_are_late(clock: Clock, heartbeat: list[int]) -> None:
    clock.start(0, 1)
    with pytest.raises(DeadlineError, match=r"no decision after 0.1 s"):
        let_tick(heartbeat)
    clock.stop()


def test_three_deadlines_of_compiling_are_not(clock: Clock, heartbeat: list[int]) -> None:
    clock.start(0, 1)
    with global_compiler_lock, global_compiler_lock:  # as numba does: a callee in its caller
        let_tick(heartbeat)
    clock.stop()
    assert heartbeat[COMPILING] == 0


def test_after_compiling_the_clock_goes_on(clock: Clock, heartbeat: list[int]) -> None:
    clock.start(0, 1)
    with global_compiler_lock:
        let_tick(heartbeat)
    with pytest.raises(DeadlineError):
        let_tick(heartbeat)
    clock.stop()


def test_a_real_compilation_is_seen_in_the_pulse_and_then_over(
    clock: Clock, heartbeat: list[int]
) -> None:
    depths = []

    def type_checked() -> int:
        return 5

    @overload(type_checked)
    def _() -> Callable[[], int]:
        depths.append(heartbeat[COMPILING])
        return lambda: 5

    caller = numba.njit(lambda: type_checked() + 1)
    assert isinstance(caller, CPUDispatcher)
    assert caller() == 6
    assert depths
    assert min(depths) > 0
    assert heartbeat[COMPILING] == 0


def test_games_shorter_than_a_tick_do_not_hold_up_the_ticks(setup_of: MakeSetup) -> None:
    setup = setup_of("tsumogiri", "tsumogiri", deadline_s=100.0)  # a tick of 0.5 s
    with WorkerPool(setup, 1) as pool:
        games = pool.play(GameId(wall, 0) for wall in range(20_000))
        assert any(pool.workers[0].heartbeat[BEATS] > 4 for _ in games)


def test_a_process_that_finishes_games_is_alive_though_no_tick_is_seen() -> None:
    heart = Liveness(now_s=0.0)
    assert [heart.silent_s((3, games), 50.0 * games) for games in range(5)] == [0.0] * 5
    assert heart.silent_s((3, 4), 261.0) == 61.0
    assert heart.silent_s((4, 4), 262.0) == 0.0
