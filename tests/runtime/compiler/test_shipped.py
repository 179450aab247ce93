"""Machine code of a release: used where everything fits, else compiled."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from packaging.version import parse

from mjbot.runtime.compiler import shipped
from mjbot.runtime.compiler.machine_code import CODE, ReleaseError, add_machine_code
from mjbot.runtime.compiler.shipped import MANIFEST, VARIANTS

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="code for x86-64")

MODULE = """
from mjbot.runtime.compiler.compiled import compiled

@compiled
def half(x):
    return x // 2

@compiled
def caller(x):
    return half(x) + 3

@compiled
def weighted(a, b):
    return a * b + a
"""
COMPILER = """
from mjbot.runtime.compiler.portable import compile_portably
compile_portably()
import json
import sys
import numpy as np
from mjbot.runtime.compiler.cache import cache_folder
from mjbot.runtime.compiler.shipped import PREPARED, versions
import made_shipped
assert made_shipped.caller(40) == 23
assert made_shipped.weighted(np.ones(3), np.arange(3.0)).tolist() == [1, 2, 3]
(cache_folder() / PREPARED).mkdir()
(cache_folder() / PREPARED / "job").touch()
print(json.dumps(versions()))
"""
PROGRAM = """
import sys
from pathlib import Path
import mjbot.runtime.compiler.shipped as shipped
shipped.FOLDER = Path(sys.argv[1])
from mjbot.runtime.compiler.events import on_compiled
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


def copied(folder):
    """Return a folder with our packages, without weights, and a module of its own."""
    left_out = shutil.ignore_patterns("weights", "__pycache__", "compiled_code")
    shutil.copytree(ROOT / "mjbot", folder / "mjbot", ignore=left_out)
    (folder / "made_shipped.py").write_text(MODULE)
    return folder


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Return a folder with a module, and the machine code of a release."""
    folder = copied(tmp_path_factory.mktemp("released"))
    caches = tmp_path_factory.mktemp("caches")
    add_machine_code(folder, [sys.executable, "-c", COMPILER], caches)
    return folder


@pytest.fixture
def code(released, tmp_path):
    return shutil.copytree(released / CODE, tmp_path / "code")


COMPILED = ["23", "half,caller"]


def test_with_the_code_of_a_release_nothing_is_compiled_nor_kept(released, code, tmp_path):
    *found, variant, is_prepared, n_kept = run(released, code, tmp_path / "cache")
    assert (*found, is_prepared, n_kept) == ("23", "nothing", "True", "0")
    assert variant in VARIANTS


@pytest.mark.skipif(
    parse(numba.__version__) < parse("0.68"), reason="numba 0.60 names constants by addresses"
)
def test_two_builds_give_the_same_bytes(released, tmp_path):
    """Array expressions, too, which numba names by an address."""
    again = copied(tmp_path / "again")
    add_machine_code(again, [sys.executable, "-c", COMPILER], tmp_path / "caches")
    first, second = [
        {file.relative_to(code): file.read_bytes() for file in code.rglob("*") if file.is_file()}
        for code in (released / CODE, again / CODE)
    ]
    assert first == second
    assert any("weighted" in file.name for file in first)


def test_code_that_names_a_folder_of_this_machine_is_refused(tmp_path):
    program = "import os, pathlib; c = pathlib.Path(os.environ['MJBOT_CACHE'], 'v', 'm')\n"
    program += "c.mkdir(parents=True); (c / 'f.nbc').write_text(os.getcwd()); print('{}')"
    (tmp_path / "tree").mkdir()
    with pytest.raises(ReleaseError, match=r"^compiling: f\.nbc names this machine's folders"):
        command = [sys.executable, "-c", program]
        add_machine_code(tmp_path / "tree", command, tmp_path / "caches")


def test_what_fails_to_compile_is_reported_by_its_last_line(tmp_path):
    with pytest.raises(ReleaseError, match=r"^compiling for x86-64-v3 failed: ZeroDivisionError"):
        add_machine_code(tmp_path, [sys.executable, "-c", "1 / 0"], tmp_path / "caches")


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


@pytest.mark.parametrize("missing", ["files", "variants"])
def test_a_manifest_that_lacks_a_part_is_none(tmp_path, monkeypatch, missing):
    whole = {"versions": shipped.versions(), "variants": ["x86-64"], "files": {}}
    (tmp_path / MANIFEST).write_text(json.dumps(whole | {missing: None}))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    kept = [shipped._manifest, shipped.variant]
    for each in kept:
        each.cache_clear()
    try:
        assert shipped.read_shipped("any") is None
    finally:
        for each in kept:
            each.cache_clear()
