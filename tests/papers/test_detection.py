"""``python -m papers detection`` on a few walls, and what its figures say of planted pairs."""

from pathlib import Path

import numpy as np
import pytest

from mjbot.analysis.collusion.games import GameCounts
from mjbot.analysis.collusion.verdicts import levelled
from mjbot.game.statistics.origin import origin_of
from papers.__main__ import main
from papers.detection import experiment, judging, tables
from papers.detection.judging import Judge, choose, drawn_anew
from papers.detection.tables import (
    HONEST,
    PAIRS,
    USUAL_SEED,
    TableGames,
    TableKind,
    moved,
)
from tests.analysis.collusion.test_verdicts import ALL, played

LOGS = Path(__file__).parents[2] / "logs"
PAIR = TableKind(("combo-partner", "fast-riichi-d"), 970)
CALM = TableKind(("fast-riichi-d", "tsumogiri"), 990, format="each")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge one wall of two kinds of tables, in small groups."""
    monkeypatch.setattr(tables, "PAIRS", (PAIR,))
    monkeypatch.setattr(tables, "HONEST", (CALM,))
    for sizes in ("SIZES", "HONEST_SIZES", "UNRELATED_SIZES"):
        monkeypatch.setattr(experiment, sizes, (2,))
    for number, value in {"GROUPS": 20, "BOOTS": 2, "PSEUDO_PAIRS": 200, "ORDERS": 5}.items():
        monkeypatch.setattr(judging, number, value)


def detection(folder: Path, *more: str) -> int:
    usual = ("--games", "6", "--jobs", "1", "--out", str(folder))
    return main(["detection", *usual, *more])


def rows_of(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_tables_are_played_counted_and_told_once_and_each_part_tells_its_own(
    few: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert detection(tmp_path, "--records", str(LOGS)) == 0
    first = capsys.readouterr().out
    heads, rows = first.splitlines()[0], rows_of(first)
    assert "python -m papers detection --part all --games 6 --seed 2021 --records logs" in heads
    version = origin_of(()).version
    assert version and f", {version}: `" in heads
    known = {row[0]: row for row in rows}
    pair, live = [row for row in rows if row[0] == str(PAIR)]
    assert pair[1] == "2" and all("[" in cell for cell in pair[2:])
    assert live[1] == "6" and live[-1].endswith(" of 5 orders")
    assert known["200 pseudo-pairs of people (4 hanchan)"][1] == "2"
    assert f"{CALM} (6 hanchan): most of all pairs" in known
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl*")}
    assert sum(path.parent.name == "records" for path in kept) == 12
    assert sum(path.name == "counts.jsonl" for path in kept) == 1
    for part in experiment.PARTS[1:]:
        more = ("--records", str(LOGS)) if part != "live" else ()
        assert detection(tmp_path, "--part", part, *more) == 0
        parts = capsys.readouterr().out.split("\n\n", 1)[1]
        assert parts.rstrip() in first
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl*")} == kept


def test_records_are_for_whom_they_are_of_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["nakano2021", "--records", str(LOGS), "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert "nakano2021: error: unknown option '--records'" in capsys.readouterr().err


def test_no_two_tables_share_walls_and_another_seed_moves_all_of_them() -> None:
    learned_from = {870, 880, 3110}
    seeds = [kind.seed for kind in PAIRS + HONEST]
    assert len({*seeds} - learned_from) == len(PAIRS + HONEST)
    assert [moved(seed, USUAL_SEED) for seed in seeds] == seeds
    for asked in (0, USUAL_SEED - 1, USUAL_SEED + 1, 2**31 - 1):
        assert {moved(seed, asked) for seed in seeds}.isdisjoint({*seeds, 1000, *learned_from})


# --- planted -----------------------------------------------------------------------------------

JUDGE = Judge(ALL)


def table_of(games: GameCounts) -> TableGames:
    return TableGames.of(games, np.arange(len(games)) // 6)


@pytest.mark.parametrize("players", [3, 4])
def test_a_planted_pair_is_found_caught_and_told_of_and_nobody_else_is(
    monkeypatch: pytest.MonkeyPatch, players: int
) -> None:
    monkeypatch.setattr(judging, "PSEUDO_PAIRS", 2000)
    monkeypatch.setattr(judging, "BOOTS", 5)
    monkeypatch.setattr(judging, "ORDERS", 20)
    table = table_of(played(60, helped=1.5, players=players))
    pair = table.pairs.index(frozenset("ab"))
    null = JUDGE.unrelated(played(200, seed=2, players=players), 10).max(axis=1)
    strange, own, _, caught, accused = JUDGE.found(table, pair, 10, null)
    assert min(strange.value, own.value) > 0.99 and caught.value > 0.9
    assert strange.low <= strange.value <= strange.high
    assert accused.value < 0.01
    after = JUDGE.log_e_values_live(table)
    assert np.isfinite(after[:, pair]).all() and after[:, pair].max() < 30
    assert np.isinf(np.delete(after, pair, axis=1)).all()


def test_a_pair_is_told_of_at_the_limit_of_the_last_pair_that_met(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judging, "ORDERS", 150)
    table = table_of(played(40, helped=1.0))
    after, random = JUDGE.log_e_values_live(table), judging.dice(40)
    rows = np.arange(40)[:, None]
    left = levelled(table.games)[rows, table.places]
    products = table.games.products[rows, table.places]
    for found in after:
        order = random.permutation(40)
        e = ALL.e_values(left[order].cumsum(axis=0), products[order].astype(float).cumsum(axis=0))
        for pair, n in enumerate(found.tolist()):
            reached = np.flatnonzero(e[:, pair] >= 6 * 7 / 0.01)
            assert n == (reached[0] + 1 if len(reached) else np.inf)
    assert np.isfinite(after).any() and np.isinf(after).any()


def test_without_help_nobody_is_found_nor_accused_more_often_than_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judging, "BOOTS", 2)
    monkeypatch.setattr(judging, "PSEUDO_PAIRS", 2000)
    games = played(120)
    table = table_of(games)
    shares = JUDGE.alarms(table, 10)
    assert shares.shape == (3, 6)
    assert (shares.mean(axis=1) <= judging.LEVELS).all()
    unrelated = JUDGE.unrelated(games, 10)
    assert (judging.shares_below(ALL.p_values(unrelated)) <= judging.LEVELS).all()
    own = np.mean([JUDGE.found(table, pair, 10, None)[1].value for pair in range(6)])
    assert own == pytest.approx(0.5, abs=1e-6)  # each of all six against the other five
    assert np.isnan(JUDGE.found(table, 0, 10, None)[0].value)


def test_groups_have_different_games_and_walls_stay_whole() -> None:
    random = np.random.default_rng(3)
    for n_games, size in ((6, 5), (50, 3), (1000, 50)):
        groups = choose(n_games, size, 40, random)
        assert groups.shape == (40, size)
        assert all(len({*group}) == size for group in groups.tolist())
        assert groups.min() >= 0 and groups.max() < n_games
    walls = np.repeat(np.arange(5), 6)
    drawn = walls[drawn_anew(walls, random)]
    assert len(drawn) == len(walls)
    assert all(number % 6 == 0 for number in np.bincount(drawn))
