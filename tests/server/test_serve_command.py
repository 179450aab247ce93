"""``mjbot serve`` as a user starts it."""

import asyncio
import json
import re
import socket
import subprocess
import sys

import pytest

from mjbot import exit_codes

SERVE = [sys.executable, "-m", "mjbot.cli.main", "serve"]
GUARD_S = 300


def test_a_served_game_with_its_log(tmp_path, raw_client):
    async def main():
        options = ["--port", "0", "--length", "tonpu", "--seed", "9", "--log-dir", str(tmp_path)]
        server = await asyncio.create_subprocess_exec(
            *SERVE, *options, "--room", "mine", "--no-ws", stdout=subprocess.PIPE
        )
        first = (await server.stdout.readline()).decode()
        port = int(re.fullmatch(r"listening on mjsonp://127\.0\.0\.1:(\d+)/mine\n", first)[1])
        clients = [raw_client(name=f"bot{n}", room="mine") for n in range(4)]
        await asyncio.gather(*[client.play(port) for client in clients])
        output, _ = await server.communicate()
        return server.returncode, output.decode(), clients[0].heard[-1]["scores"]

    status, output, scores = asyncio.run(asyncio.wait_for(main(), GUARD_S))
    assert status == exit_codes.OK
    assert "seed 9" in output
    assert re.search(r"game 1: bot\d:\d+", output)
    (log,) = tmp_path.iterdir()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert log.suffix == ".mjson"
    assert lines[-1] == {"type": "end_game", "scores": scores, "logs": [None] * 4}
    assert len(lines[0]["names"]) == 4
    assert all("?" not in hand for hand in lines[1]["tehais"])


def served(*options):
    return subprocess.run(
        [*SERVE, *options], capture_output=True, text=True, timeout=GUARD_S, check=False
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "0.0.0.0"], "--allow-remote"),
        (["--games", "0"], "--games 0"),
        (["--timeout-s", "0"], "--timeout-s 0"),
        (["--port", "70000"], "--port 70000"),
        (["--room", ""], "--room"),
    ],
)
def test_bad_arguments_are_named_in_one_line(options, words):
    done = served(*options)
    assert done.returncode == exit_codes.BAD_ARGUMENTS
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--port"], "--port {} is in use: name another, or 0 for any"),
        (["--port", "0", "--ws-port"], "--ws-port {} is in use: name another, or --no-ws"),
    ],
)
def test_a_port_in_use_is_named_in_one_line_with_the_cure(options, told):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = served(*options, str(port))
    assert done.returncode == exit_codes.UNREACHABLE
    assert done.stderr.splitlines()[-1] == f"mjbot serve: {told.format(port)}"
