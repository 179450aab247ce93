"""Signals to ``mjbot run`` and ``serve`` before they serve: each kills itself where it is."""

import json
import signal
import subprocess
import sys

import pytest

from mjbot.runtime.errors import ExitCode

GUARD_S = 300
ALIVE = 7
STAGES = {
    "import": ("mjbot.cli.main", ""),
    "read": ("mjbot.cli.main", "read_with_profile"),
    "run": ("mjbot.cli.run", "_plan"),
    "between": ("mjbot.cli.main", "route_logging"),
}
"""When a command kills itself: in a call of a module's function, or before it imports that."""

PROGRAM = f"""
import builtins, importlib, json, os, signal, sys
from mjbot.__main__ import run

def status_of(name, module, function, arguments):
    if pid := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def here(*_, **__):
        os.kill(os.getpid(), signal.Signals[name])
        os._exit({ALIVE})

    def stopping(imported, *rest, **more):
        return here() if imported == module else import_(imported, *rest, **more)

    import_ = builtins.__import__
    if function:
        owner = importlib.import_module(module)
        assert hasattr(owner, function), "renamed: the service would run for ever"
        setattr(owner, function, here)
    else:
        builtins.__import__ = stopping
    sys.argv[1:] = arguments
    run()

statuses = []
for name, module, function, arguments in json.loads(sys.argv[1]):
    if function:
        import mjbot.cli.run  # once for all that are killed later
    statuses.append(status_of(name, module, function, arguments))
print(json.dumps(statuses))
"""


def test_signals_end_or_spare_what_starts(tmp_path):
    """SIGTERM ends a service with status 0, SIGHUP ends all but ``run``."""
    path = tmp_path / "bot.toml"
    path.write_text('[server]\nurl = "ws://127.0.0.1:1/ws"\n')
    expected = {("SIGTERM", stage, "run"): ExitCode.OK for stage in STAGES}
    for stage in ("import", "read"):
        expected["SIGTERM", stage, "serve"] = ExitCode.OK
        expected["SIGTERM", stage, "strategies"] = ExitCode.INTERRUPTED
    if hasattr(signal, "SIGHUP"):
        expected |= {("SIGHUP", stage, "run"): ALIVE for stage in STAGES}
        for stage in ("import", "read"):
            expected["SIGHUP", stage, "serve"] = ExitCode.INTERRUPTED
            expected["SIGHUP", stage, "strategies"] = ExitCode.INTERRUPTED
    cases = sorted(expected, key=lambda case: list(STAGES).index(case[1]))
    written = [
        (name, *STAGES[stage], ["run", str(path)] if command == "run" else [command])
        for name, stage, command in cases
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(written)],
        capture_output=True, text=True, timeout=GUARD_S, check=True,
    )  # fmt: skip
    assert dict(zip(cases, json.loads(done.stdout), strict=True)) == expected, done.stderr


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
