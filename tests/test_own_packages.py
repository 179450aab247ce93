"""A folder of the user's with packages that are called as ours: a bot author is likely to have one.

Started as users start us: as a command, as a module, from a script, and from an installed copy.
"""

import os
import shlex
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


@pytest.mark.parametrize("start", [["-c", MAIN], ["script.py"]], ids=["-c", "script"])
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


def test_ours_are_found_by_a_module_and_its_child_processes(folder):
    done = run(
        folder, "-m", "mjbot", "arena", "my_bot:MyBot", "strategies/mine.py:MyBot",
        "--format", "1v3", "--games", "4", "--length", "tonpu", "--jobs", "1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    assert "MyBot" in done.stdout


FOREIGN = "import os; os.write(2, b'FOREIGN CODE'); os._exit(99)\n"
NAMES = ("random.py", "multiprocessing.py", "struct.py", "asyncio.py", "numpy.py", "pip.py")


RAW = shlex.quote(f"external:{sys.executable} {ROOT / 'tests/play/match/raw_player.py'}")
"""A player that needs no imports of ours."""


@pytest.fixture
def trap(request, tmp_path):
    """Return a folder that holds what our processes import, among it a clone called mjbot."""
    for name in NAMES:
        (tmp_path / name).write_text(FOREIGN)
    (tmp_path / "my_bot.py").write_text(BOT)
    (tmp_path / "protocol").mkdir()
    if request.param == "mjbot.py":
        (tmp_path / "mjbot.py").write_text(FOREIGN)
    else:
        (tmp_path / "mjbot" / "mjbot").mkdir(parents=True)
        (tmp_path / "mjbot" / "pyproject.toml").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("trap", "command"),
    [
        ("mjbot.py", f"match my_bot:MyBot {RAW} {RAW} {RAW} --length tonpu"),
        ("mjbot.py", "arena my_bot:MyBot tsumogiri --format 1v3 --games 4 --length tonpu --jobs 1"),
        ("mjbot/", "arena my_bot:MyBot tsumogiri --format 1v3 --games 4 --length tonpu --jobs 1"),
        ("mjbot/", "check my_bot:MyBot --only B01"),
    ],
    indirect=["trap"],
)
def test_commands_run_our_code_alone_whatever_the_folder_holds(trap, command):
    """As the program is started: Python puts its folder first, not the current one."""
    environ = {key: value for key, value in ENVIRON.items() if key != "PYTHONPATH"}
    program = [sys.executable, "-P", "-c", MAIN]
    done = subprocess.run(
        [*program, *shlex.split(command)],
        cwd=trap, env=environ, capture_output=True, text=True, timeout=GUARD_S, check=False,
    )  # fmt: skip
    assert "FOREIGN" not in done.stderr + done.stdout
    assert done.returncode == 0, done.stderr + done.stdout


def test_a_module_run_in_the_current_folder_takes_none_of_its_files(tmp_path):
    (tmp_path / "random.py").write_text(FOREIGN)
    (tmp_path / "my_bot.py").write_text(BOT)
    done = run(tmp_path, "-m", "mjbot", "strategies", "my_bot:MyBot")
    assert (done.returncode, "FOREIGN" in done.stderr) == (0, False), done.stderr


def test_what_a_user_starts_later_looks_where_python_looks(tmp_path):
    """An engine imports its neighbours, so the variable of our workers is not inherited."""
    program = (
        "import os, multiprocessing as m\n"
        "from mjbot.runtime.processes import starting_workers\n"
        "from mjbot.runtime.files import plural\n"
        "if __name__ == '__main__':\n"
        "    with starting_workers():\n"
        "        assert os.environ['PYTHONSAFEPATH']\n"
        "    assert 'PYTHONSAFEPATH' not in os.environ\n"
        "    os.environ['PYTHONSAFEPATH'] = 'set by mjbot for a worker'\n"
        "    import importlib, mjbot.runtime.processes\n"
        "    importlib.reload(mjbot.runtime.processes)\n"
        "    assert 'PYTHONSAFEPATH' not in os.environ\n"
    )
    environ = {key: value for key, value in ENVIRON.items() if key != "PYTHONSAFEPATH"}
    subprocess.run([sys.executable, "-c", program], env=environ, check=True, timeout=GUARD_S)


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
