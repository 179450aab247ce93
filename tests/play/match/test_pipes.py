"""Bots that speak over their pipes, at a real table of ours, in real processes."""

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mjbot.game.records.evidence import evidence_path, read_evidence
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.play.client.play import Settings, play_by_connecting
from mjbot.play.match import pipes
from mjbot.play.match.pipes import PipedGame
from mjbot.play.match.players import SeatError, read_players
from mjbot.play.match.run import MatchSettings, Watcher, play_match
from mjbot.play.server.core import OnFault
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.reply_faults import fault_reason
from mjbot.play.server.server import TableServer
from mjbot.protocol.codec import decode_line
from mjbot.protocol.dialects import LINES, LOCKSTEP
from mjbot.protocol.messages import StartGame, StartKyoku, Tsumo
from mjbot.protocol.rules import Rules
from mjbot.protocol.sessions.client import ClientSession
from mjbot.protocol.sessions.lockstep_server import LockstepSession
from mjbot.protocol.transports.address import parse_address
from mjbot.protocol.transports.memory import memory_pair
from tests.play.server.conftest import RawClient

GUARD_S = 300
LIMIT_S = 2.0
BOT = Path(__file__).with_name("pipe_bot.py")
CLIENT = Path(__file__).with_name("raw_player.py")
RAW = f"external:{shlex.join([sys.executable, str(CLIENT)])}"

pytestmark = pytest.mark.usefixtures("short_games")


def script(kind, *mode):
    words = shlex.join([sys.executable, str(BOT), kind])
    dialect = "arrays" if kind == "arrays" else "lines"
    return " ".join([f"external-{dialect}:{words} {{seat}}", *mode])


def ours(scheme, strategy):
    dialect = "arrays" if scheme == "stdio-arrays:" else "lines"
    command = f"{sys.executable} -m mjbot play {scheme} {{seat}} --strategy {strategy}"
    return f"external-{dialect}:{command}"


def play(folder, seats, games=1, **rules):
    """Play a match; return its results and what was noted meanwhile."""
    notes = []
    settings = MatchSettings(
        rules=TableRules(**{"seed": 1, "rules": "tonpu"} | rules), games=games, folder=folder
    )

    async def main():
        async with asyncio.timeout(GUARD_S):
            watcher = Watcher(on_note=notes.append, on_void=notes.append)
            return await play_match(settings, read_players(seats), watcher)

    return asyncio.run(main()), notes


def events_of(result):
    table = Mirror(strict=True)
    events = []
    for line in result.log.read_bytes().splitlines():
        for event in decode_line(line, len(result.names)):
            table.apply(event)
            events.append(event)
    return events


def test_our_own_bots_play_over_both_kinds_of_pipes(tmp_path):
    lines, arrays = ours("stdio:", "fast-riichi-d"), ours("stdio-arrays:", "fast-riichi-d")
    (result,), notes = play(tmp_path, [lines, arrays, lines, arrays], seed=5)
    assert not result.void and not result.faults and notes == []
    kinds = {type(event).__name__ for event in events_of(result)}
    assert {"Chi", "Pon", "Reach", "Hora"} <= kinds
    for number in (1, 2, 3, 4):
        output = (tmp_path / f"player-{number}.txt").read_text()
        assert "ERROR" not in output and "WARNING" not in output, output


def test_three_of_our_own_bots_play_over_pipes(tmp_path):
    lines, arrays = ours("stdio:", "fast-riichi-d"), ours("stdio-arrays:", "fast-riichi-d")
    three = Rules(players=3, length="tonpu")
    (result,), notes = play(tmp_path, [lines, arrays, "fast-riichi-d"], seed=8, rules=three)
    assert not result.void and not result.faults and notes == []
    assert "Kita" in {type(event).__name__ for event in events_of(result)}
    for number in (1, 2, 3):
        output = (tmp_path / f"player-{number}.txt").read_text()
        assert "ERROR" not in output and "WARNING" not in output, output


def test_bots_of_somebody_else_play_over_both_kinds_of_pipes(tmp_path):
    """One that speaks where it is asked, one that answers everything, one of arrays."""
    seats = [script("lines"), script("all"), script("arrays"), RAW]
    results, notes = play(tmp_path, seats, games=2)
    assert not any(result.void or result.faults for result in results) and notes == []
    for result in results:
        assert sum(result.scores) == 100000
        assert events_of(result)


