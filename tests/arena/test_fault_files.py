"""What a run tells of its faults: by strategy, with one that can be made again where there is."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from mjbot.arena.accumulator import WallAccumulator
from mjbot.arena.repro import replay_decision
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers import fault_files
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.fault_files import FaultFileError, fault_lines, read_fault, save_faults
from mjbot.arena.workers.playing import GameRunner
from mjbot.runtime.errors import ExitCode

MakeSetup = Callable[..., Setup]


def played(setup: Setup, folder: Path, seatings: int) -> WallAccumulator:
    """Play the first games of wall 0, keeping their faults."""
    accumulator = WallAccumulator(setup.seating)
    with Clock(0, [0] * HEARTBEAT_SIZE) as clock:
        for seating in range(seatings):
            game = GameRunner(setup, clock).play(GameId(0, seating), {})
            save_faults(folder, setup, game.line.game_id, game.faults)
            accumulator.add(game.line)
    return accumulator


def test_faults_are_counted_by_strategy_wherever_it_sits(
    setup_of: MakeSetup, tmp_path: Path
) -> None:
    setup = setup_of("Crashing", "Silent,times=2")
    accumulator = played(setup, tmp_path, 3)
    assert accumulator.faults_of(1) == (6, 12)  # two seats of each in three games
    assert accumulator.faults_of(0) == (0, 0)
    crash, silent = fault_lines(tmp_path, setup, accumulator.faults_of(1))
    assert crash.startswith(f"6 decisions of {setup.strategies[0]} were replaced (crash: KeyError")
    assert crash.endswith(f"see one: mjbot arena --repro {tmp_path}/faults/crash-0-0-0-5.json")
    assert silent.endswith(f"see one: mjbot arena --repro {tmp_path}/faults/illegal-0-0-2-5.json")
    assert fault_lines(tmp_path, setup, (0, 1))[0].startswith("1 decision of ")


def test_one_strategy_does_not_take_the_room_of_another(
    setup_of: MakeSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fault_files, "MOST_FILES", 3)
    played(setup_of("Crashing,times=9999", "Silent,at=9"), tmp_path, 2)
    kept = Counter(path.name.split("-")[0] for path in (tmp_path / "faults").iterdir())
    assert kept == {"crash": 3, "illegal": 3}


@pytest.mark.parametrize("text", [b"{", b'{"text":"\xff"}', b"[" * 100_000, b"1" * 5000])
def test_what_is_no_fault_file_is_said_in_one_line(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "crash-0-0-0-0.json"
    file.write_bytes(text)
    with pytest.raises(FaultFileError, match="is not a fault that mjbot arena kept") as caught:
        read_fault(file)
    assert caught.value.exit_code == ExitCode.FAILED


def test_a_fault_file_that_is_not_there_is_not_reachable(tmp_path: Path) -> None:
    with pytest.raises(FaultFileError, match="No such file") as caught:
        read_fault(tmp_path / "none.json")
    assert caught.value.exit_code == ExitCode.UNREACHABLE


def test_a_start_that_failed_is_shown_but_not_made_again(
    setup_of: MakeSetup, tmp_path: Path
) -> None:
    setup = setup_of("Unstartable", "tsumogiri")
    accumulator = played(setup, tmp_path, 1)
    (line,) = fault_lines(tmp_path, setup, accumulator.faults_of(1))
    file = tmp_path / "faults" / "crash-0-0-0-0.json"
    assert line.endswith(f"RuntimeError: not today (bots.py, line 133)); see one: {file}")
    with pytest.raises(FaultFileError, match=r"not today .* the start of a game or kyoku"):
        replay_decision(read_fault(file), lambda view: None)
