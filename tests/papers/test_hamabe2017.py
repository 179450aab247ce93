"""``python -m papers hamabe2017``: its tables say what the games say."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mjbot.arena.run import Arena, ArenaPlan, RunOutcome
from mjbot.arena.run_folder import GameLine, Results, read_games
from mjbot.arena.setup import Setup
from mjbot.arena.workers.files_read import FILES_FILE
from mjbot.game.statistics.estimates import Estimate
from mjbot.game.statistics.figures import CountRecords, Figure, as_rows, from_rows, no_counts
from mjbot.game.statistics.sequential import ErrorRates
from mjbot.game.table.settle import ranks_of
from mjbot.strategy.options import read_options
from mjbot.strategy.registry import strategy_class
from papers.__main__ import main
from papers.hamabe2017 import experiment as hamabe2017
from papers.hamabe2017.sums import (
    ALLYS_SHARE,
    PARTNER,
    RANK,
    SUMS,
    difference,
    make_setup,
    pair_seats,
    wall_sums,
    walls_for,
)
from papers.hamabe2017.switches import OFF, SWITCHES

CHEAP = {"yaku-evaluation": "fast-riichi-b", "combo-partner": "fast-riichi-c"}
"""Stand-ins that play the same tables in a hundredth of the time."""


def outcome_of(folder: Path, setup: Setup, lines: list[GameLine], n_walls: int) -> RunOutcome:
    results = Results(folder, setup)
    for line in lines:
        results.append(line)
    results.close()
    (folder / FILES_FILE).write_text("{}")  # they have read none of the user's
    with Arena(ArenaPlan(setup=setup, n_walls=n_walls, folder=folder, rates=ErrorRates())) as arena:
        return arena.outcome()


def plural(**changes: tuple[int, int, int]) -> CountRecords:
    """Ten kyoku; each change is (seat, place in ``fed`` or -1, number)."""
    counts = no_counts()
    counts["kyoku"] = 10
    for name, (seat, winner, number) in changes.items():
        if winner < 0:
            counts[name][seat] = number
        else:
            counts["fed"][seat][winner] = number
    return counts


def test_the_sums_are_those_of_the_pair_s_seats(tmp_path: Path) -> None:
    setup = Setup(strategies=("x", "y", "z"), format="pair")
    seats = pair_seats(setup.seating)
    assert len(seats) == 12
    lines = []
    for number, (top, partner) in seats.items():
        (rival, _) = (seat for seat in range(4) if seat not in (top, partner))
        counts = plural(
            wins=(top, -1, 3), fed_ally=(partner, top, 2), fed_rival=(partner, rival, 1)
        )
        counts["deal_ins"][partner] = 3
        scores = [0, 0, 0, 0]
        scores[top], scores[partner], scores[rival] = 30_000, 15_000, 35_000
        scores[6 - top - partner - rival] = 20_000
        lines.append(GameLine(0, number, tuple(scores), as_rows(counts)))
    sums = wall_sums(outcome_of(tmp_path, setup, lines, 1))
    assert sums["games"].tolist() == [12]
    assert sums["kyoku"].tolist() == [120]
    assert sums["top_wins"].tolist() == [36]
    assert sums["top_second"].tolist() == sums["partner_fourth"].tolist() == [12]
    assert sums["partner_to_ally"].tolist() == [24]
    assert sums["partner_to_rivals"].tolist() == [12]
    assert sums["score_sum"].tolist() == [12 * 45_000]
    assert sums["best_rank"].tolist() == [24]
    share = ALLYS_SHARE.estimate(np.concatenate([sums, sums]))
    assert share.value == pytest.approx(2 / 3)


def test_a_wall_that_is_not_whole_or_void_does_not_count(tmp_path: Path) -> None:
    setup = Setup(strategies=("x", "z"), format="1v3")
    rows = as_rows(plural())
    lines = [GameLine(0, number, (25_000,) * 4, rows) for number in range(5)]
    lines += [GameLine(1, number, (25_000,) * 4, rows) for number in range(3)]
    lines += [GameLine(2, number, (25_000,) * 4, rows) for number in range(4)]
    lines.append(GameLine(2, 4, void="it ended the process"))
    sums = wall_sums(outcome_of(tmp_path, setup, lines, 3))
    assert len(sums) == 1
    assert sums["games"].tolist() == [4]  # the last strategy's game against itself is none of them


def test_arms_are_compared_by_the_numbers_of_their_walls(tmp_path: Path) -> None:
    """Wall 1 of one arm is void: the walls behind it are still compared with themselves."""
    rng = np.random.default_rng(3)
    luck, arms = rng.integers(1, 4, 30), []
    for place, void in enumerate((1, None)):
        setup = Setup(strategies=("x", "z"), format="1v3", seed=place)
        lines = []
        for wall, seating in itertools.product(range(30), range(5)):
            scores = [25_000] * 4
            scores[seating % 4] += 100 * int(luck[wall]) - 250
            known = GameLine(wall, seating, tuple(scores), as_rows(plural()))
            is_void = wall == void and seating == 4
            lines.append(GameLine(wall, seating, void="it failed") if is_void else known)
        (tmp_path / str(place)).mkdir()
        arms.append(wall_sums(outcome_of(tmp_path / str(place), setup, lines, 30)))
    assert [len(arm) for arm in arms] == [29, 30]
    for figure in (RANK, Figure("top", "", "points", "top_score", "games")):
        less = difference(figure, *arms)
        assert less.value == 0 and less.is_alike
    with pytest.raises(ValueError, match="29 and 30 walls"):
        RANK.difference(*arms)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str]]]:
    """The report of 12 games per arm, with stand-ins for the slow two."""
    folder = tmp_path_factory.mktemp("runs")
    lines: list[str] = []
    arms = {
        name: replace(arm, players=tuple(CHEAP.get(p.split(",")[0], p) for p in arm.players))
        for name, arm in hamabe2017.ARMS.items()
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hamabe2017, "ARMS", arms)
        patch.setattr("builtins.print", lambda *args, **_: lines.append(str(args[0])))
        command = ["hamabe2017", "--games", "12", "--jobs", "1"]
        assert main([*command, "--out", str(folder)]) == 0
    yield folder, lines


def row(lines: list[str], start: str, number: int = 0) -> list[str]:
    found = [line for line in lines if line.startswith(f"| {start} |")]
    return [cell.strip() for cell in found[number].strip("|").split("|")]


def test_the_paper_s_figures_stand_beside_ours(report: tuple[Path, list[str]]) -> None:
    wins = row(report[1], "wins of the top AI")
    assert wins[2] == "11.4 ± 2.6 %"
    assert wins[-1] == "17.0 ± 3.1 %"
    assert row(report[1], "4th")[2] == "42.0 ± 13.7 %"
    assert row(report[1], "partner deals in to rivals")[-1] == "12.7 ± 2.7 %"


def test_ours_are_those_of_the_games(report: tuple[Path, list[str]]) -> None:
    folder, lines = report
    setup = make_setup(("fast-riichi-b",), "fast-riichi-a", 2021)
    games = [game for game in read_games(folder / f"arena-{setup.identity}") if game.seating < 4]
    assert len(games) == 12
    rank = np.mean([ranks_of(game.scores)[game.seating] for game in games])
    assert row(lines, "average rank of the top AI")[1].startswith(f"{rank:.3f} ±")
    counts = [from_rows(game.counts)[game.seating] for game in games]
    wins = sum(int(c["wins"]) for c in counts) / sum(int(c["kyoku"]) for c in counts)
    assert row(lines, "wins of the top AI")[1].startswith(f"{100 * wins:.2f} ±")


def test_every_arm_has_as_many_hanchan(report: tuple[Path, list[str]]) -> None:
    for arm in hamabe2017.ARMS.values():
        assert row(report[1], arm.label)[3] == str(12 * math.ceil(arm.share))


def test_what_is_compared_with_itself_differs_by_nothing(report: tuple[Path, list[str]]) -> None:
    """With the stand-ins the arms with a partner, without techniques and as the paper are one."""
    less = row(report[1], "wins of the top AI, with a partner")
    assert less[5:9] == ["+0.00 ± ? %", "overlap", "+0.00 ± ? %", "overlap"]


def test_intervals_are_apart_if_nothing_is_in_both() -> None:
    assert hamabe2017.apart(Estimate(1, 0, 2), Estimate(4, 3, 5))
    assert not hamabe2017.apart(Estimate(1, 0, 2), Estimate(3, 2, 4))


@pytest.mark.parametrize(
    ("rank", "text"), [(2.6, "overlap"), (3.2, "apart"), (2.05, "overlap")],
    ids=["only the walls differ", "on the same walls, too", "not even that"],
)  # fmt: skip
def test_what_differs_on_other_walls_alone_is_not_called_apart(rank: float, text: str) -> None:
    """One arm has a thousand walls, of which the first ten came out high; the other has those."""

    def sums_of(ranks: NDArray[np.float64]) -> NDArray[np.void]:
        sums = np.zeros(len(ranks), SUMS)
        sums["wall"] = np.arange(len(ranks))
        sums["games"], sums["top_rank"] = 12, 12 * ranks
        return sums

    spread = np.tile([-0.1, 0.1], 500)
    many = np.where(np.arange(1000) < 10, 2.6, 2.0) + spread
    found = {"alone": sums_of(many), "pair": sums_of(rank - spread[:10])}
    intervals = [RANK.estimate(found[arm]) for arm in ("alone", "pair")]
    assert hamabe2017.apart(*intervals) is (rank > 2.1)
    assert hamabe2017._apart(found, RANK, "pair", "alone") == text


def test_every_switch_is_an_option_of_the_partner_and_has_its_default() -> None:
    partner = strategy_class(PARTNER)
    for switch, (usual, other) in SWITCHES.items():
        assert read_options(partner, {switch: usual})[switch] == getattr(partner(), switch)
        assert read_options(partner, {switch: other})[switch] != getattr(partner(), switch)
        assert not read_options(partner, {switch: OFF[switch]})[switch]


def test_each_arm_plays_as_many_games_as_asked_whatever_its_ways_to_sit() -> None:
    alone = make_setup(("fast-riichi-b",), "fast-riichi-a", 1)
    pair = make_setup(("fast-riichi-b", "fast-riichi-c"), "fast-riichi-a", 1)
    like = make_setup(("fast-riichi-b", "fast-riichi-b"), "fast-riichi-a", 1)
    assert [walls_for(setup, 2004) for setup in (alone, pair, like)] == [501, 167, 334]
    assert like.strategies == ("fast-riichi-b", "fast-riichi-a")
