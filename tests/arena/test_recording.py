"""``mjbot arena --record``: every game as mjai lines, and the same games as without."""

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mjbot.arena.run import Arena, ArenaPlan
from mjbot.arena.run_folder import GAMES_FILE, record_path, save_record
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner, PlayedGame
from mjbot.arena.workers.pool import WorkerPool
from mjbot.cli.main import main
from mjbot.game.records.replay import ReplaySummary, replay
from mjbot.game.records.sources import open_games
from mjbot.game.statistics.sequential import ErrorRates
from mjbot.strategy.pair.remarks import parse_remark

pytestmark = pytest.mark.usefixtures("forked_workers")

MakeSetup = Callable[..., Setup]
ENGINE_BOT = Path(__file__).with_name("engine_bot.py")


def play(setup: Setup, recording: bool, game_ids: list[GameId]) -> list[PlayedGame]:
    games = GameRunner(setup, Clock(0, [0] * HEARTBEAT_SIZE), recording)
    try:
        return [games.play(game_id, {}) for game_id in game_ids]
    finally:
        games.close()


@pytest.mark.parametrize("walls", ["order", "pinned"])
def test_recorded_games_are_the_same_games(setup_of: MakeSetup, walls: str) -> None:
    # Dice call, kan and declare whatever is allowed
    setup = setup_of("Dice", "fast-riichi-b", walls=walls)
    game_ids = [GameId(wall, wall % 6) for wall in range(5)]
    recorded, plain = (play(setup, recording, game_ids) for recording in (True, False))
    assert [game.line for game in recorded] == [game.line for game in plain]
    assert not any(game.record for game in plain)


def test_a_record_replays_strictly_and_names_the_players(
    setup_of: MakeSetup, tmp_path: Path
) -> None:
    game_ids = [GameId(wall, 1) for wall in range(6)]
    played = play(setup_of("Dice", "fast-riichi-b"), True, game_ids)
    summary = ReplaySummary()
    for game in played:
        save_record(tmp_path, game.line.game_id, game.record)
        lines = [json.loads(line) for line in gzip.decompress(game.record).splitlines()]
        assert lines[0]["names"] == ["Dice", "fast-riichi-b"] * 2
        assert tuple(lines[-1]["scores"]) == game.line.scores
    for record in open_games(tmp_path):
        replay(record, summary, strict=True)
    assert (summary.games, summary.unfinished) == (6, 0)
    assert summary.kyoku == sum(lines.count(b'"start_kyoku"') for lines in _all_lines(played))


def _all_lines(played: list[PlayedGame]) -> list[bytes]:
    return [gzip.decompress(game.record) for game in played]


def test_what_a_pair_tells_each_other_is_in_the_record_and_changes_nothing(
    setup_of: MakeSetup,
) -> None:
    setup = setup_of("combo-partner", "tsumogiri", format_="pair")
    recorded, plain = (play(setup, recording, [GameId(0, 0)])[0] for recording in (True, False))
    assert recorded.line == plain.line
    lines = [json.loads(line) for line in gzip.decompress(recorded.record).splitlines()]
    report = [
        (line, seat, output) for line in lines for seat, output in enumerate(line.get("logs", ()))
    ]
    output = [(line, seat, text) for line, seat, text in report if text]
    assert len(output) > 20
    for line, seat, text in output:
        assert line["actor"] == seat  # its own draw or call: it tells what it holds after that
        remark = parse_remark(text)
        assert remark
        assert remark.hand or remark.done


def test_games_with_external_ais_are_recorded_too(setup_of: MakeSetup, tmp_path: Path) -> None:
    setup = setup_of("tsumogiri", "tsumogiri")
    engine = f"external:{sys.executable} {ENGINE_BOT}"
    mixed = Setup(strategies=(engine, "tsumogiri"), format="2v2", length="tonpu")
    (ours,), (theirs,) = (play(one, True, [GameId(0, 0)]) for one in (setup, mixed))
    save_record(tmp_path, GameId(0, 0), theirs.record)
    summary = ReplaySummary()
    for record in open_games(tmp_path):
        replay(record, summary, strict=True)
    assert (summary.games, summary.unfinished) == (1, 0)
    report = [gzip.decompress(game.record).splitlines()[1:] for game in (ours, theirs)]
    assert _without_optional(report[0]) == _without_optional(report[1])


def _without_optional(lines: list[bytes]) -> list[dict[str, object]]:
    """Server's lines and the referee's differ in nothing but fields that may be left out."""
    return [{key: value for key, value in json.loads(line).items() if value} for line in lines]


def run_arena(setup: Setup, folder: Path, recording: bool, n_walls: int = 1) -> None:
    plan = ArenaPlan(
        setup=setup, n_walls=n_walls, folder=folder, rates=ErrorRates(), recording=recording
    )
    with Arena(plan) as arena:
        if not arena.is_over:
            with WorkerPool(setup, 1, recording=recording) as pool:
                arena.play(pool, lambda line: None)


def test_missing_records_are_played_again_and_nothing_else(
    setup_of: MakeSetup, tmp_path: Path
) -> None:
    setup = setup_of("tsumogiri", "Dice")
    run_arena(setup, tmp_path, recording=False)
    kept = (tmp_path / GAMES_FILE).read_bytes()
    assert not record_path(tmp_path, GameId(0, 0)).exists()
    run_arena(setup, tmp_path, recording=True)
    records = {path: path.read_bytes() for path in (tmp_path / "records").iterdir()}
    assert set(records) == {record_path(tmp_path, GameId(0, seating)) for seating in range(6)}
    lost = record_path(tmp_path, GameId(0, 4))
    lost.unlink()
    lost.with_name(f".{lost.name}.unfinished").write_bytes(records[lost][:100])  # a kill
    record_path(tmp_path, GameId(0, 2)).write_bytes(b"")  # a power failure
    run_arena(setup, tmp_path, recording=True)
    assert {path: path.read_bytes() for path in (tmp_path / "records").iterdir()} == records
    assert (tmp_path / GAMES_FILE).read_bytes() == kept
    assert len(list(open_games(tmp_path))) == 6  # of the run's folder the records are read


def test_the_command_keeps_records_that_the_command_replay_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games = ["--games", "4", "--format", "1v3", "--length", "tonpu", "--jobs", "1"]
    where = ["--record", "--out", str(tmp_path)]
    assert main(["arena", "fast-riichi-a", "tsumogiri", *games, *where]) == 0
    assert f"records: {tmp_path / 'records'}" in capsys.readouterr().out.replace("\n", "")
    assert main(["replay", str(tmp_path / "records")]) == 0
    assert capsys.readouterr().out.startswith("5 games, ")
