"""A token is planted, and searched for in everything that a command wrote, in every failure."""

import base64
import contextlib
import hashlib
import io
import json
import logging
import os
import socket
import subprocess
import sys
import threading
import traceback
from http import HTTPStatus

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Response
from websockets.sync.server import serve

from mjbot.cli.main import main
from mjbot.play.client import play as play_module
from mjbot.play.server.accounts import Accounts, Admission
from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.play.service.bot import BotService
from mjbot.protocol.transports import websocket
from mjbot.protocol.transports.address import parse_address
from mjbot.runtime.redaction import CONCEALED, RedactedStream, _spellings

TOKEN = "PLANTED%/token-77"
HOST = "127.0.0.1"
GUARD_S = 300


class RefusingServer:
    """A WebSocket server with a fault; it repeats the token wherever it can."""

    def __init__(self, fault):
        self._fault = fault
        self._server = serve(self._talk, HOST, 0, process_request=self._request)
        self.port = self._server.socket.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()

    def _request(self, connection, request):
        bearer = request.headers.get("Authorization", "")
        if self._fault == "refused":
            return Response(401, "no", Headers({"WWW-Authenticate": bearer}), bearer.encode())
        if self._fault == "redirected":
            there = f"ws://elsewhere.example/?t={bearer[7:]}"
            return Response(HTTPStatus.FOUND, "there", Headers({"Location": there}), b"")
        if self._fault == "reset":
            connection.socket.shutdown(socket.SHUT_RDWR)
        self._bearer = bearer
        return None

    def _talk(self, connection):
        text = f"who is {self._bearer[7:]!r}?"
        if self._fault == "no JSON":
            connection.send(f"{text}{'x' * 80}{self._bearer[7:]}")  # cut inside the token
            connection.close(4001, f"{'x' * 100}{self._bearer[7:]}")
        connection.send(json.dumps({"type": "error", "message": text}))
        connection.close(1008, text)


def unexpected(quotes):
    """Return what fails below the connection; ``quotes`` whether its text has the token."""

    async def connection(url, **options):
        headers = options["additional_headers"]
        raise RuntimeError(f"in {headers}" if quotes else "boom")

    return connection


FAULTS = [
    "refused", "redirected", "reset", "answers", "no JSON", "no TLS", "absent", "boom",
    "quoting boom",
]  # fmt: skip
QUOTED = ("redirected", "answers", "no JSON", "quoting boom")
"""Where another program's text has the token, so that the last barrier is needed."""


def run(*arguments):
    """Return a command's status, and what it prints, as ``mjbot`` does."""
    written = io.StringIO()
    stream = RedactedStream(written)
    with contextlib.redirect_stderr(stream), contextlib.redirect_stdout(stream):
        try:
            return main(arguments), written.getvalue()
        except RuntimeError:  # an error of ours: Python prints its traceback
            traceback.print_exc()
            return 1, written.getvalue()


@pytest.fixture
def url(request, monkeypatch):
    fault = request.param
    if "boom" in fault:
        monkeypatch.setattr(websocket, "_connection", unexpected(fault == "quoting boom"))
    with RefusingServer(fault) as server:
        port = 1 if fault == "absent" else server.port
        yield fault, f"{'wss' if fault == 'no TLS' else 'ws'}://{HOST}:{port}/ws"


def files(folder):
    return {path.name: path.read_bytes().decode() for path in folder.rglob("*") if path.is_file()}


def assert_hidden(fault, texts):
    text = "\n".join(texts)
    assert text.strip()
    coded = [TOKEN.encode().hex(), base64.b64encode(TOKEN.encode()).decode().rstrip("=")]
    for spelling in [*_spellings(TOKEN), *coded]:
        assert spelling.lower() not in text.lower()
    assert TOKEN[:4].lower() not in text.lower()
    if fault not in QUOTED:
        assert CONCEALED not in text, "shown, but for the last barrier"


