"""Whatever a strategy does, the game goes on and the fault is written down."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mjbot.arena.run_folder import save_record
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock, decoded
from mjbot.arena.workers.playing import GameRunner
from mjbot.arena.workers.supervised_player import FULL_FAULTS
from mjbot.game.records.replay import ReplaySummary, replay
from mjbot.game.records.sources import open_games
from mjbot.game.table.state import STATE
from mjbot.strategy.faults import Fault

MakeSetup = Callable[..., Setup]


def play(setup: Setup, deadline_s: float = 0, fatal: dict | None = None):  # type: ignore[no-untyped-def, type-arg]
    with Clock(deadline_s, [0] * HEARTBEAT_SIZE) as clock:
        return GameRunner(setup, clock).play(GameId(0, 0), fatal or {})


@pytest.fixture
def quiet(setup_of: MakeSetup) -> list[int]:
    """Scores of the game of four that discard what they draw."""
    return list(play(setup_of("tsumogiri", "tsumogiri")).line.scores)


@pytest.mark.parametrize(
    ("name", "kind", "problem"),
    [
        ("Crashing", "crash", "KeyError: 'no such plan' (bots.py, line 58)"),
        ("Leaving", "crash", "SystemExit: 3 (bots.py, line 63)"),
        ("Cheating", "illegal", "it may not choose tsumo"),
        ("Relabelling", "illegal", "it may not choose tsumo"),
        ("Interrupting", "crash", "KeyboardInterrupt (bots.py, line 152)"),
        ("Silent", "illegal", "it may not choose None"),
    ],
)
def test_a_fault_is_noted_and_replaced_by_the_default_action(
    setup_of: MakeSetup, quiet: list[int], name: str, kind: str, problem: str
) -> None:
    played = play(setup_of(name, "tsumogiri"))
    assert [(f.kind, f.seat, f.decision, f.problem) for f in played.faults] == [
        (kind, 0, 5, problem),
        (kind, 1, 5, problem),
    ]
    assert played.line.faults == (1, 1, 0, 0)
    assert list(played.line.scores) == quiet
    assert all(len(fault.state) == STATE.itemsize for fault in played.faults)


@pytest.mark.parametrize(
    ("name", "line"),
    [("Careless", "left[view.legal[0].tile % 34] = 0"), ("Forging", 'view.state["scores"]')],
)
def test_what_writes_to_its_view_changes_no_table_and_is_named(
    setup_of: MakeSetup, quiet: list[int], tmp_path: Path, name: str, line: str
) -> None:
    with Clock(0, [0] * HEARTBEAT_SIZE) as clock:
        games = GameRunner(setup_of(f"{name},times=999", "tsumogiri"), clock, recording=True)
        played = games.play(GameId(0, 0), {})
    assert {fault.kind for fault in played.faults} == {"crash"}
    assert re.match(r"ValueError: .* read-only \(bots.py, line \d+\)", played.faults[0].problem)
    assert line in played.faults[0].trace
    assert list(played.line.scores) == quiet
    save_record(tmp_path, GameId(0, 0), played.record)
    for record in open_games(tmp_path):
        replay(record, ReplaySummary(), strict=True)


def test_a_crash_keeps_its_traceback(setup_of: MakeSetup) -> None:
    fault = play(setup_of("Crashing", "tsumogiri")).faults[0]
    assert "bots.py" in fault.trace
    assert "go_wrong" in fault.trace


def test_a_strategy_that_always_fails_still_finishes(setup_of: MakeSetup) -> None:
    strategies = setup_of("Crashing,at=1,times=9999", "tsumogiri")
    played = play(strategies)
    assert sum(played.line.faults) == len(played.faults) > 100
    assert sum(bool(fault.state) for fault in played.faults) == 2 * FULL_FAULTS
    assert sum(played.line.scores) == 100000


def test_a_late_decision_is_interrupted_even_inside_the_strategy_s_own_net(
    setup_of: MakeSetup, quiet: list[int]
) -> None:
    played = play(setup_of("Slow", "tsumogiri"), deadline_s=0.2)
    assert [(fault.kind, fault.decision) for fault in played.faults] == [("late", 5)] * 2
    assert played.faults[0].problem == "no decision after 0.2 s"
    assert list(played.line.scores) == quiet


def test_a_start_that_fails_is_a_fault_too(setup_of: MakeSetup) -> None:
    faults = play(setup_of("Unstartable", "tsumogiri")).faults
    assert [(fault.kind, fault.decision) for fault in faults] == [("crash", 0)] * 2


def test_a_decision_known_to_be_fatal_is_not_asked_for(
    setup_of: MakeSetup, quiet: list[int]
) -> None:
    fatal = {0: {5: Fault("late", 0, 5, "stood still", is_fatal=True)}}
    played = play(setup_of("Crashing", "tsumogiri"), fatal=fatal)
    # the strategy in seat 0 is not told of that decision: its fifth is the guard's sixth
    assert [(fault.kind, fault.seat, fault.decision) for fault in played.faults] == [
        ("late", 0, 5),
        ("crash", 0, 6),
        ("crash", 1, 5),
    ]
    assert list(played.line.scores) == quiet


def test_the_pulse_tells_who_decides() -> None:
    heartbeat = [0] * HEARTBEAT_SIZE
    clock = Clock(0, heartbeat)
    assert decoded(heartbeat[1]) is None
    clock.start(2, 31)
    assert decoded(heartbeat[1]) == (2, 31)
    clock.stop()
    assert decoded(heartbeat[1]) is None
