"""``mjbot serve`` as a user starts it."""

import asyncio
import contextlib
import json
import re
import signal
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
    assert done.stderr == f"mjbot serve: {told.format(port)}\n"


async def half_open(port, ws_port, *, joining=True):
    """Connections of every kind that nobody plays over; return what keeps them open."""
    http = b"GET /ws HTTP/1.1\r\nHost: x\r\n"
    key = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    key += b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    join = b'{"type":"join","name":"first","room":"default"}\n'
    begun = [(port, b""), (port, b'{"type":"jo'), (ws_port, b""), (ws_port, http)]
    begun += [(port, join), (ws_port, http + key)] if joining else []
    ends = []
    for number, said in begun:
        ends.append(await asyncio.open_connection("127.0.0.1", number))
        ends[-1][1].write(said)
    for reader, _ in (ends[0], ends[1], *ends[4:]):
        assert await reader.readline()  # it has been greeted
    return ends


async def started(*options):
    """Start the command; return the process and the ports of both doors."""
    server = await asyncio.create_subprocess_exec(
        *SERVE, "--port", "0", "--length", "tonpu", "--timeout-s", str(GUARD_S), *options,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    ports = []
    for _ in range(2):
        line = (await server.stdout.readline()).decode()
        ports.append(int(re.search(r"127\.0\.0\.1:(\d+)/", line)[1]))
    assert b"waiting for four players" in await server.stdout.readline()
    return server, *ports


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("phase", ["waiting", "in game"])
def test_a_signal_ends_it_at_once_and_says_nothing(raw_client, default_policy, number, phase):
    """Whoever has not joined yet, and whoever ponders."""
    asked = asyncio.Event()

    def ponder(event, seat):
        if event["type"] == "tsumo" and event["actor"] == seat:
            asked.set()
            return None
        return default_policy(event, seat)

    async def main():
        async with asyncio.timeout(GUARD_S):
            server, port, ws_port = await started()
            playing = []
            if phase == "in game":
                clients = [raw_client(ponder), *[raw_client() for _ in range(3)]]
                playing = [asyncio.create_task(client.play(port)) for client in clients]
                await asked.wait()
            ends = await half_open(port, ws_port)
            server.send_signal(number)
            _, errors = await server.communicate()
            for reader, writer in ends:
                with contextlib.suppress(ConnectionError):
                    await reader.read()
                writer.close()
            await asyncio.gather(*playing)
            return server.returncode, errors

    assert asyncio.run(main()) == (exit_codes.INTERRUPTED, b"")


def test_the_last_game_ends_it_and_who_has_not_joined_is_sent_away_without_a_word(raw_client):
    async def main():
        async with asyncio.timeout(GUARD_S):
            server, port, ws_port = await started()
            ends = await half_open(port, ws_port, joining=False)
            await asyncio.gather(*[raw_client().play(port) for _ in range(4)])
            _, errors = await server.communicate()
            for _, writer in ends:
                writer.close()
            return server.returncode, errors

    assert asyncio.run(main()) == (exit_codes.OK, b"")
