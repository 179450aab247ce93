"""The gate (``.ci/run``, ``make test``) runs torch's tests, or says that it does not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAKEFILE = "lint test docs:\n\t@echo $@ passed\n"


def output(*command: str, folder: Path = ROOT, **environ: str) -> tuple[int, str]:
    done = subprocess.run(
        command,
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "BASE"} | environ,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_the_tools_of_the_tests_have_torch() -> None:
    status, steps = output("make", "-n", "-B", ".venv/.tools")
    assert status == 0
    assert "--only-binary torch -e '.[train]'" in steps


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_types_are_checked_as_each_system_has_them() -> None:
    status, steps = output("make", "-n", "lint")
    checks = [line.partition("mypy")[2] for line in steps.splitlines() if "bin/mypy" in line]
    assert (status, [check.split()[1::2] for check in checks]) == (
        0,
        [[], ["darwin", ".mypy_cache/darwin"], ["win32", ".mypy_cache/win32"]],
    )


def test_a_test_file_that_cannot_be_imported_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    broken = tmp_path / "tests" / "test_broken.py"
    broken.write_text("import no_such_module\n\n\ndef test_nothing(): pass\n")
    status, printed = output(sys.executable, "-m", "pytest", str(broken), folder=tmp_path)
    assert "No module named 'no_such_module'" in printed
    assert status == pytest.ExitCode.INTERRUPTED


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with the gate, an interpreter without torch, and tests that pass."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    (tmp_path / "Makefile").write_text(MAKEFILE)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    assert output("git", "init", "-q", folder=tmp_path)[0] == 0
    commit(tmp_path)
    return tmp_path


def commit(folder: Path) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
    assert output("git", "add", ".", folder=folder)[0] == 0
    assert output("git", *identity, "commit", "-qm", "x", folder=folder)[0] == 0


@pytest.mark.skipif(not all(map(shutil.which, ("make", "git", "bash"))), reason="no make or git")
@pytest.mark.parametrize(
    ("file", "status", "sent"),
    [
        ("notes.txt", 0, "the tests of network training were skipped"),
        (
            "mjbot/learning/models/networks/weights.npz",
            1,
            "tests were skipped: install the extra 'train'",
        ),
        ("strategies/mine/weights.npz", 1, "Changed: strategies/mine/weights.npz"),
        (
            "mjbot/learning/training/networks/policy.py",
            1,
            "Changed: mjbot/learning/training/networks/policy.py",
        ),
    ],
)
def test_no_learned_model_changes_with_its_tests_skipped(
    checkout: Path, file: str, status: int, sent: str
) -> None:
    changed = checkout / file
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_text("new")
    commit(checkout)
    ended, text = output("bash", ".ci/run", folder=checkout)
    assert (ended, sent in text) == (status, True), text
    assert "docs passed" in text
