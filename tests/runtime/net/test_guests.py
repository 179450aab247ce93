"""Which connection gets a place of an endpoint, and which one loses its place."""

import pytest

from mjbot.runtime.net.guests import (
    MOST_GUESTS,
    MOST_OF_ADDRESS,
    RESERVED,
    GuestLimits,
    Guests,
)


def address(number: int) -> tuple[str, int]:
    return f"10.0.{number // 256}.{number % 256}", 5000


def test_one_address_loses_its_oldest_unnamed_connection_and_no_other_address_does() -> None:
    guests, closed = Guests("test"), []
    other = guests.admit(address(1))
    flood = [guests.admit(address(0)) for _ in range(MOST_OF_ADDRESS)]
    for guest in [*flood, other]:
        assert guest is not None
        guest.close = lambda guest=guest: closed.append(guest)  # type: ignore[misc]
    flood[0].log_in()  # type: ignore[union-attr]
    assert guests.admit(address(0)) is not None
    assert closed == [flood[1]]
    assert flood[1] is not None
    assert flood[1].was_evicted
    assert len(guests) == MOST_OF_ADDRESS + 1


def test_a_full_endpoint_closes_a_connection_of_the_address_that_has_most() -> None:
    guests, closed = Guests("test"), []
    single = [guests.admit(address(number)) for number in range(1, MOST_GUESTS - 1)]
    pair = [guests.admit(address(0)) for _ in range(2)]
    for guest in [*single, *pair]:
        assert guest is not None
        guest.close = lambda guest=guest: closed.append(guest)  # type: ignore[misc]
    assert guests.admit(address(999)) is not None
    assert closed == pair[:1]
    assert len(guests) == MOST_GUESTS


@pytest.mark.parametrize(("addresses", "most"), [(1, MOST_OF_ADDRESS), (MOST_GUESTS, MOST_GUESTS)])
def test_logging_in_leaves_the_reserved_places(addresses: int, most: int) -> None:
    guests = Guests("test")
    came = [guests.admit(address(number % addresses)) for number in range(most)]
    assert [guest is not None and guest.log_in() for guest in came] == [
        *(most - RESERVED) * [True],
        *RESERVED * [False],
    ]
    for number in range(3 * RESERVED):  # each takes the place of the one before
        assert guests.admit(address(number % addresses)) is not None
    assert sum(guest is not None and guest.was_evicted for guest in came) == RESERVED


def test_a_place_that_is_left_is_free_and_players_are_never_closed() -> None:
    guests = Guests("test", GuestLimits(of_address=2))
    first, second = guests.admit(address(0)), guests.admit(address(0))
    assert first is not None
    assert second is not None
    first.sit()
    second.sit()
    assert guests.admit(address(0)) is None
    second.leave()
    assert guests.admit(address(0)) is not None
    assert not first.was_evicted
