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
from mjbot.runtime.errors import ExitCode

SERVE = [sys.executable, "-m", "mjbot", "serve"]
GUARD_S = 300
OPTIONS = ["--port", "0", "--length", "tonpu", "--timeout-s", str(GUARD_S)]


@pytest.fixture
def serving(beside):
    """Run the command here: ``serving(scenario, *options)``, ``scenario(server, *its ports)``."""

    def run(scenario, *options):
        async def meet(server):
            return await scenario(server, *await ports_of(server))

        return beside(meet, "serve", *OPTIONS, *options)

    return run


def test_a_served_game_with_its_log(tmp_path, beside, raw_client):
    async def play(server):
        first = (await server.stdout.readline()).decode()
        port = int(re.fullmatch(r"listening on mjsonp://127\.0\.0\.1:(\d+)/mine\n", first)[1])
        clients = [raw_client(name=f"bot{n}", room="mine") for n in range(4)]
        await asyncio.gather(*[client.play(port) for client in clients])
        output, _ = await server.communicate()
        return output.decode(), clients[0].received[-1]["scores"]

    options = ["--port", "0", "--length", "tonpu", "--seed", "9", "--log-dir", str(tmp_path)]
    status, (output, scores) = beside(play, "serve", *options, "--room", "mine", "--no-ws")
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
        (["--tenhou", "0", "--on-fault", "chombo"], "--on-fault chombo: a chombo cannot be sent"),
        (["--tenhou-ws", "70000"], "--tenhou-ws: '70000'"),
        (["--ws-token-file", "/dev/null"], "/dev/null: no token there"),
    ],
)
def test_bad_arguments_are_named_in_one_line(served, options, words):
    status, _, errors = served(*options)
    assert status == ExitCode.BAD_ARGUMENTS
    assert words in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "report"),
    [
        (["--port"], "--port {} is in use: name another, or 0 for any"),
        (["--port", "0", "--ws-port"], "--ws-port {} is in use: name another, or --no-ws"),
        (
            ["--port", "0", "--no-ws", "--tenhou"],
            "--tenhou {} is in use: name another, or 0 for any",
        ),
    ],
)
def test_a_port_in_use_is_named_in_one_line_with_the_cure(served, options, report):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, _, errors = served(*options, str(port))
    assert status == ExitCode.UNREACHABLE
    assert errors.splitlines()[-1] == f"mjbot serve: {report.format(port)}"


async def half_open(port, ws_port, *, joining=True):
    """Connections of every kind that nobody plays over; return what keeps them open."""
    http = b"GET /ws HTTP/1.1\r\nHost: x\r\n"
    key = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    key += b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    join = b'{"type":"join","name":"first","room":"default"}\n'
    begun = [(port, b""), (port, b'{"type":"jo'), (ws_port, b""), (ws_port, http)]
    begun += [(port, join), (ws_port, http + key)] if joining else []
    ends = []
    for number, sent in begun:
        ends.append(await asyncio.open_connection("127.0.0.1", number))
        ends[-1][1].write(sent)
    for reader, _ in (ends[0], ends[1], *ends[4:]):
        assert await reader.readline()  # it has been greeted
    return ends


