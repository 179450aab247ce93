"""The wheel of a release: its strategies, names and files."""

import asyncio
import base64
import hashlib
import os
import zipfile

import pytest

from mjbot.play import release
from mjbot.play.release import write_zip
from mjbot.runtime.compiler.machine_code import ReleaseError
from mjbot.strategy.registry import Spec


def test_a_release_s_wheel_names_python_and_platform_and_lists_its_files(tmp_path):
    info = tmp_path / "mjbot-1.dist-info"
    info.mkdir()
    (info / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n\n"
    )
    (info / "RECORD").touch()
    (tmp_path / "a.py").write_text("a = 1\n")
    release._retag(tmp_path, "cp311-cp311-linux_x86_64")
    lines = (info / "WHEEL").read_text().splitlines()
    assert "Tag: cp311-cp311-linux_x86_64" in lines
    assert "Root-Is-Purelib: false" in lines
    assert "Tag: py3-none-any" not in lines
    rows = (info / "RECORD").read_text().splitlines()
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"a = 1\n").digest()).decode().rstrip("=")
    assert f"a.py,sha256={digest},6" in rows
    assert {row.split(",")[0] for row in rows} == {
        "a.py", "mjbot-1.dist-info/RECORD", "mjbot-1.dist-info/WHEEL"
    }  # fmt: skip


def test_a_client_of_the_release_plays_the_kyoku_of_the_warm_up():
    asyncio.run(release._play_as_client(Spec.read("tsumogiri")))


def test_equal_files_give_equal_bytes(tmp_path):
    zips = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for file in ("b", "a"):
            (tmp_path / name / file).write_text(file)
            os.utime(tmp_path / name / file, (len(zips), len(zips)))
        write_zip(tmp_path / name, tmp_path / f"{name}.zip")
        zips.append((tmp_path / f"{name}.zip").read_bytes())
    assert zips[0] == zips[1]
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert archive.namelist() == ["a", "b"]


def test_two_builds_of_the_wheel_give_the_same_bytes(tmp_path):
    """But for the machine code, whose builds tests/runtime/compiler compares."""
    wheels = []
    for name in ("one", "two"):
        stage = tmp_path / name
        stage.mkdir()
        with zipfile.ZipFile(release._plain_wheel(stage)) as archive:
            archive.extractall(stage / "tree")
        write_zip(stage / "tree", stage / "wheel")
        wheels.append((stage / "wheel").read_bytes())
    assert wheels[0] == wheels[1]


def test_a_link_where_the_wheel_is_written_is_not_followed(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_text("released")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / f".out.whl.{os.getpid()}").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_zip(tmp_path / "in", tmp_path / "out.whl")
    assert victim.read_text() == "precious"


def test_a_wheel_that_is_too_large_is_not_left(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "noise").write_bytes(os.urandom(2000))
    with pytest.raises(ReleaseError, match="and a wheel has at most 0"):
        write_zip(tmp_path / "files", tmp_path / "out.whl", most_bytes=1000)
    assert [file.name for file in tmp_path.iterdir()] == ["files"]
