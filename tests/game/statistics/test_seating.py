"""Every format gives every strategy the same seats and neighbours."""

from collections import Counter

import pytest

from mjbot.game.statistics.seating import SeatingError, SeatingFormat, make_seating

CASES: list[tuple[SeatingFormat, int, int, int]] = [
    ("1v3", 2, 4, 5), ("1v3", 4, 4, 13), ("2v2", 2, 4, 6), ("pair", 2, 4, 6), ("pair", 4, 4, 24),
    ("each", 2, 4, 6), ("each", 4, 4, 24), ("1v2", 2, 3, 4), ("1v2", 3, 3, 7), ("each", 3, 3, 6),
    ("pair", 2, 3, 3), ("pair", 3, 3, 6),
]  # fmt: skip


@pytest.mark.parametrize(("format_", "n", "seats", "games"), CASES)
def test_a_wall_is_played_once_in_every_seating(
    format_: SeatingFormat, n: int, seats: int, games: int
) -> None:
    seating = make_seating(format_, n, seats)
    assert len(seating.tables) == len(set(seating.tables)) == games


@pytest.mark.parametrize(("format_", "n", "seats", "games"), CASES)
def test_every_strategy_is_judged_in_every_seat_alike(
    format_: SeatingFormat, n: int, seats: int, games: int
) -> None:
    seating = make_seating(format_, n, seats)
    for strategy, places in enumerate(seating.rows):
        assert {seating.tables[place.seating][place.seat] for place in places} == {strategy}
        judged = Counter(place.seat for place in places)
        assert set(judged) == set(range(seats))
        assert len(set(judged.values())) == 1


@pytest.mark.parametrize(("format_", "seats"), [("1v3", 4), ("1v2", 3)])
@pytest.mark.parametrize("n", [2, 3, 8])
def test_one_against_the_others_asks_all_the_same_question(
    n: int, format_: SeatingFormat, seats: int
) -> None:
    seating = make_seating(format_, n, seats)
    assert seating.rank_bound == seats - 1
    for places in seating.rows:
        assert len(places) == seats
        for place in places:
            table = seating.tables[place.seating]
            others = [table[seat] for seat in range(seats) if seat != place.seat]
            assert others == [n - 1] * (seats - 1)


@pytest.mark.parametrize(
    ("n", "seats", "pairs"),
    [
        (4, 4, ((0, 1), (2, 3))),
        (3, 4, ((0, 1), (2, 2))),
        (2, 4, ((0, 0), (1, 1))),
        (3, 3, ((0, 1),)),
        (2, 3, ((0, 0),)),
    ],
)
def test_allies_are_named_by_seat(n: int, seats: int, pairs: tuple[tuple[int, int], ...]) -> None:
    seating = make_seating("pair", n, seats)
    assert seating.pairs == pairs
    for number, table in enumerate(seating.tables):
        for pair, strategies in enumerate(pairs):
            allies = seating.allies(number, pair)
            assert sorted(table[seat] for seat in allies) == list(strategies)


@pytest.mark.parametrize(
    ("format_", "n", "seats"),
    [
        ("2v2", 3, 4),
        ("each", 3, 4),
        ("pair", 5, 4),
        ("1v3", 1, 4),
        ("1v2", 9, 3),
        ("each", 2, 3),
        ("pair", 4, 3),
    ],
)
def test_what_cannot_be_seated_is_refused_in_one_line(
    format_: SeatingFormat, n: int, seats: int
) -> None:
    with pytest.raises(SeatingError, match=f"--format {format_} takes .*, not {n}$"):
        make_seating(format_, n, seats)
