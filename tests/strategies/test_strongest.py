"""What the strongest player makes of the network's shares and of points."""

import math

import numpy as np
import pytest

from mjbot.strategy.registry import make_strategy
from protocol.tiles import N_KINDS, tile_kind
from strategies.strongest import (
    LEAST_SHARE,
    NATS_A_RANK,
    PLAYED_ON,
    TEMPERATURE,
    deals_within,
)
from tests.strategies.test_terms import decisions

POINTS = 0.3


@pytest.fixture(scope="module")
def bots():
    found = {points: make_strategy("strongest", {"points": points}) for points in ("0", "0.3")}
    return make_strategy("supervised"), found["0"], found["0.3"]


def test_without_points_it_is_supervised(bots):
    supervised, without, _ = bots
    n = 0
    for view in decisions(3):
        n += 1
        assert without.decide(view) == supervised.decide(view)
    assert n > 60


def test_every_share_is_multiplied_by_what_points_say(bots):
    supervised, _, weighed = bots
    moved = changed = 0
    for view in decisions(3):
        before, after = supervised.opinion(view), weighed.opinion(view)
        if before is None or not view.discards or (before.discards == after.discards).all():
            continue
        silent, _ = weighed._reckoner.discard_values(view)
        worths = {}
        for action in view.discards:
            kind = tile_kind(action.tile)
            worths[kind] = max(worths.get(kind, -math.inf), silent[action.tile])
        kinds = [kind for kind in worths if before.discards[kind] >= LEAST_SHARE]
        nats = [POINTS * (worths[kind] - worths[kinds[0]]) / TEMPERATURE for kind in kinds]
        expected = before.discards[kinds] * np.exp(nats)
        assert after.discards[kinds] == pytest.approx(expected / expected.sum(), rel=1e-4)
        assert after.discards.sum() == pytest.approx(1, rel=1e-4)
        assert (after.discards[[k for k in range(N_KINDS) if k not in kinds]] == 0).all()
        moved += 1
        changed += before.discards.argmax() != after.discards.argmax()
    assert moved > 8
    assert changed > 0


def test_riichi_and_calls_become_likelier_by_what_they_gain(bots):
    supervised, _, weighed = bots
    n = 0
    for view in decisions(3):
        before, after = supervised.opinion(view), weighed.opinion(view)
        if before is None or view.discards:
            continue
        worths, passed = weighed._reckoner.call_values(view)
        for name, chances in (
            ("pon", (before.pon, after.pon)),
            ("chi", (before.chi.sum(), after.chi.sum())),
        ):
            gains = [worth - passed for call, worth in worths if call.name == name]
            if gains and chances[0] != chances[1]:
                odds = [math.log(chance / (1 - chance)) for chance in chances]
                nats = POINTS * max(gains) / TEMPERATURE
                assert odds[1] - odds[0] == pytest.approx(nats, abs=1e-3)
                n += 1
    assert n > 1


def test_a_riichi_that_gains_is_likelier(bots, position):
    supervised, _, weighed = bots
    view = position("234m567m22p678p45s", drawn="3z", wall_left=40)
    before, after = (bot.opinion(view).riichi for bot in (supervised, weighed))
    silent, declared = weighed._reckoner.discard_values(view)
    if 0.02 < before < 0.98:
        assert (after > before) == (declared.max() > silent.max())
    else:
        assert after == before


@pytest.mark.parametrize("part", ["fine_danger", "hand_quality", "placement"])
def test_a_part_switched_off_is_out_of_the_points(part):
    whole, without = make_strategy("strongest"), make_strategy("strongest", {part: "no"})
    reckoner = make_strategy("fold-recognition-plus", {part: "no"})
    changed = 0
    for view in decisions(3):
        said, less = whole.opinion(view), without.opinion(view)
        if said is None or not view.discards:
            continue
        changed += (said.discards != less.discards).any()
        assert np.array_equal(without._reckoner.discard_values(view), reckoner.discard_values(view))
    assert changed > 8


def test_riichi_and_calls_may_be_left_to_the_network(bots):
    supervised, weighed = bots[0], make_strategy("strongest", {"riichi_and_calls": "no"})
    moved = 0
    for view in decisions(3):
        before, after = supervised.opinion(view), weighed.opinion(view)
        if before is None:
            continue
        moved += (before.discards != after.discards).any()
        for chance, same in zip(before, after, strict=True):
            assert chance is before.discards or np.array_equal(chance, same)
    assert moved > 8


def test_what_gains_in_playouts_is_likelier(bots):
    without, search = bots[2], make_strategy("strongest", {"points": "0.3", "budget_ms": "2"})
    played_on = changed = 0
    for view in decisions(6):
        before, after = without.opinion(view), search.opinion(view)
        gains = dict(search._gains)
        if before is None or not gains:
            assert before is None or (before.discards == after.discards).all()
            continue
        likeliest = int(before.discards.argmax())
        assert gains[likeliest] == 0
        told = {
            tile_kind(rated.action.tile): rated.term(PLAYED_ON).value
            for rated in search.ratings(view)
            if rated.action.is_discard and rated.term(PLAYED_ON)
        }
        assert told == gains  # the same samples each time it is asked
        kinds = list(gains)
        odds = dict(zip(kinds, np.log(after.discards[kinds] / before.discards[kinds]), strict=True))
        for kind, gain in gains.items():
            assert (odds[kind] - odds[likeliest]) * gain >= 0
            assert abs(odds[kind] - odds[likeliest]) <= NATS_A_RANK * abs(gain) + 1e-4
        played_on += 1
        changed += before.discards.argmax() != after.discards.argmax()
    assert played_on > 10
    assert changed > 0


def test_the_budget_is_kept_by_dealing_less():
    assert deals_within(50, 2, 60) > deals_within(50, 3, 60) > deals_within(25, 3, 60)
    assert deals_within(50, 2, 20) > deals_within(50, 2, 60)
    assert deals_within(0.1, 3, 60) == 2