@pytest.mark.parametrize("kind", ["lines", "arrays"])
@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("dies", 'the bot killed by SIGKILL; its last line: \'{"type": '),
        ("quits", 'the bot ended with exit status 7; its last line: \'{"type": '),
        ("prints", "the bot: 'let me\\x1b[2J think' is no JSON object"),
        ("twice", '"type": "dahai"'),
        ("illegal", "is not allowed here, only dahai"),
        ("another", "is not allowed here, only dahai"),
    ],
)
def test_what_a_bot_does_wrong_voids_its_game_and_is_told_in_one_line(kind, mode, words):
    command = [sys.executable, str(BOT), kind, "{seat}", mode]

    async def play_game(transport, session):
        return await PipedGame(transport, session, command, pipes.DIALECTS[kind]).play()

    async def main():
        rules = TableRules(seed=1, rules="tonpu")
        async with asyncio.timeout(GUARD_S), TableServer(rules) as table:
            port = await table.open_tcp("127.0.0.1", 0)
            settings = Settings(parse_address(f"mjsonp://127.0.0.1:{port}/default"))
            playing = asyncio.gather(
                play_by_connecting(settings, play_game),
                *[RawClient().play(port) for _ in range(3)],
                return_exceptions=True,
            )
            results = [result async for result in table.play(1)]
            await playing
        return results

    (result,) = asyncio.run(main())
    assert result.void
    line = fault_reason(result.faults[0])
    assert words in line
    assert "\n" not in line and "\x1b" not in line


def test_a_silent_bot_is_told_what_it_said_last(tmp_path):
    seats = [RAW, script("lines", "silent"), RAW, RAW]
    (result,), notes = play(tmp_path, seats, fixed_seats=True, timeout_s=2.0)
    assert result.void
    (line,) = [note for note in notes if note.startswith("game 1 is void")]
    assert line.startswith("game 1 is void by player 2 (seat 1 in game 1), external-")
    assert "Timeout. No response in 2 sec." in line
    output = (tmp_path / "player-2.txt").read_text()
    assert "the table did not wait for the bot; its last line: '{" in output


@pytest.mark.parametrize("kind", ["lines", "arrays"])
def test_a_bot_that_is_late_once_plays_on(tmp_path, kind):
    seats = [RAW, script(kind, "late"), RAW, RAW]
    rules = TableRules(
        seed=1, rules="tonpu", fixed_seats=True, timeout_s=LIMIT_S, on_fault=OnFault.DEFAULT
    )
    settings = MatchSettings(rules=rules, games=1, folder=tmp_path, evidence=True)

    async def main():
        async with asyncio.timeout(GUARD_S):
            return await play_match(settings, read_players(seats), Watcher())

    (result,) = asyncio.run(main())
    faults = [fault for fault in result.faults if fault.seat == 1]
    assert 1 <= len(faults) <= 3 and {fault.kind for fault in faults} == {"late"}
    replies = [reply for reply in read_evidence(evidence_path(result.log)) if reply.seat == 1]
    own = [reply for reply in replies if reply.raw and '"dahai"' in reply.raw]
    late = [reply for reply in own if reply.verdict == "refused"]
    assert late and all("earlier event" in reply.why for reply in late)
    after = [reply for reply in own[own.index(late[-1]) + 1 :]]
    assert len(after) > 10 and {reply.verdict for reply in after} == {"accepted"}
    assert "did not wait" not in (tmp_path / "player-2.txt").read_text()


PASSES = """
import sys
for line in sys.stdin:
    if '"tsumo"' in line:
        print('{"type":"none"}', flush=True)
"""
DEAL = StartKyoku(
    bakaze="E", kyoku=1, honba=0, kyotaku=0, oya=0, dora_marker="N",
    tehais=(("1m", "4m", "7m", "1p", "4p", "7p", "1s", "4s", "7s", "E", "S", "W", "N"),
            *[("?",) * 13] * 3),
    scores=(25000,) * 4,
)  # fmt: skip


