"""Recorded games that lie outside the project; skipped where they are missing."""

import pytest

from mjbot.game.records.replay import ReplaySummary, replay
from mjbot.game.records.sources import Source, games_of, list_sources, open_games
from proof.records import shared_folder


def sources(name: str) -> list[Source]:
    path = shared_folder() / "data" / name
    if not path.exists():
        pytest.skip(f"{name} is not in the shared data folder (set MJBOT_SHARED)")
    return list_sources(path)


def test_games_of_the_original_server_replay_strictly() -> None:
    summary = ReplaySummary()
    for source in sources("mjai/gimite-server-games.zip"):
        for game in games_of(source):
            replay(game, summary)
    # Two games ended early, with the server's error about a player's answer.
    assert str(summary) == "6 games (2 unfinished), 53 kyoku, 5092 events"


def test_game_in_the_mortal_dialect_replays_strictly() -> None:
    summary = ReplaySummary()
    for source in sources("mjai/mortal-dialect-hanchan.jsonl"):
        for game in games_of(source):
            replay(game, summary)
    assert str(summary) == "1 game, 12 kyoku, 1383 events"


@pytest.mark.parametrize("name", ["phoenix/hanchan-2020.zip", "phoenix/hanchan-2024.zip"])
def test_some_phoenix_games_replay_strictly(name: str) -> None:
    summary = ReplaySummary()
    for source in sources(name)[::60]:
        for game in games_of(source):
            replay(game, summary)
    assert summary.games >= 10
    assert summary.unfinished == 0


def test_open_games_walks_a_whole_zip() -> None:
    wanted = sources("phoenix/hanchan-2020.zip")
    games = open_games(wanted[0].path)
    assert [next(games).name for _ in range(3)] == [source.name for source in wanted[:3]]
