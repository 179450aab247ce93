"""External AIs at the arena's tables: processes that play on, and some that do not."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from mjbot.arena.code_digest import code_digest
from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.external_engine import ExternalEngine
from mjbot.arena.workers.playing import GameRunner, PlayedGame
from mjbot.play.match.node import packages_ready
from mjbot.play.match.players import read_players
from mjbot.strategy.options import StrategyError
from mjbot.strategy.registry import Spec

MakeSetup = Callable[..., Setup]
BOT = Path(__file__).with_name("engine_bot.py")
PIPE_BOT = Path(__file__).parents[1] / "play" / "match" / "pipe_bot.py"
GAME_IDS = [GameId(0, 0), GameId(0, 1)]
EAST: dict[str, object] = {"target_points": 25_000}
"""Rules under which a game that nobody wins ends with East."""


def foreign(habit: str = "") -> str:
    return f"external:{sys.executable} {BOT} {habit}".strip()


def play(setup: Setup) -> list[PlayedGame]:
    games = GameRunner(setup, Clock(0, [0] * HEARTBEAT_SIZE))
    try:
        return [games.play(game_id, {}) for game_id in GAME_IDS]
    finally:
        games.close()


@pytest.fixture
def quiet(setup_of: MakeSetup) -> list[tuple[int, ...]]:
    return [played.line.scores for played in play(setup_of("tsumogiri", "tsumogiri", rules=EAST))]


def external_setup(setup_of: MakeSetup, habit: str = "", deadline_s: float = 0) -> Setup:
    setup = setup_of("tsumogiri", "tsumogiri", deadline_s=deadline_s, rules=EAST)
    return replace(setup, strategies=(foreign(habit), "tsumogiri"))


def test_an_external_ai_plays_as_our_own_does(
    setup_of: MakeSetup, quiet: list[tuple[int, ...]]
) -> None:
    ours = play(setup_of("tsumogiri", "tsumogiri", rules=EAST))
    for habit in ("", "default"):  # which insists on a room
        theirs = play(external_setup(setup_of, habit))
        assert [played.line for played in theirs] == [played.line for played in ours]


@pytest.mark.parametrize("kind", ["lines", "arrays"])
def test_a_bot_behind_pipes_plays_as_our_own_does(
    setup_of: MakeSetup, quiet: list[tuple[int, ...]], kind: str
) -> None:
    bot = f"external-{kind}:{sys.executable} {PIPE_BOT} {kind} {{seat}}"
    setup = external_setup(setup_of, deadline_s=60)
    played = play(replace(setup, strategies=(bot, "tsumogiri")))
    assert [game.line.scores for game in played] == quiet
    assert not any(game.faults for game in played)


@pytest.mark.parametrize(
    ("habit", "kind", "report"),
    [
        ("late", "late", "no answer after 0.5 s"),
        ("gone", "crash", 'ended with exit status 1 (its last output: "I have had enough")'),
        ("wrong", "illegal", "Cannot dahai this pai now"),
    ],
)
def test_a_fault_of_an_external_ai_is_noted_and_the_game_ends(
    setup_of: MakeSetup, quiet: list[tuple[int, ...]], habit: str, kind: str, report: str
) -> None:
    """A bot that is gone is absent from then on; the others play on."""
    # who never answers is late at any deadline; the others have all the time they need
    played = play(external_setup(setup_of, habit, deadline_s=0.5 if kind == "late" else 0))
    assert [game.line.scores for game in played] == quiet
    for game in played:
        for seat in {fault.seat for fault in game.faults}:
            first, *others = [fault for fault in game.faults if fault.seat == seat]
            assert first.kind == kind and (report in first.problem or habit == "wrong")
            assert {fault.kind for fault in others} == ({"absent"} if habit == "gone" else set())
        assert len({fault.seat for fault in game.faults}) == 2


def test_a_missing_program_is_one_line() -> None:
    with pytest.raises(StrategyError, match="no program 'no-such-bot' to run"):
        code_digest([Spec.read("external:no-such-bot --fast"), Spec.read("tsumogiri")])


def test_majiang_plays_several_games_with_one_process(setup_of: MakeSetup) -> None:
    if not packages_ready():
        pytest.skip("the external AI is not installed (mjbot setup-node)")
    try:
        code_digest([Spec.read("external:majiang")])
    except StrategyError as error:
        pytest.skip(str(error))
    rules = {"start_points": 1000}  # the first who pays is bust
    setup = setup_of("external:majiang", "tsumogiri", format_="1v3", deadline_s=0, rules=rules)
    games = GameRunner(setup, Clock(0, [0] * HEARTBEAT_SIZE))
    try:
        first = games.play(GameId(0, 0), {})
        processes = [engine.pid for engine in games.engines]
        second = games.play(GameId(0, 1), {})
        assert [engine.pid for engine in games.engines] == processes
    finally:
        games.close()
    for game in (first, second):
        assert not game.faults
        assert sum(game.line.scores) == 4000


def test_what_an_external_ai_has_started_ends_with_it(tmp_path: Path) -> None:
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    joins = f"sleep 1000 > {fifo} & exec {sys.executable} {BOT} $0"
    (player,) = read_players([f"external:{shlex.join(['sh', '-c', joins])}"])
    engine = ExternalEngine(player)
    try:
        engine.connect()
        held = fifo.open("rb")
    finally:
        engine.close()
    with held:
        assert held.read() == b""
