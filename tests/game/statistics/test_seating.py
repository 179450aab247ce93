"""Every format gives every strategy the same seats and neighbours."""

from collections import Counter

import pytest

from mjbot.game.statistics.seating import SeatingError, SeatingFormat, make_seating

CASES: list[tuple[SeatingFormat, int, int]] = [
    ("1v3", 2, 5), ("1v3", 4, 13), ("2v2", 2, 6), ("pair", 2, 6), ("pair", 4, 24),
    ("each", 2, 6), ("each", 4, 24),
]  # fmt: skip


@pytest.mark.parametrize(("format_", "n", "games"), CASES)
def test_a_wall_is_played_once_in_every_seating(format_: SeatingFormat, n: int, games: int) -> None:
    seating = make_seating(format_, n)
    assert len(seating.tables) == len(set(seating.tables)) == games


@pytest.mark.parametrize(("format_", "n", "games"), CASES)
def test_every_strategy_is_judged_in_every_seat_alike(
    format_: SeatingFormat, n: int, games: int
) -> None:
    seating = make_seating(format_, n)
    for strategy, places in enumerate(seating.rows):
        assert {seating.tables[place.seating][place.seat] for place in places} == {strategy}
        seats = Counter(place.seat for place in places)
        assert set(seats) == {0, 1, 2, 3}
        assert len(set(seats.values())) == 1


@pytest.mark.parametrize("n", [2, 3, 8])
def test_one_against_three_asks_all_the_same_question(n: int) -> None:
    seating = make_seating("1v3", n)
    for places in seating.rows:
        assert len(places) == 4
        for place in places:
            table = seating.tables[place.seating]
            others = [table[seat] for seat in range(4) if seat != place.seat]
            assert others == [n - 1] * 3


def test_allies_are_named_by_seat() -> None:
    seating = make_seating("pair", 4)
    assert seating.pairs == ((0, 1), (2, 3))
    for places in seating.rows:
        for place in places:
            table = seating.tables[place.seating]
            assert {table[place.seat], table[seating.ally(place)]} in ({0, 1}, {2, 3})
            assert seating.ally(place) != place.seat


@pytest.mark.parametrize(("format_", "n"), [("2v2", 3), ("each", 3), ("pair", 5), ("1v3", 1)])
def test_what_cannot_be_seated_is_refused_in_one_line(format_: SeatingFormat, n: int) -> None:
    with pytest.raises(SeatingError, match=f"--format {format_} takes .*, not {n}$"):
        make_seating(format_, n)
