"""The external AI at a real table of ours."""

import asyncio
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mjbot import exit_codes
from mjbot.external.majiang import majiang_command
from mjbot.match.players import read_players
from mjbot.match.run import MatchSettings, Watcher, play_match
from mjbot.server.table_rules import TableRules
from mjbot.table.table import Table
from protocol.codec import decode_line

GUARD_S = 240
RAW_PLAYER = Path(__file__).parents[1] / "match" / "raw_player.py"


def test_two_of_them_play_two_games_that_replay_strictly(packages, tmp_path):
    raw = f"external:{shlex.join([sys.executable, str(RAW_PLAYER)])}"

    async def main():
        rules = TableRules(seed=3, length="tonpu")
        settings = MatchSettings(rules=rules, games=2, folder=tmp_path)
        players = read_players([*["external:majiang"] * 2, raw, raw])
        return await asyncio.wait_for(play_match(settings, players, Watcher()), GUARD_S)

    results = asyncio.run(main())
    kinds = set()
    for result in results:
        assert not result.faults
        table = Table(strict=True)
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
    assert status == exit_codes.PROTOCOL_FAULT  # the last game was void, too
    assert errors.count("\n") == games_begun


def bridge(url):
    return subprocess.run(
        majiang_command(url), capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("url", ["127.0.0.1", "mjsonp://", "nonsense"])
def test_a_bad_url_is_one_line(packages, url):
    done = bridge(url)
    assert done.returncode == exit_codes.BAD_ARGUMENTS
    assert "mjsonp://HOST:PORT/ROOM" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_unreachable_server_is_one_line(packages):
    done = bridge("mjsonp://127.0.0.1:1/default")
    assert done.returncode == exit_codes.UNREACHABLE
    assert "cannot reach 127.0.0.1:1" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (b"", "closed the connection"),
        (b'{"type":"hello"}\n', "closed the connection"),
        (b"{oops\n", "no JSON: {oops"),
        (b"x" * (2 << 20), "endless line"),
        (b'{"type":"error","message":"No such room."}\n', "the server says: No such room."),
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
    assert status == exit_codes.PROTOCOL_FAULT
    assert complaint in errors
    assert errors.count("\n") == 1
