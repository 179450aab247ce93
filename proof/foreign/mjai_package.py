"""A hanchan in the simulator of the PyPI package ``mjai``: its two example bots and two of ours.

Ours are a ``bot.py`` of ten lines that starts mjbot, as a user of that simulator would write it.
The package gets an environment of its own: it needs an older ``mahjong`` than our tests.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Final

from mjbot.runtime.compiler.cache import cache_folder
from proof.answers import Report

ROOT: Final = Path(__file__).parents[2]
ENVIRONMENT: Final = ROOT / "build" / "strangers" / "mjai"
PACKAGE: Final = "mjai==0.2.1"
GAME_S: Final = 900.0
FIRST_ARRAY: Final = '[{"type":"start_game","names":["0","1","2","3"],"id":0}]\n'
EXAMPLE: Final = """\
import sys
from mjai.bot.{module} import {name}
{name}(int(sys.argv[1])).start()
"""
OURS: Final = """\
# mjbot in a simulator that starts "bot.py SEAT" and sends arrays
import os, sys
os.environ["MJBOT_CACHE"] = {cache!r}
command = [{python!r}, "-P", "-m", "mjbot", "play", "stdio-arrays:", sys.argv[1]]
os.execv(command[0], [*command, "--strategy", {strategy!r}])
"""


def play_in_simulator(report: Report) -> None:
    """Play one hanchan; the simulator's errors and what strict replay refuses are differences."""
    python = _python()
    with tempfile.TemporaryDirectory() as folder:
        bots = [_ours(folder, "fast-riichi-d"), _example(folder, "rulebase", "RulebaseBot")]
        bots += [_ours(folder, "fast-policy"), _example(folder, "riichibot", "RiichiBot")]
        for bot in (bots[0], bots[2]):  # the simulator waits 10 s: what a start compiles is kept
            start = [sys.executable, f"{bot}/bot.py", "0"]
            subprocess.run(start, input=FIRST_ARRAY, capture_output=True, text=True, check=False)
        log = Path(folder) / "game.mjson"
        command = [python, "-m", "proof", "mjai-simulator", "--python", python, "--log", str(log)]
        done = subprocess.run(
            [*command, *bots],
            cwd=ROOT,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=GAME_S,
            check=False,
        )
        lines = done.stdout.splitlines()
        answers = sum(map(int, re.findall(r"(\d+) answers", done.stdout)))
        report.agreed["answers in the mjai simulator"] += answers
        if done.returncode or not log.is_file():
            report.differences.append(f"mjai simulator: {(lines or done.stderr.splitlines())[-1]}")
            return
        replay = [sys.executable, "-P", "-m", "mjbot", "replay", str(log)]
        done = subprocess.run(replay, capture_output=True, text=True, check=False)
    if done.returncode:
        report.differences.append(f"mjai simulator's log: {done.stdout.strip()[-300:]}")
    report.agreed["hanchan in the mjai simulator"] += 1


def _python() -> str:
    """Return the Python that has the package; installs it the first time."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / ".installed").is_file():
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", PACKAGE]
        subprocess.run([*install, "--disable-pip-version-check"], check=True)
        (ENVIRONMENT / ".installed").touch()
    return str(python)


def _ours(folder: str, strategy: str) -> str:
    text = OURS.format(python=sys.executable, cache=str(cache_folder()), strategy=strategy)
    return _bot(folder, strategy, text)


def _example(folder: str, module: str, name: str) -> str:
    return _bot(folder, module, EXAMPLE.format(module=module, name=name))


def _bot(folder: str, name: str, text: str) -> str:
    bot = Path(folder) / name
    bot.mkdir()
    (bot / "bot.py").write_text(text, "utf-8")
    return str(bot)