def test_a_bot_that_passes_at_its_own_turn_is_not_waited_for_as_one_that_answers_everything(
    monkeypatch,
):
    """It would be silent until the table gives up: its pass is told instead."""
    monkeypatch.setattr(pipes, "NEXT_LINE_S", 0.0)

    async def main():
        async with asyncio.timeout(GUARD_S):
            return await answer_to_first_draw()

    async def answer_to_first_draw():
        ours, theirs = memory_pair()
        table, client = LockstepSession("r"), ClientSession(LOCKSTEP, name="bot", room="r")
        command = [sys.executable, "-c", PASSES]
        playing = asyncio.create_task(PipedGame(theirs, client, command, LINES).play())
        await ours.send(table.hello())
        table.join(await ours.receive())
        for event in (StartGame(id=0, names=tuple("abcd")), DEAL):
            await ours.send(table.send(event))
            table.receive(await ours.receive())
        await ours.send(table.send(Tsumo(actor=0, pai="P")))
        output = json.loads(await ours.receive())
        playing.cancel()
        await asyncio.wait({playing})
        return output

    output = asyncio.run(main())
    assert output["type"] == "error"
    assert """'{"type":"none"}' is not allowed here, only dahai""" in output["message"]


def test_a_bot_that_cannot_start_is_told(tmp_path):
    seats = [RAW, script("lines", "early"), RAW, RAW]
    (result,), notes = play(tmp_path, seats, fixed_seats=True)
    assert result.void
    (line,) = [note for note in notes if note.startswith("game 1 is void")]
    assert "the bot ended with exit status 1; its last line: nothing yet" in line
    assert "no weights here" in (tmp_path / "player-2.txt").read_text()


def test_where_the_rules_go_on_a_dead_bot_is_started_again_for_the_next_game(tmp_path):
    seats = [RAW, script("arrays", "dies"), RAW, RAW]
    results, notes = play(tmp_path, seats, games=2, on_fault=OnFault.DEFAULT)
    assert [result.void for result in results] == [False, False]
    for result in results:
        first, *others = result.faults
        assert first.kind == "illegal" and {fault.kind for fault in others} == {"absent"}
    replaced = [note for note in notes if "the bot killed by SIGKILL" in note]
    assert any("in game 1), external-arrays:" in note for note in replaced)
    assert any("in game 2), external-arrays:" in note for note in replaced)


@pytest.mark.parametrize(
    ("seat", "words"),
    [
        ("external-lines:", "no program"),
        ("external-arrays:/no/such/program {seat}", "no program '/no/such/program'"),
        ("external-lines:'unclosed", "quotation"),
    ],
)
def test_a_seat_that_nobody_can_take_is_named(seat, words):
    with pytest.raises(SeatError, match=words):
        read_players([seat])


def test_the_command_is_passed_on_with_its_seat_open():
    (player,) = read_players(["external-lines:python3 'my bot.py' {seat} --fast"])
    command = player.command("mjsonp://h:1/r", 3)
    assert command[command.index("--") + 1 :] == ["python3", "my bot.py", "{seat}", "--fast"]
    assert player.plays_on and not player.is_foreign
    assert json.dumps(command).count("mjbot.play.match.pipes") == 1


LEAVES_A_CHILD = ["sh", "-c", 'sleep 1000 >"$0" & exec cat']
"""A bot whose shell starts a process that holds the FIFO ``$0`` open, and does not end it."""


def test_what_a_bot_has_started_ends_with_its_game(tmp_path):
    fifo = tmp_path / "held"
    os.mkfifo(fifo)

    async def main():
        async with asyncio.timeout(GUARD_S):
            bot = await pipes.PipedBot.start([*LEAVES_A_CHILD, str(fifo)], 0)
            held = await asyncio.to_thread(fifo.open, "rb")  # opens once the child has it
            await bot.stop()
            assert await asyncio.to_thread(held.read) == b""
            held.close()

    asyncio.run(main())


def test_what_a_bot_has_started_ends_when_its_game_is_terminated(tmp_path):
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    program = f"""
import asyncio
from mjbot.play.match.pipes import PipedBot

async def main():
    await PipedBot.start({[*LEAVES_A_CHILD, str(fifo)]!r}, 0)
    print("started", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as game:
        assert game.stdout.readline() == b"started\n"
        with fifo.open("rb") as held:
            game.terminate()
            assert held.read() == b""
        assert game.wait() == -signal.SIGTERM
