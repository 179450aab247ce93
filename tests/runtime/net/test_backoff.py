"""Pauses between attempts to connect."""

from random import Random

from mjbot.runtime.net.backoff import Backoff


def test_pauses_grow_to_the_longest_and_differ_by_seed():
    backoff = Backoff(1.0, 60.0, Random(3))
    pauses = [backoff.next_s() for _ in range(12)]
    for count, pause in enumerate(pauses):
        most = min(60.0, 2.0**count)
        assert most / 2 <= pause <= most
    other = Backoff(1.0, 60.0, Random(4))
    assert [other.next_s() for _ in range(12)] != pauses
    backoff.reset()
    assert backoff.next_s() <= 1.0
