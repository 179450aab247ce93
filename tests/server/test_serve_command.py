"""``mjbot serve`` as a user starts it."""

import asyncio
import contextlib
import json
import re
import signal
import socket
import subprocess
import sys

import aiohttp
import pytest

from mjbot.cli import main as command
from mjbot.errors import ExitCode

SERVE = [sys.executable, "-m", "mjbot", "serve"]
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
    assert status == ExitCode.OK
    assert "seed 9" in output
    assert re.search(r"game 1: bot\d:\d+", output)
    (log,) = tmp_path.iterdir()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert log.suffix == ".mjson"
    assert lines[-1] == {"type": "end_game", "scores": scores, "logs": [None] * 4}
    assert len(lines[0]["names"]) == 4
    assert all("?" not in hand for hand in lines[1]["tehais"])


@pytest.fixture
def served(capfd):
    """Run the command, which ends at once, in this process: return its status and what it said."""

    def run(*options):
        try:
            status = command.main(["serve", *options])
        except SystemExit as refused:
            status = refused.code
        return status, *capfd.readouterr()

    return run


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "0.0.0.0"], "--allow-remote"),
        (["--games", "0"], "--games: '0'"),
        (["--timeout-s", "0"], "--timeout-s: '0'"),
        (["--timeout-s", "nan"], "--timeout-s: 'nan'"),
        (["--timeout-s", "inf"], "--timeout-s: 'inf'"),
        (["--port", "70000"], "--port: '70000'"),
        (["--port", "65535"], "--port 65535: no port is left for --ws-port"),
        (["--ws-port", "70000"], "--ws-port: '70000'"),
        (["--ws-port=-1"], "--ws-port: '-1'"),
        (["--room", ""], "--room"),
        (["--tenhou", "0", "--on-fault", "chombo"], "--on-fault chombo: a chombo cannot be told"),
        (["--tenhou-ws", "70000"], "--tenhou-ws: '70000'"),
        (["--ws-token-file", "/dev/null"], "/dev/null: expected a token"),
    ],
)
def test_bad_arguments_are_named_in_one_line(served, options, words):
    status, _, errors = served(*options)
    assert status == ExitCode.BAD_ARGUMENTS
    assert words in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--port"], "--port {} is in use: name another, or 0 for any"),
        (["--port", "0", "--ws-port"], "--ws-port {} is in use: name another, or --no-ws"),
        (
            ["--port", "0", "--no-ws", "--tenhou"],
            "--tenhou {} is in use: name another, or 0 for any",
        ),
    ],
)
def test_a_port_in_use_is_named_in_one_line_with_the_cure(served, options, told):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, _, errors = served(*options, str(port))
    assert status == ExitCode.UNREACHABLE
    assert errors.splitlines()[-1] == f"mjbot serve: {told.format(port)}"


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

    assert asyncio.run(main()) == (ExitCode.INTERRUPTED, b"")


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

    assert asyncio.run(main()) == (ExitCode.OK, b"")


