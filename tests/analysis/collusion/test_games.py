"""What is kept of each game, and which pairs of players met in them."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import mjbot
from mjbot.analysis.collusion import games as games_module
from mjbot.analysis.collusion.games import GameCounts, count_games, who_met
from mjbot.analysis.collusion.hidden import no_model
from mjbot.game.records.sources import open_games
from mjbot.learning.training.positions import index_games
from mjbot.protocol.messages import EndGame, Event, StartGame, StartKyoku
from mjbot.runtime.append_log import LogError
from tests.damage import damages

LOGS = sorted((Path(mjbot.__file__).parents[1] / "logs").glob("*.mjson"))


@pytest.fixture(scope="module")
def games() -> GameCounts:
    return count_games(index_games(LOGS), {4: no_model()})


def events_of(log: Path) -> Iterator[Event]:
    for game in open_games(log):
        yield from (entry.event for entry in game.entries)


def test_names_scores_and_kyoku_are_those_of_each_record(games: GameCounts) -> None:
    assert len(games) == len(LOGS)
    for place, log in enumerate(LOGS):
        events = list(events_of(log))
        (start,) = [event for event in events if isinstance(event, StartGame)]
        (end,) = [event for event in events if isinstance(event, EndGame)]
        names = [games.players[number] for number in games.names[place]]
        assert names == list(start.names or ())
        assert tuple(games.scores[place]) == (end.scores or (0, 0, 0, 0))
        assert games.kyoku[place] == sum(isinstance(event, StartKyoku) for event in events)
    assert games.scores.any()


def at_random_tables(games: GameCounts, n: int, players: int) -> GameCounts:
    """Return ``n`` copies of the first game, each with four of so many players."""
    random = np.random.default_rng(5)
    many = games.take(np.zeros(n, np.intp))
    names = np.array([random.permutation(players)[:4] for _ in range(n)], np.int32)
    return replace(many, names=names, players=[f"p{k}" for k in range(players)])


def test_every_two_who_met_often_enough_are_a_pair_once(games: GameCounts) -> None:
    many = at_random_tables(games, 60, 12)
    together = {
        pair: sum({*pair} <= {*table} for table in many.names.tolist())
        for pair in combinations(range(12), 2)
    }
    assert min(together.values()) < 5 < max(together.values())
    for least in (1, 5):
        met = who_met(many, least)
        pairs = list(map(tuple, met.pairs.tolist()))
        assert pairs == [pair for pair, n in together.items() if n >= least]
        for pair, places, seats in zip(pairs, met.games, met.seats, strict=True):
            assert len(places) == together[pair]
            for side in (0, 1):
                assert (many.names[places, seats[:, side]] == pair[side]).all()


# --- what is kept in a folder -------------------------------------------------------------------


def counts(folder: Path | None, *records: Path) -> list[list[float]]:
    found = count_games(index_games(records), {4: no_model()}, folder=folder)
    names = [[found.players[number] for number in row] for row in found.names]
    arrays = (found.numbers, found.scores, found.kyoku)  # the others are drawn by number
    return [names, *[array.tolist() for array in arrays]]


def counted_anew(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the number of each game that is counted."""
    numbers: list[int] = []
    real = games_module.collect

    def noted(refs, *rest):
        numbers.extend(ref.number for ref in refs)
        return real(refs, *rest)

    monkeypatch.setattr(games_module, "collect", noted)
    return numbers


def test_a_folder_keeps_counts_by_the_digest_of_each_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, folder = tmp_path / "records", tmp_path / "kept"
    records.mkdir()
    for number, log in enumerate(LOGS[:2]):
        shutil.copy(log, records / f"{number}.mjson")
    numbers = counted_anew(monkeypatch)
    counts(folder, records)
    assert numbers == [0, 1]
    numbers.clear()
    shutil.move(records / "0.mjson", records / "5.mjson")  # another name, another number
    assert counts(folder, records) == counts(None, records)
    assert numbers == [0, 1]  # those of the second call, which has no folder
    numbers.clear()
    shutil.copy(LOGS[2], records / "1.mjson")  # another game in a file of the same name
    assert counts(folder, records) == counts(None, records)
    assert numbers == [0, 0, 1]
    numbers.clear()
    text = (records / "5.mjson").read_text("utf-8")
    (records / "5.mjson").write_text(text.replace('"majiang"', '"another"'), "utf-8")
    assert counts(folder, records) == counts(None, records)
    assert numbers == [1, 0, 1]


def test_a_folder_of_other_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts(tmp_path, LOGS[0])
    monkeypatch.setattr(games_module, "source_digest", lambda module: "other")
    with pytest.raises(
        LogError, match=r"holds a run with code .*; name another --folder or delete"
    ):
        counts(tmp_path, LOGS[0])


def test_a_damaged_file_of_counts_is_named_or_counts_as_it_was_written(tmp_path: Path) -> None:
    whole, path = counts(tmp_path, *LOGS[:1]), tmp_path / games_module.COUNTS_FILE
    text, refused = path.read_bytes(), 0
    for form in damages(path, 12):
        try:
            assert counts(tmp_path, *LOGS[:1]) == whole and path.read_bytes() == text, form
        except LogError as error:
            assert str(path) in str(error) and "\n" not in str(error)
            refused += 1
    assert refused > 12
