"""``python -m proof search-margin``: positions judged twice, a run that resumes, and its tables."""

import argparse
import json
from itertools import islice

import pytest

from proof import search_margin


@pytest.fixture(name="lines", scope="module")
def judged_positions():
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("EVERY", 1), ("WORLDS", 16), ("SIZES", (4, 16)), ("KYOKU", 10),
                            ("GAMES", 3)):  # fmt: skip
            patch.setattr(search_margin, name, value)
        return list(islice(search_margin.positions(5), 12))


def test_positions_have_challengers_judged_by_worlds_and_by_the_true_hands(lines):
    moved = 0
    for line in lines:
        n = len(line["actions"]) - 1
        assert n in (1, 2)
        assert [len(line[name]) for name in ("search", "judge", "games")] == [n, n, n]
        assert all(share >= 0.08 for share in line["shares"][1:])
        moved += line["search"][0]["16"] != tuple(line["judge"][0])
    assert moved > 6


def test_a_complete_game_is_not_played_again_and_its_report_counts(lines, tmp_path, capsys):
    out = tmp_path / "margin.jsonl"
    gain, error = (
        {"25": (0.0, 0.1), "50": (0.1, 0.01), "100": (0.1, 0.01), "200": (0.1, 0.01)},
        0.01,
    )
    made = [
        {
            **lines[0],
            "game": 5,
            "search": [gain],
            "judge": [(judge, error)],
            "games": [(judge, error)],
        }
        for judge in (0.1, -0.1, 0.0)
    ]
    rows = [*made, {"game": 5, "end": True}, {**made[0], "game": 6}]  # the last was killed
    out.write_text("".join(json.dumps(row) + "\n" for row in rows))
    args = argparse.Namespace(games=1, seed=5, out=out)
    assert search_margin.run(args) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("3 positions of 1 games")
    line = next(text for text in printed if text.startswith("| 50 | 0.01 | 1 |"))
    assert line.split(" | ")[3:7] == ["3", "1", "1", "1"]
    assert (
        next(text for text in printed if text.startswith("| 25 | 0 | 0 |")).split(" | ")[3] == "0"
    )
    assert len(out.read_text().splitlines()) == 4
