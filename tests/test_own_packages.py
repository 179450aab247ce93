"""A folder of the user's that holds packages called as parts of mjbot: most bot authors have one.

mjbot brings one name, ``mjbot``.  It is tried as users have it: installed from a wheel, installed
in place, and as a checkout on the path.
"""

import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import mjbot

ROOT = Path(mjbot.__file__).parents[1]
GUARD_S = 300
ENVIRON = {**os.environ, "COLUMNS": "200"}
ENVIRON.pop("PYTHONPATH", None)
SOURCES = ("mjbot", "protocol", "strategies", "pyproject.toml", "setup.py", "README.md", "LICENSE")
BOT = """
from mjbot import Strategy

class MyBot(Strategy):
    '''Sits still.'''

    def decide(self, view):
        return view.default_action
"""
MAIN = "import sys; from mjbot.cli.main import main; sys.exit(main(sys.argv[1:]))"
SCRIPTS = {
    "theirs_first.py": "from strategies.mine import LIMIT\nimport mjbot.strategies\nprint(LIMIT)",
    "ours_first.py": "import mjbot.strategies\nfrom strategies.mine import LIMIT\nprint(LIMIT)",
    "module_first.py": "import protocol, mjbot.protocol\nimport mjbot.cli.main\nprint(protocol.X)",
    "module_last.py": "import mjbot.cli.main, mjbot.protocol\nimport protocol\nprint(protocol.X)",
}
"""Each prints 3: a name means the file of the user's, in any order of imports."""
TESTS = {
    "test_bot.py": "import mjbot\ndef test_bot():\n    assert mjbot.Strategy",
    "test_mine.py": "from strategies.mine import LIMIT\ndef test_mine():\n    assert LIMIT == 3",
    "test_wire.py": "import protocol\ndef test_wire():\n    assert protocol.X == 3",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Return the files that a wheel is built of, since building leaves others beside them."""
    folder = tmp_path_factory.mktemp("source")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "compiled_code")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored, symlinks=True)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def environment(folder):
    """Return the program of a new environment, which sees the packages of this one but mjbot."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/*/site-packages")
    theirs = [path for path in sys.path if path.endswith("site-packages")]
    (site / "others.pth").write_text("\n".join(theirs), encoding="utf-8")
    return site, folder / "bin" / "python"


def pip(folder, *arguments):
    command = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", *arguments]
    subprocess.run([*map(str, command)], cwd=folder, check=True, timeout=GUARD_S)


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    pytest.importorskip("setuptools", minversion="77")  # as pyproject.toml requires
    pytest.importorskip("wheel")
    folder = tmp_path_factory.mktemp("wheel")
    pip(folder, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, source)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module", params=["wheel", "editable", "checkout"])
def program(request, tmp_path_factory):
    """Return the Python that a user of mjbot starts, and more of its environment."""
    if request.param == "checkout":
        return sys.executable, {"PYTHONPATH": str(ROOT)}
    site, python = environment(tmp_path_factory.mktemp(request.param))
    if request.param == "wheel":
        with zipfile.ZipFile(request.getfixturevalue("wheel")) as archive:
            archive.extractall(site)
    else:
        source = request.getfixturevalue("source")
        install_in_place(source, python)
    return str(python), {}


def install_in_place(source, python):
    pip(source, "--python", python, "install", "--no-deps", "--no-build-isolation", "-e", source)


@pytest.fixture(params=["regular", "namespace"])
def folder(request, tmp_path):
    """Return a project of the user's; its packages have an ``__init__.py``, or not."""
    return project(tmp_path, request.param == "regular")


@pytest.fixture
def regular(tmp_path):
    return project(tmp_path, True)