async def started():
    """Start the command as a process; return it and the ports of its endpoints."""
    server = await asyncio.create_subprocess_exec(
        *SERVE, *OPTIONS, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    return server, *await ports_of(server)


async def ports_of(server):
    """Return the ports of both endpoints once players are awaited."""
    ports = []
    for _ in range(2):
        line = (await server.stdout.readline()).decode()
        ports.append(int(re.search(r"127\.0\.0\.1:(\d+)/", line)[1]))
    assert b"waiting for four players" in await server.stdout.readline()
    return ports


LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (INFO|WARNING) (.+)")


def logged(errors):
    """Return what was logged: each line has a time stamp and a level."""
    lines = [LINE.fullmatch(line) for line in errors.decode().splitlines()]
    assert all(lines), errors
    return [line[2] for line in lines]


class Pondering:
    """A policy that does not answer its first own draw until it is told to."""

    def __init__(self, policy):
        self.policy, self.asked, self.owed = policy, asyncio.Event(), None

    def __call__(self, event, seat):
        if event["type"] == "tsumo" and event["actor"] == seat and self.owed is None:
            self.owed = self.policy(event, seat)
            self.asked.set()
            return None
        return self.policy(event, seat)


@pytest.mark.parametrize(
    ("phase", "numbers"),
    [
        ("waiting", [signal.SIGINT]),
        ("in game", [signal.SIGHUP]),
        ("in game", [signal.SIGTERM, signal.SIGTERM]),
    ],
)
def test_a_signal_ends_it_at_once_and_the_players_receive_the_reason(
    raw_client, default_policy, phase, numbers
):
    """SIGTERM does so when it comes again: the first one lets the running game end."""
    ponder = Pondering(default_policy)

    async def main():
        async with asyncio.timeout(GUARD_S):
            server, port, ws_port = await started()
            playing = []
            if phase == "in game":
                clients = [raw_client(ponder), *[raw_client() for _ in range(3)]]
                playing = [asyncio.create_task(client.play(port)) for client in clients]
                await ponder.asked.wait()
            ends = await half_open(port, ws_port)
            read = b""
            for number in numbers:
                server.send_signal(number)
                while number is signal.SIGTERM and b"SIGTERM" not in read:
                    read += await server.stderr.readline()
            _, errors = await server.communicate()
            for reader, writer in ends:
                with contextlib.suppress(ConnectionError):
                    await reader.read()
                writer.close()
            ends_of_players = [client.received[-1] for client in await asyncio.gather(*playing)]
            return server.returncode, read + errors, ends_of_players

    status, errors, ends_of_players = asyncio.run(main())
    text = {"type": "error", "message": "The server was ended; the game is void."}
    if phase == "in game":
        assert ends_of_players == 4 * [text]
        assert "game 1 is void: The server was ended; the game is void." in logged(errors)
    assert status == ExitCode.INTERRUPTED
    assert logged(errors)


def test_sigterm_lets_the_running_game_end_and_admits_nobody_to_another(
    serving, raw_client, default_policy
):
    ponder = Pondering(default_policy)

    async def play(server, port, ws_port):
        first, *others = [raw_client(ponder), *[raw_client() for _ in range(3)]]
        playing = [asyncio.create_task(client.play(port)) for client in (first, *others)]
        await ponder.asked.wait()
        server.send_signal(signal.SIGTERM)
        while b"SIGTERM" not in (line := await server.stderr.readline()):
            assert line
        for number in (port, ws_port):
            with pytest.raises(ConnectionRefusedError):
                while True:  # until the endpoints are closed, which is the next step
                    with contextlib.suppress(ConnectionResetError):  # closed in between
                        _, writer = await asyncio.open_connection("127.0.0.1", number)
                        writer.close()
        await first.send(ponder.owed)
        output, errors = await server.communicate()
        received = [client.received[-1]["type"] for client in await asyncio.gather(*playing)]
        return output.decode(), logged(errors), received

    status, (output, log, received) = serving(play, "--games", "5")
    assert status == ExitCode.OK
    assert received == 4 * ["end_game"]
    assert re.fullmatch(r"game 1: (raw(-\d)?:-?\d+ ?){4}\n", output)
    assert log[-1] == "game 1 has ended"


def test_sigterm_before_a_game_sends_the_waiting_players_away_with_status_0(serving, raw_client):
    async def wait(server, port, ws_port):
        waiting = asyncio.create_task(raw_client().play(port))
        while b"joined" not in (line := await server.stderr.readline()):
            assert line
        server.send_signal(signal.SIGTERM)
        _, errors = await server.communicate()
        return (await waiting).received[-1], logged(errors)

    status, (last, log) = serving(wait)
    assert status == ExitCode.OK
    assert last == {"type": "error", "message": "The table is closed."}
    assert [line.partition(":")[0] for line in log] == ["SIGTERM"]


def test_joins_leaves_refusals_and_seats_are_logged_with_address_and_endpoint(serving, raw_client):
    async def play(server, port, ws_port):
        async with aiohttp.ClientSession() as session:
            http = f"http://127.0.0.1:{ws_port}"
            for path in ("/ws", "/play"):
                async with session.get(http + path) as answer:
                    assert answer.status == (401 if path == "/ws" else 404)
            await raw_client(name="guest", room="other").play(port)
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b'{"type":"join","name":"short","room":"default"}\n')
            while b"short joined" not in (line := await server.stderr.readline()):
                assert line
            writer.close()
            while b"short left" not in (line := await server.stderr.readline()):
                assert line
            await asyncio.gather(*[raw_client(name=f"bot{n}").play(port) for n in range(4)])
            return (await server.communicate())[1]

    log = logged(serving(play, "--ws-token", "hush")[1])
    joined = [line.rpartition(", ")[2] for line in log if "joined" in line]
    assert joined == [f"{n} of 4 players" for n in range(1, 5)]
    assert re.fullmatch(
        r"game 1 begins: E bot\d \(mjsonp 127\.0\.0\.1:\d+\), S .+, W .+, N .+", log[-2]
    )
    assert log[-1] == "game 1 has ended"


