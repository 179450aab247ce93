"""Signals to ``mjbot run`` and ``serve`` before they serve: each kills itself where it is."""

import signal
import subprocess
import sys

import pytest

from mjbot.runtime.errors import ExitCode

GUARD_S = 300
STAGES = {
    "import": "builtins.__import__ = stopping",
    "read": "import mjbot.cli.main as m; m.read_with_profile = lambda *_: here()",
    "run": "import mjbot.cli.run as m; m._plan = lambda *_: here()",
    "between": "import mjbot.cli.main as m; m.route_logging = here",
}
PROGRAM = """
import builtins, os, signal, sys

def here():
    os.kill(os.getpid(), signal.{signal})
    print("alive", flush=True)
    os._exit(7)

import_ = builtins.__import__

def stopping(name, *rest, **more):
    if name == "mjbot.cli.main":
        here()
    return import_(name, *rest, **more)

from mjbot.__main__ import run
{stage}
sys.argv[1:] = {arguments!r}
run()
"""


def ended(tmp_path, stage, name, arguments):
    path = tmp_path / "bot.toml"
    path.write_text('[server]\nurl = "ws://127.0.0.1:1/ws"\n')
    words = [str(path) if word == "PROFILE" else word for word in arguments]
    program = PROGRAM.format(signal=name, stage=STAGES[stage], arguments=words)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=GUARD_S,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.strip()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no SIGHUP here")
@pytest.mark.parametrize("stage", STAGES)
def test_sighup_ends_no_service_that_starts(stage, tmp_path):
    assert ended(tmp_path, stage, "SIGHUP", ["run", "PROFILE"]) == (7, "alive")


@pytest.mark.parametrize("stage", STAGES)
def test_sigterm_ends_a_service_that_starts_with_status_0(stage, tmp_path):
    assert ended(tmp_path, stage, "SIGTERM", ["run", "PROFILE"]) == (ExitCode.OK, "")


@pytest.mark.parametrize("command", ["serve", "strategies"])
@pytest.mark.parametrize("stage", ["import", "read"])
def test_sigterm_of_other_commands(stage, command, tmp_path):
    status = ExitCode.OK if command == "serve" else ExitCode.INTERRUPTED
    assert ended(tmp_path, stage, "SIGTERM", [command]) == (status, "")


HELD = """
import asyncio, os, signal
from mjbot.runtime.interruption import ending_at_once, run_until_signalled
from mjbot.runtime.interruption import take_signals_of_a_service

take_signals_of_a_service(reloads=True)

async def main():
    await reloaded.wait()

async def made():
    global reloaded
    reloaded = asyncio.Event()
    await main()

with ending_at_once():
    os.kill(os.getpid(), signal.SIGHUP)
    run_until_signalled(made(), on_sighup=lambda: (print("reloaded"), reloaded.set()))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no SIGHUP here")
def test_a_sighup_that_came_early_is_obeyed_once_it_serves():
    done = subprocess.run(
        [sys.executable, "-c", HELD], capture_output=True, text=True, timeout=GUARD_S, check=False
    )
    assert (done.returncode, done.stdout) == (0, "reloaded\n"), done.stderr
