"""How a bot that is checked reaches the check."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mjbot.play.check import lines
from mjbot.play.check.lines import CannotStartError, ConnectingBot, Running, TransportLine
from mjbot.protocol.dialects import LINES, LOCKSTEP, Dialect
from mjbot.protocol.transports.memory import memory_pair

STARTS = """
import asyncio, os, sys
from mjbot.play.check.lines import Running
async def main():
    await Running.run([sys.executable, "-S", "-E", "-c", *sys.argv[1:]], pipes=False)
    sys.stdin.readline()
    os._exit(0)
asyncio.run(main())
"""
SURVIVES = """
import sys, time
with open(sys.argv[1], "w") as pipe:
    print("started", file=pipe, flush=True)
    time.sleep(5)
    print("survived", file=pipe)
"""


@pytest.mark.parametrize(
    ("dialect", "url"), [(LOCKSTEP, "mjsonp://127.0.0.1:"), (LINES, "ws://127.0.0.1:")]
)
def test_a_bot_is_given_the_url_of_its_dialect(dialect: Dialect, url: str) -> None:
    async def start() -> None:
        command = [sys.executable, "-c", "raise SystemExit(3)", "{url}"]
        async with ConnectingBot(command, dialect, "leaver") as bot:
            await bot.sit_down(0)

    with pytest.raises(CannotStartError, match=f"no connection to {url}"):
        asyncio.run(start())


def test_the_seconds_of_a_reply_run_from_the_last_line_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = iter([1.0, 10.0, 12.5])

    async def talk() -> float:
        ours, theirs = memory_pair()
        running = await Running.run([sys.executable, "-S", "-E", "-c", ""], pipes=False)
        monkeypatch.setattr(lines.time, "perf_counter", lambda: next(moments))
        line = TransportLine(ours, running)
        await line.send(b"{}")
        await theirs.send(b"{}")
        received = await line.receive(5.0)
        monkeypatch.undo()
        await running.kill()
        return received.seconds

    assert asyncio.run(talk()) == 2.5


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends processes with their parent")
def test_what_a_check_has_started_ends_with_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-c", STARTS, SURVIVES, str(pipe)]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as starter,
        pipe.open() as written,
    ):
        assert written.readline() == "started\n"
        starter.communicate("end\n")
        assert written.read() == ""
