"""What the proof of signals plans, and what it finds in what a process leaves."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from proof.endurance.signals import LATEST_S, SIGNALS, plan
from proof.remains import catches, damage, end_all, left_after, marked

ROOT = Path(__file__).parents[2]
LOG = ROOT / "logs" / "hanchan-thirteen-kyoku.mjson"
MARK = "MJBOT_TEST_REMAINS"


def test_commands_and_signals_take_equal_turns_and_moments_stay_as_planned():
    trials = plan(300, 7)
    assert trials == plan(300, 7) != plan(300, 8)
    kinds = Counter((trial.command, trial.signal) for trial in trials)
    assert kinds == dict.fromkeys(product(LATEST_S, SIGNALS), 20)
    assert all(0 < trial.after_s <= LATEST_S[trial.command] for trial in trials)
    groups = Counter(trial.command for trial in trials if trial.to_group)
    assert groups == dict.fromkeys(LATEST_S, 10)
    assert all(trial.signal is signal.SIGINT for trial in trials if trial.to_group)


def test_a_game_may_be_unfinished_but_not_its_last_line(tmp_path):
    lines = LOG.read_bytes().splitlines(keepends=True)
    (tmp_path / "game.mjson").write_bytes(b"".join(lines[:40]))
    assert list(damage(tmp_path)) == []
    (tmp_path / "game.mjson").write_bytes(b"".join(lines[:40])[:-9])
    assert any("torn" in problem for problem in damage(tmp_path))


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("player-1.txt", "Traceback (most recent call last):\nKeyError: 3", "KeyError: 3"),
        ("results.csv", "game,log\n1\n", "rows of different lengths"),
        ("games.jsonl", '{"setup"\n', "line 1"),
        (".0000012-03.jsonl.gz.unfinished", "", "not finished"),
    ],
)
def test_what_is_damaged_is_named(tmp_path, name, text, problem):
    (tmp_path / name).write_text(text)
    found = list(damage(tmp_path))
    assert found
    assert all(line.startswith(f"{name}: ") for line in found)
    assert any(problem in line for line in found)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
def test_whoever_was_started_is_found_though_its_parent_and_group_are_gone():
    grandchild = "import time; print('there', flush=True); time.sleep(1000)"
    child = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {grandchild!r}], "
    child += "start_new_session=True)"
    value = str(os.getpid())
    parent = subprocess.Popen(
        [sys.executable, "-c", child],
        env={**os.environ, MARK: value},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert parent.stdout.readline() == "there\n"
        parent.wait()
        (pid,) = marked(MARK, value)
        assert catches(pid, signal.SIGINT)
        assert not catches(pid, signal.SIGTERM)
        assert list(left_after(MARK, value, time.monotonic())) == [pid]
    finally:
        end_all(MARK, value)
    assert left_after(MARK, value, time.monotonic() + 300) == {}
    parent.stdout.close()
