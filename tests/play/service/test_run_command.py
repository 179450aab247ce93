"""``mjbot run`` as a process: what it writes, what it reports to systemd, how signals end it."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys

import pytest

from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.protocol.transports.tcp import connect_tcp
from mjbot.runtime.errors import ExitCode

GUARD_S = 300


@contextlib.asynccontextmanager
async def running(tmp_path, notices):
    """A server, and a process that waits there for its first game; ``notices`` is as systemd's."""
    async with TableServer(TableRules(seed=1, fixed_seats=True)) as server:
        port = await server.open_websocket("127.0.0.1", 0, "s3cret")
        (tmp_path / "token").write_text("s3cret\n")
        (tmp_path / "bot.toml").write_text(
            f'[server]\nurl = "ws://127.0.0.1:{port}/ws"\nname = "one"\ntoken_file = "token"\n'
            '[logs]\nstatus = "status.json"\nlog = "bot.log"\n'
        )
        notices.bind(str(tmp_path / "notify"))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mjbot", "run", "bot.toml"),
            cwd=tmp_path,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")},
        )
        try:
            yield server, process
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def until_waiting(server, name):
    while [seat.name for seat in server.lobby.waiting] != [name]:
        await asyncio.sleep(0.05)


async def until(holds):
    while not holds():
        await asyncio.sleep(0.05)


def is_playing(status):
    return any(lane["state"] == "playing" for lane in status["lanes"])


def status_of(tmp_path):
    return json.loads((tmp_path / "status.json").read_text())


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no SIGHUP here")
def test_a_process_reloads_at_sighup_and_ends_at_sigterm(tmp_path):
    async def main():
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices:
            async with asyncio.timeout(GUARD_S), running(tmp_path, notices) as (server, process):
                await until_waiting(server, "one")
                profile = (tmp_path / "bot.toml").read_text()
                (tmp_path / "bot.toml").write_text(profile + "[play]\ngmaes = 3\n")
                process.send_signal(signal.SIGHUP)
                while "is not taken over" not in (tmp_path / "bot.log").read_text():
                    await asyncio.sleep(0.05)
                (tmp_path / "bot.toml").write_text(profile.replace('"one"', '"two"'))
                process.send_signal(signal.SIGHUP)
                await until_waiting(server, "two")
                process.send_signal(signal.SIGTERM)
                assert await process.wait() == ExitCode.OK
                notices.settimeout(1)
                return notices.recv(4096)

    first = asyncio.run(main())
    assert first == b"READY=1"
    status = status_of(tmp_path)
    assert (status["state"], status["ends"]["fault"]) == ("stopped", 0)
    log = (tmp_path / "bot.log").read_text()
    assert "bot.toml, line 9: play.gmaes: unknown key; did you mean 'games'?" in log
    assert "s3cret" not in log + json.dumps(status)


def test_a_second_sigterm_ends_a_game_at_once(tmp_path):
    """The three others at the table join and say nothing: the game begins and does not go on."""

    async def main():
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices:
            async with asyncio.timeout(GUARD_S), running(tmp_path, notices) as (server, process):
                await until_waiting(server, "one")
                async with contextlib.AsyncExitStack() as stack:
                    port = await server.open_tcp("127.0.0.1", 0)
                    for number in range(3):
                        line = await stack.enter_async_context(await connect_tcp("127.0.0.1", port))
                        await line.receive(GUARD_S)
                        join = f'{{"type":"join","name":"mute{number}","room":"default"}}'
                        await line.send(join.encode())
                    playing = asyncio.create_task(anext(server.play(1)))
                    await until(lambda: is_playing(status_of(tmp_path)))
                    process.send_signal(signal.SIGTERM)
                    await until(lambda: status_of(tmp_path)["state"] == "ending")
                    assert process.returncode is None
                    process.send_signal(signal.SIGTERM)
                    assert await process.wait() == ExitCode.INTERRUPTED
                    playing.cancel()
                    await asyncio.gather(playing, return_exceptions=True)

    asyncio.run(main())
    assert status_of(tmp_path)["state"] == "stopped"
