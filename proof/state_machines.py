"""The state machines of the tests, at length: sessions, the table and its mirrors, the channel.

The ordinary suite runs a few walks of each; this runs the number given.
"""

import argparse
import os
import subprocess
import sys
import time
from typing import Final

from proof.fuzzing.seeds import ROOT

MACHINES: Final = {
    "sessions": "tests/protocol/test_session_machine.py",
    "table": "tests/game/table/test_table_machine.py",
    "channel": "tests/strategy/pair/test_channel_machine.py",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m proof state-machines``."""
    parser.add_argument("--examples", type=int, default=2000, help="walks of each (2000)")
    parser.add_argument("--seed", type=int, default=0, help="of all walks (0)")
    parser.add_argument("--only", choices=[*MACHINES], help="one of them")


def run(args: argparse.Namespace) -> int:
    """Walk with each machine, return 1 if any of them found something."""
    failed = 0
    for name, path in MACHINES.items():
        if args.only not in (None, name):
            continue
        started = time.monotonic()
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path,
            f"--hypothesis-seed={args.seed}", "-o", "faulthandler_timeout=0",
        ]  # fmt: skip
        environ = os.environ | {"MJBOT_EXAMPLES": str(args.examples)}
        status = subprocess.run(command, env=environ, cwd=ROOT, check=False).returncode
        failed += status != 0
        result = "nothing found" if status == 0 else "a finding"
        seconds, processor = time.monotonic() - started, os.times().children_user
        print(f"{name}: {args.examples} walks, {result}; {seconds:.0f} s, "
              f"{processor:.0f} s of processor time so far", flush=True)  # fmt: skip
    return int(failed > 0)