def project(tmp_path, is_regular):
    """Write a bot, packages called as ours, and tests."""
    for name, text in {**SCRIPTS, "my_bot.py": f"from strategies.mine import LIMIT\n{BOT}"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies" / "mine.py").write_text(f"LIMIT = 3\n{BOT}")
    if is_regular:
        (tmp_path / "strategies" / "__init__.py").write_text("")
        (tmp_path / "protocol.py").write_text("X = 3\n")
    else:
        (tmp_path / "protocol").mkdir()
        (tmp_path / "protocol" / "__init__.py").write_text("X = 3\n")
    (tmp_path / "tests").mkdir()
    for name, text in TESTS.items():
        (tmp_path / "tests" / name).write_text(text)
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    return tmp_path


def run(folder, program, *command):
    python, environ = program
    return subprocess.run(
        [python, *command],
        cwd=folder, env=ENVIRON | environ, capture_output=True, text=True, timeout=GUARD_S,
        check=False,
    )  # fmt: skip


def test_a_script_imports_the_users_own(folder, program):
    for script in SCRIPTS:
        done = run(folder, program, script)
        assert (done.stdout, done.returncode) == ("3\n", 0), (script, done.stderr)


def test_the_users_tests_pass(folder, program):
    done = run(folder, program, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


@pytest.mark.parametrize("start", [["-m", "mjbot"], ["-P", "-c", MAIN]], ids=["-m", "command"])
def test_commands_find_the_users_bots_and_ours(regular, program, start):
    """``-P -c`` is how the installed command starts: its own folder comes first on the path."""
    names = ["my_bot:MyBot", "tsumogiri", "strategies/mine.py:MyBot", "strategies.mine:MyBot"]
    done = run(regular, program, *start, "strategies", *names)
    assert done.returncode == 0, done.stderr
    assert {*names} <= {*done.stdout.splitlines()}


def test_worker_processes_find_the_users_packages(regular, program):
    done = run(
        regular, program, "-m", "mjbot", "arena", "my_bot:MyBot", "strategies/mine.py:MyBot",
        "--format", "1v3", "--games", "4", "--length", "tonpu", "--jobs", "2",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    assert "MyBot" in done.stdout


def test_a_notebook_imports_the_users_own(regular):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(text) for text in SCRIPTS.values()]
    resources = {"metadata": {"path": str(regular)}}
    notebook = nbformat.v4.new_notebook(cells=cells)
    done = nbclient.NotebookClient(notebook, resources=resources, timeout=GUARD_S).execute()
    assert [cell.outputs[0].text for cell in done.cells] == ["3\n"] * len(SCRIPTS)


def test_a_wheel_brings_one_name(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name.partition("/")[0] for name in archive.namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"mjbot"}
    assert len(names) == 2


def test_an_editable_installation_puts_one_name_on_the_path(source, tmp_path):
    pytest.importorskip("setuptools", minversion="77")
    _, python = environment(tmp_path / "venv")
    install_in_place(source, python)
    ask = "import importlib.util as u; print(*map(u.find_spec, ['protocol', 'strategies']))"
    done = run(tmp_path, (str(python), {}), "-c", ask)
    assert done.stdout == "None None\n", done.stderr


def test_other_distributions_of_these_names_and_ours_do_no_harm(wheel, tmp_path):
    """There are such on the package index; theirs used to overwrite ours, or ours theirs."""
    site, python = environment(tmp_path / "venv")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for name in ("protocol", "strategies"):
        (site / name).mkdir()
        (site / name / "__init__.py").write_text("X = 'theirs'\n")
    program = (str(python), {})
    ask = "import protocol, strategies, mjbot.protocol, mjbot.strategies; print(protocol.X)"
    assert run(tmp_path, program, "-c", ask).stdout == "theirs\n"
    assert run(tmp_path, program, "-m", "mjbot", "strategies", "tsumogiri").returncode == 0
    for name in ("protocol", "strategies"):
        shutil.rmtree(site / name)
    assert run(tmp_path, program, "-m", "mjbot", "strategies", "tsumogiri").returncode == 0


@pytest.mark.parametrize("name", ["protocol", "strategies"])
def test_in_a_checkout_the_folders_are_not_imported_a_second_time(name):
    for environ in ({}, {"PYTHONPATH": str(ROOT)}):
        done = run(ROOT, (sys.executable, environ), "-c", f"import {name}")
        assert done.stderr.splitlines()[-1] == f"ImportError: import it as mjbot.{name}"


def test_a_checkout_without_links_can_be_installed_in_place(source, tmp_path):
    """git writes text files in their place where links need a permission (Windows)."""
    pytest.importorskip("setuptools", minversion="77")
    copy = tmp_path / "checkout"
    shutil.copytree(source, copy, symlinks=True)
    for link in ("protocol", "strategies"):
        (copy / "mjbot" / link).unlink()
        (copy / "mjbot" / link).write_text(f"../{link}")
    _, python = environment(tmp_path / "venv")
    install_in_place(copy, python)
    ask = "import mjbot.protocol as p, mjbot.strategies as s; print(p.__file__, s.__file__)"
    done = run(tmp_path, (str(python), {}), "-c", ask)
    expected = [str(copy / name / "__init__.py") for name in ("protocol", "strategies")]
    assert done.stdout.split() == expected, done.stderr


# --- what the folder holds of other people's names -------------------------------------------


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
    done = run(tmp_path, (sys.executable, {}), "-m", "mjbot", "strategies", "my_bot:MyBot")
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
