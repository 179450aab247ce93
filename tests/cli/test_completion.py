"""What the shell completes: commands, their options, choices, strategies and files."""

import shutil
import subprocess
import sys

import pytest

from mjbot.cli.commands import COMMANDS
from mjbot.cli.main import main
from mjbot.runtime.errors import ExitCode

pytest.importorskip("shtab")


@pytest.fixture(scope="module")
def bash(tmp_path_factory):
    if shutil.which("bash") is None:
        pytest.skip("no bash here")
    script = tmp_path_factory.mktemp("completion") / "mjbot.bash"
    command = [sys.executable, "-m", "mjbot", "completion", "bash"]
    script.write_text(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    def complete(*words):
        line = " ".join(f"'{word}'" for word in words)
        ask = f"COMP_WORDS=(mjbot {line}); COMP_CWORD={len(words)}; _shtab_mjbot"
        done = subprocess.run(
            ["bash", "-c", f"source {script}; {ask}; printf '%s\\n' \"${{COMPREPLY[@]}}\""],
            cwd=script.parent, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return set(done.stdout.split())

    return complete


def test_commands_and_options_are_completed(bash):
    assert bash("") >= set(COMMANDS)
    assert bash("re") == {"replay", "review"}
    assert bash("arena", "--fo") == {"--format"}
    assert {"danger", "policy", "rank"} <= bash("train", "")


def test_choices_strategies_and_files_are_completed(bash):
    assert bash("arena", "--format", "") == {"1v3", "1v2", "2v2", "pair", "each"}
    assert bash("arena", "fast-riichi-a", "fold-recognition-p") == {"fold-recognition-plus"}
    assert bash("review", "x.mjson", "--by", "fast-p") == {"fast-policy"}
    assert "mjbot.bash" in bash("review", "mj")


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_get_a_script_with_all_commands(shell, capsys):
    assert main(["completion", shell]) == ExitCode.OK
    script = capsys.readouterr().out
    assert all(command in script for command in COMMANDS)
    assert "fold-recognition-plus" in script


def test_a_missing_library_is_named_with_the_cure(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) != ExitCode.OK
    assert "pip install 'mjbot[completion]'" in capsys.readouterr().err
