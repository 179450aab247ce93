"""The papers are part of a checkout, not of an installation."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mjbot.arena.experiments import OWN, experiments
from mjbot.cli.train import KINDS, all_kinds
from mjbot.runtime import checkout
from mjbot.strategy.registry import built_in_names

ROOT = Path(checkout.__file__).parents[1]
PACKAGES = ("mjbot", "protocol", "strategies")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages that a wheel has, and somebody else's ``papers`` beside them."""
    folder = tmp_path_factory.mktemp("site")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__py*"))
    (folder / "papers").mkdir()
    (folder / "papers" / "__init__.py").write_text('raise SystemExit("a foreign package ran")\n')
    return folder


def run(folder: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *command],
        check=False,
        env=environ,
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_a_checkout_has_the_systems_of_the_papers() -> None:
    assert "supervised-paper" in built_in_names()
    assert {"nakano2021", "hamabe2017", "mizukami2013", "takada2022", "matsuda2021"} <= {
        *experiments()
    }
    ours = {*KINDS, "fast-policy", "fast-policy-play"}
    assert {"networks-paper", "reinforce"} == all_kinds().keys() - ours
    assert len(checkout.papers_weights()) == 5


def test_an_installation_plays_and_measures_without_them(installed: Path) -> None:
    listed = run(installed, "-m", "mjbot", "strategies")
    assert listed.returncode == 0, listed.stderr
    assert "strongest" in listed.stdout and "supervised-paper" not in listed.stdout
    asked = run(installed, "-c", "from mjbot.arena.experiments import *; print(*experiments())")
    assert asked.stdout.split() == [*OWN], asked.stderr


def test_an_installation_names_what_it_has_instead(installed: Path) -> None:
    refused = run(installed, "-m", "mjbot", "experiment", "nakano2021")
    assert refused.returncode == 2
    assert "unknown 'nakano2021'; expected detection or strength" in refused.stderr
    assert "the experiments of papers need a checkout" in refused.stderr


def test_a_wheel_holds_the_shipped_weights_and_no_papers(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="69")  # as pyproject.toml requires
    source = tmp_path / "source"
    source.mkdir()
    for name in (*PACKAGES, "papers"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__py*"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = "import setuptools.build_meta as b, sys; b.build_wheel(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=source, capture_output=True, check=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "mjbot/learning/models/weights/policy.npz" in names
    assert not [name for name in names if "paper-" in name or name.startswith("papers")]
