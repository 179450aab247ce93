"""Recorded conversations, and strategies made for trying the client."""

import os
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from mjbot.game.table.mirror.wire import to_action
from mjbot.protocol.codec import decode_line
from mjbot.strategy.strategy import Strategy

OWN = Path(__file__).parents[2] / "protocol" / "transcripts"


@dataclass(frozen=True)
class Turn:
    by: str
    line: bytes


def read_turns(text: str) -> list[Turn]:
    found = re.findall(r"^(<-|->) (?:t=[\d.]+ )?(.*)$", text, re.M)
    return [Turn("server" if arrow == "<-" else "client", line.encode()) for arrow, line in found]


@pytest.fixture(scope="session")
def captured_turns():
    shared = Path(os.environ.get("MJBOT_SHARED", Path(__file__).parents[4] / "shared"))
    archive = shared / "data" / "mjai" / "captures.zip"
    if not archive.exists():
        pytest.skip(f"the recorded conversations are not here: {archive}")
    with zipfile.ZipFile(archive) as files:
        texts = {Path(name).name: files.read(name).decode() for name in files.namelist()}
    return lambda name: read_turns(texts[name])


@pytest.fixture(scope="session")
def own_turns():
    return lambda name: read_turns((OWN / name).read_text(encoding="utf-8"))


class Echo(Strategy):
    """Does what the transcript's client did next; fails if that is not legal."""

    def __init__(self):
        self.line = b""

    def decide(self, view):
        (output,) = decode_line(self.line)
        action = to_action(view.state, view.seat, output)
        assert action in view.legal, f"{action} is not among {view.legal}"
        return action


@pytest.fixture
def echo():
    return Echo()