@pytest.mark.parametrize("url", FAULTS, indirect=True)
def test_run_writes_no_token(url, tmp_path, monkeypatch):
    fault, place = url
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "bot.toml").write_text(
        f'[server]\nurl = "{place}"\ntoken_file = "{tmp_path}/token"\n'
        f"[connection]\nfirst_pause_s = 0.01\nlongest_pause_s = 0.01\n"
        f'[logs]\nlog = "{out}/bot.log"\nverbose = true\nfolder = "{out}/games"\nevidence = true\n'
        f'status = "{out}/status.json"\n'
    )
    reported = []
    count = BotService.count

    def counted(service, outcome):
        count(service, outcome)
        reported.extend([json.dumps(service.status.snapshot()), service.status.metrics()])
        if len(reported) == 4:
            service.finish()

    monkeypatch.setattr(BotService, "count", counted)
    _, printed = run("run", str(tmp_path / "bot.toml"))
    assert len(reported) >= 4
    written = files(out)
    assert "bot.log" in written and "status.json" in written
    assert_hidden(fault, [printed, *written.values(), *reported])


@pytest.mark.parametrize("url", FAULTS, indirect=True)
@pytest.mark.parametrize("command", ["play", "check"])
def test_play_and_check_write_no_token(url, command, tmp_path, monkeypatch):
    fault, place = url
    monkeypatch.setenv("MJBOT_TOKEN", TOKEN)
    more = (
        ["--verbose", "--log", str(tmp_path / "log")]
        if command == "play"
        else ["--only", "S01", "--junit", str(tmp_path / "check.xml")]
    )
    status, printed = run(command, place, *more)
    assert status != 0
    assert_hidden(fault, [printed, *files(tmp_path).values()])


PAIR = """
import sys
from mjbot.cli import play
from mjbot.play.client.pair_channel import Linked
from mjbot.__main__ import run

def boom(request, linked):
    raise RuntimeError(f"in {linked.secret}")

play.prepare_seat = boom
run()
"""


def test_the_last_barrier_stands_in_a_process_of_its_own(tmp_path):
    """Python's own traceback of an exception that quotes the secret of a pair."""
    pair = ["--pair", "guest:1", "--ally", "combo-partner", "--strategy", "combo-partner"]
    url = f"mjsonp://{HOST}:1/default"
    done = subprocess.run(
        [sys.executable, "-P", "-c", PAIR, "play", url, "--name", "team a", *pair],
        env={**os.environ, "MJBOT_PAIR_SECRET": TOKEN * 3},
        capture_output=True, text=True, check=False, timeout=GUARD_S,
    )  # fmt: skip
    assert TOKEN not in done.stdout + done.stderr
    assert CONCEALED in done.stderr and "RuntimeError" in done.stderr, done.stderr


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /ws HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\xff\xfe\r\n\r\n",
        b"GET /ws?token=TOKEN HTTP/9\r\n\r\n",
        b"BREW TOKEN\r\n\r\n",
        b"GET /ws HTTP/1.1\r\nAuthorization Bearer TOKEN\r\n\r\n",
        b"GET /ws HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN" + b"x" * 20_000 + b"\r\n\r\n",
        b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\nAuthorization: Bearer TOKEN\r\n\r\n",
    ],
)
def test_a_server_logs_no_token_of_an_account(request_, tmp_path, caplog, capsys):
    """It knows only the digests, so that no barrier can help: no part of a request is logged."""
    import asyncio

    secret = "account-SECRET-5"
    digest = hashlib.sha256(secret.encode()).hexdigest()
    (tmp_path / "accounts").write_text(f"ann {digest}\n")
    accounts = Accounts.read(tmp_path / "accounts")
    caplog.set_level(logging.DEBUG)

    async def talk():
        async with TableServer(
            TableRules(seed=1), admission=Admission(accounts=accounts)
        ) as server:
            port = await server.open_websocket(HOST, 0)
            reader, writer = await asyncio.open_connection(HOST, port)
            writer.write(request_.replace(b"TOKEN", secret.encode()))
            with contextlib.suppress(OSError, TimeoutError):
                await asyncio.wait_for(reader.read(), 2)
            writer.close()

    asyncio.run(talk())
    written = [*capsys.readouterr(), caplog.text, *[str(each.args) for each in caplog.records]]
    assert secret not in "\n".join(written)


