from pathlib import Path

import numpy as np
import pytest

from papers.one_player import runs
from papers.one_player.game import WALLS_PER_SEED, new_game
from papers.one_player.players import GreedyPlayer, play
from papers.one_player.runs import RunError, winning_draws


def the_file(folder: Path) -> Path:
    (path,) = folder.glob("*.jsonl")
    return path


def test_a_run_plays_each_wall_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = winning_draws("greedy", 3, 25, tmp_path, 1)
    expected = [play(GreedyPlayer(), new_game(3, number), 0) for number in range(25)]
    assert draws.tolist() == expected
    lines = the_file(tmp_path).read_text().splitlines()
    assert len(lines) == 1 + 3  # ten walls a line
    monkeypatch.setattr(runs, "play", None)  # nothing is left to play
    assert winning_draws("greedy", 3, 30, tmp_path, 1).tolist()[:25] == expected


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    whole = winning_draws("random", 8, 60, tmp_path / "whole", 1)
    winning_draws("random", 8, 60, tmp_path / "cut", 1)
    path = the_file(tmp_path / "cut")
    path.write_bytes(path.read_bytes()[:-9])
    assert winning_draws("random", 8, 60, tmp_path / "cut", 1).tolist() == whole.tolist()
    assert path.read_bytes() == the_file(tmp_path / "whole").read_bytes()


def test_processes_find_what_one_finds(tmp_path: Path) -> None:
    alone = winning_draws("greedy", 4, 40, tmp_path / "one", 1)
    assert winning_draws("greedy", 4, 40, tmp_path / "two", 2).tolist() == alone.tolist()


@pytest.mark.parametrize(
    "line", ["[5,[0,0,0,0,0,0,0,0,0,0]]", "[10,[0]]", "[10,[0,0,0,0,0,0,0,0,0,28]]", "nothing"]
)
def test_a_damaged_file_is_named(tmp_path: Path, line: str) -> None:
    winning_draws("greedy", 4, 10, tmp_path, 1)
    path = the_file(tmp_path)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(
        RunError, match=f"{path.name}, line 3: .*; delete .* or move the file away"
    ) as error:
        winning_draws("greedy", 4, 20, tmp_path, 1)
    assert "\n" not in str(error.value)


def test_a_file_of_another_run_is_refused(tmp_path: Path) -> None:
    winning_draws("greedy", 4, 10, tmp_path, 1)
    path = the_file(tmp_path)
    path.write_text(path.read_text().replace('"seed":4', '"seed":5'))
    with pytest.raises(RunError, match="holds a run with seed 5; name another folder"):
        winning_draws("greedy", 4, 10, tmp_path, 1)


def test_walls_of_seeds_do_not_overlap() -> None:
    assert WALLS_PER_SEED > 10**9
    assert not np.array_equal(new_game(0, 1)["wall"], new_game(1, 0)["wall"])


def test_a_player_that_fails_is_named_with_its_wall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("it cannot go on")

    monkeypatch.setattr("papers.one_player.strategy_adapter.apply_discard", refuse)
    with pytest.raises(RunError, match="wall 0: it cannot go on"):
        winning_draws("strategy:tsumogiri", 4, 10, tmp_path, 1)


def test_who_waits_hears_how_far_it_is(tmp_path: Path) -> None:
    received: list[int] = []
    winning_draws("random", 4, 20, tmp_path, 1)
    winning_draws("random", 4, 45, tmp_path, 1, received.append)
    assert received == [20, 30, 40, 50]