def test_both_tenhou_doors_say_where_they_are_and_close_at_a_signal():
    async def main():
        async with asyncio.timeout(GUARD_S):
            server = await asyncio.create_subprocess_exec(
                *SERVE, "--port", "0", "--no-ws", "--tenhou", "0", "--tenhou-ws", "0",
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            lines = [(await server.stdout.readline()).decode() for _ in range(4)]
            port = int(re.search(r" tenhou://127\.0\.0\.1:(\d+)/0\?type=9\n", lines[1])[1])
            assert re.search(r" tenhou\+ws://127\.0\.0\.1:(\d+)/0\?type=9\n", lines[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b'<HELO name="NoName" sx="M" />\0<JOIN t="0,9" />\0')
            assert await reader.readuntil(b"\0") == b'<HELO uname="%4E%6F%4E%61%6D%65"/>\0'
            server.send_signal(signal.SIGTERM)
            _, errors = await server.communicate()
            assert await reader.read() == b""
            writer.close()
            return server.returncode, errors

    assert asyncio.run(main()) == (ExitCode.INTERRUPTED, b"")


@pytest.mark.parametrize("option", ["--log-dir", "--ws-token-file"])
def test_a_path_that_cannot_be_used_is_named_before_anybody_joins(served, option):
    problem = "mjbot serve: /dev/null/x: Not a directory\n"
    assert served("--port", "0", option, "/dev/null/x") == (ExitCode.UNREACHABLE, "", problem)


def test_a_log_that_cannot_be_written_any_more_is_told_to_everybody(raw_client, tmp_path):
    """As on a full disk: the files of this process may not grow beyond 16 kB."""
    resource = pytest.importorskip("resource")
    limit = (1 << 14, 1 << 14)

    async def main():
        async with asyncio.timeout(GUARD_S):
            server = await asyncio.create_subprocess_exec(
                *SERVE, "--port", "0", "--no-ws", "--log-dir", str(tmp_path),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
            )  # fmt: skip
            line = (await server.stdout.readline()).decode()
            port = int(re.search(r"127\.0\.0\.1:(\d+)/", line)[1])
            four = [raw_client() for _ in range(4)]
            await asyncio.gather(*[client.play(port) for client in four])
            _, errors = await server.communicate()
            return server.returncode, errors.decode(), four

    status, errors, four = asyncio.run(main())
    assert status == ExitCode.UNREACHABLE
    (log,) = tmp_path.iterdir()
    assert errors == f"mjbot serve: {log}: File too large\n"
    for client in four:
        assert client.heard[-1]["type"] == "error"
        assert "cannot write its log" in client.heard[-1]["message"]


def test_names_reach_no_terminal_as_they_are(raw_client):
    name = "\x1b]0;title\x07\r\nforged line\u202e"

    async def main():
        async with asyncio.timeout(GUARD_S):
            server, port, _ = await started()
            await asyncio.gather(*[raw_client(name=name).play(port) for _ in range(4)])
            return (await server.communicate())[0].decode()

    (line,) = asyncio.run(main()).splitlines()
    assert line.startswith("game 1: ")
    assert line.count(r"\x1b]0;title\x07 forged line\u202e:") == 4


@pytest.mark.parametrize("by", ["environment", "file"])
def test_the_token_of_the_websocket_door_need_not_stand_on_the_command_line(
    by, tmp_path, monkeypatch
):
    options = []
    if by == "file":
        (tmp_path / "token").write_text("hush\n")
        options = ["--ws-token-file", str(tmp_path / "token")]
    else:
        monkeypatch.setenv("MJBOT_WS_TOKEN", "hush")

    async def main():
        async with asyncio.timeout(GUARD_S), aiohttp.ClientSession() as session:
            server, _, ws_port = await started(*options)
            url = f"http://127.0.0.1:{ws_port}/ws"
            with pytest.raises(aiohttp.WSServerHandshakeError, match="401"):
                await session.ws_connect(url)
            async with session.ws_connect(url, headers={"Authorization": "Bearer hush"}):
                server.send_signal(signal.SIGTERM)
                return await server.communicate()

    assert asyncio.run(main()) == (b"", b"")


def test_what_is_no_http_costs_a_line_and_no_traceback():
    async def main():
        async with asyncio.timeout(GUARD_S):
            server, _, ws_port = await started("--ws-token", "hush")
            answers = []
            for header in (b"X: " + b"x" * 20_000, b"\x1b\x1b", b"Authorization: Bearer \xff"):
                reader, writer = await asyncio.open_connection("127.0.0.1", ws_port)
                writer.write(b"GET /ws HTTP/1.1\r\nHost: x\r\n" + header + b"\r\n\r\n")
                answers.append((await reader.readline()).split()[1])
                writer.close()
            server.send_signal(signal.SIGTERM)
            return answers, (await server.communicate())[1].decode()

    answers, errors = asyncio.run(main())
    assert answers == [b"400", b"400", b"401"]
    assert len(errors.splitlines()) == 2
    assert all("Error handling request" in line for line in errors.splitlines())
    assert "\x1b" not in errors
