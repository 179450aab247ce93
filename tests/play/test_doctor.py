"""``mjbot doctor``: what it reports of healthy and of broken installations."""

import errno
import getpass
import json
import os
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import pytest

from mjbot.cli.main import main
from mjbot.play import doctor
from mjbot.play.match import node as nodes
from mjbot.runtime.compiler import cache, mode
from mjbot.runtime.errors import ExitCode
from mjbot.runtime.redaction import conceal

ROOT = Path(__file__).parents[2]


@pytest.fixture
def well(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine on which nothing is wrong."""
    node = nodes.Node("/usr/bin/node", ("npm",), "v20.1.0")
    monkeypatch.setattr(nodes, "find_node", lambda: node)
    monkeypatch.setattr(nodes, "packages_ready", lambda: True)
    monkeypatch.setattr(doctor, "_MANIFEST", Path("no wheel"))
    return monkeypatch


def report(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict]:
    status = main(["doctor", "--json"])
    return status, json.loads(capsys.readouterr().out)


def finding(capsys: pytest.CaptureFixture[str]) -> dict:
    """Return the only finding; the exit status is that of whether it stops work."""
    status, printed = report(capsys)
    assert len(printed["findings"]) == 1, printed["findings"]
    (one,) = printed["findings"]
    assert status == (ExitCode.FAILED if one["stops_work"] else ExitCode.OK)
    assert printed["is_well"] is not one["stops_work"]
    return one


def test_all_is_well(well: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    status, printed = report(capsys)
    facts = printed["facts"]
    assert (printed["findings"], printed["is_well"], status) == ([], True, ExitCode.OK)
    assert facts["python"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
    assert facts["packages"]["numpy"] == metadata.version("numpy")
    assert {"numba", "aiohttp", "rich", "msgspec"} <= facts["packages"].keys()
    assert facts["processors"]["workers"] >= 1
    assert facts["cache"]["state"] == "can be written"
    assert facts["node"] == "v20.1.0 (/usr/bin/node), external AI installed"
    assert 0 < facts["kyoku"]["kyoku_s"] < 60
    assert facts["mjbot"].startswith(("commit ", "mjbot "))


def test_text_has_a_line_for_each_fact_and_finding(
    well: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    well.setattr(nodes, "packages_ready", lambda: False)
    assert main(["doctor"]) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("  ")[0] for line in lines[: len(doctor._PARTS)]] == [*doctor._PARTS]
    assert lines[-2:] == [
        "note: the external AI is not installed; run: mjbot setup-node",
        "nothing stops work",
    ]


def test_an_old_node(well: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def find_node() -> nodes.Node:
        raise nodes.NodeError(f"no Node (/bin/node is v12.1.0, older than v18); {nodes.CURE}")

    well.setattr(nodes, "find_node", find_node)
    one = finding(capsys)
    assert "v12.1.0, older than v18" in one["text"]
    assert (one["cure"], one["stops_work"]) == ("run: mjbot setup-node", False)


def test_a_cache_folder_that_cannot_be_written(
    well: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    well.setenv("MJBOT_CACHE", str(tmp_path / "file" / "cache"))
    one = finding(capsys)
    assert "cannot be written (Not a directory)" in one["text"]
    assert "MJBOT_CACHE" in one["cure"] and one["stops_work"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users have no number here")
def test_a_cache_that_another_user_can_write(
    well: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    well.setenv("MJBOT_CACHE", str(tmp_path / "cache"))
    one = next(iter(report(capsys)[1]["findings"]))
    assert "can be written by every user" in one["text"]
    assert one["cure"].startswith("delete ") and one["stops_work"]


class _FullFile:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def write(self, _):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("part", ["cache", "current folder"])
def test_a_full_disk(part: str, well: pytest.MonkeyPatch, capsys, tmp_path: Path) -> None:
    well.chdir(tmp_path)
    full = {"cache": cache.cache_folder(), "current folder": tmp_path}[part]
    temporary = tempfile.TemporaryFile

    def full_file(dir=None, **how):
        return _FullFile() if dir == full else temporary(dir=dir, **how)

    well.setattr(tempfile, "TemporaryFile", full_file)
    one = finding(capsys)
    assert "No space left on device" in one["text"] and part in one["text"]
    assert one["cure"].startswith("free some space") and one["stops_work"]


def test_a_disk_with_next_to_nothing_left_is_full(well: pytest.MonkeyPatch, tmp_path) -> None:
    well.setattr(doctor, "LEAST_FREE_BYTES", 1 << 62)
    text, is_full = doctor._write_problem(tmp_path)
    assert is_full and "the disk is full" in text


def test_a_current_folder_that_cannot_be_written(well: pytest.MonkeyPatch, capsys) -> None:
    problems = {Path.cwd(): ("Read-only file system", False)}
    well.setattr(doctor, "_write_problem", problems.get)
    one = finding(capsys)
    assert "Read-only file system" in one["text"] and "--out" in one["cure"]
    assert not one["stops_work"]


@pytest.mark.parametrize(("version", "stops"), [("1.9", True), ("2", False), ("2.0.1", False)])
def test_versions_are_compared_with_the_oldest(
    version: str, stops: bool, well: pytest.MonkeyPatch
) -> None:
    needed = ["numpy>=2", 'torch==2.13.0; extra == "train"', "rich[all] (>=13)"]
    well.setattr(metadata, "requires", lambda _: needed)
    well.setattr(metadata, "version", lambda name: version if name == "numpy" else "15.0.1")
    diagnosis = doctor.Diagnosis()
    assert doctor._packages(diagnosis) == {"numpy": version, "rich": "15.0.1"}
    texts = [f"problem: numpy {version} is older than 2; pip install 'numpy>=2'"] if stops else []
    assert [str(one) for one in diagnosis.findings] == texts


def test_a_missing_package(well: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    well.setattr(metadata, "requires", lambda _: ["numba>=0.60", "aiohttp>=3.9"])
    well.setattr(metadata, "version", version)
    diagnosis = doctor.Diagnosis()
    assert doctor._packages(diagnosis) == {"numba": None, "aiohttp": None}
    (one,) = diagnosis.findings
    assert str(one) == "problem: aiohttp is not installed; pip install 'aiohttp>=3.9'"


def test_interpreted_code(well: pytest.MonkeyPatch) -> None:
    well.setattr(mode, "IS_INTERPRETED", True)
    well.setattr(mode, "INTERPRETED_BECAUSE", "numba is not installed")
    well.setattr(mode, "CURE", "pip install numba")
    diagnosis = doctor.Diagnosis()
    assert doctor._code(diagnosis) == "interpreted: numba is not installed"
    (one,) = diagnosis.findings
    assert "numba is not installed" in one.text and not one.stops_work
    assert one.cure == "pip install numba"


def test_machine_code_of_a_wheel(well: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from mjbot.runtime.compiler import shipped

    manifest = tmp_path / "manifest.json"
    manifest.write_text("{}")
    well.setattr(doctor, "_MANIFEST", manifest)
    assert doctor._mjbot(doctor.Diagnosis()).endswith(", wheel with machine code")
    well.setattr(shipped, "variant", lambda: "x86-64-v3")
    diagnosis = doctor.Diagnosis()
    assert doctor._code(diagnosis) == "compiled, machine code of the wheel for x86-64-v3"
    assert diagnosis.findings == []
    well.setattr(shipped, "variant", lambda: None)
    assert doctor._code(diagnosis) == "compiled on this machine"
    assert "does not fit" in diagnosis.findings[0].text


def test_what_is_broken_is_named_and_the_rest_reported(
    well: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("no table")

    well.setattr(doctor, "_play", broken)
    one = finding(capsys)
    assert (one["text"], one["stops_work"]) == ("kyoku: ZeroDivisionError: no table", True)


def test_a_module_that_is_missing_stops_the_kyoku(well: pytest.MonkeyPatch, capsys) -> None:
    def play() -> None:
        raise ModuleNotFoundError("No module named 'numba'", name="numba.core")

    well.setattr(doctor, "_play", play)
    one = finding(capsys)
    assert one["text"] == "kyoku: numba is not installed"
    assert one["cure"] == "pip install numba"


def test_output_that_is_not_unicode_is_noted(well: pytest.MonkeyPatch) -> None:
    well.setattr(sys, "stdout", type("Stream", (), {"encoding": "cp1252"})())
    diagnosis = doctor.Diagnosis()
    assert doctor._encoding(diagnosis) == "cp1252"
    assert "PYTHONUTF8=1" in diagnosis.findings[0].cure


def test_little_memory_is_noted(well: pytest.MonkeyPatch) -> None:
    well.setattr(doctor, "machine_memory_bytes", lambda: 512 << 20)
    diagnosis = doctor.Diagnosis()
    assert doctor._memory(diagnosis) == 512
    assert str(diagnosis.findings[0]).startswith("note: 512 MB")
    well.setattr(doctor, "machine_memory_bytes", lambda: None)
    assert doctor._memory(doctor.Diagnosis()) is None


def test_nothing_personal_or_secret_is_reported(
    well: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home" / "alice"
    (home / "work").mkdir(parents=True)
    well.setenv("HOME", str(home))
    well.setattr(getpass, "getuser", lambda: "alice")
    well.setenv("MJBOT_TOKEN", "s3cret-token")
    well.setenv("NUMBA_OPT", "s3cret-level")
    well.setenv("MJBOT_LANGUAGE", "/data/alice/ja")
    well.chdir(home / "work")
    conceal("hidden-word")
    well.setattr(nodes, "find_node", lambda: nodes.Node("/x/hidden-word", (), "v20"))
    status = main(["doctor", "--json"])
    out = capsys.readouterr().out
    facts = json.loads(out)["facts"]
    assert status == ExitCode.OK
    assert facts["current folder"] == os.path.join("~", "work")
    assert facts["settings"]["MJBOT_TOKEN"] == facts["settings"]["NUMBA_OPT"] == "is set"
    assert facts["settings"]["MJBOT_LANGUAGE"] == "/data/[user]/ja"
    assert not [word for word in ("s3cret", "alice", "hidden-word", str(home)) if word in out]


def test_it_runs_where_no_package_can_be_imported() -> None:
    """Only the standard library and what the command line itself needs is there."""
    program = """
import sys
for name in ("numba", "llvmlite", "aiohttp", "websockets"):
    sys.modules[name] = None
sys.argv = ["mjbot", "doctor", "--json"]
from mjbot.__main__ import run
run()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=False, text=True
    )
    printed = json.loads(done.stdout)
    assert "Traceback" not in done.stderr
    assert printed["facts"]["packages"]["rich"] == metadata.version("rich")
    assert any("numba" in one["text"] and one["cure"] for one in printed["findings"])
    assert done.returncode == (ExitCode.OK if printed["is_well"] else ExitCode.FAILED)
