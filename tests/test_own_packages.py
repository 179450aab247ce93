"""A folder of the user's with packages that are called as ours: a bot author is likely to have one.

Started as users start us: as a command, as a module, from a script, and from an installed copy.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mjbot

ROOT = Path(mjbot.__file__).parents[1]
GUARD_S = 300
ENVIRON = {**os.environ, "COLUMNS": "200"}
BOT = """
from mjbot import Strategy

class MyBot(Strategy):
    '''Sits still.'''

    def decide(self, view):
        return view.default_action
"""
ASK = ["strategies", "my_bot:MyBot", "tsumogiri", "strategies/mine.py:MyBot"]
MAIN = "import sys; from mjbot.cli.main import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(params=["packages", "modules", "namespaces"])
def folder(request, tmp_path):
    """Return a folder in which both names are taken."""
    (tmp_path / "strategies").mkdir()
    (tmp_path / "my_bot.py").write_text(BOT)
    (tmp_path / "strategies" / "mine.py").write_text(BOT)
    if request.param == "packages":
        (tmp_path / "strategies" / "__init__.py").write_text("")
    if request.param == "namespaces":
        (tmp_path / "protocol").mkdir()
    else:
        (tmp_path / "protocol.py").write_text("x = 1\n")
    (tmp_path / "script.py").write_text(MAIN)
    return tmp_path


def run(folder, *command, **environ):
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder, env=ENVIRON | environ, capture_output=True, text=True, timeout=GUARD_S,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "start", [["-m", "mjbot"], ["-c", MAIN], ["script.py"]], ids=["-m", "-c", "script"]
)
def test_ours_are_found(folder, start):
    done = run(folder, *start, *ASK)
    assert done.returncode == 0, done.stderr
    for line in ("my_bot:MyBot", "tsumogiri", "strategies/mine.py:MyBot"):
        assert line in done.stdout.splitlines()


def test_ours_are_found_by_an_installed_copy(folder, tmp_path_factory):
    """What a wheel unpacks lies behind the current folder."""
    site = tmp_path_factory.mktemp("site")
    for package in ("mjbot", "protocol", "strategies"):
        shutil.copytree(ROOT / package, site / package)
    done = run(folder, "-m", "mjbot", *ASK, PYTHONPATH=str(site))
    assert done.returncode == 0, done.stderr
    assert "tsumogiri" in done.stdout.splitlines()
    where = "import mjbot, protocol; print(protocol.__file__)"
    done = run(folder, "-c", where, PYTHONPATH=str(site))
    assert done.stdout.strip() == str(site / "protocol" / "__init__.py")


def test_child_processes_find_ours(folder):
    done = run(
        folder, "-m", "mjbot", "arena", "my_bot:MyBot", "tsumogiri", "--format", "1v3",
        "--games", "4", "--length", "tonpu", "--jobs", "1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    assert "MyBot" in done.stdout


def test_one_line_says_what_shadows_what_where_theirs_is_imported_already(folder):
    done = run(folder, "-c", "import protocol, mjbot.strategy.strategy")
    assert done.returncode == 1
    line = done.stderr.splitlines()[-1]
    assert line.startswith(f"ImportError: mjbot needs its own package 'protocol' in {ROOT}, but")
    assert str(folder / "protocol") in line and "rename that, or import mjbot before it" in line


@pytest.fixture
def site(tmp_path):
    """Return a folder with an installed copy, of which the strategies need not be played."""
    for package in ("mjbot", "protocol", "strategies"):
        (tmp_path / package).mkdir()
        shutil.copyfile(ROOT / package / "__init__.py", tmp_path / package / "__init__.py")
    shutil.copyfile(ROOT / "mjbot" / "__main__.py", tmp_path / "mjbot" / "__main__.py")
    return tmp_path


@pytest.mark.parametrize("name", ["protocol", "strategies"])
@pytest.mark.parametrize("theirs", ['"""Their package."""\nraise SystemExit(3)\n', None])
def test_what_another_distribution_has_replaced_ends_a_command_with_one_line(site, name, theirs):
    face = site / name / "__init__.py"
    if theirs is None:
        shutil.rmtree(face.parent)
    else:
        face.write_text(theirs)
    environ = {"PYTHONPATH": str(site), "PYTHONSAFEPATH": "1"}
    done = run(site, "-m", "mjbot", "version", **environ)
    what = "is missing" if theirs is None else "is of another distribution"
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"mjbot: mjbot needs its own package {name!r}, but {face} {what}: install mjbot again, in"
        f" an environment without a distribution that is called {name!r}\n"
    )
    done = run(site, "-c", "import mjbot", **environ)
    assert done.stderr.splitlines()[-1].startswith(
        f"ImportError: mjbot needs its own package {name!r}"
    )
