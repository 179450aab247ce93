"""What ``--records`` counts is what all seats of the records did."""

from collections import Counter
from pathlib import Path

import pytest

import mjbot
from mjbot.arena.ladder.table import rates_of_records
from mjbot.game.records.game import Entry, Game
from mjbot.game.records.sources import open_games
from mjbot.game.records.writers import FORMATS
from mjbot.protocol import messages as m
from tests.game.referee.played import game_of_three

LOGS = Path(mjbot.__file__).parents[1] / "logs"


@pytest.fixture
def of_three(tmp_path: Path) -> Path:
    path = tmp_path / "three.mjson"
    events = game_of_three(0, ("a", "b", "c"))
    entries = (Entry(number, event) for number, event in enumerate(events))
    path.write_bytes(FORMATS["mjai"].encode(Game("own", "line", entries)))
    return path


@pytest.mark.parametrize("players", [3, 4])
def test_each_seat_counts(players: int, of_three: Path) -> None:
    path = of_three if players == 3 else LOGS / "east-extra-round.mjson"
    (game,) = open_games(path)
    events = [entry.event for entry in game.entries]
    kinds = Counter(map(type, events))
    (row,) = rates_of_records(path, players)
    assert row["kyoku"] == players * kinds[m.StartKyoku]
    assert row["wins"] == kinds[m.Hora]
    assert row["riichi"] == kinds[m.Reach]
    wins_by_seat = Counter(event.actor for event in events if isinstance(event, m.Hora))
    assert wins_by_seat.total() == kinds[m.Hora] > 0
