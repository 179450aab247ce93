"""A game written from Python is a record like any other, and nothing that is none is written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mjbot
from mjbot.cli.main import main
from mjbot.game.records.sources import open_games
from mjbot.game.records.writers import FORMATS
from mjbot.protocol.messages import Event
from mjbot.runtime.errors import ExitCode
from tests.game.referee.played import game_of_three

LOG = Path(mjbot.__file__).parents[1] / "logs" / "east-four-winds.mjson"
Json = dict[str, Any]


@pytest.fixture
def events() -> list[Json]:
    return [json.loads(line) for line in LOG.read_bytes().splitlines()]


def events_in(path: Path) -> list[Event]:
    return [entry.event for game in open_games(path) for entry in game.entries]


@pytest.mark.parametrize("name", ["a.mjson", "a.jsonl", "a.jsonl.gz", "a.mjlog", "a.zip", "folder"])
def test_a_written_game_is_read_back(events: list[Json], tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert mjbot.write_record(str(path), iter(events)) == 1
    assert main(["replay", str(path)]) == ExitCode.OK
    read, known = events_in(path), events_in(LOG)
    assert list(map(type, read)) == list(map(type, known))
    if "mjlog" not in name:
        assert read == known


def test_several_games_and_three_players(events: list[Json], tmp_path: Path) -> None:
    path = tmp_path / "two.mjson"
    three = FORMATS["mjai"].encode
    assert mjbot.write_record(path, events + events) == 2
    assert len(events_in(path)) == 2 * len(events_in(LOG))
    from mjbot.game.records.game import Entry, Game

    entries = (Entry(n, event) for n, event in enumerate(game_of_three(0, ("a", "b", "c"))))
    lines = three(Game("own", "line", entries)).splitlines()
    assert mjbot.write_record(path, [json.loads(line) for line in lines]) == 1
    assert main(["replay", str(path)]) == ExitCode.OK


CHANGES: dict[str, Callable[[list[Json]], object]] = {
    "a seat out of turn": lambda events: events[3].update(actor=(events[3]["actor"] + 1) % 4),
    "a draw is missing": lambda events: events.pop(2),
    "an unknown message": lambda events: events.insert(4, {"type": "dance"}),
    "a field is missing": lambda events: events[2].pop("actor"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_no_game_is_refused_and_nothing_is_written(
    change: str, events: list[Json], tmp_path: Path
) -> None:
    path = tmp_path / "a.mjson"
    path.write_text("of before")
    CHANGES[change](events)
    with pytest.raises(ValueError, match=r"^events") as refused:
        mjbot.write_record(path, events)
    assert "\n" not in str(refused.value)
    assert path.read_text() == "of before"
    assert list(tmp_path.iterdir()) == [path]
