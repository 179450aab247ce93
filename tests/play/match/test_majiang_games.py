"""The external AI at a real table of ours."""

import asyncio
import contextlib
import json
import os
import select
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mjbot.game.table.mirror.mirror import Mirror
from mjbot.play.match.majiang import majiang_command
from mjbot.play.match.players import read_players
from mjbot.play.match.run import MatchSettings, Watcher, play_match
from mjbot.play.server.lobby import TableRules
from mjbot.protocol.codec import decode_line
from mjbot.runtime.errors import ExitCode

GUARD_S = 300
MODES = ("ponder", "play")
RAW_PLAYER = Path(__file__).with_name("raw_player.py")


def test_two_of_them_play_two_games_that_replay_strictly(packages, short_games, tmp_path):
    raw = f"external:{shlex.join([sys.executable, str(RAW_PLAYER)])}"

    async def main():
        rules = TableRules(seed=4, rules="tonpu")
        settings = MatchSettings(rules=rules, games=2, folder=tmp_path)
        players = read_players([*["external:majiang"] * 2, raw, raw])
        return await asyncio.wait_for(play_match(settings, players, Watcher()), GUARD_S)

    results = asyncio.run(main())
    kinds = set()
    for result in results:
        assert not result.faults
        table = Mirror(strict=True)
        for line in result.log.read_bytes().splitlines():
            for event in decode_line(line):
                table.apply(event)
                kinds.add(json.loads(line)["type"])
    assert {"chi", "pon", "reach", "hora"} <= kinds
    for number in (1, 2):
        assert (tmp_path / f"player-{number}.txt").read_text() == ""


@pytest.mark.parametrize(("culprit", "games_begun"), [(0, 2), (2, 1)])
def test_it_comes_back_after_a_game_that_is_void_by_another_seat(packages, culprit, games_begun):
    begun = []

    async def table(reader, writer):
        begun.append(1)
        error = f"Error in player {culprit}'s response: Timeout."
        for message in (
            {"type": "hello"},
            {"type": "start_game", "id": 2, "names": ["a", "b", "c", "d"]},
            {"type": "error", "message": error},
        ):
            writer.write(json.dumps(message).encode() + b"\n")
            if message["type"] != "error":
                await reader.readline()
        await writer.drain()
        writer.close()

    async def main():
        server = await asyncio.start_server(table, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            process = await asyncio.create_subprocess_exec(
                *majiang_command(f"mjsonp://127.0.0.1:{port}/default", games=2),
                stderr=subprocess.PIPE,
            )
            _, errors = await asyncio.wait_for(process.communicate(), GUARD_S)
            return process.returncode, errors.decode()

    status, errors = asyncio.run(main())
    assert len(begun) == games_begun
    assert status == ExitCode.PROTOCOL_FAULT  # the last game was void, too
    assert errors.count("\n") == games_begun


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells of any process's end")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_none_of_them_outlives_a_match_that_is_ended_in_mid_game(packages, tmp_path, number):
    raw = [f"external:{shlex.join([sys.executable, str(RAW_PLAYER), mode])}" for mode in MODES]

    async def main():
        report = asyncio.Event()

        async def listen(reader, writer):
            if await reader.read(1):
                report.set()
            writer.close()

        async with asyncio.timeout(GUARD_S):
            witness = await asyncio.start_server(listen, "127.0.0.1", 0)
            match = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "mjbot", "match", *["external:majiang"] * 2, *raw,
                "--log-dir", str(tmp_path), "--timeout-s", str(GUARD_S),
                env={**os.environ, "WITNESS_PORT": str(witness.sockets[0].getsockname()[1])},
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            await report.wait()
            children = [os.pidfd_open(child) for child in children_of(match.pid)]
            match.send_signal(number)
            _, errors = await match.communicate()
            for child in children:
                await asyncio.to_thread(select.select, [child], [], [], GUARD_S)
                assert select.select([child], [], [], 0)[0]
                os.close(child)
            witness.close()
            return match.returncode, errors, len(children)

    status, errors, children = asyncio.run(main())
    assert status == (-signal.SIGKILL if number == signal.SIGKILL else ExitCode.INTERRUPTED)
    assert (errors, children) == (b"", 4)


def children_of(pid):
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            child, _, rest = stat.read_text().partition(" (")
            if int(rest.rpartition(") ")[2].split()[1]) == pid:
                yield int(child)


def bridge(url):
    return subprocess.run(
        majiang_command(url), capture_output=True, text=True, timeout=GUARD_S, check=False
    )


@pytest.mark.parametrize("url", ["127.0.0.1", "mjsonp://", "nonsense"])
def test_a_bad_url_is_one_line(packages, url):
    done = bridge(url)
    assert done.returncode == ExitCode.BAD_ARGUMENTS
    assert "mjsonp://HOST:PORT/ROOM" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_unreachable_server_is_one_line(packages):
    done = bridge("mjsonp://127.0.0.1:1/default")
    assert done.returncode == ExitCode.UNREACHABLE
    assert "cannot reach 127.0.0.1:1" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (b"", "closed the connection"),
        (b'{"type":"hello"}\n', "closed the connection"),
        (b"{oops\n", "no JSON: {oops"),
        (b"x" * (2 << 20), "endless line"),
        (b'{"type":"error","message":"No such room."}\n', "error from the server: No such room."),
    ],
)
def test_a_server_that_breaks_off_is_one_line(packages, words, complaint):
    async def main():
        async def rude(reader, writer):
            writer.write(words)
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(rude, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            process = await asyncio.create_subprocess_exec(
                *majiang_command(f"mjsonp://127.0.0.1:{port}/default"), stderr=subprocess.PIPE
            )
            _, errors = await asyncio.wait_for(process.communicate(), GUARD_S)
            return process.returncode, errors.decode()

    status, errors = asyncio.run(main())
    assert status == ExitCode.PROTOCOL_FAULT
    assert complaint in errors
    assert errors.count("\n") == 1
