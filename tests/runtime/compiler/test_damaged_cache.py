"""A damaged file of the cache is none: it is made again, and machine code of it never runs."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mjbot.game.rules.tables import TABLES, _tables_in, load_tables, tables_file
from mjbot.runtime.compiler import checked_files
from mjbot.runtime.compiler.cache import cache_folder, cure_of_crash
from mjbot.runtime.compiler.checked_files import DATA, INDEX
from mjbot.runtime.compiler.code_cache import _File
from mjbot.runtime.compiler.state import cache_state

SMALL, LARGE = "small", bytes(range(256))
KINDS = {"index": INDEX, "code": DATA}


@pytest.fixture
def kept(tmp_path: Path) -> _File:
    file = _File(tmp_path, "f-1")
    file.save(SMALL, "one")
    file.save(LARGE, LARGE)
    return file


def damages(content: bytes) -> Iterator[bytes]:
    """Yield the content cut off at each length, with a bit of each byte flipped, and longer."""
    for length in range(len(content)):
        yield content[:length]
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        yield bytes(flipped)
    yield content + b"\0"
    yield bytes(len(content))


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_damaged_file_nothing_is_read(kept: _File, tmp_path: Path, kind: str) -> None:
    for path in tmp_path.glob(f"*{KINDS[kind]}"):
        content = path.read_bytes()
        for damaged in damages(content):
            path.write_bytes(damaged)
            assert checked_files.read(path) is None
            assert kept.load(SMALL) in (None, "one")
            assert kept.load(LARGE) in (None, LARGE)
        path.write_bytes(content)
    assert kept.load(SMALL) == "one"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b""), Path.unlink])
def test_a_damaged_file_is_replaced_and_what_it_leaves_is_removed(
    kept: _File, tmp_path: Path, kind: str, damage: Callable[[Path], object]
) -> None:
    for path in tmp_path.glob(f"*{KINDS[kind]}"):
        damage(path)
    assert (kept.load(SMALL), kept.load(LARGE)) == (None, None)
    kept.save(SMALL, "another")
    assert (kept.load(SMALL), kept.load(LARGE)) == ("another", None)
    kept.save(LARGE, LARGE)
    assert (kept.load(SMALL), kept.load(LARGE)) == ("another", LARGE)
    assert len(list(tmp_path.glob(f"*{DATA}"))) == 2


def test_a_file_that_cannot_be_read_is_none(kept: _File, tmp_path: Path) -> None:
    index = tmp_path / f"f-1{INDEX}"
    index.unlink()
    index.mkdir()
    assert kept.load(SMALL) is None
    with pytest.raises(OSError, match="f-1"):  # which the callers leave at that
        kept.save(SMALL, "one")


def test_code_is_written_before_an_index_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    replace = Path.replace

    def noted_replace(self: Path, to: Path) -> Path:
        steps.append(to.suffix)
        return replace(self, to)

    monkeypatch.setattr(Path, "replace", noted_replace)
    _File(tmp_path, "f-1").save(SMALL, "one")
    assert steps == [DATA, INDEX]
    assert not list(tmp_path.glob("*.tmp"))


def test_tables_of_a_damaged_file_are_the_right_ones_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MJBOT_CACHE", str(tmp_path / "cache"))
    load_tables()
    content = tables_file().read_bytes()
    last = len(content) - 1
    sample = [*range(0, 128, 2), *range(128, last, 49_999), *range(last - 900, last, 9), last]
    for place in sample:
        for damaged in (content[:place], _flipped(content, place)):
            try:
                found = _tables_in(damaged)
            except Exception:
                continue
            assert all((a == b).all() for a, b in zip(found, TABLES, strict=True)), place


def _flipped(content: bytes, place: int) -> bytes:
    flipped = bytearray(content)
    flipped[place] ^= 1 << place % 8
    return bytes(flipped)


MODULE = """
import numpy as np
from mjbot.runtime.compiler.compiled import compiled

@compiled
def third(x):
    return x // 3

@compiled
def caller(x):
    return third(x) + third(30)
"""
PROGRAM = """
from mjbot.runtime.compiler.events import on_compiled
made = []
on_compiled.append(made.append)
from small_module import caller
assert caller(60) == 30
print(*sorted(set(made)))
"""


@pytest.fixture
def run(tmp_path: Path) -> Callable[[], str]:
    (tmp_path / "small_module.py").write_text(MODULE)

    def run() -> str:
        environ = {"MJBOT_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, **environ}, capture_output=True, text=True, check=True, cwd=tmp_path,
        )  # fmt: skip
        assert not done.stderr
        return done.stdout.strip()

    return run


def test_damaged_machine_code_is_compiled_again_and_kept(
    run: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MJBOT_CACHE", str(tmp_path / "cache"))
    assert run() == "caller third"
    folder = cache_folder()
    for suffix in KINDS.values():
        damaged = sorted(folder.rglob(f"*{suffix}"))
        for number, path in enumerate(damaged):
            content = path.read_bytes()
            path.write_bytes((_flipped(content, len(content) // 2), b"", content[:-1])[number % 3])
        state = cache_state()
        assert sorted(state.damaged) == damaged
        assert run() == "caller third"
        assert cache_state().n_entries == state.n_entries
        assert not cache_state().damaged
    assert run() == ""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    assert cache_state().n_bytes == sum(sizes)


def test_a_crash_names_the_cache_and_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MJBOT_CACHE", str(tmp_path))
    cure = cure_of_crash("killed by SIGSEGV")
    assert f"delete the cache of compiled code, {tmp_path}" in cure
    assert cure_of_crash("killed by SIGKILL") == cure_of_crash("") == ""