@pytest.mark.parametrize("token", ["секрет-SECRET-42", "naïve-SECRET-42", "a\x07b-SECRET-42"])
@pytest.mark.parametrize("source", ["file", "variable"])
@pytest.mark.parametrize("command", ["play", "run", "check", "serve"])
def test_a_token_that_no_header_can_have_is_refused_in_one_line(
    command, source, token, tmp_path, monkeypatch
):
    (tmp_path / "token").write_text(token)
    place, variable = f"ws://{HOST}:1/ws", "MJBOT_WS_TOKEN" if command == "serve" else "MJBOT_TOKEN"
    if source == "variable":
        monkeypatch.setenv(variable, token)
    if command == "run":
        key = f'token_file = "{tmp_path}/token"\n' if source == "file" else ""
        (tmp_path / "bot.toml").write_text(f'[server]\nurl = "{place}"\n{key}')
        arguments = ["run", str(tmp_path / "bot.toml")]
    else:
        flag = "--ws-token-file" if command == "serve" else "--token-file"
        arguments = [command, *([] if command == "serve" else [place])]
        arguments += [flag, str(tmp_path / "token")] if source == "file" else []
    status, stderr = run(*arguments)
    (line,) = stderr.splitlines()
    assert status == 2
    assert "a character that a token cannot have" in line
    assert "SECRET" not in line and CONCEALED not in line


@pytest.mark.parametrize(
    "url",
    [
        "ws://ann:pass-SECRET@a.example/ws",
        "wss://pass-SECRET@a.example/ws",
        "ws:/pass-SECRET@a.example/ws?://",
        "http://ann:pass-SECRET@a.example/ws",
        "ws://ann:pass-SECRET@[bad/ws",
        "ws://a.example/ws?token=SECRET",
        "ws://a.example/ws?a=1&%54oken=SECRET",
        "ws://a.example/ws#access_token=SECRET",
        "tenhou://SECRET@a.example:10080/0",
        "mjsonp://a:SECRET@a.example:1/default",
    ],
)
def test_a_url_with_a_secret_is_refused_and_not_quoted(url, tmp_path):
    with pytest.raises(ValueError, match="has no place in a URL") as refused:
        parse_address(url)
    assert "SECRET" not in str(refused.value)
    (tmp_path / "bot.toml").write_text(f'[server]\nurl = "{url}"\n')
    for arguments in (["play", url], ["check", url], ["run", str(tmp_path / "bot.toml")]):
        status, stderr = run(*arguments)
        (line,) = stderr.splitlines()
        assert status == 2 and "SECRET" not in line


@pytest.mark.parametrize("host", ["127..0.0.1", ".a.example", "a" * 64 + ".example"])
def test_a_host_that_cannot_be_is_refused_where_the_url_is_read(host):
    with pytest.raises(ValueError, match="is no name of a host"):
        parse_address(f"ws://{host}:1/ws")


def test_settings_and_plans_are_printed_without_their_tokens():
    settings = play_module.Settings(parse_address(f"ws://{HOST}:1/ws"), token=TOKEN)
    assert TOKEN not in repr(settings)


def test_loguru_has_its_outputs_from_one_module_without_local_variables():
    """It shows the values of local variables in tracebacks, unless that is turned off."""
    from pathlib import Path

    import mjbot

    root = Path(mjbot.__file__).parent
    users = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if "loguru import" in path.read_text("utf-8") or "import loguru" in path.read_text("utf-8")
    }
    assert users <= {"cli/log.py", "cli/serve.py"}  # the latter for a type alone
    assert "diagnose=False" in (root / "cli/log.py").read_text("utf-8")
