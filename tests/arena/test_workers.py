"""Real processes: games come back whole even from strategies that take their process with them."""

import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner, PlayedGame
from mjbot.arena.workers.pool import MOST_CRASHES, WorkerError, WorkerPool
from mjbot.runtime.interruption import stopping_between_steps
from mjbot.strategy.options import StrategyError

MakeSetup = Callable[..., Setup]
GAME_IDS = [GameId(0, 0), GameId(0, 1), GameId(1, 0)]
"""Seat 0 has the first strategy in all of them."""

forking = pytest.mark.usefixtures("forked_workers")
"""Of a test to which it does not matter how a worker starts."""


def play(
    setup: Setup, game_ids: list[GameId], jobs: int, patience_s: float = 60
) -> list[PlayedGame]:
    with WorkerPool(setup, jobs, patience_s) as pool:
        found = {played.line.game_id: played for played in pool.play(game_ids)}
    return [found[game_id] for game_id in game_ids]


@pytest.fixture(scope="module")
def quiet_scores() -> list[tuple[int, ...]]:
    setup = Setup(strategies=("tsumogiri", "tsumogiri"), format="2v2", length="tonpu")
    games = GameRunner(setup, Clock(0, [0] * HEARTBEAT_SIZE))
    return [games.play(game_id, {}).line.scores for game_id in GAME_IDS]


def test_two_processes_play_the_same_games_as_one(setup_of: MakeSetup) -> None:
    setup = setup_of("fast-riichi-b", "Dice")
    game_ids = [GameId(wall, seating) for wall in range(2) for seating in range(6)]
    one, two = [[played.line for played in play(setup, game_ids, jobs)] for jobs in (1, 2)]
    assert one == two


@forking
def test_a_process_that_dies_is_replaced_and_the_decision_blamed(
    setup_of: MakeSetup, quiet_scores: list[tuple[int, ...]]
) -> None:
    played = play(setup_of("Dying", "tsumogiri"), GAME_IDS[:2], 1)
    # the 37th draw is the dealer's, whose seat has the deadly strategy in all these seatings
    faults = [[(fault.kind, fault.seat, fault.problem) for fault in game.faults] for game in played]
    assert faults == [[("crash", 0, "process ended with exit status 7 here, twice")]] * 2
    assert [game.line.scores for game in played] == quiet_scores[:2]


@forking
def test_a_process_that_stands_still_is_ended_and_the_decision_late(
    setup_of: MakeSetup, quiet_scores: list[tuple[int, ...]]
) -> None:
    setup = setup_of("Stuck", "tsumogiri", deadline_s=0.5)
    played = play(setup, GAME_IDS[:1], 1, patience_s=2)
    assert [(fault.kind, fault.seat) for fault in played[0].faults] == [("late", 0)]
    assert played[0].line.scores == quiet_scores[0]


@forking
def test_a_strategy_that_swallows_the_interruption_is_late_all_the_same(
    setup_of: MakeSetup, quiet_scores: list[tuple[int, ...]]
) -> None:
    played = play(setup_of("Deaf", "tsumogiri", deadline_s=0.2), GAME_IDS[:1], 1)
    assert [(fault.kind, fault.seat) for fault in played[0].faults] == [("late", 0)]
    assert played[0].line.scores == quiet_scores[0]


@forking
def test_a_game_that_cannot_be_played_is_void_and_the_others_are_not(setup_of: MakeSetup) -> None:
    played = play(setup_of("tsumogiri", "tsumogiri"), [GameId(0, 99), GameId(0, 1)], 1)
    assert "IndexError" in played[0].line.void
    assert sum(played[1].line.scores) == 100000


def test_processes_that_cannot_even_start_end_the_run(
    setup_of: MakeSetup, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "numpy.py").write_text("import os; os._exit(9)")
    monkeypatch.syspath_prepend(tmp_path)  # what our processes get to know, too
    with pytest.raises(WorkerError, match=r"no process can be started to play: .*status 9"):
        play(setup_of("tsumogiri", "tsumogiri"), GAME_IDS, 1)


@forking
def test_a_strategy_that_ends_its_process_in_every_game_ends_the_run(
    setup_of: MakeSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mjbot.arena.workers.pool.MOST_DEATHS_OF_A_RUN", 4)
    game_ids = [GameId(wall, 0) for wall in range(1000)]
    with (
        WorkerPool(setup_of("Deadly", "tsumogiri"), 2) as pool,
        pytest.raises(WorkerError, match=r"4 times in 0 finished .* of .*:Deadly: .*status 7"),
    ):
        list(pool.play(game_ids))


@forking
def test_a_child_that_a_strategy_forks_does_not_play_the_game_too(
    setup_of: MakeSetup, quiet_scores: list[tuple[int, ...]]
) -> None:
    with WorkerPool(setup_of("Forking", "tsumogiri"), 1) as pool:
        lines = [played.line for played in pool.play(GAME_IDS)]
    assert [line.game_id for line in lines] == GAME_IDS
    assert [line.scores for line in lines] == quiet_scores


def test_making_a_strategy_has_an_end(setup_of: MakeSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mjbot.arena.workers.playing.MAKING_S", 0.3)
    with Clock(0.1, [0] * HEARTBEAT_SIZE) as clock:
        games = GameRunner(setup_of("Endless", "tsumogiri"), clock)
        with pytest.raises(StrategyError, match=r"cannot be made: not ready after 0.3 s"):
            games.play(GAME_IDS[0], {})


@forking
def test_no_process_is_left_behind(setup_of: MakeSetup) -> None:
    before = set(multiprocessing.active_children())
    with WorkerPool(setup_of("tsumogiri", "tsumogiri"), 2) as pool:
        next(pool.play(GameId(wall, 0) for wall in range(1000)))
        assert len(set(multiprocessing.active_children()) - before) == 2
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody shows a process's mask")
def test_ctrl_c_in_a_terminal_is_the_parents_from_a_workers_first_moment(
    setup_of: MakeSetup,
) -> None:
    with WorkerPool(setup_of("tsumogiri", "tsumogiri"), 1) as pool:
        next(pool.play([GAME_IDS[0]]))
        (worker,) = multiprocessing.active_children()
        status = Path(f"/proc/{worker.pid}/status").read_text(encoding="ascii")
    blocked = next(line for line in status.splitlines() if line.startswith("SigBlk:"))
    assert int(blocked.split()[1], 16) >> (signal.SIGINT - 1) & 1


@forking
def test_who_looks_ends_a_run_within_a_second(setup_of: MakeSetup) -> None:
    with (
        WorkerPool(setup_of("tsumogiri", "tsumogiri"), 1) as pool,
        stopping_between_steps() as look,
    ):
        games = pool.play([GameId(wall, 0) for wall in range(1000)], look)
        next(games)
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            list(games)


def test_deaths_while_nobody_decides_void_a_game_only_the_sixth_time(setup_of: MakeSetup) -> None:
    """Whoever kills processes at random may well meet one game twice, as it begins."""
    dead = SimpleNamespace(game_ids=deque([GAME_IDS[0]]), heartbeat=[1, 0, 0], stood_still=False)
    pool = WorkerPool(setup_of("tsumogiri", "tsumogiri"), 1)
    for _ in range(MOST_CRASHES - 1):
        pool._note_crash(cast(Any, dead), "killed by SIGKILL")
    assert not pool._void
    assert list(dead.game_ids) == [GAME_IDS[0]]  # to be played again
    pool._note_crash(cast(Any, dead), "killed by SIGKILL")
    assert "6 times" in pool._void[0].line.void
    assert not dead.game_ids
