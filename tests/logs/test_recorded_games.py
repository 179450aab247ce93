"""The games in ``logs/``: they replay strictly, as the server saw them and as each seat did."""

import json
from pathlib import Path

import pytest

from mjbot.game.records.replay import ReplaySummary, replay
from mjbot.game.records.sources import open_games
from mjbot.game.table.mirror.mirror import Mirror
from mjbot.protocol.masking import masked

LOGS = Path(__file__).parents[2] / "logs"
FILES = sorted(LOGS.glob("*.mjson"))


def test_every_file_is_described():
    described = (LOGS / "README.md").read_text(encoding="utf-8")
    assert len(FILES) >= 3
    assert all(f"`{file.name}`" in described for file in FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_recorded_game_replays_strictly(file):
    summary = ReplaySummary()
    for game in open_games(file):
        replay(game, summary)
    assert (summary.games, summary.unfinished) == (1, 0)
    assert summary.events == len(file.read_text().splitlines())


@pytest.mark.parametrize("seat", range(4))
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_seat_can_follow_it_strictly(file, seat):
    (game,) = open_games(file)
    table = Mirror(seat, strict=True)
    for entry in game.entries:
        table.apply(masked(entry.event, seat))
    last = json.loads(file.read_text().splitlines()[-1])
    assert table.state["scores"].tolist() == last["scores"]


def test_together_they_show_what_can_happen():
    output = [json.loads(line) for file in FILES for line in file.read_text().splitlines()]
    kinds = {event["type"] for event in output}
    assert kinds >= {"chi", "pon", "daiminkan", "ankan", "reach", "reach_accepted", "dora", "hora"}
    reasons = {event["reason"] for event in output if event["type"] == "ryukyoku"}
    assert reasons >= {"fanpai", "sufonrenta"}
    players = {name for event in output for name in event.get("names", [])}
    assert players == {"fast-riichi-b", "fast-riichi-d", "majiang", "majiang-2"}
