"""Two-way transcripts: ``<-`` the server's lines, ``->`` the client's, ``==`` how it ended."""

import os
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A slow machine must not fail a test.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

OWN = Path(__file__).parent / "transcripts"


@dataclass(frozen=True)
class Turn:
    """One line; ``by`` is ``server`` or ``client``."""

    by: str
    line: bytes


def read_turns(text: str) -> list[Turn]:
    turns = []
    for row in text.splitlines():
        if match := re.match(r"(<-|->) (?:t=[\d.]+ )?(.*)", row):
            turns.append(Turn("server" if match[1] == "<-" else "client", match[2].encode()))
    return turns


@pytest.fixture(scope="session")
def captures() -> dict[str, str]:
    shared = Path(os.environ.get("MJBOT_SHARED", Path(__file__).parents[3] / "shared"))
    archive = shared / "data" / "mjai" / "captures.zip"
    if not archive.exists():
        pytest.skip(f"the recorded conversations are not here: {archive}")
    with zipfile.ZipFile(archive) as files:
        return {Path(name).name: files.read(name).decode() for name in files.namelist()}


@pytest.fixture(scope="session")
def captured_turns(captures):
    return lambda name: read_turns(captures[name])


@pytest.fixture(scope="session")
def own_turns():
    return lambda name: read_turns((OWN / name).read_text(encoding="utf-8"))
