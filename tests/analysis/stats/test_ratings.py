"""Ratings by games: every game of at least two players counts, once for each name."""

import pytest

from mjbot.analysis.stats.ratings import Ratings

pytest.importorskip("openskill", reason="the extra [stats] is not installed")


@pytest.mark.parametrize(
    ("names", "first", "last"),
    [
        ("abab", "a", "b"),  # two names: ranks 1 and 3 against 2 and 4
        ("aaab", "a", "b"),
        ("abca", "b", "a"),
        ("abcd", "a", "d"),
        ("aab", "a", "b"),  # three players
        ("abc", "a", "c"),
    ],
)
def test_a_game_moves_its_players_apart(names: str, first: str, last: str) -> None:
    ratings = Ratings()
    new = ratings.rating("new")
    ratings.add(names, range(1, len(names) + 1))
    assert ratings.rating(first)[0] > ratings.rating(last)[0]
    assert all(ratings.rating(name)[1] < new[1] for name in set(names))  # more is known of each
    assert ratings.rating("new") == new


def test_a_game_of_one_name_says_nothing() -> None:
    ratings = Ratings()
    before = ratings.rating("a")
    ratings.add("aaaa", [1, 2, 3, 4])
    assert ratings.rating("a") == before


def test_copies_get_the_mean_of_their_seats() -> None:
    apart, copies = Ratings(), Ratings()
    apart.add("abcd", [1, 2, 3, 4])
    copies.add("aaad", [1, 2, 3, 4])
    mean = sum(apart.rating(name)[0] for name in "abc") / 3
    assert copies.rating("a")[0] == pytest.approx(mean)
    assert copies.rating("d") == apart.rating("d")
