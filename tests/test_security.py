"""The page of limits says what the code does, and each limit has a test."""

import asyncio
import importlib
import logging
import re
from dataclasses import fields
from pathlib import Path

import pytest

from mjbot.play.server.lobby import TableRules
from mjbot.play.server.server import TableServer
from mjbot.protocol.transports.base import UnreachableError
from mjbot.protocol.transports.websocket import connect_websocket

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| [^|]+ \| ([\d,]+) ?[^|]* \| `([\w.]+):([\w.]+)` \| (.+) \|$", re.M)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@pytest.mark.parametrize(("figure", "module", "name", "held_by"), ROW.findall(PAGE))
def test_each_figure_is_the_constant_beside_it_and_names_a_test(figure, module, name, held_by):
    owner, _, default = name.partition(".")
    found = getattr(importlib.import_module(module), owner)
    if default:
        (found,) = [field.default for field in fields(found) if field.name == default]
    assert float(figure.replace(",", "")) == found
    assert TEST.search(held_by)


def test_all_rows_are_read():
    assert len(ROW.findall(PAGE)) == PAGE.count("| `protocol.") + PAGE.count("| `mjbot.")


@pytest.mark.parametrize(("file", "test"), sorted(set(TEST.findall(PAGE))))
def test_each_test_that_is_named_exists(file, test):
    assert re.search(rf"^(async )?def {test}\(", (ROOT / file).read_text("utf-8"), re.M)


def test_no_token_is_logged(caplog):
    caplog.set_level(logging.DEBUG)

    async def main():
        async with asyncio.timeout(60), TableServer(TableRules(seed=1)) as server:
            port = await server.open_websocket("127.0.0.1", 0, "right-token")
            url = f"ws://127.0.0.1:{port}/ws"
            await (await connect_websocket(url, "right-token")).close()
            with pytest.raises(UnreachableError) as refused:
                await connect_websocket(url, "wrong-token")
            return str(refused.value)

    report = [asyncio.run(main()), *[record.getMessage() for record in caplog.records]]
    assert report[1:] and not [text for text in report if "-token" in text]


TIME_OF_DAY = re.compile(
    r"\btime\.time\(|\bdatetime\.(now|utcnow|today)\(|\bdate\.today\(|\blocal_time\("
)
MAY_READ_IT = {
    "mjbot/arena/protocol.py": "when a protocol was fixed",
    "mjbot/game/statistics/origin.py": "the date of a report",
    "mjbot/cli/match.py": "names a folder",
    "mjbot/cli/run.py": "whether the hours of the day are open",
    "mjbot/runtime/clock.py": "reads it for those that name a file",
    "mjbot/runtime/compiler/cache.py": "how old folders are",
    "mjbot/learning/models/weights.py": "the date of weights",
    "mjbot/game/records/evidence.py": "when a reply came",
    "mjbot/play/server/game_log.py": "names a file",
    "mjbot/play/service/log_file.py": "names a file",
    "mjbot/viewer/seat.py": "what the page draws of a clock",
}


def test_deadlines_do_not_follow_the_time_of_day():
    """It can be set forward and back; what is due goes by the monotonic clock."""
    found = {
        path.relative_to(ROOT).as_posix()
        for package in ("mjbot", "protocol", "strategies", "papers")
        for path in (ROOT / package).rglob("*.py")
        if TIME_OF_DAY.search(path.read_text("utf-8"))
    }
    assert found == MAY_READ_IT.keys()
