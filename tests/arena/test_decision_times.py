"""What decisions cost is counted beside the game and changes nothing in it."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from mjbot.arena.decision_times import DecisionCost, TimeCounts, count_time, decision_costs
from mjbot.arena.run_folder import decode_game, encode_game
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner

MakeSetup = Callable[..., Setup]
GAME_IDS = [GameId(0, seating) for seating in range(3)]
ENGINE = f"external:{sys.executable} {Path(__file__).with_name('engine_bot.py')}"


def test_percentiles_and_sum_are_right_to_a_class() -> None:
    times_ns = np.random.default_rng(5).lognormal(12, 2, 5000).astype(int)
    counts: TimeCounts = {}
    for time_ns in times_ns:
        count_time(counts, int(time_ns))
    cost = DecisionCost(counts, games=10)
    assert cost.decisions == 5000
    for percent in (50, 99):
        exact_ms = np.percentile(times_ns, percent) / 1e6
        assert cost.percentile_ms(percent) == pytest.approx(exact_ms, rel=0.03)
    assert cost.seconds_per_game == pytest.approx(times_ns.sum() / 1e10, rel=0.01)


def test_games_but_the_first_are_timed_and_come_out_the_same(setup_of: MakeSetup) -> None:
    setup = setup_of("fast-riichi-b", "tsumogiri", format_="1v3")
    clock = Clock(0, [0] * HEARTBEAT_SIZE)
    untimed, timed = GameRunner(setup, clock), GameRunner(setup, clock, timing=True)
    lines = [timed.play(game_id, {}).line for game_id in GAME_IDS]
    assert [replace(line, times=()) for line in lines] == [
        untimed.play(game_id, {}).line for game_id in GAME_IDS
    ]
    assert lines[0].times == ()
    for line in lines[1:]:
        asked = [sum(counts.values()) for counts in line.times]
        assert asked[line.seating] > 20
        assert sum(asked) == asked[line.seating]  # tsumogiri wants to be asked nothing
        assert decode_game(encode_game(line)) == line
    own, others = decision_costs(lines, setup.seating)
    assert own.games == 2
    assert 0 < own.percentile_ms(50) <= own.percentile_ms(99)
    assert not others.decisions


def test_of_an_external_ai_the_wait_for_its_answers_counts(setup_of: MakeSetup) -> None:
    setup = replace(setup_of("tsumogiri", "tsumogiri"), strategies=(ENGINE, "tsumogiri"))
    games = GameRunner(setup, Clock(0, [0] * HEARTBEAT_SIZE), timing=True)
    try:
        lines = [games.play(game_id, {}).line for game_id in GAME_IDS[:2]]
    finally:
        games.close()
    engine, others = decision_costs(lines, setup.seating)
    assert (engine.games, others.games) == (2, 2)
    assert engine.decisions > 20
    assert engine.percentile_ms(50) > 0.01  # over a socket
