"""A report names the mjbot that made it, whatever repository it is installed in."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.game.statistics.origin import origin_of

ROOT = Path(__file__).parents[2]
PRINT = "from mjbot.game.statistics.origin import origin_of; print(origin_of(['mjbot', 'arena']))"


def git(folder: Path, *words: str) -> str:
    named = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    command = ["git", "-C", str(folder), *named, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit, of which mjbot knows nothing."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    return tmp_path


def origin_in(folder: Path) -> str:
    shutil.copytree(ROOT / "mjbot", folder / "mjbot", ignore=shutil.ignore_patterns("__py*"))
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PRINT], env=environ, cwd=folder, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return done.stdout


def test_an_installation_inside_another_repository_names_its_version(repository: Path) -> None:
    origin = origin_in(repository / ".venv" / "site-packages")
    assert git(repository, "rev-parse", "--short", "HEAD") not in origin
    assert f", mjbot {version('mjbot')}" in origin


def test_a_checkout_names_its_commit(repository: Path) -> None:
    assert f", commit {git(repository, 'describe', '--always')}" in origin_in(repository)


def test_a_full_disk_is_reported_with_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    out = tmp_path / "run"
    command = ["arena", "tsumogiri", "tsumogiri", "--games", "6", "--jobs", "1"]
    assert main([*command, "--out", str(out)]) == 3
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "No space" in line]
    assert str(out) in line
    assert origin_of(["x"]).command == "x"
