"""Machine code of a release: used where everything fits, else compiled."""

import base64
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mjbot.compiler.shipped import MANIFEST, PREPARED, VARIANTS
from mjbot.pack import release

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="code for x86-64")

MODULE = """
from mjbot.compiler.compiled import compiled

@compiled
def half(x):
    return x // 2

@compiled
def caller(x):
    return half(x) + 3
"""
PROGRAM = """
import sys
from pathlib import Path
import mjbot.compiler.shipped as shipped
shipped.FOLDER = Path(sys.argv[1])
from mjbot.compiler.cache import on_compiled
made = []
on_compiled.append(made.append)
import made_shipped
print(made_shipped.caller(40), ",".join(made) or "nothing", shipped.variant(),
      shipped.is_prepared("job"), len([*Path(sys.argv[2]).rglob("*.nbc")]))
"""


def run(folder, code, cache, **more):
    environ = {**os.environ, "MJBOT_CACHE": str(cache), **more}
    environ["PYTHONPATH"] = f"{folder}{os.pathsep}{ROOT}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, str(code), str(cache)],
        env=environ, capture_output=True, text=True, check=False, cwd=folder, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Return a folder with a module, and the machine code of a release for any x86-64."""
    folder = tmp_path_factory.mktemp("released")
    (folder / "made_shipped.py").write_text(MODULE)
    generic = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "", "MJBOT_SHIPPED": "off"}
    assert run(folder, folder / "none", folder / "made", **generic)[:2] == ["23", "half,caller"]
    for file in (folder / "made").rglob("*.nb?"):
        target = folder / "code" / "x86-64" / file.parent.name / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    (folder / "code" / "x86-64" / PREPARED).mkdir()
    (folder / "code" / "x86-64" / PREPARED / "job").touch()
    release._write_manifest(folder / "code")
    return folder


@pytest.fixture
def code(released, tmp_path):
    return shutil.copytree(released / "code", tmp_path / "code")


COMPILED = ["23", "half,caller"]


def test_with_the_code_of_a_release_nothing_is_compiled_nor_kept(released, code, tmp_path):
    found = run(released, code, tmp_path / "cache")
    assert found == ["23", "nothing", "x86-64", "True", "0"]


@pytest.mark.parametrize("suffix", ["nbc", "nbi"])
def test_what_is_not_what_was_released_is_not_loaded(released, code, tmp_path, suffix):
    for file in code.rglob(f"*.{suffix}"):
        file.write_bytes(file.read_bytes() + b"x")  # which would load
    assert run(released, code, tmp_path / "cache")[:2] == COMPILED


@pytest.mark.parametrize("part", ["python", "numba", "llvmlite", "numpy"])
def test_other_versions_compile(released, code, tmp_path, part):
    manifest = json.loads((code / MANIFEST).read_text())
    manifest["versions"][part] += "1"
    (code / MANIFEST).write_text(json.dumps(manifest))
    assert run(released, code, tmp_path / "cache")[:4] == [*COMPILED, "None", "False"]


def test_another_processor_or_a_damaged_manifest_compiles(released, code, tmp_path):
    manifest = json.loads((code / MANIFEST).read_text())
    manifest["variants"] = []
    (code / MANIFEST).write_text(json.dumps(manifest))
    assert run(released, code, tmp_path / "cache")[:3] == [*COMPILED, "None"]
    (code / MANIFEST).write_text("{")
    assert run(released, code, tmp_path / "other")[:3] == [*COMPILED, "None"]


def test_code_of_another_source_is_not_found(released, code, tmp_path):
    (tmp_path / "made_shipped.py").write_text(MODULE.replace("+ 3", "+ 4"))
    assert run(tmp_path, code, tmp_path / "cache")[:2] == ["24", "half,caller"]


def test_the_first_kind_of_processor_needs_what_the_second_lacks():
    first, second = VARIANTS.values()
    assert "avx2" in first
    assert not second


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
