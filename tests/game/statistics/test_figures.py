"""The figures of a few games worked out by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from mjbot.game.statistics.figures import (
    COUNTS,
    FIGURES,
    PAIR_FIGURES,
    FinishedGame,
    WallSummary,
    as_rows,
    from_rows,
    no_counts,
    pairing_ratio,
    rank_differences,
)
from mjbot.game.statistics.seating import make_seating

ESTIMATES = {figure.key: figure for figure in FIGURES}


def game(scores: Sequence[int], **by_seat: list[int]) -> FinishedGame:
    counts = no_counts()
    counts["kyoku"] = 10
    for field, numbers in by_seat.items():
        counts[field] = numbers
    return FinishedGame(tuple(scores), counts)


def test_two_against_two_by_hand() -> None:
    seating = make_seating("2v2", 2)
    games = [game((40000, 30000, 20000, 10000), wins=[3, 2, 1, 0])] * 6
    rows = WallSummary(seating).rows(games)
    # each strategy sits in every seat three times: all figures are those of all seats
    for row in rows:
        assert row["games"] == 12
        assert row["rank"] / row["games"] == 2.5
        assert [row[place] for place in ("first", "second", "third", "fourth")] == [3, 3, 3, 3]
        assert row["wins"] / row["kyoku"] == 0.15
        assert row["uma"] == pytest.approx(3 * (50 + 10 - 20 - 40))


def test_the_challenger_is_judged_by_its_own_seat_only() -> None:
    seating = make_seating("1v3", 2)
    last = (10000, 20000, 30000, 40000)
    ahead = [[50000 if seat == own else 16000 + seat for seat in range(4)] for own in range(4)]
    games = [game(scores) for scores in [*ahead, last]]
    challenger, baseline = WallSummary(seating).rows(games)
    assert (challenger["games"], challenger["rank"], challenger["first"]) == (4, 4, 4)
    assert (baseline["games"], baseline["rank"], baseline["score"]) == (4, 10, 100000)


def test_figures_divide_what_belongs_together() -> None:
    seating = make_seating("1v3", 2)
    played = game(
        (25000, 25000, 25000, 25000),
        wins=[2, 0, 0, 0], win_points=[7800, 0, 0, 0], win_turns=[19, 0, 0, 0],
        deal_ins=[0, 1, 1, 0], deal_in_points=[0, 2600, 5200, 0], no_win=[8] * 4,
        draws=[5] * 4, tenpai=[4, 1, 0, 0], riichi=[3, 0, 0, 0], calls=[0, 6, 0, 0],
    )  # fmt: skip
    rows = np.stack([WallSummary(seating).rows([played] * 5)] * 3)
    of_baseline = rows[:, 1]
    found = {key: figure.estimate(of_baseline).value for key, figure in ESTIMATES.items()}
    assert found["win"] == 2 / 40
    assert found["deal_in"] == 2 / 40
    assert found["riichi"] == 3 / 40
    assert found["call"] == 6 / 40
    assert found["draw"] == 8 / 10
    assert found["tenpai"] == 5 / 20
    assert found["win_points"] == 3900
    assert found["deal_in_points"] == 3900
    assert found["win_turn"] == 9.5
    assert found["rank"] == 2.5


def test_pairs_count_feeds_apart_from_deal_ins_to_rivals() -> None:
    seating = make_seating("pair", 2)
    one = game((30000, 20000, 40000, 10000))
    one.counts["fed"][0] = [0, 3, 0, 1]
    one.counts["fed"][1] = [0, 0, 2, 0]
    rows = WallSummary(seating).pairs([one] * 6)
    # seats 0 and 1 are allies in a third of the seatings, 0 and 3, 1 and 2 likewise
    first, second = rows
    assert first["games"] == second["games"] == 6
    assert first["feeds"] + second["feeds"] == 2 * 3 + 2 * 1 + 2 * 2
    assert first["feeds"] + second["feeds"] + first["rivals"] + second["rivals"] == 6 * 6
    assert first["rank"] + second["rank"] == 60
    assert first["score"] + second["score"] == 600000
    # ranks 2 3 1 4: the better ones of 01|23, 02|13, 03|12 are 2+1, 1+3, 2+1, each played twice
    assert first["best"] + second["best"] == 2 * (3 + 4 + 3)
    assert {figure.key for figure in PAIR_FIGURES} >= {"feed", "rival", "rank_sum", "score_sum"}


def test_a_pair_feeds_both_ways_and_neither_is_a_deal_in_to_a_rival() -> None:
    fed = np.zeros((4, 4), np.int32)
    fed[0, 1], fed[1, 0], fed[0, 2], fed[1, 3], fed[2, 0], fed[3, 2] = 1, 2, 4, 8, 16, 32
    seating = make_seating("pair", 2)
    games = [game((40000, 30000, 20000, 10000)) for _ in seating.tables]
    number = seating.tables.index((0, 0, 1, 1))
    games[number] = game((40000, 30000, 20000, 10000), fed=fed.tolist())
    ours, theirs = WallSummary(seating).pairs(games)
    assert (ours["feeds"], ours["rivals"]) == (1 + 2, 4 + 8)
    assert (theirs["feeds"], theirs["rivals"]) == (32, 16)


def test_rank_differences_are_taken_wall_by_wall() -> None:
    seating = make_seating("1v3", 2)
    good = [game([40000 if seat == own else 20000 for seat in range(4)]) for own in range(4)]
    even = game([25000] * 4)
    walls = [[*good, even], [even] * 5]
    rows = np.stack([WallSummary(seating).rows(games) for games in walls])
    assert rank_differences(rows, 0, 1).tolist() == [-1.5, 0]


def test_pairing_is_compared_with_games_of_the_same_kind() -> None:
    """Ranks that owe nothing to the wall gain nothing from sharing it."""
    dice = np.random.default_rng(1)
    for format_, n in (("2v2", 2), ("each", 4), ("1v3", 2)):
        seating = make_seating(format_, n)
        walls = [
            [game(dice.permutation([4, 3, 2, 1]).tolist()) for _ in seating.tables]
            for _ in range(400)
        ]
        rows = np.stack([WallSummary(seating).rows(games) for games in walls])
        # in 1v3 the baseline's four ranks are those of one game: their mean does not vary
        expected = 0.5 if format_ == "1v3" else 1.0
        assert pairing_ratio(rows, 0, 1) == pytest.approx(expected, abs=0.15)


def test_counts_travel_as_plain_numbers() -> None:
    counts = no_counts()
    for number, name in enumerate(COUNTS.names or ()):
        counts[name][2] = number + 1
    assert (from_rows(as_rows(counts)) == counts).all()
