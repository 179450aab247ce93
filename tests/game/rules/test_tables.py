"""The tables' cache, and compiled code in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mjbot.game.rules.kinds import hand_counts
from mjbot.game.rules.shanten import shanten
from mjbot.game.rules.tables import TABLES, load_tables, tables_file


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MJBOT_CACHE", str(tmp_path))
    return tmp_path


def assert_right(tables: tuple[np.ndarray, ...]) -> None:
    for ours, expected in zip(tables, TABLES, strict=True):
        assert ours.dtype == expected.dtype
        assert (ours == expected).all()


def test_tables_are_made_once_and_then_loaded(cache: Path) -> None:
    assert_right(load_tables())
    made = tables_file().stat().st_mtime_ns
    assert_right(load_tables())
    assert tables_file().stat().st_mtime_ns == made
    assert [path.name for path in cache.iterdir()] == [tables_file().name]


@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped", "other", "not ours"])
def test_damaged_tables_are_made_again(cache: Path, damage: str) -> None:
    load_tables()
    content = bytearray(tables_file().read_bytes())
    if damage == "truncated":
        tables_file().write_bytes(content[: len(content) // 2])
    elif damage == "empty":
        tables_file().write_bytes(b"")
    elif damage == "flipped":
        content[len(content) // 2] ^= 0xFF
        tables_file().write_bytes(content)
    elif damage == "other":
        np.savez(tables_file(), join=TABLES.join)
    else:
        np.savez(tables_file(), **{name: np.zeros(3, np.int64) for name in TABLES._fields})
    assert_right(load_tables())
    assert tables_file().read_bytes()[:2] == b"PK"
    assert_right(load_tables())


def test_a_cache_that_cannot_be_written_does_not_stop_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("MJBOT_CACHE", str(blocked / "cache"))
    assert_right(load_tables())


def test_processes_that_start_together_on_an_empty_cache_agree(tmp_path: Path) -> None:
    question = (
        "from mjbot.game.rules.kinds import hand_counts\n"
        "from mjbot.game.rules.shanten import shanten\n"
        "print(shanten(hand_counts('1379m25p1468s235z'), 0))"
    )
    environment = {**os.environ, "MJBOT_CACHE": str(tmp_path)}
    expected = shanten(hand_counts("1379m25p1468s235z"), 0)
    for together in (2, 1):  # cold, then from the cache that the first two left
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", question], env=environment, stdout=subprocess.PIPE
            )
            for _ in range(together)
        ]
        answers = [process.communicate()[0] for process in processes]
        assert [int(answer) for answer in answers] == [expected] * together
