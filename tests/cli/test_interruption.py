"""Long work is ended by Ctrl-C and SIGTERM: at once, with a word on what is kept."""

import os
import re
import signal
import subprocess
import sys
import textwrap
from importlib.metadata import version
from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.interruption import keeping

GUARD_S = 300
ROOT = Path(__file__).parents[2]
LOG = ROOT / "logs" / "hanchan-thirteen-kyoku.mjson"
MJBOT = [sys.executable, "-m", "mjbot"]
SIGNALS = [signal.SIGINT, signal.SIGTERM]


class Process:
    """A program of which every line on stderr is waited for."""

    def __init__(self, *command, **more):
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
        )

    def expect(self, start):
        received = []
        for line in self.process.stderr:
            received.append(line)
            if line.startswith(start):
                return
        raise AssertionError(f"no line begins with {start!r}: {received}")

    def interrupted_by(self, number):
        """Send a signal; return the last line.  Whoever holds our pipes must be gone, too."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=GUARD_S)
        assert self.process.returncode == ExitCode.INTERRUPTED, errors
        assert "Traceback" not in errors
        return errors.splitlines()[-1]


WORKING = """
    if __name__ == "__main__":
        with ending_at_once("it"):
            list(in_processes(forever, range(100), 2))
"""


def program(source):
    head = """
        import ctypes, sys, threading
        from pathlib import Path
        from mjbot.runtime.interruption import ending_at_once, keeping
        from mjbot.runtime.processes import in_processes

        def say(line):
            sys.stderr.write(line)  # whole: what print writes in two parts two processes mix up

        def forever(_=None):
            say("working\\n")
            while True:
                try:
                    threading.Event().wait()
                except BaseException:
                    say("swallowed\\n")
    """
    return textwrap.dedent(head) + textwrap.dedent(source)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("where", ["forever()", "ctypes.CFUNCTYPE(None)(forever)()"])
def test_what_has_nothing_to_tidy_ends_whatever_it_is_at_and_says_what_is_kept(where, number):
    """Also in a callback of compiled code, where an exception would be lost."""
    source = f"""
        with ending_at_once("it"), keeping(lambda: "all"), keeping(lambda: "kept: 3 games"):
            {where}
    """
    process = Process(sys.executable, "-c", program(source))
    process.expect("working")
    assert process.interrupted_by(number) == "it: interrupted; kept: 3 games"


@pytest.mark.parametrize("number", SIGNALS)
def test_processes_at_work_are_neither_waited_for_nor_left_behind(tmp_path, number):
    file = tmp_path / "working.py"
    file.write_text(program(WORKING))
    process = Process(sys.executable, str(file))
    process.expect("working")
    process.expect("working")
    assert process.interrupted_by(number) == "it: interrupted"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody tells a child")
def test_processes_at_work_end_with_one_that_is_killed(tmp_path):
    file = tmp_path / "working.py"
    file.write_text(program(WORKING))
    process = Process(sys.executable, str(file))
    process.expect("working")
    process.expect("working")
    process.process.kill()
    process.process.communicate(timeout=GUARD_S)  # until all have closed their ends
    assert process.process.returncode == -signal.SIGKILL


def test_ctrl_c_in_a_terminal_is_not_told_by_the_processes_at_work(tmp_path):
    """There it goes to the whole group."""
    file = tmp_path / "working.py"
    file.write_text(program(WORKING))
    process = Process(sys.executable, str(file), start_new_session=True)
    process.expect("working")
    process.expect("working")
    os.killpg(process.process.pid, signal.SIGINT)
    _, errors = process.process.communicate(timeout=GUARD_S)
    assert errors == "it: interrupted\n"
    assert process.process.returncode == ExitCode.INTERRUPTED


def test_an_interruption_that_is_raised_carries_what_is_kept():
    inner, outer = keeping(lambda: "kept: 3"), keeping(lambda: "all")
    with pytest.raises(KeyboardInterrupt, match=r"^kept: 3$"), outer, inner:
        raise KeyboardInterrupt


# --- the commands ----------------------------------------------------------------------------


def mjbot(*arguments, cwd=ROOT):
    return Process(*MJBOT, *map(str, arguments), cwd=cwd)


def test_a_training_says_what_it_does_and_what_is_kept(tmp_path):
    process = mjbot("train", "danger", *[LOG] * 100, cwd=tmp_path)
    process.expect("reading games ...")
    line = "mjbot train: interrupted; nothing is kept before the end"
    assert process.interrupted_by(signal.SIGINT) == line


@pytest.mark.parametrize("number", SIGNALS)
def test_a_ladder_says_what_it_plays_and_what_is_kept(tmp_path, number):
    command = ["ladder", "--lines", "tsumogiri", "fast-riichi-b", "--games", "100000"]
    command += ["--against", "fast-riichi-a", "--strongest", "0", "--jobs", "1"]
    process = mjbot(*command, "--out", "runs", cwd=tmp_path)
    process.expect("tsumogiri against fast-riichi-a (1 of 2) ...")
    report = process.interrupted_by(number)
    line = r"mjbot ladder: interrupted; kept in runs: \d+ games?; run the same command to resume"
    assert re.fullmatch(line, report), report


@pytest.mark.parametrize("more", [[], ["--at", "15"]], ids=["list", "at"])
def test_explain_says_whom_it_asks(tmp_path, more):
    (tmp_path / "slow.py").write_text(
        "import threading\n"
        "from mjbot.strategy.strategy import Strategy\n"
        "class Slow(Strategy):\n"
        "    def decide(self, view):\n"
        "        threading.Event().wait()\n"
    )
    strategy = f"{tmp_path / 'slow.py'}:Slow"
    process = mjbot("explain", LOG, "--strategy", strategy, *more)
    process.expect(f"asking {strategy} ...")
    assert process.interrupted_by(signal.SIGINT) == "mjbot explain: interrupted"


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    ("command", "kept"),
    [
        (["replay", "--keep-going"], ""),
        (["convert"], "; nothing is written: out.zip appears when all is converted"),
    ],
    ids=["replay", "convert"],
)
def test_records_are_left_in_the_middle(tmp_path, command, kept, number):
    folder = tmp_path / "records"
    folder.mkdir()
    (folder / "a.mjson").write_text("damaged\n")  # of which a line tells that work has begun
    for copy in range(1000):
        (folder / f"b{copy}.mjson").symlink_to(LOG)
    out = ["out.zip"] if command == ["convert"] else []
    process = mjbot(*command, "records", *out, cwd=tmp_path)
    process.expect("mjbot")
    assert process.interrupted_by(number) == f"mjbot {command[0]}: interrupted{kept}"
    assert [file.name for file in tmp_path.iterdir()] == ["records"]


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"mjbot {version('mjbot')}\n"
