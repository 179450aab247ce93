"""The check of an installed artifact: one name, a game, and no compiling where code was shipped."""

import base64
import hashlib
import os
import zipfile

import pytest
from release import installed

from mjbot.runtime.compiler.machine_code import ReleaseError

PROGRAM = """
import os, pathlib, sys
def run():
    cache = pathlib.Path(os.environ["MJBOT_CACHE"])
    cache.mkdir(exist_ok=True)
    if {compiles}:
        (cache / "a.nbc").touch()
    sys.exit(not sys.argv[1:] == {game})
"""


def wheel_of(folder, name, files, compiles):
    """Write a wheel with those files and a command ``mjbot``."""
    program = PROGRAM.format(compiles=compiles, game=[*installed.GAME])
    info = "mjbot-1.dist-info"
    contents = {
        "mjbot/__init__.py": program,
        **dict.fromkeys(files, ""),
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: mjbot\nVersion: 1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\nmjbot = mjbot:run\n",
    }
    rows = [f"{info}/RECORD,,"]
    for file, text in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        rows.append(f"{file},sha256={digest.decode()},{len(text)}")
    with zipfile.ZipFile(folder / name, "w") as archive:
        for file, text in {**contents, f"{info}/RECORD": "\n".join(rows)}.items():
            archive.writestr(file, text)
    return folder / name


@pytest.fixture
def no_index(monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")


def test_what_is_installed_plays_and_is_described(tmp_path, no_index):
    wheel = wheel_of(tmp_path, "mjbot-1-py3-none-any.whl", ["mjbot/a.py"], compiles=True)
    seen = installed.check(wheel, tmp_path / "cache")
    assert seen.names == ("mjbot", "mjbot-1.dist-info")
    assert seen.compiled == 1
    assert "left mjbot mjbot-1.dist-info (" in str(seen)
    assert os.listdir(tmp_path / "cache") == ["a.nbc"]


@pytest.mark.parametrize(
    "rows",
    [
        ["mjbot/a.py", "protocol/a.py", "mjbot-1.dist-info/RECORD"],
        ["mjbot/a.py", "mjbot_helpers.py", "mjbot-1.dist-info/RECORD"],
        ["mjbotx/a.py", "mjbot-1.dist-info/RECORD"],
        ["mjbot/a.py"],
    ],
)
def test_another_name_is_refused(rows):
    with pytest.raises(ReleaseError, match="not mjbot alone"):
        installed.require_one_name(rows, "a.whl")


def test_the_commands_and_compiled_bytes_are_no_names():
    rows = [
        "../../../bin/mjbot",
        "mjbot/a.py",
        "mjbot/__pycache__/a.pyc",
        "mjbot-1.dist-info/RECORD",
    ]
    assert installed.require_one_name(rows, "a.whl") == ("mjbot", "mjbot-1.dist-info")


@pytest.mark.parametrize(
    ("name", "is_refused"),
    [
        ("mjbot-1-cp311-cp311-linux_x86_64.whl", True),
        ("mjbot-1-py3-none-any.whl", False),
        ("mjbot-1.tar.gz", False),
    ],
)
def test_machine_code_that_is_not_used_is_refused(name, is_refused, tmp_path):
    (tmp_path / "module").mkdir()
    assert installed.compiled_files(tmp_path / name, tmp_path) == 0
    (tmp_path / "module" / "a.nbc").touch()
    if is_refused:
        with pytest.raises(ReleaseError, match="1 file of code compiled"):
            installed.compiled_files(tmp_path / name, tmp_path)
    else:
        assert installed.compiled_files(tmp_path / name, tmp_path) == 1