def test_the_last_game_ends_it_and_who_has_not_joined_is_sent_away_without_a_word(
    serving, raw_client
):
    async def play(server, port, ws_port):
        ends = await half_open(port, ws_port, joining=False)
        await asyncio.gather(*[raw_client().play(port) for _ in range(4)])
        _, errors = await server.communicate()
        for _, writer in ends:
            writer.close()
        return logged(errors)[-1]

    assert serving(play) == (ExitCode.OK, "game 1 has ended")


def test_both_tenhou_doors_say_where_they_are_and_close_at_a_signal(beside):
    async def join(server):
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
        return logged(errors)[-1].partition(":")[0]

    options = ["--port", "0", "--no-ws", "--tenhou", "0", "--tenhou-ws", "0"]
    assert beside(join, "serve", *options) == (ExitCode.OK, "SIGTERM")


@pytest.mark.parametrize("option", ["--log-dir", "--ws-token-file"])
def test_a_path_that_cannot_be_used_is_named_before_anybody_joins(served, option):
    cure = "; name a file with the token" if option == "--ws-token-file" else ""
    problem = f"mjbot serve: /dev/null/x: Not a directory{cure}\n"
    assert served("--port", "0", option, "/dev/null/x") == (ExitCode.UNREACHABLE, "", problem)


def test_a_log_that_cannot_be_written_any_more_is_told_to_everybody(
    beside, raw_client, tmp_path, limited_files
):
    """As on a full disk: no file may grow beyond 16 kB."""

    async def play(server):
        line = (await server.stdout.readline()).decode()
        port = int(re.search(r"127\.0\.0\.1:(\d+)/", line)[1])
        four = [raw_client() for _ in range(4)]
        with limited_files(1 << 14):
            await asyncio.gather(*[client.play(port) for client in four])
            _, errors = await server.communicate()
        return errors.decode(), four

    options = ["--port", "0", "--no-ws", "--log-dir", str(tmp_path)]
    status, (errors, four) = beside(play, "serve", *options)
    assert status == ExitCode.UNREACHABLE
    (log,) = tmp_path.iterdir()
    assert errors.endswith(f"mjbot serve: {log}: File too large\n")
    for client in four:
        assert client.received[-1]["type"] == "error"
        assert "cannot write its log" in client.received[-1]["message"]


def test_names_reach_no_terminal_as_they_are(serving, raw_client):
    refused = raw_client(name="\x1b]0;title\x07\r\nforged line")

    async def play(server, port, ws_port):
        with contextlib.suppress(ConnectionError, EOFError, StopAsyncIteration):
            await refused.play(port)
        await asyncio.gather(*[raw_client(name="forged\u202eline").play(port) for _ in range(4)])
        return (await server.communicate())[0].decode()

    (line,) = serving(play)[1].splitlines()
    assert line.startswith("game 1: ")
    assert line.count(r"forged\u202eline") == 4
    assert refused.received[-1]["type"] == "error"


@pytest.mark.parametrize("by", ["environment", "file"])
def test_the_token_of_the_websocket_door_need_not_stand_on_the_command_line(
    by, serving, tmp_path, monkeypatch
):
    options = []
    if by == "file":
        (tmp_path / "token").write_text("hush\n")
        options = ["--ws-token-file", str(tmp_path / "token")]
    else:
        monkeypatch.setenv("MJBOT_WS_TOKEN", "hush")

    async def join(server, port, ws_port):
        async with aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{ws_port}/ws"
            with pytest.raises(aiohttp.WSServerHandshakeError, match="401"):
                await session.ws_connect(url)
            async with session.ws_connect(url, headers={"Authorization": "Bearer hush"}):
                server.send_signal(signal.SIGTERM)
                return await server.communicate()

    _, (output, errors) = serving(join, *options)
    assert output == b""
    refused, joined, _ = logged(errors)
    assert re.fullmatch(r"ws 127\.0\.0\.1:\d+: refused: wrong or missing bearer token", refused)
    assert re.fullmatch(r"ws 127\.0\.0\.1:\d+: websocket joined, 1 of 4 players", joined)


def test_what_is_no_http_costs_a_line_and_no_traceback(serving):
    async def send(server, port, ws_port):
        answers = []
        for header in (b"X: " + b"x" * 20_000, b"\x1b\x1b", b"Authorization: Bearer \xff"):
            reader, writer = await asyncio.open_connection("127.0.0.1", ws_port)
            writer.write(b"GET /ws HTTP/1.1\r\nHost: x\r\n" + header + b"\r\n\r\n")
            answers.append((await reader.readline()).split()[1])
            writer.close()
        server.send_signal(signal.SIGTERM)
        return answers, (await server.communicate())[1].decode()

    _, (answers, errors) = serving(send, "--ws-token", "hush")
    assert answers == [b"400", b"400", b"401"]
    assert "Traceback" not in errors
    assert len([line for line in errors.splitlines() if "Error handling request" in line]) == 2
    assert "\x1b" not in errors
