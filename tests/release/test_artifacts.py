"""The artifacts of a release: their files, names and bytes."""

import asyncio
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution

import pytest
from release import artifacts, compile_strategies
from release.artifacts import write_tar, write_zip

from mjbot.runtime.compiler.machine_code import ReleaseError
from mjbot.strategy.registry import Spec

needs_git = pytest.mark.skipif(
    shutil.which("git") is None or not (artifacts.ROOT / ".git").exists(), reason="no checkout"
)
SHARED = [str(distribution(name).locate_file("")) for name in ("msgspec", "numba")]
"""Where the packages lie that mjbot needs."""


def test_a_release_s_wheel_names_python_and_platform_and_lists_its_files(tmp_path):
    info = tmp_path / "mjbot-1.dist-info"
    info.mkdir()
    (info / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n\n"
    )
    (info / "RECORD").touch()
    (tmp_path / "a.py").write_text("a = 1\n")
    artifacts.retag(tmp_path, "cp311-cp311-linux_x86_64")
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
    asyncio.run(compile_strategies.play_as_client(Spec.read("tsumogiri")))


@pytest.mark.parametrize("write", [write_zip, write_tar])
def test_equal_files_give_equal_bytes(write, tmp_path):
    written = []
    for number, name in enumerate(("one", "two")):
        folder = tmp_path / name / "mjbot-1"
        folder.mkdir(parents=True)
        for file in ("ba"[number], "ab"[number]):
            (folder / file).write_text(file)
            (folder / file).chmod(0o600 if number else 0o644)
            os.utime(folder / file, (number, number))
        write(folder, tmp_path / f"{name}.archive")
        written.append(tmp_path / f"{name}.archive")
    assert written[0].read_bytes() == written[1].read_bytes()
    if write is write_zip:
        with zipfile.ZipFile(written[0]) as archive:
            assert archive.namelist() == ["a", "b"]
    else:
        unpacked = artifacts.unpack(written[0], tmp_path / "unpacked")
        assert sorted(path.name for path in unpacked.iterdir()) == ["a", "b"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return source distribution and pure wheel, built of this checkout."""
    return artifacts.plain_artifacts(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def unpacked(built, tmp_path_factory):
    return artifacts.unpack(built[0], tmp_path_factory.mktemp("sdist"))


@needs_git
def test_a_source_distribution_has_all_that_git_tracks_but_for_the_links(unpacked):
    command = ["git", "-C", str(artifacts.ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    links = {name for name in listed if (artifacts.ROOT / name).is_symlink()}
    assert links == {"mjbot/protocol", "mjbot/strategies"}
    files = {
        path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()
    }
    made = {name for name in files if name.startswith("mjbot.egg-info/")} | {
        "PKG-INFO",
        "setup.cfg",
    }
    assert files - made == {*filter(None, listed)} - links


@needs_git
def test_an_untracked_file_is_in_no_artifact(tmp_path):
    stray = artifacts.ROOT / "strategies" / f"stray_{os.getpid()}.json"
    stray.write_text("{}")
    try:
        copy = artifacts.copy_of_sources(tmp_path / "copy")
    finally:
        stray.unlink()
    assert not (copy / "strategies" / stray.name).exists()
    assert (copy / "mjbot" / "protocol").is_symlink()


@needs_git
def test_the_wheel_has_one_name_and_the_same_packages_as_the_checkout(built):
    with zipfile.ZipFile(built[1]) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert sorted(top.endswith(".dist-info") for top in tops) == [False, True]
    assert "mjbot" in tops
    for package in ("protocol", "strategies"):
        sources = {f"mjbot/{path.relative_to(artifacts.ROOT).as_posix()}"
                   for path in (artifacts.ROOT / package).rglob("*.py")}  # fmt: skip
        assert sources <= {*names}


@pytest.fixture(scope="module")
def without_links(tmp_path_factory):
    """Return the sources as git writes them on a system without links: files with the path."""
    copy = artifacts.copy_of_sources(tmp_path_factory.mktemp("plain") / "source")
    links = [path for path in copy.rglob("*") if path.is_symlink()]
    for link in links:
        target = os.readlink(link)
        link.unlink()
        link.write_text(target)
    assert len(links) == 2
    return copy


@needs_git
def test_without_links_and_over_an_earlier_build_the_wheel_is_the_same(
    built, without_links, tmp_path
):
    """The earlier one as of `pip install .` before protocol and strategies moved into mjbot."""
    for stale in ("protocol/__init__.py", "mjbot/strategies/removed.py"):
        file = without_links / "build" / "lib" / stale
        file.parent.mkdir(parents=True)
        file.write_text("stale = True\n")
    assert artifacts.differences(built[1], artifacts.build_wheel(without_links, tmp_path)) == []


@needs_git
def test_the_wheel_has_the_metadata_of_pep_639(built):
    with zipfile.ZipFile(built[1]) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith("/METADATA")]
        lines = archive.read(name).decode().splitlines()
        info = name.removesuffix("METADATA")
        assert archive.read(f"{info}licenses/LICENSE") == (artifacts.ROOT / "LICENSE").read_bytes()
    assert {"License-Expression: MIT", "License-File: LICENSE"} <= {*lines}


IMPORTED = """
import sys, site
site.addsitedir(sys.argv[1])
sys.path += sys.argv[2:]
import mjbot.protocol.tiles, mjbot.strategies, mjbot.api
print(mjbot.__file__, mjbot.protocol.tiles.__file__, mjbot.strategies.__file__, sep="\\n")
"""


@needs_git
@pytest.mark.parametrize("kind", ["without_links", "unpacked"])
def test_an_editable_installation_needs_no_links(kind, request, tmp_path):
    source = request.getfixturevalue(kind)
    program = (
        "import sys; from setuptools.build_meta import build_editable as build; build(sys.argv[1])"
    )
    command = [sys.executable, "-P", "-c", program, str(tmp_path)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    # without the site module: this environment has an installation of its own
    command = [sys.executable, "-S", "-P", "-c", IMPORTED, str(tmp_path / "site"), *SHARED]
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        str(source / name / file)
        for name, file in (("mjbot", "__init__.py"), ("protocol", "tiles.py"))
    ] + [str(source / "strategies" / "__init__.py")]


def test_a_source_distribution_that_gives_another_wheel_is_refused(tmp_path, monkeypatch):
    def wheel(source, out):
        out.mkdir()
        path = out / "mjbot-1-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"mjbot/{out.name}.py", "")
        return path

    def sdist(source, out):
        out.mkdir()
        (source / "file").write_text("x")
        artifacts.write_tar(source, out / "mjbot-1.tar.gz")
        return out / "mjbot-1.tar.gz"

    def copied(target):
        target.mkdir(parents=True)
        return target

    monkeypatch.setattr(artifacts, "build_wheel", wheel)
    monkeypatch.setattr(artifacts, "build_sdist", sdist)
    monkeypatch.setattr(artifacts, "copy_of_sources", copied)
    with pytest.raises(
        ReleaseError, match=r"gives another wheel than the checkout: mjbot/again\.py"
    ):
        artifacts.plain_artifacts(tmp_path / "dist")
    assert not (tmp_path / "dist").exists()


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
    with pytest.raises(ReleaseError, match="and an artifact has at most 0"):
        write_zip(tmp_path / "files", tmp_path / "out.whl", most_bytes=1000)
    assert [file.name for file in tmp_path.iterdir()] == ["files"]
