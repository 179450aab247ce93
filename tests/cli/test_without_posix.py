"""Commands on a system that lacks POSIX's modules and calls, as Windows does: they end as usual.

The names are taken away in every process that a command starts
(``tests/runtime/without_posix/sitecustomize.py``).
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mjbot.runtime.errors import ExitCode

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "logs" / "east-four-winds.mjson"
FOUR = ["tsumogiri"] * 4
SHORT = ["--length", "tonpu", "--seed", "1"]
COMMANDS = {
    "init": ["init", "bot.toml"],
    "init --serve": ["init", "server.toml", "--serve"],
    "run --check": ["run", "--check", "bot.toml"],
    "match": ["match", *FOUR, *SHORT, "--log-dir", "runs"],
    "arena": ["arena", *FOUR[:2], "--games", "2", "--jobs", "2", *SHORT],
    "review": ["review", RECORD.name, "--seat", "0", "--out", "review.html", "--playouts", "0"],
    "stats": ["stats", RECORD.name, "--jobs", "2"],
    "watch": ["watch", RECORD.name, "--out", "board.html"],
    "replay": ["replay", RECORD.name],
    "detect": ["detect", RECORD.name],
    "strategies": ["strategies"],
    "an unknown command": ["bot"],
    "no such file": ["stats", "nothing.mjson"],
}
STATUSES = {
    "an unknown command": ExitCode.BAD_ARGUMENTS,
    "no such file": ExitCode.UNREACHABLE,
}
DRIVER = """
import contextlib, json, pathlib, sys, traceback
if __name__ == "__main__":
    from mjbot.cli.main import main
    from mjbot.play.server import server
    from tests.play.last_kyoku import LastKyoku
    server.Referee = LastKyoku
    for name, words in json.loads(sys.argv[1]).items():
        with pathlib.Path(f"{name}.err").open("w") as err, contextlib.redirect_stderr(err):
            with pathlib.Path(f"{name}.out").open("w") as out, contextlib.redirect_stdout(out):
                try:
                    status = main(words)
                except SystemExit as end:
                    status = end.code or 0
                except BaseException:
                    traceback.print_exc()
                    status = "traceback"
        pathlib.Path(f"{name}.status").write_text(str(status))
"""


def environ() -> dict[str, str]:
    folder = ROOT / "tests" / "runtime" / "without_posix"
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run all commands in one process; return the folder with what they printed."""
    folder = tmp_path_factory.mktemp("commands")
    shutil.copy(RECORD, folder)
    (folder / "driver.py").write_text(DRIVER)
    command = [sys.executable, "driver.py", json.dumps(COMMANDS)]
    subprocess.run(command, cwd=folder, env=environ(), check=True)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_status(name: str, ended: Path) -> None:
    status = (ended / f"{name}.status").read_text()
    errors = (ended / f"{name}.err").read_text()
    assert "Traceback" not in errors
    assert status == str(int(STATUSES.get(name, ExitCode.OK))), errors


def test_the_names_are_really_gone() -> None:
    program = """
import os, signal, socket, asyncio
print([hasattr(os, "killpg"), hasattr(signal, "SIGKILL"), hasattr(socket, "AF_UNIX")])
import fcntl
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=environ(), capture_output=True, check=False
    )
    assert done.stdout == b"[False, False, False]\n" and b"ModuleNotFoundError" in done.stderr


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["serve", "--port", "0", "--no-ws", "--games", "1"], "waiting for four players"),
        (["run", "bot.toml"], "unreachable"),
    ],
)
def test_a_service_ends_at_sigterm(words: list[str], first: str, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('[server]\nurl = "mjsonp://127.0.0.1:9/default"\n')
    with subprocess.Popen(
        [sys.executable, "-m", "mjbot", *words],
        cwd=tmp_path,
        env=environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = next((line for line in iter(process.stdout.readline, "") if first in line), "")
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
    assert line and "Traceback" not in rest
    assert process.returncode == ExitCode.OK
