"""The papers are part of a checkout, not of an installation."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mjbot.arena.setup import GameId, Setup
from mjbot.arena.workers.clock import HEARTBEAT_SIZE, Clock
from mjbot.arena.workers.playing import GameRunner
from mjbot.cli.main import main as mjbot
from mjbot.strategy.registry import MOVED, built_in_names
from papers.__main__ import commands, main
from papers.experiments import EXPERIMENTS

ROOT = Path(__file__).parents[2]
PACKAGES = ("mjbot", "protocol", "strategies")


def test_without_a_name_all_experiments_and_trainings_are_listed(capsys):
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    words = capsys.readouterr().out.split()
    assert {*commands()} <= {*words}
    assert {*EXPERIMENTS} < {*commands()}


def test_an_unknown_name_is_one_line(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["nakano2020"])
    assert ended.value.code == 2
    line = "argument NAME: unknown 'nakano2020'; did you mean 'nakano2021'? (see --help)\n"
    assert capsys.readouterr().err == f"python -m papers: error: {line}"


def test_a_part_that_an_experiment_lacks_is_one_line(capsys):
    assert main(["takada2022", "--part", "curve"]) == 2
    line = "--part curve: the parts of takada2022 are positions, arena\n"
    assert capsys.readouterr().err == f"python -m papers takada2022: {line}"


@pytest.mark.parametrize("name", MOVED)
def test_a_player_of_a_paper_is_named_by_module_and_class(name, capsys):
    assert name not in built_in_names()
    assert mjbot(["strategies", name]) == 2
    assert capsys.readouterr().err.endswith(f"in a checkout it is {MOVED[name]}\n")
    setup = Setup(strategies=(MOVED[name], "tsumogiri"), format="2v2", length="tonpu")
    with Clock(0, [0] * HEARTBEAT_SIZE) as clock:
        assert not GameRunner(setup, clock).play(GameId(0, 0), {}).faults


def test_a_wheel_holds_the_shipped_weights_and_no_papers(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="69")  # as pyproject.toml requires
    source = tmp_path / "source"
    source.mkdir()
    for name in (*PACKAGES, "papers"):
        ignored = shutil.ignore_patterns("__py*")
        shutil.copytree(ROOT / name, source / name, ignore=ignored, symlinks=True)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
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


def test_nothing_that_is_installed_imports_the_papers() -> None:
    program = (
        "import mjbot.cli.main as m; m.make_parser(); import sys; print('papers' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
